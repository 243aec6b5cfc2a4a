#pragma once

#include "base/random.h"
#include "learning/training.h"

#include <QtTest/QtTest>

#include <cmath>

namespace orrery::learningtest {

/// Rows of four features in −2 … 2 (the third a whole number, the fourth constant) with a smooth target and noise.
inline TrainingData smoothRows(std::size_t rows, std::uint64_t seed, double noise) {
    TrainingData data;
    data.names = {"a", "b", "step", "constant"};
    RandomStream random(seed);
    for (std::size_t i = 0; i < rows; ++i) {
        const double a = 4 * random.uniform() - 2, b = 4 * random.uniform() - 2, step = double(random.below(4));
        data.features.insert(data.features.end(), {a, b, step, 7});
        data.target.push_back(std::sin(2 * a) + a * b / 2 + (step >= 2 ? 0.5 : 0) + noise * random.normal());
    }
    return data;
}

inline std::span<const double> rowOf(const TrainingData& data, std::size_t r) {
    return std::span(data.features).subspan(r * data.columns(), data.columns());
}

inline double meanAbsoluteError(const Regressor& model, const TrainingData& data) {
    double sum = 0;
    for (std::size_t r = 0; r < data.rows(); ++r) sum += std::abs(model.predict(rowOf(data, r)) - data.target[r]);
    return sum / double(data.rows());
}

}  // namespace orrery::learningtest
