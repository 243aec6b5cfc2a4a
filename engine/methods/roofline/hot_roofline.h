#pragma once

// Every kernel at the least time that peak rates and caches allow: kernel_bound.h as a method.

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod hotRooflineKernels();

}  // namespace orrery
