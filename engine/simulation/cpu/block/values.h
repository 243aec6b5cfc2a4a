#pragma once

// What registers hold while a block repeats, where that can be told: addresses decide which load meets which store,
// operands decide how long a division takes. What cannot be computed is a number of its own that depends on the same
// inputs, so that equal computations stay equal and others differ.

#include "simulation/cpu/block/code.h"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery::block {

/// Every register and every word of memory at the start, as the harness of BHive sets them.
inline constexpr std::uint64_t startValue = 0x2324000;
/// The stack is another page.
inline constexpr std::uint64_t startStack = 0x7ffe0800;

struct Access {
    std::uint64_t address = 0;
    std::uint8_t bytes = 0;
};

class Values {
public:
    Values() { reset(); }
    void reset();
    /// Address of the memory operand before the instruction runs.
    std::uint64_t address(const Instruction& one, const MemoryUse& memory) const;
    /// Runs it. Addresses as above; 0 where it has no such access.
    void step(const Instruction& one, Access& load, Access& store);
    std::uint64_t general(int reg) const { return general_[static_cast<std::size_t>(reg)]; }

private:
    std::uint64_t read(const RegisterUse& use) const;
    void write(const RegisterUse& use, std::uint64_t value);
    std::uint64_t loaded(const Access& access) const;
    void stored(const Access& access, std::uint64_t value);

    struct Stored {
        std::uint64_t address, value;
        std::uint8_t bytes;
    };
    std::array<std::uint64_t, 16> general_;
    std::array<std::uint64_t, RegisterCount> other_;
    std::array<Stored, 64> memory_;
    std::size_t stores_ = 0;
};

}  // namespace orrery::block
