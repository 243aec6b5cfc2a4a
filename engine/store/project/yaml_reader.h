#pragma once

// Reading the YAML documents that this folder owns, for its sources only (yaml-cpp does not leave the engine). A
// document comes from anybody: size, nesting, aliases, duplicate keys and types are all checked, and every answer has
// a place.

#include "base/diagnostic.h"
#include "hardware/component.h"

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::store {

/// Where in which document we are: file for places, and warnings as they come.
struct YamlContext {
    std::string file;
    Diagnostics warnings;
    Place place(const YAML::Node& node, std::string path) const;
};

/// Parses one document. Refuses sizes over 16 MiB, 500,000 entries, 64 levels, aliases and anchors (they can name
/// themselves), a second document, and text that is not UTF-8 YAML. Never throws.
Expected<YAML::Node> parseYaml(std::string_view text, const YamlContext& context);

/// The version N of a root with `orrery: <kind>/N`. Fails if the key is missing, is another kind (and says which
/// command opens that kind), or is newer than `newest`.
Expected<int> documentVersion(const YAML::Node& root, std::string_view kind, int newest, const YamlContext& context);

/// Takes the known keys out of a mapping one by one; what is left is unknown.
class MapReader {
public:
    /// Fails if the node is not a mapping, has a key that is not a word, or has one twice.
    static Expected<MapReader> open(const YAML::Node& node, std::string path, YamlContext& context);

    std::optional<YAML::Node> take(std::string_view key);
    /// Fails if the key is absent.
    Expected<YAML::Node> require(std::string_view key, std::string_view meaning);
    std::vector<std::string> keys() const;  ///< all, in the order of the file
    Place placeOf(const YAML::Node& node, std::string_view key) const;
    Place place() const { return context_->place(node_, path_); }
    /// What nobody took, kept as text, with one warning each that names the nearest known key.
    std::vector<UnknownKey> rest();

private:
    struct Entry {
        std::string key;
        YAML::Node value;
        bool taken = false;
    };
    YAML::Node node_;
    std::string path_;
    YamlContext* context_ = nullptr;
    std::vector<Entry> entries_;
    std::vector<std::string> known_;
};

Expected<std::string> readText(const YAML::Node& node, const Place& place);
/// A whole number in [lowest, highest].
Expected<std::int64_t> readWhole(const YAML::Node& node, const Place& place, std::int64_t lowest, std::int64_t highest);
Expected<bool> readBool(const YAML::Node& node, const Place& place);
Expected<std::vector<std::string>> readTexts(const YAML::Node& node, const Place& place);
/// Fails unless the node is a list (an absent or empty value is an empty one).
Expected<std::vector<YAML::Node>> readList(const YAML::Node& node, const Place& place);

/// A scalar as YAML: plain where that is safe, else in double quotes. Reads back as the same text.
std::string yamlScalar(std::string_view text);
/// `key: value` lines for keys that this version does not know, indented by `indent` spaces.
std::string writeUnknown(const std::vector<UnknownKey>& unknown, int indent);
/// Text with every line indented, except blank ones.
std::string indented(std::string_view text, int spaces);

}  // namespace orrery::store
