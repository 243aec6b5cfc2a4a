#pragma once

// The closed form of a training step, corrected by what published steps say of it (step_correction.h): for software
// that no training stack stands for.

#include "methods/method.h"

namespace orrery {

/// `learned-step`, level system: a slot `compute` for the kernel method, whose `stack` must be `kernels`.
Method learnedStepMethod();

}  // namespace orrery
