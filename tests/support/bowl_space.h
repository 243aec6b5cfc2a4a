#pragma once

// Spaces for agents that need no method: a bowl whose lowest point is known, and two bowls that want different points.

#include "study/exploration/agents.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace orrery::test {

/// Of each objective k the squares of the distances from level (3 + 2k) of every knob of numbers, plus 4 where the word
/// is not the third. Points whose first level is 7 have no answer.
class Bowl : public PointSource {
public:
    PointAnswer answerAt(const SearchProblem& problem, std::uint64_t point, const SearchOptions&) const override {
        const auto levels = problem.space.levelsAt(point);
        if (levels[0] == 7) return refusedPoint(problem, "too high");
        PointAnswer answer;
        for (std::size_t k = 0; k < problem.objectives.size(); ++k) {
            double cost = 1 + (levels.back() == 2 ? 0 : 4);
            for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
                const double off = levels[i] - (3.0 + 2.0 * static_cast<double>(k));
                cost += off * off;
            }
            answer.values.push_back({cost, cost, cost});
        }
        for (const Constraint& constraint : problem.constraints)
            answer.violation += std::max(0.0, levels[0] - constraint.limit);
        return answer;
    }
    std::string title() const override { return "a bowl"; }
    std::string identity() const override { return "bowl"; }
};

/// `knobs` of 8 numbers each, and one of 3 words: 8^knobs * 3 points.
inline SearchProblem bowlProblem(std::size_t knobs, std::size_t objectives, std::uint64_t seed = 0) {
    std::vector<Knob> all;
    for (std::size_t i = 0; i < knobs; ++i) {
        Knob knob{.of = KnobOf::Column, .path = "n" + std::to_string(i)};
        for (int level = 0; level < 8; ++level) {
            knob.values.push_back(std::to_string(level));
            knob.numbers.push_back(level);
        }
        all.push_back(std::move(knob));
    }
    Knob words{.of = KnobOf::Column, .path = "word"};
    words.values = {"a", "b", "c"};
    words.numbers = {0, 1, 2};
    words.words = true;
    all.push_back(std::move(words));
    auto space = SearchSpace::make({}, std::move(all));
    if (!space) std::abort();
    SearchProblem problem{std::move(*space), "bowl", {}, {}, 0, seed};
    for (std::size_t k = 0; k < objectives; ++k) problem.objectives.push_back({"cost" + std::to_string(k), false});
    problem.source = std::make_shared<Bowl>();
    return problem;
}

}  // namespace orrery::test
