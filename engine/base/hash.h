#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace orrery {

/// 64-bit FNV-1a with a final avalanche. Stable across runs and machines: used for provenance and caches, not security.
class Hash {
public:
    Hash& add(std::string_view bytes);
    Hash& add(std::uint64_t number);
    Hash& add(double number);
    std::uint64_t value() const;
    std::string hex() const;  ///< 16 lower-case digits

private:
    std::uint64_t state_ = 14695981039346656037ull;
};

/// splitmix64's finaliser (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014):
/// spreads every bit over all. Stable as Hash is.
constexpr std::uint64_t mixedBits(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

}  // namespace orrery
