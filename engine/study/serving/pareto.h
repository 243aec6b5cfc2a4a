#pragma once

#include <cmath>
#include <vector>

namespace orrery {

/// Which points no other one beats: at most as much in every coordinate (all are costs) and less in one. Points with a
/// coordinate that is not a number are never among them; equal points are all among them. O(n²).
inline std::vector<bool> paretoFront(const std::vector<std::vector<double>>& costs) {
    std::vector<bool> front(costs.size(), true);
    for (std::size_t i = 0; i < costs.size(); ++i) {
        for (const double cost : costs[i]) front[i] = front[i] && !std::isnan(cost);
    }
    for (std::size_t i = 0; i < costs.size(); ++i) {
        for (std::size_t j = 0; j < costs.size() && front[i]; ++j) {
            if (i == j) continue;
            bool all = true, one = false;
            for (std::size_t k = 0; k < costs[i].size(); ++k) {
                all = all && costs[j][k] <= costs[i][k];  // false for NaN
                one = one || costs[j][k] < costs[i][k];
            }
            if (all && one) front[i] = false;
        }
    }
    return front;
}

}  // namespace orrery
