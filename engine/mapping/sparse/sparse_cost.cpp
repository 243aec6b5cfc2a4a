#include "mapping/sparse/sparse_steps.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

double bitsOf(const std::vector<RankOccupancy>& units, const std::vector<FormatRank>& ranks) {
    return ranks.empty() ? 0 : metadataBits(units, ranks);
}

/// Blocks read or written for a number of words, were they packed.
double blocks(double words, double block) {
    return std::ceil(words / block);
}

/// How many more blocks are touched because a tile's last one is not full. Where tiles are so long that it is less than
/// one per cent it is left out, as in the original (a table there, (b − 1) / (2 · density · tile) < 1 % here).
double packing(const SparseTensorCounts& here, const DensityModel& model, double block) {
    const double density = here.density();
    if (!here.compressed || block <= 1 || density >= 1 || density <= 0) return 1;
    const double tenth = std::max(0.1, std::floor(density * 10) / 10);
    if (std::ceil(50 * (1 - 1 / block) / tenth) <= std::floor(here.tile / block)) return 1;
    const OccupancyDistribution spread = occupancyDistribution(model, here.shape);
    double touched = 0;
    for (std::size_t i = 0; i < spread.probability.size(); ++i)
        touched += spread.probability[i] * std::ceil((spread.first + static_cast<double>(i)) / block);
    return touched / (here.tile * density / block);
}

struct LevelTraffic {
    double cycles = 1;
    double reads = 0, writes = 0;  ///< words per cycle that take bandwidth
};

/// Joules of one instance.
double priceTensor(const NestLevel& storage, const std::vector<FormatRank>& ranks, const DensityModel& model,
                   const SparseTensorCounts& here, LevelTraffic& traffic) {
    const ActionEnergies& e = storage.energy;
    const double block = static_cast<double>(std::max<std::int64_t>(1, storage.blockSize));
    const double more = packing(here, model, block);
    const auto data = [&](const ActionSplit& split, double actual, double gated, double skipped) {
        return more * (blocks(split.actual, block) * actual + blocks(split.gated, block) * gated +
                       blocks(split.skipped, block) * skipped);
    };
    double joules = data(here.reads, e.vectorRead, e.gatedRead, e.skippedRead) +
                    data(here.fills, e.vectorWrite, e.gatedWrite, e.skippedWrite) +
                    data(here.updates, e.vectorUpdate, e.gatedWrite, e.skippedWrite) +
                    here.decompressions * e.decompression + here.compressions * e.compression;
    double formatReads = 0, formatWrites = 0;
    if (storage.metadataWidthBits > 0) {
        const auto format = [&](const FormatSplit& split, double actual, double gated, double skipped, double& bits) {
            const double made = bitsOf(split.actual, ranks), stopped = bitsOf(split.gated, ranks);
            bits += made + stopped;
            return std::ceil(made / storage.metadataWidthBits) * actual +
                   std::ceil(stopped / storage.metadataWidthBits) * gated +
                   std::ceil(bitsOf(split.skipped, ranks) / storage.metadataWidthBits) * skipped;
        };
        joules +=
            format(here.formatReads, e.metadataRead, e.gatedMetadataRead, e.skippedMetadataRead, formatReads) +
            format(here.formatFills, e.metadataWrite, e.gatedMetadataWrite, e.skippedMetadataWrite, formatWrites) +
            format(here.formatUpdates, e.metadataWrite, e.gatedMetadataWrite, e.skippedMetadataWrite, formatWrites);
    }
    const double word = static_cast<double>(std::max<std::int64_t>(1, storage.wordBits));
    traffic.reads += (here.reads.actual + here.reads.gated + std::floor(formatReads / word)) / traffic.cycles;
    traffic.writes += (here.fills.actual + here.fills.gated + here.updates.actual + here.updates.gated +
                       std::floor(formatWrites / word)) /
                      traffic.cycles;
    return joules;
}

