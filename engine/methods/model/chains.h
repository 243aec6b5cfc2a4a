#pragma once

// Activations that stay on the chip from one launch to the next: reuse between kernels, which no price of one kernel
// can hold. Any pricer that says how much room there is beside its tiles (KernelPricer::room) can be asked.

#include "methods/method.h"

#include <cstddef>

namespace orrery {

struct Composition;

struct ChainsKept {
    std::size_t activations = 0;  ///< that stay
    double bytes = 0;             ///< less past main memory, all repeats
};

/// Prices launches anew whose first operand or result stays on the chip. An activation stays where (1) one launch
/// writes it and the very next one is its only reader, as its first operand, (2) both run equally often, and (3) it
/// fits, whole, into the memory next to main memory beside the tiles that either holds there. Does nothing for a pricer
/// without room(). Fails as prices do.
Expected<void> keepChains(const Workload& workload, Composition& composition, EstimateContext& context);

}  // namespace orrery
