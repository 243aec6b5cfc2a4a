#pragma once

// Where an address lies: slice, set of L2, bank and row of DRAM.

#include "simulation/gpu/machine.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace orrery::gpusim {

/// Of a copy to the device, the bytes at its end that can still be in L2. A line goes into a set as the oldest of it
/// goes out, and hashing spreads lines over sets: of sixteen times as much as L2 holds, no more is left.
inline std::uint64_t keptOfCopy(const Machine& machine) {
    return std::uint64_t{16} * 128 * static_cast<std::uint64_t>(machine.l2.sets) *
           static_cast<std::uint64_t>(machine.l2.ways) * static_cast<std::uint64_t>(machine.slices());
}

/// The bits of an address that a mask names, next to each other.
class BitPack {
public:
    BitPack() = default;
    explicit BitPack(std::uint64_t mask) {
        for (int to = 0; mask != 0;) {
            const int from = std::countr_zero(mask), length = std::countr_one(mask >> from);
            const std::uint64_t ones = length == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1;
            runs_.push_back({from - to, ones << to});
            mask &= ~(ones << from);
            to += length;
        }
    }
    std::uint64_t operator()(std::uint64_t address) const {
        std::uint64_t out = 0;
        for (const Run& run : runs_) out |= (address >> run.shift) & run.mask;
        return out;
    }

private:
    struct Run {
        int shift = 0;
        std::uint64_t mask = 0;
    };
    std::vector<Run> runs_;
};

class AddressMap {
public:
    explicit AddressMap(const Machine& machine);
    struct Spot {
        std::uint32_t slice = 0, bank = 0, row = 0;
    };
    /// `slice` is that of the first die; those of the others follow it, `Machine::slicesPerDie` apart.
    Spot spot(std::uint64_t address) const;
    std::uint32_t l2Set(std::uint64_t address) const;

    /// Irreducible-polynomial hash of `high` onto one of 16, 32 or 64: Rau, "Pseudo-randomly interleaved memory", ISCA
    /// 1991.
    static std::uint32_t polynomial(std::uint64_t high, std::uint32_t index, int size);

private:
    const Machine& machine_;
    bool power_ = true;
    int channelBits_ = 0, sliceBits_ = 0;
    BitPack chip_, bank_, row_, line_;  ///< `line_`: what is left for L2's sets
};

}  // namespace orrery::gpusim
