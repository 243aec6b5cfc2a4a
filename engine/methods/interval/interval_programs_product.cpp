#include "methods/interval/interval_programs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

constexpr double loadWidth = 16;        // bytes of one thread's load
constexpr double scalarRegisters = 64;  // addresses, fragments and loop counters beside the sums
constexpr double loopInstructions = 8;  // of one step: barrier, counters, addresses
constexpr double prologueInstructions = 40;
constexpr double stepBytes = 128;  // of one row or column of an operand per step of the main loop
constexpr double mostStages = 4;

using Tile = IntervalTile;
constexpr std::array<Tile, 11> tiles{{{128, 256, 8},
                                      {256, 128, 8},
                                      {128, 128, 8},
                                      {128, 64, 4},
                                      {64, 128, 4},
                                      {64, 64, 4},
                                      {128, 32, 4},
                                      {32, 128, 4},
                                      {64, 32, 4},
                                      {32, 64, 4},
                                      {16, 128, 4}}};
constexpr std::array<double, 5> splitChoices{1, 2, 4, 8, 16};

/// Rows that one matrix instruction takes: a warp's 16, a warp group's 64 or a multiprocessor's 128, as the units grow.
double instructionRows(double macs) {
    return macs >= 1024 ? 128 : macs >= 512 ? 64 : 16;
}

// Share of what the cores ask of L2 that main memory has to give: each operand once, or once per wave where the wave's
// rows and columns are all that stays.
double dramShareOf(const IntervalMachine& machine, const IntervalProduct& p, const Tile& tile, double blocks,
                   double resident, double asked) {
    const double a = p.aBytesRead > 0 ? p.aBytesRead : p.batch * p.m * p.k * p.aBytes;
    const double b = p.batch * p.n * p.k * p.bBytes;
    const double once = a + b;
    double read = once;
    if (once > machine.l2Bytes) {
        const double wave = std::min(blocks, machine.sms * resident);
        const double across = std::min(std::ceil(p.n / tile.n), std::ceil(std::sqrt(wave)));
        const double down = std::min(std::ceil(p.m / tile.m), std::ceil(wave / across));
        const double perWave = (down * tile.m * p.aBytes + across * tile.n * p.bBytes) * p.k;
        const double planes = std::max(1.0, wave / (across * down));
        read = std::max(once, std::ceil(blocks / wave) * planes * perWave);
    }
    return std::min(1.0, read / asked);
}

IntervalPlan planTile(const IntervalMachine& machine, const IntervalProduct& p, const Tile& tile, double splits) {
    const bool given = tile.depth > 0;
    const auto t = static_cast<std::size_t>(p.type);
    const double tensor = machine.tensorMacs[t];
    const bool matrix = tensor > 0;
    const double element = std::max(p.aBytes, p.bBytes);
    double depth = given ? tile.depth : (matrix ? stepBytes : stepBytes / 2) / element;
    const auto operands = [&] { return (tile.m * p.aBytes + tile.n * p.bBytes) * depth; };
    while (!given && 2 * operands() > machine.sharedBytes && depth > 8) depth /= 2;
    const double stages =
        tile.stages > 0 ? tile.stages
                        : std::clamp(std::floor(machine.sharedBytes / operands()), 2.0, matrix ? mostStages : 2.0);

    IntervalPlan plan;
    WarpProgram& program = plan.program;
    const double threads = tile.warps * machine.warpSize;
    program.warpsPerBlock = tile.warps;
    program.registersPerThread = std::min(255.0, tile.m * tile.n / threads + scalarRegisters);
    program.sharedBytesPerBlock = stages * operands();
    program.blocks = p.batch * std::ceil(p.m / tile.m) * std::ceil(p.n / tile.n) * splits;
    const double steps = std::ceil(std::ceil(p.k / depth) / splits);
    // Units that take whole warp groups come with loads that two neighbouring blocks share: of the larger operand each
    // asks for half.
    const bool shares = instructionRows(tensor) > 16 && program.blocks > 1;
    const double sharedLoad = shares ? std::max(tile.m * p.aBytes, tile.n * p.bBytes) * depth / 2 : 0;
    const double asked = program.blocks * steps * (operands() - sharedLoad);
    const double dramShare =
        dramShareOf(machine, p, tile, program.blocks / splits, residentBlocks(machine, program), asked);

    const double macs = tile.m * tile.n * depth / tile.warps;  // of one warp in one step
    const double loaded = operands() / tile.warps;
    WarpInterval step;
    step.count = steps;
    step.loadBytes = loaded - sharedLoad / tile.warps;
    step.dramShare = dramShare;
    step.waitsForLoad = true;
    step.ahead = stages - 1;
    if (matrix) {
        const double rows = instructionRows(tensor);
        const bool wide = rows > 16;
        // Wide instructions read shared memory themselves, once for all warps of their rows; narrow ones need both
        // operands in the warp's registers.
        const double across = std::sqrt(tile.warps * tile.n / tile.m),
                     warpsN = std::clamp(std::round(across), 1.0, tile.warps);
        const double warpM = tile.m / (tile.warps / warpsN), warpN = tile.n / warpsN;
        const double fed = wide ? std::ceil(tile.m / rows) * (std::min(rows, tile.m) * p.aBytes + tile.n * p.bBytes) *
                                      depth / tile.warps
                                : (warpM * p.aBytes + warpN * p.bBytes) * depth;
        // A tile lower than an instruction's rows wastes the rest.
        const double waste = wide ? rows * std::ceil(tile.m / rows) / tile.m : 1;
        const double instructionDepth = 32 / element;
        step.of(WarpUnit::Tensor) = macs * waste / tensor;
        step.of(WarpUnit::LoadStore) = (fed + loaded) / machine.sharedBytesPerCycle;
        step.instructions = macs / (16 * (wide ? 256 : 8) * instructionDepth) +
                            (wide ? 0 : fed / 512 + 2 * loaded / 512) + loopInstructions;
    } else {
        const double rate =
            std::max(machine.vectorMacs[t], machine.vectorMacs[static_cast<std::size_t>(DType::F32)] / 64);
        const double side = std::sqrt(tile.m * tile.n / threads);  // of a thread's tile
        step.of(WarpUnit::Vector) = macs / std::max(rate, 1e-3);
        // Threads of a row read the same words: a warp of 4 × 8 threads asks for so many different ones.
        const double fed = (4 * side * p.aBytes + 8 * side * p.bBytes) * depth;
        step.of(WarpUnit::LoadStore) = (fed + 2 * loaded) / machine.sharedBytesPerCycle;
        step.instructions =
            macs / machine.warpSize + 2 * side * depth * element / loadWidth + 3 * loaded / 512 + loopInstructions;
    }
    WarpInterval first;
    first.instructions = prologueInstructions;
    first.waitsForLoad = true;
    first.dramShare = dramShare;
    first.edge = true;
    program.add(first);
    program.add(step);
    WarpInterval last;
    const double outputs = tile.m * tile.n / tile.warps;
    last.storeBytes = outputs * (splits > 1 ? 4 : p.cBytes);
    last.instructions = 3 * last.storeBytes / 512 + outputs / machine.warpSize;
    last.of(WarpUnit::LoadStore) = last.storeBytes / machine.sharedBytesPerCycle;
    last.dramShare = p.batch * p.m * p.n * p.cBytes > machine.l2Bytes / 2 ? 1 : 0;
    last.edge = true;
    program.add(last);
    if (splits > 1) {
        // Partial sums are added up where they meet, in L2.
        WarpInterval sum;
        sum.loadBytes = outputs * 4;
        sum.storeBytes = outputs * p.cBytes / splits;
        sum.dramShare = 0;
        sum.instructions = outputs / machine.warpSize * 2;
        sum.waitsForLoad = true;
        program.add(sum);
    }
    plan.stack = kernelStack(machine, program);
    plan.tileM = tile.m;
    plan.tileN = tile.n;
    plan.tileK = depth;
    plan.splits = splits;
    plan.covered = true;
    return plan;
}

