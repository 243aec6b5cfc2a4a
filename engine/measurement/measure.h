#pragma once

// Kernels run and timed on this machine.

#include "base/diagnostic.h"
#include "base/progress.h"
#include "measurement/kernel_runner.h"
#include "workload/kernel.h"

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Which of the repeats stands in the table as the time.
enum class Statistic : std::uint8_t {
    Median,   ///< what a person meets; needs an idle machine
    Minimum,  ///< what the machine can do; right where others disturb it
};

struct MeasureOptions {
    double secondsPerKernel = 0.25;  ///< after warm-up, or leastRepeats, whichever is longer
    int warmUps = 3, leastRepeats = 7, mostRepeats = 2000;
    double coldBytes = 0;  ///< copies of weights take so much together (twice the last cache is usual)
    std::stop_token stop;
    Progress* progress = nullptr;  ///< a step per kernel
};

struct Timing {
    double median = 0, minimum = 0;  ///< s
    /// Relative standard deviation of the whole samples' times, by their quartiles, so that one disturbed repeat does
    /// not make it.
    double spread = 0;
    int repeats = 0;  ///< samples; short kernels are run several times in one
};
/// Of samples in seconds, which need not be sorted; all zero for none.
Timing timingOf(std::vector<double> samples);

struct MeasuredKernel {
    Kernel kernel;
    Timing timing;
    std::string library;  ///< that ran it
};

struct Measurement {
    std::vector<MeasuredKernel> rows;
    double clockBefore = 0, clockAfter = 0;  ///< Hz, as the first library knows it; 0: it does not
    Diagnostics warnings;                    ///< kernels that no library runs, a clock that moved
    /// All libraries that ran something: `oneDNN 2.6.3 + loops of Orrery`.
    std::string software() const;
};

/// Libraries of this machine in the order in which they are asked for a kernel; never empty (loops of our own), with
/// what is missing said in `notes`.
std::vector<KernelLibraryPtr> kernelLibraries(Diagnostics& notes);

/// Runs every kernel by the first library that has it. Fails with `study.cancelled`, and `measure.nothing` where none
/// could be run.
Expected<Measurement> measureKernels(std::span<const Kernel> kernels, std::span<const KernelLibraryPtr> libraries,
                                     const MeasureOptions& options);

/// All of them one after another, as one pass: what a model of these kernels takes with nothing around them. Each has
/// memory of its own. Fails like measureKernels(), and with `measure.unsupported` where one cannot be run.
Expected<Timing> measurePass(std::span<const Kernel> kernels, std::span<const KernelLibraryPtr> libraries,
                             const MeasureOptions& options);

/// Usual shapes of these kinds and types, small to large; a few dozen per kind, none above a few GFLOP.
std::vector<Kernel> usualShapes(std::span<const KernelKind> kinds, std::span<const DType> types);
/// The same for a GPU: products alone, up to those of a large language model's layers.
std::vector<Kernel> usualGpuShapes(std::span<const DType> types);

/// A table of our own format (`orrery: references/1`). `device`: catalogue id, or file of the design beside the table.
std::string measurementTable(const Measurement& measurement, Statistic statistic, std::string_view device,
                             std::string_view date);

}  // namespace orrery
