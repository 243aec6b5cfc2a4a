#pragma once

// What exports and reports share. For sources of the store only; what writes JSON is in json_parts.h.

#include "methods/method.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::store {

/// `compute`, `memory`, `overhead`, `network`, `none`.
std::string_view toText(BoundKind kind);
std::string_view toText(IntervalKind kind);
/// Of a span that is of no one operator: `forward`, `backward`, `exchange`, `optimizer`, else `span`.
std::string_view workText(std::int32_t work);
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