// The usual tiles, each with the parts of the reduction that may pay.
template <typename Take>
void forTiles(const IntervalMachine& machine, const IntervalProduct& product, Take&& take) {
    const auto t = static_cast<std::size_t>(product.type);
    if (product.batch <= 0 || product.m <= 0 || product.n <= 0 || product.k <= 0) return;
    if (machine.tensorMacs[t] <= 0 && machine.vectorMacs[t] <= 0) return;
    for (const Tile& tile : tiles) {
        // Tiles of twice what is there do only more of the same.
        if ((tile.m >= 2 * product.m && tile.m > 32) || (tile.n >= 2 * product.n && tile.n > 64)) continue;
        const double blocks = product.batch * std::ceil(product.m / tile.m) * std::ceil(product.n / tile.n);
        for (const double splits : splitChoices) {
            if (splits > 1 && (blocks * splits > 2 * machine.sms || product.k / splits < 256)) break;
            take(planTile(machine, product, tile, splits));
        }
    }
}

}  // namespace

IntervalPlan planProduct(const IntervalMachine& machine, const IntervalProduct& product, const IntervalTile& tile) {
    const auto t = static_cast<std::size_t>(product.type);
    if (machine.tensorMacs[t] <= 0 && machine.vectorMacs[t] <= 0) return {};
    return planTile(machine, product, tile, tile.splits);
}

IntervalPlan planProduct(const IntervalMachine& machine, const IntervalProduct& product) {
    IntervalPlan best;
    double least = std::numeric_limits<double>::infinity();
    forTiles(machine, product, [&](const IntervalPlan& plan) {
        if (plan.stack.total() >= least * (1 - 1e-9)) return;
        least = plan.stack.total();
        best = plan;
    });
    return best;
}

std::vector<IntervalPlan> planProducts(const IntervalMachine& machine, const IntervalProduct& product, std::size_t most,
                                       double furtherKernel) {
    std::vector<IntervalPlan> all;
    forTiles(machine, product, [&](const IntervalPlan& plan) { all.push_back(plan); });
    const auto cycles = [&](const IntervalPlan& plan) {
        return plan.stack.total() + (plan.splits > 1 ? furtherKernel : 0);
    };
    std::stable_sort(all.begin(), all.end(), [&](const IntervalPlan& one, const IntervalPlan& other) {
        return cycles(one) < cycles(other) * (1 - 1e-9);
    });
    all.resize(std::min(all.size(), most));
    return all;
}

}  // namespace orrery
