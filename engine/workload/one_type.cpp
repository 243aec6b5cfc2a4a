#include "workload/one_type.h"

#include "base/text/words.h"
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

bool hasOwnTypes(const std::string& source) {
    return lower(std::filesystem::path(source).extension().string()) == ".onnx";
}

}  // namespace orrery
