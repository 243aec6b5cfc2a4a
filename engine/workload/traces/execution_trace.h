#pragma once

// What one rank of a training run does, as a graph: work of the host and of the device, collectives, messages, and who
// waits for whom. The form that Chakra gave it (Sridharan et al. 2023; schema of mlcommons/chakra), whatever the file
// was.

#include "base/diagnostic.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orrery {

enum class TraceWork : std::uint8_t {
    Nothing,  ///< metadata, labels: done at once
    Compute,
    Load,   ///< from memory that is not the device's own
    Store,  ///< to such memory
    Send,
    Receive,
    Collective
};

enum class TraceCollective : std::uint8_t {
    AllReduce,
    Reduce,
    AllGather,
    Gather,
    Scatter,
    Broadcast,
    AllToAll,
    ReduceScatter,
    Barrier
};
std::string_view toText(TraceCollective op);  ///< `all-reduce`

struct TraceNode {
    std::uint64_t id = 0;  ///< as the file has it; unique in a trace
    TraceWork work = TraceWork::Nothing;
    TraceCollective collective = TraceCollective::AllReduce;
    bool onHost = false;
    double microseconds = 0;  ///< recorded; 0 where nothing was
    double flops = 0;
    double tensorBytes = 0;   ///< that a compute node moves, that a load or store carries
    std::int64_t bytes = 0;   ///< of a message; of a collective each rank's buffer, of an all-gather its shard
    std::int32_t group = -1;  ///< index into ExecutionTrace::groups; -1: all ranks
    std::int32_t peer = -1;   ///< rank at the other end of a send or receive
    std::int32_t tag = 0;     ///< sends and receives of one tag meet in their order; of a computation: its maker's own
    std::int32_t priority = 0;
    std::uint32_t dimensions = ~0U;  ///< of the network that a collective uses: bit d
    std::uint32_t nameBegin = 0, nameEnd = 0;
    std::uint32_t waitsBegin = 0, waitsEnd = 0;
};

/// Who belongs to a communicator, where the file says so: its ranks, or every stride-th one.
struct TraceGroup {
    std::int64_t size = 0;            ///< 0: not said
    std::int64_t stride = 1;          ///< between neighbours of the group
    std::vector<std::int32_t> ranks;  ///< instead of both
};

struct ExecutionTrace {
    std::string schema;
    std::int64_t ranks = 0;            ///< for which it was made; 0: not said
    std::vector<TraceNode> nodes;      ///< ascending by id
    std::vector<std::uint32_t> waits;  ///< indices of nodes that must end before, node by node
    std::vector<std::string> groups;   ///< names of the communicators that nodes use
    std::vector<TraceGroup> members;   ///< of `groups`; shorter where the rest is stated elsewhere
    std::string names;
    Diagnostics warnings;

    std::string_view name(const TraceNode& node) const {
        return std::string_view(names).substr(node.nameBegin, node.nameEnd - node.nameBegin);
    }
    std::span<const std::uint32_t> waitsOf(const TraceNode& node) const {
        return std::span(waits).subspan(node.waitsBegin, node.waitsEnd - node.waitsBegin);
    }
};

/// A trace in the making: nodes in any order, whose waits are ids.
class TraceBuilder {
public:
    /// The node's fields but name and waits; `waits` are ids.
    void add(TraceNode node, std::string_view name, std::span<const std::uint64_t> waits);
    /// Index into the trace's `groups`, which grow by a new name; -1 for all ranks: no name, or `0`.
    std::int32_t groupNamed(std::string_view name);
    /// More ids for which a node waits, by its place in the order of add().
    void waitFor(std::size_t index, std::span<const std::uint64_t> waits);
    ExecutionTrace& trace() { return trace_; }
    std::size_t size() const { return trace_.nodes.size(); }
    std::size_t waits() const { return waits_.size(); }
    /// Sorts by id and resolves waits. Ids that no node has are dropped with one warning that counts them. Fails with
    /// `trace.duplicate` where two nodes share an id, `trace.cycle` where nodes wait for each other, naming some.
    Expected<ExecutionTrace> finish(std::string_view file);

private:
    ExecutionTrace trace_;
    std::vector<std::uint64_t> waits_;
    std::unordered_map<std::string, std::int32_t> groups_;
};

/// What a trace asks of its ranks, summed.
struct TraceTotals {
    std::size_t nodes = 0, computes = 0, collectives = 0, messages = 0;
    double microseconds = 0;  ///< recorded on the device
    double flops = 0;
    double collectiveBytes = 0, messageBytes = 0;  ///< messages: sent
};
TraceTotals totals(const ExecutionTrace& trace);

}  // namespace orrery
