#pragma once

// What names and block labels say about the structure of a graph: scopes of names and runs of folded operators.

#include "workload/graph.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The scopes of an operator's name, outermost first, without its own word; views into `name`. `/a/b.0/MatMul` has
/// `a`, `b.0`. Names without slashes part at dots, and a number stays with the word before it: `layers.0.mlp.up` has
/// `layers`, `layers.0`, `mlp`. At most 32, so that a hostile name stays cheap.
std::vector<std::string_view> scopesOf(std::string_view name);
/// Without trailing digits and separators: `layers` of `layers.12`.
std::string_view stemOf(std::string_view name);

/// Operators that stand for `count` repetitions of themselves: a part of Operator::block with the operators that
/// carry it without a gap.
struct BlockRun {
    std::string label;  ///< `layers`, `/encoder/layers/encoder_layer`
    std::int64_t count = 1;
    std::size_t first = 0, size = 0;  ///< operators
    /// Scopes that all its operators share.
    std::size_t sharedScopes = 0;
    /// Whether the last shared scope is itself the repeated thing (`encoder_layer_0` of `encoder_layer ×12`).
    bool isScope = false;
};
struct Blocks {
    std::vector<BlockRun> runs;                   ///< by first operator, the larger first
    std::vector<std::vector<std::int32_t>> ofOp;  ///< runs of each operator, outermost first
};
/// Linear in the lengths of names and labels, but for sorting.
Blocks blocksOf(const Graph& graph);

}  // namespace orrery
