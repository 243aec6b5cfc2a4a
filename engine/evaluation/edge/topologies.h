#pragma once

// What networks by name are made of, from files with their topology: work, weights, what passes memory, how many
// kernels, how much of the work is by channel. With it a network that no known device was measured with is told too.

#include "evaluation/edge/edge_table.h"

#include <string>

namespace orrery {

/// Looks for `NAME.param` and `NAME.onnx` in the folder for each network of the table and fills `table.shapes`,
/// in the place of facts that it had.
/// Networks without a file stay without, and those whose file cannot be read are noted. Fails with `edge.no-topologies`
/// where no network has one.
Expected<void> addTopologies(EdgeTable& table, const std::string& folder);

}  // namespace orrery
