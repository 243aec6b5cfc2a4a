#pragma once

// What the GPU page asks and gets: a kernel on a drawn GPU, and beside it the same on a changed machine, or another
// kernel.

#include "hardware/views/device_ref.h"
#include "methods/gpu/gpu_watch.h"
#include "workload/workload.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orrery::app {

struct GpuQuestion {
    HardwarePtr hardware;
    std::string kernel;  ///< `gemm m=512 n=512 k=512 fp16`, or `trace:FILE`
    std::string other;   ///< to compare with; empty: none
    std::string change;  ///< id of a MachineChange to compare with; empty: none
    double factor = 2;   ///< of the change
    int seconds = 5;     ///< budget, at 150,000 warp instructions each
    std::string sample;  ///< of longer kernels: smarts or simpoint; empty: their first waves
    bool operator==(const GpuQuestion&) const = default;
};

/// Warp instructions that stand for a second of simulation, whatever this computer does.
constexpr double gpuInstructionsPerSecond = 1.5e5;

struct GpuRun {
    std::string name;  ///< of the design or kernel
    WatchedKernel seen;
    std::string program;          ///< as gpu-cycle chooses it: `tile 128×256×64`; of a trace empty
    gpusim::KernelHeader header;  ///< of all of it
    /// Bounds for what was simulated, in core cycles. Compute and operands (each byte of them once past main memory)
    /// are the roofline's, 0 where they are not known: of a trace, of a changed machine. DRAM and L2 are what the run
    /// moved, at the bandwidth of the machine that it ran on.
    double computeCycles = 0, operandCycles = 0, dramCycles = 0, l2Cycles = 0;
    double memoryCycles() const { return std::max({operandCycles, dramCycles, l2Cycles}); }
    bool l2Binds() const { return l2Cycles > std::max(operandCycles, dramCycles); }
    bool stopped() const { return seen.result.stopped; }
    double cycles() const;  ///< without the launch: of the whole kernel, where waves were drawn from it
    double seconds() const;
    /// Least and greatest time, where the method gpu-cycle states them: of a whole product on the drawn machine.
    std::optional<std::pair<double, double>> interval;
};

struct GpuAnswer {
    GpuQuestion question;
    std::vector<GpuRun> runs;  ///< one or two
    std::vector<std::string> assumptions;
    bool stopped() const { return !runs.empty() && runs.back().stopped(); }
};

/// The GPU of a drawing as the simulator runs it.
struct GpuDrawing {
    GpuView view;
    DrawnMachine drawn;
};
Expected<GpuDrawing> gpuDrawing(const HardwarePtr& hardware);

/// Registers, shared memory and threads that a block of the kernel asks for; of a product by the planned tile, as long
/// as none was chosen by a run.
Expected<gpusim::KernelHeader> kernelHeader(const std::string& kernel, const GpuDrawing& gpu);

/// The kernel's program as a run chooses it, which takes seconds; fails for a recorded trace, which has none.
Expected<KernelProgram> kernelProgram(const std::string& kernel, const GpuDrawing& gpu, std::stop_token stop = {});

/// A kernel of a workload, and what a pass spends on it.
struct PassKernel {
    std::string text;     ///< as GpuQuestion::kernel
    double share = 0;     ///< of the time of all kernels
    double launches = 0;  ///< in a pass
};
struct PassKernels {
    std::vector<PassKernel> kernels;  ///< the one that takes most of the time first
    std::string method;               ///< id of the method that said so
};
/// The distinct kernels of a pass on the GPU, by tile-hybrid; collectives are left out.
PassKernels kernelsByTime(const Workload& workload, const GpuView& gpu);

Expected<GpuAnswer> answerGpu(const GpuQuestion& question, std::stop_token stop, Progress& progress);

/// One line of words: cycles, time and its interval, blocks and what limits them; of a run that was stopped, what it
/// had reached.
std::string headlineOf(const GpuRun& run);
/// `threads+shared` of an occupancy in words: `threads and shared memory`.
std::string limitWords(std::string_view limitedBy);

}  // namespace orrery::app
