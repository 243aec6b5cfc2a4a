#include "simulation/cpu/block/code.h"

#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery::block {

namespace {

using Kind = OperandKind;

std::uint8_t wholeRegister(ZydisRegister reg) {
    switch (ZydisRegisterGetClass(reg)) {
        case ZYDIS_REGCLASS_GPR8: {
            const int id = ZydisRegisterGetId(reg);
            // AL CL DL BL AH CH DH BH SPL BPL SIL DIL R8B …
            if (id < 4) return static_cast<std::uint8_t>(id);
            return static_cast<std::uint8_t>(id - 4);
        }
        case ZYDIS_REGCLASS_GPR16:
        case ZYDIS_REGCLASS_GPR32:
        case ZYDIS_REGCLASS_GPR64:
            return static_cast<std::uint8_t>(ZydisRegisterGetId(reg));
        case ZYDIS_REGCLASS_XMM:
        case ZYDIS_REGCLASS_YMM:
        case ZYDIS_REGCLASS_ZMM:
            return static_cast<std::uint8_t>(VectorRegister + ZydisRegisterGetId(reg));
        case ZYDIS_REGCLASS_X87:
        case ZYDIS_REGCLASS_MMX:
            return static_cast<std::uint8_t>(StackRegister + ZydisRegisterGetId(reg));
        case ZYDIS_REGCLASS_MASK:
            return static_cast<std::uint8_t>(MaskRegister + ZydisRegisterGetId(reg));
        default:
            return NoRegister;
    }
}

bool isHigh(ZydisRegister reg) {
    return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

Kind memoryKind(unsigned bits) {
    switch (bits) {
        case 8:
            return Kind::M8;
        case 16:
            return Kind::M16;
        case 32:
            return Kind::M32;
        case 64:
            return Kind::M64;
        case 80:
            return Kind::M80;
        case 128:
            return Kind::M128;
        case 256:
            return Kind::M256;
        case 512:
            return Kind::M512;
        default:
            return Kind::MOther;
    }
}

Kind addressKind(const ZydisDecodedOperand& operand, unsigned displacementBits) {
    const bool base = operand.mem.base != ZYDIS_REGISTER_NONE, index = operand.mem.index != ZYDIS_REGISTER_NONE;
    const bool scaled = index && operand.mem.scale > 1;
    const int displacement = displacementBits == 0 ? 0 : displacementBits == 8 ? 1 : 2;
    static constexpr Kind table[2][3][3]{{{Kind::A_D32, Kind::A_D8, Kind::A_D32},
                                          {Kind::A_I, Kind::A_I_D8, Kind::A_I_D32},
                                          {Kind::A_IS, Kind::A_IS_D8, Kind::A_IS_D32}},
                                         {{Kind::A_B, Kind::A_B_D8, Kind::A_B_D32},
                                          {Kind::A_B_I, Kind::A_B_I_D8, Kind::A_B_I_D32},
                                          {Kind::A_B_IS, Kind::A_B_IS_D8, Kind::A_B_IS_D32}}};
    if (operand.mem.base == ZYDIS_REGISTER_RIP) return Kind::A_R_D32;
    return table[base][index ? (scaled ? 2 : 1) : 0][displacement];
}

Kind immediateKind(const ZydisDecodedOperand& operand, unsigned encodedBits) {
    if (operand.imm.is_relative) return Kind::Rel;
    if (operand.imm.value.u == 0 && encodedBits <= 8) return Kind::Zero;
    if (encodedBits == 0) return Kind::One;
    return encodedBits <= 8 ? Kind::I8 : encodedBits <= 16 ? Kind::I16 : encodedBits <= 32 ? Kind::I32 : Kind::I64;
}

Kind registerKind(const ZydisDecodedOperand& operand) {
    const ZydisRegister reg = operand.reg.value;
    if (operand.visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT) {
        switch (reg) {
            case ZYDIS_REGISTER_CL:
                return Kind::CL;
            case ZYDIS_REGISTER_AL:
                return Kind::AL;
            case ZYDIS_REGISTER_AX:
                return Kind::AX;
            case ZYDIS_REGISTER_EAX:
                return Kind::EAX;
            case ZYDIS_REGISTER_RAX:
                return Kind::RAX;
            default:
                break;
        }
    }
    switch (ZydisRegisterGetClass(reg)) {
        case ZYDIS_REGCLASS_GPR8:
            return isHigh(reg) ? Kind::R8h : Kind::R8l;
        case ZYDIS_REGCLASS_GPR16:
            return Kind::R16;
        case ZYDIS_REGCLASS_GPR32:
            return Kind::R32;
        case ZYDIS_REGCLASS_GPR64:
            return Kind::R64;
        case ZYDIS_REGCLASS_MMX:
            return Kind::MM;
        case ZYDIS_REGCLASS_XMM:
            return Kind::XMM;
        case ZYDIS_REGCLASS_YMM:
            return Kind::YMM;
        case ZYDIS_REGCLASS_ZMM:
            return Kind::ZMM;
        case ZYDIS_REGCLASS_MASK:
            return Kind::K;
        case ZYDIS_REGCLASS_X87:
            return Kind::ST;
        case ZYDIS_REGCLASS_SEGMENT:
            return Kind::SEG;
        default:
            return Kind::Other;
    }
}

Meaning meaningOf(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
        case ZYDIS_MNEMONIC_MOV:
        case ZYDIS_MNEMONIC_MOVZX:
            return Meaning::Move;
        case ZYDIS_MNEMONIC_MOVSX:
        case ZYDIS_MNEMONIC_MOVSXD:
            return Meaning::MoveSigned;
        case ZYDIS_MNEMONIC_LEA:
            return Meaning::Lea;
        case ZYDIS_MNEMONIC_ADD:
            return Meaning::Add;
        case ZYDIS_MNEMONIC_SUB:
            return Meaning::Sub;
        case ZYDIS_MNEMONIC_AND:
            return Meaning::And;
        case ZYDIS_MNEMONIC_OR:
            return Meaning::Or;
        case ZYDIS_MNEMONIC_XOR:
            return Meaning::Xor;
        case ZYDIS_MNEMONIC_INC:
            return Meaning::Inc;
        case ZYDIS_MNEMONIC_DEC:
            return Meaning::Dec;
        case ZYDIS_MNEMONIC_NEG:
            return Meaning::Neg;
        case ZYDIS_MNEMONIC_NOT:
            return Meaning::Not;
        case ZYDIS_MNEMONIC_SHL:
            return Meaning::ShiftLeft;
        case ZYDIS_MNEMONIC_SHR:
            return Meaning::ShiftRight;
        case ZYDIS_MNEMONIC_SAR:
            return Meaning::ShiftSigned;
        case ZYDIS_MNEMONIC_IMUL:
            return Meaning::Multiply;
        case ZYDIS_MNEMONIC_DIV:
            return Meaning::Divide;
        case ZYDIS_MNEMONIC_IDIV:
            return Meaning::DivideSigned;
        case ZYDIS_MNEMONIC_CDQ:
        case ZYDIS_MNEMONIC_CQO:
            return Meaning::SignToD;
        case ZYDIS_MNEMONIC_CDQE:
        case ZYDIS_MNEMONIC_CWDE:
            return Meaning::Widen;
        case ZYDIS_MNEMONIC_XCHG:
            return Meaning::Exchange;
        case ZYDIS_MNEMONIC_PUSH:
            return Meaning::Push;
        case ZYDIS_MNEMONIC_POP:
            return Meaning::Pop;
        default:
            return Meaning::Unknown;
    }
}

// Results that do not depend on the sources when those are one register. Intel's Optimization Reference Manual,
// section "Clearing registers and dependency-breaking idioms".
enum class Idiom { None, Zero, Ones };
Idiom idiomOf(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
        case ZYDIS_MNEMONIC_XOR:
        case ZYDIS_MNEMONIC_SUB:
        case ZYDIS_MNEMONIC_PXOR:
        case ZYDIS_MNEMONIC_XORPS:
        case ZYDIS_MNEMONIC_XORPD:
        case ZYDIS_MNEMONIC_PSUBB:
        case ZYDIS_MNEMONIC_PSUBW:
        case ZYDIS_MNEMONIC_PSUBD:
        case ZYDIS_MNEMONIC_PSUBQ:
        case ZYDIS_MNEMONIC_PCMPGTB:
        case ZYDIS_MNEMONIC_PCMPGTW:
        case ZYDIS_MNEMONIC_PCMPGTD:
        case ZYDIS_MNEMONIC_VPXOR:
        case ZYDIS_MNEMONIC_VXORPS:
        case ZYDIS_MNEMONIC_VXORPD:
        case ZYDIS_MNEMONIC_VPSUBB:
        case ZYDIS_MNEMONIC_VPSUBW:
        case ZYDIS_MNEMONIC_VPSUBD:
        case ZYDIS_MNEMONIC_VPSUBQ:
        case ZYDIS_MNEMONIC_VPCMPGTB:
        case ZYDIS_MNEMONIC_VPCMPGTW:
        case ZYDIS_MNEMONIC_VPCMPGTD:
            return Idiom::Zero;
        case ZYDIS_MNEMONIC_PCMPGTQ:
        case ZYDIS_MNEMONIC_VPCMPGTQ:
        case ZYDIS_MNEMONIC_PCMPEQB:
        case ZYDIS_MNEMONIC_PCMPEQW:
        case ZYDIS_MNEMONIC_PCMPEQD:
        case ZYDIS_MNEMONIC_PCMPEQQ:
        case ZYDIS_MNEMONIC_VPCMPEQB:
        case ZYDIS_MNEMONIC_VPCMPEQW:
        case ZYDIS_MNEMONIC_VPCMPEQD:
        case ZYDIS_MNEMONIC_VPCMPEQQ:
            return Idiom::Ones;
        default:
            return Idiom::None;
    }
}

