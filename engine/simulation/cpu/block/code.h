#pragma once

// A basic block of x86-64 machine code as the throughput model reads it: lengths and prefixes for the front end, which
// registers and flags each instruction reads and writes, its memory access, and the key of its form in a port table.

#include "base/diagnostic.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::block {

/// Whole architectural registers: 0-15 general, 16-47 vector, 48-55 MMX or x87, 56-63 mask; the carry flag and the
/// other arithmetic flags are renamed apart.
inline constexpr std::uint8_t VectorRegister = 16, StackRegister = 48, MaskRegister = 56, CarryFlag = 64,
                              OtherFlags = 65, RegisterCount = 66, NoRegister = 255, StackPointer = 4;

/// What stands at one operand of a form, as tables write it: `(R64, M32, I8)`.
enum class OperandKind : std::uint8_t {
    None,
    R8l,
    R8h,
    R16,
    R32,
    R64,
    MM,
    XMM,
    YMM,
    ZMM,
    K,
    M8,
    M16,
    M32,
    M64,
    M80,
    M128,
    M256,
    M512,
    MOther,
    I8,
    I16,
    I32,
    I64,
    Zero,
    One,
    CL,
    AL,
    AX,
    EAX,
    RAX,
    ST,
    SEG,
    Rel,
    VX,
    VY,
    A_R,
    A_R_D8,
    A_R_D32,
    A_B,
    A_I,
    A_IS,
    A_D8,
    A_D32,
    A_B_I,
    A_B_IS,
    A_B_D8,
    A_B_D32,
    A_I_D8,
    A_IS_D8,
    A_I_D32,
    A_IS_D32,
    A_B_I_D8,
    A_B_IS_D8,
    A_B_I_D32,
    A_B_IS_D32,
    Other
};

/// Mnemonic, prefix and the kinds of the visible operands. Equal keys are one row of a port table.
struct FormKey {
    std::uint16_t mnemonic = 0;  ///< of Zydis
    std::uint8_t prefix = 0;     ///< 0 none, 1 LOCK, 2 REP/REPE, 3 REPNE
    std::array<OperandKind, 5> kinds{};
    bool operator==(const FormKey&) const = default;
    std::uint64_t packed() const;
};

/// `ADD (R64, M64)`.
std::string toText(const FormKey& key);
/// Reads the notation of uops.info: opcode suffixes (`ADD_03`) fall away, `_LOCK` and `_REPE` are prefixes, `LEA_B_I`
/// names the address. Nothing for forms that no decoder yields.
bool readForm(std::string_view text, FormKey& key);

struct RegisterUse {
    std::uint8_t slot;   ///< number among the register operands, hidden ones included: REG0, REG1 of the tables
    std::uint8_t reg;    ///< RegisterCount names
    std::uint8_t bytes;  ///< accessed
    bool read, write;
    bool high;  ///< AH, BH, CH, DH
};

struct MemoryUse {
    std::uint8_t base = NoRegister, index = NoRegister, scale = 0, bytes = 0;
    bool read = false, write = false;
    bool relative = false;  ///< to the instruction pointer
    bool segment = false;   ///< FS or GS
    std::int64_t displacement = 0;
};

/// What the instruction computes, where that decides addresses and operands of divisions.
enum class Meaning : std::uint8_t {
    Unknown,
    Move,
    MoveSigned,
    Lea,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Neg,
    Not,
    ShiftLeft,
    ShiftRight,
    ShiftSigned,
    Multiply,
    Divide,
    DivideSigned,
    SignToD,
    Widen,
    Exchange,
    Push,
    Pop
};

struct Instruction {
    std::uint16_t offset = 0;    ///< bytes from the start of the block
    std::uint8_t length = 0;     ///< bytes
    std::uint8_t opcodeAt = 0;   ///< bytes before the nominal opcode: prefixes, REX, escapes, VEX
    bool changesLength = false;  ///< a 66h prefix with a 16-bit immediate
    bool hasImmediate = false;
    std::int64_t immediate = 0;
    FormKey key;
    Meaning meaning = Meaning::Unknown;
    std::uint8_t operandBytes = 0;
    std::uint8_t uses = 0;
    std::array<RegisterUse, 10> use{};
    MemoryUse memory, memory2;  ///< the second only of string moves and stack pushes from memory
    std::uint8_t visible = 0;   ///< operands
    bool branch = false, conditional = false;
    bool zeroIdiom = false;     ///< its result does not depend on its sources, and brings no micro-operation
    bool breaksChain = false;   ///< its result does not depend on its sources, but is computed
    bool registerMove = false;  ///< could be done by renaming
    bool vectorMove = false;
    bool fusesFirst = false;  ///< may pair with a conditional branch after it
    bool nop = false;
    bool stack = false;  ///< moves the stack pointer by itself: push, pop, call, ret
    bool vex = false;
    bool threeOperands = false;
    bool flagsRead = false, flagsWritten = false;
    bool carryRead = false, otherRead = false;
};

struct Code {
    std::vector<Instruction> instructions;
    std::vector<std::uint8_t> bytes;
};

/// Hexadecimal digits, blanks between bytes allowed. Codes `block.hex`, `block.empty`, `block.too-long` (over 4096
/// bytes) with the column of the digit that is wrong.
Expected<std::vector<std::uint8_t>> readHex(std::string_view text);
/// Code `block.unknown-instruction` with the offset of the byte at which no instruction can be read.
Expected<void> decode(const std::vector<std::uint8_t>& bytes, Code& code);
/// Intel syntax, per instruction.
std::vector<std::string> disassemble(const Code& code);
/// The name of a register, as RegisterUse numbers them: `rax`, `ymm3`, `flags`.
std::string registerName(std::uint8_t reg);

}  // namespace orrery::block
