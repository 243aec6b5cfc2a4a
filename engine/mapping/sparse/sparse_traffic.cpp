#include "mapping/sparse/sparse_steps.h"

#include <algorithm>
#include <cmath>

// Counts stay whole: what is left out is rounded down, as hardware that is in doubt makes the access. Tiles that an
// outer level leaves out never reach the levels inside it, so that they count there neither as gated nor as skipped.

namespace orrery {

namespace {

void scale(std::vector<RankOccupancy>& ranks, double share) {
    for (RankOccupancy& rank : ranks) {
        rank.metadata -= std::floor(rank.metadata * share);
        rank.payload -= std::floor(rank.payload * share);
    }
}

void perFill(const std::vector<RankOccupancy>& tile, double times, FormatSplit& out) {
    out.actual.clear();
    for (const RankOccupancy& rank : tile)
        out.actual.push_back({std::ceil(rank.metadata * times), std::ceil(rank.payload * times)});
    out.gated.assign(tile.size(), {});
    out.skipped.assign(tile.size(), {});
}

/// What the representation alone leaves: words that are there, and what is written about them.
void represent(SparseTensorCounts& here, bool written) {
    if (!here.metadata || here.tile <= 0) return;
    const double sparsity = 1 - here.density();
    here.reads.actual -= std::floor(here.reads.actual * sparsity);
    here.fills.actual -= std::floor(here.fills.actual * sparsity);
    if (written) here.updates.actual -= std::floor(here.updates.actual * sparsity);
    perFill(here.metadataExpected, here.denseReads / here.tile, here.formatReads);
    perFill(here.metadataExpected, here.denseFills / here.tile, here.formatFills);
    perFill(here.metadataExpected, here.denseUpdates / here.tile, here.formatUpdates);
}

/// Takes a share out of the actions of a level itself.
void eliminate(const SparseContext& context, std::size_t level, std::size_t tensor, Elimination kind, double share) {
    SparseTensorCounts& here = context.at(level, tensor);
    const bool written = context.problem.tensors[tensor].written;
    const bool gates = kind == Elimination::Gating;
    // A read before an update goes with it: rounded the other way so that neither stays alone.
    const double reads = written ? std::ceil(here.reads.actual * share) : std::floor(here.reads.actual * share);
    const double updates = std::floor(here.updates.actual * share);
    (gates ? here.reads.gated : here.reads.skipped) += reads;
    (gates ? here.updates.gated : here.updates.skipped) += updates;
    here.reads.actual -= reads;
    here.updates.actual -= updates;

    // Ranks that are sent inwards; beside the arithmetic all of them.
    const std::size_t sent = here.child < 0
                                 ? here.metadataExpected.size()
                                 : context.at(static_cast<std::size_t>(here.child), tensor).metadataExpected.size();
    const auto take = [&](FormatSplit& split) {
        for (std::size_t r = 0; r < std::min(sent, split.actual.size()); ++r) {
            RankOccupancy& into = gates ? split.gated[r] : split.skipped[r];
            const double metadata = std::floor(split.actual[r].metadata * share);
            const double payload = std::floor(split.actual[r].payload * share);
            into.metadata += metadata;
            into.payload += payload;
            split.actual[r].metadata -= metadata;
            split.actual[r].payload -= payload;
        }
    };
    take(here.formatReads);
    take(here.formatUpdates);
}

double shareAt(const SparseWorkspace::Plan& plan) {
    return plan.spatial ? plan.spatialShare : plan.share;
}

void propagate(const SparseContext& context, std::size_t tensor, double& operations) {
    const bool written = context.problem.tensors[tensor].written;
    for (std::size_t l = context.levels(); l-- > 0;) {
        SparseWorkspace::Plan& plan = context.plan(l, tensor);
        if (!plan.on && !plan.spatial) continue;
        if (!plan.final && !plan.spatial) eliminate(context, l, tensor, plan.kind, plan.share);
        plan.final = true;

        const double share = shareAt(plan);
        bool reachesCompute = true;
        for (std::size_t inner = l; inner-- > 0;) {
            SparseTensorCounts& below = context.at(inner, tensor);
            below.fills.actual -= std::floor(below.fills.actual * share);
            below.reads.actual -= std::floor(below.reads.actual * share);
            below.updates.actual -= std::floor(below.updates.actual * share);
            scale(below.formatFills.actual, share);
            scale(below.formatReads.actual, share);
            scale(below.formatUpdates.actual, share);
            SparseWorkspace::Plan& next = context.plan(inner, tensor);
            if (!next.on && !next.spatial) continue;
            // What is left out there contains what has been left out already.
            const double rest = 1 - share;
            if (!next.spatial)
                eliminate(context, inner, tensor, next.kind, rest > 0 ? std::max(0.0, 1 - (1 - next.share) / rest) : 0);
            next.final = true;
            reachesCompute = false;
            break;
        }
        if (reachesCompute && !written) {
            operations -= std::floor(operations * share);
            context.work.followers |= 1u << tensor;
            context.work.followed[tensor] = std::round(share * 1e6) / 1e6;
            context.work.followedLeaders[tensor] = plan.leaders;
        }
    }
}

}  // namespace

void splitAccesses(const SparseContext& context, double operations) {
    SparseWorkspace& work = context.work;
    work.followers = 0;
    work.followed.fill(0);
    work.followedLeaders.fill(0);
    for (std::size_t t = 0; t < context.tensors(); ++t) {
        const bool written = context.problem.tensors[t].written;
        for (std::size_t l = 0; l < context.levels(); ++l)
            if (context.at(l, t).kept) represent(context.at(l, t), written);
        propagate(context, t, operations);
        for (std::size_t l = 0; l < context.levels(); ++l) {
            SparseTensorCounts& here = context.at(l, t);
            if (!here.kept) continue;
            here.temporalReductions = here.denseUpdates > 0
                                          ? std::ceil(here.temporalReductions * here.updates.actual / here.denseUpdates)
                                          : 0;
            if (here.compressed || here.parent < 0) continue;
            const SparseTensorCounts& above = context.at(static_cast<std::size_t>(here.parent), t);
            if (!above.compressed) continue;
            here.decompressions = here.fills.actual;
            if (written) here.compressions = above.updates.actual;
        }
    }
    for (std::size_t t = 0; t < context.tensors(); ++t) packAccesses(context, t, operations);
    work.computes = {operations, 0, 0};
}

}  // namespace orrery
