#pragma once

#include "workload/ncnn/param_file.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace orrery {

using NcnnShape = std::vector<std::int64_t>;  ///< without the batch: w, h×w, or c×h×w, outermost first

/// Shapes of a layer's outputs from its inputs: as the file states them (key −23330), else by the rules of its type.
/// Nothing where no rule is known; `side` is height and width of an input that states none.
std::optional<std::vector<NcnnShape>> ncnnShapes(const NcnnLayer& layer, const std::vector<NcnnShape>& inputs,
                                                 std::int64_t side);

}  // namespace orrery
