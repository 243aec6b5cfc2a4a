// CDNA's instructions: "AMD Instinct MI300" Instruction Set Architecture reference guide (2023). A compute unit's
// scalar unit stands for NVIDIA's uniform data path.

#include "simulation/gpu/opcodes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace orrery::gpusim {

namespace {

struct Prefix {
    std::string_view begin;
    Unit unit;
    Action action = Action::Compute;
    Energy energy = Energy::Other;
};

// The first that fits holds.
constexpr Prefix prefixes[] = {
    {"s_endpgm", Unit::Int, Action::Exit},
    {"s_barrier", Unit::Int, Action::Barrier},
    {"s_cbranch", Unit::Special1},
    {"s_branch", Unit::Special1},
    {"s_setpc", Unit::Special1},
    {"s_swappc", Unit::Special1},
    {"s_load", Unit::Special4},
    {"s_", Unit::Special4, Action::Compute, Energy::Int},
    {"v_mfma", Unit::Special3, Action::Compute, Energy::Tensor},
    {"v_smfmac", Unit::Special3, Action::Compute, Energy::Tensor},
    {"v_exp", Unit::Sfu, Action::Compute, Energy::Exp},
    {"v_log", Unit::Sfu, Action::Compute, Energy::Log},
    {"v_sin", Unit::Sfu, Action::Compute, Energy::Sin},
    {"v_cos", Unit::Sfu, Action::Compute, Energy::Sin},
    {"v_rcp", Unit::Sfu, Action::Compute, Energy::Sqrt},
    {"v_rsq", Unit::Sfu, Action::Compute, Energy::Sqrt},
    {"v_sqrt", Unit::Sfu, Action::Compute, Energy::Sqrt},
    {"v_mul_lo_u32", Unit::Sfu, Action::Compute, Energy::IntMultiply},
    {"v_mul_hi", Unit::Sfu, Action::Compute, Energy::IntMultiply},
    {"v_mad_u64", Unit::Sfu, Action::Compute, Energy::IntMultiply},
    {"v_mad_u32", Unit::Int, Action::Compute, Energy::IntMultiply},
    {"v_mad_i32", Unit::Int, Action::Compute, Energy::IntMultiply},
    {"v_dot", Unit::Int, Action::Compute, Energy::IntMultiply},
    {"ds_bpermute", Unit::Int, Action::Compute, Energy::Int},
    {"ds_permute", Unit::Int, Action::Compute, Energy::Int},
    {"ds_swizzle", Unit::Int, Action::Compute, Energy::Int},
    {"ds_read", Unit::Mem, Action::SharedLoad},
    {"ds_write", Unit::Mem, Action::SharedStore},
    {"ds_", Unit::Mem, Action::SharedAtomic},
    {"global_load", Unit::Mem, Action::Load},
    {"global_store", Unit::Mem, Action::Store},
    {"global_atomic", Unit::Mem, Action::Atomic},
    {"flat_load", Unit::Mem, Action::Load},
    {"flat_store", Unit::Mem, Action::Store},
    {"flat_atomic", Unit::Mem, Action::Atomic},
    {"buffer_wbl2", Unit::Mem, Action::Fence},
    {"buffer_inv", Unit::Mem, Action::Fence},
    {"buffer_load", Unit::Mem, Action::Load},
    {"buffer_store", Unit::Mem, Action::Store},
    {"buffer_atomic", Unit::Mem, Action::Atomic},
};

bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace

std::optional<Opcode> cdnaOpcodeOf(std::string_view text) {
    const auto name = text.substr(0, text.find('.'));
    Opcode out;
    const auto* found = std::find_if(std::begin(prefixes), std::end(prefixes),
                                     [&](const Prefix& p) { return name.starts_with(p.begin); });
    if (found != std::end(prefixes)) {
        out.unit = found->unit, out.action = found->action, out.energy = found->energy;
    } else if (name.starts_with("v_")) {
        const bool multiplies = holds(name, "fma") || holds(name, "mul") || holds(name, "mac");
        if (holds(name, "_f64")) {
            out.unit = Unit::Dp, out.energy = multiplies ? Energy::DpMultiply : Energy::Dp;
        } else if (holds(name, "_f32") || holds(name, "_f16")) {
            out.unit = Unit::Sp, out.energy = multiplies ? Energy::FpMultiply : Energy::Fp;
            out.half = name.starts_with("v_pk_") && holds(name, "_f16");
        } else {
            out.energy = Energy::Int;
        }
    } else {
        return std::nullopt;
    }
    // Of one lane: dword unless the name says otherwise.
    static constexpr std::array<std::pair<std::string_view, int>, 10> widths{{{"x4", 16},
                                                                              {"x3", 12},
                                                                              {"x2", 8},
                                                                              {"b128", 16},
                                                                              {"b96", 12},
                                                                              {"b64", 8},
                                                                              {"b32", 4},
                                                                              {"short", 2},
                                                                              {"byte", 1},
                                                                              {"b16", 2}}};
    for (const auto& [word, bytes] : widths) {
        if (!holds(name, word)) continue;
        out.bytes = static_cast<std::uint8_t>(bytes);
        break;
    }
    out.bypassesL1 = out.action == Action::Atomic;
    return out;
}

std::string cdnaOpcode(std::string_view sass) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 45> names{
        {{"LDG.E.128", "global_load_dwordx4"},
         {"LDG.E.64", "global_load_dwordx2"},
         {"LDG.E", "global_load_dword"},
         {"STG.E.128", "global_store_dwordx4"},
         {"STG.E.64", "global_store_dwordx2"},
         {"STG.E", "global_store_dword"},
         {"RED.E.ADD", "global_atomic_add_f32"},
         {"LDSM", "ds_read_b64"},
         {"LDS.U.128", "ds_read_b128"},
         {"LDS.128", "ds_read_b128"},
         {"LDS", "ds_read_b32"},
         {"STS.128", "ds_write_b128"},
         {"STS", "ds_write_b32"},
         {"SHFL", "ds_bpermute_b32"},
         {"BAR", "s_barrier"},
         {"EXIT", "s_endpgm"},
         {"BRA", "s_cbranch_scc1"},
         {"FFMA", "v_fma_f32"},
         {"FADD", "v_add_f32"},
         {"FMUL", "v_mul_f32"},
         {"FMNMX", "v_max_f32"},
         {"FSETP", "v_cmp_gt_f32"},
         {"HFMA2", "v_pk_fma_f16"},
         {"DFMA", "v_fma_f64"},
         {"F2FP", "v_cvt_pkrtz_f16_f32"},
         {"I2F", "v_cvt_f32_u32"},
         {"F2I", "v_cvt_i32_f32"},
         {"MUFU.EX2", "v_exp_f32"},
         {"MUFU.RCP", "v_rcp_f32"},
         {"MUFU.RSQ", "v_rsq_f32"},
         {"MUFU.SQRT", "v_sqrt_f32"},
         {"MUFU", "v_rcp_f32"},
         {"IMAD", "v_mad_u32_u24"},
         {"IADD3", "v_add_u32"},
         {"ISETP", "v_cmp_lt_u32"},
         {"LEA", "v_lshl_add_u64"},
         {"IDP.4A", "v_dot4_i32_i8"},
         {"MOV", "v_mov_b32"},
         {"SEL", "v_cndmask_b32"},
         {"S2R", "v_mov_b32"},
         {"UIADD3", "s_add_u32"},
         {"ULDC", "s_load_dwordx4"},
         {"IMUL.HI", "v_mul_hi_u32"},
         {"UISETP", "s_cmp_lg_u32"},
         {"LDGDEPBAR", "s_nop"}}};
    for (const auto& [from, to] : names) {
        if (sass == from || (sass.starts_with(from) && sass[from.size()] == '.')) return std::string(to);
    }
    if (sass == "DEPBAR.LE") return "s_waitcnt";
    return std::string(sass);
}

}  // namespace orrery::gpusim
