#include "base/random.h"

#include <cmath>
#include <numbers>

namespace orrery {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> x, std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * x[0];
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * x[2];
        x = {static_cast<std::uint32_t>(p1 >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(p1),
             static_cast<std::uint32_t>(p0 >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(p0)};
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    return x;
}

RandomStream::result_type RandomStream::operator()() {
    if (left_ == 0) {
        block_ = philox({static_cast<std::uint32_t>(counter_), static_cast<std::uint32_t>(counter_ >> 32),
                         static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                        {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
        ++counter_;
        left_ = 4;
    }
    return block_[static_cast<std::size_t>(4 - left_--)];
}

double RandomStream::uniform() {
    const std::uint64_t high = (*this)() >> 5;
    const std::uint64_t low = (*this)() >> 6;
    return static_cast<double>(high * 67108864ull + low) * 0x1.0p-53;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
    const std::uint64_t threshold = (0 - bound) % bound;  // numbers below it would bias the remainder
    for (;;) {
        const std::uint64_t high = (*this)();
        const std::uint64_t number = high << 32 | (*this)();
        if (number >= threshold) return number % bound;
    }
}

double RandomStream::normal() {
    const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

RandomStream RandomStream::split(std::uint64_t part) const {
    const auto block = philox({static_cast<std::uint32_t>(part), static_cast<std::uint32_t>(part >> 32),
                               static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                              {static_cast<std::uint32_t>(seed_ >> 32), static_cast<std::uint32_t>(seed_)});
    return RandomStream(seed_, std::uint64_t{block[0]} << 32 | block[1]);
}

}  // namespace orrery
