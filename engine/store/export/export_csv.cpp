#include "store/export/csv_row.h"
#include "store/export/export_parts.h"
#include "store/export/exports.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace orrery {

using Row = store::CsvRow;

namespace {

double sum(const std::vector<double>& column) {
    return std::accumulate(column.begin(), column.end(), 0.0);
}

void addEstimate(Row& row, const Estimate& estimate) {
    row.add(estimate.latency.value).add(estimate.interval.low.value).add(estimate.interval.high.value);
    row.add(store::toText(estimate.interval.kind));
    estimate.energy ? row.add(estimate.energy->value) : row.skip();
    if (const auto& memory = estimate.memory) {
        row.add(memory->total().value).add(memory->weights.value).add(memory->kvCache.value);
        row.add(memory->activations.value);
    } else {
        row.skip().skip().skip().skip();
    }
    row.add(sum(estimate.operators.flops)).add(sum(estimate.operators.bytes));
    row.add(estimate.cost.value).add(static_cast<double>(estimate.warnings.size())).skip();
}

}  // namespace

std::string comparisonCsv(const Study& study, const std::vector<StudyResult>& results) {
    std::string out =
        "scenario,hardware,workload,batch,sequence,phase,method,latency_s,latency_low_s,latency_high_s,interval_kind,"
        "energy_j,memory_bytes,weights_bytes,kv_cache_bytes,activations_bytes,flops,bytes,cost_s,warnings,failure\r\n";
    for (const StudyResult& result : results) {
        if (result.scenario >= study.scenarios.size()) continue;
        const Scenario& scenario = study.scenarios[result.scenario];
        Row row;
        row.add(scenario.name()).add(scenario.hardware ? scenario.hardware->name : std::string());
        if (scenario.workload) {
            const WorkloadOptions& options = scenario.workload->recipe.options;
            row.add(scenario.workload->name).add(static_cast<double>(options.batch));
            options.sequence > 0 ? row.add(static_cast<double>(options.sequence)) : row.skip();
            row.add(toText(options.phase));
        } else {
            row.skip().skip().skip().skip();
        }
        row.add(result.method);
        if (result.estimate) {
            addEstimate(row, *result.estimate);
        } else {
            for (int i = 0; i < 13; ++i) row.skip();
            row.add(result.failure ? result.failure->message : std::string("no answer"));
        }
        out += row.line();
    }
    return out;
}

std::string operatorsCsv(const Scenario& scenario, const Estimate& estimate) {
    const OperatorEstimates& columns = estimate.operators;
    Row head;
    for (const std::string_view name : {"index", "name", "type", "kind", "block", "repeat", "latency_s",
                                        "share_of_time", "bound", "flops", "bytes", "intensity_flop_per_byte"}) {
        head.add(name);
    }
    for (std::size_t level = 0; level < columns.levelBytes.size(); ++level) {
        const std::string name =
            level < estimate.levels.size() ? estimate.levels[level] : fmt::format("level{}", level);
        head.add(fmt::format("{}_bytes", name));
    }
    if (!columns.joules.empty()) head.add(std::string_view("energy_j"));
    std::string out = head.line();
    const double total = sum(columns.seconds);
    const auto at = [](const std::vector<double>& column, std::size_t i) {
        return i < column.size() ? column[i] : NAN;
    };
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto label = store::operatorLabel(scenario, i);
        const double flops = at(columns.flops, i), bytes = at(columns.bytes, i);
        Row row;
        row.add(static_cast<double>(i)).add(label.name).add(label.type).add(toText(label.kind)).add(label.block);
        row.add(static_cast<double>(label.repeat)).add(columns.seconds[i]);
        row.add(total > 0 ? columns.seconds[i] / total : 0.0).add(store::boundText(estimate, i));
        row.add(flops).add(bytes);
        bytes > 0 ? row.add(flops / bytes) : row.skip();
        for (const auto& level : columns.levelBytes) row.add(at(level, i));
        if (!columns.joules.empty()) row.add(at(columns.joules, i));
        out += row.line();
    }
    return out;
}

}  // namespace orrery
