#pragma once

// The inputs of SCALE-Sim: a configuration (`.cfg`, sections of keys) and a topology (CSV of convolutions, or of matrix
// products). What a key or a column means is in their README; keys are read without regard to case, `:` and `=` both
// separate, `#` and `;` begin comment lines.
//
// Differences that are on purpose: a topology whose rows have no comma at their end keeps its last column; a first line
// that holds numbers is read (the tool drops it unseen); a configuration without [layout] reads at `Bandwidth` (the
// tool reads at 10 words per cycle then). Each is said in a warning.

#include "base/diagnostic.h"
#include "simulation/systolic/array.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery::systolic {

struct ScaleSimConfig {
    std::string runName;
    Array array;
    Diagnostics warnings;  ///< keys that are unknown or not modelled
};

struct ScaleSimTopology {
    std::vector<Layer> layers;
    Diagnostics warnings;
};

/// `file` is only named in diagnostics. Codes: `scalesim.syntax`, `scalesim.missing`, `scalesim.value`,
/// `scalesim.unsupported`, `scalesim.repeated`; warnings `scalesim.unknown-key`, `scalesim.ignored`.
Expected<ScaleSimConfig> parseScaleSimConfig(std::string_view text, const std::string& file);
/// `gemm`: rows of name, M, N, K [, sparsity N:M]. Else name, input height, width, filter height, width, channels,
/// filters, stride [, stride across] [, sparsity N:M]; a name with `DP` stands for a depthwise convolution and becomes
/// a layer per channel.
Expected<ScaleSimTopology> parseScaleSimTopology(std::string_view text, const std::string& file, bool gemm);

/// From files of at most 16 MiB; code `scalesim.unreadable`.
Expected<ScaleSimConfig> readScaleSimConfig(const std::string& file);
Expected<ScaleSimTopology> readScaleSimTopology(const std::string& file, bool gemm);

}  // namespace orrery::systolic
