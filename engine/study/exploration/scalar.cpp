#include "study/exploration/scalar.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {

namespace {

double logOf(double cost) {
    return cost < 0 ? -std::log(-cost) : std::log(std::max(cost, 1e-300));
}

}  // namespace

std::vector<std::vector<std::uint32_t>> latinLevels(std::span<const Knob> knobs, std::size_t count,
                                                    RandomStream& random) {
    std::vector<std::vector<std::uint32_t>> levels(count, std::vector<std::uint32_t>(knobs.size()));
    std::vector<std::size_t> order(count);
    for (std::size_t k = 0; k < knobs.size(); ++k) {
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t i = count; i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
        for (std::size_t i = 0; i < count; ++i) {
            const double at = (static_cast<double>(order[i]) + random.uniform()) / static_cast<double>(count);
            levels[i][k] = static_cast<std::uint32_t>(at * static_cast<double>(knobs[k].values.size()));
        }
    }
    return levels;
}

std::vector<std::uint64_t> latinPoints(const Search& search, std::size_t count, RandomStream& random) {
    std::vector<std::uint64_t> points;
    for (const auto& each : latinLevels(search.space().knobs(), count, random))
        points.push_back(search.pointNear(each, points));
    return points;
}

Fitness fitnessOf(const Search& search, std::uint64_t point) {
    const auto row = search.find(point);
    const auto& objectives = search.problem().objectives;
    Fitness fitness{worstCost, std::vector<double>(objectives.size(), worstCost)};
    if (!row || *row >= search.seen().size() || !search.seen().answered(*row)) return fitness;
    fitness.violation = search.seen().violation[*row];
    for (std::size_t k = 0; k < objectives.size(); ++k) {
        const double value = search.seen().value[*row * objectives.size() + k];
        fitness.costs[k] = objectives[k].maximise ? -value : value;
    }
    return fitness;
}

bool dominates(const Fitness& a, const Fitness& b) {
    if (a.violation != b.violation && (a.violation > 0 || b.violation > 0)) return a.violation < b.violation;
    bool less = false;
    for (std::size_t k = 0; k < a.costs.size(); ++k) {
        if (a.costs[k] > b.costs[k]) return false;
        less = less || a.costs[k] < b.costs[k];
    }
    return less;
}

CostScale::CostScale(const Search& search)
    : least_(search.problem().objectives.size(), worstCost), most_(least_.size(), -worstCost) {
    for (const std::uint64_t point : search.seen().points) {
        const Fitness fitness = fitnessOf(search, point);
        if (fitness.violation > 0) continue;
        for (std::size_t k = 0; k < least_.size(); ++k) {
            least_[k] = std::min(least_[k], logOf(fitness.costs[k]));
            most_[k] = std::max(most_[k], logOf(fitness.costs[k]));
        }
    }
}

double CostScale::of(std::size_t objective, double cost, double weight) const {
    return weight * (logOf(cost) - least_[objective]) / std::max(most_[objective] - least_[objective], 1e-12);
}

std::vector<double> CostScale::bounded(const Search& search, std::uint64_t point) const {
    const Fitness fitness = fitnessOf(search, point);
    std::vector<double> costs(least_.size(), 1000);
    if (std::isinf(fitness.violation)) return costs;
    for (std::size_t k = 0; k < costs.size(); ++k) {
        costs[k] = fitness.violation > 0 ? std::min(2 + fitness.violation, 999.0)
                   // Nothing feasible was seen when the scale was made: any such point is better than what breaks one.
                   : std::isinf(least_[k]) ? 0
                                           : std::clamp(of(k, fitness.costs[k]), -2.0, 2.0);
    }
    return costs;
}

Descent::Descent(const Search& search, RandomStream& random) : search_(search), scale_(search) {
    double sum = 0;
    for (std::size_t k = 0; k < search.problem().objectives.size(); ++k) {
        weights_.push_back(-std::log(1 - random.uniform()));
        sum += weights_.back();
    }
    for (double& weight : weights_) weight /= sum;
}

double Descent::of(std::uint64_t point) const {
    const Fitness fitness = fitnessOf(search_, point);
    if (std::isinf(fitness.violation)) return worstCost;
    if (fitness.violation > 0) return 1e6 + fitness.violation;
    double most = -worstCost, sum = 0;
    for (std::size_t k = 0; k < weights_.size(); ++k) {
        const double cost = scale_.of(k, fitness.costs[k], weights_[k]);
        most = std::max(most, cost);
        sum += cost;
    }
    return most + 0.01 * sum;  // of equals the one that is nowhere worse
}

std::vector<std::uint64_t> Descent::best(std::size_t most) const {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t row = 0; row < search_.seen().size(); ++row)
        order.emplace_back(of(search_.seen().points[row]), row);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
    std::partial_sort(order.begin(), end, order.end());
    std::vector<std::uint64_t> points;
    for (auto each = order.begin(); each != end; ++each) points.push_back(search_.seen().points[each->second]);
    return points;
}

}  // namespace orrery
