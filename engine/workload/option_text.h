#pragma once

// Options of a workload by name, for what sets them one at a time.

#include "workload/workload.h"

#include <span>
#include <string>
#include <string_view>

namespace orrery {

/// `batch`, `sequence`, `image`, `phase`, `weights`, `activations`, `kv`, `flash_attention`: the keys of files.
std::span<const std::string_view> workloadOptionKeys();
/// Sizes are whole numbers.
bool isSize(std::string_view optionKey);
/// Fails with `recipe.value` naming what may stand there.
Expected<WorkloadOptions> withOption(WorkloadOptions options, std::string_view key, std::string_view value);
std::string optionText(const WorkloadOptions& options, std::string_view key);

}  // namespace orrery
