#pragma once

// The one table of operator types: to which kind each belongs and how many operations it does per element. Importers
// look kinds up here, costs.cpp the operations. An operator type that is not in it is OperatorKind::Other.
//
// Convention: every elementary function of one number (add, multiply, divide, compare, exp, log, erf, tanh, sqrt) is
// one operation, and a composite counts the elementary functions of its defining formula: Sigmoid 1/(1+exp(-x)) is
// negate, exp, add, divide = 4. LayerNormalization 6 and Softmax 5 per element are NeuSight's counts (Lee et al.,
// ASPLOS 2025). The base is output elements for Elementwise, input elements for Normalization, Softmax, Reduce and
// Routing, and output elements times window for Pool.

#include "workload/graph.h"

#include <string_view>
#include <vector>

namespace orrery {

struct OperatorType {
    std::string_view name;  ///< as ONNX or the model builders spell it
    OperatorKind kind = OperatorKind::Other;
    double flopsPerElement = 0;
};

/// All known types, in the table's order.
const std::vector<OperatorType>& operatorTypes();
/// The type of that name in any case, or null.
const OperatorType* operatorType(std::string_view name);

}  // namespace orrery
