#include "workload/traces/execution_trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

std::string_view toText(TraceCollective op) {
    switch (op) {
        case TraceCollective::AllReduce:
            return "all-reduce";
        case TraceCollective::Reduce:
            return "reduce";
        case TraceCollective::AllGather:
            return "all-gather";
        case TraceCollective::Gather:
            return "gather";
        case TraceCollective::Scatter:
            return "scatter";
        case TraceCollective::Broadcast:
            return "broadcast";
        case TraceCollective::AllToAll:
            return "all-to-all";
        case TraceCollective::ReduceScatter:
            return "reduce-scatter";
        case TraceCollective::Barrier:
            return "barrier";
    }
    return "collective";
}

std::int32_t TraceBuilder::groupNamed(std::string_view name) {
    if (name.empty() || name == "0") return -1;
    const auto [at, isNew] = groups_.try_emplace(std::string(name), static_cast<std::int32_t>(groups_.size()));
    if (isNew) trace_.groups.emplace_back(name);
    return at->second;
}

void TraceBuilder::add(TraceNode node, std::string_view name, std::span<const std::uint64_t> waits) {
    node.nameBegin = static_cast<std::uint32_t>(trace_.names.size());
    trace_.names += name;
    node.nameEnd = static_cast<std::uint32_t>(trace_.names.size());
    node.waitsBegin = static_cast<std::uint32_t>(waits_.size());
    waits_.insert(waits_.end(), waits.begin(), waits.end());
    node.waitsEnd = static_cast<std::uint32_t>(waits_.size());
    trace_.nodes.push_back(node);
}

void TraceBuilder::waitFor(std::size_t index, std::span<const std::uint64_t> waits) {
    TraceNode& node = trace_.nodes[index];
    std::vector<std::uint64_t> all(waits_.begin() + node.waitsBegin, waits_.begin() + node.waitsEnd);
    all.insert(all.end(), waits.begin(), waits.end());
    node.waitsBegin = static_cast<std::uint32_t>(waits_.size());
    waits_.insert(waits_.end(), all.begin(), all.end());
    node.waitsEnd = static_cast<std::uint32_t>(waits_.size());
}

namespace {

/// A node that waits for itself in the end; the number of nodes if there is none (Kahn 1962).
std::size_t nodeOnCycle(const ExecutionTrace& trace) {
    const std::size_t count = trace.nodes.size();
    std::vector<std::uint32_t> users(count, 0);
    for (const std::uint32_t earlier : trace.waits) ++users[earlier];
    std::vector<std::uint32_t> free;
    for (std::size_t i = 0; i < count; ++i)
        if (users[i] == 0) free.push_back(static_cast<std::uint32_t>(i));
    std::size_t seen = 0;
    for (; !free.empty(); ++seen) {
        const TraceNode& node = trace.nodes[free.back()];
        free.pop_back();
        for (const std::uint32_t earlier : trace.waitsOf(node))
            if (--users[earlier] == 0) free.push_back(earlier);
    }
    if (seen == count) return count;
    // Every node that is left is used by one that is left: going back long enough ends on a cycle.
    std::size_t at = static_cast<std::size_t>(std::find_if(users.begin(), users.end(), [](auto n) { return n > 0; }) -
                                              users.begin());
    std::vector<std::size_t> user(count, count);
    for (std::size_t i = 0; i < count; ++i) {
        if (users[i] == 0) continue;
        for (const std::uint32_t earlier : trace.waitsOf(trace.nodes[i])) user[earlier] = i;
    }
    for (std::size_t steps = 0; steps < count; ++steps) at = user[at];
    return at;
}

std::string cycleText(const ExecutionTrace& trace, std::size_t start) {
    std::string text;
    std::vector<bool> seen(trace.nodes.size(), false);
    // Depth first from `start` back to it, along waits.
    std::vector<std::pair<std::size_t, std::size_t>> path{{start, 0}};
    while (!path.empty()) {
        auto& [at, next] = path.back();
        const auto waits = trace.waitsOf(trace.nodes[at]);
        if (next == waits.size()) {
            path.pop_back();
            continue;
        }
        const std::size_t to = waits[next++];
        if (to == start) break;
        if (seen[to]) continue;
        seen[to] = true;
        path.emplace_back(to, 0);
    }
    constexpr std::size_t most = 4;
    for (std::size_t i = 0; i < std::min(path.size(), most); ++i)
        text += fmt::format("{}{} ({})", i ? " waits for " : "", trace.nodes[path[i].first].id,
                            trace.name(trace.nodes[path[i].first]));
    if (path.size() > most) text += fmt::format(" … {} nodes in all", path.size());
    return text;
}

}  // namespace

