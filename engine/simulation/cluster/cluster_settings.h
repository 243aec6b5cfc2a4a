#pragma once

// The machine that traces run on: ranks that compute and exchange, and the rules by which they share their network.

#include "simulation/network/collective_phases.h"
#include "simulation/network/message_fabric.h"

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace orrery {

/// Which collective of a rank goes first: the last one issued, the first one, or the one of the highest priority.
enum class CollectiveOrder : std::uint8_t { Lifo, Fifo, Explicit };

/// In which order the chunks of a collective of all ranks pass the dimensions: always the inner ones first, or each
/// chunk so that the loads of all dimensions stay even (Themis: Rashidi et al., ISCA 2022, its offline greedy order).
enum class DimensionOrder : std::uint8_t { Ascending, Themis };

struct RemoteMemory {
    double latency = 0;    ///< ns
    double bandwidth = 0;  ///< B/s; 0: there is none
};

/// Who says how long exchanges take, where messages are not followed: they then know no congestion by each other.
class ExchangePrices {
public:
    virtual ~ExchangePrices() = default;
    /// Seconds from when the last of a group's members has come. `group`: index into the job's groups, -1 for all
    /// ranks.
    virtual double collective(TraceCollective op, double bytes, std::int32_t group) const = 0;
    virtual double message(std::int32_t source, std::int32_t target, double bytes) const = 0;
};

struct ClusterSettings {
    FabricSettings network;
    /// Of all-reduce, all-gather, reduce-scatter, all-to-all; by dimension, the last one for those beyond.
    std::array<std::vector<AlgorithmChoice>, 4> algorithms;
    /// Of communicators of a part of the ranks, by the same order of collectives.
    std::array<AlgorithmChoice, 4> groupAlgorithms;
    double endpointDelay = 0;       ///< ns before a message is sent and after it has come
    double startDelay = 0;          ///< ns before the first message of each chunk of a collective (not of trees)
    std::int64_t activeChunks = 1;  ///< of a rank in one dimension, at a time
    std::int64_t splits = 1;        ///< chunks of a collective
    double memoryBandwidth = 0;     ///< B/s, of reductions (three passes) and of the roofline; 0: costs nothing
    double peak = 0;                ///< FLOP/s; 0: computation takes the recorded time
    bool bandwidthAware = true;     ///< all-reduce: reduce-scatter inwards, all-gather outwards
    CollectiveOrder order = CollectiveOrder::Lifo;
    DimensionOrder dimensionOrder = DimensionOrder::Ascending;
    std::uint64_t seed = 1;  ///< of synthesised schedules, and of the marks of packets
    RemoteMemory remote;
    /// As ASTRA-sim at 518bd513 does it, faults included (README): whole nanoseconds, whole last chunks, reductions
    /// that are left out, one exchange at a time.
    bool astraSim = false;
    std::vector<std::int32_t> spansOf;       ///< slots whose spans are kept, where spans are; empty: all
    const ExchangePrices* prices = nullptr;  ///< instead of the network; outlives the run
};

}  // namespace orrery
