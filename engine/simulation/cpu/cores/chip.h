#pragma once

// Several alike cores and what they share, as numbers: caches outside their own, memories with the cores beside them
// (NUMA nodes), and the links between these.

#include "simulation/cpu/core/machine.h"

#include <string_view>
#include <vector>

namespace orrery::pipeline {

inline constexpr int mostCores = 512;

/// Where pages lie that a core reads and writes.
enum class Pages : std::uint8_t {
    Local,        ///< in the memory of its own node; what several nodes read is there in each of them
    Interleaved,  ///< page by page in all nodes in turn
    FirstNode,    ///< all in the first node, as where one thread has filled all arrays
    Remote        ///< in the memory of the next node: the worst case
};
inline constexpr std::size_t pagesCount = 4;
std::string_view toText(Pages pages);  ///< `local`, `interleave`, `first-node`, `remote`

/// Which cores run where not all do.
enum class Binding : std::uint8_t {
    Close,  ///< one beside the other: a shared cache is full of them before the next is begun
    Spread  ///< as far from each other as they can be
};
std::string_view toText(Binding binding);  ///< `close`, `spread`

struct Chip {
    Machine core;                    ///< one core with all caches as it has them when it runs alone
    std::vector<int> sharedBy;       ///< cores of one cache, for each of `core.caches`; 1: each has its own
    std::vector<double> sliceBytes;  ///< per cycle of a slice of each shared cache; 0: as many as a core's way takes
    int cores = 1;                   ///< of all nodes together
    int nodes = 1;                   ///< memories, each with an equal part of the cores
    double nodeBandwidth = 15e9;     ///< B/s of the memory of one node
    double linkBandwidth = 0, linkLatency = 0;  ///< B/s, s: from one node to any other, one way
    Pages pages = Pages::Local;

    int nodeOf(int core) const { return core / (cores / nodes); }
};

/// A core and a memory for itself: what Pipeline simulates.
Chip chipOf(Machine core);
/// Codes `cores.…`: parts that do not divide, caches of whom nothing is the core's own, links without a bandwidth.
Expected<void> check(const Chip& chip);
/// The numbers of so many cores of the chip, ascending.
std::vector<int> placesOf(const Chip& chip, int cores, Binding binding);

/// What a core finds behind its caches while the others do the same, by pages: of all traffic that is `crossing` goes
/// to another node. Bandwidth is that of the whole chip where the nodes work alike; first order, for methods without a
/// clock. Reads come from the home of a line and writes go to it, so where no other node's traffic takes the other
/// direction of a link, equally many of both pass twice what one of them alone does: `most` is for that case.
struct MemoryReach {
    double bandwidth = 0;  ///< B/s of all cores together, reads alone
    double most = 0;       ///< B/s that no mix of reads and writes passes
    double latency = 0;    ///< s, beyond the caches, mean over all lines
    double crossing = 0;   ///< share of the lines
};
MemoryReach reachOf(int nodes, double nodeBandwidth, double latency, double linkBandwidth, double linkLatency,
                    Pages pages);

}  // namespace orrery::pipeline
