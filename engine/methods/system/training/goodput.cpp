#include "methods/system/training/goodput.h"

#include <algorithm>
#include <cmath>

namespace orrery {

double bestCheckpointInterval(const Reliability& its) {
    const double between = its.meanBetweenFailures, checkpoint = its.checkpoint;
    if (between <= 0 || checkpoint <= 0) return 0;
    if (checkpoint >= 2 * between) return between;
    const double ratio = checkpoint / (2 * between);
    return std::sqrt(2 * checkpoint * between) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - checkpoint;
}

double goodput(const Reliability& its, double interval) {
    const double segment = interval + its.checkpoint, between = its.meanBetweenFailures;
    if (interval <= 0) return 1;
    if (between <= 0) return interval / segment;
    const double spent = between * std::exp(its.restart / between) * std::expm1(segment / between);
    return std::isfinite(spent) && spent > 0 ? interval / spent : 0;
}

double drawnGoodput(const Reliability& its, double interval, double duration, RandomStream& random) {
    if (interval <= 0 || duration <= 0) return goodput(its, interval);
    const double segment = interval + its.checkpoint;
    if (its.meanBetweenFailures <= 0) return interval / segment;
    constexpr double most = 1e6;  // failures worth drawing
    if (duration > most * its.meanBetweenFailures) return goodput(its, interval);
    const auto next = [&] { return -its.meanBetweenFailures * std::log1p(-random.uniform()); };
    double now = 0, done = 0;
    while (now < duration) {
        double left = std::min(next(), duration - now);
        now += left;
        // What is left of it after coming back from the failure before.
        left -= std::min(left, now > left ? its.restart : 0);
        done += std::floor(left / segment) * interval;
    }
    return done / duration;
}

}  // namespace orrery
