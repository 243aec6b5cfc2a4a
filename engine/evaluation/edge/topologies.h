#pragma once

// What networks by name are made of, from files with their topology: work, weights, what passes memory, how many
// kernels, how much of the work is by channel. With it a network that no known device was measured with is told too.

#include "evaluation/edge/edge_table.h"

#include <string>

namespace orrery {

/// Looks for `NAME.param` and `NAME.onnx` in the folder for each network of the table and fills `table.shapes`,
/// in the place of facts that it had, and `table.graphs`.
/// Networks without a file stay without, and those whose file cannot be read are noted. Fails with `edge.no-topologies`
/// where no network has one.
Expected<void> addTopologies(EdgeTable& table, const std::string& folder);

/// One network more, of which no device has a time: of whatever loadWorkload takes, named as that. Fails with
/// `edge.no-topologies` where the table's facts are others, and as loadWorkload.
Expected<void> addNetwork(EdgeTable& table, const std::string& source);

}  // namespace orrery
