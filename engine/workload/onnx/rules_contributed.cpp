// Other operators of com.microsoft, as onnxruntime's docs/ContribOperators.md describes them.

#include "workload/onnx/rules.h"

namespace orrery::onnx_import {
namespace {

/// Trilu of the domain, pads and unique variants take the standard rules; these differ.
void expandDims(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    const auto* axis = context.elements(1);
    if (!x || !axis || axis->size() != 1) return;
    const auto at = context.axis(axis->front(), x->rank() + 1);
    if (!at) return;
    Extents result = x->extents;
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(*at), 1);
    context.set(0, x->type, std::move(result));
}

void relativeBias(RuleContext& context) {
    const Value* table = context.shaped(0);
    context.setType(0, context.type(0));
    const auto *rows = context.elements(1), *columns = context.elements(2);
    if (!table || table->rank() != 2) return;
    const auto extent = [](const std::vector<std::int64_t>* list) {
        return list && list->size() == 1 && list->front() >= 0 ? list->front() : unknown;
    };
    context.set(0, table->type, {1, table->extents[1], extent(rows), extent(columns)});
}

/// Weights in blocks of 4 or 8 bits, gathered back as floats: data is packed two to a byte.
void gatherBlockQuantized(RuleContext& context) {
    const Value *x = context.shaped(0), *index = context.shaped(1);
    context.setType(0, context.type(2));
    if (!x || !index || x->rank() != 2) return;
    const std::int64_t perElement = context.node.integer("bits", 4) == 4 && bitsOf(x->type) == 8 ? 2 : 1;
    Extents result = index->extents;
    result.push_back(x->extents[1] < 0 ? unknown : x->extents[1] * perElement);
    context.set(0, context.type(2), std::move(result));
}

}  // namespace

std::vector<RuleRow> contributedRules() {
    constexpr auto ms = Domain::Microsoft;
    return {{"ExpandDims", expandDims, OperatorKind::View, ms},
            {"RelativePositionBias", relativeBias, OperatorKind::Gather, ms},
            {"GatherBlockQuantized", gatherBlockQuantized, OperatorKind::Gather, ms},
            {"MoE", sameAsFirst, OperatorKind::Other, ms},
            {"QMoE", sameAsFirst, OperatorKind::Other, ms},
            {"Inverse", sameAsFirst, OperatorKind::Other, ms}};
}

}  // namespace orrery::onnx_import
