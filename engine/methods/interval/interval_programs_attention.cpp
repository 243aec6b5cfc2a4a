#include "methods/interval/interval_programs.h"
#include "workload/costs.h"
#include "workload/kernel_parts.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr double loadWidth = 16;
constexpr double queryRows = 128, keyColumns = 64;  // of one block and one step (FlashAttention-2)
constexpr double decodeKeys = 64;
constexpr double operationsPerScore = 6;  // scale, mask, maximum, subtract, sum, rescale
constexpr double loopInstructions = 12;

double sizeOf(DType type) {
    return bits(type) / 8.0;
}

// Multiply-accumulates on tensor units, or on vector units where these do not take the type.
void addProducts(WarpInterval& interval, const IntervalMachine& machine, double macs, DType type) {
    const auto t = static_cast<std::size_t>(type);
    if (machine.tensorMacs[t] > 0) {
        interval.of(WarpUnit::Tensor) += macs / machine.tensorMacs[t];
        interval.instructions += macs / 2048;  // of 16×8×16
    } else {
        const double rate =
            std::max({machine.vectorMacs[t], machine.vectorMacs[static_cast<std::size_t>(DType::F32)], 1e-3});
        interval.of(WarpUnit::Vector) += macs / rate;
        interval.instructions += macs / machine.warpSize;
    }
}

void addScores(WarpInterval& interval, const IntervalMachine& machine, double scores) {
    const double lanes = std::max(machine.vectorMacs[static_cast<std::size_t>(DType::F32)], 1e-3);
    interval.of(WarpUnit::Vector) += scores * operationsPerScore / lanes;
    interval.of(WarpUnit::Special) += scores / machine.specialOps;
    interval.instructions += scores * (operationsPerScore + 1) / machine.warpSize;
}

IntervalPlan planned(const IntervalMachine& machine, const WarpProgram& program, double tileM, double tileN) {
    IntervalPlan plan;
    plan.program = program;
    plan.stack = kernelStack(machine, program);
    plan.tileM = tileM;
    plan.tileN = tileN;
    plan.covered = true;
    return plan;
}

void addStore(WarpProgram& program, const IntervalMachine& machine, double bytes) {
    WarpInterval store;
    store.storeBytes = bytes;
    store.instructions = 8 + 2 * bytes / 512;
    store.of(WarpUnit::LoadStore) = bytes / machine.sharedBytesPerCycle;
    store.edge = true;
    program.add(store);
}

}  // namespace

IntervalPlan planPrefill(const IntervalMachine& machine, const Kernel& kernel) {
    const AttentionShape shape = windowed(kernel);
    const double element = sizeOf(kernel.type);
    const auto d = static_cast<double>(shape.headDim), dv = static_cast<double>(shape.valueDim);
    const double heads = static_cast<double>(shape.batch) * static_cast<double>(shape.heads);
    const auto queries = static_cast<double>(shape.queries);
    const double rows = std::min(queryRows, std::max(16.0, queries));
    WarpProgram program;
    program.warpsPerBlock = rows > 64 ? 8 : 4;
    program.registersPerThread = std::min(255.0, rows * dv / (program.warpsPerBlock * machine.warpSize) + 96);
    program.sharedBytesPerBlock = rows * d * element + 2 * keyColumns * (d + dv) * element;
    program.blocks = heads * std::ceil(queries / rows);
    // Keys that a row of queries sees, in whole steps.
    const double keys = attentionPairs(shape) / std::max(queries, 1.0);
    const double steps = std::max(1.0, std::ceil(keys / keyColumns));
    const double loaded = keyColumns * (d + dv) * element;
    const double asked = program.blocks * steps * loaded;
    const double once = static_cast<double>(shape.batch) * static_cast<double>(shape.kvHeads) *
                        static_cast<double>(shape.keys) * (d + dv) * element;
    WarpInterval first;
    first.instructions = 40;
    first.loadBytes = rows * d * element / program.warpsPerBlock;
    first.waitsForLoad = true;
    first.edge = true;
    program.add(first);
    WarpInterval step;
    step.count = steps;
    step.loadBytes = loaded / program.warpsPerBlock;
    step.dramShare = std::min(1.0, once / asked);
    step.waitsForLoad = true;
    step.ahead = 1;
    step.instructions = loopInstructions;
    addProducts(step, machine, rows * keyColumns * (d + dv) / program.warpsPerBlock, kernel.type);
    addScores(step, machine, rows * keyColumns / program.warpsPerBlock);
    step.of(WarpUnit::LoadStore) = (step.loadBytes + loaded) / machine.sharedBytesPerCycle;
    if (!shape.flash) {
        // Scores go out and come back for softmax, and once more for the second product.
        step.storeBytes += 2 * rows * keyColumns * element / program.warpsPerBlock;
        step.loadBytes += 2 * rows * keyColumns * element / program.warpsPerBlock;
        step.dramShare = 1;
    }
    program.add(step);
    addStore(program, machine, rows * dv * element / program.warpsPerBlock);
    return planned(machine, program, rows, keyColumns);
}

