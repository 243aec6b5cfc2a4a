#include "study/exploration/bayesian_acquisition.h"

#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace orrery {

namespace {

double below(double z) {
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}
double density(double z) {
    return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
}
double expectedOf(double cost, CostUnit unit) {
    return unit == CostUnit::Plain ? cost : unit == CostUnit::Logarithm ? std::log(cost) : -std::log(-cost);
}
bool reaches(const std::vector<double>& row, const double* draw) {
    for (std::size_t k = 0; k < row.size(); ++k)
        if (row[k] > draw[k]) return false;
    return true;
}

}  // namespace

double costOf(double expected, CostUnit unit) {
    return unit == CostUnit::Plain ? expected : unit == CostUnit::Logarithm ? std::exp(expected) : -std::exp(-expected);
}

double probabilityBelow(const Normal& expected, double limit) {
    if (!(expected.deviation > 0)) return expected.mean < limit ? 1 : 0;
    return below((limit - expected.mean) / expected.deviation);
}

double expectedImprovement(const Normal& expected, double best) {
    const double gain = best - expected.mean;
    if (!(expected.deviation > 0)) return std::max(0.0, gain);
    const double z = gain / expected.deviation;
    return std::max(0.0, gain * below(z) + expected.deviation * density(z));
}

double expectedImprovement(const Normal& expected, double best, CostUnit unit) {
    if (unit == CostUnit::Plain) return expectedImprovement(expected, best);
    constexpr double widest = 8;  // beyond it nothing is told, and numbers overflow
    const double mean = expected.mean, deviation = std::min(expected.deviation, widest), edge = costOf(best, unit);
    if (!(deviation > 0)) return std::max(0.0, edge - costOf(mean, unit));
    const double z = (best - mean) / deviation, half = 0.5 * deviation * deviation;
    return std::max(0.0, unit == CostUnit::Logarithm ? edge * below(z) - std::exp(mean + half) * below(z - deviation)
                                                     : edge * below(z) + std::exp(half - mean) * below(z + deviation));
}

ExpectedHypervolume::ExpectedHypervolume(std::vector<std::vector<double>> front, std::vector<double> reference,
                                         std::uint64_t seed, std::vector<CostUnit> units)
    : front_(std::move(front)), reference_(std::move(reference)), units_(std::move(units)), seed_(seed) {
    units_.resize(reference_.size(), CostUnit::Plain);
    prepare();
}

void ExpectedHypervolume::add(std::vector<double> row) {
    front_.push_back(std::move(row));
    prepare();
}

void ExpectedHypervolume::prepare() {
    std::erase_if(front_, [&](const auto& row) {
        for (std::size_t k = 0; k < reference_.size(); ++k)
            if (!(row[k] < reference_[k])) return true;
        return false;
    });
    if (reference_.size() == 2) {
        // Rising in the first number, falling in the second.
        std::sort(front_.begin(), front_.end());
        std::vector<std::vector<double>> kept;
        for (auto& row : front_)
            if (kept.empty() || row[1] < kept.back()[1]) kept.push_back(std::move(row));
        front_ = std::move(kept);
    }
    if (reference_.size() < 3) return;
    // Between the reference and as far below the front as it is wide: what lies lower is not told apart.
    constexpr std::size_t count = 2048;
    const std::size_t width = reference_.size();
    std::vector<double> low = reference_;
    for (const auto& row : front_)
        for (std::size_t k = 0; k < width; ++k) low[k] = std::min(low[k], row[k]);
    each_ = 1.0 / count;
    for (std::size_t k = 0; k < width; ++k) {
        low[k] -= std::max(0.5 * (reference_[k] - low[k]), 1e-12);
        each_ *= costOf(reference_[k], units_[k]) - costOf(low[k], units_[k]);
    }
    RandomStream random(seed_);
    draws_.clear();
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<double> draw;
        for (std::size_t k = 0; k < width; ++k) {
            const double from = costOf(low[k], units_[k]), to = costOf(reference_[k], units_[k]);
            draw.push_back(expectedOf(from + random.uniform() * (to - from), units_[k]));
        }
        const bool covered =
            std::any_of(front_.begin(), front_.end(), [&](const auto& row) { return reaches(row, draw.data()); });
        if (!covered) draws_.insert(draws_.end(), draw.begin(), draw.end());
    }
}

double ExpectedHypervolume::of(std::span<const Normal> expected) const {
    const std::size_t width = reference_.size();
    if (width == 1) {
        double best = reference_[0];
        for (const auto& row : front_) best = std::min(best, row[0]);
        return expectedImprovement(expected[0], best, units_[0]);
    }
    if (width == 2) {
        // A strip from one front point to the next, below the second number of the one at its left.
        double sum = 0, before = 0, height = reference_[1];
        for (std::size_t i = 0; i <= front_.size(); ++i) {
            const double to =
                expectedImprovement(expected[0], i < front_.size() ? front_[i][0] : reference_[0], units_[0]);
            sum += (to - before) * expectedImprovement(expected[1], height, units_[1]);
            before = to;
            if (i < front_.size()) height = front_[i][1];
        }
        return sum;
    }
    double sum = 0;
    for (std::size_t i = 0; i < draws_.size(); i += width) {
        double all = 1;
        for (std::size_t k = 0; k < width && all > 0; ++k) all *= probabilityBelow(expected[k], draws_[i + k]);
        sum += all;
    }
    return sum * each_;
}

}  // namespace orrery
