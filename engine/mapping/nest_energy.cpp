#include "mapping/nest_energy.h"

#include <algorithm>
#include <cmath>

namespace orrery::nest {

void countCycles(const NestHardware& hardware, double cycles, NestCounts& counts) {
    counts.computeCycles = cycles;
    double slowest = cycles, latency = 0;
    for (std::size_t l = 0; l < hardware.levels.size(); ++l) {
        const NestLevel& level = hardware.levels[l];
        LevelCounts& at = counts.levels[l];
        double reads = 0, writes = 0;  // words per cycle and instance
        for (const TensorCounts& tensor : at.tensors) {
            if (!tensor.kept) continue;
            reads += tensor.reads / cycles;
            writes += (tensor.updates + tensor.fills) / cycles;
        }
        at.slowdown = 1;
        const auto limit = [&at](double bandwidth, double wanted) {
            if (bandwidth > 0 && bandwidth < wanted) at.slowdown = std::min(at.slowdown, bandwidth / wanted);
        };
        limit(level.readBandwidth, reads);
        limit(level.writeBandwidth, writes);
        limit(level.sharedBandwidth, reads + writes);
        at.cycles = std::ceil(cycles / at.slowdown);
        slowest = std::max(slowest, at.cycles);
        latency += level.networkLatency;
    }
    counts.cycles = slowest + latency;
    counts.utilisation =
        counts.cycles > 0 ? counts.computed / static_cast<double>(hardware.arithmetic.instances) / counts.cycles : 0;
}

void countEnergy(const NestHardware& hardware, NestCounts& counts) {
    counts.arithmeticEnergy = counts.computed * hardware.arithmetic.energy;
    counts.energy = counts.arithmeticEnergy;
    for (std::size_t l = 0; l < hardware.levels.size(); ++l) {
        const NestLevel& level = hardware.levels[l];
        LevelCounts& at = counts.levels[l];
        at.energy = 0;
        const double block = static_cast<double>(level.blockSize);
        const double clusters = std::floor(static_cast<double>(level.instances / level.clusterSize));
        for (TensorCounts& tensor : at.tensors) {
            if (!tensor.kept) continue;
            const double vectors = std::ceil(tensor.reads / block) * level.energy.vectorRead +
                                   std::ceil(tensor.fills / block) * level.energy.vectorWrite +
                                   std::ceil(tensor.updates / block) * level.energy.vectorUpdate;
            tensor.energy = vectors * std::min(tensor.instances, clusters);
            at.energy += tensor.energy;
        }
        counts.energy += at.energy;
    }
}

}  // namespace orrery::nest
