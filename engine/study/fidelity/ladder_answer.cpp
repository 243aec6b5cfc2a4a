#include "study/fidelity/ladder_answer.h"

#include "methods/among_all.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

constexpr double normal95 = 1.644854;

struct InLogs {
    double middle = 0, below = 0, above = 0;
    double half() const { return std::max((below + above) / 2, 1e-4); }
};

std::optional<InLogs> inLogs(const Estimate* answer) {
    if (!answer || answer->interval.kind == IntervalKind::Bound || !(answer->latency.value > 0)) return std::nullopt;
    const double time = answer->latency.value;
    const double low = std::max(answer->interval.low.value, time * 1e-3);
    return InLogs{std::log(time), std::log(time / low), std::log(std::max(answer->interval.high.value, time) / time)};
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::optional<CombinedAnswer> combineAnswers(std::span<const Estimate* const> answers) {
    CombinedAnswer combined;
    combined.weights.assign(answers.size(), 0.0);
    double all = 0, bound = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i] && answers[i]->bound) bound = std::max(bound, answers[i]->bound->value);
        const auto logs = inLogs(answers[i]);
        if (!logs) continue;
        combined.weights[i] = 1 / (logs->half() * logs->half());
        all += combined.weights[i];
    }
    if (!(all > 0)) return std::nullopt;
    double middle = 0, below = 0, above = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto logs = inLogs(answers[i]);
        if (!logs) continue;
        const double w = combined.weights[i] /= all;
        middle += w * logs->middle, below += w * logs->below, above += w * logs->above;
    }
    double squares = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto logs = inLogs(answers[i]);
        if (!logs) continue;
        const double off = logs->middle - middle;
        const double beyond = std::max(0.0, std::abs(off) - (off > 0 ? logs->below : logs->above));
        squares += combined.weights[i] * beyond * beyond;
    }
    combined.spread = normal95 * std::sqrt(squares);
    combined.latency = std::exp(middle);
    combined.low = std::exp(middle - std::hypot(below, combined.spread));
    combined.high = std::exp(middle + std::hypot(above, combined.spread));
    // What the kernels take at peak rates: the least of the bounds that answers state, for methods may fuse otherwise.
    double least = std::numeric_limits<double>::infinity();
    for (const Estimate* answer : answers)
        if (answer && answer->bound) least = std::min(least, answer->bound->value);
    if (bound > 0 && std::isfinite(least)) {
        combined.low = std::max(combined.low, std::min(least, combined.latency));
        combined.latency = std::max(combined.latency, least);
        combined.high = std::max(combined.high, combined.latency);
    }
    return combined;
}

const LadderStep* LadderAnswer::last() const {
    for (auto step = steps.rbegin(); step != steps.rend(); ++step)
        if (step->estimate) return &*step;
    return nullptr;
}

std::vector<std::string> ladderMethods(const Scenario& scenario, const std::vector<std::string>& choices) {
    std::vector<std::pair<double, std::string>> order;
    const auto add = [&](const std::string& choice) {
        const Method* method = findMethod(choice);
        const auto cost = method ? expectedCost(*method, scenario) : std::nullopt;
        order.emplace_back(cost ? cost->value : std::numeric_limits<double>::infinity(), choice);
    };
    if (choices.empty()) {
        for (const Method& method : builtinMethods())
            if (method.card.answers(kindOf(scenario.task)) && standsAmongAll(method.card))
                add(std::string(method.card.id));
    } else {
        for (const std::string& choice : choices) add(choice);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> methods;
    for (auto& [cost, choice] : order) methods.push_back(std::move(choice));
    return methods;
}

LadderAnswer climbLadder(const Scenario& scenario, const LadderOptions& options) {
    LadderAnswer ladder;
    const auto methods = ladderMethods(scenario, options.methods);
    const double begun = now();
    if (options.progress) options.progress->setTotal(methods.size());
    for (const std::string& text : methods) {
        const Method* method = findMethod(text);
        const auto stated = method ? expectedCost(*method, scenario) : std::nullopt;
        const bool tooDear = options.within && (now() - begun > *options.within ||
                                                (stated && now() - begun + stated->value > *options.within));
        if (options.stop.stop_requested() || tooDear) {
            ladder.notAsked.push_back(text);
            continue;
        }
        LadderStep step{text, stated ? std::optional(stated->value) : std::nullopt, nullptr, std::nullopt,
                        std::nullopt};
        const auto choice = methodChoice(text, builtinMethods());
        if (!choice) {
            step.failure = choice.error();
        } else {
            EstimateContext context{*options.executor, options.stop};
            context.options = choice->options;
            context.calibrations = options.calibrations;
            context.seed = options.seed;
            context.wantTimeline = options.wantTimeline;
            auto answer = estimate(*method, scenario, context);
            if (answer)
                step.estimate = std::make_shared<const Estimate>(std::move(*answer));
            else
                step.failure = std::move(answer.error());
        }
        if (step.failure && step.failure->code == "study.cancelled") {
            ladder.notAsked.push_back(text);
            continue;
        }
        std::vector<const Estimate*> answers;
        for (const LadderStep& each : ladder.steps) answers.push_back(each.estimate.get());
        answers.push_back(step.estimate.get());
        step.soFar = combineAnswers(answers);
        ladder.steps.push_back(step);
        if (options.onStep) options.onStep(step);
        if (options.progress) options.progress->advance();
    }
    ladder.seconds = now() - begun;
    return ladder;
}

}  // namespace orrery
