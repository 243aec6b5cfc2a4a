#pragma once

// Which kernels libraries have for a product on tensor cores: the tiles that they cut it into, into how many shares
// they cut k, and what a step of theirs waits for. Products of one plain type have kernels of every size (cuBLAS);
// formats that carry scales, or weights narrower than what they are multiplied by, have few.

#include "hardware/views/gpu_view.h"
#include "workload/kernel.h"

#include <span>

namespace orrery::tile {

struct ProductTile {
    double m, n;
    double perM = 1 / m, perN = 1 / n;  // exact: extents are powers of two
};

struct ProductKernels {
    std::span<const ProductTile> tiles;
    bool whole = false;      ///< these tiles stand for products smaller than they, too
    double mostSplits = 1;   ///< shares of k
    double scaledSteps = 0;  ///< times in 128 bytes along k that sums are scaled before others are added
    double vectorRows = 1;   ///< up to so many rows vector units dot with columns as they stream by
};

/// Of the sizes of NVIDIA's CUTLASS, from which the fastest is taken; k in any number of shares.
ProductKernels anyProductKernels();

/// Both operands carry scales along k: libraries have no kernels of one row for them, and none that split k, since a
/// split's partial sums would be scaled apart (DeepGEMM, CUTLASS).
bool scaledAlongK(const Kernel& kernel);

/// Those that engines have for this format on such multiprocessors:
///
/// - fp4 with scales: tensor units that scale take 128 rows at a time, and one step is 128 elements. TensorRT-LLM's
///   kernel where nothing was tuned is 128×256 (thop/fp4Gemm.cpp, getDefaultGemmConfig); tuned engines have 128×128.
/// - 8 bits with scales: from Hopper on (DeepGEMM) four warps multiply 64 rows, or columns, at once; before, there is
///   one kernel of 32×128 (TensorRT-LLM, ada_blockwise_gemm: gemm_dispatch_sm89).
/// - int8: TensorRT-LLM's CUTLASS kernels (int8_gemm_template.h). Their epilogue scales, so they take no partial sums.
///   Up to four rows it has a vector kernel (smoothQuantGemmPlugin.cpp).
/// - narrow weights before Hopper: its mixed kernels, k in seven shares at most (cutlass_heuristic.cpp,
///   fpA_intB_gemm.h).
/// - fp4 with scales and little shared memory (consumer Blackwell): no library's kernel is known; the one of 32×128
///   stands in for it.
///
/// The tables are TensorRT-LLM's, whatever engine a scenario names, and for every device with waves of at most 32
/// threads, which a design is taken to have where it says nothing. A device whose shared memory is not stated is taken
/// for one before Hopper. Multiprocessors of 64 threads a wave have libraries of their own, of which nothing is known
/// here.
ProductKernels productKernels(const Kernel& kernel, const GpuView& gpu);

}  // namespace orrery::tile
