#include "study/exploration/surrogate_space.h"

#include "base/hash.h"
#include "base/text/nearest.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace orrery {

namespace {

constexpr int usualSteps = 5;

const SurrogateTarget* targetOf(const Surrogate& surrogate, std::string_view name) {
    const auto found = std::ranges::find(surrogate.targets, name, &SurrogateTarget::name);
    return found == surrogate.targets.end() ? nullptr : &*found;
}

class SurrogateSource : public PointSource {
public:
    SurrogateSource(std::shared_ptr<const Surrogate> surrogate, std::vector<std::vector<double>> places)
        : surrogate_(std::move(surrogate)), places_(std::move(places)) {}

    PointAnswer answerAt(const SearchProblem& problem, std::uint64_t point, const SearchOptions&) const override {
        std::vector<double> row;
        const auto levels = problem.space.levelsAt(point);
        for (std::size_t i = 0; i < levels.size(); ++i) row.push_back(places_[i][levels[i]]);
        PointAnswer answer;
        for (const Objective& objective : problem.objectives) {
            const auto said = answerOf(*surrogate_, *targetOf(*surrogate_, objective.quantity), row);
            answer.values.push_back({said.value, said.low, said.high});
        }
        for (const Constraint& constraint : problem.constraints) {
            const double value = answerOf(*surrogate_, *targetOf(*surrogate_, constraint.quantity), row).value;
            const double beyond = constraint.atLeast ? constraint.limit - value : value - constraint.limit;
            if (beyond > 0) answer.violation += beyond / std::max(std::abs(constraint.limit), 1e-300);
        }
        return answer;
    }
    std::string title() const override { return "the surrogate " + surrogate_->name; }
    std::string identity() const override {
        Hash hash;
        hash.add(std::string_view(writeSurrogate(*surrogate_)));
        return "surrogate " + hash.hex();
    }

private:
    std::shared_ptr<const Surrogate> surrogate_;
    std::vector<std::vector<double>> places_;  ///< of each knob's values, as the surrogate's rows have them
};

Unexpected inPart(std::string part, Diagnostic error) {
    if (error.place.file.empty()) error.place.path = std::move(part);
    return Unexpected(std::move(error));
}

Expected<std::vector<std::string>> stepsOf(const KnobRange& range, bool logarithmic) {
    const auto from = numberIn(range.from), to = numberIn(range.to);
    if (!from || !to || !(*from < *to) || range.steps < 2 || (logarithmic && *from <= 0)) {
        return fail("search.range", fmt::format("`{} .. {}` is no range", range.from, range.to),
                    "two numbers, the second larger, above 0 for ratios");
    }
    std::vector<std::string> values;
    const int count = range.count();
    for (int i = 0; i < count; ++i) {
        const double share = static_cast<double>(i) / (count - 1);
        const double value = logarithmic ? *from * std::pow(*to / *from, share) : *from + (*to - *from) * share;
        values.push_back(fmt::format("{:.6g}", value));
    }
    return values;
}

Expected<Knob> inputKnob(const KnobSetting& setting, const SurrogateInput& input) {
    Knob knob{.of = KnobOf::Column, .path = input.name};
    knob.words = input.words;
    knob.values = setting.values;
    const bool ranged = !setting.range.from.empty() || !setting.range.to.empty();
    if (ranged && input.words) {
        return fail("search.range", fmt::format("the values of `{}` are words", input.name), "a list of them");
    }
    knob.logarithmic = ranged ? setting.range.logarithmic : input.logarithmic && input.low > 0;
    knob.free = ranged && setting.range.free;
    if (ranged || (knob.values.empty() && !input.words)) {
        const KnobRange seen{fmt::format("{:.17g}", input.low), fmt::format("{:.17g}", input.high), usualSteps,
                             knob.logarithmic};
        if (!ranged && !(input.low < input.high)) {
            knob.values = {seen.from};
        } else {
            auto steps = stepsOf(ranged ? setting.range : seen, knob.logarithmic);
            if (!steps) return Unexpected(steps.error());
            knob.values = std::move(*steps);
        }
    } else if (knob.values.empty()) {
        knob.values = input.values;
    }
    for (std::size_t i = 0; i < knob.values.size(); ++i) {
        const auto number = numberIn(knob.values[i]);
        if (!input.words && !number) {
            return fail("search.value", fmt::format("`{}` of `{}` is no number", knob.values[i], input.name),
                        "a number");
        }
        knob.numbers.push_back(input.words ? static_cast<double>(i) : *number);
    }
    return knob;
}

std::vector<std::string> inputNames(const Surrogate& surrogate) {
    std::vector<std::string> names;
    for (const SurrogateInput& input : surrogate.inputs) names.push_back(input.name);
    return names;
}

Expected<void> known(const Surrogate& surrogate, const std::string& quantity) {
    if (targetOf(surrogate, quantity)) return {};
    if (quantity.empty()) {
        return fail("surrogate.target", "a surrogate has no memory that anything must fit into",
                    "a limit of one of its targets");
    }
    std::vector<std::string> names;
    for (const SurrogateTarget& target : surrogate.targets) names.push_back(target.name);
    return fail("surrogate.target", fmt::format("the surrogate did not learn `{}`", quantity), quotedList(names, "or"),
                didYouMean(quantity, names));
}

}  // namespace

