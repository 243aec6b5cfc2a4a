#include "methods/answer/traffic.h"

#include "methods/model/launches.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

// Keeps tiles of the face x·y, streams z: returns how often the faces z·y and z·x are read.
struct Passes {
    double overX = 1, overY = 1;
};
Passes passes(double x, double y, double elements) {
    double tx = std::min(x, std::sqrt(elements));
    const double ty = std::min(y, elements / tx);
    tx = std::min(x, elements / ty);
    return {std::max(1.0, x / std::max(tx, 1.0)), std::max(1.0, y / std::max(ty, 1.0))};
}

double attentionTraffic(const AttentionShape& s, DType type, double compulsory, double inner) {
    const double element = bits(type) / 8.0;
    const double width = static_cast<double>(s.headDim + s.valueDim);
    const double keyValueBytes =
        static_cast<double>(s.batch) * static_cast<double>(s.kvHeads) * static_cast<double>(s.keys) * width * element;
    const double queriesPerHead = static_cast<double>(s.queries) * static_cast<double>(s.heads) /
                                  static_cast<double>(std::max<std::int64_t>(1, s.kvHeads));
    const double block = std::max(1.0, inner / (width * element));
    const double extraPasses = std::max(1.0, queriesPerHead / block) - 1;
    return compulsory + extraPasses * keyValueBytes * (s.causal && s.queries == s.keys ? 0.5 : 1.0);
}

// What feeds the units of one core is its own part of a replicated level.
double reachable(const MemoryLevel& level) {
    return level.capacity.value / static_cast<double>(std::max<std::int64_t>(1, level.instances));
}

// `fused`: what a product's kernel reads beyond its operands is read once, however the product is tiled.
double operatorTraffic(const Graph& graph, const CostTable& costs, std::size_t i, double inner, bool fused) {
    const double compulsory = costs.bytes(i);
    if (inner <= 0) return compulsory;
    if (costs.kind[i] == OperatorKind::Attention && i < graph.operators.size()) {
        const auto& shape = graph.operators[i].attention;
        return shape ? attentionTraffic(*shape, costs.type[i], compulsory, inner) : compulsory;
    }
    const auto& g = costs.gemm[i];
    if (g.m <= 0 || g.n <= 0 || g.k <= 0) return compulsory;
    double a = costs.inputBytes[i];
    double b = costs.weightBytes[i] + costs.kvReadBytes[i];
    if (b <= 0) {  // both operands are activations
        const double share = g.m / (g.m + g.n);
        b = a * (1 - share);
        a *= share;
    }
    const double c = costs.outputBytes[i] + costs.kvWriteBytes[i];
    double once = costs.scratchBytes[i];
    if (fused) {
        const double beside = std::max(0.0, a - g.batch * g.m * g.k * bits(costs.type[i]) / 8.0);
        once += beside;
        a -= beside;
    }
    return once + productTraffic(g, a, b, c, std::max(1, bits(costs.type[i])) / 8.0, inner);
}

}  // namespace

double productTraffic(const GemmShape& shape, double a, double b, double c, double element, double inner) {
    const double elements = std::max(1.0, inner / element);
    const double all = a + b + c;
    // Faces in the order of operands: keep C (stream k), keep B (stream m), keep A (stream n).
    const auto keepC = passes(shape.m, shape.n, elements);
    double best = c + b * keepC.overX + a * keepC.overY;
    const auto keepB = passes(shape.n, shape.k, elements);
    best = std::min(best, b + a * keepB.overX + c * (2 * keepB.overY - 1));
    const auto keepA = passes(shape.m, shape.k, elements);
    best = std::min(best, a + b * keepA.overX + c * (2 * keepA.overY - 1));
    return std::max(best, all);
}

