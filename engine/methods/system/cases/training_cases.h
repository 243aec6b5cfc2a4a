#pragma once

// Runs of collectives and layer traces on small networks, side by side with what another tool says of them: a file of
// our own, `orrery: training-cases/1`. What all runs share stands under `machine`; each run names its network.
//
//   machine: {endpoint_delay: 10, active_chunks: 2, chunks: 4, memory_bandwidth: 3350, algorithm: ring}
//   layers: {unit: us, rows: [[name, forward, input gradient, weight gradient, bytes of the gradients], …]}
//   runs:
//     - {name: …, collective: all-reduce, bytes: 1048576, shape: Switch, ranks: 8, bandwidth: 400, latency: 936.25,
//        recorded: 57426}
//     - {name: …, layers: blocking, …, recorded_exposed: 574289}
//
// Times in ns, bandwidths in GB/s of one direction of a link; `recorded` in cycles of 1 ns.

#include "simulation/cluster/cluster_run.h"
#include "workload/traces/layer_text.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct TrainingCaseRun {
    std::string name;
    bool layers = false;  ///< the file's layers, data parallel; else one collective
    LayerOrder order = LayerOrder::Blocking;
    TraceCollective op = TraceCollective::AllReduce;
    std::int64_t bytes = 0;  ///< as TraceNode counts them
    TopologyShape shape = TopologyShape::Switch;
    std::int64_t ranks = 2;
    double bandwidth = 0, latency = 0;  ///< GB/s, ns
    std::optional<double> recorded;     ///< cycles that the other tool says
    bool exposed = false;               ///< `recorded` are cycles that computing does not hide
};

struct TrainingCases {
    std::string name, description, source;
    std::string tool;         ///< who recorded: `ASTRA-sim 2`
    ClusterSettings machine;  ///< without a network
    LayerTable layers;
    std::vector<TrainingCaseRun> runs;
};

/// Fails with `yaml.…`, `cases.missing`, `cases.value`, each with its line.
Expected<TrainingCases> readTrainingCases(const std::string& path);

/// Cycles of 1 ns, of the rank that ends last.
struct TrainingCaseAnswer {
    double cycles = 0;   ///< to the end
    double exposed = 0;  ///< of them those in which it does not compute, as the other tool counts
    double waiting = 0;  ///< in which it waits for an exchange, as Orrery counts
    /// What `recorded` speaks of.
    double asked(const TrainingCaseRun& run) const { return run.exposed ? exposed : cycles; }
};
/// ASTRA-sim's semantics to the cycle, or Orrery's own (simulation/cluster/README.md lists the differences). Fails as
/// runCluster().
Expected<TrainingCaseAnswer> runTrainingCase(const TrainingCases& cases, std::size_t run, bool ownSemantics,
                                             const std::stop_token& stop = {});

}  // namespace orrery
