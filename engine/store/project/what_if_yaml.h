#pragma once

// What-ifs of a workload as YAML:
//
//   what_if:
//     - {retype: MatMul, type: int8}
//     - {fuse: [up, act], name: up_act}
//     - {reshape: up, input: 0, extents: [40, 8]}      # or output: 0

#include "store/project/yaml_reader.h"
#include "workload/what_if.h"

namespace orrery::store {

/// Takes `what_if` out of the map; absent: none. A change of a kind that this version does not know is refused, since
/// without it every number would be another.
Expected<std::vector<WhatIf>> readWhatIfs(MapReader& map, YamlContext& context);
/// Lines, or nothing if there are none.
std::string writeWhatIfs(const std::vector<WhatIf>& changes);

}  // namespace orrery::store
