#include "store/export/exports.h"
#include "store/export/json_parts.h"
#include "store/project/serving_file.h"
#include "store/runs/run_store.h"
#include "store/runs/stored_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace orrery {

namespace {

void readTotals(const JsonValues& json, Workload& workload) {
    workload.id = json.text("id", "");
    workload.name = json.text("name", "");
    workload.recipe.source = json.text("source", "");
    WorkloadOptions& options = workload.recipe.options;
    options.batch = json.whole("batch", options.batch);
    options.sequence = json.whole("sequence", options.sequence);
    options.image = json.whole("image", options.image);
    options.phase = phase(json.text("phase", "")).value_or(options.phase);
    options.setWeights(numberFormat(json.text("weights", "")).value_or(options.weightFormat()));
    options.setActivations(numberFormat(json.text("activations", "")).value_or(options.activationFormat()));
    options.kv = dtype(json.text("kv", "")).value_or(options.kv);
    options.flashAttention = json.truth("flash_attention", options.flashAttention);
    const JsonValues bindings = json.inner("bindings");
    for (const JsonNode& each : bindings.members()) options.bindings[each.key] = bindings.whole(each.key);
    CostTotals& totals = workload.totals;
    totals.operators = json.number("operators", 0.0);
    totals.macs = json.number("macs", 0.0);
    totals.flops = json.number("flops", 0.0);
    totals.parameters = json.number("parameters", 0.0);
    totals.weightBytes = json.number("weight_bytes", 0.0);
    totals.kvBytes = json.number("kv_cache_bytes", 0.0);
    totals.activationBytes = json.number("activation_bytes", 0.0);
}

Expected<Scenario> scenarioFrom(const StoredResult& stored, const Graph* graph) {
    const auto document = store::parseStored(stored.scenarioJson);
    if (!document) return tl::unexpected(document.error());
    std::optional<Diagnostic> problem;
    const JsonValues json(*document, problem);
    json.need({"hardware", "workload"});
    auto hardware = std::make_shared<Hardware>();
    auto workload = std::make_shared<Workload>();
    hardware->name = stored.hardware;
    hardware->description = json.inner("hardware").text("description", "");
    readTotals(json.inner("workload"), *workload);
    if (graph != nullptr) workload->graph = *graph;
    Scenario scenario{std::move(hardware), std::move(workload)};
    if (auto plan = parsePlan(json.text("plan", ""))) scenario.plan = std::move(*plan);
    if (auto software = parseSoftware(json.text("software", ""))) scenario.software = std::move(*software);
    if (json.has("serving")) {
        auto serving = readServing(json.text("serving"));
        if (serving) scenario.task = ServingRun{std::make_shared<const ServingStudy>(std::move(serving->study))};
    } else if (auto task = parseTask(json.text("task", "pass"))) {
        scenario.task = std::move(*task);
    }
    if (problem) return tl::unexpected(std::move(*problem));
    return scenario;
}

}  // namespace

namespace store {

Expected<Diagnostic> failureFrom(const std::string& text) {
    const auto document = parseStored(text);
    if (!document) return tl::unexpected(document.error());
    std::optional<Diagnostic> problem;
    Diagnostic failure = diagnosticFrom({*document, problem});
    if (problem) return tl::unexpected(std::move(*problem));
    return failure;
}

Expected<StudyResult> resultFrom(std::size_t scenario, std::string method, const std::string& estimate,
                                 const std::string& failure) {
    StudyResult result{scenario, std::move(method), nullptr, std::nullopt};
    if (estimate.empty()) {
        auto why = failureFrom(failure);
        if (!why) return tl::unexpected(why.error());
        result.failure = std::move(*why);
    } else {
        auto stored = readEstimateJson(estimate);
        if (!stored) return tl::unexpected(stored.error());
        result.estimate = std::make_shared<const Estimate>(std::move(stored->estimate));
    }
    return result;
}

}  // namespace store

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
    const auto damaged = [run](const Diagnostic& problem) {
        return fail("store.run", fmt::format("run {} cannot be read: {}", run, problem.message), problem.expected,
                    "the run database may be damaged: run the study again", problem.place);
    };
    for (std::size_t i = 0; i < stored->size();) {
        const std::size_t scenario = (*stored)[i].scenarioIndex;
        const std::size_t position = restored.study.scenarios.size();
        WorkloadPtr workload;
        std::size_t end = i;
        for (; end < stored->size() && (*stored)[end].scenarioIndex == scenario; ++end) {
            const StoredResult& each = (*stored)[end];
            StudyResult result{position, each.method, nullptr, std::nullopt};
            if (each.estimateJson.empty()) {
                auto failure = store::failureFrom(each.failureJson);
                if (!failure) return damaged(failure.error());
                result.failure = std::move(*failure);
            } else {
                auto estimate = readEstimateJson(each.estimateJson);
                if (!estimate) return tl::unexpected(estimate.error());
                if (!workload) workload = estimate->workload;
                result.estimate = std::make_shared<const Estimate>(std::move(estimate->estimate));
            }
            restored.results.push_back(std::move(result));
        }
        auto asked = scenarioFrom((*stored)[i], workload ? &workload->graph : nullptr);
        if (!asked) return damaged(asked.error());
        restored.study.scenarios.push_back(std::move(*asked));
        i = end;
    }
    std::stable_sort(restored.results.begin(), restored.results.end(),
                     [&](const StudyResult& a, const StudyResult& b) { return rank(a) < rank(b); });
    return restored;
}

}  // namespace orrery
