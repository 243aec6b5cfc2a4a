#include "simulation/npu/systolic_timing.h"

#include "base/maths.h"

#include <algorithm>

namespace orrery {

namespace {

struct Run {
    std::int64_t instructions = 0;
    std::int64_t cycles = 0;  // of all of them, each to the start of the next
    std::int64_t last = 0;    // rows of the last one
};

Run runOf(std::int64_t rows, std::int64_t height) {
    if (rows <= 0) return {};
    Run run;
    run.instructions = ceilDiv(rows, height);
    run.last = rows - (run.instructions - 1) * height;
    run.cycles = (run.instructions - 1) * std::max(height, leastRows) + std::max(run.last, leastRows);
    return run;
}

BlockTiming weightStationary(const GemmBlock& block, const NpuMachine& machine) {
    const Run run = runOf(block.runRows, machine.height);
    const Run rest = runOf(block.lastRunRows, machine.height);
    const std::int64_t lastRows = rest.instructions > 0 ? rest.last : run.last;
    // Of each weight tile all instructions but the last lead to another one with the same weights.
    const std::int64_t within = block.runs * run.cycles + rest.cycles - std::max(lastRows, leastRows);
    BlockTiming timing;
    timing.instructions = block.weightTiles * (block.runs * run.instructions + rest.instructions);
    timing.handover =
        block.background ? std::max(std::max(lastRows, leastRows), machine.height - within) : machine.height;
    timing.span = block.weightTiles * within + (block.weightTiles - 1) * timing.handover;
    timing.tail = machine.height + machine.width - 2 + std::max(lastRows, leastRows);
    return timing;
}

// Every tile of height × width results is one instruction as long as the reduction.
BlockTiming outputStationary(const GemmBlock& block, const NpuMachine& machine) {
    const std::int64_t columnTiles =
        ceilDiv(block.weightTiles, std::max<std::int64_t>(ceilDiv(block.depth, machine.height), 1));
    const std::int64_t rowTiles = ceilDiv(block.rows(), machine.height);
    const std::int64_t stride = std::max(block.depth, machine.height);
    BlockTiming timing;
    timing.instructions = std::max<std::int64_t>(columnTiles * rowTiles, 1);
    timing.span = (timing.instructions - 1) * stride;
    timing.handover = stride;
    timing.tail = machine.height + machine.width - 2 + block.depth;
    return timing;
}

}  // namespace

BlockTiming blockTiming(const GemmBlock& block, const NpuMachine& machine) {
    return machine.dataflow == Dataflow::WeightStationary ? weightStationary(block, machine)
                                                          : outputStationary(block, machine);
}

BlockTiming coreTiming(const GemmBlock& block, const NpuMachine& machine) {
    if (machine.arrays <= 1) return blockTiming(block, machine);
    GemmBlock byTiles = block;
    byTiles.weightTiles = ceilDiv(block.weightTiles, machine.arrays);
    GemmBlock byRows = block;
    if (block.runs + (block.lastRunRows > 0 ? 1 : 0) >= machine.arrays) {
        byRows.runs = ceilDiv(block.runs + (block.lastRunRows > 0 ? 1 : 0), machine.arrays);
        byRows.lastRunRows = 0;
    } else {
        byRows.runs = 1;
        byRows.runRows = ceilDiv(block.rows(), machine.arrays);
        byRows.lastRunRows = 0;
    }
    const auto a = blockTiming(byTiles, machine);
    const auto b = blockTiming(byRows, machine);
    return a.occupied() <= b.occupied() ? a : b;
}

std::int64_t exposedPreload(const NpuMachine& machine) {
    return machine.dataflow == Dataflow::WeightStationary ? 2 * machine.height - 1 : 0;
}

}  // namespace orrery
