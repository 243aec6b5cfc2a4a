#include "serving/traffic/arrivals.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace orrery {

double exponential(RandomStream& random, double mean) {
    return mean <= 0 ? 0 : -mean * std::log1p(-random.uniform());
}

double unitGamma(RandomStream& random, double shape) {
    // Shapes below 1 from the one above: Γ(a) = Γ(a + 1) · U^(1/a).
    if (shape < 1) {
        const double raised = unitGamma(random, shape + 1) * (shape + 1);
        return raised * std::pow(1 - random.uniform(), 1 / shape) / shape;
    }
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    while (true) {
        const double x = random.normal();
        const double root = 1 + c * x;
        if (root <= 0) continue;
        const double v = root * root * root;
        const double u = 1 - random.uniform();
        if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v / shape;
    }
}

std::int32_t geometric(RandomStream& random, double mean) {
    if (mean <= 0) return 0;
    const double stay = mean / (1 + mean);
    return static_cast<std::int32_t>(std::min(std::log1p(-random.uniform()) / std::log(stay), 10000.0));
}

ArrivalTimes::ArrivalTimes(const ArrivalSpec& spec, RandomStream random) : spec_(spec), random_(random) {
    if (spec_.kind == ArrivalKind::Bursts) {
        bursting_ = random_.uniform() < spec_.burstShare;
        const double calm = spec_.burstSeconds * (1 - spec_.burstShare) / spec_.burstShare;
        switchAt_ = exponential(random_, bursting_ ? spec_.burstSeconds : calm);
    }
}

double ArrivalTimes::gap() {
    switch (spec_.kind) {
        case ArrivalKind::Poisson:
            return exponential(random_, 1 / spec_.rate);
        case ArrivalKind::Gamma:
            return unitGamma(random_, 1 / (spec_.cv * spec_.cv)) / spec_.rate;
        case ArrivalKind::Constant:
            return 1 / spec_.rate;
        default:
            return 0;
    }
}

// A Poisson process that changes between two rates (MMPP-2): a gap that reaches beyond a change is drawn anew from
// there.
double ArrivalTimes::bursts() {
    const double calmRate = spec_.rate / (1 + spec_.burstShare * (spec_.burstFactor - 1));
    const double calmSeconds = spec_.burstSeconds * (1 - spec_.burstShare) / spec_.burstShare;
    while (true) {
        const double rate = bursting_ ? calmRate * spec_.burstFactor : calmRate;
        const double at = now_ + exponential(random_, 1 / rate);
        if (at < switchAt_) return now_ = at;
        now_ = switchAt_;
        bursting_ = !bursting_;
        switchAt_ = now_ + exponential(random_, bursting_ ? spec_.burstSeconds : calmSeconds);
    }
}

// Thinning of a process at the highest rate (Lewis and Shedler, Naval Research Logistics 26, 1979).
double ArrivalTimes::diurnal() {
    const double highest = spec_.rate * (1 + spec_.swing);
    while (true) {
        now_ += exponential(random_, 1 / highest);
        const double wave = std::sin(2 * std::numbers::pi * (now_ / spec_.period + spec_.phase));
        if (random_.uniform() * highest < spec_.rate * (1 + spec_.swing * wave)) return now_;
    }
}

double ArrivalTimes::next() {
    if (spec_.kind == ArrivalKind::Bursts) return bursts();
    if (spec_.kind == ArrivalKind::Diurnal) return diurnal();
    double wait = gap();
    if (spec_.longestGap > 0) wait = std::min(wait, spec_.longestGap / spec_.rate);
    return now_ += wait;
}

}  // namespace orrery
