#pragma once

// What a SASS opcode is to the machine: its unit and what it does to memory or to its warp.

#include "simulation/gpu/machine.h"

#include <optional>
#include <string>
#include <string_view>

namespace orrery::gpusim {

enum class Action : std::uint8_t {
    Compute,
    Load,
    Store,
    Atomic,
    SharedLoad,
    SharedStore,
    SharedAtomic,
    GenericLoad,  ///< space by address
    GenericStore,
    CopyToShared,  ///< LDGSTS: a load without destination
    Barrier,
    Fence,
    CloseGroup,  ///< LDGDEPBAR
    AwaitGroup,  ///< DEPBAR
    RemoteLoad,  ///< of another block's shared memory, in a cluster
    RemoteStore,
    ClusterArrive,  ///< UCGABAR_ARV
    ClusterWait,    ///< UCGABAR_WAIT
    Exit,
};

/// By which energies of instructions differ; see `Counters`.
enum class Energy : std::uint8_t {
    Other,
    Int,
    IntMultiply,
    Fp,
    FpMultiply,
    Dp,
    DpMultiply,
    Sqrt,
    Log,
    Sin,
    Exp,
    Tensor,
    Texture
};

struct Opcode {
    Unit unit = Unit::Int;
    Action action = Action::Compute;
    Energy energy = Energy::Other;
    bool local = false;       ///< LDL, STL: thread-local memory
    bool bypassesL1 = false;  ///< .STRONG.GPU, atomics
    bool multicast = false;   ///< a copy into the shared memory of all blocks of a cluster
    bool half = false;        ///< packed half precision: half the initiation interval
    std::uint8_t bytes = 4;   ///< per lane, of the first all-digit suffix
};

/// What a template's SASS opcode is called on CDNA: `LDG.E.128` is `global_load_dwordx4`. One that is no SASS stays.
std::string cdnaOpcode(std::string_view sass);
/// Of `v_fma_f32` and the like; nothing if CDNA 3 has no such instruction that is known here.
std::optional<Opcode> cdnaOpcodeOf(std::string_view text);
/// Lanes of a warp by the version of the ISA: 942 is gfx942.
constexpr int lanesOfVersion(int version) {
    return version >= 900 ? 64 : 32;
}

/// Of `LDG.E.128.SYS` and the like; nothing if no generation that traces come from has it.
std::optional<Opcode> opcodeOf(std::string_view text);

}  // namespace orrery::gpusim
