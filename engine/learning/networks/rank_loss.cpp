#include "learning/networks/rank_loss.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace orrery {

double addRankSlopes(std::span<const float> scores, std::span<const double> worth, double temperature, double weight,
                     std::span<float> slopes) {
    const std::size_t n = scores.size();
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    std::vector<double> discount(n);
    for (std::size_t place = 0; place < n; ++place)
        discount[order[place]] = 1 / std::log2(2 + static_cast<double>(place));
    // Places are taken as given: the weights have no slope.
    const auto changeOf = [&](std::size_t i, std::size_t j) {
        return (worth[i] - worth[j]) * std::abs(discount[i] - discount[j]);
    };
    double whole = 0, loss = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            if (worth[i] > worth[j]) whole += changeOf(i, j);
    if (whole <= 0) return 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            if (!(worth[i] > worth[j])) continue;
            const double share = weight * changeOf(i, j) / whole, apart = double(scores[i] - scores[j]) / temperature;
            // ln(1 + e^−apart), and 1 ÷ (1 + e^apart), without overflow.
            loss += share * (std::max(-apart, 0.0) + std::log1p(std::exp(-std::abs(apart))));
            const auto pull = float(share / temperature / (1 + std::exp(std::min(apart, 700.0))));
            slopes[i] -= pull;
            slopes[j] += pull;
        }
    }
    return loss;
}

}  // namespace orrery
