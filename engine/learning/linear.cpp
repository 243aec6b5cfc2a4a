#include "learning/linear.h"

#include "learning/cholesky.h"
#include "learning/trainers.h"
#include "learning/trees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <memory>

namespace orrery {

Linear::Linear(double intercept, std::vector<double> mean, std::vector<double> coefficients)
    : intercept_(intercept), mean_(std::move(mean)), coefficients_(std::move(coefficients)) {
    assert(mean_.size() == coefficients_.size());
}

double Linear::predict(std::span<const double> features) const {
    double sum = intercept_;
    for (std::size_t i = 0; i < mean_.size(); ++i) sum += coefficients_[i] * (features[i] - mean_[i]);
    return sum;
}

std::string Linear::toJson() const {
    return fmt::format(R"({{"intercept":{},"mean":[{}],"coefficients":[{}]}})", intercept_, fmt::join(mean_, ","),
                       fmt::join(coefficients_, ","));
}

RegressorPtr readLinear(JsonCursor& json) {
    double intercept = 0;
    std::vector<double> mean, coefficients;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "intercept")
            intercept = json.number();
        else if (key == "mean")
            mean = json.numbers(largestInputs);
        else if (key == "coefficients")
            coefficients = json.numbers(largestInputs);
        else
            json.skip();
    }
    if (json.ok() && (mean.empty() || mean.size() != coefficients.size())) {
        json.fail("model", fmt::format("{} means and {} coefficients", mean.size(), coefficients.size()),
                  "one of each per feature");
    }
    if (!json.ok()) return nullptr;
    return std::make_shared<Linear>(intercept, std::move(mean), std::move(coefficients));
}

// Ridge on standardised features; absolute and Huber loss by iteratively reweighted least squares (Holland and Welsch,
// "Robust regression using iteratively reweighted least-squares", Communications in Statistics, 1977).
Expected<RegressorPtr> trainLinear(const TrainingData& data, const TrainingOptions& options) {
    const std::size_t rows = data.rows(), columns = data.columns(), size = columns + 1;
    std::vector<double> mean(columns, 0), scale(columns, 0);
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) mean[c] += data.features[r * columns + c] / double(rows);
    }
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
            scale[c] += std::pow(data.features[r * columns + c] - mean[c], 2) / double(rows);
        }
    }
    for (std::size_t c = 0; c < columns; ++c) {
        scale[c] = std::sqrt(scale[c]);
        if (scale[c] < 1e-9 * std::max(1.0, std::abs(mean[c]))) scale[c] = 0;  // constant: no coefficient
    }
    std::vector<double> solution(size, 0), row(size, 1), residuals(rows), sizes(rows);
    const auto residualOf = [&](std::size_t r) {
        double sum = solution[0] - data.target[r];
        for (std::size_t c = 0; c < columns; ++c) {
            if (scale[c] > 0) sum += solution[c + 1] * (data.features[r * columns + c] - mean[c]) / scale[c];
        }
        return sum;
    };
    const auto start = std::chrono::steady_clock::now();
    const int rounds = options.loss == "squared" ? 1 : 40;
    double typical = 0;
    for (int round = 0; round < rounds && !(round > 0 && options.stop.stop_requested()); ++round) {
        std::vector<double> normal(size * size, 0), right(size, 0);
        for (std::size_t r = 0; r < rows; ++r) {
            const double pull = round == 0 ? 1 : lossWeight(options.loss, residuals[r], typical);
            const double weight = pull * (data.weight.empty() ? 1 : data.weight[r]);
            for (std::size_t c = 0; c < columns; ++c) {
                row[c + 1] = scale[c] > 0 ? (data.features[r * columns + c] - mean[c]) / scale[c] : 0;
            }
            for (std::size_t i = 0; i < size; ++i) {
                for (std::size_t j = 0; j <= i; ++j) normal[i * size + j] += weight * row[i] * row[j];
                right[i] += weight * row[i] * data.target[r];
            }
        }
        for (std::size_t i = 0; i < size; ++i) normal[i * size + i] += i == 0 ? 1e-12 : std::max(options.ridge, 1e-9);
        const auto lower = cholesky(normal, size);
        if (!lower)
            return fail("learning.singular", "features depend on each other too closely", {}, "Raise the ridge.");
        const auto before = solution;
        solution = choleskySolve(*lower, right);
        double moved = 0;
        for (std::size_t i = 0; i < size; ++i) moved = std::max(moved, std::abs(solution[i] - before[i]));
        for (std::size_t r = 0; r < rows; ++r) sizes[r] = std::abs(residuals[r] = residualOf(r));
        typical = weightedMedian(sizes, {});
        if (options.onStep) {
            double sum = 0;
            for (const double error : sizes) sum += error / double(rows);
            const auto passed = std::chrono::steady_clock::now() - start;
            options.onStep({round + 1, sum, 0, std::chrono::duration<double>(passed).count()});
        }
        if (moved < 1e-9) break;
    }
    std::vector<double> coefficients(columns, 0);
    for (std::size_t c = 0; c < columns; ++c) {
        mean[c] = rounded(mean[c]);
        coefficients[c] = scale[c] > 0 ? solution[c + 1] / scale[c] : 0;
    }
    // The intercept makes up for what rounding the means moved.
    double intercept = solution[0];
    for (std::size_t c = 0, r = 0; c < columns; ++c) {
        if (scale[c] <= 0) continue;
        double exact = 0;
        for (r = 0; r < rows; ++r) exact += data.features[r * columns + c] / double(rows);
        intercept += coefficients[c] * (mean[c] - exact);
    }
    return std::make_shared<Linear>(intercept, std::move(mean), std::move(coefficients));
}

}  // namespace orrery
