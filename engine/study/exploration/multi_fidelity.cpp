#include "study/exploration/multi_fidelity.h"

#include "study/exploration/bayesian.h"
#include "study/exploration/ladder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {

namespace {

using Points = std::vector<std::uint64_t>;

// What an answer takes together with those of the methods below it that it goes by, which are asked first.
double costUpTo(const Search& search, const Belief& belief, std::size_t level, std::uint64_t point) {
    double cost = level < search.ladder().size() ? search.ladder()[level].rung.cost : 1;
    for (std::size_t rung = 0; rung < level; ++rung)
        if (belief.uses(rung) && !search.findCheap(rung, point)) cost += search.ladder()[rung].rung.cost;
    return cost;
}

bool askUpTo(Search& search, const Belief* belief, std::size_t level, const Points& points) {
    for (std::size_t rung = 0; rung < std::min(level + 1, search.ladder().size()); ++rung)
        if (!belief || rung == level || belief->uses(rung)) search.evaluateCheaply(rung, points);
    if (search.stopped()) return false;
    return level < search.ladder().size() ? search.left() >= 1 : search.evaluate(points);
}

// Evenly over the front of what the cheapest method has answered.
Points promising(const Search& search, std::size_t count) {
    const PointAnswers& answers = search.ladder().front().answers;
    const Front front = frontOf(search.problem(), answers);
    const std::size_t some = std::min(front.points.size(), count);
    Points points;
    for (std::size_t n = 0; n < some; ++n)
        points.push_back(answers.points[front.points[n * front.points.size() / some]]);
    return points;
}

// An even start by the cheapest method for a tenth of the budget at most, and all of them where they shall meet.
bool begin(Search& search, RandomStream& random) {
    const double budget = search.left();
    const std::size_t knobs = search.space().knobs().size();
    const double most = std::clamp(0.1 * budget / search.ladder().front().rung.cost, 4.0, 1e6);
    const std::size_t count = std::min(std::clamp<std::size_t>(16 * knobs, 32, 256), static_cast<std::size_t>(most));
    search.evaluateCheaply(0, latinPoints(search.space(), count, random));
    if (search.stopped()) return false;
    // As even a start as without cheaper methods, and beside it what they promise: what they do not see shows nowhere
    // along their own front.
    const auto few = static_cast<std::size_t>(std::clamp(budget / 4, 3.0, 40.0));
    Points points = latinPoints(search.space(), std::min(std::clamp<std::size_t>(2 * knobs, 8, 40), few), random);
    const Points best = promising(search, std::max<std::size_t>(1, few / 4));
    points.insert(points.end(), best.begin(), best.end());
    return askUpTo(search, nullptr, search.ladder().size(), points);
}

// Of each rung the points of which an answer promises more per second than the best answer of the search's own method.
std::vector<Points> cheapPicks(const Search& search, const Belief& belief, const Points& points, double allowance) {
    const std::size_t rungs = search.ladder().size();
    const auto expected = belief.of(points);
    std::vector<double> worth;
    double dear = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        worth.push_back(belief.worth(expected[i]));
        dear = std::max(dear, worth.back() / costUpTo(search, belief, rungs, points[i]));
    }
    std::vector<Points> picks(rungs);
    for (std::size_t rung = 0; rung < rungs; ++rung) {
        std::vector<double> score(points.size(), 0);
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < points.size() && belief.uses(rung); ++i) {
            if (search.findCheap(rung, points[i])) continue;
            score[i] = worth[i] * expected[i].within[rung] / costUpTo(search, belief, rung, points[i]);
            if (score[i] > dear) order.push_back(i);
        }
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return score[a] > score[b]; });
        const double most = allowance / static_cast<double>(rungs) / search.ladder()[rung].rung.cost;
        order.resize(std::min(order.size(), static_cast<std::size_t>(std::clamp(most, 0.0, 256.0))));
        for (const std::size_t i : order) picks[rung].push_back(points[i]);
    }
    return picks;
}

}  // namespace

void multiFidelity(Search& search, RandomStream random) {
    const auto ladder = ladderOf(search.problem());
    if (!ladder || ladder->empty()) return bayesian(search, random);
    std::vector<RungAnswers> rungs;
    for (const Rung& rung : *ladder) rungs.push_back({rung, {}});
    search.useLadder(rungs);
    if (!begin(search, random)) return;
    Belief belief(search);
    for (;;) {
        const std::size_t batch = std::clamp<std::size_t>(search.seen().size() / 20, 2, 32);
        Points points = candidatesOf(search, belief.around(), random);
        if (points.empty()) return;
        bool known = belief.learn();
        for (int round = 0; round < 2 && known; ++round) {
            const auto picks = cheapPicks(search, belief, points, 0.25 * static_cast<double>(batch));
            if (std::all_of(picks.begin(), picks.end(), [](const Points& some) { return some.empty(); })) break;
            for (std::size_t rung = 0; rung < picks.size(); ++rung)
                if (!askUpTo(search, &belief, rung, picks[rung])) return;
            known = belief.learn();
        }
        points =
            known ? likeliestPoints(belief, std::move(points), batch) : anyPoints(std::move(points), batch, random);
        if (!askUpTo(search, known ? &belief : nullptr, search.ladder().size(), points)) return;
    }
}

}  // namespace orrery
