#include "learning/edge/next_samples.h"

#include <algorithm>
#include <cmath>

namespace orrery {

std::vector<NextSample> nextSamples(std::vector<double>& covariance, double rest,
                                    std::span<const std::size_t> candidates, std::size_t count) {
    const auto n = static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(covariance.size()))));
    std::vector<std::size_t> open(candidates.begin(), candidates.end());
    std::erase_if(open, [&](std::size_t each) { return each >= n; });
    std::vector<NextSample> chosen;
    const double noise = std::max(rest * rest, 1e-12);
    while (chosen.size() < count && !open.empty()) {
        double best = -1;
        std::size_t at = 0;
        for (std::size_t i = 0; i < open.size(); ++i) {
            const double* row = covariance.data() + open[i] * n;
            double squares = 0;
            for (std::size_t j = 0; j < n; ++j) squares += row[j] * row[j];
            const double own = row[open[i]];
            const double gain = (squares - own * own) / (own + noise);
            if (gain > best) best = gain, at = i;
        }
        const std::size_t network = open[at];
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
        const std::vector<double> row(covariance.begin() + static_cast<std::ptrdiff_t>(network * n),
                                      covariance.begin() + static_cast<std::ptrdiff_t>((network + 1) * n));
        const double scale = 1 / (row[network] + noise);
        double left = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double factor = row[i] * scale;
            for (std::size_t j = 0; factor != 0 && j < n; ++j) covariance[i * n + j] -= factor * row[j];
            left += std::max(0.0, covariance[i * n + i]);
        }
        chosen.push_back({network, std::sqrt(left / static_cast<double>(n))});
    }
    return chosen;
}

}  // namespace orrery
