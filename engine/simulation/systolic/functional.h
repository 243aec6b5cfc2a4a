#pragma once

// The array with numbers in it: registers between processing elements, one shift per cycle. It really multiplies, which
// shows that the demands of folds.h are those of a machine that computes the product. Far slower than `simulate`.

#include "simulation/systolic/folds.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery::systolic {

struct FunctionalRun {
    std::vector<std::int64_t> z;         ///< m × n, row by row
    std::vector<std::int64_t> macsOfPe;  ///< rows × cols
    std::int64_t macs = 0;
    std::int64_t cycles = 0;
    /// Every operand met its partner of the same step, every cycle had as many PEs at work as FoldPlan::activePes says
    /// and, where results stream out of the bottom edge, as many results as the output stream demands.
    bool inStep = true;
};

/// a is m × k, b is k × n, both row by row; wraps around on overflow. Fails with `systolic.operand` where a size does
/// not match, with `systolic.too-long` beyond `mostPeCycles` steps of processing elements.
Expected<FunctionalRun> multiply(const FoldPlan& plan, std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                 double mostPeCycles = 1e10);

}  // namespace orrery::systolic
