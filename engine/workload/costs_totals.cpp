#include "workload/costs.h"

#include <algorithm>

namespace orrery {
namespace {

bool activation(const Tensor& tensor) {
    return tensor.role == TensorRole::Activation || tensor.role == TensorRole::Input ||
           tensor.role == TensorRole::Output;
}

/// The tensor whose memory each tensor uses: a view shares its input's.
std::vector<TensorId> storage(const Graph& graph) {
    std::vector<TensorId> root(graph.tensors.size());
    for (std::size_t i = 0; i < root.size(); ++i) root[i] = static_cast<TensorId>(i);
    for (const Operator& op : graph.operators) {
        if (op.kind != OperatorKind::View || op.inputs.empty() || !graph.tensor(op.inputs[0])) continue;
        const TensorId from = root[static_cast<std::size_t>(op.inputs[0])];
        if (!activation(*graph.tensor(from))) continue;
        for (const TensorId id : op.outputs) {
            if (graph.tensor(id)) root[static_cast<std::size_t>(id)] = from;
        }
    }
    return root;
}

/// The largest sum of live activations: inputs from the start, others from where they are made, until their last
/// reader; outputs to the end. A folded block stands for one repetition, since the next reuses its memory, unless
/// activations are kept.
double peakActivations(const Graph& graph, const CostTable& table) {
    const std::vector<TensorId> root = storage(graph);
    const std::size_t count = graph.operators.size();
    std::vector<std::size_t> born(graph.tensors.size(), count + 1), dies(graph.tensors.size(), 0);
    std::vector<double> copies(graph.tensors.size(), 1);
    const auto at = [&root](TensorId id) { return static_cast<std::size_t>(root[static_cast<std::size_t>(id)]); };
    for (std::size_t i = 0; i < count; ++i) {
        const Operator& op = graph.operators[i];
        for (const TensorId id : op.inputs) {
            if (!graph.tensor(id)) continue;
            const std::size_t slot = at(id);
            if (born[slot] > count) born[slot] = 0;  // nobody makes it: an input
            dies[slot] = std::max(dies[slot], i);
        }
        for (const TensorId id : op.outputs) {
            if (!graph.tensor(id)) continue;
            const std::size_t slot = at(id);
            if (born[slot] > count) {
                born[slot] = i;
                dies[slot] = std::max(dies[slot], i);
                if (graph.keepsActivations) copies[slot] = static_cast<double>(op.repeat);
            }
        }
    }
    for (const TensorId id : graph.outputs) {
        if (graph.tensor(id) && count > 0) dies[at(id)] = count - 1;
    }
    std::vector<double> change(count + 1, 0);
    for (std::size_t slot = 0; slot < born.size(); ++slot) {
        if (born[slot] > count || count == 0 || !activation(graph.tensors[slot])) continue;
        const double bytes = graph.tensors[slot].bytes().value * copies[slot];
        change[born[slot]] += bytes;
        if (!graph.keepsActivations) change[dies[slot] + 1] -= bytes;
    }
    double live = 0, peak = 0;
    for (std::size_t i = 0; i < count; ++i) {
        live += change[i];
        // Scores and probabilities, of the four times that they are moved.
        peak = std::max(peak, live + table.scratchBytes[i] / 2);
    }
    return peak;
}

}  // namespace

CostTotals costTotals(const Graph& graph, const CostTable& table) {
    CostTotals totals;
    std::vector<double> copies(graph.tensors.size(), 0);
    for (std::size_t i = 0; i < table.size(); ++i) {
        const Operator& op = graph.operators[i];
        const double repeat = table.repeat[i];
        if (op.kind != OperatorKind::View) totals.operators += repeat;
        totals.macs += repeat * table.macs[i];
        totals.flops += repeat * table.flops[i];
        totals.weightBytesRead += repeat * table.weightBytes[i];
        totals.activationBytes += repeat * (table.inputBytes[i] + table.outputBytes[i] + table.scratchBytes[i]);
        const double stored = op.weightCopies > 0 ? static_cast<double>(op.weightCopies) : repeat;
        for (const auto* ids : {&op.inputs, &op.outputs}) {
            for (const TensorId id : *ids) {
                const Tensor* tensor = graph.tensor(id);
                if (!tensor) continue;
                // A recurrent state is overwritten, not appended to: its new value is the resident one.
                if (ids == &op.inputs && tensor->role == TensorRole::KvCache && op.integer("inPlaceState", 0)) continue;
                double& held = copies[static_cast<std::size_t>(id)];
                held = std::max(held, tensor->role == TensorRole::KvCache ? repeat : stored);
            }
        }
    }
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
        const Tensor& tensor = graph.tensors[i];
        const double bytes = copies[i] * tensor.bytes().value;
        switch (tensor.role) {
            case TensorRole::Weight:
                totals.parameters += copies[i] * tensor.elements();
                totals.weightBytes += bytes;
                break;
            case TensorRole::Constant:
                totals.weightBytes += bytes;
                break;
            case TensorRole::KvCache:
                totals.kvBytes += bytes;
                break;
            default:
                break;
        }
    }
    totals.peakActivationBytes = peakActivations(graph, table);
    totals.unresolved = static_cast<double>(graph.unresolved().size());
    return totals;
}

}  // namespace orrery