bool isVectorMove(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
        case ZYDIS_MNEMONIC_MOVAPS:
        case ZYDIS_MNEMONIC_MOVAPD:
        case ZYDIS_MNEMONIC_MOVUPS:
        case ZYDIS_MNEMONIC_MOVUPD:
        case ZYDIS_MNEMONIC_MOVDQA:
        case ZYDIS_MNEMONIC_MOVDQU:
        case ZYDIS_MNEMONIC_VMOVAPS:
        case ZYDIS_MNEMONIC_VMOVAPD:
        case ZYDIS_MNEMONIC_VMOVUPS:
        case ZYDIS_MNEMONIC_VMOVUPD:
        case ZYDIS_MNEMONIC_VMOVDQA:
        case ZYDIS_MNEMONIC_VMOVDQU:
            return true;
        default:
            return false;
    }
}

bool fusesWithBranch(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
        case ZYDIS_MNEMONIC_TEST:
        case ZYDIS_MNEMONIC_CMP:
        case ZYDIS_MNEMONIC_AND:
        case ZYDIS_MNEMONIC_ADD:
        case ZYDIS_MNEMONIC_SUB:
        case ZYDIS_MNEMONIC_INC:
        case ZYDIS_MNEMONIC_DEC:
            return true;
        default:
            return false;
    }
}

