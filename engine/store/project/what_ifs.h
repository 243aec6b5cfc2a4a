#pragma once

#include "base/diagnostic.h"
#include "workload/what_if.h"

#include <string_view>
#include <vector>

namespace orrery {

/// What-ifs as a person writes them on a command line: one change, `{retype: MatMul, type: int8}`, or a list of them,
/// in the YAML of `what_if:`. Fails with a code `what-if.…` or `yaml.…`. Never throws.
Expected<std::vector<WhatIf>> parseWhatIfs(std::string_view text);

}  // namespace orrery
