#pragma once

// What Debian's libonnx contributes beyond parsing: its checker, for operator sets that it knows, and its own shape
// inference for single operators that have no rule here. Its exceptions end here.

#include "workload/onnx/node.h"

#include <map>
#include <string>
#include <vector>

namespace orrery::onnx_import {

using Opsets = std::map<std::string, std::int64_t, std::less<>>;  ///< version by domain; "" is ai.onnx

/// The newest operator set of ai.onnx that the library knows.
std::int64_t newestKnownOpset();

/// What the checker objects to in single nodes, as `node: objection`, at most `most` of them. Nodes with subgraphs or
/// stored tensors are left to the importer's own checks, since their data may be absent.
std::vector<std::string> objections(const ::onnx::ModelProto& model, const Opsets& opsets, std::size_t most);

/// Lets the library infer a node's outputs. Returns false if it does not know the operator or cannot tell.
bool inferByLibrary(RuleContext& context);

}  // namespace orrery::onnx_import
