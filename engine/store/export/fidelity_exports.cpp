#include "store/export/fidelity_exports.h"

#include "evaluation/width_shares.h"
#include "store/export/exports.h"
#include "store/export/json_parts.h"

namespace orrery {

namespace {

using store::Json;
using store::put;

Json headOf(const Scenario& scenario, const char* kind) {
    Json json;
    json["format"] = "orrery-fidelity";
    json["version"] = 1;
    json["kind"] = kind;
    json["question"] = scenario.name();
    return json;
}

Json sidesOf(double latency, double low, double high) {
    Json json;
    put(json, "latency_s", latency);
    put(json, "low_s", low);
    put(json, "high_s", high);
    return json;
}

Json widthsOf(const Scenario& scenario, const Estimate& estimate) {
    const WidthShares shares = widthShares(estimate);
    Json json;
    put(json, "half_width", shares.half);
    put(json, "independent", shares.independent);
    put(json, "common", shares.common);
    json["operators"] = Json::array();
    for (const WidthShare& each : shares.operators) {
        Json one;
        one["operator"] = scenario.workload->graph.operators[static_cast<std::size_t>(each.op)].name;
        put(one, "seconds_s", each.seconds);
        put(one, "share_of_variance", each.share);
        put(one, "half_width_without", each.half);
        json["operators"].push_back(std::move(one));
    }
    return json;
}

}  // namespace

std::string ladderJson(const Scenario& scenario, const LadderAnswer& ladder) {
    Json json = headOf(scenario, "ladder");
    json["steps"] = Json::array();
    const LadderStep* last = ladder.last();
    for (std::size_t i = 0; i < ladder.steps.size(); ++i) {
        const LadderStep& step = ladder.steps[i];
        Json one;
        one["method"] = step.method;
        if (step.stated) put(one, "stated_s", *step.stated);
        if (step.estimate) {
            const Estimate& e = *step.estimate;
            put(one, "took_s", e.cost.value);
            one["answer"] = sidesOf(e.latency.value, e.interval.low.value, e.interval.high.value);
            one["bound"] = e.interval.kind == IntervalKind::Bound;
            if (last && last->soFar && i < last->soFar->weights.size()) put(one, "weight", last->soFar->weights[i]);
        }
        if (step.failure) one["failure"] = store::diagnosticJson(*step.failure);
        if (step.soFar) one["so_far"] = sidesOf(step.soFar->latency, step.soFar->low, step.soFar->high);
        json["steps"].push_back(std::move(one));
    }
    json["not_asked"] = ladder.notAsked;
    put(json, "took_s", ladder.seconds);
    if (last && last->soFar) {
        json["combined"] = sidesOf(last->soFar->latency, last->soFar->low, last->soFar->high);
        put(json["combined"], "spread", last->soFar->spread);
    }
    return store::dumped(json) + "\n";
}

std::string budgetJson(const Scenario& scenario, const BudgetAnswer& answer) {
    Json json = headOf(scenario, "budget");
    const Estimate& e = answer.estimate;
    json["answer"] = sidesOf(e.latency.value, e.interval.low.value, e.interval.high.value);
    json["full"] = sidesOf(e.latency.value, answer.fullLow, answer.fullHigh);
    json["complete"] = answer.complete;
    json["ended"] = answer.ended;
    json["kernels"] = answer.kernels;
    put(json, "launches", answer.launches);
    put(json, "stated_s", answer.stated);
    put(json, "took_s", answer.seconds);
    put(json, "full_stated_once_s", answer.statedOnce);
    put(json, "full_stated_each_s", answer.statedEach);
    json["asked"] = Json::array();
    for (const BudgetAsked& each : answer.asked) {
        Json one;
        one["method"] = each.method;
        one["kernels"] = each.kernels;
        put(one, "launches", each.launches);
        put(one, "stated_s", each.stated);
        put(one, "took_s", each.seconds);
        one["full_for"] = each.kinds;
        json["asked"].push_back(std::move(one));
    }
    json["families"] = Json::array();
    for (const BudgetFamily& each : answer.families) {
        Json one;
        one["family"] = each.name;
        one["control"] = each.control;
        one["kernels"] = each.kernels;
        one["asked"] = each.asked;
        put(one, "share_not_asked", each.share);
        put(one, "ratio", each.ratio);
        put(one, "ratio_low", each.low);
        put(one, "ratio_high", each.high);
        json["families"].push_back(std::move(one));
    }
    json["steps"] = Json::array();
    for (const BudgetStep& step : answer.steps) {
        Json one;
        one["asked"] = step.asked;
        put(one, "stated_s", step.stated);
        one["kernels"] = step.kernels;
        one["so_far"] = sidesOf(step.latency, step.low, step.high);
        one["full"] = sidesOf(step.latency, step.fullLow, step.fullHigh);
        json["steps"].push_back(std::move(one));
    }
    json["widest"] = widthsOf(scenario, e);
    return store::dumped(json) + "\n";
}

std::string adviceJson(const Scenario& scenario, const AdviceAnswer& answer) {
    Json json;
    json["format"] = "orrery-advice";
    json["version"] = 1;
    json["question"] = scenario.name();
    json["device"] = answer.device;
    json["kinds"] = answer.kinds;
    json["rows"] = answer.rows;
    json["rows_of_this_device"] = answer.sameDeviceRows;
    json["rows_ranked_on"] = answer.commonRows;
    if (!answer.gap.empty()) json["gap"] = answer.gap;
    json["methods"] = Json::array();
    for (const Advice& each : answer.methods) {
        Json one;
        one["method"] = each.method;
        one["title"] = each.title;
        one["methodology"] = toText(each.methodology);
        one["verdict"] = toText(each.verdict);
        one["reasons"] = each.reasons;
        one["failure_mode"] = each.failureMode;
        one["needs"] = each.needs;
        one["evidence"] = Json::array();
        for (const AdviceEvidence& e : each.evidence) {
            Json row;
            row["what"] = e.what;
            row["rows"] = e.rows;
            row["out_of"] = e.outOf;
            put(row, "mape", e.mape);
            put(row, "bias", e.bias);
            put(row, "coverage90", e.coverage90);
            row["same_device"] = e.sameDevice;
            one["evidence"].push_back(std::move(row));
        }
        if (each.answer) {
            const Estimate& e = *each.answer;
            one["answer"] = sidesOf(e.latency.value, e.interval.low.value, e.interval.high.value);
            put(one, "expected_error", each.expectedError);
        }
        if (each.comparedError) put(one, "mape_on_ranked_rows", *each.comparedError);
        if (each.stated) put(one, "stated_s", *each.stated);
        if (each.measured) put(one, "took_s", *each.measured);
        if (!each.decides.empty()) one["decides"] = each.decides;
        json["methods"].push_back(std::move(one));
    }
    return store::dumped(json) + "\n";
}

}  // namespace orrery
