#include "simulation/systolic/folds.h"

#include "base/maths.h"

#include <fmt/format.h>

namespace orrery::systolic {

Fold FoldPlan::fold(std::int64_t index) const {
    Fold fold;
    fold.index = index;
    fold.row = index % rowFolds;
    fold.col = index / rowFolds;
    fold.usedRows = std::min(rows, spatialRows - fold.row * rows);
    fold.usedCols = std::min(cols, spatialCols - fold.col * cols);
    fold.begin = index * foldCycles;
    return fold;
}

Stream FoldPlan::ifmap(const Fold& fold) const {
    switch (dataflow) {
        case Dataflow::OutputStationary:
            return {.length = temporal, .lanes = fold.usedRows};
        case Dataflow::WeightStationary:
            return {.start = rows, .length = temporal, .lanes = fold.usedRows};
        case Dataflow::InputStationary:
        case Dataflow::RowStationary:
            break;
    }
    // The rows that are not used would be pushed in first.
    return {.loads = true, .start = rows - fold.usedRows, .length = fold.usedRows, .lanes = fold.usedCols};
}

Stream FoldPlan::filter(const Fold& fold) const {
    switch (dataflow) {
        case Dataflow::OutputStationary:
            return {.length = temporal, .lanes = fold.usedCols};
        case Dataflow::InputStationary:
            return {.start = rows, .length = temporal, .lanes = fold.usedRows};
        case Dataflow::WeightStationary:
        case Dataflow::RowStationary:
            break;
    }
    return {.loads = true, .start = rows - fold.usedRows, .length = fold.usedRows, .lanes = fold.usedCols};
}

Stream FoldPlan::ofmap(const Fold& fold) const {
    if (dataflow == Dataflow::OutputStationary) {
        // From the bottom edge, last row first, as soon as the last operands have entered.
        return {.start = temporal - 1, .length = rows, .skipped = rows - fold.usedRows, .lanes = fold.usedCols};
    }
    return {.start = 2 * rows - 1, .length = temporal, .lanes = fold.usedCols};
}

std::int64_t FoldPlan::activePes(const Fold& fold, std::int64_t cycle) const {
    // PE (r, c) works on step t in cycle start + t + r + c.
    const std::int64_t step = cycle - (dataflow == Dataflow::OutputStationary ? 0 : rows);
    return cellsBefore(step + 1, fold.usedRows, fold.usedCols) -
           cellsBefore(step + 1 - temporal, fold.usedRows, fold.usedCols);
}

std::int64_t FoldPlan::filterTile(const Fold& fold) const {
    switch (dataflow) {
        case Dataflow::OutputStationary:
            return fold.col;
        case Dataflow::WeightStationary:
            return fold.index;
        case Dataflow::InputStationary:
        case Dataflow::RowStationary:
            break;
    }
    return fold.row;
}

std::int64_t FoldPlan::filterReuse(const Fold& fold) const {
    switch (dataflow) {
        case Dataflow::OutputStationary:
            return fold.row == 0 ? 0 : 1;
        case Dataflow::WeightStationary:
            return 0;
        case Dataflow::InputStationary:
        case Dataflow::RowStationary:
            break;
    }
    return fold.col == 0 ? 0 : rowFolds;
}

Expected<FoldPlan> planFolds(const Array& array, const Layer& layer) {
    if (auto good = check(array); !good) return tl::unexpected(good.error());
    if (auto good = check(layer); !good) return tl::unexpected(good.error());
    FoldPlan plan;
    plan.dataflow = array.dataflow;
    plan.product = productOf(layer, array);
    plan.rows = array.rows;
    plan.cols = array.cols;
    const Product& p = plan.product;
    switch (array.dataflow) {
        case Dataflow::OutputStationary:
            plan.spatialRows = p.m, plan.spatialCols = p.n, plan.temporal = p.k;
            break;
        case Dataflow::WeightStationary:
            plan.spatialRows = p.k, plan.spatialCols = p.n, plan.temporal = p.m;
            break;
        case Dataflow::InputStationary:
            plan.spatialRows = p.k, plan.spatialCols = p.m, plan.temporal = p.n;
            break;
        case Dataflow::RowStationary:  // refused by check()
            break;
    }
    plan.rowFolds = ceilDiv(plan.spatialRows, plan.rows);
    plan.colFolds = ceilDiv(plan.spatialCols, plan.cols);
    const bool streamsBoth = array.dataflow == Dataflow::OutputStationary;
    plan.foldCycles = plan.temporal + (streamsBoth ? 1 : 2) * plan.rows + plan.cols - 2;
    const double cycles =
        static_cast<double>(plan.rowFolds) * static_cast<double>(plan.colFolds) * static_cast<double>(plan.foldCycles);
    if (cycles > 4e18) {
        return fail("systolic.too-long", fmt::format("{:.3g} cycles cannot be counted", cycles), "fewer than 4e18",
                    "take a larger array or a smaller layer", {.path = layer.name});
    }
    return plan;
}

FoldAverages foldAverages(const FoldPlan& plan) {
    const auto pes = static_cast<double>(plan.rows * plan.cols);
    const std::int64_t extra = plan.dataflow == Dataflow::OutputStationary ? 0 : plan.cols - 1;
    const double denominator = pes * static_cast<double>(plan.foldCycles + extra);
    // Summed fold by fold: the reports print all digits of this very sum.
    double mapping = 0;
    double compute = 0;
    for (std::int64_t i = 0; i < plan.folds(); ++i) {
        const Fold fold = plan.fold(i);
        const auto used = static_cast<double>(fold.usedRows * fold.usedCols);
        mapping += used / pes;
        compute += used * static_cast<double>(plan.temporal) / denominator;
    }
    const auto folds = static_cast<double>(plan.folds());
    return {mapping / folds * 100, compute / folds * 100};
}

}  // namespace orrery::systolic
