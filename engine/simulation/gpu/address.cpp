#include "simulation/gpu/address.h"

#include <array>
#include <span>

namespace orrery::gpusim {

AddressMap::AddressMap(const Machine& machine) : machine_(machine) {
    const auto channels = static_cast<unsigned>(machine.channels);
    power_ = std::has_single_bit(channels);
    channelBits_ = std::bit_width(channels) - 1;
    sliceBits_ = std::bit_width(static_cast<unsigned>(machine.slicesPerDie())) - 1;
    std::uint64_t bank = machine.bankMask, row = machine.rowMask, chip = 0, slice = 0;
    if (power_) {
        const std::uint64_t low = (std::uint64_t{1} << machine.channelBit) - 1;
        const auto spread = [&](std::uint64_t mask) { return ((mask & ~low) << channelBits_) | (mask & low); };
        bank = spread(bank), row = spread(row);
        chip = ((std::uint64_t{1} << channelBits_) - 1) << machine.channelBit;
    }
    std::uint64_t left = bank;
    for (int i = 0; i < sliceBits_ && left; ++i, left &= left - 1) slice |= left & (~left + 1);
    chip_ = BitPack(chip), bank_ = BitPack(bank), row_ = BitPack(row), line_ = BitPack(~(chip | slice));
}

std::uint32_t AddressMap::polynomial(std::uint64_t high, std::uint32_t index, int size) {
    static constexpr std::array<std::uint32_t, 4> m16{0xf59, 0x11eb, 0x3d6, 0x7ac};
    static constexpr std::array<std::uint32_t, 5> m32{0x3e69, 0x7cd2, 0x47cd, 0xf9a, 0x1f34};
    static constexpr std::array<std::uint32_t, 6> m64{0x79461, 0xbca3, 0x17946, 0x2f28c, 0x5e518, 0x3ca30};
    const std::span<const std::uint32_t> masks = size == 16   ? std::span<const std::uint32_t>(m16)
                                                 : size == 32 ? std::span<const std::uint32_t>(m32)
                                                              : std::span<const std::uint32_t>(m64);
    for (std::size_t i = 0; i < masks.size(); ++i)
        index ^= static_cast<std::uint32_t>(__builtin_parity(static_cast<std::uint32_t>(high) & masks[i])) << i;
    return index;
}

AddressMap::Spot AddressMap::spot(std::uint64_t address) const {
    Spot out;
    const int bit = machine_.channelBit;
    const auto perChannel = static_cast<std::uint32_t>(machine_.slicesPerChannel);
    std::uint32_t chip = 0;
    std::uint64_t rest = address, high = 0;
    if (power_) {
        chip = static_cast<std::uint32_t>(chip_(address));
        high = address >> (bit + channelBits_ + sliceBits_);
    } else {
        const std::uint64_t top = address >> bit, n = static_cast<std::uint64_t>(machine_.channels);
        chip = static_cast<std::uint32_t>(top % n);
        high = top / n;
        rest = (high << bit) | (address & ((std::uint64_t{1} << bit) - 1));
    }
    out.bank = static_cast<std::uint32_t>(bank_(rest)) % static_cast<std::uint32_t>(machine_.dram.banks);
    out.row = static_cast<std::uint32_t>(row_(rest));
    if (machine_.permutesBanks) {
        const auto banks = static_cast<std::uint32_t>(machine_.dram.banks);
        const int bits = std::bit_width(banks) - 1;
        for (std::uint32_t row = out.row; bits > 0 && row != 0; row >>= bits) out.bank ^= row & (banks - 1);
    }
    out.slice = chip * perChannel + (out.bank & (static_cast<std::uint32_t>(machine_.slicesPerDie()) - 1));
    if (machine_.partitionIndexing == 2) out.slice = polynomial(high, out.slice, machine_.slices());
    return out;
}

std::uint32_t AddressMap::l2Set(std::uint64_t address) const {
    const int bit = machine_.channelBit;
    std::uint64_t part = address;
    if (!power_) {
        part = (((address >> bit) / static_cast<std::uint64_t>(machine_.channels)) << bit) |
               (address & ((std::uint64_t{1} << bit) - 1));
    }
    part = line_(part);
    const auto sets = static_cast<std::uint32_t>(machine_.l2.sets);
    const auto index = static_cast<std::uint32_t>(part >> 7) & (sets - 1);
    const std::uint64_t high = part >> (7 + std::bit_width(sets) - 1);
    if (machine_.l2.indexing == 'P') return polynomial(high, index, machine_.l2.sets);
    if (machine_.l2.indexing == 'X') return index ^ (static_cast<std::uint32_t>(high) & (sets - 1));
    return index;
}

}  // namespace orrery::gpusim
