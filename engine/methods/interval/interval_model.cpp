#include "methods/interval/interval_model.h"

#include "methods/search/mapping_search_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

// What is taken where a design gives nothing, with its source.
// AMALI (Cao et al., ISCA 2025), table 2: microbenchmarks of A100, in cycles.
constexpr double unstatedL2Latency = 224, unstatedDramLatency = 290, unstatedSharedLatency = 23;
constexpr double l1BeyondShared = 14;  // the same table: 37 cycles of L1 beside 23 of shared memory
// Bytes per cycle and multiprocessor: GCoM (Lee et al., ISCA 2022) has 1048 GB/s for 30 multiprocessors at 1.365 GHz
// (RTX 2060), 25.6; taken as 24. Halved, what waits for the cache's bandwidth takes twice as
// long.
constexpr double usualNetworkBytes = 24;
// Bytes outstanding of one multiprocessor: chosen, not measured. GCoM takes 256 sectors of 32 B for an RTX 2060 of half
// the bandwidth per multiprocessor. Halved, only kernels with long latencies and few warps become slower.
constexpr double usualMissBytes = 512 * 32;
// CUDA C++ Programming Guide, throughput of arithmetic instructions: 16 results of special functions per cycle and
// multiprocessor for compute capability 7.0 to 9.0.
constexpr double specialLanes = 16;
// The same, technical specifications: 32 resident blocks for compute capability 7.0, 8.0 and 9.0; 16 for 7.5 and 8.6,
// 24 for 8.9, where small blocks would hide more here than they do.
constexpr double mostBlocks = 32;

double latencyCycles(double seconds, double clock, double usual, std::string_view what, IntervalMachine& machine) {
    if (seconds > 0) return seconds * clock;
    machine.assumptions.push_back(fmt::format("No latency of {} is given: {:.0f} cycles are assumed.", what, usual));
    return usual;
}

double loadLatency(const IntervalMachine& machine, double dramShare) {
    return machine.l1Latency + machine.l2Latency + dramShare * machine.dramLatency;
}

}  // namespace

IntervalMachine intervalMachine(const GpuView& gpu) {
    IntervalMachine machine;
    machine.sms = gpu.sms;
    machine.subCores = std::max(gpu.subCores, 1.0);
    machine.warpsPerSm = gpu.warpsPerSm;
    machine.warpSize = gpu.warpSize;
    machine.clock = gpu.clock * gpu.sustained;
    if (gpu.registerBytes > 0) machine.registers = gpu.registerBytes / 4;
    machine.sharedBytes = gpu.sharedBytes > 0 ? gpu.sharedBytes : 48.0 * 1024;
    machine.l2Bytes = gpu.l2Bytes / std::max(gpu.l2Slices, 1.0);
    machine.dram = gpu.dramBandwidth * (1 - refreshShare(gpu.dramTiming)) / machine.clock;
    machine.network = gpu.l2Bandwidth / machine.clock;
    if (machine.network <= 0) {
        machine.network = usualNetworkBytes * gpu.sms;
        machine.assumptions.push_back(fmt::format(
            "No bandwidth of the last-level cache is given: {:.0f} B per cycle and multiprocessor are assumed.",
            usualNetworkBytes));
    }
    if (gpu.sharedBandwidth > 0) machine.sharedBytesPerCycle = gpu.sharedBandwidth / gpu.clock;
    machine.missBytes = usualMissBytes;
    machine.assumptions.push_back("A multiprocessor may wait for 16 KiB of loads at once.");
    machine.sharedLatency =
        latencyCycles(gpu.sharedLatency, gpu.clock, unstatedSharedLatency, "shared memory", machine);
    machine.l1Latency = machine.sharedLatency + l1BeyondShared;
    machine.l2Latency = latencyCycles(gpu.l2Latency, gpu.clock, unstatedL2Latency, "the L2 cache", machine);
    machine.dramLatency = latencyCycles(gpu.dramLatency, gpu.clock, unstatedDramLatency, "main memory", machine);
    machine.specialOps = specialLanes / machine.subCores;
    for (int t = 0; t < dtypeCount; ++t) {
        const auto at = static_cast<std::size_t>(t);
        const auto type = static_cast<DType>(t);
        machine.vectorMacs[at] = gpu.vectorOpsPerCycle(type) / 2 / machine.subCores;
        const double matrix = gpu.peak(true, type) / (gpu.sms * gpu.clock) / 2 / machine.subCores;
        if (matrix > 1.01 * machine.vectorMacs[at]) machine.tensorMacs[at] = matrix;
    }
    return machine;
}

