#pragma once

// How long ago a device touched what a kernel is about to touch, as the bytes that it touched since: what a cache of
// that size still holds (Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 1970).

#include <limits>

namespace orrery {

/// Bytes, the kernel's own operands among them; infinite: what ran before is not known.
struct ReuseDistances {
    static constexpr double unknown = std::numeric_limits<double>::infinity();
    double inputs = unknown;  ///< of the activations that it reads: since the oldest of them was made, or read last
    /// Of all else: weights, caches of keys, memory for results. One pass follows another, and each touches the same
    /// memory, so that nothing was touched longer ago than a pass.
    double pass = unknown;
};

}  // namespace orrery
