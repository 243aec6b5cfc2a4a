#include "study/exploration/search_history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace orrery {

namespace {

// Points of which no other one beats them, by their first cost, and the area that they cover.
class Staircase {
public:
    void add(double x, double y) {
        const auto after = steps_.upper_bound(x);
        if (after != steps_.begin() && std::prev(after)->second <= y) return;
        auto from = steps_.lower_bound(x);
        auto to = from;
        while (to != steps_.end() && to->second >= y) ++to;
        steps_.erase(from, to);
        steps_.emplace(x, y);
    }
    double areaTo(double x, double y) const {
        double sum = 0, roof = y;
        for (const auto& [at, height] : steps_) {
            sum += (x - at) * (roof - height);
            roof = height;
        }
        return sum;
    }

private:
    std::map<double, double> steps_;
};

}  // namespace

SearchHistory historyOf(const SearchProblem& problem, const PointAnswers& seen, std::size_t samples) {
    SearchHistory history;
    const std::size_t count = seen.size(), width = problem.objectives.size();
    history.best.resize(width);
    if (count == 0 || width == 0) return history;
    for (std::size_t s = 0; s < samples; ++s) {
        const double share = samples < 2 ? 1 : static_cast<double>(s) / static_cast<double>(samples - 1);
        const auto at = static_cast<std::uint64_t>(std::llround(std::pow(static_cast<double>(count), share)));
        if (history.evaluations.empty() || history.evaluations.back() < at) history.evaluations.push_back(at);
    }
    if (history.evaluations.back() != count) history.evaluations.push_back(count);
    const auto cost = [&](std::size_t i, std::size_t k) {
        const double value = seen.value[i * width + k];
        return problem.objectives[k].maximise ? -value : value;
    };
    constexpr double far = -std::numeric_limits<double>::infinity();
    double worstX = far, worstY = far;
    for (std::size_t i = 0; width > 1 && i < count; ++i) {
        if (!seen.feasible(i)) continue;
        worstX = std::max(worstX, cost(i, 0));
        worstY = std::max(worstY, cost(i, 1));
    }
    std::vector<double> best(width, std::numeric_limits<double>::quiet_NaN());
    Staircase front;
    std::size_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (seen.feasible(i)) {
            for (std::size_t k = 0; k < width; ++k) {
                const double value = seen.value[i * width + k];
                const bool better = problem.objectives[k].maximise ? value > best[k] : value < best[k];
                if (better || std::isnan(best[k])) best[k] = value;
            }
            if (width > 1) front.add(cost(i, 0), cost(i, 1));
        }
        if (i + 1 < history.evaluations[next]) continue;
        for (std::size_t k = 0; k < width; ++k) history.best[k].push_back(best[k]);
        if (width > 1) history.volume.push_back(std::isfinite(worstX) ? front.areaTo(worstX, worstY) : 0);
        ++next;
    }
    const double all = history.volume.empty() ? 0 : history.volume.back();
    if (!(all > 0)) {
        history.volume.clear();
    } else {
        for (double& each : history.volume) each /= all;
    }
    return history;
}

}  // namespace orrery
