#include "methods/learned/surrogate_method.h"

#include "base/kept_files.h"
#include "hardware/design_facts.h"
#include "methods/answer/answer.h"
#include "methods/learned/surrogate_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace orrery {

namespace {

constexpr double perMean = 2.06;  // of a normal error: 90 % half-width ÷ mean absolute value

/// Read once, while the file stays as it is.
Expected<std::shared_ptr<const Surrogate>> keptSurrogate(const std::string& path) {
    static KeptFiles<Surrogate> kept(8);
    return kept.get({path}, [&] { return readSurrogate(path); });
}

const SurrogateTarget* learnedTarget(const Surrogate& surrogate, std::string_view name) {
    const auto found = std::find_if(surrogate.targets.begin(), surrogate.targets.end(),
                                    [&](const SurrogateTarget& each) { return each.name == name; });
    return found == surrogate.targets.end() ? nullptr : &*found;
}

// Both errors of a value; nothing beside it where the method that was learned states no interval of it.
struct WholeAnswer {
    SurrogateAnswer said;
    bool whole = false;
};
WholeAnswer wholeAnswer(const Surrogate& surrogate, const SurrogateTarget& target, std::span<const double> row) {
    const SurrogateAnswer alone = answerOf(surrogate, target, row);
    const SurrogateTarget* below = learnedTarget(surrogate, reachName(target.name, false));
    const SurrogateTarget* above = learnedTarget(surrogate, reachName(target.name, true));
    if (!below || !above || !(alone.value > 0)) return {alone, false};
    constexpr double farAway = 30;
    const auto reach = [&](const SurrogateTarget& of) {
        const SurrogateAnswer found = answerOf(surrogate, of, row);
        return std::clamp(found.value, 0.0, farAway);
    };
    const double down = alone.low > 0 ? std::log(alone.value / alone.low) : farAway;
    const double up = std::log(std::max(alone.high / alone.value, 1.0));
    return {{alone.value, alone.value * std::exp(-std::hypot(down, reach(*below))),
             alone.value * std::exp(std::hypot(up, reach(*above)))},
            true};
}

std::optional<Dimension> dimensionNamed(std::string_view text) {
    for (int d = 0; d <= static_cast<int>(Dimension::Area); ++d)
        if (toText(static_cast<Dimension>(d)) == text) return static_cast<Dimension>(d);
    return std::nullopt;
}

std::string leftOutText(const SurrogateTarget& target) {
    if (target.stated.rows == 0) return "no answers were held out to judge it";
    return fmt::format("mean error {:.2g} % on {} held out, coverage {:.0f} %", 100 * target.stated.mape,
                       target.stated.rows, 100 * target.stated.coverage);
}

void addTargets(Estimate& answer, const Surrogate& surrogate, std::span<const double> row) {
    for (const SurrogateTarget& target : surrogate.targets) {
        if (target.name == "time" || isReach(target.name)) continue;
        const auto [said, whole] = wholeAnswer(surrogate, target, row);
        if (target.name == "energy") {
            answer.energy = Joules(std::max(0.0, said.value));
            continue;
        }
        Figure figure{target.name, said.value, dimensionNamed(target.dimension).value_or(Dimension::Number),
                      target.unit};
        if (whole) {
            figure.interval = {std::min(said.low, said.value), std::max(said.high, said.value)};
            figure.basis = leftOutText(target);
        }
        answer.figures.push_back(std::move(figure));
    }
}

// Every part of the drawing decided what was learned.
void addDrawnParts(Estimate& answer, const Hardware& design) {
    for (std::string& part : designFacts(design).parts)
        if (part != pathText(design.root, {})) answer.parts.used.push_back({std::move(part), {}});
}

Expected<Estimate> answerLearned(const MethodCard& card, const Scenario& scenario, EstimateContext& context) {
    const std::string path(optionOf(card, context, "file"));
    if (path.empty()) {
        return fail("surrogate.no-file", "`surrogate` answers from what was learned, and no file is given",
                    "surrogate(file=FILE)", "`orrery-cli search … --fit-surrogate FILE` makes one");
    }
    const auto kept = keptSurrogate(path);
    if (!kept) return Unexpected(kept.error());
    const Surrogate& surrogate = **kept;
    if (surrogate.question.empty()) {
        return fail("surrogate.no-question",
                    fmt::format("`{}` was learned from a table, which no drawing belongs to", surrogate.name),
                    "one of a search or a study",
                    "a search file asks one of a table: `surrogate: FILE` in place of a question", Place{path});
    }
    const SurrogateTarget* time = learnedTarget(surrogate, "time");
    if (!time) {
        return fail("surrogate.no-time", fmt::format("`{}` did not learn how long it takes", surrogate.name),
                    "one that was fitted to a search with the objective `time`", {}, Place{path});
    }
    std::vector<double> row;
    for (const SurrogateInput& input : surrogate.inputs) {
        const auto value = valueOf(input, scenario);
        if (!value) return Unexpected(value.error());
        row.push_back(*value);
    }
    if (const std::string other = differenceOf(surrogate.facts, questionFacts(scenario, surrogate.inputs));
        !other.empty()) {
        std::string knobs;
        for (const SurrogateInput& input : surrogate.inputs) knobs += (knobs.empty() ? "" : ", ") + input.name;
        return fail("surrogate.other-question", "this is another question than was learned: " + other,
                    "a question that differs in " + knobs + " alone", "learn from a search of this question");
    }
    const InputVerdict verdict = verdictOf(surrogate, scenario, row);
    if (verdict.outside > 0) {
        return fail("surrogate.outside", "outside of what was learned: " + verdict.what,
                    "values among those that were seen", "widen the knobs of the search and learn again");
    }

    const auto [said, whole] = wholeAnswer(surrogate, *time, row);
    Estimate answer;
    answer.latency = Seconds(std::max(said.value, 0.0));
    answer.interval = {Seconds(std::clamp(said.low, 0.0, answer.latency.value)),
                       Seconds(std::max(said.high, answer.latency.value)), IntervalKind::Residuals,
                       fmt::format("What was learned of {} is {}{}", methodTitle(surrogate.method), leftOutText(*time),
                                   whole ? "; its own interval beside that" : "")};
    addTargets(answer, surrogate, row);
    if (kindOf(scenario.task) == TaskKind::Pass && !scenario.plan.split()) {
        if (const auto device = deviceView(*scenario.hardware)) addMemory(answer, *scenario.workload, *device);
    }
    const double reach =
        answer.interval.low.value > 0 ? std::log(answer.interval.high.value / answer.interval.low.value) / 2 : 1;
    answer.support = Support{.error = std::max(reach / perMean, time->stated.mape),
                             .unmeasured = 1,
                             .what = fmt::format("learned from {} answers of {}, {}", surrogate.rows,
                                                 methodTitle(surrogate.method), leftOutText(*time))};
    if (verdict.edge > 0) {
        answer.warnings.push_back(warning("surrogate.edge",
                                          "at the edge of what was learned, with a wider interval: " + verdict.what,
                                          "Search there and learn again"));
    }
    answer.assumptions.push_back(fmt::format("Learned from {} answers of {} ({}, {}): {} by {}", surrogate.rows,
                                             methodTitle(surrogate.method), surrogate.name, surrogate.date, time->name,
                                             time->kind));
    answer.assumptions.push_back("It says how long the whole takes, and nothing of single operators");
    addDrawnParts(answer, *scenario.hardware);
    return answer;
}

}  // namespace

