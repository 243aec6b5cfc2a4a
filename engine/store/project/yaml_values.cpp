#include "store/project/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace orrery::store {

Expected<std::string> readText(const YAML::Node& node, const Place& place) {
    if (!node.IsScalar()) return fail("yaml.type", "a text should stand here", "one word or line of text", "", place);
    return node.Scalar();
}

Expected<std::int64_t> readWhole(const YAML::Node& node, const Place& place, std::int64_t lowest,
                                 std::int64_t highest) {
    const std::string wanted = fmt::format("a whole number from {} to {}", lowest, highest);
    if (!node.IsScalar()) return fail("yaml.type", "a whole number should stand here", wanted, "", place);
    const std::string& text = node.Scalar();
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

Expected<bool> readBool(const YAML::Node& node, const Place& place) {
    if (node.IsScalar()) {
        const std::string& text = node.Scalar();
        if (text == "true" || text == "yes" || text == "on") return true;
        if (text == "false" || text == "no" || text == "off") return false;
    }
    return fail("yaml.type", "true or false should stand here", "`true` or `false`", "", place);
}

Expected<std::vector<YAML::Node>> readList(const YAML::Node& node, const Place& place) {
    if (!node.IsSequence()) {
        return fail("yaml.type", "a list should stand here", "`- item` lines or `[item, item]`", "", place);
    }
    return std::vector<YAML::Node>(node.begin(), node.end());
}

Expected<std::vector<std::string>> readTexts(const YAML::Node& node, const Place& place) {
    auto items = readList(node, place);
    if (!items) return tl::unexpected(items.error());
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < items->size(); ++i) {
        Place itemPlace = place;
        itemPlace.path += fmt::format("[{}]", i + 1);
        if (!(*items)[i].Mark().is_null()) {
            itemPlace.line = (*items)[i].Mark().line + 1;
            itemPlace.column = (*items)[i].Mark().column + 1;
        }
        auto text = readText((*items)[i], itemPlace);
        if (!text) return tl::unexpected(text.error());
        texts.push_back(std::move(*text));
    }
    return texts;
}

std::string yamlScalar(std::string_view text) {
    const auto word = [](unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; };
    const auto inside = [&](unsigned char c) {
        return word(c) || std::string_view(" -./+()×,;=@~^").find(static_cast<char>(c)) != std::string_view::npos;
    };
    const auto flowSafe = [](unsigned char c) { return c != ','; };  // the same scalar may stand in a [list]
    bool plain = !text.empty() &&
                 (word(static_cast<unsigned char>(text.front())) || text.front() == '/' ||
                  (text.front() == '.' && text.size() > 1 && text.find('/') != text.npos)) &&
                 text.back() != ' ' && text.find("  ") == text.npos;
    for (const char c : text) {
        plain = plain && inside(static_cast<unsigned char>(c)) && flowSafe(static_cast<unsigned char>(c));
    }
    for (const std::string_view reserved : {"null", "Null", "NULL", "true", "false", "yes", "no", "on", "off"}) {
        plain = plain && text != reserved;
    }
    if (plain) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        switch (c) {
            case '"':
                quoted += "\\\"";
                break;
            case '\\':
                quoted += "\\\\";
                break;
            case '\n':
                quoted += "\\n";
                break;
            case '\t':
                quoted += "\\t";
                break;
            case '\r':
                quoted += "\\r";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
                    quoted += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
                } else {
                    quoted += c;
                }
        }
    }
    return quoted + "\"";
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
        try {
            // In the one spelling that reading gives back, so that writing is a fixed point.
            const YAML::Node node = YAML::Load(key.yaml);
            const std::string text = YAML::Dump(node);
            out += margin + yamlScalar(key.key) + ":";
            out += node.IsScalar() || node.IsNull() ? " " + text + "\n" : "\n" + indented(text, indent + 2);
        } catch (const YAML::Exception&) {
            continue;  // made by hand and not YAML: writing it would spoil the whole file
        }
    }
    return out;
}

}  // namespace orrery::store