constexpr ZyanU32 otherFlags =
    ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;

void addMemory(Instruction& out, const ZydisDecodedOperand& operand) {
    MemoryUse memory;
    memory.base = operand.mem.base == ZYDIS_REGISTER_NONE ? NoRegister : wholeRegister(operand.mem.base);
    memory.index = operand.mem.index == ZYDIS_REGISTER_NONE ? NoRegister : wholeRegister(operand.mem.index);
    memory.relative = operand.mem.base == ZYDIS_REGISTER_RIP || operand.mem.base == ZYDIS_REGISTER_EIP;
    memory.segment = operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS;
    memory.scale = operand.mem.scale;
    memory.displacement = operand.mem.disp.has_displacement ? operand.mem.disp.value : 0;
    memory.bytes = static_cast<std::uint8_t>(std::min<unsigned>(operand.size / 8, 255));
    memory.read = operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    memory.write = operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    const bool first = !out.memory.read && !out.memory.write && out.memory.bytes == 0;
    (first ? out.memory : out.memory2) = memory;
}

void addRegister(Instruction& out, const ZydisDecodedOperand& operand, std::uint8_t slot) {
    const std::uint8_t whole = wholeRegister(operand.reg.value);
    if (whole == NoRegister || out.uses + 1u >= out.use.size()) return;
    out.use[out.uses++] = {slot,
                           whole,
                           static_cast<std::uint8_t>(std::min<unsigned>(operand.size / 8, 64)),
                           (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
                           (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0,
                           isHigh(operand.reg.value)};
}

void addFlags(Instruction& out, const ZydisDecodedInstruction& in, std::uint8_t slot) {
    if (!in.cpu_flags) return;
    const auto& flags = *in.cpu_flags;
    // Flags left undefined are renamed too; shifts by nothing keep them, so they are sources as well.
    const ZyanU32 written = flags.modified | flags.set_0 | flags.set_1 | flags.undefined;
    const bool carry = written & ZYDIS_CPUFLAG_CF, rest = written & otherFlags;
    out.carryRead = flags.tested & ZYDIS_CPUFLAG_CF;
    out.otherRead = flags.tested & otherFlags;
    out.flagsRead = out.carryRead || out.otherRead;
    out.flagsWritten = carry || rest;
    if ((carry || out.carryRead) && out.uses < out.use.size())
        out.use[out.uses++] = {slot, CarryFlag, 0, out.carryRead, carry, false};
    if ((rest || out.otherRead) && out.uses < out.use.size())
        out.use[out.uses++] = {slot, OtherFlags, 0, out.otherRead, rest, false};
}

unsigned immediateBits(const ZydisDecodedInstruction& in, int which) {
    return in.raw.imm[which].size;
}

void markIdioms(Instruction& out, const ZydisDecodedInstruction& in, const ZydisDecodedOperand* operands) {
    const auto sameRegister = [&](int a, int b) {
        return operands[a].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[b].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               operands[a].reg.value == operands[b].reg.value;
    };
    const Idiom idiom = idiomOf(in.mnemonic);
    if (idiom != Idiom::None && in.operand_count_visible >= 2) {
        const int last = in.operand_count_visible - 1;
        if (sameRegister(last, last - 1)) {
            const bool general = wholeRegister(operands[last].reg.value) < VectorRegister;
            const bool wide = !general || operands[last].size >= 32;
            const bool mmx = ZydisRegisterGetClass(operands[last].reg.value) == ZYDIS_REGCLASS_MMX;
            out.zeroIdiom = idiom == Idiom::Zero && wide && !mmx;
            out.breaksChain = wide && !mmx;
        }
    }
    if (in.operand_count_visible == 2 && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].reg.value != operands[1].reg.value) {
        const bool general = in.mnemonic == ZYDIS_MNEMONIC_MOV && operands[0].size >= 32 &&
                             wholeRegister(operands[0].reg.value) < VectorRegister &&
                             wholeRegister(operands[1].reg.value) < VectorRegister;
        const bool byte = in.mnemonic == ZYDIS_MNEMONIC_MOVZX && operands[0].size >= 32 && operands[1].size == 8 &&
                          !isHigh(operands[1].reg.value) &&
                          wholeRegister(operands[0].reg.value) != wholeRegister(operands[1].reg.value);
        out.vectorMove = isVectorMove(in.mnemonic);
        out.registerMove = general || byte || out.vectorMove;
    }
}

void fill(Instruction& out, const ZydisDecodedInstruction& in, const ZydisDecodedOperand* operands) {
    out.length = in.length;
    out.key.mnemonic = static_cast<std::uint16_t>(in.mnemonic);
    if (in.attributes & ZYDIS_ATTRIB_HAS_LOCK) out.key.prefix = 1;
    if (in.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE)) out.key.prefix = 2;
    if (in.attributes & ZYDIS_ATTRIB_HAS_REPNE) out.key.prefix = 3;
    out.visible = in.operand_count_visible;
    out.operandBytes = static_cast<std::uint8_t>(in.operand_width / 8);
    out.vex = in.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX || in.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
    out.meaning = meaningOf(in.mnemonic);
    out.branch = in.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;
    out.conditional = in.meta.category == ZYDIS_CATEGORY_COND_BR;
    out.fusesFirst = fusesWithBranch(in.mnemonic);
    out.nop = in.mnemonic == ZYDIS_MNEMONIC_NOP;
    // The nominal opcode stands before ModRM, or before the immediates where there is none.
    unsigned at = 0;
    if (in.raw.modrm.offset) {
        at = in.raw.modrm.offset - 1u;
    } else {
        unsigned tail = (in.raw.imm[0].size + in.raw.imm[1].size + in.raw.disp.size) / 8u;
        at = in.length > tail ? in.length - tail - 1u : 0u;
    }
    out.opcodeAt = static_cast<std::uint8_t>(std::min<unsigned>(at, in.length - 1u));
    bool operandPrefix = false;
    for (unsigned i = 0; i < in.raw.prefix_count; ++i) operandPrefix |= in.raw.prefixes[i].value == 0x66;
    out.changesLength = operandPrefix && !(in.attributes & ZYDIS_ATTRIB_HAS_REX && in.raw.rex.W) &&
                        (in.raw.imm[0].size == 16) && in.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    int immediates = 0, kinds = 0, registers = 0;
    std::uint8_t slot = 0;
    bool flagsSeen = false;
    for (int i = 0; i < in.operand_count; ++i) {
        const ZydisDecodedOperand& operand = operands[i];
        Kind kind = Kind::Other;
        switch (operand.type) {
            case ZYDIS_OPERAND_TYPE_REGISTER: {
                if (operand.reg.value == ZYDIS_REGISTER_RFLAGS || operand.reg.value == ZYDIS_REGISTER_EFLAGS ||
                    operand.reg.value == ZYDIS_REGISTER_FLAGS) {
                    addFlags(out, in, slot++);
                    flagsSeen = true;
                    continue;
                }
                kind = registerKind(operand);
                if (operand.reg.value == ZYDIS_REGISTER_MXCSR || operand.reg.value == ZYDIS_REGISTER_RIP ||
                    operand.reg.value == ZYDIS_REGISTER_EIP)
                    continue;
                const bool hidden = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
                if (hidden && wholeRegister(operand.reg.value) == StackPointer) {
                    out.stack = true;
                    continue;  // kept apart by the stack engine
                }
                addRegister(out, operand, slot++);
                registers += !hidden;
                break;
            }
            case ZYDIS_OPERAND_TYPE_MEMORY:
                if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
                    kind = addressKind(operand, in.raw.disp.size);
                } else {
                    kind = memoryKind(operand.size);
                    if (operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB)
                        kind = ZydisRegisterGetClass(operand.mem.index) == ZYDIS_REGCLASS_YMM ? Kind::VY : Kind::VX;
                }
                addMemory(out, operand);
                if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) out.memory.read = out.memory.write = false;
                break;
            case ZYDIS_OPERAND_TYPE_IMMEDIATE:
                if (operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) continue;
                kind = immediateKind(operand, operand.visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT
                                                  ? 0
                                                  : immediateBits(in, std::min(immediates, 1)));
                if (!out.hasImmediate) out.immediate = operand.imm.value.s;
                out.hasImmediate = true;
                ++immediates;
                break;
            default:
                break;
        }
        if (operand.visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && kinds < 5)
            out.key.kinds[static_cast<std::size_t>(kinds++)] = kind;
    }
    if (out.nop) out.memory.read = false;  // its operand is never accessed
    if (!flagsSeen) addFlags(out, in, slot);
    out.threeOperands = registers >= 2 && out.vex;
    markIdioms(out, in, operands);
}

