#pragma once

// One method over whole models for every kernel method.

#include "methods/kernel_method.h"
#include "methods/method.h"

#include <vector>

namespace orrery {

/// In the order of kernelMethods(). Each takes the options `launch`, `fusion`, `streams`, `step` and `optimizer`.
std::vector<Method> modelMethods();
/// The method that composes one kernel method, whether it is listed or not.
Method modelMethod(const KernelMethod& method);
/// The card of a kernel method with what it leaves open filled in; options are the composition's.
MethodCard kernelMethodCard(const KernelMethod& method);

}  // namespace orrery
