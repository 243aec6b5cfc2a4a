#include "study/exploration/learned_points.h"

#include "base/random.h"
#include "base/text/nearest.h"
#include "methods/learned/surrogate_question.h"
#include "methods/question_value.h"
#include "workload/option_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {

namespace {

std::vector<std::size_t> drawnRows(std::vector<std::size_t> rows, std::uint64_t seed) {
    if (rows.size() <= mostLearnedPoints) return rows;
    RandomStream random(seed);
    for (std::size_t i = 0; i < mostLearnedPoints; ++i) std::swap(rows[i], rows[i + random.below(rows.size() - i)]);
    rows.resize(mostLearnedPoints);
    std::sort(rows.begin(), rows.end());
    return rows;
}

std::string partNamed(KnobOf of) {
    switch (of) {
        case KnobOf::Hardware:
            return "hardware";
        case KnobOf::Workload:
            return "workload";
        case KnobOf::Plan:
            return "plan";
        case KnobOf::Software:
            return "software";
        default:
            return {};
    }
}

Expected<SurrogateInput> inputOf(const Knob& knob) {
    SurrogateInput input;
    input.name = knob.path;
    input.part = partNamed(knob.of);
    if (input.part.empty()) {
        return fail("surrogate.knob",
                    fmt::format("`{}` turns {}", knob.path,
                                knob.of == KnobOf::Method ? "the method that answers" : "a serving run"),
                    "knobs of the drawing, the model, the plan or the software");
    }
    input.words = knob.words;
    input.own = knob.own;
    for (const std::string& value : knob.values) {
        const auto measure = parseMeasure(value, knob.dimension);
        input.perCycle = input.perCycle || (!knob.words && measure && measure->perCycle);
    }
    return input;
}

// What a row has at its inputs; words are listed as they come.
Expected<void> addRow(SurrogateRows& rows, const Scenario& scenario) {
    for (SurrogateInput& input : rows.inputs) {
        if (input.words) {
            const std::string text = textOf(input, scenario);
            if (placeOfWord(input, text) < 0) input.values.push_back(text);
        }
        const auto value = valueOf(input, scenario);
        if (!value) return Unexpected(value.error());
        rows.numbers.push_back(*value);
    }
    return {};
}

struct LearnedTarget {
    std::string name, unit;
    Dimension dimension = Dimension::Number;
    std::vector<double> value, low, high;
};

Expected<Surrogate> fitTargets(SurrogateRows rows, std::vector<LearnedTarget> targets, const Scenario& base,
                               const std::string& method, const LearnOptions& options) {
    for (LearnedTarget& target : targets) {
        rows.targets.push_back(target.name);
        rows.values.push_back(target.value);
    }
    auto surrogate = fitSurrogate(rows, options.fit);
    if (!surrogate) return surrogate;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        const LearnedTarget& from = targets[t];
        SurrogateTarget& target = surrogate->targets[t];
        target.unit = from.unit;
        if (target.name != "time" && target.name != "energy") target.dimension = std::string(toText(from.dimension));
    }
    // How far the intervals of who answered reach, which is smooth: one kind of model.
    SurrogateRows reaches{rows.inputs, rows.numbers, {}, {}};
    for (const LearnedTarget& target : targets) {
        std::vector<double> below, above;
        for (std::size_t r = 0; r < target.value.size(); ++r) {
            if (!(target.low[r] > 0 && target.value[r] >= target.low[r] && target.high[r] >= target.value[r])) break;
            below.push_back(std::max(std::log(target.value[r] / target.low[r]), leastReach));
            above.push_back(std::max(std::log(target.high[r] / target.value[r]), leastReach));
        }
        if (below.size() != target.value.size()) continue;
        reaches.targets.push_back(reachName(target.name, false));
        reaches.values.push_back(std::move(below));
        reaches.targets.push_back(reachName(target.name, true));
        reaches.values.push_back(std::move(above));
    }
    if (!reaches.targets.empty()) {
        SurrogateFitOptions plain = options.fit;
        plain.kind = "process";
        plain.judged = 0;
        auto fitted = fitSurrogate(reaches, plain);
        if (!fitted) return fitted;
        for (SurrogateTarget& target : fitted->targets) surrogate->targets.push_back(std::move(target));
    }
    surrogate->name = options.name;
    surrogate->date = options.date;
    surrogate->method = method;
    surrogate->facts = questionFacts(base, surrogate->inputs);
    surrogate->question = questionHash(surrogate->facts);
    return surrogate;
}

}  // namespace

