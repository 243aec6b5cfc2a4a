#include "base/text/yaml_node.h"

#include <fmt/format.h>

namespace orrery {
namespace {

bool readsAsNull(std::string_view text) {
    return text == "~" || text == "null" || text == "Null" || text == "NULL";
}

bool plainIsSafe(std::string_view text) {
    if (text.empty() || readsAsNull(text) || text == "---" || text == "...") return false;
    if (std::string_view(" -?:,[]{}#&*!|>'\"%@`=<").find(text.front()) != std::string_view::npos) return false;
    if (text.back() == ' ' || text.back() == ':') return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c < 0x20 || c == 0x7f) return false;
        // Line separators and the byte order mark (U+0085, U+2028, U+2029, U+FEFF) start with these bytes.
        if (c == 0xc2 || c == 0xe2 || c == 0xef) {
            const std::string_view rest = text.substr(i);
            if (rest.starts_with("\xc2\x85") || rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9") ||
                rest.starts_with("\xef\xbb\xbf")) {
                return false;
            }
        }
        if (std::string_view(",?[]{}\"").find(text[i]) != std::string_view::npos) return false;
        if (c == ':' && text[i + 1] == ' ') return false;
        if (c == '#' && text[i - 1] == ' ') return false;
    }
    return true;
}

std::string doubleQuoted(std::string_view text) {
    std::string out = "\"";
    for (const char ch : text) {
        const auto c = static_cast<unsigned char>(ch);
        if (ch == '"' || ch == '\\') {
            out += '\\';
            out += ch;
        } else if (ch == '\n') {
            out += "\\n";
        } else if (ch == '\t') {
            out += "\\t";
        } else if (c < 0x20 || c == 0x7f) {
            out += fmt::format("\\x{:02x}", c);
        } else {
            out += ch;
        }
    }
    return out + '"';
}

}  // namespace

std::string yamlScalar(std::string_view text) {
    return plainIsSafe(text) ? std::string(text) : doubleQuoted(text);
}

std::string yamlFlow(const YamlNode& node) {
    if (node.isNull()) return "~";
    if (node.isScalar()) return node.quoted ? doubleQuoted(node.scalar) : yamlScalar(node.scalar);
    std::string out = node.isMap() ? "{" : "[";
    for (std::size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) out += ", ";
        if (node.isMap()) out += yamlScalar(node.items[i].key) + ": ";
        out += yamlFlow(node.items[i]);
    }
    return out + (node.isMap() ? "}" : "]");
}

}  // namespace orrery
