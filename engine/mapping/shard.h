#pragma once

// A language model as one device of a plan sees it.

#include "mapping/plan.h"
#include "workload/models/transformer.h"

namespace orrery {

/// What one tensor-parallel device holds: its share of heads, of the intermediate width (or of the experts) and of the
/// vocabulary. Key-value heads fewer than the devices are held more than once, latent caches by all. Layers are all
/// there: the pipeline divides them, data and context parallelism change nothing here. Fails as checkPlan(), and with
/// `plan.does-not-divide` where something does not divide.
Expected<TransformerConfig> shardOf(const TransformerConfig& config, const Plan& plan);

}  // namespace orrery
