#pragma once

// A kernel through a core, for the pipeline tab: the counters of the run, and where each operation of a stretch of it
// was when.

#include "app/document/document.h"
#include "base/progress.h"
#include "simulation/cpu/core/kernels/kernel.h"
#include "simulation/cpu/core/pipeline.h"
#include "simulation/cpu/cores/cores.h"
#include "widgets/core/pipeline_view.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery::app {

/// Operations of a run at most: some seconds. What is longer is cut there, and said to be.
inline constexpr std::uint64_t longestRun = 30'000'000;

struct PipelineQuestion {
    std::string core;    ///< of presets/pipelines; empty: of `drawn`
    HardwarePtr drawn;   ///< design whose core is asked
    std::string kernel;  ///< `gemm m=64 n=64 k=64 avx2`
    double place = 0;    ///< share of the run at which the stretch begins
    int rows = 400;      ///< operations of the stretch
    int cores = 1;       ///< of `drawn`, over which the kernel is divided; the stretch is of the first of them
    pipeline::Binding binding = pipeline::Binding::Close;
    pipeline::Pages pages = pipeline::Pages::Local;
    bool operator==(const PipelineQuestion&) const = default;
};

/// A run of several cores.
struct CoresAnswer {
    pipeline::Chip chip;
    pipeline::SplitRun run;
};

struct PipelineAnswer {
    pipeline::Machine machine;
    pipeline::KernelSpec kernel;
    std::vector<std::string> assumptions;
    pipeline::Counters counts;     ///< of several cores: of the first
    std::uint64_t operations = 0;  ///< that ran, on all cores
    std::uint64_t length = 0;      ///< of the kernel; more than `operations` where it was cut
    std::optional<CoresAnswer> several;
    ui::PipelinePicture picture;
};

/// Fails with the codes of readKernel(), loadMachine(), coreView(), of several cores of chipOf(CoreView) and
/// runSplit(); `core.stopped`.
Expected<PipelineAnswer> runPipeline(const PipelineQuestion& question, const std::stop_token& stop, Progress& progress);
/// `load v5 [0x40000040] 32 B`.
QString operationText(const pipeline::StaticOp& op, std::uint64_t address);

}  // namespace orrery::app
