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

}  // namespace orrery
