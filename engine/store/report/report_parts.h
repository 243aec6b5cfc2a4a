#pragma once

// The pieces of the HTML report; each returns markup that stands alone. For sources of this folder only.

#include "evaluation/reference.h"
#include "methods/method.h"
#include "study/study.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::store {

/// For text and for attributes in double quotes.
std::string escaped(std::string_view text);
std::string_view reportStyle();

/// The class that colours an operator kind (`k0` … `k14`).
std::string kindClass(OperatorKind kind);
/// `batch 8, sequence 2048, fp16 weights`.
std::string optionsText(const Workload& workload);

/// The answers of one scenario.
using Answers = std::vector<const Estimate*>;

std::string intervalsSvg(const Answers& answers);
/// Log-log roofline of the operators; empty if the estimate has no ceilings or no operator that computes.
std::string rooflineSvg(const Scenario& scenario, const Estimate& estimate);
/// One bar per answer, split by operator kind, with a legend.
std::string breakdownHtml(const Scenario& scenario, const Answers& answers);
std::string memoryHtml(const Answers& answers);
std::string operatorsHtml(const Scenario& scenario, const Estimate& estimate, std::size_t most = 20);
std::string methodCardsHtml(const std::vector<std::string>& methods, const Scenario& scenario);

/// What was published for exactly this question: one pass on one device.
std::optional<Reference> measuredFor(const Scenario& scenario);
/// Scenarios × methods with what was measured, why some are not answered, and errors on common scenarios.
std::string overviewHtml(const Study& study, const std::vector<StudyResult>& results);

/// Everything about one scenario.
std::string scenarioHtml(const Scenario& scenario, const std::vector<StudyResult>& results, std::size_t index);

}  // namespace orrery::store
