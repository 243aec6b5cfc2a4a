#pragma once

// Axes and targets that operators take as an attribute in old opsets and as an input in new ones.

#include "workload/onnx/node.h"

#include <optional>

namespace orrery::onnx_import {

/// A list given by input `slot` or else by attribute `name`: empty if neither is there, nothing if the input's
/// elements are not known.
std::optional<Extents> listOf(const RuleContext& context, std::size_t slot, std::string_view name);

/// The same as a set of axes of a tensor of that rank, marked true; nothing if unknown or (with a contradiction) if one
/// does not exist or stands twice.
std::optional<std::vector<bool>> markAxes(RuleContext& context, const Extents& axes, std::size_t rank);

}  // namespace orrery::onnx_import
