#pragma once

// Kernels of a model as templates of instructions on a drawn GPU: which tile, how many blocks, how long the main loop.

#include "methods/gpu/gpu_machine.h"
#include "simulation/gpu/templates/kernel_template.h"
#include "workload/kernel.h"

#include <functional>
#include <string>
#include <vector>

namespace orrery {

struct KernelProgram {
    std::string name;          ///< `tile 128×128×64, 2 parts of the reduction`
    std::int64_t steps = 0;    ///< of a block's main loop, their mean where blocks differ; 0: none
    std::int64_t longest = 0;  ///< steps of the block that takes most of them; 0: all are alike
    std::int64_t fewest = 1;   ///< below which a shorter loop is not like the whole one: pipelines must fill
    double tileM = 0, tileN = 0, tileK = 0;
    double afterSeconds = 0;  ///< of the kernel that adds up the parts of a product's reduction
    double unitCycles = 0;    ///< of a product, that its units alone are busy at least; 0: not known
    /// With a loop of so many steps; 0: as the kernel is.
    std::function<gpusim::KernelTemplatePtr(std::int64_t steps)> build;
};

/// Fails with `gpu.template` for kinds without a template (collectives). Tiles are those of the interval analysis: the
/// fewest cycles from the usual list, or 256 × 128 by rule. Parts of a reduction meet by atomic additions.
Expected<KernelProgram> programOf(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& machine);

/// Those among which a library would choose by their time, that with the tile of `programOf` first; their parts of a
/// reduction are stored, and `afterSeconds` adds them up. Of a product that has a tile
/// by rule (256 × 128, where it fills the GPU), and of other kernels, that one alone.
Expected<std::vector<KernelProgram>> programsOf(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& machine);

/// What a schedule says of a product: the tile of a block, its step of the reduction, the warps that share it, parts of
/// the reduction, and steps that are under way at once (1 where operands pass through registers).
struct ProductTile {
    int m = 128, n = 128, k = 32, warps = 8, splits = 1, stages = 3;
};
/// A product or a convolution by this tile. Fails with `gpu.template` where a block of it cannot run: more threads,
/// registers or shared memory than there are, less than an instruction for a warp, parts without a step.
Expected<KernelProgram> programOf(const Kernel& product, const GpuView& gpu, const DrawnMachine& machine,
                                  const ProductTile& tile);

}  // namespace orrery
