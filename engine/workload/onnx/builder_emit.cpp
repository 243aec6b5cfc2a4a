#include "workload/onnx/builder.h"
#include "workload/operator_types.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::onnx_import {
namespace {

OperatorKind kindOf(const Node& node, const RuleRow* row) {
    if (!row) return OperatorKind::Other;
    const OperatorType* known = node.domain() == Domain::Classic ? nullptr : operatorType(node.type());
    return known ? known->kind : row->kind;
}

/// What an attribute says, for those that are numbers or words.
std::optional<OperatorAttribute> plainAttribute(const ::onnx::AttributeProto& attribute) {
    constexpr int most = 4096;  // longer lists are data (trees, vocabularies), not settings
    if (attribute.ints_size() > most || attribute.floats_size() > most || attribute.strings_size() > most)
        return std::nullopt;
    switch (attribute.type()) {
        case ::onnx::AttributeProto::INT:
            return attribute.i();
        case ::onnx::AttributeProto::FLOAT:
            return static_cast<double>(attribute.f());
        case ::onnx::AttributeProto::STRING:
            return attribute.s();
        case ::onnx::AttributeProto::INTS:
            return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
        case ::onnx::AttributeProto::FLOATS:
            return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
        case ::onnx::AttributeProto::STRINGS:
            return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
        default:
            break;
    }
    // old files leave the type out
    if (attribute.ints_size() > 0) return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
    if (attribute.has_i()) return attribute.i();
    if (attribute.has_f()) return static_cast<double>(attribute.f());
    if (attribute.has_s()) return attribute.s();
    return std::nullopt;
}

}  // namespace

bool isParameterSlot(std::string_view type, std::size_t slot) {
    if (type == "MatMul" || type == "FusedMatMul") return slot < 2;
    if (type == "Conv" || type == "ConvTranspose" || type == "Gemm" || type == "FusedConv" || type == "FusedGemm") {
        return slot == 1 || slot == 2;
    }
    if (type == "MatMulInteger" || type == "ConvInteger" || type == "PRelu") return slot == 1;
    if (type == "DequantizeLinear" || type == "Gather" || type == "GatherBlockQuantized") return slot == 0;
    if (type == "MatMulNBits") return slot >= 1;
    if (type == "QLinearConv") return slot == 3 || slot == 8;
    if (type == "QLinearMatMul" || type == "QGemm") return slot == 3;
    if (type == "LSTM" || type == "GRU" || type == "RNN") return slot >= 1 && slot <= 3;
    if (type == "BatchNormalization") return slot >= 1 && slot <= 4;
    return type.ends_with("Normalization") && (slot == 1 || slot == 2);
}

std::string Builder::uniqueName(const std::string& wanted) {
    auto [used, fresh] = names_.emplace(wanted, 1);
    if (fresh) return wanted;
    for (;;) {
        std::string name = fmt::format("{}_{}", wanted, ++used->second);
        if (names_.emplace(name, 1).second) return name;
    }
}

TensorId Builder::tensorOf(ValueId id, bool parameterSlot) {
    Value& from = value(id);
    const bool scalar = count(from.extents) == 1;
    const bool stored = from.origin == Value::Origin::Stored;
    const bool weight = from.constant && (stored ? parameterSlot || (isFloating(from.type) && !scalar)
                                                 : parameterSlot && from.type != ElementType::Int64 && !scalar);
    if (from.tensor >= 0) {
        Tensor& made = graph_.tensors[static_cast<std::size_t>(from.tensor)];
        if (weight && made.role == TensorRole::Constant) made.role = TensorRole::Weight;
        return from.tensor;
    }
    Tensor tensor;
    tensor.name = from.name;
    tensor.type = dtypeOf(from.type);
    tensor.bytesPerElement = bytesPerElement(from.type);
    tensor.ranked = from.ranked;
    if (from.form != Value::Form::Tensor && from.ranked) {  // a sequence is as large as all its elements
        tensor.shape.push_back(from.length >= 0 ? Dim(from.length) : Dim());
    }
    for (const std::int64_t extent : from.extents) tensor.shape.push_back(extent >= 0 ? Dim(extent) : Dim());
    tensor.role = weight                                ? TensorRole::Weight
                  : from.constant                       ? TensorRole::Constant
                  : from.origin == Value::Origin::Input ? TensorRole::Input
                                                        : TensorRole::Activation;
    from.tensor = graph_.addTensor(std::move(tensor));
    named_.push_back(id);
    return from.tensor;
}

