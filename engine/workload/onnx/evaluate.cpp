#include "workload/onnx/evaluate.h"

#include <algorithm>

namespace orrery::onnx_import {

std::vector<std::size_t> stridesOf(const Extents& extents) {
    std::vector<std::size_t> strides(extents.size(), 1);
    for (std::size_t i = extents.size(); i-- > 1;) {
        strides[i - 1] = strides[i] * static_cast<std::size_t>(extents[i]);
    }
    return strides;
}

std::vector<std::size_t> broadcastPositions(const Extents& from, const Extents& to) {
    const auto total = static_cast<std::size_t>(count(to).value_or(0));
    std::vector<std::size_t> positions(total);
    if (total == 0) return positions;
    const std::vector<std::size_t> strides = stridesOf(from);
    std::vector<std::size_t> step(to.size(), 0);
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (from[i] != 1) step[to.size() - from.size() + i] = strides[i];
    }
    std::vector<std::int64_t> index(to.size(), 0);
    std::size_t at = 0;
    for (std::size_t i = 0; i < total; ++i) {
        positions[i] = at;
        for (std::size_t d = to.size(); d-- > 0;) {
            at += step[d];
            if (++index[d] < to[d]) break;
            at -= step[d] * static_cast<std::size_t>(to[d]);
            index[d] = 0;
        }
    }
    return positions;
}

std::size_t evaluate(RuleContext& context) {
    if (context.out.empty()) return 0;
    for (const Value* value : context.in) {
        if (value && (!value->data || !value->known())) return 0;
    }
    std::size_t total = 0;
    for (const Value& out : context.out) {
        if (out.data || !out.shaped() || !out.known()) return 0;
        const auto elements = count(out.extents);
        if (!elements || *elements > static_cast<std::int64_t>(largestData)) return 0;
        total += static_cast<std::size_t>(*elements);
    }
    const std::string_view type = context.node.type();
    const Domain domain = context.node.domain();
    if (domain != Domain::Standard && domain != Domain::Microsoft) return 0;
    if (!isInteger(context.out[0].type) && !isFloating(context.out[0].type)) return 0;
    if (!evaluateMovement(context, type) && !evaluateArithmetic(context, type)) return 0;
    for (Value& out : context.out) {
        // whatever an evaluator says must be what the rule says
        if (out.data && static_cast<std::int64_t>(out.data->size()) != count(out.extents)) out.data = nullptr;
    }
    return total;
}

}  // namespace orrery::onnx_import
