#pragma once

// `recorded`: kernels as a profiler recorded them on one device (recorded_kernels.h), others of their kind by a law
// over the recorded ones (recorded_law.h). What composes kernels composes these: plans, networks, stacks, serving. With
// one device's operators that is the class of TrioSim (Li et al., ISCA 2025); with those of one rank of a distributed
// step, asked about another plan, that of Lumos (Liang et al., MLSys 2025).
//
// On another device than the recorded one (`on`), times are multiplied by the ratio of another kernel method's prices
// on the two (`scale`); without that method the question is refused.

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod recordedKernels();

}  // namespace orrery
