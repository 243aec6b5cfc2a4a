#pragma once

// An evaluation as files: JSON as resources/schema/evaluation.schema.json says, and its rows as CSV.

#include "evaluation/evaluation.h"

#include <span>
#include <string>

namespace orrery {

/// What the reader of a result must know besides the figures.
struct EvaluationContext {
    std::vector<std::string> calibrations;  ///< files; empty: the shipped ones
    std::string where, split;               ///< which rows; may be empty
};

/// Errors are shares (0.03 is 3 %), times are seconds.
std::string evaluationJson(const Evaluation& evaluation, std::span<const ReferenceTable> tables,
                           const EvaluationContext& context);
/// One line per row: device, kind, variant, kernel, measured, predicted, interval, error, intensity, domain, place.
std::string evaluationCsv(const Evaluation& evaluation, std::span<const ReferenceTable> tables);

}  // namespace orrery
