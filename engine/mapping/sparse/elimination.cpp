#include "mapping/sparse/sparse_steps.h"

#include <algorithm>
#include <cmath>

// Which tile of a leader decides over which access of a follower. The follower's tile is the one that stays where it is
// while the level below is filled once: the iterations inside the innermost loop that the follower depends on. The
// leader's tile is what those iterations touch of it, and of every spatial loop above, whose instances share the
// decision. Where both depend on that loop, one iteration of it decides.

namespace orrery {

namespace {

struct Decision {
    NestExtents follower, leader;  ///< iterations that the tiles cover before shared loops are taken out
    std::vector<NestLoop> shared;  ///< the follower's loop and the ones above that the decision spans, inner to outer
    bool spatial = false;          ///< the follower's loop is spatial
    bool scalar = false;           ///< every single word is decided on
    std::uint8_t dimension = 0;    ///< along which words of one block lie
};

struct At {
    std::size_t level = 0, next = 0;  ///< the first loop outside the follower's
};

/// The innermost loop over the follower outside the level below.
At followerLoop(const SparseContext& context, std::uint32_t dimensions, int child, std::size_t level, Decision& out) {
    const NestMolds& molds = context.work.molds;
    if (child < 0) {
        // Beside the arithmetic nothing stays: one word at a time, or the words that go to the units side by side.
        const std::vector<MoldedLoop>& loops = molds.levels[0];
        std::size_t last = 0;
        while (last < loops.size() && loops[last].loop.kind != LoopKind::Temporal) ++last;
        out.spatial = context.hardware.arithmetic.instances > context.hardware.levels[0].instances;
        out.scalar = !out.spatial;
        out.follower.fill(1);
        if (!context.mapping.levels[0].loops.empty()) out.dimension = context.mapping.levels[0].loops[0].dimension;
        for (std::size_t i = 0; i < last; ++i) {
            const bool depends = dimensions >> loops[i].loop.dimension & 1u;
            if (!depends && i + 1 < last) continue;
            out.follower = loops[i].extents;
            out.dimension = loops[i].loop.dimension;
            out.shared.push_back(loops[i].loop);
            return {0, i + 1};
        }
        return {0, last};
    }
    for (auto l = static_cast<std::size_t>(child + 1); l <= level; ++l)
        for (std::size_t i = 0; i < molds.levels[l].size(); ++i) {
            const MoldedLoop& molded = molds.levels[l][i];
            if (!(dimensions >> molded.loop.dimension & 1u)) continue;
            out.follower = molded.extents;
            out.dimension = molded.loop.dimension;
            out.spatial = molded.loop.kind != LoopKind::Temporal;
            out.shared.push_back(molded.loop);
            return {l, i + 1};
        }
    out.follower = molds.tiles[level];
    if (!molds.levels[level].empty()) out.dimension = molds.levels[level].back().loop.dimension;
    return {level, molds.levels[level].size()};
}

Decision decisionFor(const SparseContext& context, std::size_t tensor, std::size_t level) {
    Decision out;
    const int child = context.at(level, tensor).child;
    const std::uint32_t dimensions = dimensionsOf(context.problem.tensors[tensor]);
    const At at = followerLoop(context, dimensions, child, level, out);
    out.leader = out.follower;
    bool held = out.spatial;  // a spatial tile stays until a temporal loop over the follower moves it on
    for (std::size_t l = at.level; l <= level; ++l)
        for (std::size_t i = l == at.level ? at.next : 0; i < context.work.molds.levels[l].size(); ++i) {
            const NestLoop& loop = context.work.molds.levels[l][i].loop;
            const bool spatial = loop.kind != LoopKind::Temporal;
            const bool depends = dimensions >> loop.dimension & 1u;
            if (spatial || (held && child >= 0 && !depends)) {
                out.leader[loop.dimension] *= loop.bound;
                out.shared.push_back(loop);
            }
            if (!spatial && (child < 0 || depends)) held = false;
        }
    return out;
}

/// Probability that the leader's tile is empty; 0 where the leader would have to be walked against its order.
double leaderEmpty(const SparseContext& context, const Decision& decision, std::size_t follower, std::size_t leader,
                   std::size_t level) {
    const NestProblem& problem = context.problem;
    const std::uint32_t leads = dimensionsOf(problem.tensors[leader]);
    const std::uint32_t both = leads & dimensionsOf(problem.tensors[follower]);
    NestExtents factors;
    factors.fill(1);
    double together = 1;
    bool found = false;
    if (!decision.scalar)
        for (const NestLoop& loop : decision.shared) {
            const std::uint32_t bit = 1u << loop.dimension;
            if (decision.spatial && found && (leads & bit)) return 0;
            if (both & bit) {
                factors[loop.dimension] *= loop.bound;
                together *= static_cast<double>(loop.bound);
                found = true;
            }
        }
    NestExtents extents = decision.leader;
    // Words of one block come together: as many iterations decide as fill it.
    const double words = tileShape(problem.tensors[follower], decision.follower).size() / together;
    double blocks = std::ceil(static_cast<double>(context.hardware.levels[level].blockSize) / words);
    for (std::size_t d = 0; d < extents.size(); ++d) {
        if (factors[d] <= 1) continue;
        const double factor = static_cast<double>(factors[d]);
        const double taken = std::max(1.0, factor / blocks);
        extents[d] = static_cast<std::int64_t>(std::ceil(static_cast<double>(extents[d]) / taken));
        blocks = std::max(1.0, blocks / factor);
    }
    if (blocks > 1) extents[decision.dimension] *= static_cast<std::int64_t>(std::ceil(blocks));
    for (std::size_t d = 0; d < problem.extents.size() && d < extents.size(); ++d)
        extents[d] = std::min(extents[d], std::max<std::int64_t>(1, problem.extents[d]));
    return emptyProbability(context.design.densities[leader], tileShape(problem.tensors[leader], extents));
}

struct Impact {
    std::size_t level = 0;
    double share = 0, savings = 0;
};

/// Where the follower is read and how many of its accesses bring nothing.
bool impactOf(const SparseContext& context, const EliminationOption& option, std::size_t level, Impact& out) {
    while (level < context.levels() && !context.at(level, option.target).kept) ++level;
    if (level == context.levels()) return false;
    const SparseTensorCounts& here = context.at(level, option.target);
    const Decision decision = decisionFor(context, option.target, level);
    double effectual = 1;
    for (std::size_t t = 0; t < context.tensors(); ++t)
        if (option.leaders >> t & 1u) effectual *= 1 - leaderEmpty(context, decision, option.target, t, level);
    out.level = level;
    out.share = 1 - effectual;

    const NestLevel& storage = context.hardware.levels[level];
    double words = here.occupancy;
    const auto sends = static_cast<std::size_t>(here.child < 0 ? static_cast<int>(level) : here.child);
    double metadata = 0;
    for (const RankOccupancy& rank : context.at(sends, option.target).metadataExpected)
        metadata += rank.metadata + rank.payload;
    if (storage.wordBits > 0)
        words += metadata * std::floor(storage.metadataWordBits / static_cast<double>(storage.wordBits));
    out.savings = storage.energy.vectorRead / static_cast<double>(std::max<std::int64_t>(1, storage.blockSize)) *
                  words * out.share;
    return true;
}

}  // namespace

MappingFault planEliminations(const SparseContext& context) {
    for (const Elimination kind : {Elimination::Gating, Elimination::Skipping})
        for (std::size_t l = 0; l < context.levels(); ++l)
            for (const ActionOptimization& action : context.design.levels[l].actions) {
                if (action.elimination != kind) continue;
                Impact best;
                const EliminationOption* chosen = nullptr;
                for (const EliminationOption& option : action.options) {
                    Impact impact;
                    if (!impactOf(context, option, l, impact))
                        return context.fault(MappingFault::Keeps, l, option.target);
                    if (!chosen || impact.savings >= best.savings) best = impact, chosen = &option;
                }
                if (!chosen) continue;
                SparseWorkspace::Plan& plan = context.plan(best.level, chosen->target);
                if (plan.on && plan.share >= best.share) continue;  // of two on one tensor the stronger one works
                plan.on = true;
                plan.kind = kind;
                plan.share = best.share;
                plan.leaders = chosen->leaders;
            }
    return MappingFault::None;
}

}  // namespace orrery
