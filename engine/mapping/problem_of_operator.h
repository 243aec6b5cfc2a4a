#pragma once

// Operators of a graph as loop nests: products of matrices, convolutions and the two products of attention.

#include "mapping/problem.h"
#include "workload/graph.h"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery {

enum class OperandRole : std::uint8_t { Input, Weight, Output };

/// One nest that an operator amounts to. The tensors of its problem are Inputs, Weights, Outputs in this order (of an
/// attention's product the second operand, keys or values, stands for the weights).
struct OperatorNest {
    NestProblem problem;
    double times = 1;  ///< executions of the nest in one execution of the operator; experts: the expected number
    static constexpr std::array<OperandRole, 3> roles{OperandRole::Input, OperandRole::Weight, OperandRole::Output};
};

/// Whether an operator is one or more nests at all: MatMul, Conv, ConvTranspose and Attention kinds with known extents.
bool mappable(const Operator& op, const Graph& graph);

/// The nests of an operator; empty if it is not mappable. Dimensions:
///   Conv           N G K C P [Q [O]] R [S [T]], of them G only for groups; input rank i is P·stride + R·dilation
///   ConvTranspose  as the product of matrices over its input's positions: M N K
///   MatMul         M N K, with B before them for a batch
///   Attention      two nests: B H G M N K with H key-value heads, G queries per one of them (B, H, G only if longer
///                  than 1); every pair of query and key is computed, masked or not
std::vector<OperatorNest> nestsOf(const Operator& op, const Graph& graph);

}  // namespace orrery
