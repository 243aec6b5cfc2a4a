#include "store/export/exports.h"
#include "store/export/json_parts.h"
#include "store/project/serving_file.h"
#include "store/runs/run_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace orrery {

namespace {

void readTotals(const store::Json& json, Workload& workload) {
    workload.id = json.value("id", "");
    workload.name = json.value("name", "");
    workload.recipe.source = json.value("source", "");
    WorkloadOptions& options = workload.recipe.options;
    options.batch = json.value("batch", options.batch);
    options.sequence = json.value("sequence", options.sequence);
    options.image = json.value("image", options.image);
    options.phase = phase(json.value("phase", "")).value_or(options.phase);
    options.weights = dtype(json.value("weights", "")).value_or(options.weights);
    options.activations = dtype(json.value("activations", "")).value_or(options.activations);
    options.kv = dtype(json.value("kv", "")).value_or(options.kv);
    options.flashAttention = json.value("flash_attention", options.flashAttention);
    if (json.contains("bindings")) {
        for (const auto& [symbol, value] : json.at("bindings").items()) options.bindings[symbol] = value;
    }
    CostTotals& totals = workload.totals;
    totals.operators = json.value("operators", 0.0);
    totals.macs = json.value("macs", 0.0);
    totals.flops = json.value("flops", 0.0);
    totals.parameters = json.value("parameters", 0.0);
    totals.weightBytes = json.value("weight_bytes", 0.0);
    totals.kvBytes = json.value("kv_cache_bytes", 0.0);
    totals.activationBytes = json.value("activation_bytes", 0.0);
}

Scenario scenarioFrom(const StoredResult& stored, const Graph* graph) {
    auto hardware = std::make_shared<Hardware>();
    auto workload = std::make_shared<Workload>();
    const auto json = store::Json::parse(stored.scenarioJson);
    hardware->name = stored.hardware;
    hardware->description = json.at("hardware").value("description", "");
    readTotals(json.at("workload"), *workload);
    if (graph != nullptr) workload->graph = *graph;
    Scenario scenario{std::move(hardware), std::move(workload)};
    if (auto plan = parsePlan(json.value("plan", ""))) scenario.plan = std::move(*plan);
    if (json.contains("serving")) {
        auto serving = readServing(json.at("serving").get<std::string>());
        if (serving) scenario.task = ServingRun{std::make_shared<const ServingStudy>(std::move(serving->study))};
    } else if (auto task = parseTask(json.value("task", "pass"))) {
        scenario.task = std::move(*task);
    }
    return scenario;
}

}  // namespace

Expected<RestoredRun> restoreRun(RunStore& store, std::int64_t run) {
    const auto runs = store.runs();
    if (!runs) return tl::unexpected(runs.error());
    const auto found = std::find_if(runs->begin(), runs->end(), [&](const StoredRun& each) { return each.id == run; });
    if (found == runs->end()) {
        std::string known;
        for (const StoredRun& each : *runs) known += fmt::format("{}{}", known.empty() ? "" : ", ", each.id);
        return fail("store.run", fmt::format("there is no run {}", run),
                    known.empty() ? "a run; the database has none" : fmt::format("one of {}", known));
    }
    const auto stored = store.results(run);
    if (!stored) return tl::unexpected(stored.error());
    RestoredRun restored;
    restored.study.name = found->name;
    restored.study.methods = found->methods;
    restored.study.seed = found->seed;
    const auto rank = [&](const StudyResult& result) {
        const auto& methods = found->methods;
        return std::pair(result.scenario, std::find(methods.begin(), methods.end(), result.method) - methods.begin());
    };
    try {
        for (std::size_t i = 0; i < stored->size();) {
            const std::size_t scenario = (*stored)[i].scenarioIndex;
            const std::size_t position = restored.study.scenarios.size();
            WorkloadPtr workload;
            std::size_t end = i;
            for (; end < stored->size() && (*stored)[end].scenarioIndex == scenario; ++end) {
                const StoredResult& each = (*stored)[end];
                StudyResult result{position, each.method, nullptr, std::nullopt};
                if (each.estimateJson.empty()) {
                    result.failure = store::diagnosticFrom(store::Json::parse(each.failureJson));
                } else {
                    auto estimate = readEstimateJson(each.estimateJson);
                    if (!estimate) return tl::unexpected(estimate.error());
                    if (!workload) workload = estimate->workload;
                    result.estimate = std::make_shared<const Estimate>(std::move(estimate->estimate));
                }
                restored.results.push_back(std::move(result));
            }
            restored.study.scenarios.push_back(scenarioFrom((*stored)[i], workload ? &workload->graph : nullptr));
            i = end;
        }
    } catch (const nlohmann::json::exception& error) {
        return fail("store.run", fmt::format("run {} cannot be read: {}", run, error.what()), "",
                    "the run database may be damaged: run the study again");
    }
    std::stable_sort(restored.results.begin(), restored.results.end(),
                     [&](const StudyResult& a, const StudyResult& b) { return rank(a) < rank(b); });
    return restored;
}

}  // namespace orrery
