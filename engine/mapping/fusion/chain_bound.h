#pragma once

// The least that a chain of operators moves between one buffer of so many words and the store, for every size of the
// buffer: each operator alone, and fused (the fused curves of Orojenesis, Huang et al., ISCA 2024). The machine is that
// of bounds/data_movement.h, the space that of fuse.h with nothing inside the buffer: tiles that divide, every class of
// loop orders, any tensors passing the buffer by. The buffer is used by one group after the other.

#include "base/executor.h"
#include "mapping/fusion/chain.h"

#include <stop_token>
#include <vector>

namespace orrery {

struct ChainBoundPoint {
    double words = 0, moved = 0;
};

struct ChainBound {
    std::vector<ChainBoundPoint> unfused, fused;  ///< words rise, moved falls
    double seconds = 0;
};

/// Words moved over all executions (ChainOperator::repeat). Fails with `bound.cancelled`.
Expected<ChainBound> chainBound(const OperatorChain& chain, Executor& executor, std::stop_token stop = {});

}  // namespace orrery
