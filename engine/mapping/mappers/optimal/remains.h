#pragma once

// What zeros leave at least of a design's dense counts, whatever the mapping. For bounds of spaces whose points are
// counted with a SparseDesign (mapping/sparse/).

#include "mapping/problem.h"

#include <array>
#include <limits>

namespace orrery {
struct SparseDesign;
}

namespace orrery::optimal {

/// Shares of dense counts, 0 to 1; what stands here leaves everything.
struct Remains {
    /// Of the words of each tensor those that are paid for, over all instances; those that take bandwidth of one.
    std::array<double, maxNestTensors> paid, moved;
    double computed = 1, taking = 1;  ///< of operations: those that are paid for, those that take time
    /// Whether every fan-out keeps to its mesh. Where zeros are skipped over, all of them together may reach `units`.
    bool meshes = true;
    double units = std::numeric_limits<double>::infinity();
    Remains() { paid.fill(1), moved.fill(1); }
};

/// From the densities alone: a compressed tensor keeps its nonzeros, an elimination leaves what single words of all its
/// leaders leave, an operation is left where no operand is zero. Tiles only ever leave more. `divides`: whether tiles
/// fill their tensors without a smaller one at the end.
Remains remainsOf(const NestProblem& problem, const SparseDesign& design, double arithmeticUnits, bool divides);

}  // namespace orrery::optimal
