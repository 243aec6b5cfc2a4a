#include "learning/composition.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>

namespace orrery {

namespace {

// One side of one group.
struct Side {
    double sum = 0, squares = 0;
    void add(double width) {
        sum += width;
        squares += width * width;
    }
};
using Sides = std::array<Side, maxCompositionGroups>;

double halfWidth(const Sides& groups, std::span<const double> correlation, double between) {
    double squares = 0;
    double common = 0, commonSquares = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const double rho = g < correlation.size() ? std::clamp(correlation[g], 0.0, 1.0) : 0.0;
        squares += (1 - rho) * groups[g].squares + rho * groups[g].sum * groups[g].sum;
        const double shared = std::sqrt(rho) * groups[g].sum;
        common += shared;
        commonSquares += shared * shared;
    }
    squares += std::clamp(between, 0.0, 1.0) * std::max(0.0, common * common - commonSquares);
    return std::sqrt(squares);
}

}  // namespace

ComposedInterval composeIntervals(std::span<const PartInterval> parts, std::span<const double> correlation,
                                  double between) {
    ComposedInterval result;
    Sides below{};
    Sides above{};
    double centre = 0;
    for (const PartInterval& part : parts) {
        const double middle = std::clamp(part.seconds, std::min(part.low, part.high), std::max(part.low, part.high));
        const auto group = static_cast<std::size_t>(std::clamp(part.group, 0, maxCompositionGroups - 1));
        result.seconds += part.repeat * part.seconds;
        centre += part.repeat * middle;
        below[group].add(part.repeat * std::max(0.0, middle - part.low));
        above[group].add(part.repeat * std::max(0.0, part.high - middle));
    }
    std::array<double, maxCompositionGroups> all{};
    all.fill(1.0);
    const auto low = [&](double width) { return std::max(0.0, std::min(result.seconds, centre - width)); };
    const auto high = [&](double width) { return std::max(result.seconds, centre + width); };
    result.low = low(halfWidth(below, correlation, between));
    result.high = high(halfWidth(above, correlation, between));
    result.independentLow = low(halfWidth(below, {}, 0));
    result.independentHigh = high(halfWidth(above, {}, 0));
    result.correlatedLow = low(halfWidth(below, all, 1));
    result.correlatedHigh = high(halfWidth(above, all, 1));
    return result;
}

double intraclassCorrelation(std::span<const double> residuals, std::span<const std::int32_t> cluster) {
    assert(residuals.size() == cluster.size());
    struct Sums {
        double count = 0, sum = 0, squares = 0;
    };
    std::map<std::int32_t, Sums> clusters;
    Sums all;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        if (cluster[i] < 0) continue;
        for (Sums* sums : {&clusters[cluster[i]], &all}) {
            sums->count += 1;
            sums->sum += residuals[i];
            sums->squares += residuals[i] * residuals[i];
        }
    }
    const auto groups = static_cast<double>(clusters.size());
    if (groups < 2 || all.count <= groups) return 0;
    double between = -all.sum * all.sum / all.count;
    double within = all.squares;
    double sizes = 0;
    for (const auto& [number, sums] : clusters) {
        between += sums.sum * sums.sum / sums.count;
        within -= sums.sum * sums.sum / sums.count;
        sizes += sums.count * sums.count;
    }
    const double meanBetween = between / (groups - 1);
    const double meanWithin = std::max(0.0, within) / (all.count - groups);
    const double size = (all.count - sizes / all.count) / (groups - 1);
    const double whole = meanBetween + (size - 1) * meanWithin;
    return whole > 0 ? std::clamp((meanBetween - meanWithin) / whole, 0.0, 1.0) : 0;
}

}  // namespace orrery