Expected<ExecutionTrace> TraceBuilder::finish(std::string_view file) {
    std::vector<TraceNode>& nodes = trace_.nodes;
    if (!std::is_sorted(nodes.begin(), nodes.end(), [](const TraceNode& a, const TraceNode& b) { return a.id < b.id; }))
        std::stable_sort(nodes.begin(), nodes.end(),
                         [](const TraceNode& a, const TraceNode& b) { return a.id < b.id; });
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        if (nodes[i].id == nodes[i - 1].id)
            return fail("trace.duplicate", fmt::format("two nodes have the id {}", nodes[i].id), "ids that occur once",
                        "number the nodes anew", {std::string(file), 0, 0, std::string(trace_.name(nodes[i]))});
    }
    const bool dense = !nodes.empty() && nodes.back().id - nodes.front().id + 1 == nodes.size();
    const auto indexOf = [&](std::uint64_t id) -> std::size_t {
        if (nodes.empty() || id < nodes.front().id || id > nodes.back().id) return nodes.size();
        if (dense) return id - nodes.front().id;
        const auto at = std::lower_bound(nodes.begin(), nodes.end(), id,
                                         [](const TraceNode& node, std::uint64_t wanted) { return node.id < wanted; });
        return at != nodes.end() && at->id == id ? static_cast<std::size_t>(at - nodes.begin()) : nodes.size();
    };
    std::size_t missing = 0, itself = 0;
    std::uint64_t example = 0;
    std::vector<std::size_t> taken(nodes.size(), nodes.size());  // by whom last, so that nobody waits twice for one
    trace_.waits.clear();
    trace_.waits.reserve(waits_.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        TraceNode& node = nodes[i];
        const auto begin = static_cast<std::uint32_t>(trace_.waits.size());
        for (std::uint32_t w = node.waitsBegin; w < node.waitsEnd; ++w) {
            const std::size_t at = indexOf(waits_[w]);
            if (at == nodes.size()) {
                if (missing++ == 0) example = waits_[w];
                continue;
            }
            if (at == i) {
                ++itself;
                continue;
            }
            if (taken[at] == i) continue;
            taken[at] = i;
            trace_.waits.push_back(static_cast<std::uint32_t>(at));
        }
        node.waitsBegin = begin;
        node.waitsEnd = static_cast<std::uint32_t>(trace_.waits.size());
    }
    const Place place{std::string(file), 0, 0, {}};
    if (missing > 0)
        trace_.warnings.push_back(
            warning("trace.dangling",
                    fmt::format("{} dependencies name nodes that the trace does not hold, as {}; they were left out",
                                missing, example),
                    "record the whole step, or take the order of what is left as it is", place));
    if (itself > 0)
        trace_.warnings.push_back(
            warning("trace.itself", fmt::format("{} nodes wait for themselves; that was left out", itself), {}, place));
    if (const std::size_t at = nodeOnCycle(trace_); at < nodes.size())
        return fail("trace.cycle", "nodes wait for each other: " + cycleText(trace_, at),
                    "an order in which all can run", "remove one of these dependencies", place);
    return std::move(trace_);
}

TraceTotals totals(const ExecutionTrace& trace) {
    TraceTotals sum;
    sum.nodes = trace.nodes.size();
    for (const TraceNode& node : trace.nodes) {
        if (node.work == TraceWork::Compute) {
            ++sum.computes;
            sum.flops += node.flops;
            if (!node.onHost) sum.microseconds += node.microseconds;
        } else if (node.work == TraceWork::Collective) {
            ++sum.collectives;
            sum.collectiveBytes += static_cast<double>(node.bytes);
        } else if (node.work == TraceWork::Send) {
            ++sum.messages;
            sum.messageBytes += static_cast<double>(node.bytes);
        } else if (node.work == TraceWork::Receive) {
            ++sum.messages;
        }
    }
    return sum;
}

}  // namespace orrery
