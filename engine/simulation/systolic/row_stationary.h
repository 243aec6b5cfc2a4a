#pragma once

// The row-stationary dataflow (Chen, Emer and Sze: Eyeriss, ISCA 2016, section V) as a walk over the array, for showing
// what it reuses; no method is priced by it. An element keeps one row of a filter and slides it along one row of the
// input: F outputs of S multiplications each. The element in row i, column j of a set takes filter row i and input row
// stride·j + i, for output row j: filter rows are shared along rows of the array, input rows along diagonals, and sums
// move up a column. Every element multiplies once a cycle; a row starts one cycle after the one below it, so that a sum
// moves up by one row a cycle. Output rows beyond the columns follow in further strips. Sets of filter rows stand above
// each other, each with an input channel of its own; further channels and filters follow in further passes.

#include "simulation/systolic/array.h"
#include "simulation/systolic/snapshot.h"

namespace orrery::systolic {

struct RowPlan {
    Layer layer;
    std::int64_t rows = 0, cols = 0;
    std::int64_t sets = 0;    ///< of filter rows that the rows of the array hold
    std::int64_t strips = 0;  ///< of output rows
    std::int64_t groups = 0;  ///< of channels, `sets` in each but the last
    std::int64_t passCycles = 0;

    std::int64_t passes() const { return strips * layer.filters * groups; }
    std::int64_t cycles() const { return passes() * passCycles; }
    Fold pass(std::int64_t index) const;  ///< `row`: group of channels, `col`: filter; rows and columns used
    std::int64_t strip(std::int64_t pass) const { return pass / (layer.filters * groups); }
};

/// Fails with `systolic.filter-rows` where a filter has more rows than the array, and as planFolds() does where the
/// cycles would not fit 62 bits.
Expected<RowPlan> planRows(std::int64_t rows, std::int64_t cols, const Layer& layer);

/// `a`: input row and column, `b`: filter row and column, `z`: output row and column.
SystolicSnapshot snapshot(const RowPlan& plan, std::int64_t cycle);
std::vector<PeActivity> activities(const RowPlan& plan);  ///< as of a FoldPlan
std::vector<double> utilizationOverTime(const RowPlan& plan, int points);

}  // namespace orrery::systolic
