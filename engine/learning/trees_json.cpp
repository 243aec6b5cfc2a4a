// XGBoost's JSON of a tree booster (its document "Introduction to Model IO"): read whole or thinned, written thinned.
// The arrays that XGBoost wants but does not predict with are written as zeros. What it reads as a float must have a
// point or an exponent.

#include "base/text/words.h"
#include "learning/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace orrery {

namespace {

constexpr std::size_t largestTree = 1u << 20, largestForest = 1u << 22;  // nodes; the second fits Trees::Node

// XGBoost keeps its parameters as texts: "12", "5E-1", in later versions "[5E-1]".
double readNumber(JsonCursor& json) {
    if (json.kind() != JsonCursor::Kind::Text) return json.number();
    std::string_view text = json.text();
    if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
    const auto number = numberIn(text);
    const double value = number.value_or(0);
    if (!number || !(std::abs(value) < 1e30)) {
        json.fail("model", fmt::format("'{}' is not a number", text), "a number as text, as XGBoost writes it");
    }
    return value;
}

template <class T>
void readColumn(JsonCursor& json, std::vector<T>& column) {
    column.clear();
    for (const double value : json.numbers(largestTree)) {
        if (!(std::abs(value) <= 2147483647.0)) {
            json.fail("model", fmt::format("{} is too large for a tree", value));
            return;
        }
        column.push_back(T(value));
    }
}

// As numbers, or as the truths of XGBoost's early versions.
void readFlags(JsonCursor& json, std::vector<std::uint8_t>& flags) {
    flags.clear();
    for (json.array(); json.element();) {
        const bool set = json.kind() == JsonCursor::Kind::Truth ? json.truth() : json.number() != 0;
        if (flags.size() >= largestTree) json.fail("model", "a tree of more than a million nodes");
        if (json.ok()) flags.push_back(set ? 1 : 0);
    }
}

TreeNodes readTree(JsonCursor& json) {
    TreeNodes tree;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "left_children")
            readColumn(json, tree.left);
        else if (key == "right_children")
            readColumn(json, tree.right);
        else if (key == "split_indices")
            readColumn(json, tree.feature);
        else if (key == "split_conditions")
            readColumn(json, tree.value);
        else if (key == "default_left")
            readFlags(json, tree.missing);
        else if (key == "categories") {
            for (json.array(); json.element();) {
                json.fail("model", "splits by category are not known", "numerical splits alone");
            }
        } else
            json.skip();
    }
    const std::size_t size = tree.value.size();
    if (json.ok() && (tree.left.size() != size || tree.right.size() != size || tree.feature.size() != size ||
                      tree.missing.size() != size)) {
        json.fail("model", "columns of a tree differ in length",
                  "left_children, right_children, split_indices, split_conditions and default_left of one length");
    }
    return tree;
}

struct Read {
    TreeFile file;
    double inputs = -1;
    bool hasTrees = false;
};

void readModel(JsonCursor& json, Read& read) {
    std::string_view key;
    std::size_t nodes = 0;
    for (json.object(); json.key(key);) {
        if (key == "trees") {
            read.hasTrees = true;
            for (json.array(); json.element();) {
                read.file.trees.push_back(readTree(json));
                nodes += read.file.trees.back().size();
                if (nodes > largestForest) json.fail("model", "trees of more than four million nodes");
            }
        } else if (key == "gbtree_model_param") {
            for (json.object(); json.key(key);) {
                if (key == "num_parallel_tree")
                    read.file.parallel = int(std::clamp(readNumber(json), 1.0, 1e6));
                else if (key == "size_leaf_vector" && readNumber(json) > 1)
                    json.fail("model", "leaves of several numbers are not known");
                else if (key != "size_leaf_vector")
                    json.skip();
            }
        } else
            json.skip();
    }
}

void readLearner(JsonCursor& json, Read& read) {
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "gradient_booster") {
            for (json.object(); json.key(key);) {
                if (key == "model") {
                    readModel(json, read);
                } else if (key == "name") {
                    if (const auto name = json.text(); json.ok() && name != "gbtree") {
                        json.fail("model", fmt::format("booster '{}' is not known", name), "gbtree");
                    }
                } else
                    json.skip();
            }
        } else if (key == "learner_model_param") {
            for (json.object(); json.key(key);) {
                if (key == "base_score")
                    read.file.base = readNumber(json);
                else if (key == "num_feature")
                    read.inputs = readNumber(json);
                else if (key == "num_class" && readNumber(json) > 1)
                    json.fail("model", "a classifier, not a regression");
                else if (key != "num_class")
                    json.skip();
            }
        } else if (key == "objective") {
            for (json.object(); json.key(key);) {
                if (key != "name") {
                    json.skip();
                    continue;
                }
                const auto name = json.text();
                if (json.ok() && name != "reg:squarederror" && name != "reg:absoluteerror" &&
                    name != "reg:pseudohubererror" && name != "reg:quantileerror") {
                    json.fail("model", fmt::format("objective '{}' changes the sum of the leaves", name),
                              "reg:squarederror, reg:absoluteerror, reg:pseudohubererror or reg:quantileerror");
                }
            }
        } else
            json.skip();
    }
}

}  // namespace

