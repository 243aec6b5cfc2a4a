#include "mapping/sparse/sparse_steps.h"

#include <algorithm>
#include <cmath>

// Spatial loops over a tensor whose zeros are seen need only as many instances as there are non-empty coordinates. How
// many at most decides whether a mapping fits and how many are powered; how many on average decides how busy they are.

namespace orrery {

namespace {

/// Level that holds a tensor for the loops of `level`, or the outermost one.
std::size_t holder(const SparseContext& context, std::size_t level, std::size_t tensor) {
    while (level + 1 < context.levels() && !context.at(level, tensor).kept) ++level;
    return level;
}

/// Widens a spatial tile by the temporal loops through which the follower's part stays where it is.
NestExtents widened(const SparseContext& context, NestExtents extents, std::size_t follower, std::size_t level) {
    const std::uint32_t dimensions = dimensionsOf(context.problem.tensors[follower]);
    const std::size_t last = holder(context, level, follower);
    for (std::size_t l = level; l <= last; ++l)
        for (const MoldedLoop& molded : context.work.molds.levels[l]) {
            if (molded.loop.kind != LoopKind::Temporal) continue;
            if (dimensions >> molded.loop.dimension & 1u) return extents;
            extents[molded.loop.dimension] *= molded.loop.bound;
        }
    return extents;
}

/// What zeros of `leader` leave of the instances that the spatial loops of a level reach; returns the average share.
double shrink(const SparseContext& context, std::size_t level, std::size_t leader, int follower,
              SparseWorkspace::Plan& plan) {
    if (!context.at(holder(context, level, leader), leader).metadata) return 1;
    const NestTensor& tensor = context.problem.tensors[leader];
    const DensityModel& model = context.design.densities[leader];
    const std::uint32_t leads = dimensionsOf(tensor);
    const std::vector<MoldedLoop>& loops = context.work.molds.levels[level];
    double average = 1;
    bool innermost = true;
    for (std::size_t i = 0; i < loops.size(); ++i) {
        const NestLoop& loop = loops[i].loop;
        if (loop.kind == LoopKind::Temporal || !(leads >> loop.dimension & 1u)) continue;
        NestExtents extents = context.work.molds.inside(level, i);
        if (follower >= 0) {
            const auto f = static_cast<std::size_t>(follower);
            bool stays = false;  // something between these loops and the arithmetic keeps the follower
            for (std::size_t l = 0; l < level; ++l) stays |= context.at(l, f).kept;
            if (stays && (dimensionsOf(context.problem.tensors[f]) >> loop.dimension & 1u))
                extents = widened(context, extents, f, level);
        }
        const TileShape element = tileShape(tensor, extents);
        if (innermost) average = 1 - emptyProbability(model, element);
        innermost = false;
        extents[loop.dimension] *= loop.bound;
        const double needed = maximumElements(model, tileShape(tensor, extents), element);
        (loop.kind == LoopKind::SpatialX ? plan.shrinkX : plan.shrinkY) *= needed / static_cast<double>(loop.bound);
    }
    return average;
}

struct Mesh {
    double x = 1, y = 1;
};

Mesh denseFanOut(const NestMolds& molds, std::size_t level) {
    Mesh out;
    for (const MoldedLoop& molded : molds.levels[level]) {
        if (molded.loop.kind == LoopKind::SpatialX) out.x *= static_cast<double>(molded.loop.bound);
        if (molded.loop.kind == LoopKind::SpatialY) out.y *= static_cast<double>(molded.loop.bound);
    }
    return out;
}

/// Instances that the loops of `level` and further out reach, at most.
MappingFault checkFanOut(const SparseContext& context, std::size_t tensor) {
    Mesh reached;
    for (std::size_t l = context.levels(); l-- > 0;) {
        const Mesh dense = denseFanOut(context.work.molds, l);
        const SparseWorkspace::Plan& plan = context.plan(l, tensor);
        reached.x *= dense.x * plan.shrinkX;
        reached.y *= dense.y * plan.shrinkY;
        const double needed = std::floor(reached.x + 1e-9) * std::floor(reached.y + 1e-9);
        const auto there = static_cast<double>(l == 0 ? context.hardware.arithmetic.instances
                                                      : context.hardware.levels[l - 1].instances);
        if (needed > there) return context.fault(MappingFault::FanOut, l, tensor, needed, there);
    }
    return MappingFault::None;
}

}  // namespace

MappingFault planSpatialSkipping(const SparseContext& context) {
    double denseInstances = 1;
    for (std::size_t l = 0; l < context.levels(); ++l) {
        const Mesh mesh = denseFanOut(context.work.molds, l);
        denseInstances *= mesh.x * mesh.y;
    }
    context.work.computeInstances = denseInstances;
    bool wanted = false;
    for (const SparseLevel& level : context.design.levels)
        for (const ActionOptimization& action : level.actions)
            wanted |= action.elimination == Elimination::SpatialSkipping;
    if (!wanted) {
        for (std::size_t t = 0; t < context.tensors(); ++t)
            if (const MappingFault fault = checkFanOut(context, t); fault != MappingFault::None) return fault;
        return MappingFault::None;
    }

    for (std::size_t l = 0; l < context.levels(); ++l)
        for (std::size_t t = 0; t < context.tensors(); ++t) {
            SparseWorkspace::Plan& plan = context.plan(l, t);
            plan.average = shrink(context, l, t, -1, plan);
            plan.shrinks = plan.average < 1;
        }
    for (std::size_t l = 0; l < context.levels(); ++l)
        for (const ActionOptimization& action : context.design.levels[l].actions) {
            if (action.elimination != Elimination::SpatialSkipping) continue;
            for (const EliminationOption& option : action.options) {
                SparseWorkspace::Plan& plan = context.plan(l, option.target);
                double average = 1;
                for (std::size_t t = 0; t < context.tensors(); ++t)
                    if (option.leaders >> t & 1u) average *= shrink(context, l, t, option.target, plan);
                plan.average = average;
                plan.shrinks = true;
                plan.spatial = true;
                plan.leaders = option.leaders;
            }
        }

    double busiest = 0;
    for (std::size_t t = 0; t < context.tensors(); ++t) {
        if (const MappingFault fault = checkFanOut(context, t); fault != MappingFault::None) return fault;
        double average = 1;  // of the instances inside level l
        for (std::size_t l = context.levels(); l-- > 0;) {
            SparseWorkspace::Plan& plan = context.plan(l, t);
            // A share found here holds whatever was left out further out; it reaches inwards where instances are freed.
            double here = plan.shrinks ? plan.average : average;
            plan.spatialShare = 1 - here;
            if (l > 0 && context.at(l - 1, t).kept) {
                double dense = 1;
                for (std::size_t o = l; o < context.levels(); ++o) {
                    const Mesh mesh = denseFanOut(context.work.molds, o);
                    dense *= mesh.x * mesh.y;
                }
                context.at(l - 1, t).instances = dense * here;
            }
            if (l == 0) busiest = std::max(busiest, denseInstances * here);
            if (plan.shrinks) average = plan.shrinkX < 1 || plan.shrinkY < 1 ? here : 1;
        }
    }
    context.work.computeInstances = std::max(busiest, 1e-300);
    return MappingFault::None;
}

}  // namespace orrery
