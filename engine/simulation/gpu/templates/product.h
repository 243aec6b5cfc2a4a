#pragma once

// Matrix products by tiles, as libraries write them: operands through shared memory in a few stages, sums in
// registers. Structure after CUTLASS's SIMT, tensor-op and warp-group kernels (github.com/NVIDIA/cutlass, "Efficient
// GEMM in CUDA"); counts follow from tiles alone.

#include "simulation/gpu/templates/kernel_template.h"

#include <string>

namespace orrery::gpusim {

/// How units multiply: one instruction of one warp.
struct MultiplyForm {
    enum class Kind : std::uint8_t { Vector, Warp, Group };
    Kind kind = Kind::Vector;
    std::string opcode = "FFMA";  ///< of a group only its start: the shape follows (`HGMMA.64x256x16.F32`)
    std::string suffix = {};      ///< after that shape
    int m = 16, n = 8, k = 16;    ///< of one instruction; of a group m is 64 and n the tile's
    int steps = 1;                ///< instructions that make one (HMMA.884 has 4)
    int perLane = 1;              ///< of vector units: multiplications of one lane (packed halves: 2)
};

struct ProductSpec {
    std::int64_t batch = 1, m = 1, n = 1, k = 1;
    double aBytes = 2, bBytes = 2, cBytes = 2;  ///< of an element
    MultiplyForm form;
    int tileM = 128, tileN = 128, tileK = 32, warps = 8;
    int splits = 1;  ///< of the reduction: partial sums meet by atomic additions in L2
    bool partsStored = false;  ///< side by side instead, for a kernel that adds them up
    int stages = 3;
    bool copiesPast = true;   ///< from memory to shared memory without registers (LDGSTS)
    bool matrixLoads = true;  ///< LDSM
    /// Two neighbours load half each, for both, of the operand that is larger in a tile. They are a cluster and wait
    /// for each other where the number of tiles along that side is even; else they do not wait.
    bool multicast = false;
    int registers = 128;  ///< of a thread
    int binaryVersion = 80;
    /// Distances of rows in memory, in elements; 0: k. Of a convolution's windows less than k, since they overlap.
    double aStride = 0, bStride = 0;
    std::int64_t blocks() const;
    std::int64_t stepsOfBlock() const;  ///< of the main loop
};

/// Multiply instructions of warps over all blocks, edges filled up: the closed form.
double productInstructions(const ProductSpec& spec);

/// Operands stand as rows of the reduction (a m×k, b n×k, as linear layers store their weights).
KernelTemplatePtr productTemplate(const ProductSpec& spec);

}  // namespace orrery::gpusim
