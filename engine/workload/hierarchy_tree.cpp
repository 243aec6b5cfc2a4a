#include "workload/hierarchy_tree.h"

#include "base/hash.h"
#include "workload/blocks.h"

#include <algorithm>

namespace orrery::hierarchy {
namespace {

constexpr std::size_t longestName = 48;
constexpr std::size_t fewest = 3;  // alike groups that are worth a group of their own

std::size_t at(std::int32_t index) {
    return static_cast<std::size_t>(index);
}

std::string joined(const std::string& outer, const std::string& inner) {
    if (inner.starts_with(outer) || outer.empty()) return inner;
    const std::string both = outer + "/" + inner;
    return both.size() > longestName ? inner : both;
}

/// Children and operators are handed to the nearest ancestor that lives.
void reattach(Tree& tree) {
    std::vector<std::int32_t> home(tree.nodes.size(), -1);
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
        Node& node = tree.nodes[n];
        if (node.parent >= 0) node.parent = home[at(node.parent)];
        home[n] = node.alive ? static_cast<std::int32_t>(n) : node.parent;
    }
    for (std::int32_t& group : tree.groupOf) {
        if (group >= 0) group = home[at(group)];
    }
}

std::uint64_t signature(const Operator& op, const Graph& graph) {
    Hash hash;
    hash.add(op.type).add(static_cast<std::uint64_t>(op.kind)).add(static_cast<std::uint64_t>(op.repeat));
    for (const auto* ids : {&op.inputs, &op.outputs}) {
        hash.add(static_cast<std::uint64_t>(ids->size()));
        for (const TensorId id : *ids) {
            const Tensor* tensor = graph.tensor(id);
            if (!tensor) continue;
            hash.add(static_cast<std::uint64_t>(tensor->type)).add(static_cast<std::uint64_t>(tensor->shape.size()));
            for (const Dim& dim : tensor->shape) hash.add(static_cast<std::uint64_t>(dim.value)).add(dim.symbol);
        }
    }
    return hash.value();
}

/// What stands directly in a group, in the order of first operators.
struct Item {
    std::int32_t first = 0;
    std::int32_t group = -1;  ///< -1: an operator
};

std::string runName(const std::string& from, const std::string& to) {
    const std::size_t word = to.find_last_not_of("0123456789");
    return from + "…" + (word + 1 < to.size() ? to.substr(word + 1) : to);
}

}  // namespace

void dissolve(Tree& tree) {
    for (const std::int32_t group : tree.groupOf) {
        if (group >= 0) ++tree.nodes[at(group)].operators;
    }
    for (std::size_t n = tree.nodes.size(); n-- > 0;) {
        const Node& node = tree.nodes[n];
        if (node.parent >= 0) tree.nodes[at(node.parent)].operators += node.operators;
    }
    const auto all = static_cast<std::int32_t>(tree.groupOf.size());
    for (Node& node : tree.nodes) {
        if (node.operators < 2 || (node.operators == all && node.repeat == 1)) node.alive = false;
    }
    reattach(tree);
    // A group whose only content is one other: one of the two is enough, unless both repeat.
    for (std::size_t n = tree.nodes.size(); n-- > 0;) {
        Node& node = tree.nodes[n];
        if (!node.alive || node.parent < 0) continue;
        Node& around = tree.nodes[at(node.parent)];
        if (around.operators != node.operators || (around.repeat > 1 && node.repeat > 1)) continue;
        around.name = joined(around.name, node.name);
        around.repeat *= node.repeat;
        node.alive = false;
    }
    reattach(tree);
}

void findAlike(Tree& tree, const Graph& graph) {
    const std::size_t count = tree.nodes.size();
    std::vector<Hash> hashes(count);
    std::vector<std::vector<Item>> items(count + 1);  // [0]: top
    for (std::size_t i = 0; i < tree.groupOf.size(); ++i) {
        const std::uint64_t own = signature(graph.operators[i], graph);
        for (std::int32_t g = tree.groupOf[i]; g >= 0; g = tree.nodes[at(g)].parent) hashes[at(g)].add(own);
        items[at(tree.groupOf[i] + 1)].push_back({static_cast<std::int32_t>(i), -1});
    }
    for (std::size_t n = 0; n < count; ++n) {
        if (!tree.nodes[n].alive) continue;
        items[at(tree.nodes[n].parent + 1)].push_back({tree.nodes[n].first, static_cast<std::int32_t>(n)});
    }
    for (std::size_t p = 0; p <= count; ++p) {
        auto& within = items[p];
        std::stable_sort(within.begin(), within.end(), [](const Item& a, const Item& b) { return a.first < b.first; });
        const auto alike = [&](std::size_t i, std::size_t j) {
            const std::int32_t a = within[i].group, b = within[j].group;
            if (a < 0 || b < 0) return false;
            const Node &left = tree.nodes[at(a)], &right = tree.nodes[at(b)];
            return left.operators == right.operators && left.repeat == right.repeat &&
                   hashes[at(a)].value() == hashes[at(b)].value() && left.name != right.name &&
                   stemOf(left.name) == stemOf(right.name);
        };
        for (std::size_t i = 0, j = 0; i < within.size(); i = j) {
            for (j = i + 1; j < within.size() && alike(i, j);) ++j;
            const std::size_t length = j - i;
            if (length < 2) continue;
            const auto times = static_cast<std::int32_t>(length);
            if (length == within.size() && p > 0) {
                tree.nodes[p - 1].alike = times;
            } else if (length >= fewest) {
                Node run;
                run.parent = static_cast<std::int32_t>(p) - 1;
                run.name = runName(tree.nodes[at(within[i].group)].name, tree.nodes[at(within[j - 1].group)].name);
                run.first = within[i].first;
                run.alike = times;
                for (std::size_t k = i; k < j; ++k) {
                    run.operators += tree.nodes[at(within[k].group)].operators;
                    tree.nodes[at(within[k].group)].parent = static_cast<std::int32_t>(tree.nodes.size());
                }
                tree.nodes.push_back(std::move(run));
            }
        }
    }
}

}  // namespace orrery::hierarchy
