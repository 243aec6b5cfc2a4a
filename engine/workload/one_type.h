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

/// Whether the types of this source are those of its file. Then the option `activations` says nothing, and `weights`
/// other than the usual one is what storeProductWeights() makes of them.
bool hasOwnTypes(const std::string& source);

/// Stores the weights that only matrix products and convolutions read in `format`, after every retyping: products
/// still compute in the type of their activations, or of the weights where that is the wider one. Norms, embeddings
/// and biases keep theirs. Returns how many tensors it stored so.
std::size_t storeProductWeights(Graph& graph, const NumberFormat& format);

}  // namespace orrery
