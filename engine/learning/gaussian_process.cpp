#include "learning/gaussian_process.h"

#include "learning/cholesky.h"
#include "learning/trainers.h"
#include "learning/trees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <memory>

namespace orrery {

namespace {

std::vector<std::size_t> countedColumns(std::span<const double> scales) {
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < scales.size(); ++c) {
        if (scales[c] > 0) columns.push_back(c);
    }
    return columns;
}

// How alike rows are, before amplitude and noise; n × n.
std::vector<double> likenessOf(std::span<const double> scaled, std::size_t rows, std::size_t columns) {
    std::vector<double> alike(rows * rows, 1);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            double apart = 0;
            for (std::size_t c = 0; c < columns; ++c) {
                apart += std::abs(scaled[i * columns + c] - scaled[j * columns + c]);
            }
            alike[i * rows + j] = alike[j * rows + i] = std::exp(-apart);
        }
    }
    return alike;
}

struct ProcessFit {
    std::vector<double> weights;
    double missed = std::numeric_limits<double>::infinity();  // mean size of what it misses rows by that it leaves out
};

ProcessFit fitProcess(std::span<const double> alike, std::span<const double> target, std::span<const double> noise,
                      double amplitude) {
    const std::size_t rows = target.size();
    std::vector<double> covariance(alike.begin(), alike.end());
    for (double& value : covariance) value *= amplitude * amplitude;
    for (std::size_t i = 0; i < rows; ++i) covariance[i * rows + i] += noise[i] * noise[i];
    const auto lower = cholesky(covariance, rows);
    if (!lower) return {};
    ProcessFit fit;
    fit.weights = choleskySolve(*lower, {target.begin(), target.end()});
    // Leaving a row out is its weight over its diagonal of the inverse (the book's equation 5.12).
    const auto inverse = lowerInverse(*lower, rows);
    fit.missed = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        double diagonal = 0;
        for (std::size_t k = i; k < rows; ++k) diagonal += inverse[k * rows + i] * inverse[k * rows + i];
        fit.missed += std::abs(fit.weights[i] / diagonal) / double(rows);
    }
    for (double& weight : fit.weights) weight *= amplitude * amplitude;
    return fit;
}

}  // namespace

GaussianProcess::GaussianProcess(std::vector<double> scales, std::vector<double> points, std::vector<double> weights)
    : scales_(std::move(scales)),
      points_(std::move(points)),
      weights_(std::move(weights)),
      columns_(countedColumns(scales_)) {
    assert(!columns_.empty() && columns_.size() <= mostProcessInputs &&
           points_.size() == weights_.size() * columns_.size());
    scaled_ = points_;
    for (std::size_t i = 0; i < scaled_.size(); ++i) scaled_[i] /= scales_[columns_[i % columns_.size()]];
}

double GaussianProcess::predict(std::span<const double> features) const {
    std::array<double, mostProcessInputs> here;
    const std::size_t count = columns_.size();
    for (std::size_t c = 0; c < count; ++c) here[c] = features[columns_[c]] / scales_[columns_[c]];
    double sum = 0;
    const double* point = scaled_.data();
    for (const double weight : weights_) {
        double apart = 0;
        for (std::size_t c = 0; c < count; ++c) apart += std::abs(here[c] - point[c]);
        sum += weight * std::exp(-apart);
        point += count;
    }
    return sum;
}

std::string GaussianProcess::toJson() const {
    return fmt::format(R"({{"scales":[{}],"points":[{}],"weights":[{}]}})", fmt::join(scales_, ","),
                       fmt::join(points_, ","), fmt::join(weights_, ","));
}

RegressorPtr readGaussianProcess(JsonCursor& json) {
    std::vector<double> scales, points, weights;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "scales")
            scales = json.numbers(largestInputs);
        else if (key == "points")
            points = json.numbers(mostProcessPoints * mostProcessInputs);
        else if (key == "weights")
            weights = json.numbers(mostProcessPoints);
        else
            json.skip();
    }
    if (!json.ok()) return nullptr;
    const std::size_t counted = countedColumns(scales).size();
    const bool below = std::any_of(scales.begin(), scales.end(), [](double scale) { return scale < 0; });
    if (below || counted == 0 || counted > mostProcessInputs || weights.empty() ||
        points.size() != weights.size() * counted) {
        json.fail("model",
                  fmt::format("{} scales above 0, {} numbers of points and {} weights", counted, points.size(),
                              weights.size()),
                  fmt::format("scales of 0 or more, 1 to {} above 0; a weight and so many numbers per point",
                              mostProcessInputs));
        return nullptr;
    }
    return std::make_shared<GaussianProcess>(std::move(scales), std::move(points), std::move(weights));
}

// Amplitude and noise by rows left out, over a small grid: their likelihood would take the noise of the worst for all.
Expected<RegressorPtr> trainGaussianProcess(const TrainingData& data, const TrainingOptions& options) {
    constexpr std::array<double, 3> amplitudes{0.08, 0.15, 0.3};
    constexpr std::array<double, 4> noises{0.015, 0.03, 0.06, 0.12};
    const std::size_t columns = data.columns();
    const auto counted = countedColumns(options.scales);
    if (options.scales.size() != columns || counted.empty() || counted.size() > mostProcessInputs) {
        return fail("learning.option",
                    fmt::format("{} scales, {} of them above 0, for {} features", options.scales.size(), counted.size(),
                                columns),
                    fmt::format("one per feature, 1 to {} of them above 0", mostProcessInputs));
    }
    const std::size_t stride = (data.rows() + mostProcessPoints - 1) / mostProcessPoints;
    std::vector<double> points, scaled, target, light;
    for (std::size_t r = stride / 2; r < data.rows(); r += stride) {
        const double weight = data.weight.empty() ? 1 : data.weight[r];
        if (weight <= 0) continue;
        for (const std::size_t c : counted) {
            points.push_back(rounded(data.features[r * columns + c]));
            scaled.push_back(points.back() / options.scales[c]);
        }
        target.push_back(data.target[r]);
        light.push_back(1 / std::sqrt(weight));
    }
    const auto alike = likenessOf(scaled, target.size(), counted.size());
    ProcessFit best;
    for (const double amplitude : amplitudes) {
        for (const double noise : noises) {
            if (options.stop.stop_requested() && !best.weights.empty()) break;
            std::vector<double> each = light;
            for (double& one : each) one *= noise;
            if (auto fit = fitProcess(alike, target, each, amplitude); fit.missed < best.missed) {
                best = std::move(fit);
            }
        }
    }
    if (best.weights.empty()) return fail("learning.singular", "rows depend on each other too closely");
    return std::make_shared<GaussianProcess>(options.scales, std::move(points), std::move(best.weights));
}

}  // namespace orrery
