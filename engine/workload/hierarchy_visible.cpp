// What shows of a graph when some groups are folded.

#include "workload/hierarchy.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace orrery {
namespace {

std::size_t at(std::int32_t index) {
    return static_cast<std::size_t>(index);
}

/// The outermost folded group around each group, -1: all around it and itself are open.
std::vector<std::int32_t> foldedAround(const GraphHierarchy& hierarchy, const std::vector<bool>& open) {
    std::vector<std::int32_t> folded(hierarchy.groups.size(), -1);
    for (std::size_t g = 0; g < folded.size(); ++g) {
        const std::int32_t parent = hierarchy.groups[g].parent;
        if (parent >= 0) folded[g] = folded[at(parent)];
        const bool isOpen = g < open.size() && open[g];
        if (folded[g] < 0 && !isOpen) folded[g] = static_cast<std::int32_t>(g);
    }
    return folded;
}

/// Stable topological order of nodes where there is one; nodes on cycles (a group that an edge leaves and re-enters)
/// follow in the order of their first operator.
std::vector<std::int32_t> ordered(std::size_t nodes, const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs) {
    std::vector<std::int32_t> waits(nodes, 0), begin(nodes + 1, 0), readers(pairs.size());
    for (const auto& [from, to] : pairs) ++waits[at(to)], ++begin[at(from) + 1];
    for (std::size_t n = 0; n < nodes; ++n) begin[n + 1] += begin[n];
    std::vector<std::int32_t> fill(begin.begin(), begin.end() - 1);
    for (const auto& [from, to] : pairs) readers[at(fill[at(from)]++)] = to;
    std::vector<std::int32_t> heap, order;
    std::vector<char> placed(nodes, 0);
    const auto later = std::greater<>();
    for (std::size_t n = 0; n < nodes; ++n) {
        if (waits[n] == 0) heap.push_back(static_cast<std::int32_t>(n));
    }
    std::make_heap(heap.begin(), heap.end(), later);
    std::size_t stuck = 0;
    while (order.size() < nodes) {
        if (heap.empty()) {  // a cycle: the first that waits goes next
            while (placed[stuck]) ++stuck;
            heap.push_back(static_cast<std::int32_t>(stuck));
            waits[stuck] = 0;
        }
        std::pop_heap(heap.begin(), heap.end(), later);
        const std::int32_t node = heap.back();
        heap.pop_back();
        if (placed[at(node)]) continue;
        placed[at(node)] = 1;
        order.push_back(node);
        for (std::int32_t r = begin[at(node)]; r < begin[at(node) + 1]; ++r) {
            const std::int32_t reader = readers[at(r)];
            if (placed[at(reader)] || --waits[at(reader)] != 0) continue;
            heap.push_back(reader);
            std::push_heap(heap.begin(), heap.end(), later);
        }
    }
    return order;
}

bool flows(const Tensor& tensor) {
    return tensor.role != TensorRole::Weight && tensor.role != TensorRole::Constant;
}

}  // namespace

