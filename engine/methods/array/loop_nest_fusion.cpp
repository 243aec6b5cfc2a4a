#include "methods/array/loop_nest_fusion.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::size_t inputs = 0, outputs = 2;

/// Words that an operator's tiles take in one instance of a level, at most.
double tiles(const MappedOperator& op, std::size_t level) {
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

FusedOperator relieve(const MappedOperator& op, bool noInputs, bool noOutputs) {
    FusedOperator fused;
    fused.inputOnChip = noInputs;
    fused.outputOnChip = noOutputs;
    const std::size_t memory = op.hardware.levels.size() - 1;
    const double wordBytes = static_cast<double>(op.hardware.levels[memory].wordBits) / 8;
    for (std::size_t n = 0; n < op.nests.size(); ++n) {
        const MappedNest& nest = op.nests[n];
        const NestCounts& counts = nest.counts();
        // Of two nests the first reads the operator's input, the last writes its output.
        const bool in = noInputs && n == 0, out = noOutputs && n + 1 == op.nests.size();
        if (!in && !out) {
            fused.cycles += nest.times * counts.cycles;
            fused.energy += nest.times * counts.energy;
            continue;
        }
        double cycles = counts.computeCycles;
        for (std::size_t l = 0; l < memory; ++l) cycles = std::max(cycles, counts.levels[l].cycles);
        cycles = std::max(cycles, memoryCycles(op.hardware.levels[memory], counts.levels[memory], in, out));
        fused.cycles += nest.times * std::min(cycles, counts.cycles);
        double energy = counts.energy;
        for (const std::size_t t : {inputs, outputs}) {
            if (!(t == inputs ? in : out)) continue;
            const TensorCounts& tensor = counts.levels[memory].tensors[t];
            energy -= tensor.energy;
            fused.savedBytes +=
                nest.times * wordBytes * tensor.instances * (tensor.reads + tensor.fills + tensor.updates);
        }
        fused.energy += nest.times * energy;
    }
    return fused;
}

struct Readers {
    std::vector<int> count;         ///< per tensor, the graph's outputs counted as one more
    std::vector<std::size_t> last;  ///< per tensor: an operator that reads it
};

Readers readersOf(const Graph& graph) {
    Readers readers{std::vector<int>(graph.tensors.size(), 0), std::vector<std::size_t>(graph.tensors.size(), 0)};
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        for (const TensorId id : graph.operators[i].inputs) {
            if (id < 0) continue;
            ++readers.count[static_cast<std::size_t>(id)];
            readers.last[static_cast<std::size_t>(id)] = i;
        }
    }
    for (const TensorId id : graph.outputs) ++readers.count[static_cast<std::size_t>(id)];
    return readers;
}

/// Works in place on the whole activation that it is given first.
bool inPlace(const Operator& op, const Graph& graph) {
    if (op.kind != OperatorKind::Elementwise && op.kind != OperatorKind::Normalization &&
        op.kind != OperatorKind::Softmax)
        return false;
    return op.outputs.size() == 1 && op.outputs.front() >= 0 && op.inputs.front() >= 0 &&
           graph.tensors[static_cast<std::size_t>(op.outputs.front())].elements() ==
               graph.tensors[static_cast<std::size_t>(op.inputs.front())].elements();
}

/// From a mapped operator, over operators that work in place on what it writes, to the mapped one that reads it: all
/// of them in order, both ends included. Empty if others read it or stand in between, who would need the room.
std::vector<std::size_t> chainFrom(const Graph& graph, const std::vector<Expected<MappedOperator>>& mapped,
                                   const Readers& readers, std::size_t from) {
    std::vector<std::size_t> chain{from};
    while (true) {
        const Operator& op = graph.operators[chain.back()];
        if (op.outputs.size() != 1 || op.outputs.front() < 0) return {};
        const TensorId id = op.outputs.front();
        if (readers.count[static_cast<std::size_t>(id)] != 1) return {};
        const std::size_t next = readers.last[static_cast<std::size_t>(id)];
        if (next <= chain.back() || graph.operators[next].repeat != op.repeat ||
            graph.operators[next].inputs.front() != id)
            return {};
        const auto between = std::any_of(graph.operators.begin() + static_cast<std::ptrdiff_t>(chain.back()) + 1,
                                         graph.operators.begin() + static_cast<std::ptrdiff_t>(next),
                                         [](const Operator& o) { return o.kind != OperatorKind::View; });
        if (between) return {};
        chain.push_back(next);
        if (mapped[next]) return chain;
        if (!inPlace(graph.operators[next], graph)) return {};
    }
}

double bytesOf(const Graph& graph, TensorId id) {
    return graph.tensors[static_cast<std::size_t>(id)].bytes().value;
}

}  // namespace

std::vector<FusedOperator> fuseChains(const Graph& graph, const std::vector<Expected<MappedOperator>>& mapped) {
    const std::size_t count = graph.operators.size();
    const Readers readers = readersOf(graph);
    std::vector<bool> inputOnChip(count, false), outputOnChip(count, false);
    for (std::size_t i = 0; i < count; ++i) {
        if (!mapped[i] || mapped[i]->hardware.levels.size() < 2) continue;
        const auto chain = chainFrom(graph, mapped, readers, i);
        if (chain.empty()) continue;
        const Operator& op = graph.operators[i];
        const std::size_t level = mapped[i]->hardware.levels.size() - 2;
        const NestLevel& storage = mapped[i]->hardware.levels[level];
        const auto wordsOf = [&](TensorId id) {
            return graph.tensors[static_cast<std::size_t>(id)].elements() /
                   static_cast<double>(std::max<std::int64_t>(storage.instances, 1));
        };
        // What the producer reads from the chip already takes room there as well.
        const double held = inputOnChip[i] ? wordsOf(op.inputs.front()) : 0;
        const double taken = std::max(tiles(*mapped[i], level) + held, tiles(*mapped[chain.back()], level));
        if (wordsOf(op.outputs.front()) + taken > storage.capacityWords / std::max(storage.multipleBuffering, 1.0))
            continue;
        for (std::size_t at = 0; at + 1 < chain.size(); ++at) {
            outputOnChip[chain[at]] = true;
            inputOnChip[chain[at + 1]] = true;
        }
    }
    std::vector<FusedOperator> result(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (mapped[i]) {
            result[i] = relieve(*mapped[i], inputOnChip[i], outputOnChip[i]);
        } else if (inputOnChip[i]) {
            const Operator& op = graph.operators[i];
            result[i] = {.savedBytes = bytesOf(graph, op.inputs.front()) + bytesOf(graph, op.outputs.front()),
                         .inputOnChip = true,
                         .outputOnChip = true};
        }
    }
    return result;
}

CostTable relievedCosts(const Graph& graph, CostTable costs, const std::vector<FusedOperator>& fused) {
    for (std::size_t i = 0; i < fused.size(); ++i) {
        const Operator& op = graph.operators[i];
        if (fused[i].inputOnChip)
            costs.inputBytes[i] = std::max(0.0, costs.inputBytes[i] - bytesOf(graph, op.inputs.front()));
        if (fused[i].outputOnChip)
            costs.outputBytes[i] = std::max(0.0, costs.outputBytes[i] - bytesOf(graph, op.outputs.front()));
    }
    return costs;
}

}  // namespace orrery