TreeFile readTreeFile(JsonCursor& json) {
    Read read;
    bool learner = false;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "learner") {
            learner = true;
            readLearner(json, read);
        } else
            json.skip();
    }
    if (json.ok() && (!learner || !read.hasTrees || read.inputs < 0)) {
        json.fail("model", "not a model of XGBoost", "its JSON, with learner.gradient_booster.model.trees",
                  "Save with a file name that ends in .json.");
    }
    if (json.ok() &&
        !(read.inputs >= 1 && read.inputs <= double(largestInputs) && read.inputs == std::floor(read.inputs))) {
        json.fail("model", fmt::format("{} features", read.inputs), fmt::format("1 to {} features", largestInputs));
    }
    for (std::size_t t = 0; json.ok() && t < read.file.trees.size(); ++t) {
        const std::string fault = findFault(read.file.trees[t], std::size_t(read.inputs));
        if (!fault.empty()) json.fail("model", fmt::format("tree {}: {}", t, fault), "nodes that form a tree");
    }
    if (!json.ok()) return {};
    read.file.inputs = std::size_t(read.inputs);
    return std::move(read.file);
}

RegressorPtr readTrees(JsonCursor& json) {
    const TreeFile file = readTreeFile(json);
    if (!json.ok()) return nullptr;
    return std::make_shared<Trees>(file.inputs, file.base, file.trees, file.parallel);
}

std::string Trees::toJson() const {
    if (compact_) return compactJson(*this);
    const std::vector<TreeNodes> all = unpack();
    std::string out =
        R"({"learner":{"attributes":{},"feature_names":[],"feature_types":[],"gradient_booster":{"model":{)";
    auto to = std::back_inserter(out);
    fmt::format_to(to, R"("gbtree_model_param":{{"num_parallel_tree":"{}","num_trees":"{}","size_leaf_vector":"0"}},)",
                   parallel_, all.size());
    const auto list = [&](const char* name, std::size_t size, auto&& print) {
        fmt::format_to(to, R"("{}":[)", name);
        for (std::size_t i = 0; i < size; ++i) {
            if (i > 0) out += ',';
            print(i);
        }
        out += "],";
    };
    list("tree_info", all.size(), [&](std::size_t) { out += '0'; });
    out += R"("trees":[)";
    for (std::size_t t = 0; t < all.size(); ++t) {
        const TreeNodes& tree = all[t];
        std::vector<std::int64_t> parents(tree.size(), 2147483647);
        for (std::size_t i = 0; i < tree.size(); ++i) {
            if (tree.left[i] < 0) continue;
            parents[std::size_t(tree.left[i])] = parents[std::size_t(tree.right[i])] = std::int64_t(i);
        }
        out += t > 0 ? ",\n{" : "\n{";
        for (const char* unused : {"base_weights", "loss_changes", "sum_hessian"}) {
            list(unused, tree.size(), [&](std::size_t) { out += "0.0"; });
        }
        list("default_left", tree.size(), [&](std::size_t i) { out += tree.missing[i] ? '1' : '0'; });
        fmt::format_to(to, R"("id":{},)", t);
        list("left_children", tree.size(), [&](std::size_t i) { fmt::format_to(to, "{}", tree.left[i]); });
        list("parents", tree.size(), [&](std::size_t i) { fmt::format_to(to, "{}", parents[i]); });
        list("right_children", tree.size(), [&](std::size_t i) { fmt::format_to(to, "{}", tree.right[i]); });
        list("split_conditions", tree.size(), [&](std::size_t i) {
            const std::size_t begin = out.size();
            fmt::format_to(to, "{}", tree.value[i]);
            if (out.find_first_of(".e", begin) == out.npos) out += ".0";
        });
        list("split_indices", tree.size(), [&](std::size_t i) { fmt::format_to(to, "{}", tree.feature[i]); });
        fmt::format_to(
            to, R"("tree_param":{{"num_deleted":"0","num_feature":"{}","num_nodes":"{}","size_leaf_vector":"0"}}}})",
            inputs_, tree.size());
    }
    fmt::format_to(to, R"(]}},"name":"gbtree"}},"learner_model_param":{{"base_score":"{}","boost_from_average":"0",)",
                   base_);
    fmt::format_to(to, R"("num_class":"0","num_feature":"{}","num_target":"1"}},)", inputs_);
    out += R"("objective":{"name":"reg:squarederror","reg_loss_param":{"scale_pos_weight":"1"}}},"version":[1,7,4]})";
    return out;
}

}  // namespace orrery
