#pragma once

// A training step whose stages, or copies, stand on several kinds of device: every layer is priced on the kind that
// computes it, every exchange over the network of those who exchange, memory is that of each stage's own device, and
// the step is run as any other (estimate_training.h).

#include "hardware/views/cluster_view.h"
#include "methods/system/training/estimate_training.h"

namespace orrery {

/// Fails as mixedPlacement() and estimateTrainingStep() do, and with `network.mixed` where messages would have to be
/// followed.
Expected<TrainingAnswer> answerMixedStep(const Method& method, const Scenario& scenario, const ClusterView& cluster,
                                         EstimateContext& context);

/// What is missing in a stage: which one, on what, by how much.
Diagnostic stageTooLarge(std::int64_t stage, std::string_view device, Bytes needs, Bytes capacity);

}  // namespace orrery
