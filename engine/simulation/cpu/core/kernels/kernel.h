#pragma once

// Kernels of machine learning as loop nests for a core: tiled for its registers and caches, written for an instruction
// set. After Goto and van de Geijn (ACM TOMS 34, 2008) and Low et al. (ACM TOMS 43, 2016) for products, Georganas et
// al. (SC'18) for direct convolution.

#include "base/diagnostic.h"
#include "simulation/cpu/core/kernels/nest.h"
#include "simulation/cpu/core/machine.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::pipeline {

/// `gemm m=256 n=256 k=256 avx2`: a kernel, its sizes, an instruction set (`scalar` where none is named).
struct KernelSpec {
    std::string kernel;
    std::map<std::string, std::int64_t, std::less<>> sizes;
    std::string instructionSet = "scalar";
    std::int64_t size(std::string_view name) const { return sizes.find(name)->second; }
};

struct KernelForm {
    std::string_view name, meaning;
    std::vector<std::pair<std::string_view, std::int64_t>> sizes;  ///< with what they are where not stated
};
const std::vector<KernelForm>& kernelForms();
const std::vector<std::string_view>& instructionSets();

/// Rows of a product that is not worth packing.
inline constexpr std::int64_t fewRows = 3;

/// Codes `kernel.…`: unknown names, sizes out of range, work beyond 2⁵⁰ operations.
Expected<KernelSpec> readKernel(std::string_view text);
std::string toText(const KernelSpec& spec);

/// Products in half precision, eight numbers a register (Armv8.2-A FEAT_FP16).
inline constexpr std::string_view fp16Set = "neon-fp16";
int elementBytes(std::string_view instructionSet);
/// Whether the kernel is written for `fp16Set`: sums over rows and exponentials stay in fp32.
bool hasHalves(std::string_view kernel);
/// Bytes of a register of the instruction set; of `sve` on this machine.
int registerBytes(const Machine& machine, std::string_view instructionSet);
/// Fails with `kernel.instruction-set` where the machine has it not.
Expected<LoopNest> nestOf(const KernelSpec& spec, const Machine& machine);
/// Floating-point operations that the kernel asks for; a multiply-add is two.
double flopsOf(const KernelSpec& spec);

}  // namespace orrery::pipeline
