#pragma once

// Do two devices put networks in the same order? Which part of the one's order falls into which part of the other's.

#include "base/diagnostic.h"

#include <cstddef>
#include <span>
#include <vector>

namespace orrery {

struct RankConfusion {
    std::size_t networks = 0;   ///< measured on both
    std::size_t parts = 5;      ///< of each order, the fastest first
    std::vector<double> cells;  ///< parts × parts, rows of the first device: how many networks; they sum to `networks`
    double spearman = 0;
    double kept = 0;  ///< share of the first device's fastest part that is among the second's fastest part
};

/// Latencies of the same networks, NaN where not measured. Each order is cut into parts of equal size (±1). Fails with
/// `edge.few-networks` below two networks a part, `edge.shape`.
Expected<RankConfusion> rankConfusion(std::span<const double> first, std::span<const double> second,
                                      std::size_t parts = 5);

}  // namespace orrery
