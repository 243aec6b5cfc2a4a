#include "learning/spread.h"

#include "base/maths.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace orrery {

namespace {

constexpr double coverage = 0.9, mostStretch = 3;

TrainingOptions smallTrees(const TrainingOptions& options) {
    TrainingOptions small;
    small.kind = "trees";
    small.steps = 16;
    small.rate = 0.25;
    small.depth = 3;
    small.minimumLeaf = 100;
    small.seed = options.seed;
    small.stop = options.stop;
    return small;
}

TrainingData scalesOf(const TrainingData& data, std::span<const double> residual,
                      const std::vector<std::size_t>& rows) {
    TrainingData chosen;
    chosen.names = data.names;
    const auto columns = std::ptrdiff_t(data.columns());
    for (const std::size_t r : rows) {
        const auto begin = data.features.begin() + std::ptrdiff_t(r) * columns;
        chosen.features.insert(chosen.features.end(), begin, begin + columns);
        chosen.target.push_back(std::log(std::abs(residual[r]) + spreadFloor));
    }
    return chosen;
}

struct Quantiles {
    double p5, p50, p95;
};
Quantiles bandOf(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) { return quantileType7OfSorted(values, share); };
    return {at((1 - coverage) / 2), at(0.5), at((1 + coverage) / 2)};
}

// Mean over groups of the share of a group's rows within the others' quantiles, stretched.
class Nested {
public:
    explicit Nested(const std::vector<std::vector<double>>& groups) : groups_(groups) {
        for (std::size_t g = 0; g < groups.size(); ++g) {
            std::vector<double> others;
            for (std::size_t h = 0; h < groups.size(); ++h) {
                if (h != g) others.insert(others.end(), groups[h].begin(), groups[h].end());
            }
            quantiles_.push_back(bandOf(std::move(others)));
        }
    }
    double covered(double stretch) const {
        double sum = 0;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const Quantiles& q = quantiles_[g];
            const double low = q.p50 + stretch * (q.p5 - q.p50), high = q.p50 + stretch * (q.p95 - q.p50);
            const auto within =
                std::count_if(groups_[g].begin(), groups_[g].end(), [&](double u) { return u >= low && u <= high; });
            sum += double(within) / double(groups_[g].size());
        }
        return sum / double(groups_.size());
    }

private:
    const std::vector<std::vector<double>>& groups_;
    std::vector<Quantiles> quantiles_;
};

// Quantile of Student's t: the expansion in 1 ⁄ degrees about the normal's z (Abramowitz, Stegun, 26.7.5).
double studentQuantile(double z, double degrees) {
    const double z2 = z * z, z3 = z * z2, z5 = z3 * z2, z7 = z5 * z2;
    return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * degrees * degrees * degrees);
}

// What is to be expected of the next group, when each draws a shift and a width of its own: both predicted from the
// groups' own with Student's t, and rows within a group as all groups' rows are about their shift, in widths.
class NextGroup {
public:
    explicit NextGroup(const std::vector<std::vector<double>>& groups) {
        std::vector<double> shifts, widths, within;
        for (const auto& values : groups) {
            double mean = 0, square = 0;
            for (const double u : values) mean += u / double(values.size());
            for (const double u : values) square += (u - mean) * (u - mean) / double(values.size());
            const double width = std::sqrt(std::max(square, 1e-12));
            shifts.push_back(mean);
            widths.push_back(std::log(width));
            for (const double u : values) within.push_back((u - mean) / width);
        }
        std::sort(within.begin(), within.end());
        const std::size_t step = 1 + within.size() / mostKept;
        for (std::size_t i = step / 2; i < within.size(); i += step) within_.push_back(within[i]);
        shifts_ = predicted(shifts);
        widths_ = predicted(widths);
        for (double& width : widths_) width = std::exp(width);
    }
    double quantile(double share) const {
        double low = -100, high = 100;
        for (int i = 0; i < 60; ++i) {
            const double middle = (low + high) / 2;
            (below(middle) < share ? low : high) = middle;
        }
        return (low + high) / 2;
    }

private:
    static constexpr std::size_t mostKept = 1000;
    // z at the middles of ten equal shares of the normal distribution.
    static constexpr double middles[] = {-1.6449, -1.0364, -0.6745, -0.3853, -0.1257,
                                         0.1257,  0.3853,  0.6745,  1.0364,  1.6449};

