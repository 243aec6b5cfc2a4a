#include "workload/onnx/rules.h"

namespace orrery::onnx_import {
namespace {

void quantize(RuleContext& context) {
    context.like(0, 0);
    const auto asked = elementType(static_cast<int>(context.node.integer("output_dtype", 0)));
    const ElementType zero = context.type(2);
    context.setType(0, zero != ElementType::Undefined    ? zero
                       : asked != ElementType::Undefined ? asked
                                                         : ElementType::UInt8);
}

void dequantize(RuleContext& context) {
    context.like(0, 0);
    const auto asked = elementType(static_cast<int>(context.node.integer("output_dtype", 0)));
    const ElementType scale = context.type(1);
    // a scale of powers of two (E8M0) is no type to compute in
    const bool usual = scale != ElementType::Undefined && scale != ElementType::Float8E8M0;
    context.setType(0, asked != ElementType::Undefined ? asked : usual ? scale : ElementType::Float);
}

void dynamicQuantize(RuleContext& context) {
    context.like(0, 0);
    context.setType(0, ElementType::UInt8);
    setScalar(context, 1, ElementType::Float);
    setScalar(context, 2, ElementType::UInt8);
}

/// Operands at the given slots broadcast; scales and zero points between them do not count.
void broadcastSlots(RuleContext& context, std::initializer_list<std::size_t> slots, std::size_t typeFrom) {
    context.setType(0, context.type(typeFrom));
    Extents result;
    for (const std::size_t slot : slots) {
        const Value* value = context.shaped(slot);
        if (!value) return;
        result = context.broadcast(result, value->extents);
    }
    context.set(0, context.type(typeFrom), std::move(result));
}

void qLinearBinary(RuleContext& context) {
    broadcastSlots(context, {0, 3}, 0);
}
void qLinearWhere(RuleContext& context) {
    broadcastSlots(context, {0, 1, 4}, 1);
}

}  // namespace

std::vector<RuleRow> quantizedRules() {
    constexpr auto kind = OperatorKind::Elementwise;
    constexpr auto ms = Domain::Microsoft;
    return {{"QuantizeLinear", quantize, kind},
            {"DequantizeLinear", dequantize, kind},
            {"DynamicQuantizeLinear", dynamicQuantize, kind},
            {"QLinearAdd", qLinearBinary, kind, ms},
            {"QLinearMul", qLinearBinary, kind, ms},
            {"QLinearWhere", qLinearWhere, kind, ms},
            {"QLinearSigmoid", sameAsFirst, kind, ms},
            {"QLinearLeakyRelu", sameAsFirst, kind, ms},
            {"QLinearSoftmax", sameAsFirst, OperatorKind::Softmax, ms}};
}

}  // namespace orrery::onnx_import
