#include "base/diagnostic.h"

#include <fmt/format.h>

#include <utility>

namespace orrery {

Unexpected fail(std::string code, std::string message, std::string expected, std::string hint, Place place) {
    return Unexpected(Diagnostic{Severity::Error, std::move(code), std::move(message), std::move(expected),
                                 std::move(hint), std::move(place)});
}

Diagnostic warning(std::string code, std::string message, std::string hint, Place place) {
    return {Severity::Warning, std::move(code), std::move(message), {}, std::move(hint), std::move(place)};
}

std::string_view toText(Severity severity) {
    switch (severity) {
        case Severity::Note:
            return "note";
        case Severity::Warning:
            return "warning";
        case Severity::Error:
            return "error";
    }
    return "error";
}

std::string toText(const Place& place) {
    std::string text = place.file;
    if (place.line > 0) text += fmt::format("{}{}", text.empty() ? "line " : ":", place.line);
    if (place.line > 0 && place.column > 0) text += fmt::format(":{}", place.column);
    if (!place.path.empty()) text += (text.empty() ? "" : ": ") + place.path;
    return text;
}

std::string toText(const Diagnostic& diagnostic) {
    std::string text{toText(diagnostic.severity)};
    const std::string place = toText(diagnostic.place);
    if (!place.empty()) text += ": " + place;
    text += ": " + diagnostic.message;
    if (!diagnostic.code.empty()) text += " [" + diagnostic.code + "]";
    if (!diagnostic.expected.empty()) text += "\n  expected: " + diagnostic.expected;
    if (!diagnostic.hint.empty()) text += "\n  hint: " + diagnostic.hint;
    return text;
}

}  // namespace orrery
