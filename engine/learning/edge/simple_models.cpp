#include "learning/edge/simple_models.h"

#include "learning/cholesky.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery {

std::vector<double> ridgeOfFour(const FeatureRows& samples, std::span<const double> latencies,
                                const FeatureRows& asked) {
    const std::size_t p = std::min<std::size_t>(5, samples.columns), n = latencies.size();
    const double mean = n > 0 ? std::accumulate(latencies.begin(), latencies.end(), 0.0) / static_cast<double>(n) : 1;
    std::vector<double> a(p * p, 0), b(p, 0), out(asked.rows(), mean);
    for (std::size_t r = 0; r < n; ++r) {
        const auto row = samples.row(r);
        for (std::size_t i = 0; i < p; ++i) {
            b[i] += row[i] * latencies[r];
            for (std::size_t j = 0; j < p; ++j) a[i * p + j] += row[i] * row[j];
        }
    }
    for (std::size_t i = 0; i < p; ++i) a[i * p + i] += i == 0 ? 1e-9 : 1e-3;
    const auto l = n > 0 ? cholesky(a, p) : std::nullopt;
    if (!l) return out;
    const auto w = choleskySolve(*l, b);
    for (std::size_t r = 0; r < out.size(); ++r) {
        out[r] = 0;
        for (std::size_t i = 0; i < p; ++i) out[r] += w[i] * asked.row(r)[i];
        out[r] = std::max(out[r], 0.02 * mean);
    }
    return out;
}

std::vector<double> likestDevice(std::span<const std::vector<double>> devices, std::span<const std::size_t> measured,
                                 std::span<const double> latencies) {
    struct Step {
        double spread, by;
        std::size_t device;
    };
    const auto there = [](double value) { return std::isfinite(value) && value > 0; };
    std::vector<Step> steps;
    for (std::size_t d = 0; d < devices.size(); ++d) {
        double sum = 0, squares = 0, count = 0;
        for (std::size_t i = 0; i < measured.size(); ++i) {
            if (!there(devices[d][measured[i]])) continue;
            const double step = std::log(latencies[i] / devices[d][measured[i]]);
            sum += step;
            squares += step * step;
            count += 1;
        }
        if (count == 0) continue;
        // A device with few of the samples is no likeness.
        const double lacking = static_cast<double>(measured.size()) - count;
        steps.push_back({squares / count - sum * sum / (count * count) + 0.05 * lacking, sum / count, d});
    }
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.spread < b.spread; });
    std::vector<double> out(devices.empty() ? 0 : devices.front().size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t n = 0; n < out.size(); ++n) {
        const auto has =
            std::find_if(steps.begin(), steps.end(), [&](const Step& each) { return there(devices[each.device][n]); });
        if (has != steps.end()) out[n] = devices[has->device][n] * std::exp(has->by);
    }
    return out;
}

}  // namespace orrery
