#include "simulation/gpu/instruction.h"

#include "simulation/gpu/hardware_setting.h"

#include <algorithm>
#include <array>
#include <bit>

namespace orrery::gpusim {

namespace {

// Passes over 32 banks of words: lanes in groups whose words fill the banks once, each group by its fullest bank.
std::uint32_t sharedPasses(const std::vector<std::uint64_t>& addresses, unsigned bytes) {
    constexpr std::size_t banks = 32;
    const std::size_t words = std::clamp<std::size_t>(bytes / 4, 1, banks), lanes = banks / words;
    std::uint32_t passes = 0;
    std::array<std::array<std::uint64_t, banks>, banks> held;  // [bank]: its distinct words, as many as `count` says
    for (std::size_t first = 0; first < addresses.size(); first += lanes) {
        std::array<std::uint8_t, banks> count{};
        std::uint8_t most = 0;
        for (std::size_t i = first; i < std::min(addresses.size(), first + lanes); ++i) {
            for (std::uint64_t word = addresses[i] / 4; word < addresses[i] / 4 + words; ++word) {
                auto& bank = held[word % banks];
                std::uint8_t& filled = count[word % banks];
                if (std::find(bank.begin(), bank.begin() + filled, word) != bank.begin() + filled) continue;
                bank[filled++] = word;
                most = std::max(most, filled);
            }
        }
        passes += most;
    }
    return passes;
}

}  // namespace

bool fillStatic(const Machine& machine, std::string_view name, const Opcode& opcode, StaticInstruction& to) {
    to.unit = opcode.unit, to.action = opcode.action, to.energy = opcode.energy, to.bytes = opcode.bytes;
    to.local = opcode.local, to.multicast = opcode.multicast;
    const auto base = name.substr(0, name.find('.'));
    to.loadsConstant = base == "LDC" || base == "ULDC";
    to.bypassesL1 = opcode.bypassesL1 || (machine.skipsL1 && to.unit == Unit::Mem && !to.local);
    to.bypassesL1 |=
        machine.copiesBypassL1 && to.action == Action::CopyToShared && name.find(".BYPASS") != std::string_view::npos;
    const UnitTiming& timing = machine.units[static_cast<std::size_t>(to.unit)];
    if (!timing.present) return false;
    to.latency = static_cast<std::int16_t>(timing.latency);
    to.initiation = static_cast<std::int16_t>(opcode.half ? std::max(1, timing.initiation / 2) : timing.initiation);
    if (const OpcodeTiming* own = machine.timingOf(name)) {
        to.latency = static_cast<std::int16_t>(own->latency);
        to.initiation = static_cast<std::int16_t>(own->initiation);
    } else if (machine.modernCore && to.unit != Unit::Mem) {
        const auto real = hardwareTiming(name, opcode, machine.generation);
        to.latency = static_cast<std::int16_t>(real.latency);
        to.initiation = static_cast<std::int16_t>(real.initiation);
    }
    if (to.action == Action::Exit || to.action == Action::Barrier) to.latency = to.initiation = 1;
    return true;
}

void addSource(StaticInstruction& to, std::uint8_t reg, int place, bool reused) {
    const auto* begin = to.source.begin();
    const auto* at = std::find(begin, begin + to.sources, reg);
    const auto i = static_cast<std::size_t>(at - begin);
    if (i == to.source.size()) return;
    if (at == begin + to.sources) {
        to.source[i] = reg, to.slot[i] = static_cast<std::uint8_t>(place);
        ++to.sources;
    }
    if (reused) to.reuse |= static_cast<std::uint8_t>(1u << i);
}

void addAccesses(const Machine& machine, TraceBlock& block, const AccessKind& kind,
                 std::vector<std::uint64_t>& addresses, Executed& out) {
    out.first = static_cast<std::uint32_t>(block.accesses.size());
    if (kind.action == Action::SharedLoad || kind.action == Action::SharedStore ||
        kind.action == Action::SharedAtomic || kind.action == Action::RemoteLoad ||
        kind.action == Action::RemoteStore) {
        if (machine.modernCore) {
            // As many lanes at a time as fill a row of the banks, each with all its words.
            out.count = sharedPasses(addresses, kind.bytes);
            return;
        }
        // Passes: the most distinct words that one bank holds.
        std::sort(addresses.begin(), addresses.end());
        std::array<std::uint8_t, 32> words32{};
        std::uint64_t last = ~std::uint64_t{0};
        unsigned most = addresses.empty() ? 0 : 1;
        for (const auto address : addresses) {
            const auto word = address >> 2;
            if (word == last) continue;
            last = word;
            most = std::max<unsigned>(most, ++words32[word & 31]);
        }
        out.count = most;
        return;
    }
    const auto begin = out.first;
    const auto touch = [&](std::uint64_t from, unsigned length, bool apart) {
        while (length > 0) {
            const auto sector = from & ~std::uint64_t{31};
            const auto offset = static_cast<unsigned>(from & 31);
            const unsigned part = std::min(length, 32 - offset);
            const auto bits = static_cast<std::uint32_t>(((std::uint64_t{1} << part) - 1) << offset);
            from += part, length -= part;
            // Most lanes go on where the last one ended.
            if (block.accesses.size() == begin || block.accesses.back().address < sector) {
                block.accesses.push_back({sector, bits, 1});
                continue;
            }
            if (!apart && block.accesses.back().address == sector) {
                block.accesses.back().bytes |= bits, ++block.accesses.back().lanes;
                continue;
            }
            std::size_t i = block.accesses.size();
            while (i > begin && block.accesses[i - 1].address > sector) --i;
            Access* same = nullptr;
            for (std::size_t j = i; j > begin && block.accesses[j - 1].address == sector; --j) {
                // An atomic of bytes that are taken is a request of its own.
                if (!apart || (block.accesses[j - 1].bytes & bits) == 0) same = &block.accesses[j - 1];
            }
            if (same)
                same->bytes |= bits, ++same->lanes;
            else
                block.accesses.insert(block.accesses.begin() + static_cast<std::ptrdiff_t>(i), Access{sector, bits, 1});
        }
    };
    LaneMask lanes = out.mask;
    for (const auto address : addresses) {
        const int lane = std::countr_zero(lanes);
        lanes &= lanes - 1;
        if (kind.local) {
            const std::uint64_t thread =
                kind.place.threadBase + kind.warp * static_cast<unsigned>(machine.lanes) + static_cast<unsigned>(lane);
            for (unsigned at = 0; at < kind.bytes; at += 4) {
                const std::uint64_t word = address / 4 + at / 4;
                touch((std::uint64_t{0xA0000000} + (word * kind.place.stride + thread) * 4) +
                          (kind.bytes < 4 ? address & 3 : 0),
                      std::min(kind.bytes, 4u), false);
            }
        } else if (address != 0) {
            touch(address, kind.bytes, kind.action == Action::Atomic);
        }
    }
    out.count = static_cast<std::uint32_t>(block.accesses.size()) - begin;
}

}  // namespace orrery::gpusim
