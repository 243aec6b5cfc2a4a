#pragma once

// What every processing element of an array holds in one cycle, as indices of the operands: for showing how wavefronts
// run. Computed for any cycle at once, without running up to it; stalls are not shown.

#include "simulation/systolic/folds.h"

#include <cstdint>
#include <vector>

namespace orrery::systolic {

enum class PeActivity : std::uint8_t {
    Idle,     ///< not part of the fold
    Loading,  ///< an operand that will stay is passing through
    Waiting,  ///< a bubble: it has work before or after, or holds an operand, but multiplies nothing now
    Passing,  ///< hands a sum on without adding to it (rows below those that a fold uses)
    Active,
    Done,  ///< output stationary: its sum is complete
};

/// An element of an operand: row and column, -1 where there is none.
struct Element {
    std::int64_t row = -1, col = -1;
    bool known() const { return row >= 0; }
    bool operator==(const Element&) const = default;
};

struct PeSnapshot {
    PeActivity activity = PeActivity::Idle;
    Element a;  ///< input A[m][k]
    Element b;  ///< weight B[k][n]
    Element z;  ///< sum Z[m][n] that it works on
    bool operator==(const PeSnapshot&) const = default;
};

struct SystolicSnapshot {
    std::int64_t cycle = 0;  ///< of the whole run
    Fold fold;
    std::int64_t local = 0;  ///< cycle of the fold
    std::int64_t rows = 0, cols = 0;
    std::int64_t activePes = 0;
    std::int64_t ifmapReads = 0, filterReads = 0, ofmapWrites = 0;
    std::vector<PeSnapshot> pes;  ///< row by row

    const PeSnapshot& at(std::int64_t row, std::int64_t col) const {
        return pes[static_cast<std::size_t>(row * cols + col)];
    }
    double utilization() const { return static_cast<double>(activePes) / static_cast<double>(rows * cols); }
};

/// `cycle` is held to 0…cycles() - 1. Costs time and memory of the array's size.
SystolicSnapshot snapshot(const FoldPlan& plan, std::int64_t cycle);

/// What the elements do in some cycle of the run, in the order of a legend; unused elements last.
std::vector<PeActivity> activities(const FoldPlan& plan);

/// Share of PEs at work over the whole run in `points` equal stretches of time (each the mean of its cycles, exactly).
std::vector<double> utilizationOverTime(const FoldPlan& plan, int points);

}  // namespace orrery::systolic
