#pragma once

// What the layers of one shard take in a training step, priced: the constants of the closed form (step_model.h).

#include "methods/system/training/exchange_cache.h"
#include "methods/system/training/training_memory.h"
#include "methods/system/training/training_program.h"

#include <vector>

namespace orrery {

/// One micro-batch of one layer, one way.
struct LayerWay {
    double compute = 0;                          ///< s, likely
    Sides sent;                                  ///< exchanges inside the layer, which are waited for
    double tensor = 0, context = 0, expert = 0;  ///< of them, likely
    std::int32_t exchanges = 0;                  ///< how many
};

struct LayerPiece {
    LayerWay forward, backward;
    double parameterBytes = 0, gradientBytes = 0;
    double trainedShare = 1, expertsTrained = 0;  ///< of parameters; of what is trained, experts over several copies
    double experts = 0;                           ///< share of them that stands over several copies
    double weightGradients = 0;                   ///< s of `backward` that nobody waits for but the optimizer
    double joules = 0;                            ///< of what one device sends for a micro-batch
    bool repeated = false;                        ///< one of a block of layers
    bool counts = false;                          ///< it shares the activations that are kept
};

/// Layers alike in a row, in the order of the forward pass.
struct LayerRun {
    std::int32_t layer = 0;
    std::int64_t begin = 0, end = 0;  ///< of all layers
};

struct StepPieces {
    std::vector<LayerPiece> layers;
    std::vector<LayerRun> runs;
    std::int64_t count = 0;             ///< layers in all
    std::int64_t front = 0, dealt = 0;  ///< those that go with the first one dealt out, and how many are dealt out
    double parameterBytes = 0;          ///< of all layers
    double trainedBytes = 0;            ///< of them
    double optimizerSeconds = 0;        ///< of all layers, undivided
    double bucketBytes = 0;
    double tiedBytes = 0;         ///< of gradients that the first stage and the last add up
    std::int64_t stageBytes = 0;  ///< that a device hands to the next stage
    /// Activations of a layer that counts, and what is kept of it where all else is computed again.
    double activationBytes = 0, inputBytes = 0;
    double stateBytes = 0;  ///< of the optimizer, of all layers
    bool full = false;      ///< everything is computed again
};

/// Of a program with one stage, or two where there are more; `memory` is that of a single stage and micro-batch.
/// `hiddenTensor`: share of tensor-parallel exchanges that takes no time.
Expected<StepPieces> stepPieces(const TrainingProgram& program, const StageMemory& memory, const TrainingStep& step,
                                const ExchangeCache& exchanges, double hiddenTensor, const std::stop_token& stop);

/// What one of the layers that are dealt out computes for a micro-batch, both ways, on the mean: as that of a program.
double secondsOfLayer(const StepPieces& pieces);

/// What a chunk of layers [begin, end) takes.
struct ChunkSums {
    Sides forward, backward;                                  ///< with exchanges; computing scaled to its sides
    Sides forwardComputed, backwardComputed;                  ///< of them
    Sides weights;                                            ///< of `backward`: gradients of weights
    double compute = 0, tensor = 0, context = 0, expert = 0;  ///< s of both ways, likely
    double gathered = 0;                                      ///< s of both ways that wait for divided weights, likely
    double parameterBytes = 0, trainedBytes = 0, expertBytes = 0, joules = 0, counting = 0;
};
/// `factor`: from likely computing to its sides.
ChunkSums chunkSums(const StepPieces& pieces, std::int64_t begin, std::int64_t end, const Sides& factor);

}  // namespace orrery
