#pragma once

// Stock dataflows on a spatial array: every convolution and product is priced by the data-centric model (Kwon et al.,
// MICRO 2019) under each dataflow that the array's own allows, and takes the fastest; the others take their roofline.

#include "hardware/views/spatial_array_view.h"
#include "mapping/data_centric/data_centric.h"
#include "mapping/data_centric/stock_dataflows.h"
#include "mapping/problem_of_operator.h"

#include <optional>
#include <vector>

namespace orrery {

struct KernelMethod;
/// Convolutions and products by the fastest dataflow that the array can run; the others by their roofline.
KernelMethod dataCentricKernels();

/// The array as the model sees it, for operands of so many bytes; says in `assumptions` what is taken for what.
/// Energies are in joules, 0 where the array has none. The memory is left out: MAESTRO's
/// rule for it (every step waits as long as the first) is replaced by the roofline over all bytes of the operator.
FlowHardware flowHardware(const SpatialArrayView& view, double bytesPerWord,
                          std::vector<std::string>* assumptions = nullptr);

/// The dataflows that an array can run: those of its kind, all where it says nothing.
std::vector<const StockDataflow*> dataflowsOf(const SpatialArrayView& view);

/// A nest of an operator as a layer: convolutions and products. Nothing for nests of another form. Depth of 3-D
/// convolutions counts as batch and channels; dilated filters as dense ones.
std::optional<FlowLayer> flowLayer(const NestProblem& nest);

}  // namespace orrery
