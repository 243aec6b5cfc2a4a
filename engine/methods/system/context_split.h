#pragma once

// Context parallelism: the positions of a sequence spread over the ranks of a plan's `context`.
//
//   prefill, forward, training   each rank takes 1/n of the positions, as two chunks of 2n, one from either end
//       ("zig-zag"), so that causal masks leave all ranks the same work. Keys and values go round: each rank sends its
//       block n − 1 times, (n − 1)/n of a layer's keys and values (Liu et al.: Ring Attention, 2023), as much as an
//       all-gather moves (Llama 3, 2024, section 3.3.2). The backward pass sends them again and adds up their
//       gradients.
//   decode   each rank keeps 1/n of the cache and attends to it; partial outputs and their log-sum-exp of all ranks are
//       gathered and added up (Yang et al.: Context Parallelism for Scalable Million-Token Inference, 2024). The other
//       layers of the one new token are computed by every rank alike.

#include "mapping/plan.h"
#include "workload/models/transformer.h"
#include "workload/workload.h"

#include <cstdint>
#include <string>

namespace orrery {

struct ContextShare {
    TransformerConfig config;    ///< windows divided where the cache is
    WorkloadOptions options;     ///< with the positions of one rank
    std::int64_t positions = 0;  ///< of the whole sequence, padded to what divides
    std::vector<std::string> assumptions;
};

/// One rank's share of a sequence. `config` as shardOf() gives it. Fails with `plan.context` for fewer positions than
/// chunks.
Expected<ContextShare> contextShare(const TransformerConfig& config, const WorkloadOptions& options, const Plan& plan);

/// Makes the attention of a graph that was built for one rank attend to the other ranks' positions too: 1/n of the
/// sequence's pairs of query and key, and what it receives of keys and values as inputs of the graph. Decode attends to
/// its own part of the cache, nothing changes.
void attendAcross(Graph& graph, const TransformerConfig& config, const ContextShare& share, const Plan& plan);

/// Bytes of keys and values of one layer that attention reads, of `positions` positions and the batch.
double keyValueBytes(const TransformerConfig& config, const WorkloadOptions& options, std::int64_t positions);
/// Bytes of one rank's partial outputs of a layer in decode, with a 4-byte log-sum-exp per head.
double partialOutputBytes(const TransformerConfig& config, const WorkloadOptions& options);

}  // namespace orrery
