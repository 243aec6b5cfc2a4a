#include "study/exploration/bayesian.h"

#include "study/exploration/belief.h"

#include <algorithm>
#include <numeric>

namespace orrery {

std::vector<std::uint64_t> likeliestPoints(Belief& belief, std::vector<std::uint64_t> points, std::size_t count) {
    constexpr std::size_t shortlist = 200;  // that is weighed anew after each choice
    std::vector<std::uint64_t> out;
    while (!points.empty() && out.size() < count) {
        std::vector<double> worth;
        for (const Expectation& each : belief.of(points)) worth.push_back(belief.worth(each));
        std::vector<std::size_t> order(points.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return worth[a] > worth[b]; });
        out.push_back(points[order.front()]);
        if (out.size() == count) break;
        belief.believe(out.back());
        std::vector<std::uint64_t> few;
        for (std::size_t n = 1; n < std::min(order.size(), shortlist + 1); ++n) few.push_back(points[order[n]]);
        points = std::move(few);
    }
    return out;
}

std::vector<std::uint64_t> anyPoints(std::vector<std::uint64_t> points, std::size_t count, RandomStream& random) {
    for (std::size_t i = points.size(); i-- > 1;) std::swap(points[i], points[random.below(i + 1)]);
    points.resize(std::min(points.size(), count));
    return points;
}

void bayesian(Search& search, RandomStream random) {
    const std::size_t start = std::clamp<std::size_t>(2 * search.space().knobs().size(), 8, 40);
    if (!search.evaluate(latinPoints(search.space(), start, random))) return;
    Belief belief(search);
    for (;;) {
        const std::size_t batch = std::clamp<std::size_t>(search.seen().size() / 20, 4, 32);
        auto points = candidatesOf(search, belief.around(), random);
        points = belief.learn() ? likeliestPoints(belief, std::move(points), batch)
                                : anyPoints(std::move(points), batch, random);
        if (points.empty() || !search.evaluate(points)) return;
    }
}

}  // namespace orrery
