#pragma once

// Whole models on a systolic array: simulation/systolic over every product of matrices and convolution, everything else
// by its roofline.

#include "methods/method.h"

namespace orrery {

Method systolicCycleMethod();
Method systolicClosedFormMethod();

}  // namespace orrery
