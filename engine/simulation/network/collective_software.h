#pragma once

// What the library that runs collectives adds to the wires: start, time per step, and the share of the links that each
// of its protocols reaches.

#include <array>
#include <span>
#include <string_view>

namespace orrery {

/// A protocol of rings or trees on one kind of link.
struct CollectiveProtocol {
    std::string_view name;    ///< `LL`, `LL128`, `Simple`
    double base = 0;          ///< s, once
    double stepInside = 0;    ///< s, between neighbours inside a node
    double stepBetween = 0;   ///< s, between nodes
    double shareInside = 1;   ///< of the links' bandwidth inside a node
    double shareBetween = 1;  ///< between nodes
};

/// All-reduce in the switch of a node (NVLS), from so many ranks and such a bandwidth of one device on.
struct SwitchReduction {
    double bandwidth = 0;  ///< B/s
    int ranks = 0;
    CollectiveProtocol protocol;  ///< shareInside: message bytes × n/(n-1) per second over the links' bandwidth
};

struct CollectiveSoftware {
    std::string_view id;  ///< `wires`, `nccl`
    std::string_view title;
    std::string_view source;
    std::span<const CollectiveProtocol> ring, tree;  ///< tree may be empty
    std::span<const SwitchReduction> inSwitch;       ///< by rising bandwidth; may be empty
};

/// Nothing but the wires: the bound of any library.
const CollectiveSoftware& wiresAlone();
/// NCCL's own tuning model (src/graph/tuning.cc): time = latency + bytes ÷ bandwidth of each algorithm and
/// protocol, of which it takes the fastest.
const CollectiveSoftware& ncclTuning();

}  // namespace orrery