MappingFault checkCapacity(const SparseContext& context, std::size_t level) {
    const NestLevel& storage = context.hardware.levels[level];
    double words = 0, bits = 0;
    std::size_t most = 0;
    for (std::size_t t = 0; t < context.tensors(); ++t) {
        const SparseTensorCounts& here = context.at(level, t);
        if (!here.kept) continue;
        words += here.maximum;
        bits += here.metadataMaximumBits;
        if (here.metadataMaximumBits > context.at(level, most).metadataMaximumBits) most = t;
    }
    const double buffers = std::max(1.0, storage.multipleBuffering);
    const double room = std::floor(storage.capacityWords / buffers);
    const double formatRoom = std::floor(storage.metadataCapacityBits / buffers);
    if (words > room) return context.fault(MappingFault::Capacity, level, context.tensors(), words, room);
    if (bits > formatRoom) return context.fault(MappingFault::Capacity, level, most, bits, formatRoom);
    if (storage.minUtilisation > 0 && words < room * storage.minUtilisation)
        return context.fault(MappingFault::Utilisation, level, context.tensors(), room * storage.minUtilisation, words);
    return MappingFault::None;
}

}  // namespace

MappingFault priceSparse(const SparseContext& context, NestCounts& counts) {
    SparseWorkspace& work = context.work;
    double slowest = counts.computeCycles;
    for (const LevelCounts& level : counts.levels) slowest = std::max(slowest, level.cycles);
    const double networks = counts.cycles - slowest;  // filling and draining, the same with zeros left out

    double denseInstances = 1;
    for (const auto& level : work.molds.levels)
        for (const MoldedLoop& molded : level)
            if (molded.loop.kind != LoopKind::Temporal) denseInstances *= static_cast<double>(molded.loop.bound);
    const double taking = work.computes.actual + work.computes.gated;
    // Imperfect loops leave instances idle at their ends; that much stays.
    const double idle = counts.operations > 0 ? counts.computeCycles * denseInstances / counts.operations : 1;
    counts.computeCycles = std::abs(idle - 1) < 1e-9 ? std::ceil(taking / work.computeInstances)
                                                     : std::ceil(taking * idle / work.computeInstances * (1 - 1e-12));
    counts.computed = work.computes.actual;
    counts.arithmeticEnergy = work.computes.actual * context.hardware.arithmetic.energy +
                              work.computes.gated * context.hardware.arithmetic.gatedEnergy +
                              work.computes.skipped * context.hardware.arithmetic.skippedEnergy;
    counts.energy = counts.arithmeticEnergy;
    counts.cycles = counts.computeCycles;

    for (std::size_t l = 0; l < context.levels(); ++l) {
        if (const MappingFault fault = checkCapacity(context, l); fault != MappingFault::None) return fault;
        const NestLevel& storage = context.hardware.levels[l];
        LevelCounts& level = counts.levels[l];
        level.energy = 0;
        LevelTraffic traffic{.cycles = std::max(1.0, counts.computeCycles)};
        for (std::size_t t = 0; t < context.tensors(); ++t) {
            SparseTensorCounts& here = context.at(l, t);
            if (!here.kept) continue;
            const double joules = priceTensor(storage, context.design.levels[l].formats[t].ranks,
                                              context.design.densities[t], here, traffic);
            // Instances of one cluster share an access.
            const double clusters =
                std::floor(static_cast<double>(storage.instances / std::max<std::int64_t>(1, storage.clusterSize)));
            const double dense = level.tensors[t].instances;
            here.energy = dense > 0 ? joules * std::min(dense, clusters) * (here.instances / dense) : 0;
            TensorCounts& out = level.tensors[t];
            out.tile = here.maximum;
            out.reads = here.reads.actual;
            out.fills = here.fills.actual;
            out.updates = here.updates.actual;
            out.temporalReductions = here.temporalReductions;
            out.instances = here.instances;
            out.energy = here.energy;
            level.energy += here.energy;
        }
        level.slowdown = 1;
        const auto limit = [&](double bandwidth, double wanted) {
            if (bandwidth > 0 && bandwidth < wanted) level.slowdown = std::min(level.slowdown, bandwidth / wanted);
        };
        limit(storage.readBandwidth, traffic.reads);
        limit(storage.writeBandwidth, traffic.writes);
        limit(storage.sharedBandwidth, traffic.reads + traffic.writes);
        level.cycles = std::ceil(counts.computeCycles / level.slowdown);
        counts.cycles = std::max(counts.cycles, level.cycles);
        counts.energy += level.energy;
    }
    counts.cycles += networks;
    const double units = static_cast<double>(std::max<std::int64_t>(1, context.hardware.arithmetic.instances));
    counts.utilisation = counts.cycles > 0 ? taking / units / counts.cycles : 0;
    return MappingFault::None;
}

}  // namespace orrery
