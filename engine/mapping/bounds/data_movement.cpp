#include "mapping/bounds/data_movement.h"

#include "mapping/bounds/bound_space.h"
#include "mapping/nest_evaluator.h"

#include <algorithm>
#include <chrono>

namespace orrery {

const BoundPoint* BoundCurve::at(double words) const {
    const auto after = std::upper_bound(points.begin(), points.end(), words,
                                        [](double w, const BoundPoint& point) { return w < point.words; });
    return after == points.begin() ? nullptr : &*std::prev(after);
}

Expected<BoundCurve> dataMovementBound(const NestProblem& problem, const BoundOptions& options, std::stop_token stop) {
    const auto start = std::chrono::steady_clock::now();
    const auto space = bounds::makeSpace(problem, options);
    if (!space) return Unexpected(space.error());
    auto curve = bounds::searchBound(*space, options, stop);
    if (!curve) return fail("bound.cancelled", "the bound was stopped before it was known");
    curve->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(*curve);
}

NestHardware twoLevelMachine(double words) {
    NestHardware machine;
    machine.name = "one buffer";
    machine.levels.resize(2);
    machine.levels[0].name = "buffer";
    machine.levels[0].capacityWords = words;
    machine.levels[1].name = "store";
    machine.levels[1].dram = true;
    return machine;
}

NestMapping twoLevelMapping(const NestProblem& problem, const BoundPoint& point) {
    NestMapping mapping;
    mapping.levels.resize(2);
    mapping.levels[0].keeps = point.keeps;
    for (std::size_t i = 0; i < problem.dimensions.size(); ++i) {
        const std::uint8_t d = point.order[i];
        const std::int64_t tile = point.tile[d], extent = problem.extents[d];
        const std::int64_t count = (extent + tile - 1) / tile;
        mapping.levels[0].loops.push_back({d, LoopKind::Temporal, tile, extent - (count - 1) * tile});
        mapping.levels[1].loops.push_back({d, LoopKind::Temporal, count, count});
    }
    return mapping;
}

MappingPoint mappingPoint(const NestProblem& problem, const NestMapping& mapping, const NestCounts& counts) {
    MappingPoint point;
    const std::size_t store = mapping.levels.size() - 1;
    std::array<double, maxNestDimensions> tile;
    tile.fill(1);
    for (std::size_t l = 0; l <= store; ++l) {
        for (const NestLoop& loop : mapping.levels[l].loops) {
            if (l < store || loop.kind != LoopKind::Temporal) tile[loop.dimension] *= static_cast<double>(loop.bound);
        }
    }
    for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
        double words = 1;
        for (const TensorRank& rank : problem.tensors[t].ranks) {
            double reach = 1;
            for (const ProjectionTerm& term : rank.terms) {
                const double extent =
                    std::min(tile[term.dimension], static_cast<double>(problem.extents[term.dimension]));
                reach += static_cast<double>(term.coefficient) * (extent - 1);
            }
            words *= reach;
        }
        point.words += words;
        const TensorCounts& at = counts.levels[store].tensors[t];
        point.moved += (at.reads + at.fills + at.updates) * at.instances;
    }
    return point;
}

}  // namespace orrery
