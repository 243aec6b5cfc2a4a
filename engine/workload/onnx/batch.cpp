#include "workload/onnx/batch.h"

#include "workload/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::onnx_import {

namespace {

Diagnostic refused(std::string message, std::string where, const std::string& path) {
    return {Severity::Error,
            "onnx.batch",
            std::move(message),
            "operators whose outputs and work grow with the batch, or do not see it",
            "export the model with a symbolic batch (dynamic_axes in PyTorch), or leave the batch at 1",
            Place{path, 0, 0, std::move(where)}};
}

bool grows(double from, double to, std::int64_t batch) {
    const double tolerance = 1e-9 * std::max(1.0, to);
    return std::abs(to - from) <= tolerance || std::abs(to - from * static_cast<double>(batch)) <= tolerance;
}

double outputsOf(const Graph& graph, const Operator& op) {
    double elements = 0;
    for (const TensorId id : op.outputs)
        if (const Tensor* tensor = graph.tensor(id)) elements += tensor->elements();
    return elements;
}

double weightsOf(const Graph& graph, const Operator& op) {
    double elements = 0;
    for (const TensorId id : op.inputs)
        if (const Tensor* tensor = graph.tensor(id); tensor && tensor->role == TensorRole::Weight)
            elements += tensor->elements();
    return elements;
}

}  // namespace

std::optional<Diagnostic> batchProblem(const Graph& one, const Graph& many, std::int64_t batch,
                                       const std::string& path) {
    const CostTable before = costTable(one), after = costTable(many);
    const std::size_t both = std::min(before.size(), after.size());
    for (std::size_t i = 0; i < both; ++i) {
        const Operator& was = one.operators[i];
        const Operator& is = many.operators[i];
        const auto no = [&](const std::string& why) {
            return refused(fmt::format("the graph cannot take a batch of {}: {} `{}` {}", batch, is.type, is.name, why),
                           is.name, path);
        };
        if (was.name != is.name || was.type != is.type || was.repeat != is.repeat)
            return no("stands where a batch of 1 has another operator");
        if (!grows(outputsOf(one, was), outputsOf(many, is), batch))
            return no(
                fmt::format("makes {:.0f} elements where it made {:.0f}", outputsOf(many, is), outputsOf(one, was)));
        if (!grows(before.flops[i], after.flops[i], batch))
            return no(fmt::format("does {:.3g} times the work", after.flops[i] / before.flops[i]));
        if (weightsOf(one, was) != weightsOf(many, is)) return no("reads other weights");
    }
    if (one.operators.size() == many.operators.size()) return std::nullopt;
    const Graph& longer = one.operators.size() > both ? one : many;
    const Operator& extra = longer.operators[both];
    return refused(fmt::format("the graph cannot take a batch of {}: {} `{}` is there {}", batch, extra.type,
                               extra.name, &longer == &one ? "at a batch of 1 alone" : "only with it"),
                   extra.name, path);
}

Diagnostic refusedBatch(Diagnostic contradiction, std::int64_t batch) {
    if (contradiction.code == "onnx.batch") return contradiction;
    Diagnostic refusal = refused(fmt::format("the graph cannot take a batch of {}: `{}` holds a batch of 1 ({})", batch,
                                             contradiction.place.path, contradiction.message),
                                 contradiction.place.path, contradiction.place.file);
    return refusal;
}

}  // namespace orrery::onnx_import
