#pragma once

// What a correction learned on one device is worth on another.

#include <algorithm>

namespace orrery {

/// Share of a learned correction (of its logarithm) that is kept on a device so far away (distance() of fingerprints,
/// the largest |ln ratio| of its numbers; 0: its own): 1 at home, 0.94 where one number differs by 1.4 (a sibling with
/// other memory), half at a factor of two, 0.2 at 2.7 (another generation, whose libraries have other kernels). Smooth
/// and falling, so that dragging a number of a device never jumps.
inline double faithAt(double distance) {
    constexpr double half = 0.69;  // ln 2
    const double ratio = std::max(0.0, distance) / half, square = ratio * ratio;
    return 1 / (1 + square * square);
}

}  // namespace orrery
