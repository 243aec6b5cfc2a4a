#include "workload/one_type.h"

#include "base/text/words.h"
#include "workload/kernel_parts.h"
#include "workload/what_if_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace orrery {
namespace {

bool computedWith(const Tensor* tensor) {
    if (!tensor) return false;
    switch (tensor->type) {
        case DType::F64:
        case DType::F32:
        case DType::TF32:
        case DType::BF16:
        case DType::F16:
        case DType::FP8:
        case DType::FP6:
        case DType::FP4:
            return true;
        default:
            return tensor->role == TensorRole::Weight && bits(tensor->type) <= 8;
    }
}

// By kinds also what a change has made integers of already.
std::set<OperatorKind> kindsWithNumbers(const Graph& graph) {
    std::set<OperatorKind> kinds;
    const auto any = [&](const std::vector<TensorId>& ids) {
        return std::ranges::any_of(ids, [&](TensorId id) { return computedWith(graph.tensor(id)); });
    };
    for (const Operator& op : graph.operators)
        if (op.attributes.contains(computeTypeAttribute) || any(op.inputs) || any(op.outputs)) kinds.insert(op.kind);
    return kinds;
}

bool isProduct(const Operator& op) {
    return op.kind == OperatorKind::MatMul || op.kind == OperatorKind::Conv || op.kind == OperatorKind::ConvTranspose;
}

/// Extents of a weight, the operand `slot` of its product, that one output sums over.
double reductionOf(const Operator& op, std::size_t slot, const Tensor& weight) {
    const Shape& shape = weight.shape;
    if (shape.size() < 2) return 1;
    if (op.kind == OperatorKind::MatMul) {
        // [M, K] or [K, N], unless transposed.
        const bool transposed = op.integer(slot == 0 ? "transA" : "transB", 0) != 0;
        return static_cast<double>(shape[shape.size() - ((slot == 0) != transposed ? 1 : 2)].value);
    }
    // [M, C / groups, …], or [C, M / groups, …] where transposed.
    const double outputs = op.kind == OperatorKind::Conv
                               ? static_cast<double>(shape[0].value)
                               : static_cast<double>(shape[1].value) *
                                     static_cast<double>(std::max<std::int64_t>(1, op.integer("group", 1)));
    return outputs > 0 ? weight.elements() / outputs : 1;
}

}  // namespace

std::vector<WhatIf> inOneType(const Graph& graph, std::vector<WhatIf> changes, std::optional<DType> type) {
    std::erase_if(changes, [](const WhatIf& change) { return std::holds_alternative<RetypeKind>(change); });
    if (!type) return changes;
    // Before what fuses operators, which makes several kinds one.
    std::vector<WhatIf> all;
    for (const OperatorKind kind : kindsWithNumbers(graph)) all.emplace_back(RetypeKind{kind, *type});
    all.insert(all.end(), changes.begin(), changes.end());
    return all;
}

std::optional<DType> oneTypeOf(const Graph& graph, std::span<const WhatIf> changes) {
    std::set<OperatorKind> open = kindsWithNumbers(graph);
    std::optional<DType> type;
    for (const WhatIf& change : changes) {
        const auto* retype = std::get_if<RetypeKind>(&change);
        if (!retype) continue;
        if (type && *type != retype->type) return std::nullopt;
        type = retype->type;
        open.erase(retype->kind);
    }
    return open.empty() ? type : std::nullopt;
}

std::vector<ProductWeight> productWeights(const Graph& graph) {
    // By tensor: what one output sums over; 0: no product reads it.
    std::vector<double> reduction(graph.tensors.size(), 0);
    std::vector<char> others(graph.tensors.size(), 0);
    for (const Operator& op : graph.operators) {
        const bool product = isProduct(op), matrix = op.kind == OperatorKind::MatMul;
        for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) {
            const TensorId id = op.inputs[slot];
            const Tensor* tensor = graph.tensor(id);
            if (!tensor || tensor->role != TensorRole::Weight) continue;
            if (product && (slot == 1 || (matrix && slot == 0)) && computedWith(tensor))
                reduction[static_cast<std::size_t>(id)] = std::max(1.0, reductionOf(op, slot, *tensor));
            else
                others[static_cast<std::size_t>(id)] = 1;
        }
    }
    std::vector<ProductWeight> all;
    for (std::size_t i = 0; i < reduction.size(); ++i)
        if (reduction[i] > 0 && !others[i]) all.push_back({static_cast<TensorId>(i), reduction[i]});
    return all;
}

void storeWeights(Graph& graph, std::span<const ProductWeight> weights, const NumberFormat& format) {
    std::set<TensorId> stored;
    for (const ProductWeight& each : weights) {
        Tensor& weight = graph.tensors[static_cast<std::size_t>(each.tensor)];
        weight.type = format.type;
        weight.bytesPerElement = storedBytesPerWeight(format, each.reduction);
        stored.insert(each.tensor);
    }
    const auto block = scaleBlock(format.scaling);
    if (!block) return;
    for (Operator& op : graph.operators)
        if (isProduct(op) && std::ranges::any_of(op.inputs, [&](TensorId id) { return stored.contains(id); }))
            op.attributes[std::string(scaleBlockAttribute)] = std::int64_t{*block};
}

std::size_t storeProductWeights(Graph& graph, std::span<const WhatIf> changes, const NumberFormat& format,
                                Diagnostics& warnings) {
    const auto isFusion = [](const WhatIf& change) { return std::holds_alternative<FuseOperators>(change); };
    const auto before = static_cast<std::size_t>(std::ranges::find_if(changes, isFusion) - changes.begin());
    const auto apply = [&](std::span<const WhatIf> some) {
        for (Diagnostic& each : applyWhatIfs(graph, some)) warnings.push_back(std::move(each));
    };
    apply(changes.first(before));
    // What is fused computes in the type that its parts have, and does not say any more which operand is a weight of
    // a product; a later retyping would take the weights with it.
    const std::vector<ProductWeight> weights = productWeights(graph);
    storeWeights(graph, weights, format);
    apply(changes.subspan(before));
    storeWeights(graph, weights, format);
    return weights.size();
}

bool hasOwnTypes(const std::string& source) {
    return lower(std::filesystem::path(source).extension().string()) == ".onnx";
}

Expected<void> checkWeights(const Workload& workload, const NumberFormat& asked) {
    const NumberFormat usual = WorkloadOptions{}.weightFormat();
    if (!hasOwnTypes(workload.recipe.source) || asked != usual) return {};
    // Products of that type have weights of no wider one; narrower ones are seen where none were asked for.
    bool same = true;
    for (std::size_t i = 0; i < workload.costs.size(); ++i)
        same = same && (!isProduct(workload.graph.operators[i]) || workload.costs.type[i] == usual.type);
    if (workload.recipe.options.weightFormat() == usual)
        for (const ProductWeight& each : productWeights(workload.graph))
            same = same && workload.graph.tensor(each.tensor)->type == usual.type;
    if (same) return {};
    return fail("workload.weights",
                fmt::format("weights of {} stand for the types in the ONNX file, which are others", toText(usual)),
                "another type for the weights, or the whole graph in it",
                "`bf16` has as many bits; or choose one type for the whole graph among the model's options");
}

}  // namespace orrery
