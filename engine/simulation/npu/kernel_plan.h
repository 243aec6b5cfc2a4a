#pragma once

// From an operator graph to the kernels that a compiler for such a machine makes of it: which operators run together,
// and how often each kernel's data passes main memory. The rules are those of XLA, in short:
//
//   * element-wise operators join the kernel that makes their (last made) operand, if nobody else reads it; what else
//     they read is loaded beside
//   * softmax is three sweeps over its operand, maximum | sum of exponentials | scaled exponentials, the four accesses
//     per element of the safe softmax (Milakov and Gimelshein: Online normalizer calculation for softmax, 2018); its
//     first sweep joins a product that makes the operand and its last one a product that alone reads the result
//   * layer normalisation is four sweeps, mean | deviations | variance | scaled deviations, of which the second and
//     the last also write; its first joins the kernel that makes the operand
//   * kernels run one after another and hand tensors over in main memory
//
// Machines with accumulators of their own apply functions of one element on the way out of them; they join nothing
// else (Gemmini).

#include "base/diagnostic.h"
#include "simulation/npu/lower.h"
#include "workload/costs.h"
#include "workload/graph.h"

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
    int op = 0;             ///< operator of the graph that it counts for
    std::vector<int> with;  ///< operators that run inside it and cost nothing of their own
    KernelWork work;
    const char* what = "";  ///< `product`, `sum of exponentials`, …
};

struct KernelPlan {
    std::vector<NpuKernel> kernels;  ///< in the order in which they run
    std::vector<int> byBytes;        ///< operators without a rule, which cost their bytes alone
};

/// Appends the kernel's instructions; of a mapped product those of one of its batch.
Expected<void> lower(const KernelWork& work, const NpuMachine& machine, NpuProgram& program);

/// Operators whose extents are not known have no kernel.
KernelPlan planKernels(const Graph& graph, const CostTable& costs, const NpuMachine& machine);

/// Bytes of a tensor as it is stored: with lanes, one dimension (the one that wastes least) is padded to a multiple
/// of them (Cloud TPU performance guide: feature or batch dimension to a multiple of 128).
std::int64_t storedBytes(const Tensor& tensor, const NpuMachine& machine);
std::int64_t storedBytes(std::span<const std::int64_t> extents, double bytesPerElement, const NpuMachine& machine);

/// A product as a machine with accumulators runs it: by Gemmini's tiling.
MappedSpec mapped(const ProductSpec& spec, const TileLoops& loops, std::int64_t stride, std::int64_t element,
                  const NpuMachine& machine);

}  // namespace orrery
