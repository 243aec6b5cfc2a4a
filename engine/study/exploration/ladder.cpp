#include "study/exploration/ladder.h"

#include <algorithm>

namespace orrery {

namespace {

std::optional<double> secondsOf(const SearchProblem& problem, const std::string& method) {
    const Method* found = findMethod(method);
    const auto cost = found ? expectedCost(*found, problem.space.base()) : std::nullopt;
    return cost && cost->value > 0 ? std::optional(cost->value) : std::nullopt;
}

SearchProblem askedOf(const SearchProblem& problem, std::string method) {
    SearchProblem other = problem;
    other.method = std::move(method);
    return other;
}

Unexpected badRung(const std::string& method, std::string what, std::string expected, std::string hint = {}) {
    return fail("search.ladder", fmt::format("`{}` {}", method, what), std::move(expected), std::move(hint));
}

Expected<std::vector<Rung>> namedLadder(const SearchProblem& problem, double dear) {
    std::vector<Rung> rungs;
    for (const std::string& method : problem.ladder) {
        if (method == problem.method) continue;  // the dear end, where people list it too
        const auto choice = methodChoice(method, builtinMethods());
        if (!choice) return badRung(method, "is no method: " + choice.error().message, choice.error().expected);
        if (!findMethod(choice->id)->card.answers(kindOf(problem.space.base().task)))
            return badRung(method, "does not answer the question", "methods that do");
        const auto seconds = secondsOf(problem, method);
        if (!seconds) return badRung(method, "states no cost of an answer", "methods whose cards state it");
        if (*seconds >= dear) {
            return badRung(method, fmt::format("costs no less than {}", problem.method),
                           "cheaper methods than the search's own", "the dearest one is the search's `method`");
        }
        rungs.push_back({method, *seconds / dear});
    }
    std::stable_sort(rungs.begin(), rungs.end(), [](const Rung& a, const Rung& b) { return a.cost < b.cost; });
    return rungs;
}

}  // namespace

Expected<std::vector<Rung>> ladderOf(const SearchProblem& problem) {
    const auto knobs = problem.space.knobs();
    const bool ofMethod =
        std::any_of(knobs.begin(), knobs.end(), [](const Knob& knob) { return knob.of == KnobOf::Method; });
    if (ofMethod && !problem.ladder.empty()) {
        return fail("search.ladder", "options of one method are knobs, which other methods do not have",
                    "no ladder, or no such knobs");
    }
    if (problem.source) {
        if (problem.ladder.empty()) return std::vector<Rung>{};
        return fail("search.ladder", "points are not answered by a method", "no ladder");
    }
    const auto dear = secondsOf(problem, problem.method);
    if (!dear && !problem.ladder.empty()) {
        return badRung(problem.method, "states no cost of an answer", "a method whose card states it");
    }
    if (!dear || ofMethod) return std::vector<Rung>{};
    if (!problem.ladder.empty()) return namedLadder(problem, *dear);

    // What takes more cannot pay: before it is known what it tells, it has been asked some times beside the dear one.
    constexpr double most = 0.1;
    std::vector<Rung> able;
    for (const Method& method : builtinMethods()) {
        const std::string id(method.card.id);
        const auto seconds = asksForFile(method.card) ? std::nullopt : secondsOf(problem, id);
        if (!seconds || *seconds > most * *dear || methodChoice(problem.method, builtinMethods())->id == id) continue;
        if (!evaluateBase(askedOf(problem, id), {}).evaluation.refusal.empty()) continue;
        able.push_back({id, *seconds / *dear});
    }
    std::stable_sort(able.begin(), able.end(), [](const Rung& a, const Rung& b) { return a.cost < b.cost; });
    if (able.size() <= 1) return able;
    std::vector<Rung> rungs{able.back()};
    if (able.front().cost < able.back().cost / 3) rungs.insert(rungs.begin(), able.front());
    return rungs;
}

}  // namespace orrery
