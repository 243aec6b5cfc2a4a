#pragma once

// The cost of a layer under a dataflow: time, traffic, buffers and energy of a hierarchy of clusters, after MAESTRO
// (Kwon et al., "Understanding Reuse, Performance, and Hardware Cost of DNN Dataflow: A Data-Centric Approach", MICRO
// 2019). What is taken over, and what is put right, is in README.md.

#include "mapping/data_centric/cluster_plan.h"

#include <array>
#include <string>
#include <vector>

namespace orrery {

/// An array of processing elements with an L1 each, a shared L2 and a network between them. Words are elements of a
/// tensor; MAESTRO counts one byte each.
struct FlowHardware {
    std::int64_t pes = 1;
    std::int64_t simdLanes = 1;            ///< multiply-accumulates per element and cycle
    double l1Words = 0, l2Words = 0;       ///< 0: not limited
    double nocBandwidth = 2147483647;      ///< words per cycle, of every cluster level's network
    double nocLatency = 1;                 ///< cycles: hops times latency of one hop
    double offchipBandwidth = 2147483647;  ///< words per cycle between L2 and memory
    bool doubleBuffered = true;
    double macEnergy = 1, l1Energy = 1.68, l2Energy = 18.61;  ///< per access; BASE_constants.hpp of MAESTRO, in MACs
    bool operator==(const FlowHardware&) const = default;
};

struct TensorAccesses {
    double reads = 0, writes = 0;  ///< words, of all units together
};

/// Cycles of one kind over the steps of the outermost level.
struct StepDelay {
    double least = 0, most = 0, mean = 0;
};

struct FlowCounts {
    double macs = 0;        ///< by the layer's definition
    double mappedMacs = 0;  ///< that the dataflow performs; equal to macs where it covers the layer exactly
    double cycles = 0;
    double activePes = 0;             ///< mean
    double utilisation = 0;           ///< mapped operations of those that all units could have done in these cycles
    double l1Words = 0, l2Words = 0;  ///< needed, of one L1 and of the L2
    std::array<TensorAccesses, flowTensors> l1, l2;  ///< by FlowTensor
    double energy = 0, l1Energy = 0, l2Energy = 0;   ///< in units of macEnergy
    double peakBandwidth = 0,
           meanBandwidth = 0;        ///< words per cycle that the outermost network needs to hide its traffic
    double offchipBandwidth = 0;     ///< the same of the memory
    double arithmeticIntensity = 0;  ///< mapped operations per word that the L2 hands out
    StepDelay ingress, egress, compute;
    double steps = 0;  ///< of the outermost level
};

/// Holds what is reused between layers, so that the inner loop allocates nothing. Not shared between threads.
class FlowAnalysis {
public:
    /// Fails as planClusters does, and on dataflows with so many distinct edges that the count would take seconds.
    Expected<FlowCounts> operator()(const FlowLayer& layer, std::span<const BoundDirective> directives,
                                    const FlowHardware& hardware, const std::string& file = {});
    /// Of the last call: clusters made smaller, work missed or done twice, buffers too small.
    const Diagnostics& warnings() const { return warnings_; }

private:
    friend struct LevelWalk;
    struct Known {
        std::array<std::int64_t, flowDims> extents;
        double cycles, activePes;
    };
    ClusterPlan plan_;
    std::array<std::vector<Known>, maxClusterLevels> known_;  ///< results of inner levels by their extents
    Diagnostics warnings_;
};

/// Binds and analyses: what the command line and the tests call.
Expected<FlowCounts> analyse(const FlowLayer& layer, const DirectiveDataflow& dataflow, const FlowHardware& hardware,
                             Diagnostics* warnings = nullptr);

}  // namespace orrery
