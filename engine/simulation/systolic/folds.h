#pragma once

// How a product is folded over the array, and what each fold demands in each of its cycles. Extents larger than the
// array are cut into folds that run one after another, column folds outermost; every fold takes the same cycles, also
// one that fills only part of the array (ISPASS 2020, section III):
//
//   output stationary   rows m, columns n, k streams    T + R + C - 2 cycles per fold (T = K)
//   weight stationary   rows k, columns n, m streams    T + 2R + C - 2 (T = M; R cycles load the weights)
//   input stationary    rows k, columns m, n streams    T + 2R + C - 2 (T = N; R cycles load the inputs)
//
// Within a fold every operand either streams, skewed so that lane l starts l cycles after lane 0, or is loaded row by
// row before the others stream. Both demand a contiguous range of lanes per cycle, which is all that the cycle loop
// needs to know.

#include "simulation/systolic/array.h"

#include <algorithm>
#include <cstdint>

namespace orrery::systolic {

/// Cells (i, j) of an a × b rectangle with i + j < x: how many steps of a skewed stream have happened by then.
constexpr std::int64_t cellsBefore(std::int64_t x, std::int64_t a, std::int64_t b) {
    const auto triangle = [](std::int64_t n) { return n > 0 ? n * (n + 1) / 2 : 0; };
    x = std::clamp<std::int64_t>(x, 0, a + b);
    return triangle(x) - triangle(x - a) - triangle(x - b) + triangle(x - a - b);
}

/// Lanes lo…hi, none where hi < lo. `step` is the row of a streaming operand's diagonal (element t = step - lane), or
/// the row of the tile that a load pushes in.
struct Lanes {
    std::int64_t lo = 0, hi = -1, step = 0;
    std::int64_t count() const { return hi >= lo ? hi - lo + 1 : 0; }
};

/// One operand over one fold.
struct Stream {
    bool loads = false;        ///< row by row from the last to the first, before the others stream
    std::int64_t start = 0;    ///< cycle of its fold in which lane 0 begins
    std::int64_t length = 0;   ///< elements per lane (rows of the array that are loaded)
    std::int64_t skipped = 0;  ///< leading elements of every lane that do not exist (output rows not used)
    std::int64_t lanes = 0;    ///< in use
    std::int64_t elements() const { return (length - skipped) * lanes; }

    Lanes at(std::int64_t cycle) const {
        const std::int64_t step = cycle - start;
        if (loads) return {0, step >= 0 && step < length ? lanes - 1 : -1, length - 1 - step};
        return {std::max<std::int64_t>(0, step - length + 1), std::min(lanes - 1, step - skipped), step};
    }
    /// Elements demanded before `cycle` of the fold.
    std::int64_t before(std::int64_t cycle) const {
        const std::int64_t steps = cycle - start;
        if (loads) return std::clamp<std::int64_t>(steps, 0, length) * lanes;
        return cellsBefore(steps - skipped, length - skipped, lanes);
    }
    std::int64_t first() const { return start + skipped; }                              ///< cycle of the first demand
    std::int64_t last() const { return start + length - 1 + (loads ? 0 : lanes - 1); }  ///< and of the last
};

struct Fold {
    std::int64_t index = 0, row = 0, col = 0;
    std::int64_t usedRows = 0, usedCols = 0;
    std::int64_t begin = 0;  ///< first cycle, stalls not counted
};

struct FoldPlan {
    Dataflow dataflow = Dataflow::OutputStationary;
    Product product;
    std::int64_t rows = 0, cols = 0;                ///< of the array
    std::int64_t spatialRows = 0, spatialCols = 0;  ///< extents laid over them
    std::int64_t temporal = 0;                      ///< steps that stream per fold
    std::int64_t rowFolds = 0, colFolds = 0;
    std::int64_t foldCycles = 0;

    std::int64_t folds() const { return rowFolds * colFolds; }
    std::int64_t cycles() const { return folds() * foldCycles; }  ///< without stalls
    Fold fold(std::int64_t index) const;

    Stream ifmap(const Fold& fold) const;
    Stream filter(const Fold& fold) const;
    Stream ofmap(const Fold& fold) const;
    /// PEs that multiply in a cycle of a fold.
    std::int64_t activePes(const Fold& fold, std::int64_t cycle) const;

    /// Which tile of an operand a fold uses, and how many folds ago it was used before (0: never).
    std::int64_t ifmapTile(const Fold& fold) const { return loadsIfmap() ? fold.index : fold.row; }
    std::int64_t filterTile(const Fold& fold) const;
    std::int64_t ifmapReuse(const Fold& fold) const { return loadsIfmap() || fold.col == 0 ? 0 : rowFolds; }
    std::int64_t filterReuse(const Fold& fold) const;
    bool loadsIfmap() const { return dataflow == Dataflow::InputStationary; }
    bool loadsFilter() const { return dataflow == Dataflow::WeightStationary; }
};

/// Of a checked array and layer. Fails with `systolic.too-long` where the cycles would not fit 62 bits.
Expected<FoldPlan> planFolds(const Array& array, const Layer& layer);

/// Percentages as the reports name them, averaged over folds: PEs that hold work, and MACs per PE and cycle of a fold.
/// The tool divides by slightly more cycles than a fold takes (C - 1 more where an operand is loaded).
struct FoldAverages {
    double mappingEfficiency = 0, computeUtilization = 0;
};
FoldAverages foldAverages(const FoldPlan& plan);

}  // namespace orrery::systolic
