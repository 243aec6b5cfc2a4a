#pragma once

// What the writers and readers of JSON share. For sources of the store only.

#include "base/text/json_values.h"
#include "store/export/export_parts.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace orrery::store {

using Json = nlohmann::ordered_json;

/// JSON text; bytes that are not UTF-8 (an operator may be called anything) become U+FFFD.
std::string dumped(const Json& json, int indent = 2);
/// Whole numbers without a fraction, as far as a double is exact.
Json number(double value);
/// Adds the key if the value is finite; what is not predicted is absent.
void put(Json& object, const char* key, double value);

Json diagnosticJson(const Diagnostic& diagnostic);
Json diagnosticsJson(const Diagnostics& diagnostics);
Diagnostic diagnosticFrom(const JsonValues& json);
/// A document that the store wrote: an estimate with a timeline may have millions of values.
Expected<JsonNode> parseStored(std::string_view text);

}  // namespace orrery::store
