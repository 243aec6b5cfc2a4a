#pragma once

// A graph as people read it: operators in groups (a transformer block, a residual stage), groups in groups, each of
// which may be shown folded as one node. Groups come from folded blocks (`layers ×32`) and from the scopes of names
// (`/encoder/layer.3/attention/MatMul`).

#include "workload/graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

struct GraphGroup {
    std::string name;   ///< `layer.3`, or `layers` of a block
    std::string scope;  ///< the whole path, unique
    std::int32_t parent = -1;
    std::int64_t repeat = 1;         ///< ×32 for a folded block, else 1
    std::int32_t operatorCount = 0;  ///< with those of groups inside
    /// Groups inside that are alike (types and shapes) and follow each other, as the blocks of an unfolded model do:
    /// `layers` with layers.0 … layers.95 has 96. Their operators are all there: nothing is to be multiplied. Else 1.
    std::int32_t alike = 1;
};

struct GraphHierarchy {
    std::vector<GraphGroup> groups;     ///< parents before children
    std::vector<std::int32_t> groupOf;  ///< innermost group of each operator, -1: none
};

/// Groups of one operator are dissolved, and groups that hold nothing but one other; alike consecutive groups of the
/// same numbered name get a group around them where they are three or more among others. Operators of a scope that do
/// not form a convex part of the graph (an edge leaves it and comes back) stay together all the same, as readers
/// expect. Linear but for sorting names.
GraphHierarchy hierarchyOf(const Graph& graph);

/// What stands on the drawing when the groups in `open` are unfolded and all others folded.
struct VisibleGraph {
    struct Node {
        std::int32_t op = -1;     ///< an operator, or
        std::int32_t group = -1;  ///< a folded group
    };
    struct Edge {
        std::int32_t from = -1, to = -1;  ///< nodes; -1: an input or output of the graph
        std::vector<TensorId> tensors;    ///< all that go this way
    };
    std::vector<Node> nodes;               ///< in topological order where folding leaves one
    std::vector<Edge> edges;               ///< activations only: no weights, no constants; each pair once
    std::vector<std::int32_t> nodeOf;      ///< node that shows each operator
    std::vector<std::int32_t> openGroups;  ///< unfolded groups with something in them, parents first: drawn as frames
};
/// `open[group]`: unfolded. A group inside a folded one does not show. Linear in operators and edges.
VisibleGraph visibleGraph(const Graph& graph, const GraphHierarchy& hierarchy, const std::vector<bool>& open);
/// Which groups to unfold at first: from the outside in, while at most `most` nodes show. Alike groups stay in theirs.
std::vector<bool> openAtFirst(const Graph& graph, const GraphHierarchy& hierarchy, int most = 300);

}  // namespace orrery
