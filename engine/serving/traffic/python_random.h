#pragma once

// Python's `random` module, so that a simulator written in Python can be followed draw by draw: the Mersenne twister
// MT19937 (Matsumoto and Nishimura, ACM TOMACS 8(1), 1998) seeded as random.seed(int) does. Behind compatibility
// settings only; everything of our own draws from base/random.h.

#include <array>
#include <cstdint>

namespace orrery {

class PythonRandom {
public:
    explicit PythonRandom(std::uint64_t seed);
    std::uint32_t word();
    double random();  ///< [0, 1), 53 bits
    double uniform(double low, double high) { return low + (high - low) * random(); }

private:
    std::array<std::uint32_t, 624> state_{};
    std::size_t at_ = 624;
};

}  // namespace orrery
