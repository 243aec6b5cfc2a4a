#include "learning/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace orrery {

namespace {

constexpr std::uint32_t childShift = 9;  // below it: 8 bits of feature, 1 of direction
constexpr int together = 8;              // trees walked at once, so that their loads overlap

// Levels of a tree below its root, and its nodes breadth first with siblings side by side.
struct Order {
    std::vector<std::int32_t> nodes;
    int depth = 0;
};
Order breadthFirst(const TreeNodes& tree) {
    Order order{{0}, 0};
    std::vector<int> depth{0};
    for (std::size_t i = 0; i < order.nodes.size(); ++i) {
        const auto node = std::size_t(order.nodes[i]);
        if (tree.left[node] < 0) continue;
        order.nodes.push_back(tree.left[node]);
        order.nodes.push_back(tree.right[node]);
        depth.insert(depth.end(), 2, depth[i] + 1);
    }
    order.depth = depth.back();
    return order;
}

}  // namespace

std::string findFault(const TreeNodes& nodes, std::size_t inputs) {
    const auto size = std::int64_t(nodes.size());
    if (size == 0) return "a tree without nodes";
    std::vector<std::uint8_t> met(nodes.size(), 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if ((nodes.left[i] < 0) != (nodes.right[i] < 0)) return fmt::format("node {} has one child", i);
        if (nodes.left[i] < 0) continue;
        if (nodes.feature[i] < 0 || std::size_t(nodes.feature[i]) >= inputs) {
            return fmt::format("node {} asks for feature {} of {}", i, nodes.feature[i], inputs);
        }
        for (const std::int64_t child : {nodes.left[i], nodes.right[i]}) {
            if (child >= size) return fmt::format("node {} leads to node {} of {}", i, child, size);
            // With one parent each and none for the root, what hangs from the root is a tree.
            if (child == 0 || met[std::size_t(child)]++) return fmt::format("node {} is led to twice", child);
        }
    }
    return {};
}

Trees::Trees(std::size_t inputs, double base, std::span<const TreeNodes> trees, int parallel, bool compact)
    : inputs_(inputs), base_(base), parallel_(parallel), compact_(compact) {
    assert(inputs <= largestInputs);
    std::vector<Order> orders;
    for (const TreeNodes& tree : trees) {
        assert(findFault(tree, inputs).empty());
        orders.push_back(breadthFirst(tree));
    }
    std::vector<std::size_t> rank(trees.size());
    std::iota(rank.begin(), rank.end(), std::size_t(0));
    std::stable_sort(rank.begin(), rank.end(), [&](auto a, auto b) { return orders[a].depth > orders[b].depth; });
    for (const std::size_t t : rank) {
        const TreeNodes& tree = trees[t];
        const auto root = std::uint32_t(nodes_.size());
        std::uint32_t child = root + 1;
        for (const std::int32_t i : orders[t].nodes) {
            const auto node = std::size_t(i);
            if (tree.left[node] < 0) {
                const auto self = std::uint32_t(nodes_.size());
                nodes_.push_back({std::numeric_limits<float>::infinity(), (self << childShift) | 1u});
                leaves_.push_back(tree.value[node]);
            } else {
                const auto how = (std::uint32_t(tree.feature[node]) << 1) | (tree.missing[node] && !compact ? 1u : 0u);
                nodes_.push_back({tree.value[node], (child << childShift) | how});
                leaves_.push_back(0);
                child += 2;
            }
        }
        roots_.push_back(root);
        depths_.push_back(orders[t].depth);
    }
}

// With missing numbers, which the quick walk below does not know.
float Trees::walk(std::uint32_t root, const float* row) const {
    std::uint32_t at = root;
    for (;;) {
        const Node node = nodes_[at];
        if (std::isinf(node.threshold) && (node.next >> childShift) == at) return leaves_[at];
        const float x = row[(node.next >> 1) & 0xFFu];
        const bool left = std::isnan(x) ? (node.next & 1u) != 0 : x < node.threshold;
        at = (node.next >> childShift) + (left ? 0u : 1u);
    }
}

double Trees::predict(std::span<const double> features) const {
    assert(features.size() == inputs_);
    float row[largestInputs];
    bool missing = false;
    for (std::size_t i = 0; i < inputs_; ++i) {
        row[i] = float(features[i]);
        missing |= std::isnan(row[i]) || std::isinf(row[i]);
    }
    double sum = base_;
    std::size_t t = 0;
    if (!missing) {
        const Node* nodes = nodes_.data();
        for (; t + together <= roots_.size(); t += together) {
            std::uint32_t at[together];
            for (int lane = 0; lane < together; ++lane) at[lane] = roots_[t + std::size_t(lane)];
            for (int level = depths_[t]; level > 0; --level) {
                for (int lane = 0; lane < together; ++lane) {
                    const Node node = nodes[at[lane]];
                    at[lane] =
                        (node.next >> childShift) + std::uint32_t(!(row[(node.next >> 1) & 0xFFu] < node.threshold));
                }
            }
            float part = 0;
            for (int lane = 0; lane < together; ++lane) part += leaves_[at[lane]];
            sum += double(part);
        }
    }
    for (; t < roots_.size(); ++t) sum += double(walk(roots_[t], row));
    return sum;
}

std::vector<TreeNodes> Trees::unpack() const {
    std::vector<TreeNodes> all;
    for (std::size_t t = 0; t < roots_.size(); ++t) {
        const std::size_t begin = roots_[t], end = t + 1 < roots_.size() ? roots_[t + 1] : nodes_.size();
        TreeNodes& tree = all.emplace_back();
        for (std::size_t i = begin; i < end; ++i) {
            const bool leaf = (nodes_[i].next >> childShift) == i;
            const auto child = std::int32_t((nodes_[i].next >> childShift) - begin);
            tree.left.push_back(leaf ? -1 : child);
            tree.right.push_back(leaf ? -1 : child + 1);
            tree.feature.push_back(leaf ? 0 : std::int32_t((nodes_[i].next >> 1) & 0xFFu));
            tree.value.push_back(leaf ? leaves_[i] : nodes_[i].threshold);
            tree.missing.push_back(std::uint8_t(leaf ? 0 : nodes_[i].next & 1u));
        }
    }
    return all;
}

}  // namespace orrery