VisibleGraph visibleGraph(const Graph& graph, const GraphHierarchy& hierarchy, const std::vector<bool>& open) {
    VisibleGraph visible;
    const std::size_t count = graph.operators.size();
    const std::vector<std::int32_t> folded = foldedAround(hierarchy, open);

    std::vector<VisibleGraph::Node> nodes;
    std::vector<std::int32_t> nodeOfGroup(hierarchy.groups.size(), -1), nodeOf(count, -1);
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t group = i < hierarchy.groupOf.size() ? hierarchy.groupOf[i] : -1;
        const std::int32_t shown = group >= 0 ? folded[at(group)] : -1;
        if (shown < 0) {
            nodeOf[i] = static_cast<std::int32_t>(nodes.size());
            nodes.push_back({static_cast<std::int32_t>(i), -1});
        } else {
            std::int32_t& node = nodeOfGroup[at(shown)];
            if (node < 0) {
                node = static_cast<std::int32_t>(nodes.size());
                nodes.push_back({-1, shown});
            }
            nodeOf[i] = node;
        }
    }

    struct Use {
        std::int32_t from, to;
        TensorId tensor;
    };
    std::vector<Use> uses;
    std::vector<std::int32_t> maker(graph.tensors.size(), -1);
    std::vector<char> read(graph.tensors.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
        const Operator& op = graph.operators[i];
        for (const TensorId id : op.inputs) {
            if (!graph.tensor(id) || !flows(graph.tensors[at(id)])) continue;
            const std::int32_t made = maker[at(id)];
            read[at(id)] = 1;
            if (made < 0 && graph.tensors[at(id)].role == TensorRole::KvCache) continue;  // lies in memory already
            const std::int32_t from = made < 0 ? -1 : nodeOf[at(made)];
            if (from != nodeOf[i]) uses.push_back({from, nodeOf[i], id});
        }
        for (const TensorId id : op.outputs) {
            if (graph.tensor(id)) maker[at(id)] = static_cast<std::int32_t>(i);
        }
    }
    for (const TensorId id : graph.outputs) {
        if (graph.tensor(id) && maker[at(id)] >= 0) uses.push_back({nodeOf[at(maker[at(id)])], -1, id});
    }
    std::stable_sort(uses.begin(), uses.end(),
                     [](const Use& a, const Use& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });

    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    for (const Use& use : uses) {
        if (visible.edges.empty() || visible.edges.back().from != use.from || visible.edges.back().to != use.to) {
            visible.edges.push_back({use.from, use.to, {}});
            if (use.from >= 0 && use.to >= 0) pairs.emplace_back(use.from, use.to);
        }
        auto& tensors = visible.edges.back().tensors;
        if (std::find(tensors.begin(), tensors.end(), use.tensor) == tensors.end()) tensors.push_back(use.tensor);
    }

    const std::vector<std::int32_t> order = ordered(nodes.size(), pairs);
    std::vector<std::int32_t> place(nodes.size());
    for (std::size_t p = 0; p < order.size(); ++p) {
        place[at(order[p])] = static_cast<std::int32_t>(p);
        visible.nodes.push_back(nodes[at(order[p])]);
    }
    for (auto& edge : visible.edges) {
        if (edge.from >= 0) edge.from = place[at(edge.from)];
        if (edge.to >= 0) edge.to = place[at(edge.to)];
    }
    visible.nodeOf.resize(count);
    for (std::size_t i = 0; i < count; ++i) visible.nodeOf[i] = place[at(nodeOf[i])];
    for (std::size_t g = 0; g < hierarchy.groups.size(); ++g) {
        if (folded[g] < 0 && hierarchy.groups[g].operatorCount > 0) {
            visible.openGroups.push_back(static_cast<std::int32_t>(g));
        }
    }
    return visible;
}

std::vector<bool> openAtFirst(const Graph& graph, const GraphHierarchy& hierarchy, int most) {
    // Nodes that show if a group is opened: its own operators and the groups directly inside.
    std::vector<std::int32_t> inside(hierarchy.groups.size(), 0), depth(hierarchy.groups.size(), 0);
    std::int32_t showing = 0, deepest = 0;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const std::int32_t group = hierarchy.groupOf[i];
        ++(group < 0 ? showing : inside[at(group)]);
    }
    for (std::size_t g = 0; g < hierarchy.groups.size(); ++g) {
        const std::int32_t parent = hierarchy.groups[g].parent;
        ++(parent < 0 ? showing : inside[at(parent)]);
        if (parent >= 0) depth[g] = depth[at(parent)] + 1;
        deepest = std::max(deepest, depth[g]);
    }
    std::vector<bool> open(hierarchy.groups.size(), false);
    for (std::int32_t level = 0; level <= deepest; ++level) {
        for (std::size_t g = 0; g < open.size(); ++g) {
            const std::int32_t parent = hierarchy.groups[g].parent;
            if (depth[g] != level || (parent >= 0 && !open[at(parent)]) || hierarchy.groups[g].alike > 1) continue;
            if (showing + inside[g] - 1 > most) continue;
            open[g] = true;
            showing += inside[g] - 1;
        }
    }
    return open;
}

}  // namespace orrery
