#include "workload/graph.h"

#include <array>
#include <cmath>
#include <set>

namespace orrery {

std::optional<double> elementCount(const Shape& shape) {
    double count = 1;
    for (const Dim& dim : shape) {
        if (!dim.known()) return std::nullopt;
        count *= static_cast<double>(dim.value);
    }
    if (!std::isfinite(count)) return std::nullopt;
    return count;
}

std::string toText(const Shape& shape) {
    if (shape.empty()) return "scalar";
    std::string text;
    for (const Dim& dim : shape) {
        if (!text.empty()) text += "×";
        text += dim.known() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
    }
    return text;
}

std::string_view toText(OperatorKind kind) {
    static constexpr std::array<std::string_view, operatorKindCount> names{
        "MatMul", "Conv",   "ConvTranspose", "Attention", "Elementwise", "Normalization", "Softmax", "Reduce",
        "Pool",   "Gather", "Scan",          "Movement",  "View",        "Routing",       "Other"};
    return names[static_cast<std::size_t>(kind)];
}

std::int64_t Operator::integer(std::string_view attribute, std::int64_t fallback) const {
    const auto found = attributes.find(attribute);
    if (found == attributes.end()) return fallback;
    const auto* value = std::get_if<std::int64_t>(&found->second);
    return value ? *value : fallback;
}

std::vector<std::int64_t> Operator::integers(std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    if (found == attributes.end()) return {};
    const auto* values = std::get_if<std::vector<std::int64_t>>(&found->second);
    return values ? *values : std::vector<std::int64_t>{};
}

std::string Operator::text(std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    if (found == attributes.end()) return {};
    const auto* value = std::get_if<std::string>(&found->second);
    return value ? *value : std::string{};
}

TensorId Graph::addTensor(Tensor tensor) {
    tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(tensors.size() - 1);
}

const Tensor* Graph::tensor(TensorId id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= tensors.size()) return nullptr;
    return &tensors[static_cast<std::size_t>(id)];
}

std::vector<std::string> Graph::symbols() const {
    std::set<std::string> names;
    for (const Tensor& tensor : tensors) {
        for (const Dim& dim : tensor.shape) {
            if (!dim.symbol.empty()) names.insert(dim.symbol);
        }
    }
    return {names.begin(), names.end()};
}

std::vector<std::size_t> Graph::unresolved() const {
    const auto unknown = [this](TensorId id) {
        const Tensor* found = tensor(id);
        return found && (!found->ranked || !elementCount(found->shape));
    };
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const Operator& op = operators[i];
        if (op.kind == OperatorKind::View) continue;
        bool open = false;
        for (const TensorId id : op.inputs) open = open || unknown(id);
        for (const TensorId id : op.outputs) open = open || unknown(id);
        if (open) found.push_back(i);
    }
    return found;
}

}  // namespace orrery
