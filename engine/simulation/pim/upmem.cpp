#include "simulation/pim/upmem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::pim {

namespace {

// Fixed sizes of PrIM's sources: columns of its matrix, positions that a time series is cut into, the query's length.
constexpr double matrixColumns = 64, seriesPositions = 1024, queryLength = 256, transposeTile = 2048, searchBlock = 32;

struct Work {
    double elements = 0;
    std::vector<DpuLoop> loops;
};

Work workOf(const PrimKernel& kernel, double parameter, double dpus) {
    Work work{0, kernel.loops};
    const double share = std::ceil(parameter / dpus);
    switch (kernel.size) {
        case PrimKernel::Size::Items:
            work.elements = share;
            break;
        case PrimKernel::Size::MatrixRows:
            work.elements = share * matrixColumns;
            break;
        case PrimKernel::Size::ThreeLayers:
            work.elements = 3 * share * parameter;
            break;
        case PrimKernel::Size::Search:
            // An eighth of the table is searched for; halving stops at a block that is searched in the scratchpad.
            work.elements = std::ceil(parameter / 8 / dpus) * std::max(1.0, std::log2(parameter / searchBlock));
            break;
        case PrimKernel::Size::Transpose:
            work.elements = share * transposeTile;
            // Few rows make few cycles of the permutation, which follow each other under one lock.
            for (auto& loop : work.loops) loop.locked += 430 / parameter;
            break;
        case PrimKernel::Size::Series:
            work.elements = std::ceil(share / seriesPositions) * seriesPositions * queryLength;
            break;
    }
    return work;
}

// Host transfers, milliseconds: fits of 123 measured rows (uPIMulator's data), bytes per DPU and number of DPUs.
double parallelToDpu(double bytes, double dpus) {
    return bytes > 0 ? 0.25 + std::exp(-2.75) * std::pow(bytes / 1e5, 1.097) * std::pow(dpus, 0.7324) : 0;
}
double toDpu(const PrimKernel& kernel, double bytes, double dpus) {
    if (bytes <= 0) return 0;
    switch (kernel.toDpu) {
        case PrimKernel::ToDpu::RowByRow:
            return bytes / 64 * 0.054;  // a push per row of eight
        case PrimKernel::ToDpu::OneByOne:
            return parallelToDpu(bytes, dpus) + 0.042 * dpus;
        default:
            return parallelToDpu(bytes, dpus);
    }
}
double fromDpu(const PrimKernel& kernel, double bytes, double dpus) {
    if (bytes <= 0) return 0;
    if (kernel.fromDpu == PrimKernel::FromDpu::OneByOne)
        return 0.1 + std::min(0.0165, 6.5e-5 * bytes) * dpus +
               std::exp(-11.4) * std::pow(bytes, 0.968) * std::pow(dpus, 1.099);
    return 0.1 + std::exp(-8.875) * std::pow(bytes, 0.819) * std::pow(dpus, 0.211);
}

}  // namespace

double toDpusMilliseconds(double bytesPerDpu, double dpus) {
    return parallelToDpu(bytesPerDpu, dpus);
}
double fromDpusMilliseconds(double bytesPerDpu, double dpus) {
    return fromDpu(PrimKernel{}, bytesPerDpu, dpus);
}

std::string_view nameOf(DpuBound bound) {
    return bound == DpuBound::Instructions    ? "instructions"
           : bound == DpuBound::DramTransfers ? "dram transfers"
                                              : "lock";
}

