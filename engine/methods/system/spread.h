#pragma once

// A plan over any model method: the model's shard on one device by the method, what its devices send each other by a
// network model over the drawn links, the stages of its pipeline one after another. A system method whose two slots are
// the method that was asked (`compute`) and the network.
//
//   tensor    heads and widths of a layer; two all-reduces per layer (one where attention and feed-forward stand side
//   by
//             side), one of the embedding, an all-gather of the logits (Shoeybi et al.: Megatron-LM, 2019)
//   expert    whole experts over the tensor-parallel devices
//   pipeline  stages hand activations over; m micro-batches take (m + stages − 1) turns (Huang et al.: GPipe, 2019)
//   context   positions of a sequence, caches in decode (context_split.h)
//   data      the batch; a training step reduces the gradients of its shard over data and context
//
// Communication is not overlapped with computing: the low side of the interval lets it vanish behind the computing.

#include "methods/method.h"
#include "simulation/network/network_model.h"

namespace orrery {

/// The plan asks for more than one device.
bool needsSystem(const Scenario& scenario, const Method& method);

/// Fails as clusterView(), placementOf(), shardOf() and the method do; with `plan.not-a-transformer` where a model that
/// is no transformer is split otherwise than by data; with `plan.context` for a sequence shorter than its chunks.
Expected<Estimate> estimateSpread(const Method& method, const Scenario& scenario, EstimateContext& context);

}  // namespace orrery
