#pragma once

// What the devices of a plan do in one training step, stage by stage: pieces of computing and exchanges of every layer,
// the order in which micro-batches pass, gradients and optimizer at the end. From here come the traces that are
// simulated, with nobody's recording.

#include "base/diagnostic.h"
#include "mapping/plan.h"
#include "simulation/cluster/cluster_run.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Who takes part in an exchange: devices of one dimension of the plan.
enum class ProgramGroup : std::uint8_t {
    Tensor,
    Context,
    Gradients  ///< copies and the devices that share their positions
};
inline constexpr int programGroupCount = 3;
std::string_view toText(ProgramGroup group);  ///< `tensor`

struct ProgramPiece {
    double seconds = 0;  ///< of computing; then the exchange, if `bytes` are to be sent
    TraceCollective op = TraceCollective::AllReduce;
    ProgramGroup group = ProgramGroup::Tensor;
    std::int64_t bytes = 0;  ///< as TraceNode counts them
};

/// Layers that do the same, of one micro-batch on one device.
struct LayerProgram {
    std::string name;
    std::vector<ProgramPiece> forward, backward;   ///< what is computed again stands in front of `backward`
    double parameterBytes = 0, gradientBytes = 0;  ///< of one device
    double inputBytes = 0;  ///< of what it reads, that is kept where all else is computed again
    bool repeated = false;                         ///< one of a block of layers, which share the activations kept
};

/// A virtual stage: `layers[i]` is an index into TrainingProgram::layers, in the order of the forward pass.
struct ChunkProgram {
    std::vector<std::int32_t> layers;
};

struct TrainingProgram {
    Plan plan;
    std::int64_t microbatches = 1;
    std::vector<LayerProgram> layers;
    std::vector<ChunkProgram> chunks;      ///< pipeline × interleave, in the order of the forward pass
    std::vector<double> optimizerSeconds;  ///< by stage
    std::int64_t stageBytes = 0;           ///< that a stage hands to the next, of one micro-batch and device
    std::int64_t bucketBytes = 0;          ///< gradients are exchanged when so many have come; 0: layer by layer
};

/// One turn of a stage: a micro-batch forwards or backwards through one of its chunks.
struct ScheduleStep {
    std::int32_t chunk = 0;  ///< of the stage: 0 … interleave − 1
    std::int32_t microbatch = 0;
    bool forward = true;
};

/// One forward, one backward after a warm-up (Narayanan et al. 2021, sections 2.2): with `interleave` > 1 micro-batches
/// go in rounds of as many as there are stages through one chunk after the other. Fails with `plan.interleave` where
/// micro-batches are no multiple of the stages then.
Expected<std::vector<ScheduleStep>> oneForwardOneBackward(std::int64_t stage, std::int64_t stages,
                                                          std::int64_t interleave, std::int64_t microbatches);

/// Traces of one device of every stage, which stand for all of its stage. Devices: tensor parallelism counts fastest,
/// then context, data, and the stages. Of `drawn` devices those beyond the plan's do nothing. Computations are
/// tagged by their turn: from 2 on, even forwards, odd backwards; 0: the optimizer. Groups are named
/// `tensor`, `context`, `gradients` and their stage: `tensor 0`. Fails with `training.large` where traces would have
/// more than 2^24 nodes, and as oneForwardOneBackward() does.
Expected<ClusterJob> trainingJob(const TrainingProgram& program, std::int64_t drawn = 0);

/// The same with a trace and communicators for every rank of the plan: for tools that know no likeness.
Expected<ClusterJob> everyRank(const TrainingProgram& program);

}  // namespace orrery