void Builder::emit(const Node& node, RuleContext& context, const RuleRow* row, const std::string& name,
                   const Frame& frame, const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs) {
    Operator op;
    op.name = uniqueName(name);
    op.type = node.proto().op_type();
    op.kind = kindOf(node, row);
    op.repeat = frame.repeat;
    op.weightCopies = frame.repeat > 1 ? 1 : 0;  // every iteration reads the same weights
    op.attention = context.attention;
    for (const auto& given : node.proto().attribute()) {
        const auto* attribute = node.attribute(given.name());
        if (!attribute) continue;
        if (auto plain = plainAttribute(*attribute)) op.attributes[given.name()] = std::move(*plain);
    }
    for (auto& [key, attribute] : context.attributes) op.attributes[key] = std::move(attribute);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        op.inputs.push_back(inputs[i] == absent ? -1 : tensorOf(inputs[i], isParameterSlot(op.type, i)));
    }
    for (const ValueId id : outputs) op.outputs.push_back(id == absent ? -1 : tensorOf(id, false));
    for (const int slot : context.cacheInputs) {
        const auto at = static_cast<std::size_t>(slot);
        if (at >= op.inputs.size() || op.inputs[at] < 0) continue;
        Tensor& cache = graph_.tensors[static_cast<std::size_t>(op.inputs[at])];
        if (cache.role == TensorRole::Input) cache.role = TensorRole::KvCache;
    }
    for (const auto& [slot, extents] : context.stored) {  // packed weights, seen as what they stand for
        const auto at = static_cast<std::size_t>(slot);
        if (at >= inputs.size() || inputs[at] == absent) continue;
        Tensor& packed = graph_.tensors[static_cast<std::size_t>(op.inputs[at])];
        const double bytes = packed.bytes().value, elements = static_cast<double>(count(extents).value_or(0));
        const std::int64_t width = node.integer("bits", 4);
        packed.shape.clear();
        for (const std::int64_t extent : extents) packed.shape.emplace_back(extent);
        packed.type = width <= 4 ? DType::I4 : DType::I8;
        packed.bytesPerElement = elements > 0 && bytes > 0 ? bytes / elements : static_cast<double>(width) / 8;
    }
    if (context.projection) {
        const Projection& fused = *context.projection;
        Operator product;
        product.name = uniqueName(op.name + "/projection");
        product.type = "MatMul";
        product.kind = OperatorKind::MatMul;
        product.repeat = op.repeat;
        product.weightCopies = op.weightCopies;
        for (const int slot : {fused.input, fused.weight, fused.bias}) {
            if (slot < 0) continue;
            const ValueId id = inputs[static_cast<std::size_t>(slot)];
            product.inputs.push_back(tensorOf(id, slot != fused.input));
            if (slot != fused.input) op.inputs[static_cast<std::size_t>(slot)] = -1;
        }
        Value result;
        result.name = op.name + "/projected";
        result.type = context.type(0);
        result.ranked = true;
        result.extents = fused.result;
        const TensorId made = tensorOf(add(std::move(result)), false);
        product.outputs = {made};
        op.inputs[static_cast<std::size_t>(fused.input)] = made;
        graph_.operators.push_back(std::move(product));
    }
    graph_.operators.push_back(std::move(op));
}

void Builder::rollBack(const Mark& mark) {
    graph_.operators.resize(mark.operators);
    graph_.tensors.resize(mark.tensors);
    while (named_.size() > mark.named) {
        value(named_.back()).tensor = -1;
        named_.pop_back();
    }
    if (warnings_.size() > mark.warnings)
        warnings_.erase(warnings_.begin() + static_cast<std::ptrdiff_t>(mark.warnings), warnings_.end());
}

}  // namespace orrery::onnx_import
