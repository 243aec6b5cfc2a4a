#pragma once

// Reading the YAML documents that this folder owns, for its sources only: over the tree of base/text, the kind and
// version of a document, its keys taken one by one, and values of a type. A document comes from anybody: every answer
// has a place.

#include "base/diagnostic.h"
#include "base/text/yaml_node.h"
#include "hardware/component.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::store {

/// Where in which document we are: file for places, and warnings as they come.
struct YamlContext {
    std::string file;
    Diagnostics warnings;
    Place place(const YamlNode& node, std::string path) const;
};

using YamlRef = std::reference_wrapper<const YamlNode>;

/// Parses one document, as parseYaml() does; refuses anchors and aliases, and a root that is no map (`yaml.root`).
Expected<YamlNode> parseDocument(std::string_view text, const YamlContext& context);

/// The version N of a root with `orrery: <kind>/N`. Fails if the key is missing, is another kind (and says which
/// command opens that kind), or is newer than `newest`.
Expected<int> documentVersion(const YamlNode& root, std::string_view kind, int newest, const YamlContext& context);

/// Takes the known keys out of a mapping one by one; what is left is unknown. The nodes and the context must outlive
/// it.
class MapReader {
public:
    /// Fails if the node is not a mapping.
    static Expected<MapReader> open(const YamlNode& node, std::string path, YamlContext& context);

    /// Null if the key is absent or holds nothing.
    const YamlNode* take(std::string_view key);
    /// Fails if the key is absent.
    Expected<YamlRef> require(std::string_view key, std::string_view meaning);
    std::vector<std::string> keys() const;  ///< all, in the order of the file
    Place placeOf(const YamlNode& node, std::string_view key) const;
    Place place() const { return context_->place(*node_, path_); }
    void warn(Diagnostic warning) { context_->warnings.push_back(std::move(warning)); }
    /// What nobody took, kept as text, with one warning each that names the nearest known key.
    std::vector<UnknownKey> rest();

private:
    const YamlNode* node_ = nullptr;
    std::string path_;
    YamlContext* context_ = nullptr;
    std::vector<bool> taken_;  // as the items of the node
    std::vector<std::string> known_;
};

Expected<std::string> readText(const YamlNode& node, const Place& place);
/// A whole number in [lowest, highest].
Expected<std::int64_t> readWhole(const YamlNode& node, const Place& place, std::int64_t lowest, std::int64_t highest);
Expected<bool> readBool(const YamlNode& node, const Place& place);
Expected<std::vector<std::string>> readTexts(const YamlNode& node, const Place& place);
/// Fails unless the node is a list.
Expected<std::span<const YamlNode>> readList(const YamlNode& node, const Place& place);

/// `key: value` lines for keys that this version does not know, indented by `indent` spaces.
std::string writeUnknown(const std::vector<UnknownKey>& unknown, int indent);
/// Text with every line indented, except blank ones.
std::string indented(std::string_view text, int spaces);

}  // namespace orrery::store
