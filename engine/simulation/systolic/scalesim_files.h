#pragma once

// The inputs of SCALE-Sim: a configuration (`.cfg`, sections of keys), a topology (CSV of convolutions, or of matrix
// products) and, where the configuration asks for custom layouts, a layout (CSV). What a key or a column means is in
// their README; keys are read without regard to case, `:` and `=` both separate, `#` and `;` begin comment lines.
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

/// A row of a layout file: how the operands of one layer lie in banked SRAMs.
struct ScaleSimLayout {
    std::string layer;
    Layout ifmap, filter;
};

/// `file` is only named in diagnostics. Codes: `scalesim.syntax`, `scalesim.missing`, `scalesim.value`,
/// `scalesim.unsupported`, `scalesim.repeated`; warnings `scalesim.unknown-key`, `scalesim.ignored`.
Expected<ScaleSimConfig> parseScaleSimConfig(std::string_view text, const std::string& file);
/// `gemm`: rows of name, M, N, K [, sparsity N:M]. Else name, input height, width, filter height, width, channels,
/// filters, stride [, stride across] [, sparsity N:M]; a name with `DP` stands for a depthwise convolution and becomes
/// a layer per channel.
Expected<ScaleSimTopology> parseScaleSimTopology(std::string_view text, const std::string& file, bool gemm);

/// Rows of name, 6 factors, 3 + 3 orders of the input within and across lines, 4 + 4 of the filter.
Expected<std::vector<ScaleSimLayout>> parseScaleSimLayout(std::string_view text, const std::string& file);
/// By the layers' names. Fails with `scalesim.missing` for a layer without a row.
Expected<void> giveLayouts(std::vector<Layer>& layers, const std::vector<ScaleSimLayout>& layouts);

/// From files of at most 16 MiB; code `scalesim.unreadable`.
Expected<ScaleSimConfig> readScaleSimConfig(const std::string& file);
Expected<ScaleSimTopology> readScaleSimTopology(const std::string& file, bool gemm);
Expected<std::vector<ScaleSimLayout>> readScaleSimLayout(const std::string& file);

}  // namespace orrery::systolic
