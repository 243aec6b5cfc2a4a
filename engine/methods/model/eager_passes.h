#pragma once

// Composite functions as an eager framework runs them: one pass over all elements after another.

#include "workload/kernel.h"

#include <span>
#include <string_view>

namespace orrery {

struct EagerPass {
    std::string_view function;  ///< a type of operator_types.h
    int operands = 1;           ///< tensors read
    bool writesAll = true;      ///< false: writes one number per row
};
/// Empty for a function that is one kernel.
std::span<const EagerPass> eagerPasses(std::string_view function, bool backward);
Kernel eagerKernel(const EagerPass& pass, DType type, double m, double n);

}  // namespace orrery
