#pragma once

// Iteration times from operators measured one by one, in the folders that LLMServingSim 2 publishes
// (github.com/casys-kaist/LLMServingSim, profiler/perf/<device>/<model>/<type>/):
//   meta.yaml                        buckets of the skew correction, its default, what was profiled
//   tp<N>/dense.csv                  layer, tokens, time_us          at all tokens of the iteration
//   tp<N>/per_sequence.csv           layer, sequences, time_us       at the sequences that yield a token
//   tp<N>/attention.csv              prefill_chunk, kv_prefill, n_decode, kv_decode, time_us
//   tp<N>/skew_fit.csv               pc, four labels, alpha          optional
//   tp<N>/moe.csv                    tokens, activated_experts, time_us   of one rank of experts; optional
// each plain or gzipped.
//
//   iteration = embedding + layers · (2 · layernorm + other dense ones + attention [+ experts]) + final_layernorm
//             + lm_head + sampler [+ two all-reduces per layer of tensor parallelism]
//   attention = t(mean) + alpha · (t(longest) − t(mean)) over the decoding sequences' cached tokens; alpha of the
//   bucket
//               of (prompt tokens, sequences, skew, longest, cached prompt), of meta.yaml where no bucket was measured
// Sequences that verify drafts count as decoding in attention (their queries share one read of the cache) and with all
// their tokens elsewhere.

#include "base/diagnostic.h"
#include "serving/iteration_time.h"
#include "serving/fleet/expert_routing.h"

#include <string>

namespace orrery {

/// What the tables do not say.
struct LlmServingSimModel {
    std::int32_t layers = 0;
    std::int32_t hidden = 0;     ///< for collectives
    double bytesPerElement = 2;  ///< of activations
    std::int32_t experts = 0;    ///< 0: dense
    std::int32_t expertsPerToken = 0;
};
/// Ring collectives: steps · latency + bytes moved ÷ bandwidth.
struct LlmServingSimLink {
    double bytesPerSecond = 0;  ///< of one device; 0: collectives take no time
    double latency = 0;         ///< s per step
};
struct LlmServingSimOptions {
    std::int32_t tensorParallel = 1;
    std::int32_t expertParallel = 1;
    std::int32_t dataParallel = 1;  ///< ranks whose tokens meet at the experts
    LlmServingSimLink link;
    ExpertRouting routing;
};

/// `folder`: one with tp<N>/ in it, or tp<N> itself. Codes `tables.unreadable`, `tables.missing` (file, column, layer),
/// `tables.number` (not a number, negative, not finite), `tables.empty`, `tables.model`; each with file and line.
Expected<IterationTimePtr> readLlmServingSimTables(const std::string& folder, const LlmServingSimModel& model,
                                                   const LlmServingSimOptions& options);

}  // namespace orrery
