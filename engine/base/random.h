#pragma once

// Counter-based random streams: Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC'11).
// The n-th number of a stream depends on (seed, stream, n) alone, so results do not depend on thread count.

#include <array>
#include <cstdint>

namespace orrery {

/// One Philox4x32-10 block: four 32-bit words from a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// A stream usable with <random>'s distributions (UniformRandomBitGenerator) or on its own.
class RandomStream {
public:
    using result_type = std::uint32_t;
    explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return 0xFFFFFFFFu; }
    result_type operator()();
    double uniform();                          ///< [0, 1), 53 bits
    std::uint64_t below(std::uint64_t bound);  ///< [0, bound), unbiased; bound > 0
    double normal();                           ///< mean 0, variance 1 (Box–Muller)
    /// An independent stream for a part of the work.
    RandomStream split(std::uint64_t part) const;

private:
    std::uint64_t seed_;
    std::uint64_t stream_;
    std::uint64_t counter_ = 0;
    std::array<std::uint32_t, 4> block_{};
    int left_ = 0;
};

}  // namespace orrery