Method surrogateMethod() {
    MethodCard card{
        .id = "surrogate",
        .title = "Surrogate",
        .methodology = Methodology::Learned,
        .level = MethodLevel::System,
        .summary =
            "A model fitted to the results of a finished search or study, as a function of its knobs. For slow methods "
            "and thousands of designs.",
        .platforms = {"GPU", "TPU", "CPU", "Accelerator"},
        .evidence = {{"designs that were left out", "GPU",
                      "2.7 % off in the mean from tile-hybrid, which had answered 70 of 126 designs around an H100 "
                      "(decode of Llama-2 7B), on the other 56; all of them inside the interval, 86 % inside what the "
                      "fit alone states"}},
        .needs = {"A file that a search or a study was learned into",
                  "The question of that search, with other values of "
                  "its knobs"},
        .failureMode =
            "It has the knobs of one question only. Another question is refused, and so are values outside the fitted "
            "range. It has the errors of the method to which it was fitted.",
        .lineage = {"Rasmussen and Williams: Gaussian Processes for Machine Learning, 2006",
                    "Vovk, Gammerman, Shafer: Algorithmic Learning in a Random World, 2005"},
        .cost = {.fixed = 3e-4},
        .version = "1",
        .live = true,
        .options = {{.key = "file",
                     .title = "File",
                     .choices = {},
                     .fallback = "",
                     .meaning = "What `orrery-cli search … --fit-surrogate FILE` has learned.",
                     .needed = true}},
        .tasks = {TaskKind::Pass, TaskKind::TrainingStep, TaskKind::ServingRun}};
    return {card, [card](const Scenario& scenario, EstimateContext& context) {
                return answerLearned(card, scenario, context);
            }};
}

}  // namespace orrery
