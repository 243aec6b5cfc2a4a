#pragma once

// What a vector function asks of the units per element, as first-principles methods count it.

#include "workload/kernel.h"

namespace orrery {

struct VectorWork {
    double operations = 1, exponentials = 0;
};

/// GELU, SiLU, tanh and their like: one exponential and ten operations (LLMCompass's count of GELU); softmax: three
/// exponentials and seven operations in its online form; normalisation: seven; others as the kernel's flops say.
VectorWork vectorWork(const Kernel& kernel);

}  // namespace orrery
