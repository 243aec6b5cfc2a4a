#include "mapping/sparse/sparse_steps.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

MappingFault formatFault(const SparseContext& context, FormatFault what, std::size_t level, std::size_t tensor) {
    context.work.formatFault = what;
    return context.fault(MappingFault::Keeps, level, tensor);
}

/// What has to be translated between a level and the one above it, and whether it can.
MappingFault checkTranslation(const SparseContext& context, std::size_t level, std::size_t tensor) {
    const SparseTensorCounts& here = context.at(level, tensor);
    if (here.parent < 0 || here.compressed || !context.at(static_cast<std::size_t>(here.parent), tensor).compressed)
        return MappingFault::None;
    const NestLevel& storage = context.hardware.levels[level];
    if (!storage.decompressionSupported) return formatFault(context, FormatFault::Decompression, level, tensor);
    if (context.problem.tensors[tensor].written && !storage.compressionSupported)
        return formatFault(context, FormatFault::Compression, level, tensor);
    return MappingFault::None;
}

void expectOccupancy(const SparseContext& context, std::size_t level, std::size_t tensor) {
    SparseTensorCounts& here = context.at(level, tensor);
    const DensityModel& model = context.design.densities[tensor];
    const std::vector<FormatRank>& formats = context.design.levels[level].formats[tensor].ranks;

    // A parent with metadata sees which tiles are empty and does not send them.
    double sent = 1;
    if (here.parent >= 0 && context.at(static_cast<std::size_t>(here.parent), tensor).metadata)
        sent = 1 - emptyProbability(model, here.shape);
    here.instances *= sent;
    here.occupancy = sent > 0 ? expectedOccupancy(model, here.shape) / sent : 0;

    here.maximum = here.compressed ? maximumOccupancy(model, here.shape) : here.tile;
    if (!here.metadata) return;

    here.metadataExpected.assign(formats.size(), {});
    const OccupancyDistribution spread = occupancyDistribution(model, here.shape);
    for (std::size_t i = 0; i < spread.probability.size(); ++i) {
        const double occupancy = spread.first + static_cast<double>(i);
        double probability = spread.probability[i];
        if (probability <= 0) continue;
        if (sent < 1) probability = occupancy > 0 && sent > 0 ? probability / sent : 0;
        if (probability <= 0) continue;
        treeOccupancy(here.tree, formats, model, {here.shape, occupancy}, context.work.scratch);
        for (std::size_t r = 0; r < formats.size(); ++r) {
            here.metadataExpected[r].metadata += probability * context.work.scratch[r].metadata;
            here.metadataExpected[r].payload += probability * context.work.scratch[r].payload;
        }
    }
    treeOccupancy(here.tree, formats, model, {here.shape, maximumOccupancy(model, here.shape)}, context.work.scratch);
    here.metadataMaximumBits = std::ceil(metadataBits(context.work.scratch, formats));
}

}  // namespace

MappingFault findOccupancies(const SparseContext& context) {
    for (std::size_t t = 0; t < context.tensors(); ++t) {
        for (std::size_t l = 0; l < context.levels(); ++l) {
            SparseTensorCounts& here = context.at(l, t);
            if (!here.kept) continue;
            if (const MappingFault fault = checkTranslation(context, l, t); fault != MappingFault::None) return fault;
            const bool inner = here.child >= 0;
            const auto child = static_cast<std::size_t>(inner ? here.child : 0);
            const FiberTreeInput input{.tensor = &context.problem.tensors[t],
                                       .level = static_cast<int>(l),
                                       .child = here.child,
                                       .format = &context.design.levels[l].formats[t],
                                       .childFormat = inner ? &context.design.levels[child].formats[t] : nullptr,
                                       .childTree = inner ? &context.at(child, t).tree : nullptr,
                                       .childTile = inner ? context.at(child, t).tile : 1};
            const FormatFault fault = buildFiberTree(context.work.molds, input, here.tree);
            // Without metadata a level has one rank that takes every loop.
            if (fault != FormatFault::None) return formatFault(context, fault, l, t);
            expectOccupancy(context, l, t);
        }
    }
    return MappingFault::None;
}

}  // namespace orrery
