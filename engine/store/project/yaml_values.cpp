#include "store/project/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace orrery::store {

Expected<std::string> readText(const YamlNode& node, const Place& place) {
    if (!node.isScalar()) return fail("yaml.type", "a text should stand here", "one word or line of text", "", place);
    return node.scalar;
}

Expected<std::int64_t> readWhole(const YamlNode& node, const Place& place, std::int64_t lowest, std::int64_t highest) {
    const std::string wanted = fmt::format("a whole number from {} to {}", lowest, highest);
    if (!node.isScalar()) return fail("yaml.type", "expected a whole number here", wanted, "", place);
    const std::string& text = node.scalar;
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::invalid_argument || rest != end) {
        return fail("yaml.whole", fmt::format("`{}` is not a whole number", text), wanted, "", place);
    }
    if (error != std::errc{} || value < lowest || value > highest) {
        return fail("yaml.range", fmt::format("{} is out of range", text), wanted, "", place);
    }
    return value;
}

Expected<bool> readBool(const YamlNode& node, const Place& place) {
    if (node.isScalar()) {
        const std::string& text = node.scalar;
        if (text == "true" || text == "yes" || text == "on") return true;
        if (text == "false" || text == "no" || text == "off") return false;
    }
    return fail("yaml.type", "expected true or false here", "`true` or `false`", "", place);
}

Expected<std::span<const YamlNode>> readList(const YamlNode& node, const Place& place) {
    if (!node.isSequence()) {
        return fail("yaml.type", "a list should stand here", "`- item` lines or `[item, item]`", "", place);
    }
    return std::span(node.items);
}

Expected<std::vector<std::string>> readTexts(const YamlNode& node, const Place& place) {
    auto items = readList(node, place);
    if (!items) return tl::unexpected(items.error());
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < items->size(); ++i) {
        Place itemPlace = place;
        itemPlace.path += fmt::format("[{}]", i + 1);
        itemPlace.line = (*items)[i].line;
        itemPlace.column = (*items)[i].column;
        auto text = readText((*items)[i], itemPlace);
        if (!text) return tl::unexpected(text.error());
        texts.push_back(std::move(*text));
    }
    return texts;
}

std::string indented(std::string_view text, int spaces) {
    const std::string margin(static_cast<std::size_t>(spaces), ' ');
    std::string out;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        if (end > 0) out += margin;
        out += text.substr(0, end);
        out += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::string writeUnknown(const std::vector<UnknownKey>& unknown, int indent) {
    std::string out;
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    for (const UnknownKey& key : unknown) {
        const auto node = parseYaml(key.yaml);
        if (!node) continue;  // made by hand and not YAML: writing it would spoil the whole file
        // In the one spelling that reading gives back, so that writing is a fixed point.
        out += margin + yamlScalar(key.key) + ": " + yamlFlow(*node) + "\n";
    }
    return out;
}

}  // namespace orrery::store