IntervalPlan planDecode(const IntervalMachine& machine, const Kernel& kernel) {
    const AttentionShape shape = windowed(kernel);
    const double cache = sizeOf(kernel.kvType);
    const auto d = static_cast<double>(shape.headDim), dv = static_cast<double>(shape.valueDim);
    const double stored = latentCache(shape) ? d : d + dv;
    const double kvHeads = std::max<double>(1, static_cast<double>(shape.kvHeads));
    const double sequences = static_cast<double>(shape.batch) * kvHeads;
    const double group = std::max(1.0, static_cast<double>(shape.heads) / kvHeads) * static_cast<double>(shape.queries);
    const auto keys = std::max(1.0, static_cast<double>(shape.keys));
    WarpProgram program;
    program.warpsPerBlock = 4;
    program.registersPerThread = 128;
    program.sharedBytesPerBlock = 2 * decodeKeys * stored * cache;
    // Sequences are cut until every multiprocessor has a block, but not below one step.
    const double cuts = std::clamp(std::floor(machine.sms / sequences), 1.0, std::ceil(keys / decodeKeys));
    program.blocks = sequences * cuts;
    WarpInterval first;
    first.instructions = 40;
    first.waitsForLoad = true;
    first.edge = true;
    program.add(first);
    WarpInterval step;
    step.count = std::max(1.0, std::ceil(keys / cuts / decodeKeys));
    step.loadBytes = std::min(decodeKeys, keys) * stored * cache / program.warpsPerBlock;
    step.waitsForLoad = true;
    step.ahead = 1;
    step.instructions = loopInstructions + 2 * step.loadBytes / (machine.warpSize * loadWidth);
    step.of(WarpUnit::LoadStore) = 2 * step.loadBytes / machine.sharedBytesPerCycle;
    // Groups of queries on tensor units fill at least an instruction's sixteen rows.
    const auto t = static_cast<std::size_t>(kernel.type);
    const bool tensor = group > 1 && machine.tensorMacs[t] > 0;
    const double rows = tensor ? std::ceil(group / 16) * 16 : group;
    WarpInterval products;
    addProducts(products, machine, rows * decodeKeys * (d + dv) / program.warpsPerBlock,
                tensor ? kernel.type : DType::F32);
    step.of(WarpUnit::Tensor) += products.of(WarpUnit::Tensor);
    step.of(WarpUnit::Vector) += products.of(WarpUnit::Vector);
    step.instructions += products.instructions;
    addScores(step, machine, group * decodeKeys / program.warpsPerBlock);
    program.add(step);
    addStore(program, machine, group * dv * 4 / program.warpsPerBlock);
    if (cuts > 1) {
        WarpInterval join;
        join.loadBytes = group * dv * 4 / program.warpsPerBlock;
        join.dramShare = 0;
        join.waitsForLoad = true;
        join.instructions = 20;
        program.add(join);
    }
    return planned(machine, program, group, decodeKeys);
}

}  // namespace orrery
