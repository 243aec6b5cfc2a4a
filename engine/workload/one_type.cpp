#include "workload/one_type.h"

#include "base/text/words.h"
#include "workload/kernel_parts.h"
#include "workload/what_if_costs.h"

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

/// Extents of a weight that one output sums over.
double reductionOf(const Operator& op, const Tensor& weight) {
    const Shape& shape = weight.shape;
    if (shape.size() < 2) return 1;
    if (op.kind == OperatorKind::MatMul) {
        const bool transposed = op.integer("transB", 0) != 0;
        return static_cast<double>(shape[shape.size() - (transposed ? 1 : 2)].value);
    }
    const auto outputs = static_cast<double>(shape[op.kind == OperatorKind::Conv ? 0 : 1].value);
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

std::size_t storeProductWeights(Graph& graph, const NumberFormat& format) {
    // By tensor: the product that reads it; null: none, or something else reads it too.
    std::vector<const Operator*> reader(graph.tensors.size(), nullptr);
    std::vector<char> others(graph.tensors.size(), 0);
    for (const Operator& op : graph.operators) {
        for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) {
            const TensorId id = op.inputs[slot];
            const Tensor* tensor = graph.tensor(id);
            if (!tensor || tensor->role != TensorRole::Weight) continue;
            if (isProduct(op) && slot < 2 && computedWith(tensor))
                reader[static_cast<std::size_t>(id)] = &op;
            else
                others[static_cast<std::size_t>(id)] = 1;
        }
    }
    std::size_t stored = 0;
    std::set<const Operator*> scaled;
    for (std::size_t i = 0; i < reader.size(); ++i) {
        if (!reader[i] || others[i]) continue;
        Tensor& weight = graph.tensors[i];
        weight.type = format.type;
        weight.bytesPerElement = storedBytesPerWeight(format, reductionOf(*reader[i], weight));
        scaled.insert(reader[i]);
        ++stored;
    }
    const auto block = scaleBlock(format.scaling);
    if (!block) return stored;
    for (Operator& op : graph.operators)
        if (scaled.contains(&op)) op.attributes[std::string(scaleBlockAttribute)] = std::int64_t{*block};
    return stored;
}

bool hasOwnTypes(const std::string& source) {
    return lower(std::filesystem::path(source).extension().string()) == ".onnx";
}

}  // namespace orrery
