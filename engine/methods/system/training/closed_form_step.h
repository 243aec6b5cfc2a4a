#pragma once

// The closed form of a training step as a method (class of Paleo, Calculon, MAD Max): any kernel method composed by
// step_model.h instead of a run.

#include "methods/method.h"

namespace orrery {

/// `closed-form-step`, level system: a slot `compute` for the kernel method.
Method closedFormStepMethod();

}  // namespace orrery
