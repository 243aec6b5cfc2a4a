#include "simulation/gpu/opcodes.h"

#include <algorithm>
#include <array>

namespace orrery::gpusim {

namespace {

struct Row {
    std::string_view name;
    Unit unit;
    Action action = Action::Compute;
    Energy energy = Energy::Other;
};

// SASS of Kepler to Hopper, by CUDA Binary Utilities ("Instruction Set Reference"); units as in Accel-Sim's settings.
constexpr Row rows[] = {
    // single precision and packed half
    {"FADD", Unit::Sp, Action::Compute, Energy::Fp},
    {"FADD32I", Unit::Sp, Action::Compute, Energy::Fp},
    {"FCHK", Unit::Sp, Action::Compute, Energy::Fp},
    {"FFMA", Unit::Sp, Action::Compute, Energy::FpMultiply},
    {"FFMA32I", Unit::Sp, Action::Compute, Energy::FpMultiply},
    {"FMNMX", Unit::Sp, Action::Compute, Energy::Fp},
    {"FMUL", Unit::Sp, Action::Compute, Energy::FpMultiply},
    {"FMUL32I", Unit::Sp, Action::Compute, Energy::FpMultiply},
    {"FSEL", Unit::Sp, Action::Compute, Energy::Fp},
    {"FSET", Unit::Sp, Action::Compute, Energy::Fp},
    {"FSETP", Unit::Sp, Action::Compute, Energy::Fp},
    {"FSWZADD", Unit::Sp, Action::Compute, Energy::Fp},
    {"FCMP", Unit::Sp, Action::Compute, Energy::Fp},
    {"RRO", Unit::Sp, Action::Compute, Energy::Fp},
    {"HADD2", Unit::Sp, Action::Compute, Energy::Fp},
    {"HADD2_32I", Unit::Sp, Action::Compute, Energy::Fp},
    {"HFMA2", Unit::Sp, Action::Compute, Energy::FpMultiply},
    {"HFMA2_32I", Unit::Sp, Action::Compute, Energy::FpMultiply},
    {"HMNMX2", Unit::Sp, Action::Compute, Energy::Fp},
    {"HMUL2", Unit::Sp, Action::Compute, Energy::FpMultiply},
    {"HMUL2_32I", Unit::Sp, Action::Compute, Energy::FpMultiply},
    {"HSET2", Unit::Sp, Action::Compute, Energy::Fp},
    {"HSETP2", Unit::Sp, Action::Compute, Energy::Fp},
    // tensor
    {"HMMA", Unit::Special3, Action::Compute, Energy::Tensor},
    {"IMMA", Unit::Special3, Action::Compute, Energy::Tensor},
    {"BMMA", Unit::Special3, Action::Compute, Energy::Tensor},
    {"DMMA", Unit::Special3, Action::Compute, Energy::Tensor},
    {"QMMA", Unit::Special3, Action::Compute, Energy::Tensor},
    {"HGMMA", Unit::Special3, Action::Compute, Energy::Tensor},
    {"IGMMA", Unit::Special3, Action::Compute, Energy::Tensor},
    {"BGMMA", Unit::Special3, Action::Compute, Energy::Tensor},
    {"QGMMA", Unit::Special3, Action::Compute, Energy::Tensor},
    // double precision
    {"DADD", Unit::Dp, Action::Compute, Energy::Dp},
    {"DFMA", Unit::Dp, Action::Compute, Energy::DpMultiply},
    {"DMUL", Unit::Dp, Action::Compute, Energy::DpMultiply},
    {"DSETP", Unit::Dp, Action::Compute, Energy::Dp},
    {"DSET", Unit::Dp, Action::Compute, Energy::Dp},
    {"DMNMX", Unit::Dp, Action::Compute, Energy::Dp},
    {"DCHK", Unit::Dp, Action::Compute, Energy::Dp},
    {"MUFU", Unit::Sfu, Action::Compute, Energy::Sqrt},
    // integer multiplication
    {"IMAD", Unit::Int, Action::Compute, Energy::IntMultiply},
    {"IMUL", Unit::Int, Action::Compute, Energy::IntMultiply},
    {"IMUL32I", Unit::Int, Action::Compute, Energy::IntMultiply},
    {"XMAD", Unit::Int, Action::Compute, Energy::IntMultiply},
    {"IDP", Unit::Int, Action::Compute, Energy::IntMultiply},
    {"IDP4A", Unit::Int, Action::Compute, Energy::IntMultiply},
    // memory
    {"LD", Unit::Mem, Action::GenericLoad},
    {"LDG", Unit::Mem, Action::Load},
    {"LDL", Unit::Mem, Action::Load},
    {"LDS", Unit::Mem, Action::SharedLoad},
    {"LDSM", Unit::Mem, Action::SharedLoad},
    {"ST", Unit::Mem, Action::GenericStore},
    {"STG", Unit::Mem, Action::Store},
    {"STL", Unit::Mem, Action::Store},
    {"STS", Unit::Mem, Action::SharedStore},
    {"STSM", Unit::Mem, Action::SharedStore},
    {"ATOM", Unit::Mem, Action::Atomic},
    {"ATOMG", Unit::Mem, Action::Atomic},
    {"RED", Unit::Mem, Action::Atomic},
    {"REDG", Unit::Mem, Action::Atomic},
    {"ATOMS", Unit::Mem, Action::SharedAtomic},
    {"LDGSTS", Unit::Mem, Action::CopyToShared},
    {"MEMBAR", Unit::Mem, Action::Fence},
    {"ERRBAR", Unit::Mem, Action::Fence},
    // branches
    {"BRA", Unit::Special1},
    {"BRX", Unit::Special1},
    {"BRXU", Unit::Special1},
    {"BREAK", Unit::Special1},
    {"BMOV", Unit::Special1},
    {"BPT", Unit::Special1},
    {"BSSY", Unit::Special1},
    {"BSYNC", Unit::Special1},
    {"CALL", Unit::Special1},
    {"JMP", Unit::Special1},
    {"JMX", Unit::Special1},
    {"JMXU", Unit::Special1},
    {"KILL", Unit::Special1},
    {"NANOSLEEP", Unit::Special1},
    {"RET", Unit::Special1},
    {"RTT", Unit::Special1},
    {"WARPSYNC", Unit::Special1},
    {"YIELD", Unit::Special1},
    {"RPCMOV", Unit::Special1},
    {"SSY", Unit::Special1},
    {"SYNC", Unit::Special1},
    {"PBK", Unit::Special1},
    {"BRK", Unit::Special1},
    {"PCNT", Unit::Special1},
    {"CONT", Unit::Special1},
    {"PRET", Unit::Special1},
    {"CAL", Unit::Special1},
    {"JCAL", Unit::Special1},
    {"PREEXIT", Unit::Special1},
    {"EXIT", Unit::Int, Action::Exit},
    // texture and surface
    {"TEX", Unit::Special2, Action::Compute, Energy::Texture},
    {"TEXS", Unit::Special2, Action::Compute, Energy::Texture},
    {"TLD", Unit::Special2, Action::Compute, Energy::Texture},
    {"TLDS", Unit::Special2, Action::Compute, Energy::Texture},
    {"TLD4", Unit::Special2, Action::Compute, Energy::Texture},
    {"TLD4S", Unit::Special2, Action::Compute, Energy::Texture},
    {"TMML", Unit::Special2, Action::Compute, Energy::Texture},
    {"TXD", Unit::Special2, Action::Compute, Energy::Texture},
    {"TXQ", Unit::Special2, Action::Compute, Energy::Texture},
    {"SULD", Unit::Special2, Action::Compute, Energy::Texture},
    {"SUST", Unit::Special2, Action::Compute, Energy::Texture},
    {"SURED", Unit::Special2, Action::Compute, Energy::Texture},
    {"SUATOM", Unit::Special2, Action::Compute, Energy::Texture},
    // uniform data path
    {"R2UR", Unit::Special4, Action::Compute, Energy::Int},
    {"REDUX", Unit::Special4, Action::Compute, Energy::Int},
    {"S2UR", Unit::Special4, Action::Compute, Energy::Int},
    {"UBMSK", Unit::Special4, Action::Compute, Energy::Int},
    {"UBREV", Unit::Special4, Action::Compute, Energy::Int},
    {"UCLEA", Unit::Special4, Action::Compute, Energy::Int},
    {"UFLO", Unit::Special4, Action::Compute, Energy::Int},
    {"UIADD3", Unit::Special4, Action::Compute, Energy::Int},
    {"UIMAD", Unit::Special4, Action::Compute, Energy::Int},
    {"UISETP", Unit::Special4, Action::Compute, Energy::Int},
    {"ULDC", Unit::Special4, Action::Compute, Energy::Int},
    {"ULEA", Unit::Special4, Action::Compute, Energy::Int},
    {"ULOP", Unit::Special4, Action::Compute, Energy::Int},
    {"ULOP3", Unit::Special4, Action::Compute, Energy::Int},
    {"UMOV", Unit::Special4, Action::Compute, Energy::Int},
    {"UP2UR", Unit::Special4, Action::Compute, Energy::Int},
    {"UPLOP3", Unit::Special4, Action::Compute, Energy::Int},
    {"UPOPC", Unit::Special4, Action::Compute, Energy::Int},
    {"UPRMT", Unit::Special4, Action::Compute, Energy::Int},
    {"UPSETP", Unit::Special4, Action::Compute, Energy::Int},
    {"UR2UP", Unit::Special4, Action::Compute, Energy::Int},
    {"USEL", Unit::Special4, Action::Compute, Energy::Int},
    {"USGXT", Unit::Special4, Action::Compute, Energy::Int},
    {"USHF", Unit::Special4, Action::Compute, Energy::Int},
    {"USHL", Unit::Special4, Action::Compute, Energy::Int},
    {"USHR", Unit::Special4, Action::Compute, Energy::Int},
    {"VOTEU", Unit::Special4, Action::Compute, Energy::Int},
    {"ULDS", Unit::Special4, Action::Compute, Energy::Int},
    // barriers and groups of copies
    {"BAR", Unit::Int, Action::Barrier},
    {"LDGDEPBAR", Unit::Int, Action::CloseGroup},
    {"DEPBAR", Unit::Int, Action::AwaitGroup},
    {"UCGABAR_ARV", Unit::Int, Action::ClusterArrive, Energy::Int},
    {"UCGABAR_WAIT", Unit::Int, Action::ClusterWait, Energy::Int},
};

// All that the integer pipe does beside multiplication.
constexpr std::string_view integers[] = {
    "BFE",     "BFI",      "BFIND",     "BMSK",        "BREV",        "FLO",     "IABS",      "IADD",   "IADD3",
    "IADD32I", "ICMP",     "IMNMX",     "IMNMX3",      "IADDCARRY",   "IADDX",   "ISAD",      "ISCADD", "ISCADD32I",
    "ISETP",   "ISET",     "LEA",       "LOP",         "LOP3",        "LOP32I",  "POPC",      "SHF",    "SHL",
    "SHR",     "VABSDIFF", "VABSDIFF4", "VADD",        "VHMNMX",      "VIADD",   "VIADDMNMX", "VIMNMX", "IDE",
    "F2F",     "F2I",      "I2F",       "I2I",         "I2IP",        "FRND",    "F2FP",      "F2IP",   "I2FP",
    "MOV",     "MOV32I",   "MOVM",      "PRMT",        "SEL",         "SGXT",    "SHFL",      "PLOP3",  "PSETP",
    "PSET",    "P2R",      "R2P",       "VOTE",        "CS2R",        "CS2UR",   "LEPC",      "NOP",    "PMTRIG",
    "R2B",     "S2R",      "SETCTAID",  "SETLMEMBASE", "GETLMEMBASE", "B2R",     "MATCH",     "QSPC",   "CCTL",
    "CCTLL",   "CCTLT",    "LDC",       "AL2P",        "OUT",         "PIXLD",   "ALD",       "AST",    "IPA",
    "ISBERD",  "LDTRAM",   "ELECT",     "DEPBARX",     "WARPGROUP",   "ACQBULK", "FENCE",     "SYNCS",  "CSMTEST",
    "VSETP",   "VSHL",     "VSHR",
};

constexpr bool digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<Opcode> opcodeOf(std::string_view text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') return cdnaOpcodeOf(text);
    const auto name = text.substr(0, text.find('.'));
    Opcode out;
    if (const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.name == name; });
        row != std::end(rows)) {
        out.unit = row->unit, out.action = row->action, out.energy = row->energy;
    } else if (std::find(std::begin(integers), std::end(integers), name) != std::end(integers)) {
        out.energy = Energy::Int;
    } else {
        return std::nullopt;
    }
    out.half = name == "HADD2" || name == "HFMA2" || name == "HMUL2_32I" || name == "HSET2" || name == "HSETP2";
    out.local = name == "LDL" || name == "STL";
    bool strong = false, gpu = false;
    bool wide = false;
    for (auto rest = text.substr(name.size()); !rest.empty();) {
        rest.remove_prefix(1);
        const auto part = rest.substr(0, rest.find('.'));
        rest.remove_prefix(part.size());
        strong |= part == "STRONG", gpu |= part == "GPU", out.multicast |= part == "MULTICAST";
        const auto number = part.starts_with('U') ? part.substr(1) : part;
        if (!wide && digits(number) && number.size() <= 3) {
            int bits = 0;
            for (const char c : number) bits = bits * 10 + (c - '0');
            if (bits >= 8 && bits <= 128) out.bytes = static_cast<std::uint8_t>(bits / 8), wide = true;
        }
        if (out.energy == Energy::Sqrt) {
            if (part == "LG2")
                out.energy = Energy::Log;
            else if (part == "SIN" || part == "COS")
                out.energy = Energy::Sin;
            else if (part == "EX2")
                out.energy = Energy::Exp;
        }
    }
    out.bypassesL1 = out.action == Action::Atomic || (out.action == Action::Load && strong && gpu);
    return out;
}

}  // namespace orrery::gpusim
