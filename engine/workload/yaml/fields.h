#pragma once

// Reading the fields of one YAML map: each is asked for once, what nobody asked for is an error, and the first thing
// wrong is kept with its place while later reads answer harmless values.

#include "base/text/yaml_node.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class YamlFields {
public:
    /// `path` names the map in messages: `operators/fc1`.
    YamlFields(const YamlNode& map, std::string file, std::string path);

    const YamlNode* find(std::string_view key);
    const YamlNode* required(std::string_view key, std::string_view expected);
    std::int64_t whole(std::string_view key, std::int64_t low, std::int64_t high, std::int64_t fallback);
    double number(std::string_view key, double low, double high, double fallback);
    bool flag(std::string_view key, bool fallback);
    std::string text(std::string_view key, std::string fallback);
    /// A whole number from a scalar, or nothing and a complaint.
    std::optional<std::int64_t> wholeOf(const YamlNode& node, std::int64_t low, std::int64_t high);

    /// Complains about the first key that was never asked for, and names the nearest known one.
    void refuseOthers();
    void refuse(const YamlNode& at, std::string message, std::string expected, std::string hint);
    const std::optional<Diagnostic>& problem() const { return problem_; }
    const std::string& path() const { return path_; }
    const YamlNode& map() const { return map_; }

private:
    const YamlNode& map_;
    std::string file_, path_;
    std::vector<std::string> asked_;
    std::optional<Diagnostic> problem_;
};

}  // namespace orrery
