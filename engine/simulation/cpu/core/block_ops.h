#pragma once

// A basic block of machine code as operations of the out-of-order core, with the ports and latencies of the block
// model's tables: so that the two models answer the same question.

#include "simulation/cpu/block/core.h"
#include "simulation/cpu/core/machine.h"

#include <memory>
#include <vector>

namespace orrery::pipeline {

struct BlockOps {
    std::vector<BoundOp> ops;
    std::vector<std::uint64_t> address;  ///< of loads and stores in the first iteration
    std::vector<std::uint64_t> stride;   ///< from the second iteration to the third, and so on
};

/// Latencies are the longest from any register to any; operations of one instruction that are not its last bring ports
/// alone.
BlockOps opsOf(const block::Core& core, const block::Code& code);
/// Widths and ports of the block model's core; queues of `like`; a front end that never holds up, code in loops.
Machine machineOf(const block::Core& core, const Machine& like);

/// Cycles per iteration of the block in a loop, from the second half of `iterations`; its data are in the
/// first cache as far as they fit.
double cyclesOf(const Machine& machine, const BlockOps& block, int iterations);

}  // namespace orrery::pipeline