void findOnChipReuse(const Graph& graph, const CostTable& costs, std::span<const std::int32_t> leader, double capacity,
                     std::vector<double>& savedRead, std::vector<double>& savedWrite) {
    const auto rows = costs.size();
    savedRead.assign(rows, 0);
    savedWrite.assign(rows, 0);
    if (capacity <= 0 || graph.operators.size() != rows) return;

    struct Made {
        std::int32_t by = -1;
        bool kept = true;  // so far every reader has found it
        bool read = false;
        double before = 0;     // bytes touched when it was complete
        double lastTouch = 0;  // bytes touched at its last use
    };
    std::vector<Made> made(graph.tensors.size());
    const bool fused = !leader.empty();
    const auto roots = fused ? viewRoots(graph) : std::vector<TensorId>();
    const auto groupOf = [&](std::size_t i) { return fused ? static_cast<std::size_t>(leader[i]) : i; };
    double touched = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        const auto& op = graph.operators[i];
        if (fused && op.kind == OperatorKind::View) continue;
        const std::size_t group = groupOf(i);
        double found = 0;
        for (const auto input : op.inputs) {
            if (input < 0) continue;
            const auto id = fused ? roots[static_cast<std::size_t>(input)] : input;
            auto& tensor = made[static_cast<std::size_t>(id)];
            if (tensor.by < 0 || (fused && static_cast<std::size_t>(tensor.by) == group)) continue;
            tensor.read = true;
            // Between repetitions of a folded block the order of operators is the stored one, so distances hold.
            const bool sameBlock = graph.operators[static_cast<std::size_t>(tensor.by)].repeat == op.repeat;
            const double size = graph.tensors[static_cast<std::size_t>(id)].bytes().value;
            if (sameBlock && touched - tensor.lastTouch + size <= capacity) {
                found += size;
                tensor.lastTouch = touched + costs.bytes(i);
            } else {
                tensor.kept = false;
            }
        }
        savedRead[group] = std::min(savedRead[group] + found, costs.inputBytes[group]);
        touched += costs.bytes(i);
        for (const auto id : op.outputs) {
            if (id < 0) continue;
            const auto role = graph.tensors[static_cast<std::size_t>(id)].role;
            if (role == TensorRole::Activation) {
                made[static_cast<std::size_t>(id)] = {static_cast<std::int32_t>(group), true, false, touched};
            }
        }
    }
    for (std::size_t id = 0; id < made.size(); ++id) {
        const auto& tensor = made[id];
        if (tensor.by < 0 || !tensor.kept || !tensor.read) continue;
        auto& saved = savedWrite[static_cast<std::size_t>(tensor.by)];
        const double limit = costs.outputBytes[static_cast<std::size_t>(tensor.by)];
        saved = std::min(saved + graph.tensors[id].bytes().value, limit);
    }
}

std::vector<std::vector<double>> levelTraffic(const Workload& workload, const DeviceView& device) {
    return levelTraffic(workload.graph, workload.costs, {}, device);
}

std::vector<std::vector<double>> levelTraffic(const Graph& graph, const CostTable& costs,
                                              std::span<const std::int32_t> leader, const DeviceView& device) {
    const auto rows = costs.size();
    const auto depth = device.levels.size();
    std::vector<std::vector<double>> traffic(depth, std::vector<double>(rows));
    for (std::size_t l = 0; l < depth; ++l) {
        // The innermost level has nothing inside it that we know: it is charged with what enters it.
        const double inner = l + 1 < depth ? reachable(device.levels[l + 1]) : 0;
        for (std::size_t i = 0; i < rows; ++i) {
            const double bytes = operatorTraffic(graph, costs, i, inner, !leader.empty());
            traffic[l][i] = l == 0 ? bytes : std::max(bytes, traffic[l - 1][i]);
        }
    }
    if (depth > 1 && device.levels[1].instances == 1) {
        std::vector<double> savedRead;
        std::vector<double> savedWrite;
        findOnChipReuse(graph, costs, leader, device.levels[1].capacity.value, savedRead, savedWrite);
        for (std::size_t i = 0; i < rows; ++i) {
            traffic[0][i] = std::max(0.0, traffic[0][i] - savedRead[i] - savedWrite[i]);
        }
    }
    return traffic;
}

}  // namespace orrery