Expected<void> learnable(const SearchProblem& problem) {
    if (problem.source) {
        return fail("surrogate.question", "points of a table belong to no question", "a search of a drawing",
                    "`orrery-cli surrogate TABLE --target NAME` learns a table");
    }
    for (const Knob& knob : problem.space.knobs())
        if (const auto input = inputOf(knob); !input) return Unexpected(input.error());
    if (std::none_of(problem.objectives.begin(), problem.objectives.end(),
                     [](const Objective& objective) { return objective.quantity == "time"; })) {
        return fail("surrogate.time", "the search does not ask how long anything takes", "`time` among its objectives");
    }
    return {};
}

Expected<Surrogate> learnPoints(const SearchProblem& problem, const PointAnswers& answers,
                                const LearnOptions& options) {
    if (auto able = learnable(problem); !able) return Unexpected(able.error());
    SurrogateRows rows;
    for (const Knob& knob : problem.space.knobs()) rows.inputs.push_back(*inputOf(knob));
    const BaseAnswer base = evaluateBase(problem, {.stop = options.fit.stop});
    std::vector<LearnedTarget> targets;
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < problem.objectives.size(); ++k) {
        const std::string& name = problem.objectives[k].quantity;
        const auto all = searchQuantities();
        const bool figure = std::none_of(all.begin(), all.end(), [&](const QuantityInfo& q) { return q.name == name; });
        if (!figure && name != "time" && name != "energy") continue;
        const std::string unit = name == "time" ? "s" : name == "energy" ? "J" : base.units[k];
        targets.push_back({name, unit, base.dimensions[k], {}, {}, {}});
        places.push_back(k);
    }
    std::vector<std::size_t> answered;
    for (std::size_t i = 0; i < answers.size(); ++i)
        if (answers.answered(i)) answered.push_back(i);
    for (const std::size_t i : drawnRows(std::move(answered), options.fit.seed)) {
        const auto scenario = problem.space.scenarioAt(answers.points[i]);
        if (!scenario) return Unexpected(scenario.error());
        if (auto added = addRow(rows, *scenario); !added) return Unexpected(added.error());
        for (std::size_t t = 0; t < targets.size(); ++t) {
            const std::size_t at = i * answers.objectives + places[t];
            targets[t].value.push_back(answers.value[at]);
            targets[t].low.push_back(answers.low[at]);
            targets[t].high.push_back(answers.high[at]);
        }
    }
    return fitTargets(std::move(rows), std::move(targets), problem.space.base(), problem.method, options);
}

