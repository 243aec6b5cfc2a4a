#pragma once

// Errors by family of kernels, of those rows of an evaluation that are looked at.

#include "evaluation/evaluation.h"

namespace orrery {

/// By device, kind and variant, in this order; `size` is empty. `chosen`: indices into `rows`.
std::vector<EvaluationGroup> familiesOf(const EvaluatedRows& rows, std::span<const ReferenceTable> tables,
                                        std::span<const std::size_t> chosen);

}  // namespace orrery
