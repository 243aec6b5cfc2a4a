#include "methods/interval/interval_programs.h"
#include "methods/answer/vector_functions.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr double loadWidth = 16;
constexpr double shuffleLatency = 25, shuffles = 5;  // a warp adds up in five steps
constexpr double barrierLatency = 30;
constexpr double mostRowWarps = 16;
constexpr double heldRowBytes = 64 * 1024;  // of a row that stays in a block's registers and shared memory

double sizeOf(DType type) {
    return bits(type) / 8.0;
}

// Vector units hold fp32 where a type has no rate of its own.
double lanesOf(const IntervalMachine& machine, DType type) {
    const double own = machine.vectorMacs[static_cast<std::size_t>(type)];
    return std::max(own > 0 ? own : machine.vectorMacs[static_cast<std::size_t>(DType::F32)], 1e-3);
}

void addMath(WarpInterval& interval, const IntervalMachine& machine, double elements, const VectorWork& work,
             DType type) {
    // Libraries compute narrow types in fp32.
    const DType as = bits(type) < 32 ? DType::F32 : type;
    interval.instructions += elements * (work.operations + work.exponentials) / machine.warpSize;
    interval.of(WarpUnit::Vector) += elements * work.operations / lanesOf(machine, as);
    interval.of(WarpUnit::Special) += elements * work.exponentials / machine.specialOps;
}

IntervalPlan planned(const IntervalMachine& machine, const WarpProgram& program) {
    IntervalPlan plan;
    plan.program = program;
    plan.stack = kernelStack(machine, program);
    plan.covered = true;
    return plan;
}

}  // namespace

IntervalPlan planElements(const IntervalMachine& machine, const Kernel& kernel) {
    const double element = sizeOf(kernel.type);
    const double counted =
        static_cast<double>(kernel.batch) * static_cast<double>(kernel.m) * static_cast<double>(kernel.n);
    const double elements =
        std::max(1.0, counted > 0 ? counted : std::max(kernel.writeBytes, kernel.readBytes) / element);
    const VectorWork work =
        kernel.kind == KernelKind::Elementwise ? vectorWork(kernel) : VectorWork{kernel.flops / elements, 0};
    WarpProgram program;
    program.warpsPerBlock = 4;
    const double perWarp = machine.warpSize * loadWidth / element;
    program.blocks = std::max(1.0, std::ceil(elements / (perWarp * program.warpsPerBlock)));
    const double read = kernel.readBytes / elements * perWarp, written = kernel.writeBytes / elements * perWarp;
    WarpInterval load;
    load.loadBytes = read;
    load.instructions = 6 + read / (machine.warpSize * loadWidth);
    load.of(WarpUnit::LoadStore) = read / machine.sharedBytesPerCycle;
    load.waitsForLoad = read > 0;
    load.edge = true;
    program.add(load);
    WarpInterval store;
    store.storeBytes = written;
    store.instructions = 2 + written / (machine.warpSize * loadWidth);
    store.of(WarpUnit::LoadStore) = written / machine.sharedBytesPerCycle;
    addMath(store, machine, perWarp, work, kernel.type);
    program.add(store);
    return planned(machine, program);
}

IntervalPlan planRows(const IntervalMachine& machine, const Kernel& kernel) {
    const double element = sizeOf(kernel.type);
    const double rows = std::max(1.0, static_cast<double>(kernel.batch) * static_cast<double>(kernel.m));
    const double columns = std::max(1.0, static_cast<double>(kernel.n));
    const VectorWork work = vectorWork(kernel);
    WarpProgram program;
    program.warpsPerBlock =
        std::clamp(std::ceil(columns * element / (machine.warpSize * loadWidth * 4)), 1.0, mostRowWarps);
    program.blocks = rows;
    const double perWarp = columns / program.warpsPerBlock;
    const double rowBytes = columns * element;
    const bool held = rowBytes <= heldRowBytes;
    WarpInterval load;
    load.loadBytes = perWarp * element * std::max(1.0, kernel.readBytes / (rows * rowBytes));
    load.instructions = 10 + load.loadBytes / (machine.warpSize * loadWidth);
    load.of(WarpUnit::LoadStore) = load.loadBytes / machine.sharedBytesPerCycle;
    load.waitsForLoad = true;
    load.edge = true;
    program.add(load);
    // Two reductions, of maximum and sum or of mean and variance.
    WarpInterval reduce;
    reduce.count = 2;
    reduce.instructions = shuffles * 2;
    reduce.wait = shuffles * shuffleLatency + (program.warpsPerBlock > 1 ? barrierLatency + machine.sharedLatency : 0);
    addMath(reduce, machine, perWarp, {work.operations / 3, work.exponentials / 3}, kernel.type);
    reduce.edge = true;
    program.add(reduce);
    if (!held) {
        WarpInterval again;
        again.count = 2;
        again.loadBytes = perWarp * element;
        again.instructions = again.loadBytes / (machine.warpSize * loadWidth);
        again.of(WarpUnit::LoadStore) = again.loadBytes / machine.sharedBytesPerCycle;
        again.waitsForLoad = true;
        again.dramShare = rowBytes * std::min(rows, machine.sms) > machine.l2Bytes ? 1 : 0;
        program.add(again);
    }
    WarpInterval store;
    store.storeBytes = perWarp * element;
    store.instructions = store.storeBytes / (machine.warpSize * loadWidth);
    store.of(WarpUnit::LoadStore) = store.storeBytes / machine.sharedBytesPerCycle;
    addMath(store, machine, perWarp, {work.operations / 3, work.exponentials / 3}, kernel.type);
    program.add(store);
    return planned(machine, program);
}

}  // namespace orrery