const std::vector<PrimKernel>& primKernels() {
    using Size = PrimKernel::Size;
    using To = PrimKernel::ToDpu;
    using From = PrimKernel::FromDpu;
    // Per element: instructions of the loop (loads, address, arithmetic, store, counter, branch; a multiplication of
    // words is a routine of a step per bit of the smaller factor), bytes of DRAM both ways, instructions under a lock.
    // HST-S and UNI: counted from the loops' sources against the neighbours HST-L, GEMV and SEL, not measured.
    static const std::vector<PrimKernel> all = {
        {"BS", Size::Search, {{60, 256, 0}}, 1, 0, To::Parallel, From::OneByOne, true},
        {"GEMV", Size::MatrixRows, {{23.4, 8.25, 0}}, 1, 0.07, To::Parallel, From::Parallel, true},
        {"HST-L", Size::Items, {{26, 4, 9}}, 1, -0.14, To::Parallel, From::Parallel, true},
        {"HST-S", Size::Items, {{26, 4, 0}}, 1, 0, To::Parallel, From::Parallel, false},
        {"MLP", Size::ThreeLayers, {{16, 8, 0}}, 3, 0.9, To::Parallel, From::Parallel, true},
        {"RED", Size::Items, {{8, 8, 0}}, 1, 0, To::Parallel, From::OneByOne, true},
        {"SCAN-RSS", Size::Items, {{8, 8, 0}, {11, 16, 0}}, 2, -0.07, To::Parallel, From::Parallel, true},
        {"SCAN-SSA", Size::Items, {{11, 16, 0}, {9, 16, 0}}, 2, -0.07, To::Parallel, From::Parallel, true},
        {"SEL", Size::Items, {{12, 12, 0}}, 1, 0, To::Parallel, From::OneByOne, true},
        {"TRNS", Size::Transpose, {{24, 32, 17.7}}, 1, 0, To::RowByRow, From::Parallel, true},
        {"TS", Size::Series, {{7, 0.1, 0}}, 1, -0.14, To::OneByOne, From::OneByOne, true},
        {"UNI", Size::Items, {{14, 12, 0}}, 1, 0, To::Parallel, From::OneByOne, false},
        {"VA", Size::Items, {{7.2, 12, 0}}, 1, 0.4, To::Parallel, From::Parallel, true},
    };
    return all;
}

Expected<const PrimKernel*> primKernel(std::string_view name) {
    std::string names;
    for (const auto& kernel : primKernels()) {
        if (kernel.name == name) return &kernel;
        names += (names.empty() ? "" : ", ") + std::string(kernel.name);
    }
    return fail("pim.upmem", fmt::format("there is no benchmark '{}'", name), "one of " + names);
}

DpuTime timeOf(const std::vector<DpuLoop>& loops, double elements, const Dpu& dpu) {
    // Tasklets take turns; fewer than the interval leave slots empty. Transfers go on beside them, one at a time.
    const double slots = std::max(1.0, static_cast<double>(dpu.threadInterval) / dpu.tasklets) * dpu.cyclesPerSlot;
    DpuTime time;
    for (const auto& loop : loops) {
        const double issue = loop.instructions * elements * slots,
                     dram = loop.dramBytes * elements * dpu.dramCyclesPerByte;
        const double lock = loop.locked * elements * dpu.threadInterval;
        time.instructionCycles += issue, time.dramCycles += dram, time.lockCycles += lock;
        time.cycles += std::max({issue, dram, lock});
    }
    time.bound = time.lockCycles > std::max(time.instructionCycles, time.dramCycles) ? DpuBound::Lock
                 : time.dramCycles > time.instructionCycles                          ? DpuBound::DramTransfers
                                                                                     : DpuBound::Instructions;
    time.milliseconds = time.cycles / dpu.clockHertz * 1e3;
    return time;
}

Expected<UpmemAnswer> answerOf(const PrimKernel& kernel, const UpmemRun& run, const Dpu& dpu) {
    const bool sound = run.dpus >= 1 && run.dpus <= 2560 && run.parameter >= 1 &&
                       run.parameter <= (std::int64_t{1} << 40) && run.toDpuBytes >= 0 && run.fromDpuBytes >= 0 &&
                       run.betweenBytes >= 0;
    if (!sound || dpu.tasklets < 1 || dpu.tasklets > 24)
        return fail(
            "pim.upmem",
            fmt::format("{} on {} DPUs with size {}, {} tasklets", kernel.name, run.dpus, run.parameter, dpu.tasklets),
            "1 to 2,560 DPUs, sizes from 1 to 2^40, 1 to 24 tasklets, bytes not below 0");
    const auto dpus = static_cast<double>(run.dpus);
    const Work work = workOf(kernel, static_cast<double>(run.parameter), dpus);
    UpmemAnswer answer;
    answer.elements = work.elements;
    answer.kernel = timeOf(work.loops, work.elements, dpu);
    answer.kernel.milliseconds += kernel.launches * dpu.launchMilliseconds + kernel.preparation;
    answer.toDpuMilliseconds = toDpu(kernel, run.toDpuBytes, dpus);
    answer.fromDpuMilliseconds = fromDpu(kernel, run.fromDpuBytes, dpus);
    // Between DPUs everything passes the host: a read and a write of each; layers of a network wait for each other.
    if (run.betweenBytes > 0) answer.betweenMilliseconds = kernel.launches > 2 ? 0.41 : 0.1 + 0.0105 * dpus;
    return answer;
}

}  // namespace orrery::pim
