#pragma once

// Small laws that several families of the tile methods share.

#include <cmath>

namespace orrery::tile {

/// Times and rates of single blocks are cycles in truth: parameters state them at this clock, in Hz.
inline constexpr double referenceClock = 1.8e9;

/// Bytes of a multiprocessor's shared memory by which Hopper and what came after it (228 KiB) are told from Ampere
/// (164) and Ada (100): tensor units take operands out of it, which copy engines fill, and libraries have kernels of
/// their own for them.
inline constexpr double largeShared = 200 * 1024;

/// Smooth maximum: two pipelines of which the slower hides the faster, but not wholly near balance.
inline double slower(double a, double b) {
    const double a2 = a * a, b2 = b * b;
    return std::sqrt(std::sqrt(a2 * a2 + b2 * b2));
}

/// Share of `bytes` that misses a cache that keeps `kept` bytes between repeated runs: 0 when small, 1 when large.
inline double missShare(double bytes, double kept) {
    if (bytes <= 0) return 0;
    if (kept <= 0) return 1;
    const double r = kept / bytes, r2 = r * r;
    return 1 / (1 + r2 * r2);
}

}  // namespace orrery::tile
