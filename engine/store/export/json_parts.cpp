#include "store/export/json_parts.h"

#include <cmath>

namespace orrery::store {

std::string dumped(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json number(double value) {
    constexpr double exact = 9007199254740992.0;
    if (value == std::floor(value) && std::fabs(value) < exact) return static_cast<std::int64_t>(value);
    return value;
}

void put(Json& object, const char* key, double value) {
    if (std::isfinite(value)) object[key] = number(value);
}

Json diagnosticJson(const Diagnostic& diagnostic) {
    Json json{
        {"severity", orrery::toText(diagnostic.severity)}, {"code", diagnostic.code}, {"message", diagnostic.message}};
    if (!diagnostic.expected.empty()) json["expected"] = diagnostic.expected;
    if (!diagnostic.hint.empty()) json["hint"] = diagnostic.hint;
    if (const std::string place = orrery::toText(diagnostic.place); !place.empty()) json["place"] = place;
    return json;
}

Json diagnosticsJson(const Diagnostics& diagnostics) {
    Json list = Json::array();
    for (const Diagnostic& diagnostic : diagnostics) list.push_back(diagnosticJson(diagnostic));
    return list;
}

Diagnostic diagnosticFrom(const JsonValues& json) {
    Diagnostic diagnostic;
    const std::string severity = json.text("severity", "error");
    diagnostic.severity = severity == "note"      ? Severity::Note
                          : severity == "warning" ? Severity::Warning
                                                  : Severity::Error;
    diagnostic.code = json.text("code", "");
    diagnostic.message = json.text("message", "");
    diagnostic.expected = json.text("expected", "");
    diagnostic.hint = json.text("hint", "");
    diagnostic.place.path = json.text("place", "");
    return diagnostic;
}

Expected<JsonNode> parseStored(std::string_view text) {
    constexpr JsonLimits limits{.bytes = std::size_t{1} << 30, .values = 50'000'000};
    return parseJson(text, {}, "store", limits);
}

}  // namespace orrery::store