const ZydisDecoder& decoder() {
    static const ZydisDecoder one = [] {
        ZydisDecoder made;
        ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        return made;
    }();
    return one;
}

int digitOf(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

Expected<std::vector<std::uint8_t>> readHex(std::string_view text) {
    std::vector<std::uint8_t> bytes;
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    int high = -1;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (high < 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) continue;
        const int digit = digitOf(c);
        if (digit < 0) {
            return fail("block.hex", fmt::format("character {} of the machine code is no hexadecimal digit", i + 1),
                        "two digits per byte, such as 4801d8", "blanks may stand between bytes",
                        {.column = static_cast<int>(i + 1)});
        }
        if (high < 0) {
            high = digit;
        } else {
            bytes.push_back(static_cast<std::uint8_t>(high * 16 + digit));
            high = -1;
        }
    }
    if (high >= 0) {
        return fail("block.hex", fmt::format("byte {} of the machine code has one digit", bytes.size()),
                    "two digits per byte", {}, {.column = static_cast<int>(text.size())});
    }
    if (bytes.empty()) return fail("block.empty", "the block has no machine code", "hexadecimal bytes, such as 4801d8");
    if (bytes.size() > 4096) {
        return fail("block.too-long", fmt::format("the block has {} bytes", bytes.size()), "at most 4096",
                    "a basic block of compiled code rarely has more than 200");
    }
    return bytes;
}

