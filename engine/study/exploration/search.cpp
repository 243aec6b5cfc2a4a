#include "study/exploration/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

PointAnswer evaluateScenario(const SearchProblem& problem, const Scenario& scenario,
                             const Expected<MethodChoice>& choice, const SearchOptions& options,
                             BaseAnswer* base = nullptr) {
    if (!choice) return refusedPoint(problem, toText(choice.error()));
    const auto serial = makeSerialExecutor();
    EstimateContext context{.executor = *serial,
                            .stop = options.stop,
                            .seed = problem.seed,
                            .wantTimeline = false,
                            .options = choice->options,
                            .calibrations = options.calibrations};
    const auto answer = estimate(*findMethod(choice->id), scenario, context);
    if (!answer) return refusedPoint(problem, answer.error().message);
    for (std::size_t k = 0; base && k < problem.objectives.size(); ++k) {
        base->dimensions.push_back(dimensionOf(*answer, problem.objectives[k].quantity));
        base->units.push_back(figureUnit(*answer, problem.objectives[k].quantity));
    }
    PointAnswer out;
    Circumstances circumstances = problem.circumstances();
    circumstances.calibrations = options.calibrations;
    circumstances.stop = options.stop;
    for (const Objective& objective : problem.objectives) {
        const auto found = quantityOf(scenario, *answer, objective.quantity, circumstances);
        if (!found) {
            return refusedPoint(
                problem, fmt::format("{} does not predict `{}`", methodTitle(problem.method), objective.quantity));
        }
        out.values.push_back(*found);
    }
    for (const Constraint& constraint : problem.constraints) {
        const auto beyond = violationOf(scenario, *answer, constraint, circumstances);
        if (!beyond) {
            return refusedPoint(problem, fmt::format("{} does not predict what `{}` limits",
                                                     methodTitle(problem.method), constraint.text));
        }
        out.violation += *beyond;
    }
    return out;
}

}  // namespace

PointAnswer refusedPoint(const SearchProblem& problem, std::string why) {
    return {0, std::vector<Ranged>(problem.objectives.size(), {none, none, none}), 0, std::move(why)};
}

Expected<SearchProblem> readied(SearchProblem problem) {
    if (problem.objectives.empty()) {
        return fail("search.objective", "nothing says which point is better", "at least one objective, such as `time`");
    }
    for (std::size_t i = 0; i < problem.objectives.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (problem.objectives[i].quantity != problem.objectives[j].quantity) continue;
            return fail("search.objective", fmt::format("`{}` is an objective twice", problem.objectives[i].quantity),
                        "every objective once, made small or made large");
        }
    }
    if (problem.source) return problem;
    const auto choice = methodChoice(problem.method, builtinMethods());
    if (!choice) return Unexpected(choice.error());
    const TaskKind kind = kindOf(problem.space.base().task);
    const MethodCard& card = findMethod(choice->id)->card;
    if (!card.answers(kind)) {
        return fail("search.method", fmt::format("{} does not answer a {}", card.title, toText(kind)),
                    "a method that does");
    }
    const auto asks = [&](auto wanted) {
        return std::any_of(problem.objectives.begin(), problem.objectives.end(),
                           [&](const Objective& o) { return wanted(o.quantity); }) ||
               std::any_of(problem.constraints.begin(), problem.constraints.end(),
                           [&](const Constraint& c) { return wanted(c.quantity); });
    };
    if (asks([](const std::string& name) { return name == "cost"; }) && problem.deviceHour <= 0) {
        return fail("search.objective", "nothing is said of what a device costs", "`device_hour: 2.5` in dollars");
    }
    if (asks([](const std::string& name) { return isOfSilicon(name); }) && !problem.drawn) {
        auto area = areaOf(*problem.space.base().hardware);
        if (!area) return Unexpected(area.error());
        problem.drawn = std::move(*area);
    }
    return problem;
}

void PointAnswers::add(const PointAnswer& evaluation) {
    objectives = evaluation.values.size();
    points.push_back(evaluation.point);
    for (const Ranged& ranged : evaluation.values) {
        value.push_back(ranged.value);
        low.push_back(ranged.low);
        high.push_back(ranged.high);
    }
    violation.push_back(evaluation.violation);
    std::uint32_t why = 0;
    if (!evaluation.refusal.empty()) {
        auto found = std::find(refusals.begin(), refusals.end(), evaluation.refusal);
        if (found == refusals.end()) found = refusals.insert(refusals.end(), evaluation.refusal);
        why = static_cast<std::uint32_t>(found - refusals.begin()) + 1;
    }
    refusal.push_back(why);
}

