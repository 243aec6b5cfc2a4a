#pragma once

// Elements of small constants, carried through the operators that shape arithmetic is made of. An operator that is not
// in the table here simply has no elements to show; its result may still be constant.

#include "workload/onnx/node.h"

namespace orrery::onnx_import {

/// Fills `data` of the outputs where all inputs' elements are kept, the outputs' extents are known, and the operator
/// can be evaluated. Arithmetic that would overflow gives unknown elements. Returns how many elements were computed.
std::size_t evaluate(RuleContext& context);

// By family: each returns false if it does not evaluate that operator.
bool evaluateArithmetic(RuleContext& context, std::string_view type);
bool evaluateMovement(RuleContext& context, std::string_view type);

/// For each element of a tensor of extents `to`, the position of the one that it repeats in a tensor of extents `from`
/// that broadcasts to it.
std::vector<std::size_t> broadcastPositions(const Extents& from, const Extents& to);
/// Row-major strides.
std::vector<std::size_t> stridesOf(const Extents& extents);

}  // namespace orrery::onnx_import
