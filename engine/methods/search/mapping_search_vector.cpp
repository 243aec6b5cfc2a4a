#include "methods/search/mapping_search_vector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

// Operations per element beside its exponentials (LLMCompass, software_model/softmax.py and layernorm.py).
constexpr double softmaxExponentials = 3, softmaxOperations = 7;
constexpr double combineOperations = 2;  // and one exponential, to join two parts of a row
constexpr double normalizationOperations = 7;
constexpr std::array<double, 6> rowParts{1, 2, 4, 8, 16, 32};
constexpr std::array<double, 9> rowsAtOnce{1, 2, 4, 8, 16, 32, 64, 128, 256};

struct RowShape {
    double rows, columns, bytes;  ///< bytes of one element
    double elements() const { return rows * columns; }
};

VectorCost start(const SearchMachine& machine, const RowShape& shape) {
    VectorCost cost;
    cost.dramCycles = 2 * shape.elements() * shape.bytes / machine.dram;
    cost.cycles = std::numeric_limits<double>::infinity();
    return cost;
}

void consider(VectorCost& best, double cache, double compute, double tileM, double tileN, double batches) {
    const double cycles = best.dramCycles + cache + compute;
    if (cycles >= best.cycles) return;
    best.cycles = cycles;
    best.cacheCycles = cache;
    best.computeCycles = compute;
    best.tileM = tileM;
    best.tileN = tileN;
    best.batches = batches;
}

}  // namespace

VectorCost searchSoftmax(const SearchMachine& machine, std::int64_t rows, std::int64_t columns, DType type) {
    const auto t = static_cast<std::size_t>(type);
    const RowShape shape{static_cast<double>(rows), static_cast<double>(columns), bits(type) / 8.0};
    const double rate = machine.vectorOps[t], special = machine.specialOps[t];
    const double share = machine.l2 / machine.cores;
    VectorCost best = start(machine, shape);
    for (const double parts : rowParts) {
        const double tileN = std::ceil(shape.columns / parts);
        for (const double wanted : rowsAtOnce) {
            const double tileM = std::min(wanted, shape.rows);
            const double elements = tileM * tileN;
            if (elements * shape.bytes > machine.localBytes && elements > 1) continue;
            const double batches = std::ceil(std::ceil(shape.rows / tileM) * parts / machine.cores);
            double compute = elements * (softmaxExponentials * special + softmaxOperations) / rate;
            double cache = 2 * elements * shape.bytes / share;
            const double joins = std::log2(parts);
            compute += joins * elements * (special + combineOperations) / rate;
            cache += joins * 2 * elements * shape.bytes / share;
            consider(best, batches * cache, batches * compute, tileM, tileN, batches);
        }
    }
    return best;
}

VectorCost searchNormalization(const SearchMachine& machine, std::int64_t rows, std::int64_t columns, DType type) {
    const auto t = static_cast<std::size_t>(type);
    const RowShape shape{static_cast<double>(rows), static_cast<double>(columns), bits(type) / 8.0};
    const double rate = machine.vectorOps[t];
    const double share = machine.l2 / machine.cores;
    VectorCost best = start(machine, shape);
    for (const double parts : rowParts) {
        const double tileN = std::ceil(shape.columns / parts);
        for (const double wanted : rowsAtOnce) {
            const double tileM = std::min(wanted, shape.rows);
            const double elements = tileM * tileN;
            const bool fits = elements * shape.bytes <= machine.localBytes;
            if (!fits && (tileM > 1 || parts < rowParts.back())) continue;
            const double batches = std::ceil(std::ceil(shape.rows / tileM) * parts / machine.cores);
            const double compute = elements * normalizationOperations / rate + (parts - 1) * elements / rate;
            const double reads = fits ? 1 : 3;
            const double cache = (reads + 1) * elements * shape.bytes / share +
                                 (parts > 1 ? (parts - 1) * 2 * elements * shape.bytes / share : 0);
            consider(best, batches * cache, batches * compute, tileM, tileN, batches);
        }
    }
    return best;
}

VectorCost streamElements(const SearchMachine& machine, double elements, double bytes, double operations,
                          double exponentials, DType type) {
    const auto t = static_cast<std::size_t>(type);
    // Whole rounds of all lanes: a core issues no part of one.
    const double round = machine.cores * std::max(machine.vectorOps[t] / 2, 1.0);
    const double whole = std::ceil(elements / round) * round;
    VectorCost cost;
    cost.dramCycles = bytes / machine.dram;
    cost.cacheCycles = bytes / machine.l2;
    cost.computeCycles =
        whole * (operations + exponentials * machine.specialOps[t]) / (machine.vectorOps[t] * machine.cores);
    cost.cycles = std::max(cost.dramCycles + cost.cacheCycles, cost.computeCycles);
    return cost;
}

}  // namespace orrery
