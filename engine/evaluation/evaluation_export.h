#pragma once

// An evaluation as files: JSON as resources/schema/evaluation.schema.json says, and its rows as CSV.

#include "evaluation/evaluation.h"
#include "evaluation/side_by_side.h"

#include <span>
#include <string>

namespace orrery {

/// What the reader of a result must know besides the figures.
struct EvaluationContext {
    std::vector<std::string> calibrations;  ///< files; empty: the shipped ones
    std::string where, split;               ///< which rows; may be empty
};

/// How many rows should be off by more than a factor of two, by the chances that their intervals give
/// (chanceOffByTwo()).
double expectedOffByTwo(const EvaluatedRows& rows);

/// Errors are shares (0.03 is 3 %), times are seconds.
std::string evaluationJson(const Evaluation& evaluation, std::span<const ReferenceTable> tables,
                           const EvaluationContext& context);
/// One line per row: device, kind, variant, kernel, measured, predicted, interval, error, intensity, domain,
/// chance of being off by more than a factor of two (empty where there is no interval), place.
std::string evaluationCsv(const Evaluation& evaluation, std::span<const ReferenceTable> tables);

/// Several methods: figures on common rows, with what each has on its own, and why some answer none
/// (resources/schema/side-by-side.schema.json).
std::string sideBySideJson(const SideBySide& all, std::span<const ReferenceTable> tables,
                           const EvaluationContext& context);
/// The rows of all methods below each other: `method`, whether the row is common, then as evaluationCsv().
std::string sideBySideCsv(const SideBySide& all, std::span<const ReferenceTable> tables);
/// The figures as a table of LaTeX (booktabs), best first.
std::string sideBySideTex(const SideBySide& all);

}  // namespace orrery
