// Trees in our short form: what XGBoost's JSON says twice or does not predict with is left out.

#include "learning/trees.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <memory>

namespace orrery {

namespace {

constexpr std::size_t largestTree = 1u << 20, largestForest = 1u << 22;  // nodes; the second fits Trees' links

TreeNodes readTree(JsonCursor& json, std::size_t inputs) {
    std::vector<double> split, value;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "split")
            split = json.numbers(largestTree);
        else if (key == "value")
            value = json.numbers(largestTree);
        else
            json.skip();
    }
    TreeNodes tree;
    if (!json.ok()) return tree;
    std::size_t inner = 0;
    for (const double feature : split) inner += feature >= 0 ? 1 : 0;
    if (split.size() != value.size() || split.size() != 2 * inner + 1) {
        json.fail(
            "model",
            fmt::format("a tree of {} splits and {} values, {} of them no leaves", split.size(), value.size(), inner),
            "one value per node, and one leaf more than other nodes");
        return tree;
    }
    std::int32_t child = 1;
    for (std::size_t i = 0; i < split.size(); ++i) {
        const bool leaf = split[i] < 0;
        if (!(split[i] >= -1 && split[i] < double(inputs) && split[i] == std::floor(split[i])) ||
            !(std::abs(value[i]) < 1e30) || (!leaf && child <= std::int32_t(i))) {
            json.fail("model", fmt::format("node {}: feature {} of {}, value {}", i, split[i], inputs, value[i]),
                      "breadth first: a feature, or -1 for a leaf, and a finite number");
            return tree;
        }
        tree.feature.push_back(leaf ? 0 : std::int32_t(split[i]));
        tree.value.push_back(float(value[i]));
        tree.left.push_back(leaf ? -1 : child);
        tree.right.push_back(leaf ? -1 : child + 1);
        tree.missing.push_back(0);
        if (!leaf) child += 2;
    }
    return tree;
}

}  // namespace

RegressorPtr readCompactTrees(JsonCursor& json) {
    std::size_t inputs = 0, nodes = 0;
    double base = 0;
    std::vector<TreeNodes> trees;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "inputs") {
            const auto count = json.integer();
            if (json.ok() && (count < 1 || count > std::int64_t(largestInputs))) {
                json.fail("model", fmt::format("{} features", count), fmt::format("1 to {} features", largestInputs));
            }
            inputs = json.ok() ? std::size_t(count) : 0;
        } else if (key == "base") {
            base = json.number();
        } else if (key == "trees") {
            if (json.ok() && inputs == 0) json.fail("model", "trees before their inputs", "\"inputs\": … before them");
            for (json.array(); json.element();) {
                trees.push_back(readTree(json, inputs));
                nodes += trees.back().size();
                if (nodes > largestForest) json.fail("model", "trees of more than four million nodes");
                if (!json.ok()) return nullptr;
                if (const auto fault = findFault(trees.back(), inputs); !fault.empty()) {
                    json.fail("model", fmt::format("tree {}: {}", trees.size() - 1, fault), "nodes that form a tree");
                }
            }
        } else
            json.skip();
    }
    if (json.ok() && (inputs == 0 || trees.empty())) {
        json.fail("model", "no compact trees", "inputs, base and one or more trees");
    }
    if (!json.ok()) return nullptr;
    return std::make_shared<Trees>(inputs, base, trees, 1, true);
}

std::string compactJson(const Trees& trees) {
    std::string out;
    auto to = std::back_inserter(out);
    fmt::format_to(to, R"({{"inputs":{},"base":{},"trees":[)", trees.inputs(), trees.base());
    bool first = true;
    for (const TreeNodes& tree : trees.unpack()) {
        out += first ? "\n{\"split\":[" : ",\n{\"split\":[";
        first = false;
        for (std::size_t i = 0; i < tree.size(); ++i) {
            fmt::format_to(to, "{}{}", i > 0 ? "," : "", tree.left[i] < 0 ? -1 : tree.feature[i]);
        }
        out += "],\n\"value\":[";
        for (std::size_t i = 0; i < tree.size(); ++i) {
            if (i > 0) out += ',';
            fmt::format_to(to, "{}", tree.value[i]);
            if (out.ends_with(".0")) out.resize(out.size() - 2);
        }
        out += "]}";
    }
    return out + "]}";
}

}  // namespace orrery
