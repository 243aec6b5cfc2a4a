#pragma once

// What a step looks like to a learned correction of its closed form: shares of where the time goes, sizes of the work,
// and ratios of what devices and links can do. No name of a device, a model or a stack is among them, so that they mean
// the same for those that nobody measured.

#include "methods/system/training/step_model.h"

#include <span>
#include <string_view>
#include <vector>

namespace orrery {

/// In the order of stepFeatures().
std::span<const std::string_view> stepFeatureNames();

/// `figures` and `shard` as the model gives them for `plan`. Shares are of the step's seconds, or of computing where
/// the name says so; sizes and ratios are natural logarithms. Always finite. Fails as placementOf().
Expected<std::vector<double>> stepFeatures(const StepModel& model, const StepPlan& plan, const StepFigures& figures,
                                           const StepModel::Shard& shard, bool fused);

}  // namespace orrery
