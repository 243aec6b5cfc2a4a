#include "workload/onnx/axes.h"

#include <fmt/format.h>

namespace orrery::onnx_import {

std::optional<Extents> listOf(const RuleContext& context, std::size_t slot, std::string_view name) {
    if (const Value* value = context.input(slot)) {
        const auto* elements = value->integers();
        if (!elements) return std::nullopt;
        for (const std::int64_t element : *elements) {
            if (element == unknownElement) return std::nullopt;
        }
        return *elements;
    }
    return context.node.integers(name);
}

std::optional<std::vector<bool>> markAxes(RuleContext& context, const Extents& axes, std::size_t rank) {
    std::vector<bool> marked(rank, false);
    for (const std::int64_t given : axes) {
        const auto axis = context.axis(given, rank);
        if (!axis) return std::nullopt;
        if (marked[*axis]) {
            context.contradict(fmt::format("axis {} is named twice", given), "each axis once");
            return std::nullopt;
        }
        marked[*axis] = true;
    }
    return marked;
}

}  // namespace orrery::onnx_import
