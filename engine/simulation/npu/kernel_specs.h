#pragma once

// One operator in the terms of lower.h: what a product moves and keeps.

#include "simulation/npu/kernel_plan.h"
#include "workload/costs.h"

#include <optional>

namespace orrery {

/// A product with the loops and stride of its convolution, if it is one.
struct ProductOperator {
    ProductSpec spec;
    TileLoops loops;
    std::int64_t stride = 1;
    std::int64_t element = 1;
    bool convolution = false;
    bool movesFirst = true;  ///< the first input moves; else it is kept and the second moves
};

/// MatMul, Conv, ConvTranspose. Nothing for a convolution that the vector unit does faster (one channel per group) and
/// for operators whose product is empty.
std::optional<ProductOperator> productOf(const Operator& op, const Graph& graph, const CostTable& costs,
                                         std::size_t row, const NpuMachine& machine);

/// Kernels of fused attention: one if the scores stay on the chip, else scores | sum of exponentials | values.
std::vector<NpuKernel> attentionKernels(const Operator& op, const Graph& graph, const NpuMachine& machine);

}  // namespace orrery