Expected<SearchProblem> surrogateProblem(const SearchSettings& settings, std::shared_ptr<const Surrogate> surrogate) {
    if (!surrogate->question.empty()) {
        return fail("surrogate.input", "the surrogate was learned from a question, not from a table",
                    "one of a table's columns");
    }
    const auto names = inputNames(*surrogate);
    std::set<std::string> turned;
    for (const KnobSetting& setting : settings.knobs) {
        const std::string part = "knobs." + setting.path;
        if (std::ranges::find(names, setting.path) == names.end()) {
            return inPart(part, fail("surrogate.input", fmt::format("the surrogate has no input `{}`", setting.path),
                                     quotedList(names, "or"), didYouMean(setting.path, names))
                                    .value());
        }
        if (!turned.insert(setting.path).second)
            return inPart(part, fail("surrogate.input", fmt::format("`{}` stands twice", setting.path)).value());
    }
    std::vector<Knob> knobs;
    std::vector<std::vector<double>> places;
    for (const SurrogateInput& input : surrogate->inputs) {
        const auto setting = std::ranges::find(settings.knobs, input.name, &KnobSetting::path);
        if (setting == settings.knobs.end()) {
            return inPart("knobs", fail("surrogate.input", fmt::format("nothing says where `{}` stands", input.name),
                                        "every input of the surrogate", "a single value keeps an input where it is")
                                       .value());
        }
        auto knob = inputKnob(*setting, input);
        if (!knob) return inPart("knobs." + input.name, knob.error());
        auto& own = places.emplace_back();
        for (std::size_t i = 0; i < knob->values.size(); ++i)
            own.push_back(input.words ? placeOfWord(input, knob->values[i]) : knob->numbers[i]);
        knobs.push_back(std::move(*knob));
    }
    std::vector<Objective> objectives;
    for (const std::string& text : settings.objectives) {
        auto objective = readObjective(text);
        if (!objective) return inPart("objectives", objective.error());
        if (auto fine = known(*surrogate, objective->quantity); !fine) return inPart("objectives", fine.error());
        objectives.push_back(std::move(*objective));
    }
    if (objectives.empty()) {
        return inPart("objectives",
                      fail("search.objective", "nothing says which point is better", "at least one target").value());
    }
    std::vector<Constraint> constraints;
    for (const std::string& text : settings.constraints) {
        auto constraint = readConstraint(text);
        if (!constraint) return inPart("constraints", constraint.error());
        if (auto fine = known(*surrogate, constraint->quantity); !fine) return inPart("constraints", fine.error());
        constraints.push_back(std::move(*constraint));
    }
    auto space = SearchSpace::ofColumns(std::move(knobs));
    if (!space) return inPart("knobs", space.error());
    SearchProblem problem{std::move(*space),      "surrogate", std::move(objectives),
                          std::move(constraints), 0,           settings.seed};
    problem.source = std::make_shared<SurrogateSource>(std::move(surrogate), std::move(places));
    return problem;
}

}  // namespace orrery
