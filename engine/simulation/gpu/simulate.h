#pragma once

// Kernels of a list on a machine, one after the other or, of different streams, side by side: cycle by cycle, skipping
// what idles.

#include "base/progress.h"
#include "simulation/gpu/counters.h"
#include "simulation/gpu/recorder.h"
#include "simulation/gpu/resident.h"
#include "simulation/gpu/trace.h"

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::gpusim {

struct KernelResult {
    std::string name;
    KernelHeader header;
    std::uint64_t cycles = 0;                    ///< of the core clock, launch included
    std::uint64_t startCycle = 0, endCycle = 0;  ///< since the first kernel's launch
    std::uint64_t launchCycles = 0;
    double seconds = 0;  ///< on the device: cycles at the core clock
    int blocksThatFit = 0;
    std::string limitedBy;
    int blocksPerSm = 0;  ///< also at most what an even share of the grid needs
    int l1Bytes = 0;
    Counters counts;
    bool overlaps = false;            ///< another kernel ran at the same time
    bool stopped = false;             ///< before its end, as `keepsStopped` allows: cycles and counts until then
    std::int64_t finishedBlocks = 0;  ///< all of the grid unless it was stopped
};

struct SimulateOptions {
    std::stop_token stop;
    bool keepsStopped = false;             ///< a stop is the end of the kernel and no failure
    std::uint64_t mostCycles = 0;          ///< per kernel; 0: no limit
    int threads = 1;                       ///< that share the steps; cycles and counts are the same for any number
    bool sharesAlways = false;             ///< also where one thread would be quicker
    std::uint64_t* sharedSteps = nullptr;  ///< counts the steps that threads shared
    bool cutsCopyAddresses = true;         ///< to 32 bits, as the peer does
    /// In L2 before the first kernel; with an L2 per die, in the cache behind them.
    std::vector<MemoryRange> resident = {};
    Recorder* recorder = nullptr;  ///< watches one SM; holds the last kernel of several
    /// Ends after so many kernels of the list, counted from its first; 0: after all.
    std::size_t untilKernel = 0;
    std::string* snapshot = nullptr;  ///< filled with the machine's state after the last kernel that is run
    std::string_view resume;          ///< what `snapshot` held: goes on behind its kernels
    Progress* progress = nullptr;     ///< advanced by warp instructions
    /// Filled with the core cycles at which blocks were placed, in order, of the last kernel.
    std::vector<std::uint64_t>* placements = nullptr;
};

/// Fails with `gpu.trace…` where a trace is broken, `gpu.kernel` where a block does not fit an SM, `gpu.stopped`.
///
/// Kernels of a stream run one after the other, each finding the caches as it finds them. Up to
/// `Machine::concurrentKernels` of different streams run side by side, started in the order of the list; the results
/// stand in its order. A recorder makes it one at a time. Snapshots are between two kernels; `gpu.snapshot` where one
/// does not fit the machine or the list, or several kernels may run at a time.
Expected<std::vector<KernelResult>> simulate(const Machine& machine, const std::vector<TraceCommand>& commands,
                                             const SimulateOptions& options = {});

/// The same of kernels that are no files.
Expected<std::vector<KernelResult>> simulate(const Machine& machine, std::span<KernelSource* const> kernels,
                                             const SimulateOptions& options = {});

/// One kernel on a machine whose caches are empty.
Expected<KernelResult> simulate(const Machine& machine, KernelSource& kernel, const SimulateOptions& options = {});

}  // namespace orrery::gpusim
