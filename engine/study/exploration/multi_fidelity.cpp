#include "study/exploration/multi_fidelity.h"

#include "study/exploration/bayesian.h"
#include "study/exploration/ladder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {

namespace {

using Points = std::vector<std::uint64_t>;

constexpr std::size_t fewestToLearn = 4;  // answers of two methods at the same points

// Of rungs below `level` only those that cost little beside it are asked on the way: the others must be worth it by
// themselves.
constexpr double little = 0.1;

// What an answer takes together with those of the methods below it that it goes by, which are asked first.
double costUpTo(const Search& search, const Belief& belief, std::size_t level, std::uint64_t point) {
    double cost = level < search.ladder().size() ? search.ladder()[level].rung.cost : 1;
    const double own = cost;
    for (std::size_t rung = 0; rung < level; ++rung) {
        const double below = search.ladder()[rung].rung.cost;
        if (below <= little * own && belief.uses(rung) && !search.findCheap(rung, point)) cost += below;
    }
    return cost;
}

bool askUpTo(Search& search, const Belief* belief, std::size_t level, const Points& points) {
    const double own = level < search.ladder().size() ? search.ladder()[level].rung.cost : 1;
    for (std::size_t rung = 0; rung < std::min(level + 1, search.ladder().size()); ++rung) {
        const bool cheap = search.ladder()[rung].rung.cost <= little * own;
        if (rung == level || (cheap && (!belief || belief->uses(rung)))) search.evaluateCheaply(rung, points);
    }
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

// An even start by the cheapest method for a tenth of the budget at most. The others start at some of its points, so
// that what one adds to another shows without asking both: as even as they came, and on the front that it promises, for
// what it does not see shows nowhere along that. A rung between must not take more than a twentieth for that.
bool begin(Search& search, RandomStream& random) {
    const double budget = search.left();
    const std::size_t knobs = search.space().knobs().size(), rungs = search.ladder().size();
    const double most = std::clamp(0.1 * budget / search.ladder().front().rung.cost, 4.0, 1e6);
    const std::size_t count = std::min(std::clamp<std::size_t>(16 * knobs, 32, 256), static_cast<std::size_t>(most));
    const Points even = latinPoints(search.space(), count, random);
    search.evaluateCheaply(0, even);
    if (search.stopped()) return false;
    const auto few = static_cast<std::size_t>(
        std::clamp(budget / 10, 4.0, 2.0 * static_cast<double>(std::max<std::size_t>(knobs, 4))));
    Points points = promising(search, few / 2);
    for (std::size_t n = 0; n < even.size() && points.size() < few; ++n)
        if (std::find(points.begin(), points.end(), even[n]) == points.end()) points.push_back(even[n]);
    for (std::size_t rung = 1; rung < rungs; ++rung) {
        const auto some = static_cast<std::size_t>(0.05 * budget / search.ladder()[rung].rung.cost);
        if (some < fewestToLearn) continue;
        search.evaluateCheaply(
            rung, Points(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(std::min(some, points.size()))));
        if (search.stopped()) return false;
    }
    return search.evaluate(points);
}

// Points that cheaper methods have answered and the search's own has not.
void addAnswered(const Search& search, Points& points) {
    constexpr std::size_t most = 1000;
    Points answered;
    for (const RungAnswers& rung : search.ladder())
        for (const std::uint64_t point : rung.answers.points)
            if (!search.find(point)) answered.push_back(point);
    if (answered.size() > most) answered.erase(answered.begin(), answered.end() - most);
    points.insert(points.end(), answered.begin(), answered.end());
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
}

// Of each rung the points of which an answer adds more to the next question, per second, than the best question of the
// search's own method adds to the front.
std::vector<Points> cheapPicks(const Search& search, const Belief& belief, const Points& points, double allowance) {
    const std::size_t rungs = search.ladder().size();
    const auto expected = belief.of(points);
    std::vector<double> worth;
    for (const Expectation& each : expected) worth.push_back(belief.worth(each));
    const auto best = static_cast<std::size_t>(std::max_element(worth.begin(), worth.end()) - worth.begin());
    double second = 0;
    for (std::size_t i = 0; i < worth.size(); ++i)
        if (i != best) second = std::max(second, worth[i]);
    const double dear = worth[best] / costUpTo(search, belief, rungs, points[best]);
    std::vector<Points> picks(rungs);
    for (std::size_t rung = 0; rung < rungs; ++rung) {
        if (!belief.uses(rung)) continue;
        std::vector<double> score(points.size(), 0);
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (search.findCheap(rung, points[i])) continue;
            score[i] = belief.insight(expected[i], rung, i == best ? second : worth[best]) /
                       costUpTo(search, belief, rung, points[i]);
            if (score[i] > dear) order.push_back(i);
        }
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return score[a] > score[b]; });
        const double most = allowance / static_cast<double>(rungs) / search.ladder()[rung].rung.cost;
        order.resize(std::min(order.size(), static_cast<std::size_t>(std::clamp(most, 1.0, 256.0))));
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
        addAnswered(search, points);
        if (points.empty()) return;
        bool known = belief.learn();
        // At the end there is nothing more that a cheap answer could be good for.
        for (int round = 0; round < 4 && known && search.left() > static_cast<double>(batch); ++round) {
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
