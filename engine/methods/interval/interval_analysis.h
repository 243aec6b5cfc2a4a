#pragma once

// `interval-analysis`: every kernel as the program of a representative warp, in cycles by cause (interval_model.h). Of
// the class of GCoM (ISCA 2022) and AMALI (ISCA 2025); programs come from templates instead of traces, so that no GPU
// has to be at hand. Nothing is fitted unless a calibration brings a constant per launch and a stretch.

#include "methods/interval/interval_programs.h"
#include "methods/kernel_method.h"

namespace orrery {

/// Parts as `KernelStory::stack` names them, in cycles; they sum to the stack's total.
std::vector<StackPart> stackParts(const CycleStack& stack);

KernelMethod intervalAnalysisMethod();

}  // namespace orrery
