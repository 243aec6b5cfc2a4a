#pragma once

#include "workload/graph.h"

#include <cstdint>
#include <map>
#include <string>

namespace orrery {

using Bindings = std::map<std::string, std::int64_t, std::less<>>;

/// `batch=8,seq=128`. Fails naming the part that is not `name=whole number`.
Expected<Bindings> parseBindings(std::string_view text);

/// Drops operators whose outputs nothing uses, and tensors that nothing names. Linear.
void eliminateDead(Graph& graph);
/// Finds maximal runs of equal consecutive blocks (same operator types, attributes, shapes, wiring) and stores each
/// once with `repeat`. Totals are unchanged. Returns the number of operators removed. O(operators × block lengths
/// tried).
std::size_t foldRepeats(Graph& graph);
/// The opposite: writes every folded block out, at most `most` operators in all (blocks that would go beyond stay
/// folded). Totals are unchanged. Returns the number of operators added.
std::size_t unfoldRepeats(Graph& graph, std::size_t most = 100000);
/// Sorts operators topologically (stable). Fails naming an operator on a cycle.
Expected<void> sortTopologically(Graph& graph);

}  // namespace orrery
