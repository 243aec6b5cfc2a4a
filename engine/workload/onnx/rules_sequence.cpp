// Sequences and optionals. A sequence only refers to its tensors, so these are views; the tensors' bytes count where
// they are split or joined.

#include "workload/onnx/axes.h"
#include "workload/onnx/rules.h"

namespace orrery::onnx_import {
namespace {

using Form = Value::Form;

/// What is known of an element that may be either of two.
void merge(Value& into, const Value& other) {
    if (!into.ranked || !other.ranked || into.extents.size() != other.extents.size()) {
        into.ranked = false;
        into.extents.clear();
        return;
    }
    for (std::size_t i = 0; i < into.extents.size(); ++i) {
        if (into.extents[i] != other.extents[i]) into.extents[i] = unknown;
    }
}

void construct(RuleContext& context) {
    context.like(0, 0);
    Value& out = context.out[0];
    out.form = Form::Sequence;
    out.length = static_cast<std::int64_t>(context.in.size());
    for (const Value* value : context.in) {
        if (value) merge(out, *value);
    }
}

void empty(RuleContext& context) {
    Value& out = context.out[0];
    const auto type = elementType(static_cast<int>(context.node.integer("dtype", 1)));
    out.type = type == ElementType::Undefined ? ElementType::Float : type;
    out.form = Form::Sequence;
    out.length = 0;
}

void insert(RuleContext& context) {
    context.like(0, 0);
    Value& out = context.out[0];
    out.form = Form::Sequence;
    const Value *sequence = context.input(0), *element = context.input(1);
    if (!sequence || !element) return;
    if (sequence->length == 0) {
        out.type = element->type;
        out.ranked = element->ranked;
        out.extents = element->extents;
    } else {
        merge(out, *element);
    }
    out.length = sequence->length < 0 ? unknown : sequence->length + 1;
}

void erase(RuleContext& context) {
    context.like(0, 0);
    Value& out = context.out[0];
    out.form = Form::Sequence;
    if (out.length == 0) {
        context.contradict("an empty sequence has nothing to erase", "a sequence with elements");
        return;
    }
    if (out.length > 0) --out.length;
}

void at(RuleContext& context) {
    context.like(0, 0);
    context.out[0].form = Form::Tensor;
    context.out[0].length = unknown;
}

void length(RuleContext& context) {
    setScalar(context, 0, ElementType::Int64);
    const Value* sequence = context.input(0);
    if (!sequence || sequence->length < 0) return;
    context.shapeOnly = true;
    auto data = std::make_shared<Data>();
    data->ints = {sequence->length};
    context.out[0].data = std::move(data);
}

void splitToSequence(RuleContext& context) {
    context.like(0, 0);
    Value& out = context.out[0];
    out.form = Form::Sequence;
    const Value *x = context.shaped(0), *split = context.input(1);
    if (!x) return;
    const auto axis = context.axis(context.node.integer("axis", 0), x->rank());
    if (!axis) return;
    const std::int64_t whole = x->extents[*axis];
    if (!split) {
        out.length = whole;
        if (context.node.integer("keepdims", 1) == 0) {
            out.extents.erase(out.extents.begin() + static_cast<std::ptrdiff_t>(*axis));
        } else {
            out.extents[*axis] = 1;
        }
        return;
    }
    out.extents[*axis] = unknown;
    const auto* sizes = split->integers();
    if (!sizes || sizes->empty()) return;
    bool equal = true;
    for (const std::int64_t size : *sizes) equal = equal && size == sizes->front() && size > 0;
    if (split->shaped() && split->rank() == 0) {
        if (!equal || whole < 0) return;
        out.length = (whole + sizes->front() - 1) / sizes->front();
        if (whole % sizes->front() == 0) out.extents[*axis] = sizes->front();
    } else {
        out.length = static_cast<std::int64_t>(sizes->size());
        if (equal) out.extents[*axis] = sizes->front();
    }
}

void concatFromSequence(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* sequence = context.input(0);
    if (!sequence || !sequence->ranked) return;
    const bool fresh = context.node.integer("new_axis", 0) != 0;
    const auto axis = context.axis(context.node.integer("axis", 0), sequence->rank() + (fresh ? 1 : 0));
    if (!axis) return;
    Extents result = sequence->extents;
    if (fresh) {
        result.insert(result.begin() + static_cast<std::ptrdiff_t>(*axis), sequence->length);
    } else {
        std::int64_t& extent = result[*axis];
        if (extent < 0 || sequence->length < 0 || __builtin_mul_overflow(extent, sequence->length, &extent)) {
            extent = unknown;
        }
    }
    context.set(0, sequence->type, std::move(result));
}

void hasElement(RuleContext& context) {
    setScalar(context, 0, ElementType::Bool);
}

/// Of an optional without a value, the type attribute tells what it could hold.
void optional(RuleContext& context) {
    if (context.input(0)) return context.like(0, 0);
    const auto* type = context.node.attribute("type");
    if (!type || !type->has_tp()) return;
    const auto& held = type->tp();
    const bool sequence = held.has_sequence_type();
    const auto& tensor = sequence ? held.sequence_type().elem_type().tensor_type() : held.tensor_type();
    context.out[0].type = elementType(tensor.elem_type());
    if (sequence) context.out[0].form = Form::Sequence, context.out[0].length = 0;
}

}  // namespace

std::vector<RuleRow> sequenceRules() {
    constexpr auto view = OperatorKind::View;
    constexpr auto movement = OperatorKind::Movement;
    return {{"SequenceConstruct", construct, view},
            {"SequenceEmpty", empty, view},
            {"SequenceInsert", insert, view},
            {"SequenceErase", erase, view},
            {"SequenceAt", at, view},
            {"SequenceLength", length, view},
            {"SplitToSequence", splitToSequence, movement},
            {"ConcatFromSequence", concatFromSequence, movement},
            {"Optional", optional, view},
            {"OptionalGetElement", sameAsFirst, view},
            {"OptionalHasElement", hasElement, view}};
}

}  // namespace orrery::onnx_import
