#pragma once

// What the devices of a plan do in one training step, stage by stage: pieces of computing and exchanges of every layer,
// the order in which micro-batches pass, gradients and optimizer at the end. From here come the traces that are
// simulated, with nobody's recording.

#include "base/diagnostic.h"
#include "mapping/plan.h"
#include "simulation/cluster/cluster_run.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Who takes part in an exchange: devices of one dimension of the plan.
enum class ProgramGroup : std::uint8_t {
    Tensor,
    Context,
    Gradients,  ///< copies and the devices that share their positions, of one set of copies that share by `zero`; with
                ///< DualPipe those of both stages of a pair
    Experts,    ///< over which the experts of several copies stand
    ExpertGradients,  ///< who hold the same experts, where these stand over several copies
    Replicas,         ///< who have the same share in every set of copies
    Ends              ///< the first stage and the last, which may hold the same embeddings
};
inline constexpr int programGroupCount = 7;
std::string_view toText(ProgramGroup group);  ///< `tensor`
/// Of a communicator's name, `tensor 0`: groups of a job are named by their kind and a number.
ProgramGroup programGroupOf(std::string_view name);
/// Whether experts stand over the devices of several copies, so that tokens travel to them.
inline bool expertsAcrossCopies(const Plan& plan) {
    return plan.expert > plan.tensor;
}
/// Ranks that take part with `rank`, in ascending order; itself alone where there is no such exchange.
std::vector<std::int32_t> membersOf(ProgramGroup group, const Plan& plan, std::int64_t rank);

struct ProgramPiece {
    double seconds = 0;  ///< of computing; then the exchange, if `bytes` are to be sent
    TraceCollective op = TraceCollective::AllReduce;
    ProgramGroup group = ProgramGroup::Tensor;
    std::int64_t bytes = 0;  ///< as TraceNode counts them
};

/// What a device and its host exchange; `link` 0: nothing.
struct HostPrices {
    double link = 0;           ///< B/s, one direction at a time
    double latency = 0;        ///< s
    double updateSeconds = 0;  ///< s of the step on the host for a byte of the weights that it updates
    double downBytes = 0;      ///< B that go down for a byte of gradients as they are exchanged
    double gradientBytes = 0;  ///< B that the host holds of gradients for a byte of the weights
    double memory = 0;         ///< B, the device's share of the host's; 0: not stated
    double seconds(double bytes) const { return bytes > 0 && link > 0 ? latency + bytes / link : 0; }
};
/// In so many parts the host's step and the sending of new weights go on beside each other.
inline constexpr int offload_parts = 8;

/// What `recompute=selective` drops and computes again.
enum class SelectiveForm : std::uint8_t {
    Attention,   ///< scores, softmax and context (Korthikanti et al. 2022)
    PerOperator  ///< of layers that repeat all but attention and every other product (TorchTitan)
};

/// Layers that do the same, of one micro-batch on one device.
struct LayerProgram {
    std::string name;
    std::vector<ProgramPiece> forward, backward;   ///< what is computed again stands in front of `backward`
    double parameterBytes = 0, gradientBytes = 0;  ///< of one device
    double trainedShare = 1;                       ///< of its parameters; the others stay as they are
    double expertShare = 0;                        ///< of them: experts that stand over several copies
    double weightGradientSeconds = 0;              ///< of computing `backward`: what nobody waits for but the optimizer
    double inputBytes = 0;                         ///< of what it reads, that is kept where all else is computed again
    double keptBytes = 0;                          ///< of activations that the host may hold
    bool repeated = false;                         ///< one of a block of layers, which share the activations kept
    /// Of what is trained: adapters stand beside layers that every token passes.
    double expertsTrained() const { return trainedShare < 1 ? 0 : expertShare; }
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
    std::vector<double> slowness;          ///< by stage, of all its computing; empty: 1
    std::int64_t stageBytes = 0;           ///< that a stage hands to the next, of one micro-batch and device
    /// Gradients of weights that the first stage and the last both hold, which these add up (Narayanan et al. 2021): B
    /// of one device.
    double tiedBytes = 0;
    std::int64_t bucketBytes = 0;  ///< gradients are exchanged when so many have come; 0: layer by layer
    HostPrices host;               ///< of a plan that offloads; its optimizerSeconds are then the host's
    /// Copies differ: what holders of the same weights exchange goes in one order, whoever is ready first.
    bool inOrder = false;
};

/// Which gradients a backward turn makes.
enum class TurnGradients : std::uint8_t { All, Inputs, Weights };

/// One turn of a stage: a micro-batch forwards or backwards through one of its chunks.
struct ScheduleStep {
    std::int32_t chunk = 0;  ///< of the stage: 0 … chunksPerStage() − 1
    std::int32_t microbatch = 0;
    bool forward = true;
    TurnGradients gradients = TurnGradients::All;
    bool beside = false;  ///< together with the turn before: what one computes hides what the other sends

    /// Whether the activations of its micro-batch are kept (1), stay (0) or go (-1).
    int kept() const { return forward ? 1 : gradients == TurnGradients::Inputs ? 0 : -1; }
};

/// Turns of a stage in their order. Fails with `plan.interleave` where chunks are interleaved and micro-batches are no
/// multiple of the stages; `plan.schedule` where DualPipe has fewer micro-batches than twice the stages, or an odd
/// number.
Expected<std::vector<ScheduleStep>> scheduleOf(const Plan& plan, std::int64_t stage, std::int64_t microbatches);
/// Chunks of layers that a stage works on: those interleaved; with DualPipe one of either direction.
std::int64_t chunksPerStage(const Plan& plan);
/// Index into TrainingProgram::chunks of a stage's chunk.
std::int64_t chunkOf(const Plan& plan, std::int64_t stage, std::int32_t ofStage);
/// The stage on which a chunk of the program stands, for micro-batches that go through the stage's chunk `ofStage`.
std::int64_t stageOf(const Plan& plan, std::int64_t chunk, std::int32_t ofStage);

/// Traces of one device of every stage, which stand for all of its stage. Devices: tensor parallelism counts fastest,
/// then context, data, and the stages. Of `drawn` devices those beyond the plan's do nothing. Computations are
/// tagged by their turn: from 2 on, even forwards, odd backwards; 0: the optimizer. Groups are named by their kind and
/// stage: `tensor 0`. Fails with `training.large` where traces would have more than 2^24 nodes, and as scheduleOf()
/// does.
Expected<ClusterJob> trainingJob(const TrainingProgram& program, std::int64_t drawn = 0);
/// The same where copies differ, by classes of those that do the same: traces of one device of every stage and, in it,
/// of every class. `classOf`: of each copy; empty: all of the first. Programs differ in seconds alone.
Expected<ClusterJob> trainingJob(std::span<const TrainingProgram> classes, std::span<const std::int32_t> classOf,
                                 std::int64_t drawn = 0);

/// The same with a trace and communicators for every rank of the plan: for tools that know no likeness. With `alike`
/// above 1 for the first of so many ranks beside each other alone, for which it stands.
Expected<ClusterJob> everyRank(const TrainingProgram& program, std::int64_t alike = 1);

}  // namespace orrery
