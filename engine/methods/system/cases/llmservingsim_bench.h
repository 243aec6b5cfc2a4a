#pragma once

// Recorded runs of a real vLLM engine as LLMServingSim 2 publishes them (bench/<device>/<model>/):
//   config.json          devices, memory, parallelism, links
//   vllm/meta.json       arguments of the engine; newer ones its resolved configuration and its number of KV blocks
//   vllm/requests.jsonl  per request: tokens, arrival at the client (wall clock), queued, scheduled, first and last
//                        token (the engine's clock), in seconds
// A run is simulated on the arrivals at the client, taken from the first one. The two clocks have an unknown offset, so
// measured latencies are differences on the engine's clock, from `queued_ts` on, as the publishers count them; the
// engine reads its queue between iterations, so that is up to one iteration later than the arrival.

#include "methods/system/planned_fleet.h"
#include "methods/trace/llmservingsim_tables.h"
#include "serving/fleet/fleet.h"
#include "serving/serving_simulation.h"

#include <memory>
#include <string>
#include <vector>

namespace orrery {

struct RecordedRequest {
    std::string id;
    std::int32_t prompt = 0, output = 0;
    double arrival = 0;                                 ///< s, from the first request's
    double ttft = 0, tpot = 0, endToEnd = 0, wait = 0;  ///< s; `wait` from queued to scheduled
};

struct LlmServingSimBench {
    std::string modelName, device, version;  ///< of config.json and meta.json
    std::string modelFile;                   ///< config.json of the model, if it was found nearby
    std::shared_ptr<RequestStream> requests;
    std::vector<RecordedRequest> recorded;
    SchedulerSpec scheduler;
    std::int64_t kvBlocks = 0;  ///< as the engine reported; 0: not known, memory decides
    std::int32_t tokensPerBlock = 16, tensorParallel = 1, dataParallel = 1;
    bool expertParallel = false;
    double memoryBytes = 0, memoryShare = 0.9;  ///< of one device; 0: not known
    LlmServingSimLink link;
    std::vector<std::int32_t> graphSizes;  ///< tokens for which CUDA graphs were captured, rising; empty: none
    Diagnostics notes;                     ///< what was not in the files and is assumed
};
/// Codes `bench.unreadable`, `bench.missing`, `bench.number`, `bench.empty`, each with file and line.
Expected<LlmServingSimBench> readLlmServingSimBench(const std::string& folder);

/// The fleet that the run had, timed by the tables in `tables`. `modelFile` empty: the one found nearby. Blocks that
/// the engine did not report: what weights leave of the memory, over bytes of a block.
Expected<FleetSpec> fleetOf(const LlmServingSimBench& bench, const std::string& tables,
                            const std::string& modelFile = {});

/// The same, timed by the kernels of `method` on the device `hardware` (an id or a file of the catalogue).
Expected<FleetSpec> fleetOf(const LlmServingSimBench& bench, const std::string& hardware, const std::string& method,
                            const std::string& modelFile);

/// Simulated against recorded, as shares of the recorded mean.
struct BenchComparison {
    double ttft = 0, tpot = 0, endToEnd = 0;  ///< (simulated − recorded) ÷ recorded, of the means
    double endToEndMape = 0;                  ///< mean over requests of |simulated − recorded| ÷ recorded
    double ttftRecorded = 0, tpotRecorded = 0, endToEndRecorded = 0;  ///< s, means
    double ttftSimulated = 0, tpotSimulated = 0, endToEndSimulated = 0;
    std::size_t requests = 0;
};
BenchComparison compare(const LlmServingSimBench& bench, const RequestTable& simulated);

}  // namespace orrery
