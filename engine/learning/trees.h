#pragma once

// Boosted or averaged regression trees in XGBoost's own JSON, evaluated by ourselves. The prediction is the base score
// plus one leaf of every tree; a row goes left where feature < threshold, both as 32-bit floats, as XGBoost does.
// Published in Chen and Guestrin, "XGBoost: A Scalable Tree Boosting System", KDD 2016.

#include "base/text/json_cursor.h"
#include "learning/regressor.h"

#include <cstdint>
#include <vector>

namespace orrery {

/// Nodes of one tree as XGBoost numbers them; the root is node 0.
struct TreeNodes {
    std::vector<std::int32_t> left, right;  ///< −1 at leaves
    std::vector<std::int32_t> feature;
    std::vector<float> value;           ///< threshold, or what a leaf adds
    std::vector<std::uint8_t> missing;  ///< 1: a missing number goes left
    std::size_t size() const { return value.size(); }
};

inline constexpr std::size_t largestInputs = 256;  ///< of any regressor

class Trees final : public Regressor {
public:
    /// `nodes` must be trees (see `findFault`) over `inputs` features. `parallel`: trees per round, kept for XGBoost.
    /// `compact`: written in our short form, in which missing numbers go right whatever the nodes say.
    Trees(std::size_t inputs, double base, std::span<const TreeNodes> nodes, int parallel = 1, bool compact = false);

    std::string_view kind() const override { return compact_ ? "compact-trees" : "trees"; }
    std::size_t inputs() const override { return inputs_; }
    double predict(std::span<const double> features) const override;
    std::string toJson() const override;

    std::size_t trees() const { return roots_.size(); }
    std::size_t nodes() const { return nodes_.size(); }
    /// Trees as they were given, in the order of evaluation within each.
    std::vector<TreeNodes> unpack() const;
    double base() const { return base_; }

private:
    /// Siblings stand side by side; a leaf leads to itself, so that a walk may go on at it.
    struct Node {
        float threshold;     ///< infinite at leaves
        std::uint32_t next;  ///< left child × 512 + feature × 2 + goes left if missing
    };
    float walk(std::uint32_t root, const float* row) const;

    std::size_t inputs_;
    double base_;
    int parallel_;
    bool compact_;
    std::vector<Node> nodes_;
    std::vector<float> leaves_;         ///< of each node; 0 inside
    std::vector<std::uint32_t> roots_;  ///< sorted by depth, deepest first
    std::vector<std::int32_t> depths_;  ///< of each tree, in that order
};

/// Why these nodes are no tree over `inputs` features: links that leave it, meet or turn back. Empty if they are one.
std::string findFault(const TreeNodes& nodes, std::size_t inputs);
/// What XGBoost's JSON says, trees in its order.
struct TreeFile {
    std::size_t inputs = 0;
    double base = 0;
    int parallel = 1;
    std::vector<TreeNodes> trees;
};
/// From the cursor on; whether it went well is the cursor's. Refuses other boosters, links (objectives), categories and
/// nodes that form no tree.
TreeFile readTreeFile(JsonCursor& json);
RegressorPtr readTrees(JsonCursor& json);  ///< null if that fails

/// The same trees in a quarter of the text, for files that are read at every start:
/// `{"inputs": n, "base": b, "trees": [{"split": […], "value": […]}, …]}` with the nodes of a tree breadth first:
/// `split` is the feature, −1 at leaves, `value` the threshold or what the leaf adds; the i-th node that is no leaf
/// (from 0) leads to nodes 2i + 1 (feature < threshold) and 2i + 2. Null if it fails, which the cursor says.
RegressorPtr readCompactTrees(JsonCursor& json);
std::string compactJson(const Trees& trees);  ///< what readCompactTrees() reads

}  // namespace orrery
