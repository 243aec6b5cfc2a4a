#include "mapping/sparse/sparse_counts.h"

#include "mapping/sparse/sparse_steps.h"

#include <fmt/format.h>

namespace orrery {

namespace {

/// Dense counts, which level a tensor comes from and goes to, and what it covers there.
void prepare(const SparseContext& context, const NestCounts& counts) {
    SparseWorkspace& work = context.work;
    work.levels.resize(context.levels());
    work.plans.assign(context.levels(), {});
    work.computes = {};
    work.packing.fill({});
    work.fault = MappingFault::None;
    work.formatFault = FormatFault::None;
    work.faultLevel = work.faultTensor = -1;
    work.molds.build(context.mapping);
    for (std::size_t t = 0; t < context.tensors(); ++t) {
        int below = -1;
        for (std::size_t l = 0; l < context.levels(); ++l) {
            const TensorCounts& dense = counts.levels[l].tensors[t];
            SparseTensorCounts& here = context.at(l, t);
            here.kept = dense.kept;
            here.parent = here.child = -1;
            here.tile = here.occupancy = here.maximum = here.metadataMaximumBits = here.energy = 0;
            here.compressions = here.decompressions = 0;
            here.denseReads = dense.reads;
            here.denseFills = dense.fills;
            here.denseUpdates = dense.updates;
            here.reads = {dense.reads, 0, 0};
            here.fills = {dense.fills, 0, 0};
            here.updates = {dense.updates, 0, 0};
            here.temporalReductions = dense.temporalReductions;
            here.instances = dense.instances;
            const TensorFormat& format = context.design.levels[l].formats[t];
            here.compressed = dense.kept && format.compressed();
            here.metadata = dense.kept && format.hasMetadata();
            here.metadataExpected.clear();
            for (FormatSplit* split : {&here.formatReads, &here.formatFills, &here.formatUpdates})
                for (auto* ranks : {&split->actual, &split->gated, &split->skipped}) ranks->clear();
            if (!dense.kept) continue;
            here.shape = tileShape(context.problem.tensors[t], work.molds.tiles[l]);
            here.tile = here.shape.size();
            here.child = below;
            if (below >= 0) context.at(static_cast<std::size_t>(below), t).parent = static_cast<int>(l);
            below = static_cast<int>(l);
        }
    }
}

std::string_view sentence(FormatFault fault) {
    switch (fault) {
        case FormatFault::None:
            return "";
        case FormatFault::TooFewRanks:
            return "has more loops than ranks in its format";
        case FormatFault::ChildRanks:
            return "has fewer ranks than the level below";
        case FormatFault::ChildFormat:
            return "has other formats than the ranks of the level below";
        case FormatFault::Decompression:
            return "must be decompressed, which this level cannot do";
        case FormatFault::Compression:
            return "must be compressed, which this level cannot do";
    }
    return "";
}

std::string_view remedy(FormatFault fault) {
    switch (fault) {
        case FormatFault::None:
            return "";
        case FormatFault::TooFewRanks:
            return "add ranks, flatten dimensions (flattened-rankIDs), or drop loops of this level";
        case FormatFault::ChildRanks:
            return "give this level at least the ranks of the level below";
        case FormatFault::ChildFormat:
            return "write the inner ranks as the level below does";
        case FormatFault::Decompression:
            return "set decompression_supported: True, or keep the format of the level above";
        case FormatFault::Compression:
            return "set compression_supported: True, or keep the format of the level above";
    }
    return "";
}

}  // namespace

MappingFault SparseContext::fault(MappingFault what, std::size_t level, std::size_t tensor, double needed,
                                  double available) const {
    work.fault = what;
    work.faultLevel = static_cast<int>(level);
    work.faultTensor = static_cast<int>(tensor);
    work.needed = needed;
    work.available = available;
    return what;
}

MappingFault applySparse(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping,
                         const SparseDesign& design, SparseWorkspace& work, NestCounts& counts) {
    const SparseContext context{problem, hardware, mapping, design, work};
    prepare(context, counts);
    if (!design.active()) {
        for (std::size_t l = 0; l < context.levels(); ++l)
            for (std::size_t t = 0; t < context.tensors(); ++t)
                context.at(l, t).maximum = context.at(l, t).occupancy = context.at(l, t).tile;
        if (const MappingFault fault = planSpatialSkipping(context); fault != MappingFault::None) return fault;
        work.computes.actual = counts.operations;
        return priceSparse(context, counts);
    }
    for (const auto step : {findOccupancies, planEliminations, planSpatialSkipping, planPacking})
        if (const MappingFault fault = step(context); fault != MappingFault::None) return fault;
    splitAccesses(context, counts.operations);
    splitComputes(context);
    return priceSparse(context, counts);
}

Diagnostic sparseFault(const NestProblem& problem, const NestHardware& hardware, const SparseWorkspace& work) {
    if (work.fault == MappingFault::None) return {};
    const std::string level =
        work.faultLevel >= 0 ? hardware.levels[static_cast<std::size_t>(work.faultLevel)].name : std::string();
    const std::string tensor =
        work.faultTensor >= 0 && static_cast<std::size_t>(work.faultTensor) < problem.tensors.size()
            ? problem.tensors[static_cast<std::size_t>(work.faultTensor)].name
            : std::string();
    const Place place{{}, 0, 0, tensor.empty() ? level : level + "/" + tensor};
    if (work.formatFault != FormatFault::None)
        return fail("mapping.format", fmt::format("`{}` at `{}` {}", tensor, level, sentence(work.formatFault)), {},
                    std::string(remedy(work.formatFault)), place)
            .value();
    switch (work.fault) {
        case MappingFault::Capacity:
            return fail("mapping.capacity",
                        fmt::format("tiles at `{}` need {:.0f} {}, of which {:.0f} are there", level, work.needed,
                                    tensor.empty() ? "words" : "bits of metadata", work.available),
                        {}, "map fewer iterations at this level, or compress more", place)
                .value();
        case MappingFault::FanOut:
            return fail("mapping.fan-out",
                        fmt::format("spatial loops of `{}` need {:.0f} instances, of which {:.0f} are there", level,
                                    work.needed, work.available),
                        {}, "lower spatial factors, or skip spatially so that fewer are needed", place)
                .value();
        case MappingFault::Utilisation:
            return fail("mapping.utilisation", fmt::format("tiles at `{}` fill less than asked for", level), {},
                        "map more iterations at this level", place)
                .value();
        default:
            return fail(
                       "mapping.elimination", fmt::format("accesses to `{}` cannot be left out at `{}`", tensor, level),
                       "a level at or outside this one that keeps the tensor; for position-skipping this level, with a "
                       "format, word by word",
                       "move the action optimisation to another level", place)
                .value();
    }
}

}  // namespace orrery
