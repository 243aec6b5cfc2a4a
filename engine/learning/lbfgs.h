#pragma once

// Limited-memory BFGS with backtracking (Nocedal and Wright, "Numerical Optimization", 2006, algorithm 7.5), for the
// few dozen parameters of a likelihood. The same start gives the same bits.

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <vector>

namespace orrery {

struct Minimum {
    std::vector<double> at;
    double value = 0;  ///< not finite where the start was not
};

/// `function(x, gradient)` returns the value and fills the gradient; a value that is not finite is too far. At most
/// `steps` steps, fewer where a step gains less than `tolerance`; `stopped()` is asked before each.
template <class Function, class Stopped>
Minimum minimise(Function&& function, std::vector<double> x, int steps, double tolerance, Stopped&& stopped) {
    constexpr std::size_t memory = 8;
    struct Pair {
        std::vector<double> step, change;
        double curvature = 0;
    };
    const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    std::vector<double> gradient(x.size()), ahead(x.size()), moved(x.size());
    double value = function(x, gradient);
    if (!std::isfinite(value)) return {std::move(x), value};
    std::deque<Pair> pairs;
    for (int n = 0; n < steps && !stopped(); ++n) {
        std::vector<double> direction = gradient, weights(pairs.size());
        for (std::size_t i = pairs.size(); i-- > 0;) {
            weights[i] = dot(pairs[i].step, direction) / pairs[i].curvature;
            for (std::size_t k = 0; k < x.size(); ++k) direction[k] -= weights[i] * pairs[i].change[k];
        }
        const double scale = pairs.empty() ? 1 / std::max(1.0, std::sqrt(dot(gradient, gradient)))
                                           : pairs.back().curvature / dot(pairs.back().change, pairs.back().change);
        for (double& each : direction) each *= scale;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const double back = dot(pairs[i].change, direction) / pairs[i].curvature;
            for (std::size_t k = 0; k < x.size(); ++k) direction[k] += (weights[i] - back) * pairs[i].step[k];
        }
        const double slope = dot(gradient, direction);
        if (!(slope > 0)) break;
        double length = 1, next = value;
        bool found = false;
        for (int halving = 0; halving < 20 && !found; ++halving, length /= 2) {
            for (std::size_t k = 0; k < x.size(); ++k) moved[k] = x[k] - length * direction[k];
            next = function(moved, ahead);
            found = std::isfinite(next) && next <= value - 1e-4 * length * slope;
        }
        if (!found) break;
        Pair pair{std::vector<double>(x.size()), std::vector<double>(x.size()), 0};
        for (std::size_t k = 0; k < x.size(); ++k) {
            pair.step[k] = moved[k] - x[k];
            pair.change[k] = ahead[k] - gradient[k];
        }
        pair.curvature = dot(pair.step, pair.change);
        if (pair.curvature > 1e-12) pairs.push_back(std::move(pair));
        if (pairs.size() > memory) pairs.pop_front();
        const double gain = value - next;
        x = moved;
        gradient = ahead;
        value = next;
        if (gain < tolerance) break;
    }
    return {std::move(x), value};
}

}  // namespace orrery
