#pragma once

// LoRA adapters: y = x·W + (x·A)·B with A of h×r and B of r×h' per product that is adapted (Hu et al. 2021). Sequences
// of different adapters share an iteration; each product then needs two more, over the segments of the tokens that
// share an adapter (SGMV: Chen et al., Punica, arXiv 2310.18547, section 4):
//
//     FLOPs = 2 · s · h · h'        bytes = (s · (h + h') + n · h · h') · width
//
// for s tokens that pass n different adapters, once with (h, r) and once with (r, h'). Adapters beyond those that are
// resident wait in host memory and come over the host's link when an iteration needs them (Sheng et al., S-LoRA, arXiv
// 2311.03285). With tensor parallelism as vLLM has it by default: of a product split by columns A is whole and B
// split, of one split by rows A is split and B whole; nothing more is communicated.

#include "methods/system/iteration_times.h"

#include <memory>
#include <vector>

namespace orrery {

/// A product of a layer that adapters add to, as one tensor-parallel device has it.
struct AdaptedProduct {
    double in = 0, out = 0;  ///< of A and of B
    double layers = 0;       ///< that have it
};
/// Of latent attention, all of its projections; of a mixture of experts only the shared expert (`All`).
std::vector<AdaptedProduct> adaptedProducts(const TransformerConfig& config, AdapterTargets targets,
                                            std::int64_t tensor);
/// Parameters of one adapter on one device, all stages together.
double adapterParameters(const std::vector<AdaptedProduct>& products, std::int32_t rank);

/// Seconds of the extra products of one iteration on one of `stages` equal pipeline stages: IterationWork::adapters,
/// adapterTokens. Each launch takes as long as its FLOPs or its bytes ask for, and the gap between two launches.
struct AdapterRates {
    double flops = 0, bandwidth = 0;  ///< FLOP/s of products in the adapters' type, B/s of main memory
};
IterationTimePtr adapterTime(std::vector<AdaptedProduct> products, std::int32_t rank, DType type,
                             const AdapterRates& device, int stages);

/// Of a pool whose tenants have adapters; `bytes` gets what the resident ones take of each device's memory.
AdapterSlots adapterSlots(const PoolSpec& pool, const IterationLaunches& launches, const PoolDevice& device,
                          double& bytes, std::vector<std::string>& assumptions);

}  // namespace orrery
