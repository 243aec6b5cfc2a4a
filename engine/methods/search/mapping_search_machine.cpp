#include "methods/search/mapping_search_machine.h"

#include "base/maths.h"
#include "simulation/dram/standard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr double specialLanes = 16;
// Where no L2 rate is given: bytes per cycle and core, between T4's 20 and A100's 47.
constexpr double usualL2BytesPerCycle = 24;
constexpr double usualLocalBytes = 64 * 1024;
constexpr double accumulatorElementBytes = 4;

// The squarest power-of-two array of so many multipliers, tall side first.
void shapeOf(double macs, ArrayOfType& array) {
    const auto exponent = static_cast<int>(std::floor(std::log2(std::max(macs, 1.0)) + 1e-9));
    array.cols = std::int64_t{1} << (exponent - exponent / 2);
    array.rows = std::max<std::int64_t>(1, std::llround(macs / static_cast<double>(array.cols)));
}

CoreStep bestSplit(const ArrayOfType& array, const SearchMachine& machine, double vectorOps, std::int64_t m,
                   std::int64_t n, std::int64_t k) {
    CoreStep best;
    const auto sub = static_cast<std::int64_t>(machine.subCores);
    for (std::int64_t sm = 1; sm <= sub; ++sm) {
        for (std::int64_t sn = 1; sm * sn <= sub; ++sn) {
            if (sub % (sm * sn) != 0) continue;
            const std::int64_t sk = sub / (sm * sn);
            if (sk > k) continue;
            const std::int64_t am = ceilDiv(m, sm), an = ceilDiv(n, sn), ak = ceilDiv(k, sk);
            double cycles = array.systolic ? std::min(systolicCycles(am, an, ak, array.rows, array.cols),
                                                      systolicCycles(am, an, ak, array.cols, array.rows))
                                           : static_cast<double>(ceilDiv(am * an, array.rows * array.cols) * ak);
            if (sk > 1) cycles += static_cast<double>((sk - 1) * m * n) / std::max(vectorOps, 1.0);
            if (best.cycles > 0 && cycles >= best.cycles) continue;
            best = {cycles, static_cast<std::int16_t>(sm), static_cast<std::int16_t>(sn),
                    static_cast<std::int16_t>(sk)};
        }
    }
    return best;
}

void fillSteps(ArrayOfType& array, const SearchMachine& machine, double vectorOps, double elementBytes) {
    for (std::size_t i = 0; i < mappingTileSides.size(); ++i) {
        for (std::size_t j = 0; j < mappingTileSides.size(); ++j) {
            for (std::size_t l = 0; l < mappingTileDepths.size(); ++l) {
                const std::int64_t m = mappingTileSides[i], n = mappingTileSides[j], k = mappingTileDepths[l];
                const double operands = static_cast<double>((m + n) * k) * elementBytes;
                const double sums = static_cast<double>(m * n) * accumulatorElementBytes;
                if (2 * operands > machine.localBytes || sums > machine.accumulatorBytes) continue;
                array.steps[i][j][l] = bestSplit(array, machine, vectorOps, m, n, k);
            }
        }
    }
}

}  // namespace

double systolicCycles(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t rows, std::int64_t cols) {
    return static_cast<double>(ceilDiv(m, rows) * ceilDiv(n, cols) * k + rows + cols - 2);
}

double refreshShare(std::string_view timing) {
    const DramStandard* found = nullptr;
    for (const DramStandard& standard : dramStandards()) {
        if (standard.timing.refi <= 0 || timing.substr(0, standard.family.size()) != standard.family) continue;
        if (!found || standard.family.size() > found->family.size()) found = &standard;
    }
    return found ? static_cast<double>(found->timing.rfc) / static_cast<double>(found->timing.refi) : 0;
}

double operationsPerExponential(double vectorOpsPerCycle) {
    return vectorOpsPerCycle / specialLanes + 3;
}

SearchMachine searchMachine(const GpuView& gpu) {
    SearchMachine machine;
    machine.cores = gpu.sms;
    machine.subCores = gpu.subCores;
    machine.clock = gpu.clock * gpu.sustained;
    const double refresh = refreshShare(gpu.dramTiming);
    machine.dram = gpu.dramBandwidth * (1 - refresh) / machine.clock;
    if (refresh > 0) {
        machine.assumptions.push_back(fmt::format("Refreshing takes {:.1f} % of main memory's time ({}, tRFC/tREFI).",
                                                  refresh * 100, gpu.dramTiming));
    }
    machine.l2 = gpu.l2Bandwidth / machine.clock;
    if (machine.l2 <= 0) {
        machine.l2 = usualL2BytesPerCycle * gpu.sms;
        machine.assumptions.push_back(
            fmt::format("No bandwidth of the last-level cache is given: {:.0f} B per cycle and core are assumed.",
                        usualL2BytesPerCycle));
    }
    machine.l2Bytes = gpu.l2Bytes / std::max(gpu.l2Slices, 1.0);
    machine.localBytes = gpu.sharedBytes;
    if (machine.localBytes <= 0) {
        machine.localBytes = usualLocalBytes;
        machine.assumptions.push_back("No shared memory is given: 64 KiB per core are assumed.");
    }
    // Half of the registers hold the sums, the other half operands and addresses.
    machine.accumulatorBytes = gpu.registerBytes > 0 ? gpu.registerBytes / 2 : machine.localBytes;
    for (int t = 0; t < dtypeCount; ++t) {
        const auto at = static_cast<std::size_t>(t);
        const auto type = static_cast<DType>(t);
        // A type without a rate of its own computes as fp32.
        const double own = gpu.vectorOpsPerCycle(type);
        machine.vectorOps[at] = std::max(own > 0 ? own : gpu.vectorOpsPerCycle(DType::F32), 1e-3);
        machine.specialOps[at] = operationsPerExponential(machine.vectorOps[at]);
        // Matrix products of types without a tensor rate of their own run as the next wider type that has one.
        const double matrix = gpu.peak(true, type) / (gpu.sms * gpu.clock);
        if (matrix <= 0) continue;
        ArrayOfType& array = machine.arrays[at];
        array.systolic = matrix > 1.01 * gpu.vectorOpsPerCycle(type);
        shapeOf(matrix / 2 / machine.subCores, array);
        fillSteps(array, machine, machine.vectorOps[at], bits(type) / 8.0);
    }
    return machine;
}

}  // namespace orrery
