#pragma once

// Kernels as programs of a representative warp: the instruction mix per tile of what libraries launch today. Counts
// follow the instructions' shapes (mma of 16×8×32 B and wider, ldmatrix, 16-byte loads, thread tiles of fp32 products),
// rates the device's units; nothing is fitted.

#include "methods/interval/interval_model.h"
#include "workload/kernel.h"

namespace orrery {

struct IntervalPlan {
    WarpProgram program;
    CycleStack stack;
    double tileM = 0, tileN = 0, tileK = 0, splits = 1;  ///< 0 where the kernel has no tiles
    bool covered = false;
};

/// The program of the kernel; for products that of the tile with the fewest cycles from the usual list, as a library's
/// heuristic would take. Allocates nothing.
IntervalPlan planIntervals(const IntervalMachine& machine, const Kernel& kernel);

/// One product by one tile; `aBytesRead` of main memory for the first operand (windows of a convolution overlap).
struct IntervalProduct {
    double batch = 1, m = 1, n = 1, k = 1;
    double aBytes = 2, bBytes = 2, cBytes = 2;  ///< per element
    double aBytesRead = 0;
    DType type = DType::F16;
};
IntervalPlan planProduct(const IntervalMachine& machine, const IntervalProduct& product);
/// What a schedule says of a product; `depth` of the reduction per step and `stages` that are under way at once, 0 each
/// as libraries choose them.
struct IntervalTile {
    double m = 128, n = 128, warps = 8, splits = 1, depth = 0, stages = 0;
};
IntervalPlan planProduct(const IntervalMachine& machine, const IntervalProduct& product, const IntervalTile& tile);
IntervalProduct intervalProductOf(const Kernel& kernel);  ///< of a product or a convolution
/// The tiles of fewest cycles, best first, at most `most`; none where the device does not multiply the type.
/// `furtherKernel`: cycles that parts of the reduction cost beside their plan.
std::vector<IntervalPlan> planProducts(const IntervalMachine& machine, const IntervalProduct& product, std::size_t most,
                                       double furtherKernel);
IntervalPlan planPrefill(const IntervalMachine& machine, const Kernel& kernel);
IntervalPlan planDecode(const IntervalMachine& machine, const Kernel& kernel);
/// Softmax and normalisation: a block per row.
IntervalPlan planRows(const IntervalMachine& machine, const Kernel& kernel);
/// Element by element, and what has only bytes and operations.
IntervalPlan planElements(const IntervalMachine& machine, const Kernel& kernel);

}  // namespace orrery
