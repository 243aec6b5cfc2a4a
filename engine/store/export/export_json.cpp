#include "base/unit.h"
#include "store/export/exports.h"
#include "store/export/json_parts.h"
#include "store/project/serving_file.h"
#include "study/best_first.h"

#include <cmath>
#include <span>
#include <utility>

namespace orrery {

namespace {

using store::Json;
using store::put;

// A study of more scenarios is written without operators and timelines: it would be gigabytes that nobody reads at
// once.
constexpr std::size_t mostWhole = 64;

Json workloadJson(const Workload& workload) {
    const WorkloadOptions& options = workload.recipe.options;
    Json json{{"id", workload.id}, {"name", workload.name}, {"source", workload.recipe.source}};
    json["batch"] = options.batch;
    if (options.sequence > 0) json["sequence"] = options.sequence;
    if (options.image > 0) json["image"] = options.image;
    json["phase"] = toText(options.phase);
    json["weights"] = toText(options.weightFormat());
    json["activations"] = toText(options.activationFormat());
    json["kv"] = toText(options.kv);
    json["flash_attention"] = options.flashAttention;
    if (!options.bindings.empty()) json["bindings"] = options.bindings;
    for (const WhatIf& change : workload.recipe.whatIfs) json["what_if"].push_back(toText(change));
    put(json, "operators", workload.totals.operators);
    put(json, "macs", workload.totals.macs);
    put(json, "flops", workload.totals.flops);
    put(json, "parameters", workload.totals.parameters);
    put(json, "weight_bytes", workload.totals.weightBytes);
    put(json, "kv_cache_bytes", workload.totals.kvBytes);
    put(json, "activation_bytes", workload.totals.activationBytes);
    return json;
}

Json scenarioObject(const Scenario& scenario) {
    Json json{{"name", scenario.name()}};
    Json hardware{{"name", scenario.hardware ? scenario.hardware->name : ""}};
    if (scenario.hardware && !scenario.hardware->description.empty()) {
        hardware["description"] = scenario.hardware->description;
    }
    json["hardware"] = std::move(hardware);
    json["workload"] = scenario.workload ? workloadJson(*scenario.workload) : Json::object();
    json["task"] = toText(scenario.task);
    if (scenario.plan.split() || !scenario.plan.placement.empty()) json["plan"] = toText(scenario.plan);
    if (!scenario.software.empty()) json["software"] = toText(scenario.software);
    if (const auto* run = std::get_if<ServingRun>(&scenario.task); run && run->study) {
        json["serving"] = writeServing(*run->study);
    }
    return json;
}

Json operatorJson(const Scenario& scenario, const Estimate& estimate, std::size_t i) {
    const OperatorEstimates& columns = estimate.operators;
    const auto label = store::operatorLabel(scenario, i);
    Json json{{"name", label.name}, {"type", label.type}, {"kind", toText(label.kind)}, {"repeat", label.repeat}};
    if (!label.block.empty()) json["block"] = label.block;
    put(json, "latency_s", columns.seconds[i]);
    if (i < columns.bound.size() && columns.bound[i].kind != BoundKind::None) {
        json["bound"] = store::toText(columns.bound[i].kind);
        if (columns.bound[i].level >= 0) json["bound_level"] = columns.bound[i].level;
    }
    if (i < columns.flops.size()) put(json, "flops", columns.flops[i]);
    if (i < columns.bytes.size()) put(json, "bytes", columns.bytes[i]);
    if (!columns.levelBytes.empty()) {
        Json levels = Json::array();
        for (const auto& level : columns.levelBytes) levels.push_back(store::number(i < level.size() ? level[i] : 0));
        json["level_bytes"] = std::move(levels);
    }
    if (i < columns.joules.size()) put(json, "energy_j", columns.joules[i]);
    return json;
}

// A fraction is written as such, so it has no unit; only its print is in percent.
std::string unitOf(const Figure& figure) {
    if (!figure.unit.empty() || figure.dimension == Dimension::Fraction) return figure.unit;
    return std::string(baseUnit(figure.dimension));
}

Json timelineJson(const Timeline& timeline) {
    Json spans = Json::array();
    for (const TimelineSpan& span : timeline.spans) {
        Json json{{"row", span.row}, {"start_ps", span.startPs}, {"end_ps", span.endPs}};
        if (span.op >= 0) json["operator"] = span.op;
        if (span.op < SpanIdle) json["work"] = store::workText(span.op);
        if (span.repetition != 0) json["repetition"] = span.repetition;
        spans.push_back(std::move(json));
    }
    return {{"rows", timeline.rows}, {"spans", std::move(spans)}, {"truncated", timeline.truncated}};
}

Json networkUseJson(const NetworkUse& use) {
    Json rows = Json::array();
    for (const NetworkUse::Row& row : use.rows)
        rows.push_back({{"component", row.path}, {"what", row.what}, {"busy", row.busy}});
    return {{"span_s", use.spanSeconds}, {"rows", std::move(rows)}};
}

Json ceilingsJson(const Estimate& estimate) {
    Json list = Json::array();
    for (const Ceiling& ceiling : estimate.ceilings) {
        Json json{{"label", ceiling.label}};
        put(json, ceiling.memory ? "rate_bytes_per_s" : "rate_flop_per_s", ceiling.rate);
        if (ceiling.level >= 0) json["level"] = ceiling.level;
        list.push_back(std::move(json));
    }
    return list;
}

Json partsJson(const std::vector<UsedParts::Part>& parts) {
    Json list = Json::array();
    for (const UsedParts::Part& part : parts) {
        Json row{{"component", part.path}};
        if (!part.attributes.empty()) row["attributes"] = part.attributes;
        list.push_back(std::move(row));
    }
    return list;
}

Json estimateObject(const Scenario& scenario, const Estimate& estimate, bool whole = true) {
    Json json{{"method", estimate.method}};
    put(json, "latency_s", estimate.latency.value);
    put(json, "latency_low_s", estimate.interval.low.value);
    put(json, "latency_high_s", estimate.interval.high.value);
    json["interval_kind"] = store::toText(estimate.interval.kind);
    json["interval_basis"] = estimate.interval.basis;
    if (estimate.bound) put(json, "bound_s", estimate.bound->value);
    if (estimate.support) {
        const Support& support = *estimate.support;
        Json said{{"what", support.what}};
        put(said, "error", support.error);
        put(said, "outside", support.outside);
        put(said, "edge", support.edge);
        put(said, "unmeasured", support.unmeasured);
        json["support"] = std::move(said);
    }
    if (estimate.energy) put(json, "energy_j", estimate.energy->value);
    if (estimate.memory) {
        const MemoryUse& use = *estimate.memory;
        put(json, "memory_bytes", use.total().value);
        Json memory = Json::object();
        put(memory, "weights_bytes", use.weights.value);
        put(memory, "kv_cache_bytes", use.kvCache.value);
        put(memory, "activations_bytes", use.activations.value);
        if (use.capacity.value > 0) put(memory, "capacity_bytes", use.capacity.value);
        json["memory"] = std::move(memory);
    }
    json["figures"] = Json::array();
    for (const Figure& figure : estimate.figures) {
        if (!std::isfinite(figure.value)) continue;
        Json row{{"label", figure.label},
                 {"value", store::number(figure.value)},
                 {"unit", unitOf(figure)},
                 {"dimension", toText(figure.dimension)}};
        if (figure.interval) {
            row["low"] = store::number(figure.interval->first);
            row["high"] = store::number(figure.interval->second);
            row["basis"] = figure.basis;
        }
        json["figures"].push_back(std::move(row));
    }
    if (estimate.bound) put(json, "bound_s", estimate.bound->value);
    json["used"] = partsJson(estimate.parts.used);
    json["ignored"] = partsJson(estimate.parts.ignored);
    put(json, "cost_s", estimate.cost.value);
    json["warnings"] = store::diagnosticsJson(estimate.warnings);
    json["assumptions"] = estimate.assumptions;
    json["levels"] = estimate.levels;
    json["ceilings"] = ceilingsJson(estimate);
    if (whole) {
        json["operators"] = Json::array();
        for (std::size_t i = 0; i < estimate.operators.size(); ++i) {
            json["operators"].push_back(operatorJson(scenario, estimate, i));
        }
    }
    if (whole && !estimate.timeline.spans.empty()) json["timeline"] = timelineJson(estimate.timeline);
    if (whole && !estimate.networkUse.rows.empty()) json["network_use"] = networkUseJson(estimate.networkUse);
    const Provenance& from = estimate.provenance;
    json["provenance"] = {{"method", from.method},
                          {"version", from.version},
                          {"hardware_hash", from.hardwareHash},
                          {"workload_hash", from.workloadHash},
                          {"seed", from.seed},
                          {"task", from.task},
                          {"plan", from.plan}};
    if (!from.taskHash.empty()) json["provenance"]["task_hash"] = from.taskHash;
    return json;
}

// The keys of one scenario with its answers, added to an object.
void addRun(Json& json, const Study& study, std::size_t index, std::span<const StudyResult> results) {
    const bool whole = study.scenarios.size() <= mostWhole;
    const Scenario& scenario = study.scenarios[index];
    json["scenario"] = scenarioObject(scenario);
    json["estimates"] = Json::array();
    json["failures"] = Json::array();
    const std::vector<StudyResult> here(results.begin(), results.end());
    if (const ScenarioRanking ranking = rankScenario(here, index); ranking.best) {
        json["best"] = {{"method", here[*ranking.best].method}, {"reason", ranking.reason}};
        if (ranking.bound) put(json["best"], "bound_s", ranking.bound->value);
    }
    for (const StudyResult& result : results) {
        if (result.scenario != index) continue;
        if (result.estimate) {
            json["estimates"].push_back(estimateObject(scenario, *result.estimate, whole));
        } else if (result.failure) {
            Json failure{{"method", result.method}};
            failure.update(store::diagnosticJson(*result.failure));
            json["failures"].push_back(std::move(failure));
        }
    }
}

}  // namespace

std::string scenarioJson(const Scenario& scenario) {
    return store::dumped(scenarioObject(scenario), -1);
}

std::string estimateJson(const Scenario& scenario, const Estimate& estimate) {
    return store::dumped(estimateObject(scenario, estimate), -1);
}

std::string runJson(const Study& study, const std::vector<StudyResult>& results) {
    const bool single = study.scenarios.size() == 1;
    Json json{
        {"format", single ? "orrery-run" : "orrery-study"}, {"version", 1}, {"program", "Orrery " ORRERY_VERSION}};
    if (single) {
        addRun(json, study, 0, results);
    } else {
        json["name"] = study.name;
        json["runs"] = Json::array();
        // Sorted by scenario once: looking through all results for each would be quadratic.
        std::vector<std::vector<StudyResult>> byScenario(study.scenarios.size());
        for (const StudyResult& result : results) {
            if (result.scenario < byScenario.size()) byScenario[result.scenario].push_back(result);
        }
        for (std::size_t i = 0; i < study.scenarios.size(); ++i) {
            Json run = Json::object();
            addRun(run, study, i, byScenario[i]);
            json["runs"].push_back(std::move(run));
        }
    }
    return store::dumped(json) + "\n";
}

std::string importJson(const Workload& workload) {
    const CostTotals& totals = workload.totals;
    Json json{{"format", "orrery-import"}, {"version", 1}, {"program", "Orrery " ORRERY_VERSION}};
    json["name"] = workload.name;
    json["source"] = workload.recipe.source;
    put(json, "operators", totals.operators);
    put(json, "macs", totals.macs);
    put(json, "flops", totals.flops);
    put(json, "parameters", totals.parameters);
    put(json, "weight_bytes", totals.weightBytes);
    put(json, "activation_bytes", totals.activationBytes);
    put(json, "peak_activation_bytes", totals.peakActivationBytes);
    put(json, "kv_cache_bytes", totals.kvBytes);
    put(json, "unresolved", totals.unresolved);
    if (!workload.recipe.options.bindings.empty()) json["bindings"] = workload.recipe.options.bindings;
    for (const WhatIf& change : workload.recipe.whatIfs) json["what_if"].push_back(toText(change));
    Json kinds = Json::array();
    for (int kind = 0; kind < operatorKindCount; ++kind) {
        double executed = 0, macs = 0, flops = 0;
        for (std::size_t i = 0; i < workload.costs.size(); ++i) {
            if (workload.costs.kind[i] != static_cast<OperatorKind>(kind)) continue;
            executed += workload.costs.repeat[i];
            macs += workload.costs.macs[i] * workload.costs.repeat[i];
            flops += workload.costs.flops[i] * workload.costs.repeat[i];
        }
        if (executed == 0) continue;
        Json row{{"kind", toText(static_cast<OperatorKind>(kind))}};
        put(row, "operators", executed);
        put(row, "macs", macs);
        put(row, "flops", flops);
        kinds.push_back(std::move(row));
    }
    json["kinds"] = std::move(kinds);
    json["warnings"] = store::diagnosticsJson(workload.warnings);
    return store::dumped(json) + "\n";
}

}  // namespace orrery
