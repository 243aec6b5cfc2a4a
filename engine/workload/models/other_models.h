#pragma once

#include "workload/importers.h"
#include "workload/models/builder.h"

namespace orrery {

/// DLRM as MLPerf trains and serves it on Criteo Terabyte: 26 tables of width 128, one look-up each, dot interaction.
Graph buildDlrm(const WorkloadOptions& options);
/// Three-layer graph convolutional network on ogbn-arxiv, hidden width 256, as the Open Graph Benchmark's baseline;
/// messages are gathered and summed per edge. `batch` copies of the graph.
Graph buildGcn(const WorkloadOptions& options);

/// Selective state-space language model (Gu and Dao, arXiv:2312.00752).
struct MambaConfig {
    std::string name;
    std::int64_t layers = 24, hidden = 768, state = 16, convolution = 4, expand = 2, vocabulary = 50280;
};
/// Decode reads and overwrites the convolution and scan states, which take the KV cache's place. Their size does not
/// depend on the sequence.
Expected<ImportedGraph> buildMamba(const MambaConfig& config, const WorkloadOptions& options);

}  // namespace orrery
