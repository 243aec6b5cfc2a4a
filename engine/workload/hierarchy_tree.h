#pragma once

// Inner parts of hierarchyOf: the raw tree of paths, and the passes that make it readable.

#include "workload/graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::hierarchy {

struct Node {
    std::int32_t parent = -1;
    std::string name;
    std::int64_t repeat = 1;
    std::int32_t first = 0;      ///< its first operator
    std::int32_t operators = 0;  ///< with those inside; set by dissolve
    std::int32_t alike = 1;
    bool alive = true;
};
struct Tree {
    std::vector<Node> nodes;            ///< parents before children, but for groups added by findAlike
    std::vector<std::int32_t> groupOf;  ///< of each operator, -1: none
};

/// Removes groups of one operator, groups around everything, and groups that hold nothing but one other.
void dissolve(Tree& tree);
/// Marks or adds groups around consecutive alike ones.
void findAlike(Tree& tree, const Graph& graph);

}  // namespace orrery::hierarchy
