#include "base/text/words.h"

namespace orrery {

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

std::vector<std::string_view> split(std::string_view text, char mark) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto at = text.find(mark);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::vector<std::string_view> splitTrimmed(std::string_view text, char mark) {
    auto parts = split(text, mark);
    for (std::string_view& part : parts) part = trimmed(part);
    return parts;
}

}  // namespace orrery