double blockLaunchCycles(double warps) {
    return 0.0036 * warps * warps + 0.0366 * warps + 1.1891;
}

double residentBlocks(const IntervalMachine& machine, const WarpProgram& program) {
    double blocks = std::min(mostBlocks, std::floor(machine.warpsPerSm / program.warpsPerBlock));
    const double registers = program.warpsPerBlock * machine.warpSize * program.registersPerThread;
    blocks = std::min(blocks, std::floor(machine.registers / registers));
    if (program.sharedBytesPerBlock > 0) {
        blocks = std::min(blocks, std::floor(machine.sharedBytes / program.sharedBytesPerBlock));
    }
    return std::max(blocks, 1.0);
}

CycleStack roundStack(const IntervalMachine& machine, const WarpProgram& program, double blocks, double active) {
    CycleStack stack;
    const double warps = blocks * program.warpsPerBlock;
    const double busiest = std::ceil(warps / machine.subCores);
    for (int i = 0; i < program.length; ++i) {
        const WarpInterval& interval = program.intervals[static_cast<std::size_t>(i)];
        const double base = interval.instructions * busiest;
        const double math = busiest * std::max({interval.of(WarpUnit::Vector), interval.of(WarpUnit::Special),
                                                interval.of(WarpUnit::Tensor)});
        const double memory = warps * interval.of(WarpUnit::LoadStore);
        const double occupied = std::max({base, math, memory});
        const double latency = loadLatency(machine, interval.dramShare);
        const double wait = std::max(interval.wait, interval.waitsForLoad ? latency : 0.0);
        const double hidden = occupied * (busiest - 1) / busiest;
        const double stall =
            interval.ahead > 0 ? std::max(0.0, wait / (interval.ahead + 1) - occupied) : std::max(0.0, wait - hidden);
        const double bytes = warps * (interval.loadBytes + interval.storeBytes);
        const double service =
            std::max({active * bytes / machine.network, active * bytes * interval.dramShare / machine.dram,
                      warps * interval.loadBytes / machine.missBytes * latency});
        const double queue = std::max(0.0, service - occupied - stall);
        // Blocks that are not in step hide each other's first and last waits, not the bytes that these move.
        const double seen = interval.edge ? interval.count / blocks : interval.count;
        stack.base += base * interval.count;
        // Of pipes that are equal but for rounding the arithmetic one is named.
        (memory > math * (1 + 1e-6) ? stack.memoryPipe : stack.mathPipe) += (occupied - base) * interval.count;
        (interval.waitsForLoad && latency >= interval.wait ? stack.memoryData : stack.dependency) += stall * seen;
        stack.memoryQueue += queue * interval.count;
        if (interval.edge)
            stack.memoryQueue += std::min(stall, std::max(0.0, service - occupied)) * (interval.count - seen);
    }
    return stack;
}

CycleStack kernelStack(const IntervalMachine& machine, const WarpProgram& program) {
    const double resident = residentBlocks(machine, program);
    const double active = std::min(machine.sms, program.blocks);
    const double most = std::ceil(program.blocks / active), least = std::floor(program.blocks / active);
    // Blocks that one multiprocessor runs: rounds of as many as fit, then the rest.
    const auto of = [&](double blocks) {
        const double together = std::min(resident, blocks);
        const double rounds = std::floor(blocks / together), rest = blocks - rounds * together;
        CycleStack stack = roundStack(machine, program, together, active).scaled(rounds);
        if (rest > 0) stack += roundStack(machine, program, rest, active);
        return stack;
    };
    const CycleStack full = of(most);
    const double longest = full.total();
    CycleStack stack = full;
    if (least < most) {
        const double share = program.blocks / active - least;  // of multiprocessors that run one block more
        stack = full.scaled(share);
        stack += of(least).scaled(1 - share);
    }
    // Multiprocessors without any block are idle throughout.
    stack = stack.scaled(active / machine.sms);
    stack.idle = std::max(0.0, longest - stack.total());
    const double first = std::min(program.blocks, machine.sms * resident);
    stack.launch = blockLaunchCycles(program.warpsPerBlock) * first;
    return stack;
}

}  // namespace orrery
