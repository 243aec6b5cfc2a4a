#pragma once

// Decoding of a transformer on GPUs whose attention runs on them, on CPUs, or on HBM-PIM stacks: the composition of
// AttAcc (Park et al., ASPLOS 2024): tiled rooflines for products, measured laws for norms and activations, a ring of
// links, heads pipelined between GPU and PIM, feed-forward work shared with the PIM's bandwidth.

#include "simulation/pim/hbm_pim.h"

#include <string>

namespace orrery::pim {

struct AttentionSystem {
    enum class Where : std::uint8_t { Gpu, Cpu, Pim };
    Where attention = Where::Gpu;
    std::string gpu = "A100a";  ///< or H100
    int gpus = 8;
    std::string model = "GPT-175B";
    int elementBytes = 2;
    std::int64_t promptLength = 2048, outputLength = 128, batch = 1;
    UnitPlace place = UnitPlace::Bank;
    bool powerCapped = false;
    bool sharedFeedForward = false;  ///< the PIM's bandwidth takes a part of the feed-forward layers
    bool pipelined = false;          ///< heads in turns, so that projections hide behind attention
};

/// Milliseconds; of a token in generation, of the whole prompt in summarisation.
struct AttentionSystemTimes {
    double total = 0, attention = 0, products = 0, links = 0, rest = 0;
    double queryKeyValue = 0, projection = 0, feedForward = 0, betweenGpus = 0, toAttention = 0;
    double softmax = 0, activation = 0, norm = 0;
};

/// Nanojoules of a generated token, all devices and layers. Of CPUs that hold attention nothing is counted (AttAcc
/// states no energy for them); `memory` and `compute` of attention hold softmax too, `dram` all layers.
struct AttentionSystemEnergy {
    double total = 0, dram = 0, links = 0;
    double productMemory = 0, productCompute = 0, attentionMemory = 0, attentionCompute = 0;
};

struct AttentionSystemAnswer {
    AttentionSystemTimes token, prompt;
    AttentionSystemEnergy energy;
    double tokenFlops = 0;  ///< of all devices
    double requiredBytes = 0;
};

/// Fails with `pim.system`: a model, GPU or number that is not known or cannot be.
Expected<AttentionSystemAnswer> answerOf(const AttentionSystem& system, const HbmPim& stack = {});

}  // namespace orrery::pim
