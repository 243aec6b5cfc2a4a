#pragma once

// How a what-if changes the costs of one operator. The changes stand in the operator's attributes, so that a graph
// carries them wherever it goes.

#include "workload/graph.h"

#include <string_view>

namespace orrery {

/// Number format in which it computes (text, `int8`), whatever its tensors say.
inline constexpr std::string_view computeTypeAttribute = "compute_type";
/// Extents of output k (`what_if_output_0`) or input k (`what_if_input_0`) for its own costs.
inline constexpr std::string_view outputShapeAttribute = "what_if_output_", inputShapeAttribute = "what_if_input_";
/// Names of the operators that were fused into it.
inline constexpr std::string_view fusedAttribute = "fused";
/// Their work: MACs, FLOPs, scratch bytes, then batch, m, n, k of the largest product.
inline constexpr std::string_view fusedWorkAttribute = "fused_work";
/// Of each input's bytes, the share that they read (a look-up reads rows, not its table).
inline constexpr std::string_view fusedReadsAttribute = "fused_reads";

/// Numbers of an attribute, empty if it is not a list of them.
std::vector<double> numbers(const Operator& op, std::string_view attribute);
/// Bytes that one execution reads of an input; 0 for an absent one. Of a mixture's weights, the expected share.
double bytesRead(const Operator& op, const Graph& graph, std::size_t input);
bool hasWhatIfShape(const Operator& op);
/// An operator with what-if shapes and just its own tensors, so shaped.
struct Reshaped {
    Operator op;
    Graph graph;
};
Reshaped reshaped(const Operator& op, const Graph& graph);

}  // namespace orrery
