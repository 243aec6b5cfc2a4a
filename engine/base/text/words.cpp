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

std::size_t utf8Length(std::string_view text) {
    const auto byte = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const auto tail = [byte](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        const bool fits = lead == 0xE0 ? byte(1) >= 0xA0 : (lead != 0xED || byte(1) < 0xA0);
        return fits && tail(1) && tail(2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const bool fits = lead == 0xF0 ? byte(1) >= 0x90 : (lead != 0xF4 || byte(1) < 0x90);
        return fits && tail(1) && tail(2) && tail(3) ? 4 : 0;
    }
    return 0;
}

bool isUtf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace orrery
