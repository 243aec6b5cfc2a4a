#pragma once

// What reading a trace and writing one by a template share: the static part of an instruction on a machine, and the
// sectors or passes of its lanes' addresses.

#include "simulation/gpu/trace.h"

#include <string_view>
#include <vector>

namespace orrery::gpusim {

/// Fills unit, action, width and timing; false if the machine has no such unit.
bool fillStatic(const Machine& machine, std::string_view name, const Opcode& opcode, StaticInstruction& to);

/// A register that is read at a place among the operands; named twice, it is read once.
void addSource(StaticInstruction& to, std::uint8_t reg, int place, bool reused);

struct AccessKind {
    Action action = Action::Load;
    bool local = false;
    unsigned bytes = 4;  ///< of one lane
    unsigned warp = 0;   ///< of the block
    LocalPlace place;
};

/// Appends the sectors of `addresses` (one per active lane of `out.mask`, by lane) to the block and says in `out` where
/// they stand; of shared memory `out.count` is its passes. Sorts the addresses of shared memory.
void addAccesses(const Machine& machine, TraceBlock& block, const AccessKind& kind,
                 std::vector<std::uint64_t>& addresses, Executed& out);

}  // namespace orrery::gpusim
