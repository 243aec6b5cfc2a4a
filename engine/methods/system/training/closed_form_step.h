#pragma once

// The closed form of a training step as a method (class of Paleo, Calculon, MAD Max): any kernel method composed by
// step_model.h instead of a run.

#include "methods/method.h"
#include "methods/system/training/step_model.h"

#include <memory>

namespace orrery {

/// `closed-form-step`, level system: a slot `compute` for the kernel method.
Method closedFormStepMethod();

/// The answer, and what it was made from.
struct ClosedFormAnswer {
    Estimate estimate;
    std::shared_ptr<const StepModel> model;
    StepPlan plan;
    StepFigures figures;
    StepModel::Shard shard;
};
/// `kernels`: its options and slots are set. Fails as StepModel does.
Expected<ClosedFormAnswer> answerClosedForm(const Method& kernels, const Scenario& scenario,
                                            const EstimateContext& context);

}  // namespace orrery
