#include "learning/edge/level_steps.h"

#include "base/maths.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

constexpr double sure = 8;             // times ln n: what a step must explain, in squares of the scatter
constexpr double leastScatter = 1e-3;  // a timer's
constexpr int rounds = 3;              // of model and levels in turn
constexpr double outside = 0.1;        // of an interval that holds nine in ten

double middle(std::span<const double> values) {
    std::vector<double> copy(values.begin(), values.end());
    return quantileType7(copy, 0.5);
}

// Halves of a normal's absolute deviations from its median lie below 0.674 σ; a difference of two has √2 σ.
double scatterOf(std::span<const double> inOrder) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < inOrder.size(); ++i) steps.push_back(std::abs(inOrder[i] - inOrder[i - 1]));
    return std::max(leastScatter, middle(steps) / (0.6744897501960817 * std::sqrt(2.0)));
}

struct Split {
    double scatter;
    std::size_t least;  // samples of a state
    double needed;
    std::vector<std::size_t> ends = {};

    // The cut that explains most, if its medians say so too: few far rows are no state.
    void in(std::span<const double> off, std::size_t first) {
        const std::size_t n = off.size();
        std::size_t best = 0;
        double most = 0, before = 0;
        const double total = std::accumulate(off.begin(), off.end(), 0.0);
        const auto gain = [&](std::size_t k, double step) {
            const double a = static_cast<double>(k), b = static_cast<double>(n - k);
            return a * b / (a + b) * step * step / (scatter * scatter);
        };
        for (std::size_t k = 1; k + least <= n; ++k) {
            before += off[k - 1];
            if (k < least) continue;
            const double each =
                gain(k, before / static_cast<double>(k) - (total - before) / static_cast<double>(n - k));
            if (each > most) most = each, best = k;
        }
        if (best == 0) {
            ends.push_back(first + n);
            return;
        }
        const double step = std::abs(middle(off.first(best)) - middle(off.subspan(best)));
        if (std::min(most, gain(best, step)) <= needed || step <= scatter) {
            ends.push_back(first + n);
            return;
        }
        in(off.first(best), first);
        in(off.subspan(best), first + best);
    }
};

}  // namespace

LevelSteps LevelSteps::find(std::span<const double> order, std::span<const double> off) {
    LevelSteps out;
    const std::size_t n = off.size();
    if (n < leastSamples || order.size() != n) return out;
    constexpr std::size_t many = 100, leastOfMany = 8, leastOfFew = 4;
    std::vector<std::size_t> by(n);
    std::iota(by.begin(), by.end(), std::size_t{0});
    std::stable_sort(by.begin(), by.end(), [&](std::size_t a, std::size_t b) { return order[a] < order[b]; });
    std::vector<double> sorted;
    for (const std::size_t i : by) sorted.push_back(off[i]);
    Split split{scatterOf(sorted), n < many ? leastOfFew : leastOfMany, sure * std::log(static_cast<double>(n))};
    split.in(sorted, 0);
    if (split.ends.size() < 2) return out;
    out.states_.clear();
    std::size_t first = 0;
    for (const std::size_t end : split.ends) {
        out.states_.push_back(
            {order[by[first]], order[by[end - 1]], middle(std::span(sorted).subspan(first, end - first))});
        first = end;
    }
    const double last = out.states_.back().level;
    for (State& each : out.states_) each.level -= last;
    for (std::size_t s = 1; s < out.states_.size(); ++s)
        out.sizes_.push_back(std::abs(out.states_[s].level - out.states_[s - 1].level));
    std::sort(out.sizes_.begin(), out.sizes_.end());
    const double range = out.states_.back().last - out.states_.front().first;
    out.stepsPerOrder_ = range > 0 ? static_cast<double>(out.sizes_.size()) / range : 0;
    return out;
}

LevelSteps::Level LevelSteps::at(double order) const {
    if (states_.size() < 2) return {};
    const auto beyond = [&](double level, double distance) {
        const double stepped = -std::expm1(-stepsPerOrder_ * distance);
        if (stepped <= outside) return Level{level, level, level};
        std::vector<double> sizes = sizes_;
        const double size = quantileType7(sizes, 1 - outside / stepped);
        return Level{level, level - size, level + size};
    };
    if (order < states_.front().first) return beyond(states_.front().level, states_.front().first - order);
    for (std::size_t s = 0; s < states_.size(); ++s) {
        const State& here = states_[s];
        if (order <= here.last) return {here.level, here.level, here.level};
        if (s + 1 == states_.size()) break;
        const State& next = states_[s + 1];
        if (order >= next.first) continue;
        const double level = order - here.last < next.first - order ? here.level : next.level;
        return {level, std::min(here.level, next.level), std::max(here.level, next.level)};
    }
    return beyond(states_.back().level, order - states_.back().last);
}

std::vector<double> LevelSteps::begins() const {
    std::vector<double> out;
    for (std::size_t s = 1; s < states_.size(); ++s) out.push_back(states_[s].first);
    return out;
}

Predicted OrderedModel::at(const Predicted& told, double order) const {
    const auto [mean, low, high] = levels.at(order);
    return {told.mean * std::exp(mean), told.low * std::exp(low), told.high * std::exp(high)};
}

Expected<OrderedModel> conditionInOrder(const DevicePrior& prior, const FeatureRows& networks,
                                        std::span<const double> latencies, std::span<const double> order) {
    auto model = prior.condition(networks, latencies);
    if (!model) return Unexpected(model.error());
    OrderedModel out{std::move(*model), {}};
    for (int round = 0; round < rounds; ++round) {
        std::vector<double> off;
        for (std::size_t i = 0; i < latencies.size(); ++i)
            off.push_back(std::log(latencies[i] / out.model.mean(networks.row(i))));
        LevelSteps levels = LevelSteps::find(order, off);
        if (levels.states() < 2) break;
        std::vector<double> level;
        for (std::size_t i = 0; i < latencies.size(); ++i)
            level.push_back(latencies[i] * std::exp(-levels.at(order[i]).mean));
        model = prior.condition(networks, level);
        if (!model) return Unexpected(model.error());
        out = {std::move(*model), std::move(levels)};
    }
    return out;
}

}  // namespace orrery