PointAnswer PointAnswers::at(std::size_t i) const {
    PointAnswer out{points[i], {}, violation[i], refusal[i] == 0 ? std::string() : refusals[refusal[i] - 1]};
    for (std::size_t k = i * objectives; k < (i + 1) * objectives; ++k)
        out.values.push_back({value[k], low[k], high[k]});
    return out;
}

Costs costsOf(const SearchProblem& problem, const PointAnswers& evaluations) {
    Costs costs{problem.objectives.size(), {}, {}, {}};
    for (std::size_t i = 0; i < evaluations.size(); ++i) {
        for (std::size_t k = 0; k < costs.width; ++k) {
            const std::size_t at = i * costs.width + k;
            const bool feasible = evaluations.feasible(i), larger = problem.objectives[k].maximise;
            const double value = evaluations.value[at];
            // Of what has no interval the value alone speaks.
            const auto end = [value](double known) { return std::isnan(known) ? value : known; };
            const double low = end(evaluations.low[at]), high = end(evaluations.high[at]);
            costs.value.push_back(!feasible ? none : larger ? -value : value);
            costs.low.push_back(!feasible ? none : larger ? -high : low);
            costs.high.push_back(!feasible ? none : larger ? -low : high);
        }
    }
    return costs;
}

Front frontOf(const SearchProblem& problem, const PointAnswers& evaluations) {
    return frontOf(costsOf(problem, evaluations));
}

std::vector<std::optional<std::size_t>> bestOf(const SearchProblem& problem, const PointAnswers& evaluations) {
    const std::size_t width = problem.objectives.size();
    std::vector<std::optional<std::size_t>> best(width);
    for (std::size_t i = 0; i < evaluations.size(); ++i) {
        if (!evaluations.feasible(i)) continue;
        for (std::size_t k = 0; k < width; ++k) {
            const auto of = [&](std::size_t row) {
                const double value = evaluations.value[row * width + k];
                return problem.objectives[k].maximise ? -value : value;
            };
            if (!best[k] || of(i) < of(*best[k])) best[k] = i;
        }
    }
    return best;
}

Search::Search(const SearchProblem& problem, const SearchOptions& options) : problem_(problem), options_(options) {
    if (options.known) {
        for (std::size_t i = 0; i < options.known->size(); ++i) known_.emplace(options.known->points[i], i);
    }
}

void Search::useLadder(const std::vector<RungAnswers>& rungs) {
    ladder_ = rungs;
    cheapIndex_.assign(rungs.size(), {});
    knownRungs_.clear();
    for (const RungAnswers& each : rungs) {
        KnownRung known{problem_, {}, {}};
        known.asked.method = each.rung.method;
        if (options_.knownCheap) known.answers = options_.knownCheap(known.asked);
        for (std::size_t i = 0; i < known.answers.size(); ++i) known.index.emplace(known.answers.points[i], i);
        knownRungs_.push_back(std::move(known));
    }
}

std::vector<RungAnswers> Search::takeLadder() {
    return std::move(ladder_);
}

std::optional<std::size_t> Search::findCheap(std::size_t rung, std::uint64_t point) const {
    const auto found = cheapIndex_[rung].find(point);
    return found == cheapIndex_[rung].end() ? std::nullopt : std::optional(found->second);
}

double Search::left() const {
    if (options_.evaluations == 0) return std::numeric_limits<double>::infinity();
    return static_cast<double>(options_.evaluations) - static_cast<double>(index_.size()) - besides_;
}

bool Search::evaluateCheaply(std::size_t rung, std::span<const std::uint64_t> points) {
    const KnownRung& known = knownRungs_[rung];
    const double cost = ladder_[rung].rung.cost;
    std::vector<std::uint64_t> fresh;
    for (const std::uint64_t point : points) {
        if (cheapIndex_[rung].contains(point) || left() < cost) continue;
        cheapIndex_[rung].emplace(point, ladder_[rung].answers.size() + fresh.size());
        spend(cost);
        fresh.push_back(point);
    }
    std::vector<PointAnswer> answers(fresh.size());
    const auto answer = [&](std::size_t i) {
        const auto found = known.index.find(fresh[i]);
        answers[i] = found == known.index.end() ? evaluatePoint(known.asked, fresh[i], options_)
                                                : known.answers.at(found->second);
    };
    if (options_.executor) {
        options_.executor->forEach(fresh.size(), answer);
    } else {
        for (std::size_t i = 0; i < fresh.size(); ++i) answer(i);
    }
    if (options_.stop.stop_requested()) {
        ended_ = stopped_ = true;
        return false;
    }
    PointAnswers news;
    for (const PointAnswer& each : answers) {
        ladder_[rung].answers.add(each);
        if (!known.index.contains(each.point)) news.add(each);
    }
    if (options_.onCheap && news.size() > 0 && !options_.onCheap(known.asked, news)) ended_ = stopped_ = true;
    return !ended_ && left() >= cost;
}

