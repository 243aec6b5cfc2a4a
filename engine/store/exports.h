#pragma once

#include "study/study.h"

#include <string>
#include <vector>

namespace orrery {

/// The `run` contract, see resources/schema/run.schema.json. Keys carry their unit; absent means not predicted.
std::string runJson(const Study& study, const std::vector<StudyResult>& results);
std::string estimateJson(const Scenario& scenario, const Estimate& estimate);
/// The `import` contract, see resources/schema/import.schema.json.
std::string importJson(const Workload& workload);
/// One row per scenario × method.
std::string comparisonCsv(const Study& study, const std::vector<StudyResult>& results);
/// One row per operator of one estimate.
std::string operatorsCsv(const Scenario& scenario, const Estimate& estimate);
/// Chrome/Perfetto trace events (microseconds) of an estimate's timeline.
std::string chromeTrace(const Scenario& scenario, const Estimate& estimate);
/// A self-contained page: question, answers with intervals, roofline as inline SVG, operators, assumptions, warnings.
std::string reportHtml(const Study& study, const std::vector<StudyResult>& results);

}  // namespace orrery
