#pragma once

// The roofline of one operator, term by term: its work and bytes, what the device does of each per second, the ridge
// point between them, and which of the two times is the longer one.

#include "methods/model/explain.h"

namespace orrery {

/// One story: the operator's row of the cost table, or that of the fused kernel it is part of. `bound` of it is true.
/// Empty where nothing is launched for it. Fails as the roofline itself does.
Expected<std::vector<ExplainedKernel>> explainRoofline(const Scenario& scenario, const MethodChoice& choice,
                                                       std::size_t op);

}  // namespace orrery
