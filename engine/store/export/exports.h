#pragma once

#include "study/study.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The `run` contract, see resources/schema/run.schema.json: `scenario`, `estimates[]` and `failures[]` of a study of
/// one scenario; of several, `runs[]` of such objects (study.schema.json), of more than 64 without their operators.
/// Keys carry their unit; absent means not predicted.
std::string runJson(const Study& study, const std::vector<StudyResult>& results);
std::string scenarioJson(const Scenario& scenario);
std::string estimateJson(const Scenario& scenario, const Estimate& estimate);
/// The `import` contract, see resources/schema/import.schema.json.
std::string importJson(const Workload& workload);

/// What estimateJson wrote, read again: the estimate with its exact numbers, and a reduced workload with the names,
/// types, kinds and repeats of its operators (all that exports need). Fails on text that is no such JSON.
struct StoredEstimate {
    Estimate estimate;
    WorkloadPtr workload;
};
Expected<StoredEstimate> readEstimateJson(std::string_view json);

/// One row per scenario × method (RFC 4180: CRLF, quotes doubled). Empty cells are what is not predicted.
std::string comparisonCsv(const Study& study, const std::vector<StudyResult>& results);
/// One row per operator of one estimate.
std::string operatorsCsv(const Scenario& scenario, const Estimate& estimate);
/// Chrome/Perfetto trace events (microseconds, exact to the picosecond) of an estimate's timeline: one process per
/// device (what stands before `/` in a row's name, else the hardware), one thread per row.
std::string chromeTrace(const Scenario& scenario, const Estimate& estimate);
/// A self-contained page (no script, nothing fetched): question, answers with intervals, roofline as inline SVG,
/// breakdown, operators, memory, assumptions, warnings, method cards, provenance. A study of more than eight scenarios
/// has details of the first eight and a table of all.
std::string reportHtml(const Study& study, const std::vector<StudyResult>& results);

}  // namespace orrery
