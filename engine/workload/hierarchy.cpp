// Every operator has a path: the scopes of its name with the folded blocks that it belongs to put in where they begin.
// The paths make a tree, which is then tidied.

#include "workload/hierarchy.h"

#include "workload/blocks.h"
#include "workload/hierarchy_tree.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

namespace orrery {
namespace {

using hierarchy::Tree;

std::size_t at(std::int32_t index) {
    return static_cast<std::size_t>(index);
}

/// Last word of a label: `encoder_layer` of `/encoder/layers/encoder_layer`.
std::string lastWord(std::string_view label) {
    const std::size_t slash = label.rfind('/');
    return std::string(slash == std::string_view::npos ? label : label.substr(slash + 1));
}

struct KeyHash {
    std::size_t operator()(const std::pair<std::int32_t, std::string_view>& key) const {
        return std::hash<std::string_view>{}(key.second) * 31 + static_cast<std::size_t>(key.first);
    }
};

class Builder {
public:
    explicit Builder(const Graph& graph) : graph_(graph), blocks_(blocksOf(graph)) {
        tree_.groupOf.assign(graph.operators.size(), -1);
        for (std::size_t r = 0; r < blocks_.runs.size(); ++r) runKeys_.push_back("\x01" + std::to_string(r));
        for (std::size_t i = 0; i < graph.operators.size(); ++i) place(i);
    }
    Tree take() { return std::move(tree_); }

private:
    void place(std::size_t op) {
        const std::vector<std::string_view> scopes = scopesOf(graph_.operators[op].name);
        const auto& runs = blocks_.ofOp[op];
        std::int32_t node = -1;
        std::size_t next = 0;
        for (std::size_t depth = 0; depth <= scopes.size(); ++depth) {
            bool replaced = false;
            for (; next < runs.size(); ++next) {
                const BlockRun& run = blocks_.runs[at(runs[next])];
                const std::size_t begins = run.isScope ? run.sharedScopes - 1 : run.sharedScopes;
                if (begins > depth) break;
                node = child(node, runKeys_[at(runs[next])], op);
                if (tree_.nodes[at(node)].name.empty()) tree_.nodes[at(node)].name = lastWord(run.label);
                tree_.nodes[at(node)].repeat = run.count;
                replaced = replaced || (run.isScope && begins == depth);
            }
            if (depth < scopes.size() && !replaced) {
                node = child(node, scopes[depth], op);
                if (tree_.nodes[at(node)].name.empty()) tree_.nodes[at(node)].name = scopes[depth];
            }
        }
        tree_.groupOf[op] = node;
    }

    std::int32_t child(std::int32_t parent, std::string_view key, std::size_t op) {
        const auto [place, fresh] =
            known_.emplace(std::pair{parent, key}, static_cast<std::int32_t>(tree_.nodes.size()));
        if (fresh) {
            tree_.nodes.push_back({});
            tree_.nodes.back().parent = parent;
            tree_.nodes.back().first = static_cast<std::int32_t>(op);
        }
        return place->second;
    }

    const Graph& graph_;
    Blocks blocks_;
    std::deque<std::string> runKeys_;
    std::unordered_map<std::pair<std::int32_t, std::string_view>, std::int32_t, KeyHash> known_;
    Tree tree_;
};

GraphHierarchy finished(const Tree& tree) {
    GraphHierarchy result;
    const std::size_t count = tree.nodes.size();
    std::vector<std::vector<std::int32_t>> inside(count + 1);  // [0]: top
    for (std::size_t n = 0; n < count; ++n) {
        if (tree.nodes[n].alive) inside[at(tree.nodes[n].parent + 1)].push_back(static_cast<std::int32_t>(n));
    }
    for (auto& nodes : inside) {
        std::stable_sort(nodes.begin(), nodes.end(), [&](std::int32_t a, std::int32_t b) {
            return tree.nodes[at(a)].first < tree.nodes[at(b)].first;
        });
    }
    std::vector<std::int32_t> place(count, -1), pending(inside[0].rbegin(), inside[0].rend());
    std::unordered_set<std::string> scopes;
    while (!pending.empty()) {
        const std::int32_t n = pending.back();
        pending.pop_back();
        const auto& node = tree.nodes[at(n)];
        place[at(n)] = static_cast<std::int32_t>(result.groups.size());
        GraphGroup group;
        group.name = node.name.empty() ? "block" : node.name;
        group.parent = node.parent < 0 ? -1 : place[at(node.parent)];
        group.repeat = node.repeat;
        group.operatorCount = node.operators;
        group.alike = node.alike;
        const std::string base =
            group.parent < 0 ? group.name : result.groups[at(group.parent)].scope + "/" + group.name;
        group.scope = base;
        for (int again = 2; !scopes.insert(group.scope).second; ++again)
            group.scope = base + "#" + std::to_string(again);
        result.groups.push_back(std::move(group));
        pending.insert(pending.end(), inside[at(n) + 1].rbegin(), inside[at(n) + 1].rend());
    }
    for (const std::int32_t n : tree.groupOf) result.groupOf.push_back(n < 0 ? -1 : place[at(n)]);
    return result;
}

}  // namespace

GraphHierarchy hierarchyOf(const Graph& graph) {
    Tree tree = Builder(graph).take();
    hierarchy::dissolve(tree);
    hierarchy::findAlike(tree, graph);
    return finished(tree);
}

}  // namespace orrery
