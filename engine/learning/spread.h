#pragma once

// How far off a prediction usually is, row by row, for devices that were never measured: normalised conformal
// prediction (Papadopoulos, Gammerman, Vovk, "Normalized nonconformity measures for regression conformal prediction",
// AIA 2008; Lei et al., "Distribution-free predictive inference for regression", JASA 113, 2018). A model of
// ln|residual| gives each row a scale; quantiles of residual ÷ scale then hold for all rows alike.
//
// Rows come in groups (devices) that were left out one by one when the residuals were made. The scale of a group's rows
// is that of a model which has not seen the group, and quantiles are stretched until, with each group judged by the
// others' quantiles, nine rows of ten are within. They reach at least as far as is to be expected of one more group
// when groups differ in shift and in width (one-way random effects; both predicted from D groups by Student's t with D
// − 1 degrees of freedom and a variance of 1 + 1 ⁄ D): few devices say little about the next one, however many rows
// they have.

#include "learning/training.h"

#include <cstdint>
#include <span>

namespace orrery {

struct ResidualSpread {
    RegressorPtr model;               ///< of ln(|residual| + spreadFloor)
    double p5 = 0, p50 = 0, p95 = 0;  ///< of residual ÷ scale, stretched
    double stretch = 1;               ///< that was needed
};

inline constexpr double spreadFloor = 0.02;  ///< ln: below, residuals are alike

/// Scale of a row: what the model says, and beside it `doubt`, a range in ln in which physics cannot tell where the
/// value lies (evenly spread over it, hence ÷ √12).
double spreadScale(const Regressor& model, std::span<const double> features, double doubt);

/// `data.features` and names as the prediction's; its target and weight are not read. `residual` is ln(measured ÷
/// predicted) of models that had not seen the row's group; `doubt` may be empty. Fails as train() does; with fewer
/// than three groups nothing is fitted and the model is null.
Expected<ResidualSpread> fitSpread(const TrainingData& data, std::span<const double> residual,
                                   std::span<const double> doubt, std::span<const std::int32_t> group,
                                   const TrainingOptions& options);

}  // namespace orrery
