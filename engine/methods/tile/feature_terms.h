#pragma once

// How families fill rows of features: finite whatever they are given.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace orrery::features {

/// log2, held between 2^-60 and 2^60.
inline double logOf(double value) {
    return value > 0 ? std::clamp(std::log2(value), -60.0, 60.0) : -60.0;
}

/// How full the last wave of `blocks` is on `places`, 0 to 1.
inline double fraction(double blocks, double places) {
    const double waves = blocks / std::max(1.0, places);
    return waves > 0 ? waves / std::ceil(waves) : 1;
}

/// Fills a span in order and never past its end.
struct Row {
    std::span<double> values;
    std::size_t next = 0;
    void add(double value) {
        if (next < values.size()) values[next++] = std::isfinite(value) ? value : 0;
    }
};

}  // namespace orrery::features
