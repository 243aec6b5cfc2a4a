#include "workload/yaml/fields.h"

#include "base/text/nearest.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

std::string shown(const YamlNode& node) {
    if (!node.isScalar()) return std::string(node.typeText());
    return fmt::format("“{}”", node.scalar.size() > 40 ? node.scalar.substr(0, 37) + "..." : node.scalar);
}

}  // namespace

YamlFields::YamlFields(const YamlNode& map, std::string file, std::string path)
    : map_(map), file_(std::move(file)), path_(std::move(path)) {
    if (!map_.isMap())
        refuse(map_, fmt::format("this is {}", map_.typeText()), "a map of `key: value`", "see the manual");
}

void YamlFields::refuse(const YamlNode& at, std::string message, std::string expected, std::string hint) {
    if (problem_) return;
    std::string path = path_;
    if (!at.key.empty() && &at != &map_) path += (path.empty() ? "" : "/") + at.key;
    problem_ = fail("workload.value", std::move(message), std::move(expected), std::move(hint),
                    Place{file_, std::max(at.line, 1), at.column, std::move(path)})
                   .value();
}

const YamlNode* YamlFields::find(std::string_view key) {
    asked_.emplace_back(key);
    const YamlNode* node = map_.isMap() ? map_.find(key) : nullptr;
    return node && !node->isNull() ? node : nullptr;
}

const YamlNode* YamlFields::required(std::string_view key, std::string_view expected) {
    const YamlNode* node = find(key);
    if (!node) {
        refuse(map_, fmt::format("the key `{}` is missing", key), std::string(expected),
               fmt::format("add `{}: …`", key));
    }
    return node;
}

std::optional<std::int64_t> YamlFields::wholeOf(const YamlNode& node, std::int64_t low, std::int64_t high) {
    const auto value = node.isScalar() && !node.quoted ? wholeIn(node.scalar) : std::nullopt;
    if (value && *value >= low && *value <= high) return value;
    refuse(node, fmt::format("{} does not fit here", shown(node)),
           fmt::format("a whole number from {} to {}", low, high), "write digits only");
    return std::nullopt;
}

std::int64_t YamlFields::whole(std::string_view key, std::int64_t low, std::int64_t high, std::int64_t fallback) {
    const YamlNode* node = find(key);
    return node ? wholeOf(*node, low, high).value_or(fallback) : fallback;
}

double YamlFields::number(std::string_view key, double low, double high, double fallback) {
    const YamlNode* node = find(key);
    if (!node) return fallback;
    const auto value = numberIn(node->scalar);
    if (node->isScalar() && value && *value >= low && *value <= high) return *value;
    refuse(*node, fmt::format("{} does not fit here", shown(*node)), fmt::format("a number from {} to {}", low, high),
           "write digits with a point");
    return fallback;
}

bool YamlFields::flag(std::string_view key, bool fallback) {
    const YamlNode* node = find(key);
    if (!node) return fallback;
    if (node->isScalar() && (node->scalar == "true" || node->scalar == "false")) return node->scalar == "true";
    refuse(*node, fmt::format("{} is neither true nor false", shown(*node)), "true or false",
           "write it without quotes");
    return fallback;
}

std::string YamlFields::text(std::string_view key, std::string fallback) {
    const YamlNode* node = find(key);
    if (!node) return fallback;
    if (node->isScalar()) return node->scalar;
    refuse(*node, fmt::format("{} is {}", key, node->typeText()), "a text", "write it on one line");
    return fallback;
}

void YamlFields::refuseOthers() {
    if (problem_ || !map_.isMap()) return;
    for (const YamlNode& item : map_.items) {
        if (std::find(asked_.begin(), asked_.end(), item.key) != asked_.end()) continue;
        const std::string near = didYouMean(item.key, asked_);
        YamlNode at = item;
        at.line = item.keyLine > 0 ? item.keyLine : item.line;
        at.column = item.keyColumn > 0 ? item.keyColumn : item.column;
        refuse(at, fmt::format("the key `{}` means nothing here", item.key), quotedList(asked_, "or"),
               near.empty() ? "remove it" : near);
        return;
    }
}

}  // namespace orrery
