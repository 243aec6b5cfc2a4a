#include "store/project/yaml_reader.h"

#include "base/text/nearest.h"

#include <fmt/format.h>

#include <charconv>

namespace orrery::store {

namespace {

constexpr std::size_t mostUnknownWarnings = 20;
constexpr std::string_view anyDocument = "a YAML document that begins with `orrery: …`";

}  // namespace

Place YamlContext::place(const YamlNode& node, std::string path) const {
    return {file, node.line, node.column, std::move(path)};
}

Expected<YamlNode> parseDocument(std::string_view text, const YamlContext& context) {
    auto root = parseYaml(text, context.file, YamlAliases::Refused);
    if (!root) {
        if (root.error().code == "yaml.empty") root.error().expected = anyDocument;
        return root;
    }
    if (!root->isMap()) {
        return fail("yaml.root", fmt::format("the document is {}, not a mapping of keys to values", root->typeText()),
                    std::string(anyDocument), "is this the right file?", context.place(*root, {}));
    }
    return root;
}

Expected<int> documentVersion(const YamlNode& root, std::string_view kind, int newest, const YamlContext& context) {
    const std::string wanted = fmt::format("`orrery: {}/{}`", kind, newest);
    const YamlNode* node = root.find("orrery");
    if (!node || !node->isScalar()) {
        return fail("document.kind", "the key `orrery` is missing, so what the file holds is not known", wanted,
                    fmt::format("put {} on the first line", wanted), context.place(root, {}));
    }
    const std::string& text = node->scalar;
    const auto slash = text.find('/');
    const std::string found = text.substr(0, slash);
    int version = -1;
    if (slash != std::string::npos) {
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data() + slash + 1, end, version);
        if (error != std::errc{} || rest != end) version = -1;
    }
    if (found != kind) {
        return fail("document.kind", fmt::format("this is a `{}` document, not a {}", found, kind), wanted,
                    found == "hardware" || found == "workload" || found == "project" || found == "study"
                        ? fmt::format("open it as a {}", found)
                        : "is this the right file?",
                    context.place(*node, "orrery"));
    }
    if (version < 0) {
        return fail("document.version", fmt::format("`{}` has no version number", text), wanted, "",
                    context.place(*node, "orrery"));
    }
    if (version > newest) {
        return fail("document.newer",
                    fmt::format("the file was written by a newer Orrery ({} format {}; this one reads up to {})", kind,
                                version, newest),
                    wanted, "open it with a newer Orrery; this one leaves the file as it is",
                    context.place(*node, "orrery"));
    }
    return version;
}

Expected<MapReader> MapReader::open(const YamlNode& node, std::string path, YamlContext& context) {
    MapReader reader;
    reader.node_ = &node;
    reader.path_ = std::move(path);
    reader.context_ = &context;
    if (!node.isMap()) {
        return fail("yaml.type", "expected a mapping of keys to values here", "`key: value` lines", "", reader.place());
    }
    reader.taken_.resize(node.items.size());
    return reader;
}

const YamlNode* MapReader::take(std::string_view key) {
    known_.emplace_back(key);
    const YamlNode* found = node_->find(key);
    if (!found) return nullptr;
    taken_[static_cast<std::size_t>(found - node_->items.data())] = true;
    return found->isNull() ? nullptr : found;
}

Expected<YamlRef> MapReader::require(std::string_view key, std::string_view meaning) {
    if (const YamlNode* node = take(key)) return YamlRef(*node);
    std::vector<std::string> present;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
        if (!taken_[i]) present.push_back(node_->items[i].key);
    }
    const auto near = orrery::nearest(key, present, 1);
    return fail("yaml.missing", fmt::format("the key `{}` is missing", key), fmt::format("`{}`: {}", key, meaning),
                near.empty() ? std::string() : fmt::format("is `{}` a slip for it?", near.front()), place());
}

std::vector<std::string> MapReader::keys() const {
    std::vector<std::string> keys;
    for (const YamlNode& item : node_->items) keys.push_back(item.key);
    return keys;
}

Place MapReader::placeOf(const YamlNode& node, std::string_view key) const {
    return context_->place(node, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
}

std::vector<UnknownKey> MapReader::rest() {
    std::vector<UnknownKey> unknown;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
        if (taken_[i]) continue;
        const YamlNode& item = node_->items[i];
        unknown.push_back({item.key, yamlFlow(item)});
        if (unknown.size() > mostUnknownWarnings) continue;
        context_->warnings.push_back(warning(
            "yaml.unknown-key", fmt::format("the key `{}` is not known here; it is kept and not used", item.key),
            didYouMean(item.key, known_), placeOf(item, item.key)));
    }
    return unknown;
}

}  // namespace orrery::store
