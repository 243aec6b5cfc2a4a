#pragma once

// The registers of a sub-core as a modern core reads them: two banks with one read port each, and in front of them the
// register-file cache, with one entry per bank and place among the operands. An operand that is marked `reuse` stays
// there until the next read of the same bank and place, and is good for its own warp alone (Huerta et al., MICRO 2025).

#include "simulation/gpu/trace.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace orrery::gpusim {

class RegisterCache {
public:
    /// Cycles for which an instruction's operands hold the read ports, 1 at least.
    unsigned read(const StaticInstruction& one, unsigned warp) {
        std::array<unsigned, 2> reads{};
        if (one.reuse == 0 && held_ == 0) {
            for (unsigned i = 0; i < one.sources; ++i) ++reads[one.source[i] & 1];
            return std::max({1u, reads[0], reads[1]});
        }
        for (unsigned i = 0; i < one.sources; ++i) {
            const unsigned bank = one.source[i] & 1, entry = 4 * bank + (one.slot[i] & 3);
            const std::uint32_t is = warp << 8 | one.source[i];
            const bool there = (held_ >> entry & 1) != 0 && entries_[entry] == is;
            if (!there) ++reads[bank];
            entries_[entry] = is;
            const auto bit = static_cast<std::uint8_t>(1u << entry);
            held_ = static_cast<std::uint8_t>((one.reuse >> i & 1) != 0 ? held_ | bit : held_ & ~bit);
        }
        return std::max({1u, reads[0], reads[1]});
    }
    template <class Archive>
    void keep(Archive& archive) {
        archive(entries_, held_);
    }

private:
    std::array<std::uint32_t, 8> entries_{};  ///< by bank and place: warp and register
    std::uint8_t held_ = 0;                   ///< a bit per entry
};

}  // namespace orrery::gpusim
