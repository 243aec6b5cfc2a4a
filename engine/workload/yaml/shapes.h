#pragma once

#include "base/diagnostic.h"
#include "workload/graph.h"

namespace orrery {

/// The shape of an operator's one output, where it follows from the inputs: element-wise with broadcasting,
/// normalisation, softmax, matrix products, convolutions. Nothing where it does not follow; fails (without a place)
/// where the inputs do not fit together. Extents must be known.
Expected<std::optional<Shape>> outputShape(const Operator& op, const Graph& graph);

}  // namespace orrery
