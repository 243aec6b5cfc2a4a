#include "methods/method.h"

#include "methods/adapter/adapter_method.h"
#include "methods/answer/answer.h"
#include "methods/answer/own_type.h"
#include "methods/one_operator.h"
#include "methods/provenance.h"
#include "methods/system/plan_proposal.h"
#include "methods/system/serving_method.h"
#include "methods/system/spread.h"
#include "methods/system/training/estimate_training.h"
#include "serving/fields/study_hash.h"
#include "serving/serving_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <exception>
#include <new>

namespace orrery {

namespace {

// Only a method's own slip can break these, so they are for debug builds alone.
[[maybe_unused]] bool consistent(const Estimate& e, const Scenario& scenario) {
    const auto& ops = e.operators;
    const auto rows = ops.size();
    bool ok = std::isfinite(e.latency.value) && e.latency.value >= 0;
    ok = ok && e.interval.low <= e.latency && e.latency <= e.interval.high && !e.interval.basis.empty();
    // Nothing is said of operators of a serving run, or by a method that knows the whole alone.
    ok = ok && (rows == scenario.workload->costs.size() || rows == 0 || kindOf(scenario.task) == TaskKind::ServingRun);
    ok = ok && ops.bound.size() == rows && ops.flops.size() == rows && ops.bytes.size() == rows;
    ok = ok && (ops.joules.empty() || ops.joules.size() == rows);
    for (const auto& level : ops.levelBytes) ok = ok && level.size() == rows;
    for (const auto& bound : ops.bound) ok = ok && bound.level < static_cast<int>(e.levels.size());
    return ok;
}

// A kernel or model method answers every task by filling a slot: of the one operator's workload, of the serving
// simulation, of the plan over drawn links.
Expected<Estimate> answerOf(const Method& method, const Scenario& scenario, EstimateContext& context) {
    const bool system = method.card.level == MethodLevel::System;
    switch (kindOf(scenario.task)) {
        case TaskKind::OneOperator:
            return estimateOneOperator(method, scenario, context);
        case TaskKind::ServingRun:
            if (!system) return estimateServing(scenario, context, toText(method.card, context.options));
            break;
        default:
            break;
    }
    if (needsTrainingRun(scenario, method) || namesStack(scenario, method, context))
        return estimateTrainingStep(method, scenario, context);
    if (needsSystem(scenario, method)) return estimateSpread(method, scenario, context);
    auto answer = method.estimate(scenario, context);
    if (!answer) return answer;
    reachOverSoftware(method, scenario, context, *answer);
    proposePlanInHint(*answer, scenario);
    return answer;
}

Unexpected thrown(const MethodCard& card, const char* what) {
    return fail("method.failed", "method " + std::string(card.id) + " could not answer: " + what, {},
                "Report this with the project file: a method should refuse with a reason instead");
}

}  // namespace

std::string_view toText(Methodology methodology) {
    switch (methodology) {
        case Methodology::Analytical:
            return "analytical";
        case Methodology::CycleAccurate:
            return "cycle-accurate";
        case Methodology::TraceDriven:
            return "trace-driven";
        case Methodology::Learned:
            return "learned";
        case Methodology::Hybrid:
            return "hybrid";
    }
    return "not stated";
}

std::string_view toText(MethodLevel level) {
    switch (level) {
        case MethodLevel::Kernel:
            return "kernel";
        case MethodLevel::Model:
            return "model";
        case MethodLevel::System:
            return "system";
    }
    return "unknown";
}

bool MethodCard::answers(TaskKind kind) const {
    return std::find(tasks.begin(), tasks.end(), kind) != tasks.end();
}

std::string Scenario::name() const {
    std::string text = workload ? workload->name : "no workload";
    const auto kind = kindOf(task);
    if (kind == TaskKind::TrainingStep) {
        text = "Training step of " + text;
    } else if (const auto* one = std::get_if<OneOperator>(&task)) {
        text = one->name + " of " + text;
    } else if (const auto* run = std::get_if<ServingRun>(&task)) {
        text = run->study ? run->study->name : "Serving of " + text;
    } else if (workload && workload->recipe.options.phase != Phase::Forward) {
        const auto word = toText(workload->recipe.options.phase);
        if (text.find(word) == std::string::npos) text.append(" ").append(word);
    }
    text += " on " + (hardware ? hardware->name : "no hardware");
    if (plan.split()) text += ", " + toText(plan);
    return software.empty() ? text : text + ", " + toText(software);
}

const Method* findMethod(std::string_view idOrChoice) {
    const auto id = idOrChoice.substr(0, idOrChoice.find('('));
    for (const auto all : {builtinMethods(), adapterMethods()}) {
        const auto found = std::find_if(all.begin(), all.end(), [id](const Method& m) { return m.card.id == id; });
        if (found != all.end()) return &*found;
    }
    return nullptr;
}

Expected<Estimate> estimate(const Method& method, const Scenario& scenario, EstimateContext& context) {
    if (!scenario.hardware || !scenario.workload) {
        return fail("scenario.incomplete",
                    std::string("the scenario has no ") + (scenario.hardware ? "workload" : "hardware"),
                    "one hardware design and one workload", "Choose both in the library");
    }
    if (!method.card.answers(kindOf(scenario.task))) {
        std::string known;
        for (const TaskKind kind : method.card.tasks) known.append(known.empty() ? "" : ", ").append(toText(kind));
        std::string asked(toText(kindOf(scenario.task)));
        std::replace(asked.begin(), asked.end(), '-', ' ');
        return fail("method.not-applicable", fmt::format("{} does not answer a {}", method.card.title, asked),
                    "one of " + known, "`orrery-cli methods` says what each method answers");
    }
    const auto* run = std::get_if<ServingRun>(&scenario.task);
    if (run && !run->study) {
        return fail("scenario.incomplete", "the serving run has no study", "who serves, and what arrives",
                    "open a file of serving");
    }
    if (context.stop.stop_requested()) return fail("study.cancelled", "cancelled before it began");
    const auto start = std::chrono::steady_clock::now();
    try {
        auto answer = answerOf(method, scenario, context);
        if (!answer && answer.error().code == "hardware.missing-peak") {
            if (const auto own = inOwnType(scenario)) {
                answer = answerOf(method, own->scenario, context);
                if (answer) own->say(*answer);
            }
        }
        if (!answer) {
            // A device without an array is no mistake: array methods are just not for it.
            if (answer.error().code == "hardware.no-array") answer.error().code = "method.not-applicable";
            return answer;
        }
        if (!std::isfinite(answer->latency.value) || !std::isfinite(answer->interval.high.value)) {
            return fail("method.not-finite",
                        "method " + std::string(method.card.id) + " arrives at no finite time for " + scenario.name(),
                        "rates and sizes in their usual range",
                        "Look in Problems for a bandwidth, clock or extent that is out of its range");
        }
        finishInterval(*answer);
        answer->method = toText(method.card, context.options);
        answer->provenance = {answer->method,
                              std::string(method.card.version),
                              hardwareHash(*scenario.hardware),
                              workloadHash(*scenario.workload),
                              context.seed,
                              toText(scenario.task),
                              scenario.plan.split() ? toText(scenario.plan) : std::string(),
                              run ? servingHash(*run->study) : std::string()};
        assert(consistent(*answer, scenario));
        answer->cost = Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        return answer;
    } catch (const std::bad_alloc&) {
        return thrown(method.card, "out of memory");
    } catch (const std::exception& error) {
        return thrown(method.card, error.what());
    } catch (...) {
        return thrown(method.card, "an unknown exception");
    }
}

}  // namespace orrery
