#include "simulation/sampling/statistics.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

// Regularised incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8), after Lentz.
double betaShare(double x, double a, double b) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
    const double front =
        std::exp(a * std::log(x) + b * std::log(1 - x) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b)) / a;
    constexpr double tiny = 1e-300;
    double c = 1, d = 1 / std::max(tiny, 1 - (a + b) * x / (a + 1)), result = d;
    for (int m = 1; m < 400; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / (1 + even * d), c = 1 + even / c;
        result *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + odd * d), c = 1 + odd / c;
        result *= d * c;
        if (std::fabs(d * c - 1) < 1e-14) break;
    }
    return front * result;
}

double variance(std::span<const double> drawn, double mean) {
    double squares = 0;
    for (const double x : drawn) squares += (x - mean) * (x - mean);
    return squares / static_cast<double>(drawn.size() - 1);
}

double mean(std::span<const double> drawn) {
    double sum = 0;
    for (const double x : drawn) sum += x;
    return sum / static_cast<double>(drawn.size());
}

}  // namespace

double studentQuantile(double level, double degrees) {
    if (level < 0.5) return -studentQuantile(1 - level, degrees);
    const double v = std::max(1.0, degrees), beyond = 2 * (1 - level);
    double low = 0, high = 1;
    const auto tails = [&](double t) { return betaShare(v / (v + t * t), v / 2, 0.5); };
    while (tails(high) > beyond && high < 1e12) high *= 2;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (tails(middle) > beyond ? low : high) = middle;
    }
    return (low + high) / 2;
}

SampleMean meanOf(std::span<const double> drawn, double confidence) {
    if (drawn.empty()) return {0, 0};
    const double m = mean(drawn), n = static_cast<double>(drawn.size());
    if (drawn.size() < 2) return {m, 0};
    return {m, studentQuantile(0.5 + confidence / 2, n - 1) * std::sqrt(variance(drawn, m) / n)};
}

SampleTotal totalOf(std::span<const SampleStratum> strata, double confidence) {
    SampleTotal out;
    double all = 0, squaresByDegrees = 0, drift = 0;
    for (const SampleStratum& one : strata) {
        if (one.drawn.empty() || one.weight <= 0) continue;
        const auto n = static_cast<double>(one.drawn.size());
        const double m = mean(one.drawn);
        out.total += one.weight * m;
        const double s2 = one.drawn.size() > 1 ? variance(one.drawn, m) : one.varianceOfOne;
        const double part = s2 * (one.weight * one.weight / n + one.squares);
        drift += one.weight * std::fabs(one.drift);
        all += part, squaresByDegrees += part * part / std::max(1.0, n - 1);
    }
    if (all > 0) out.half = studentQuantile(0.5 + confidence / 2, all * all / squaresByDegrees) * std::sqrt(all);
    out.half = std::hypot(out.half, drift);
    return out;
}

}  // namespace orrery
