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

/// Refuses `asked` where the weights of `workload` would not be stored so: for a file with types of its own the usual
/// format stands for those types, whatever they are. Code `workload.weights`.
Expected<void> checkWeights(const Workload& workload, const NumberFormat& asked);

/// A weight that only matrix products and convolutions read, as the operand that they multiply by.
struct ProductWeight {
    TensorId tensor = -1;
    double reduction = 1;  ///< elements of it that one output sums over; with Scaling::Row they share a scale
};
/// Those of a graph in which nothing is fused. Norms, embeddings and biases are none.
std::vector<ProductWeight> productWeights(const Graph& graph);
/// Stores them in `format`; what reads them learns how they share scales.
void storeWeights(Graph& graph, std::span<const ProductWeight> weights, const NumberFormat& format);

/// Applies `changes`, as applyWhatIfs() does, to a graph whose products have their weights stored in `format`. Products
/// still compute in the type of their activations, or of the weights where that is the wider one. Retypings leave the
/// weights so, and fused operators read what their parts read. Returns how many tensors it stored.
std::size_t storeProductWeights(Graph& graph, std::span<const WhatIf> changes, const NumberFormat& format,
                                Diagnostics& warnings);

}  // namespace orrery
