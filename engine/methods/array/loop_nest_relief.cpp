#include "methods/array/loop_nest_relief.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::size_t inputs = 0, outputs = 2;

/// Cycles that main memory needs for what is left after the relieved tensors.
double memoryCycles(const NestLevel& memory, const LevelCounts& counts, bool noInputs, bool noOutputs) {
    double read = 0, written = 0;
    for (std::size_t t = 0; t < counts.tensors.size(); ++t) {
        const TensorCounts& tensor = counts.tensors[t];
        if (!tensor.kept || (t == inputs && noInputs) || (t == outputs && noOutputs)) continue;
        read += tensor.reads;
        written += tensor.fills + tensor.updates;
    }
    double cycles = 0;
    if (memory.readBandwidth > 0) cycles = std::max(cycles, read / memory.readBandwidth);
    if (memory.writeBandwidth > 0) cycles = std::max(cycles, written / memory.writeBandwidth);
    if (memory.sharedBandwidth > 0) cycles = std::max(cycles, (read + written) / memory.sharedBandwidth);
    return cycles;
}

}  // namespace

double tileWords(const MappedOperator& op, std::size_t level) {
    double most = 0;
    for (const MappedNest& nest : op.nests) {
        double words = 0;
        for (const TensorCounts& tensor : nest.counts().levels[level].tensors) {
            if (tensor.kept) words += tensor.tile;
        }
        most = std::max(most, words);
    }
    return most;
}

ReliefOfNest relieve(const MappedOperator& op, bool inputStays, bool outputStays) {
    ReliefOfNest relief;
    const std::size_t memory = op.hardware.levels.size() - 1;
    const double wordBytes = static_cast<double>(op.hardware.levels[memory].wordBits) / 8;
    for (std::size_t n = 0; n < op.nests.size(); ++n) {
        const MappedNest& nest = op.nests[n];
        const NestCounts& counts = nest.counts();
        // Of two nests the first reads the operator's input, the last writes its output.
        const bool in = inputStays && n == 0, out = outputStays && n + 1 == op.nests.size();
        if (!in && !out) {
            relief.cycles += nest.times * counts.cycles;
            relief.energy += nest.times * counts.energy;
            continue;
        }
        double cycles = counts.computeCycles;
        for (std::size_t l = 0; l < memory; ++l) cycles = std::max(cycles, counts.levels[l].cycles);
        cycles = std::max(cycles, memoryCycles(op.hardware.levels[memory], counts.levels[memory], in, out));
        relief.cycles += nest.times * std::min(cycles, counts.cycles);
        double energy = counts.energy;
        for (const std::size_t t : {inputs, outputs}) {
            if (!(t == inputs ? in : out)) continue;
            const TensorCounts& tensor = counts.levels[memory].tensors[t];
            energy -= tensor.energy;
            relief.savedBytes +=
                nest.times * wordBytes * tensor.instances * (tensor.reads + tensor.fills + tensor.updates);
        }
        relief.energy += nest.times * energy;
    }
    return relief;
}

}  // namespace orrery
