#pragma once

// How many tokens of keys and values a replica can hold: what is left of a device's memory once weights, activations,
// CUDA graphs and the runtime have taken theirs. This number decides when a fleet saturates, so that every part of it
// is shown.

#include "base/diagnostic.h"
#include "base/dtype.h"
#include "workload/workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// What a replica needs of each of its devices.
struct CapacityNeeds {
    std::string model;  ///< names, for diagnostics
    std::string device;
    double deviceBytes = 0;    ///< capacity of one device's memory
    double memoryShare = 0.9;  ///< of it that the engine may use (vLLM: gpu_memory_utilization)
    std::int32_t tokensPerBlock = 16;
    std::int32_t pipelineStages = 1;
    double weightBytes = 0;        ///< on the device that holds most
    double kvBytesPerToken = 0;    ///< on one device: of its layers and heads
    double activationBytes = 0;    ///< peak of an iteration at the token budget: activationBytes() below
    double graphBytes = 0;         ///< CUDA graphs of the captured batches
    double runtimeBytes = 0;       ///< context, libraries, collectives' buffers, fragmentation
    std::int32_t longestText = 0;  ///< one request of so many tokens must fit; 0: any
    /// `vidur`: (tokens ÷ 16) × ⌊(memory × share − 2·parameters) ÷ KV of a longest request⌋, with all layers on every
    /// stage. Empty: blocks as engines count them.
    std::string compatibility;
};

/// Of one tensor-parallel device.
struct ActivationNeeds {
    std::int64_t tokens = 0;     ///< budget of one iteration
    std::int64_t sequences = 0;  ///< at most in one iteration
    double hidden = 0, intermediate = 0;
    double projected = 0;   ///< columns of queries, keys and values
    double vocabulary = 0;  ///< of the whole model: logits are gathered
    double bytesPerElement = 2;
};
/// Peak of an iteration at its budget, as an engine's profiling run finds it.
double activationBytes(const ActivationNeeds& needs);

enum class CapacityUse : std::uint8_t { Weights, Activations, CudaGraphs, Runtime, KvCache, LeftFree };
struct CapacityPart {
    CapacityUse use = CapacityUse::Weights;
    double bytes = 0;
};
struct CapacityPlan {
    std::int64_t blocks = 0;
    std::int64_t tokens = 0;
    std::vector<CapacityPart> parts;  ///< of one device; they sum to its capacity
};
/// Fails with `serving.does-not-fit`, naming the largest part and what would help, and on numbers that make no sense.
Expected<CapacityPlan> planCapacity(const CapacityNeeds& needs);

}  // namespace orrery
