#pragma once

// Columns of an answer about a training step.

#include "methods/estimate.h"

namespace orrery {

/// From one micro-batch of all layers to the step of a device: every micro-batch but one optimizer, in times that sum
/// to the step (waiting and exchanges in proportion); operations and bytes of the stages' mean; energy keeps its sum.
/// `updates`: s of the optimizers of one device of every stage together, which is less than the columns say where
/// copies share them.
void spreadColumns(OperatorEstimates& ops, double step, double microbatches, double stages, double updates);

}  // namespace orrery
