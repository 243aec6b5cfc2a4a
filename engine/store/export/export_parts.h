#pragma once

// What the exports share. For sources of this folder only.

#include "methods/method.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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
Diagnostic diagnosticFrom(const Json& json);

/// `compute`, `memory`, `overhead`, `network`, `none`.
std::string_view toText(BoundKind kind);
std::string_view toText(IntervalKind kind);
/// For people: the level's name where memory bounds (`hbm3`), else the kind.
std::string boundText(const Estimate& estimate, std::size_t op);

/// The name, type and kind of a row of an estimate. An estimate read from a run database has its operators in a
/// reduced graph; one of a graph that is gone has a number only.
struct OperatorLabel {
    std::string name, type, block;
    OperatorKind kind = OperatorKind::Other;
    std::int64_t repeat = 1;
};
OperatorLabel operatorLabel(const Scenario& scenario, std::size_t op);

/// Seconds per operator kind and their sum over all operators.
struct KindShare {
    OperatorKind kind;
    double seconds = 0;
};
std::vector<KindShare> timeByKind(const Scenario& scenario, const Estimate& estimate);  ///< largest first

}  // namespace orrery::store
