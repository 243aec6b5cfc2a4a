#pragma once

// One function per kind of regressor; `train` checks the data and the options before it calls them.

#include "learning/training.h"

namespace orrery {

Expected<RegressorPtr> trainTrees(const TrainingData& data, const TrainingData* validation,
                                  const TrainingOptions& options);
Expected<RegressorPtr> trainNetwork(const TrainingData& data, const TrainingData* validation,
                                    const TrainingOptions& options);
Expected<RegressorPtr> trainLinear(const TrainingData& data, const TrainingOptions& options);

Expected<RegressorPtr> trainGaussianProcess(const TrainingData& data, const TrainingOptions& options);

Expected<RegressorPtr> trainBlend(const TrainingData& data, const TrainingData* validation,
                                  const TrainingOptions& options);

/// Weighted median; NaN-free, not empty.
double weightedMedian(std::span<const double> values, std::span<const double> weights);
/// Slope and curvature of the loss at residual r = prediction − target as iteratively reweighted least squares sees it:
/// weight·r is the slope, weight the curvature. `scale` is the typical |r|.
double lossWeight(std::string_view loss, double residual, double scale);
/// The shortest decimal number strictly above `low` and at most `high`, near the middle of both.
float shortBetween(float low, float high);
/// Five significant digits.
double rounded(double value);

}  // namespace orrery
