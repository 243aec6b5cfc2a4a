#include "serving/traffic/python_random.h"

#include <algorithm>

namespace orrery {

// init_by_array of the authors' reference code, with the seed's 32-bit words, lowest first, as the key.
PythonRandom::PythonRandom(std::uint64_t seed) {
    const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
    const std::size_t words = key[1] ? 2 : 1;
    constexpr std::size_t n = 624;
    state_[0] = 19650218u;
    for (std::size_t i = 1; i < n; ++i) {
        state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<std::uint32_t>(i);
    }
    std::size_t i = 1, j = 0;
    for (std::size_t k = std::max(n, words); k > 0; --k) {
        state_[i] =
            (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + key[j] + static_cast<std::uint32_t>(j);
        if (++i >= n) {
            state_[0] = state_[n - 1];
            i = 1;
        }
        if (++j >= words) j = 0;
    }
    for (std::size_t k = n - 1; k > 0; --k) {
        state_[i] =
            (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) - static_cast<std::uint32_t>(i);
        if (++i >= n) {
            state_[0] = state_[n - 1];
            i = 1;
        }
    }
    state_[0] = 0x80000000u;
}

std::uint32_t PythonRandom::word() {
    constexpr std::size_t n = 624, m = 397;
    if (at_ >= n) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % n] & 0x7fffffffu);
            state_[i] = state_[(i + m) % n] ^ (y >> 1) ^ ((y & 1u) ? 0x9908b0dfu : 0u);
        }
        at_ = 0;
    }
    std::uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

double PythonRandom::random() {
    const std::uint32_t a = word() >> 5;
    const std::uint32_t b = word() >> 6;
    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

}  // namespace orrery