std::optional<std::size_t> Search::find(std::uint64_t point) const {
    const auto found = index_.find(point);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
}

bool Search::answerElsewhere(std::span<const std::uint64_t> points, std::span<PointAnswer> answers) const {
    std::vector<std::uint64_t> unknown;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (const auto known = known_.find(points[i]); known != known_.end()) {
            answers[i] = options_.known->at(known->second);
        } else {
            unknown.push_back(points[i]);
            places.push_back(i);
        }
    }
    std::vector<PointAnswer> came(unknown.size());
    if (!options_.elsewhere(unknown, came)) return false;
    for (std::size_t i = 0; i < came.size(); ++i) answers[places[i]] = std::move(came[i]);
    return true;
}

bool Search::evaluate(std::span<const std::uint64_t> points) {
    std::vector<std::uint64_t> fresh;
    const auto flush = [&] {
        std::vector<PointAnswer> answers(fresh.size());
        bool whole = true;
        const auto answer = [&](std::size_t i) {
            if (const auto known = known_.find(fresh[i]); known != known_.end()) {
                answers[i] = options_.known->at(known->second);
            } else {
                answers[i] = evaluatePoint(problem_, fresh[i], options_);
            }
        };
        const bool allKnown = std::ranges::all_of(fresh, [&](std::uint64_t p) { return known_.contains(p); });
        if (options_.elsewhere && !allKnown) {
            whole = answerElsewhere(fresh, answers);
        } else if (options_.executor && fresh.size() > 1) {
            options_.executor->forEach(fresh.size(), answer);
        } else {
            for (std::size_t i = 0; i < fresh.size(); ++i) answer(i);
        }
        // What a stopped method refused is no answer of that point.
        if (!whole || options_.stop.stop_requested()) {
            ended_ = stopped_ = true;
            return;
        }
        const std::size_t first = seen_.size();
        for (const PointAnswer& evaluation : answers) {
            seen_.add(evaluation);
        }
        if (options_.progress) options_.progress->advance(fresh.size());
        if (options_.onBatch && !fresh.empty() && !options_.onBatch(seen_, first)) ended_ = stopped_ = true;
        fresh.clear();
    };
    for (const std::uint64_t point : points) {
        if (ended_) return false;
        if (index_.contains(point)) continue;
        if (left() < 1) {
            flush();
            ended_ = true;
            return false;
        }
        index_.emplace(point, seen_.size() + fresh.size());
        fresh.push_back(point);
        if (fresh.size() >= options_.batch) flush();
    }
    if (!ended_) flush();
    return !ended_;
}

std::uint64_t Search::pointNear(std::span<const std::uint32_t> levels, std::span<const std::uint64_t> besides) const {
    if (!space().isOfRows()) return space().pointAt(levels);
    const auto fresh = space().nearest(levels, 1, [&](std::uint64_t row) {
        return index_.contains(row) || std::find(besides.begin(), besides.end(), row) != besides.end();
    });
    return fresh.empty() ? space().pointAt(levels) : fresh.front();
}

PointAnswer evaluatePoint(const SearchProblem& problem, std::uint64_t point, const SearchOptions& options) {
    if (problem.source) {
        PointAnswer out = problem.source->answerAt(problem, point, options);
        out.point = point;
        return out;
    }
    const auto scenario = problem.space.scenarioAt(point);
    const auto choice = methodChoice(problem.method, builtinMethods()).and_then([&](MethodChoice asked) {
        return problem.space.methodAt(point, std::move(asked));
    });
    PointAnswer out = scenario ? evaluateScenario(problem, *scenario, choice, options)
                               : refusedPoint(problem, scenario.error().message);
    out.point = point;
    return out;
}

BaseAnswer evaluateBase(const SearchProblem& problem, const SearchOptions& options) {
    BaseAnswer base;
    base.evaluation = problem.source
                          ? refusedPoint(problem, fmt::format("{} has no question as drawn", problem.source->title()))
                          : evaluateScenario(problem, problem.space.base(),
                                             methodChoice(problem.method, builtinMethods()), options, &base);
    base.dimensions.resize(problem.objectives.size(), Dimension::Number);
    base.units.resize(problem.objectives.size());
    return base;
}

}  // namespace orrery
