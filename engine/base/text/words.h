#pragma once

// Words and numbers in text, as every reader needs them. ASCII: other bytes are left alone and are no blanks.

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

std::string lower(std::string_view text);

/// Without blanks (space, tab, line ends) in front and behind.
constexpr std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The parts between marks as they stand, empty ones too: one more than there are marks.
std::vector<std::string_view> split(std::string_view text, char mark);
/// The same, each part without blanks around it.
std::vector<std::string_view> splitTrimmed(std::string_view text, char mark);

/// Length of the valid UTF-8 sequence in front, 0 if there is none (RFC 3629: no surrogates, no overlong forms).
std::size_t utf8Length(std::string_view text);
bool isUtf8(std::string_view text);

/// The number that the whole text is, in decimal digits with point or exponent; finite. No sign `+`, no blanks.
inline std::optional<double> numberIn(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

/// The whole number that the whole text is.
inline std::optional<std::int64_t> wholeIn(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace orrery
