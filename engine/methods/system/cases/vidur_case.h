#pragma once

// A run of Vidur as its folder describes it: args.txt (the command line, flat names with their defaults of release
// 7d47513) and trace.csv (`arrived_at, num_prefill_tokens, num_decode_tokens`). Everything that decides times is read;
// what only concerns metrics, caches and training is passed over.

#include "methods/trace/vidur_tables.h"
#include "serving/fleet/fleet.h"
#include "serving/traffic/request_stream.h"

namespace orrery {

struct VidurCase {
    FleetSpec fleet;  ///< `time` of its replicas is still empty
    RequestStream requests;
    VidurTableSpec tables;
    std::uint64_t seed = 42;
    std::string model, device;
    Diagnostics warnings;
};
/// Fails with `vidur.…`: an unreadable file, an unknown model, device, policy or generator, a number that makes no
/// sense, a model that does not fit.
Expected<VidurCase> readVidurCase(const std::string& folder);

/// A model as Vidur's memory planner sees it (vidur/config/model_config.py).
struct VidurModel {
    std::string_view name;
    std::int64_t layers, queryHeads, keyValueHeads, embedding, hidden;
    bool gated = true, postAttentionNorm = true;
};
const VidurModel* findVidurModel(std::string_view name);

/// Requests of `maxTokens` whose cache fits beside the weights of layers (vidur/scheduler/utils/memory_planner.py):
/// embeddings, output head and activations are not counted, and every layer's cache is, whatever the stages.
/// Below 1: nothing fits.
std::int64_t vidurRequestSlots(const VidurModel& model, double gibibytes, double margin, std::int64_t devices,
                               std::int64_t stages, std::int64_t maxTokens);

}  // namespace orrery
