#pragma once

// One number format for a graph that was read: its file says the types, and a person asks for another.

#include "workload/workload.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// `changes` with every retyping in them replaced by those that put all numbers of `graph` which are computed with,
/// weights and activations alike, into `type`: one change for each kind of operator that touches any. Indices and masks
/// keep theirs. Without a type, the graph's own stand again. `graph` may have been changed already.
std::vector<WhatIf> inOneType(const Graph& graph, std::vector<WhatIf> changes, std::optional<DType> type);
/// The type that `changes` put all of `graph` into, as inOneType() does; none where they leave a part as it is.
std::optional<DType> oneTypeOf(const Graph& graph, std::span<const WhatIf> changes);

/// Whether the types of this source are those of its file, and the options `weights` and `activations` say nothing.
bool hasOwnTypes(const std::string& source);

}  // namespace orrery
