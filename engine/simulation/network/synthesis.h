#pragma once

// A schedule of its own for an irregular network of links from device to device: which piece goes over which link when,
// found by matching free links with pieces that their ends have and lack, over time (TACOS: Won et al., MICRO 2024). An
// all-gather is matched; a reduce-scatter is an all-gather of the reversed links, run backwards.

#include "simulation/network/fabric_graph.h"
#include "simulation/picoseconds.h"

#include <cstdint>
#include <vector>

namespace orrery {

struct SynthesisedSend {
    std::int32_t piece = 0;  ///< pieces of a member lie beside each other: piece / pieces is whose it is
    std::int32_t link = 0;   ///< of the graph
    SimTime begin = 0, end = 0;
};

struct SynthesisedSchedule {
    std::int32_t members = 0, pieces = 1;  ///< of each member
    std::vector<SynthesisedSend> sends;    ///< by begin
    SimTime end = 0;
};

/// Every member has all pieces at the end. `bytes`: of a piece. A link carries one piece at a time. The same for the
/// same seed. Fails with `network.synthesis` where the graph has switches, where someone reaches not everybody, and
/// beyond 2^24 sends.
Expected<SynthesisedSchedule> synthesiseAllGather(const FabricGraph& graph, double bytes, std::int32_t pieces,
                                                  std::uint64_t seed);
/// Every member's pieces of its own are summed over all at the end: whoever sends has received what is to be added
/// before.
Expected<SynthesisedSchedule> synthesiseReduceScatter(const FabricGraph& graph, double bytes, std::int32_t pieces,
                                                      std::uint64_t seed);

}  // namespace orrery