Expected<void> decode(const std::vector<std::uint8_t>& bytes, Code& code) {
    code.bytes = bytes;
    code.instructions.clear();
    std::size_t offset = 0;
    ZydisDecodedInstruction raw;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    while (offset < bytes.size()) {
        const auto status =
            ZydisDecoderDecodeFull(&decoder(), bytes.data() + offset, bytes.size() - offset, &raw, operands);
        if (!ZYAN_SUCCESS(status)) {
            const bool cut = status == ZYDIS_STATUS_NO_MORE_DATA;
            return fail("block.unknown-instruction",
                        cut ? fmt::format("the instruction at byte {} ends after the machine code", offset)
                            : fmt::format("no instruction can be read at byte {} ({:02x})", offset, bytes[offset]),
                        "x86-64 machine code of whole instructions", {}, {.path = fmt::format("byte {}", offset)});
        }
        Instruction& out = code.instructions.emplace_back();
        out.offset = static_cast<std::uint16_t>(offset);
        fill(out, raw, operands);
        offset += raw.length;
    }
    return {};
}

std::vector<std::string> disassemble(const Code& code) {
    ZydisFormatter formatter;
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisDecodedInstruction raw;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    std::vector<std::string> lines;
    for (const auto& one : code.instructions) {
        char text[192] = "";
        if (ZYAN_SUCCESS(
                ZydisDecoderDecodeFull(&decoder(), code.bytes.data() + one.offset, one.length, &raw, operands)))
            ZydisFormatterFormatInstruction(&formatter, &raw, operands, raw.operand_count_visible, text, sizeof text,
                                            ZYDIS_RUNTIME_ADDRESS_NONE, nullptr);
        lines.emplace_back(text);
    }
    return lines;
}

std::string registerName(std::uint8_t reg) {
    static constexpr std::array<const char*, 8> old{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"};
    if (reg < 8) return old[reg];
    if (reg < VectorRegister) return fmt::format("r{}", reg);
    if (reg < StackRegister) return fmt::format("vector {}", reg - VectorRegister);
    if (reg < MaskRegister) return fmt::format("mm{}", reg - StackRegister);
    if (reg < CarryFlag) return fmt::format("k{}", reg - MaskRegister);
    return reg == CarryFlag ? "carry flag" : "flags";
}

}  // namespace orrery::block
