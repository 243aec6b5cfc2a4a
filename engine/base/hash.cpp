#include "base/hash.h"

#include <fmt/format.h>

#include <bit>

namespace orrery {

Hash& Hash::add(std::string_view bytes) {
    for (const unsigned char byte : bytes) state_ = (state_ ^ byte) * 1099511628211ull;
    return add(static_cast<std::uint64_t>(bytes.size()));  // so that "ab"+"c" differs from "a"+"bc"
}

Hash& Hash::add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) state_ = (state_ ^ ((number >> shift) & 0xFF)) * 1099511628211ull;
    return *this;
}

Hash& Hash::add(double number) {
    return add(std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number));
}

std::uint64_t Hash::value() const {
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

std::string Hash::hex() const {
    return fmt::format("{:016x}", value());
}

}  // namespace orrery