namespace {

// What the scenarios of a study differ in, by the names of facts.
Expected<std::vector<SurrogateInput>> inputsOf(std::span<const Scenario> scenarios) {
    const QuestionFacts first = questionFacts(scenarios.front(), {});
    std::vector<SurrogateInput> inputs;
    const auto add = [&](std::string_view part, std::string_view name) {
        const bool known = std::any_of(inputs.begin(), inputs.end(), [&](const auto& i) { return i.name == name; });
        if (known) return;
        SurrogateInput input;
        input.name = std::string(name);
        input.part = std::string(part);
        input.own = textOf(input, scenarios.front());
        inputs.push_back(std::move(input));
    };
    for (const Scenario& scenario : scenarios) {
        const QuestionFacts facts = questionFacts(scenario, {});
        const auto differ = [&](std::string what) {
            return fail("surrogate.differ", "the study asks about more than one question: " + std::move(what),
                        "scenarios that differ in attributes, options, plans and software alone");
        };
        if (facts.size() != first.size()) return differ(differenceOf(first, facts));
        for (std::size_t f = 0; f < facts.size(); ++f) {
            const auto& [name, value] = facts[f];
            if (name != first[f].first) return differ(differenceOf(first, facts));
            if (value == first[f].second || name == "the model's graph") continue;
            if (name == "plan") {
                for (const char* key : {"tp", "pp", "dp", "ep", "cp", "vp", "zero", "shard", "sp", "mb", "sched"})
                    if (planValue(scenario.plan, key) != planValue(scenarios.front().plan, key)) add("plan", key);
            } else if (name == "software") {
                add("software", name);
            } else if (const auto keys = workloadOptionKeys();
                       std::find(keys.begin(), keys.end(), name) != keys.end()) {
                add("workload", name);
            } else if (name.find('.') != std::string::npos) {
                add("hardware", name);
            } else {
                return differ(differenceOf(first, facts));
            }
        }
    }
    // Numbers where all of them are, of one kind.
    for (SurrogateInput& input : inputs) {
        const auto numbers = [&](bool perCycle) {
            input.perCycle = perCycle;
            return std::all_of(scenarios.begin(), scenarios.end(),
                               [&](const Scenario& each) { return valueOf(input, each).has_value(); });
        };
        input.words = input.part == "software" || (!numbers(false) && !numbers(true));
        if (input.words) input.perCycle = false;
    }
    return inputs;
}

}  // namespace

Expected<Surrogate> learnStudy(const Study& study, std::span<const StudyResult> results, const std::string& method,
                               const LearnOptions& options) {
    if (std::find(study.methods.begin(), study.methods.end(), method) == study.methods.end()) {
        return fail("surrogate.method", fmt::format("the study has not asked `{}`", method),
                    quotedList(study.methods, "or"), didYouMean(method, study.methods));
    }
    std::vector<std::size_t> answered;
    for (std::size_t i = 0; i < results.size(); ++i)
        if (results[i].method == method && results[i].estimate) answered.push_back(i);
    if (answered.empty()) {
        return fail("surrogate.rows", fmt::format("`{}` has answered nothing", method), "a study with its answers");
    }
    auto inputs = inputsOf(study.scenarios);
    if (!inputs) return Unexpected(inputs.error());
    SurrogateRows rows;
    rows.inputs = std::move(*inputs);
    // What every answer predicts.
    std::vector<LearnedTarget> targets{{"time", "s", Dimension::Time, {}, {}, {}}};
    const auto every = [&](auto has) {
        return std::all_of(answered.begin(), answered.end(), [&](std::size_t i) { return has(*results[i].estimate); });
    };
    if (every([](const Estimate& e) { return e.energy.has_value(); }))
        targets.push_back({"energy", "J", Dimension::Energy, {}, {}, {}});
    for (const Figure& figure : results[answered.front()].estimate->figures) {
        if (every([&](const Estimate& e) { return quantityOf({}, e, figure.label, {}).has_value(); }))
            targets.push_back({figure.label, figure.unit, figure.dimension, {}, {}, {}});
    }
    for (const std::size_t i : drawnRows(std::move(answered), options.fit.seed)) {
        const Scenario& scenario = study.scenarios[results[i].scenario];
        if (auto added = addRow(rows, scenario); !added) return Unexpected(added.error());
        for (LearnedTarget& target : targets) {
            const Ranged value = *quantityOf(scenario, *results[i].estimate, target.name, {});
            target.value.push_back(value.value);
            target.low.push_back(value.low);
            target.high.push_back(value.high);
        }
    }
    return fitTargets(std::move(rows), std::move(targets), study.scenarios.front(), method, options);
}

}  // namespace orrery