    static std::vector<double> predicted(const std::vector<double>& values) {
        const auto count = double(values.size());
        double mean = 0, square = 0;
        for (const double v : values) mean += v / count;
        for (const double v : values) square += (v - mean) * (v - mean) / (count - 1);
        std::vector<double> nodes;
        for (const double z : middles) {
            nodes.push_back(mean + std::sqrt(square * (1 + 1 / count)) * studentQuantile(z, count - 1));
        }
        return nodes;
    }
    double below(double u) const {
        double sum = 0;
        for (const double shift : shifts_) {
            for (const double width : widths_) {
                const auto end = std::lower_bound(within_.begin(), within_.end(), (u - shift) / width);
                sum += double(end - within_.begin());
            }
        }
        return sum / double(within_.size() * shifts_.size() * widths_.size());
    }
    std::vector<double> within_, shifts_, widths_;
};

}  // namespace

double spreadScale(const Regressor& model, std::span<const double> features, double doubt) {
    const double usual = std::exp(model.predict(features));
    return std::sqrt(usual * usual + doubt * doubt / 12);
}

Expected<ResidualSpread> fitSpread(const TrainingData& data, std::span<const double> residual,
                                   std::span<const double> doubt, std::span<const std::int32_t> group,
                                   const TrainingOptions& options) {
    const std::set<std::int32_t> groups(group.begin(), group.end());
    if (groups.size() < 3 || group.size() != residual.size() || data.columns() == 0) return ResidualSpread{};
    const TrainingOptions how = smallTrees(options);
    std::vector<std::vector<double>> scaled;
    for (const std::int32_t left : groups) {
        std::vector<std::size_t> seen, unseen;
        for (std::size_t r = 0; r < group.size(); ++r) (group[r] == left ? unseen : seen).push_back(r);
        auto model = train(scalesOf(data, residual, seen), nullptr, how);
        if (!model) return tl::unexpected(model.error());
        auto& values = scaled.emplace_back();
        for (const std::size_t r : unseen) {
            const std::span row(data.features.data() + r * data.columns(), data.columns());
            values.push_back(residual[r] / spreadScale(**model, row, doubt.empty() ? 0 : doubt[r]));
        }
    }
    std::vector<std::size_t> all(group.size());
    for (std::size_t r = 0; r < all.size(); ++r) all[r] = r;
    auto model = train(scalesOf(data, residual, all), nullptr, how);
    if (!model) return tl::unexpected(model.error());

    ResidualSpread spread;
    spread.model = std::move(*model);
    const Nested nested(scaled);
    while (spread.stretch < mostStretch && nested.covered(spread.stretch) < coverage) spread.stretch += 0.02;
    std::vector<double> pooled;
    for (const auto& one : scaled) pooled.insert(pooled.end(), one.begin(), one.end());
    const Quantiles q = bandOf(std::move(pooled));
    const NextGroup next(scaled);
    spread.p50 = q.p50;
    spread.p5 = std::min(q.p50 + spread.stretch * (q.p5 - q.p50), next.quantile((1 - coverage) / 2));
    spread.p95 = std::max(q.p50 + spread.stretch * (q.p95 - q.p50), next.quantile((1 + coverage) / 2));
    spread.stretch = std::max(spread.stretch, (spread.p95 - spread.p5) / std::max(q.p95 - q.p5, 1e-12));
    return spread;
}

}  // namespace orrery
