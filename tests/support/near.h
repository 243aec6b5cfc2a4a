#pragma once

#include <cmath>

namespace orrery::test {

/// `value` is `expected` within that share of it.
inline bool near(double value, double expected, double share = 1e-9) {
    return std::fabs(value - expected) <= share * std::fabs(expected);
}

}  // namespace orrery::test
