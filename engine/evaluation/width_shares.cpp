#include "evaluation/width_shares.h"

#include <algorithm>
#include <cmath>

namespace orrery {

WidthShares widthShares(const Estimate& estimate) {
    WidthShares result;
    const auto& ops = estimate.operators;
    const double latency = estimate.latency.value;
    if (ops.lowSeconds.size() != ops.size() || ops.highSeconds.size() != ops.size() || !(latency > 0)) return result;
    result.half = (estimate.interval.high.value - estimate.interval.low.value) / 2 / latency;
    double sum = 0, squares = 0;
    std::vector<double> half(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
        half[i] = std::max(0.0, ops.highSeconds[i] - ops.lowSeconds[i]) / 2 / latency;
        sum += half[i];
        squares += half[i] * half[i];
    }
    result.independent = std::sqrt(squares);
    result.common = sum;
    if (!(sum > 0)) return result;
    const double between = sum * sum - squares;
    result.correlation = between > 0 ? std::clamp((result.half * result.half - squares) / between, 0.0, 1.0) : 1.0;
    const double rho = result.correlation;
    const double whole = (1 - rho) * squares + rho * sum * sum;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        if (!(half[i] > 0)) continue;
        const double share = ((1 - rho) * half[i] * half[i] + rho * half[i] * sum) / whole;
        const double rest = sum - half[i];
        const double left = (1 - rho) * (squares - half[i] * half[i]) + rho * rest * rest;
        result.operators.push_back(
            {static_cast<std::int32_t>(i), ops.seconds[i], share, std::sqrt(std::max(0.0, left))});
    }
    std::stable_sort(result.operators.begin(), result.operators.end(),
                     [](const WidthShare& a, const WidthShare& b) { return a.share > b.share; });
    return result;
}

}  // namespace orrery
