#include "mapping/sparse/sparse_steps.h"

#include <algorithm>
#include <cmath>

// Of w units side by side along a tensor and T passes over them, a tile with k words needs ⌈k / w⌉ passes once its
// words are packed. Tiles are as they fall, so passes and how full they are come from the distribution of k.

namespace orrery {

MappingFault planPacking(const SparseContext& context) {
    SparseWorkspace& work = context.work;
    for (std::size_t l = 0; l < context.levels(); ++l)
        for (const ActionOptimization& action : context.design.levels[l].actions) {
            if (action.elimination != Elimination::PositionSkipping) continue;
            for (const EliminationOption& option : action.options) {
                const std::size_t t = option.target;
                const NestTensor& tensor = context.problem.tensors[t];
                NestExtents one;
                one.fill(1);
                // Words are packed one by one, by a level that sees where they are.
                const TileShape inside = tileShape(tensor, l == 0 ? one : work.molds.tiles[l - 1]);
                if (!context.at(l, t).metadata || inside.size() > 1 || tensor.written)
                    return context.fault(MappingFault::Keeps, l, t);
                double units = 1, passes = 1;
                for (const MoldedLoop& molded : work.molds.levels[l]) {
                    if (!(dimensionsOf(tensor) >> molded.loop.dimension & 1u)) continue;
                    (molded.loop.kind == LoopKind::Temporal ? passes : units) *= static_cast<double>(molded.loop.bound);
                }
                const OccupancyDistribution spread =
                    occupancyDistribution(context.design.densities[t], context.at(l, t).shape);
                SparseWorkspace::Packing& packing = work.packing[t];
                packing = {static_cast<int>(l), 0, 0};
                for (std::size_t i = 0; i < spread.probability.size(); ++i) {
                    const double words = spread.first + static_cast<double>(i);
                    if (words <= 0) continue;
                    const double needed = std::ceil(words / units);
                    packing.passes += spread.probability[i] * needed / passes;
                    packing.busy += spread.probability[i] * words / (needed * units);
                }
                work.computeInstances *= packing.busy;
            }
        }
    work.computeInstances = std::max(work.computeInstances, 1e-300);
    return MappingFault::None;
}

void packAccesses(const SparseContext& context, std::size_t tensor, double& operations) {
    const SparseWorkspace::Packing& packing = context.work.packing[tensor];
    if (packing.level < 0) return;
    const double gone = 1 - packing.passes;
    for (std::size_t t = 0; t < context.tensors(); ++t) {
        if (t == tensor || context.problem.tensors[t].written) continue;
        for (std::size_t l = 0; l <= static_cast<std::size_t>(packing.level); ++l) {
            SparseTensorCounts& here = context.at(l, t);
            here.reads.actual -= std::floor(here.reads.actual * gone);
            if (l < static_cast<std::size_t>(packing.level)) here.fills.actual -= std::floor(here.fills.actual * gone);
        }
    }
    NestExtents one;
    one.fill(1);
    const TileShape word = tileShape(context.problem.tensors[tensor], one);
    operations -= std::floor(operations * emptyProbability(context.design.densities[tensor], word));
}

}  // namespace orrery
