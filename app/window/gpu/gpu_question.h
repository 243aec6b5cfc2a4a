#pragma once

// What the GPU page asks and gets: a kernel on a drawn GPU, and beside it the same on a changed machine, or another
// kernel.

#include "hardware/views/device_ref.h"
#include "methods/gpu/gpu_watch.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace orrery::app {

struct GpuQuestion {
    HardwarePtr hardware;
    std::string kernel;  ///< `gemm m=512 n=512 k=512 fp16`, or `trace:FILE`
    std::string other;   ///< to compare with; empty: none
    std::string change;  ///< id of a MachineChange to compare with; empty: none
    double factor = 2;   ///< of the change
    int seconds = 5;     ///< budget, at 150,000 warp instructions each
    bool operator==(const GpuQuestion&) const = default;
};

/// Warp instructions that stand for a second of simulation, whatever this computer does.
constexpr double gpuInstructionsPerSecond = 1.5e5;

struct GpuRun {
    std::string name;  ///< of the design or kernel
    WatchedKernel seen;
    /// Bounds for what was simulated, in core cycles; 0: not known (a trace).
    double computeCycles = 0, memoryCycles = 0;
};

struct GpuAnswer {
    GpuQuestion question;
    std::vector<GpuRun> runs;  ///< one or two
    std::vector<std::string> assumptions;
};

/// The GPU of a drawing as the simulator runs it.
struct GpuDrawing {
    GpuView view;
    DrawnMachine drawn;
};
Expected<GpuDrawing> gpuDrawing(const HardwarePtr& hardware);

/// Registers, shared memory and threads that a block of the kernel asks for.
Expected<gpusim::KernelHeader> kernelHeader(const std::string& kernel, const GpuDrawing& gpu);

Expected<GpuAnswer> answerGpu(const GpuQuestion& question, std::stop_token stop, Progress& progress);

/// One line of words: cycles, time, blocks and what limits them, what was simulated.
std::string headlineOf(const GpuRun& run);
/// `threads+shared` of an occupancy in words: `threads and shared memory`.
std::string limitWords(std::string_view limitedBy);

}  // namespace orrery::app
