#pragma once

// Micro-operations as the core model reads them. A static operation stands once in a program; what happens at run time
// (which one, its address, whether a branch is taken) streams past in chunks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace orrery::pipeline {

enum class OpKind : std::uint8_t {
    Nop,  ///< takes a slot, no port
    Integer,
    Multiply,
    Divide,
    Branch,
    Load,
    Store,  ///< address and data, one slot
    VectorInteger,
    FpAdd,
    FpMultiply,
    FpFma,
    FpDivide,
    FpSqrt,
    Shuffle,
    Convert,
    Matrix  ///< a product of tiles (AMX)
};
inline constexpr std::size_t opKindCount = 16;
std::string_view toText(OpKind kind);

inline constexpr std::uint8_t NoRegister = 255;
/// Renamed registers of a program: 0-63 general, 64-191 vector, mask and tile.
inline constexpr std::uint8_t FirstVectorRegister = 64, RegisterCount = 192;

struct StaticOp {
    OpKind kind = OpKind::Nop;
    std::uint16_t bytes = 8;  ///< of the operand: 4 a scalar float, 64 a register of AVX-512
    std::uint8_t to = NoRegister;
    std::array<std::uint8_t, 3> from{NoRegister, NoRegister, NoRegister};  ///< of a store: address, address, data
    bool fusedWithPrevious = false;  ///< takes no slot of its own where loads fuse with what uses them
    bool sameInstruction = false;    ///< part of the instruction of the operation before
    bool merges = false;             ///< one of several that fill the register together
};

/// An operation bound to the ports and latencies of a machine. 32 bytes.
struct BoundOp {
    std::uint16_t ports = 0;      ///< 0: needs none
    std::uint16_t dataPorts = 0;  ///< of a store's data
    std::uint16_t latency = 0;    ///< cycles from issue to the result; of loads what the first cache takes at least
    std::uint16_t occupancy = 1;  ///< cycles that it holds its port
    std::uint16_t bytes = 8;
    OpKind kind = OpKind::Nop;
    std::uint8_t slotCount = 1;    ///< of dispatch and retirement
    std::uint8_t instruction = 1;  ///< instructions that it ends: 0 or 1
    std::uint8_t registers = 0;    ///< physical ones that it takes: 0 none, 1 general, 2 vector
    std::uint8_t to = NoRegister, to2 = NoRegister;
    std::array<std::uint8_t, 4> from{NoRegister, NoRegister, NoRegister, NoRegister};
    bool merges = false;
    std::uint8_t spare[5]{};
};

/// What ran, in program order: number of the static operation, byte address of loads and stores, outcome of branches.
struct OpChunk {
    static constexpr std::size_t capacity = 8192;
    std::vector<std::uint32_t> op = std::vector<std::uint32_t>(capacity);
    std::vector<std::uint64_t> address = std::vector<std::uint64_t>(capacity);
    std::vector<std::uint8_t> taken = std::vector<std::uint8_t>(capacity);
    std::size_t size = 0;

    void add(std::uint32_t id, std::uint64_t at = 0, bool jumps = false) {
        op[size] = id;
        address[size] = at;
        taken[size++] = jumps;
    }
};

}  // namespace orrery::pipeline
