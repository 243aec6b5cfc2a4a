#pragma once

// Changes to a loaded graph that a person asks about: what if these were fused, if this product were int8, if that
// operator had another shape? They stand in the recipe, so that a project keeps them, and are applied after loading.

#include "workload/graph.h"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace orrery {

/// All operators of a kind work in another type (inputs, weights and outputs that only they touch).
struct RetypeKind {
    OperatorKind kind = OperatorKind::MatMul;
    DType type = DType::I8;
    bool operator==(const RetypeKind&) const = default;
};
/// Operators become one: what only they pass among themselves no longer goes through memory. The work stays.
struct FuseOperators {
    std::vector<std::string> operators;  ///< names; a connected part of the graph with equal `repeat`
    std::string name;
    bool operator==(const FuseOperators&) const = default;
};
/// One tensor of an operator has another shape. Costs of that operator follow; its neighbours stay as they are, and a
/// warning says so.
struct ReshapeOperator {
    std::string op;
    int output = 0;  ///< which output; -1-k: input k
    std::vector<std::int64_t> extents;
    bool operator==(const ReshapeOperator&) const = default;
};

using WhatIf = std::variant<RetypeKind, FuseOperators, ReshapeOperator>;

/// Applies them in order. One that names what is not there (the model has changed) is skipped with a warning.
Diagnostics applyWhatIfs(Graph& graph, std::span<const WhatIf> changes);
std::string toText(
    const WhatIf& change);  ///< for people and the undo list: `MatMul in int8`, `Fuse 3 operators into qkv`

}  // namespace orrery
