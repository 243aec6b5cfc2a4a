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

/// All-reduce in the switch of a node (NVLS), from so many ranks and such a bandwidth of one device on. Nodes of that
/// kind join in a tree (NVLSTree).
struct SwitchReduction {
    double bandwidth = 0;  ///< B/s
    int ranks = 0;
    CollectiveProtocol protocol;  ///< shareInside: message bytes × n/(n-1) per second over the links' bandwidth
    CollectiveProtocol tree;      ///< the same of several nodes
};

/// What links inside a node reach of their bandwidth, beside what a protocol takes, from such a bandwidth of one device
/// on: it differs from one generation of links to the next.
struct LinkGeneration {
    double bandwidth = 0;  ///< B/s
    double share = 1;
};

/// A short message does not keep every channel busy, and a long one goes in chunks that each step waits for: of each
/// step inside a node so many seconds · (1 − exp(−bytes ÷ message)).
struct ChannelFill {
    double step = 0;                          ///< s; rings and trees: 2(n-1) steps of an all-reduce, a switch: n-1
    double message = 1, messageInSwitch = 1;  ///< bytes of each rank inside a node
};

/// Of sends from all to all, that meet each other in the switches.
struct PairwiseShare {
    double inside = 1, between = 1;
};

struct CollectiveSoftware {
    std::string_view id;  ///< `wires`, `nccl`
    std::string_view title;
    std::string_view source;
    std::span<const CollectiveProtocol> ring, tree;  ///< tree may be empty
    std::span<const SwitchReduction> inSwitch;       ///< by rising bandwidth; may be empty
    std::span<const LinkGeneration> links;           ///< the same
    ChannelFill fill;                                ///< not of `LL`, whose messages are short, nor of sends
    PairwiseShare allToAll;
};

/// Nothing but the wires: the bound of any library.
const CollectiveSoftware& wiresAlone();
/// NCCL's own tuning model (src/graph/tuning.cc): time = latency + bytes ÷ bandwidth of each algorithm and
/// protocol, of which it takes the fastest.
const CollectiveSoftware& ncclTuning();

}  // namespace orrery
