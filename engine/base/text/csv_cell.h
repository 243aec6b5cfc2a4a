#pragma once
// One cell of a CSV line.

#include <string>
#include <string_view>

namespace orrery {

/// `text` as it stands, or in double quotes (RFC 4180) where it holds a quote, a line's end, or what a reader may take
/// for a separator: comma, semicolon, tab.
inline std::string csvCell(std::string_view text) {
    if (text.find_first_of(",;\t\"\r\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

}  // namespace orrery
