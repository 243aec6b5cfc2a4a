#include "workload/what_if_costs.h"

#include <map>

namespace orrery {

std::vector<double> numbers(const Operator& op, std::string_view attribute) {
    const auto found = op.attributes.find(attribute);
    if (found == op.attributes.end()) return {};
    const auto* values = std::get_if<std::vector<double>>(&found->second);
    return values ? *values : std::vector<double>{};
}

bool hasWhatIfShape(const Operator& op) {
    const auto from = op.attributes.lower_bound("what_if_");
    return from != op.attributes.end() &&
           (from->first.starts_with(outputShapeAttribute) || from->first.starts_with(inputShapeAttribute));
}

Reshaped reshaped(const Operator& op, const Graph& graph) {
    Reshaped result{op, {}};
    std::erase_if(result.op.attributes, [](const auto& attribute) {
        return attribute.first.starts_with(outputShapeAttribute) || attribute.first.starts_with(inputShapeAttribute);
    });
    std::map<TensorId, TensorId> copies;
    const auto take = [&](std::vector<TensorId>& ids, std::string_view prefix) {
        for (std::size_t k = 0; k < ids.size(); ++k) {
            const Tensor* tensor = graph.tensor(ids[k]);
            if (!tensor) continue;
            const auto [place, fresh] = copies.emplace(ids[k], -1);
            if (fresh) place->second = result.graph.addTensor(*tensor);
            ids[k] = place->second;
            const auto extents = op.integers(std::string(prefix) + std::to_string(k));
            if (!op.attributes.contains(std::string(prefix) + std::to_string(k))) continue;
            Tensor& own = result.graph.tensors[static_cast<std::size_t>(ids[k])];
            own.shape.assign(extents.begin(), extents.end());
            own.ranked = true;
        }
    };
    take(result.op.inputs, inputShapeAttribute);
    take(result.op.outputs, outputShapeAttribute);
    return result;
}

}  // namespace orrery
