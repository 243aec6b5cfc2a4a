#pragma once

// From the drawn array to what the mapper needs: levels innermost first in words and cycles, and the constraints that
// its dataflow puts on mappings.

#include "hardware/views/spatial_array_view.h"
#include "mapping/mapspace.h"
#include "mapping/storage.h"

namespace orrery {

struct ArrayHardware {
    NestHardware hardware;
    bool energies = false;  ///< of every level and of the arithmetic
    std::vector<std::string> assumptions;
};

/// Energies are joules per access where the design gives them. Relative ones count multiply-accumulates; where the
/// design does not say what one costs, 1 pJ at 16 bit, growing with the square of the width (as in Timeloop's public
/// table). What it does not state at all comes from its `energy_table`, or from published energies at its process (7 nm
/// where that is finer, the end of the scaling's range); without a process there are none.
ArrayHardware nestHardware(const SpatialArrayView& view);

/// Which tensors levels keep, from `keeps`, and which loops the array unrolls. By dataflow (terms of Chen et al., ISCA
/// 2016), with a dimension called reduced where outputs lack it:
///   weight-stationary   columns: dimensions of weights and outputs; rows: reduced dimensions of the weights
///   output-stationary   columns: dimensions of weights and outputs; rows: those of inputs and outputs
///   input-stationary    columns: dimensions of inputs and outputs; rows: reduced dimensions of the inputs
///   row-stationary      of a convolution: filter columns inside an element, filter rows and channels along rows of the
///                       array, output positions and filters along its columns; of other nests as weight-stationary
/// Tensors stand in the order Inputs, Weights, Outputs.
MapspaceConstraints dataflowConstraints(const SpatialArrayView& view, const NestProblem& problem);

}  // namespace orrery
