#pragma once

// From one launch of a model to the kernels that a compiler for such a machine makes of it, and how often each one's
// data passes main memory. The rules are those of XLA, in short:
//
//   * what is fused into a product (Kernel::epilogue) runs on its result before that is stored; what it reads on top is
//     loaded beside
//   * softmax is three sweeps over its operand, maximum | sum of exponentials | scaled exponentials, the four accesses
//     per element of the safe softmax (Milakov and Gimelshein: Online normalizer calculation for softmax, 2018)
//   * layer normalisation is four sweeps, mean | deviations | variance | scaled deviations, of which the second and
//     the last also write
//   * kernels run one after another and hand tensors over in main memory
//
// Machines with accumulators of their own apply functions of one element on the way out of them; a second operand costs
// them a sweep (Gemmini).

#include "base/diagnostic.h"
#include "simulation/npu/lower.h"
#include "workload/graph.h"
#include "workload/kernel.h"

#include <span>
#include <variant>
#include <vector>

namespace orrery {

struct MappedSpec {
    TileMapping mapping;
    MappedLayer layer;
    std::int64_t batch = 1;  ///< run one after another
    auto operator<=>(const MappedSpec&) const = default;
};

using KernelWork = std::variant<ProductSpec, VectorSpec, FlashSpec, MappedSpec>;

struct NpuKernel {
    KernelWork work;
    const char* what = "";  ///< `product`, `sum of exponentials`, …
};

struct NpuKernels {
    std::vector<NpuKernel> kernels;  ///< in the order in which they run
    bool byBytes = false;            ///< no rule knows it: it costs its bytes and operations
};

/// Appends the kernel's instructions; of a mapped product those of one of its batch.
Expected<void> lower(const KernelWork& work, const NpuMachine& machine, NpuProgram& program);

/// Of one launch; none for collectives and for what has neither work nor bytes.
NpuKernels npuKernels(const Kernel& kernel, const NpuMachine& machine);

/// Bytes of a tensor as it is stored: with lanes, one dimension (the one that wastes least) is padded to a multiple
/// of them (Cloud TPU performance guide: feature or batch dimension to a multiple of 128).
std::int64_t storedBytes(const Tensor& tensor, const NpuMachine& machine);
std::int64_t storedBytes(std::span<const std::int64_t> extents, double bytesPerElement, const NpuMachine& machine);

/// A product as a machine with accumulators runs it: by Gemmini's tiling.
MappedSpec mapped(const ProductSpec& spec, const TileLoops& loops, std::int64_t stride, std::int64_t element,
                  const NpuMachine& machine);

}  // namespace orrery
