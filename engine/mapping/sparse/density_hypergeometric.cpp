#include "mapping/sparse/density.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

/// Below this many draws the product is formed factor by factor: exact to rounding, and cheap.
constexpr double longProduct = 512;

double logChoose(double n, double k) {
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

double logMass(double population, double marked, double drawn, double k) {
    return logChoose(marked, k) + logChoose(population - marked, drawn - k) - logChoose(population, drawn);
}

}  // namespace

double hypergeometricEmpty(double population, double marked, double drawn) {
    if (marked <= 0 || drawn <= 0) return 1;
    if (marked + drawn > population) return 0;
    // Drawing `drawn` words that miss all marked ones is the same as marking words that miss all drawn ones.
    const double fewer = std::min(marked, drawn), other = std::max(marked, drawn);
    if (fewer <= longProduct) {
        double product = 1;
        for (double i = 0; i < fewer; ++i) product *= (population - other - i) / (population - i);
        return product;
    }
    return std::exp(logMass(population, marked, drawn, 0));
}

OccupancyDistribution hypergeometric(double population, double marked, double drawn) {
    const double lowest = std::max(0.0, drawn + marked - population), highest = std::min(drawn, marked);
    if (lowest >= highest) return {lowest, {1.0}};
    const double mode = std::clamp(std::floor((drawn + 1) * (marked + 1) / (population + 2)), lowest, highest);

    // Outwards from the mode by the ratio of neighbouring masses, so that nothing is lost to the size of factorials.
    constexpr double negligible = 1e-18;
    std::vector<double> below, above;
    double mass = 1;
    for (double k = mode; k > lowest; --k) {
        mass *= k * (population - marked - drawn + k) / ((marked - k + 1) * (drawn - k + 1));
        if (mass < negligible) break;
        below.push_back(mass);
    }
    mass = 1;
    for (double k = mode; k < highest; ++k) {
        mass *= (marked - k) * (drawn - k) / ((k + 1) * (population - marked - drawn + k + 1));
        if (mass < negligible) break;
        above.push_back(mass);
    }
    OccupancyDistribution spread;
    spread.first = mode - static_cast<double>(below.size());
    spread.probability.assign(below.rbegin(), below.rend());
    spread.probability.push_back(1);
    spread.probability.insert(spread.probability.end(), above.begin(), above.end());
    double sum = 0;
    for (const double p : spread.probability) sum += p;
    for (double& p : spread.probability) p /= sum;
    return spread;
}

}  // namespace orrery
