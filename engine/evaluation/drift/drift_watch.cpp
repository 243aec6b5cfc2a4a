#include "evaluation/drift/drift_watch.h"

#include <algorithm>
#include <cmath>

namespace orrery {

void DriftWatch::add(double believed, double measured, double low, double high) {
    ++rows_;
    const double change = std::abs(std::log(measured / believed));
    const bool outside = high <= 0 || !(measured >= low && measured <= high);
    if (!(change <= std::log1p(stillWithin)) && outside) ++surprises_;
}

double DriftWatch::evidence() const {
    // The mean over shares by the midpoint rule; in logarithms, for hundreds of rows would underflow.
    constexpr int parts = 256;
    const auto hits = static_cast<double>(surprises_), misses = static_cast<double>(rows_ - surprises_);
    double sum = 0;
    for (int i = 0; i < parts; ++i) {
        const double share = stillShare + (1 - stillShare) * (i + 0.5) / parts;
        sum += std::exp(
            std::min(600.0, hits * std::log(share / stillShare) + misses * std::log((1 - share) / (1 - stillShare))));
    }
    return sum / parts;
}

}  // namespace orrery
