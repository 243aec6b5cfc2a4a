#include "workload/onnx/libonnx.h"

#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>

#include <exception>

namespace orrery::onnx_import {
namespace {

void describe(const Value& value, ::onnx::TypeProto& type) {
    auto* tensor = type.mutable_tensor_type();
    tensor->set_elem_type(static_cast<int>(value.type));
    if (!value.ranked) return;
    auto* shape = tensor->mutable_shape();
    for (const std::int64_t extent : value.extents) {
        auto* dim = shape->add_dim();
        if (extent >= 0) dim->set_dim_value(extent);
    }
}

class Context : public ::onnx::InferenceContext {
public:
    explicit Context(const RuleContext& rule) : rule_(rule), inputs_(rule.in.size()), data_(rule.in.size()) {
        outputs_.resize(rule.out.size());
        for (std::size_t i = 0; i < rule.in.size(); ++i) {
            if (!rule.in[i]) continue;
            describe(*rule.in[i], inputs_[i]);
            const auto* elements = rule.in[i]->integers();
            if (!elements || rule.in[i]->type != ElementType::Int64 || elements->size() > 4096) continue;
            data_[i].set_data_type(::onnx::TensorProto::INT64);
            for (const std::int64_t extent : rule.in[i]->extents) data_[i].add_dims(extent);
            for (const std::int64_t element : *elements) data_[i].add_int64_data(element);
        }
    }
    const ::onnx::AttributeProto* getAttribute(const std::string& name) const override {
        return rule_.node.attribute(name);
    }
    std::size_t getNumInputs() const override { return inputs_.size(); }
    const ::onnx::TypeProto* getInputType(std::size_t i) const override {
        return i < inputs_.size() && rule_.in[i] ? &inputs_[i] : nullptr;
    }
    const ::onnx::TensorProto* getInputData(std::size_t i) const override {
        return i < data_.size() && data_[i].has_data_type() ? &data_[i] : nullptr;
    }
    std::size_t getNumOutputs() const override { return outputs_.size(); }
    ::onnx::TypeProto* getOutputType(std::size_t i) override { return i < outputs_.size() ? &outputs_[i] : nullptr; }
    ::onnx::GraphInferencer* getGraphAttributeInferencer(const std::string&) override { return nullptr; }
    const ::onnx::SparseTensorProto* getInputSparseData(std::size_t) const override { return nullptr; }
    const ::onnx::TensorShapeProto* getSymbolicInput(std::size_t) const override { return nullptr; }

private:
    const RuleContext& rule_;
    std::vector<::onnx::TypeProto> inputs_;
    std::vector<::onnx::TensorProto> data_;
    std::vector<::onnx::TypeProto> outputs_;
};

bool plain(const ::onnx::NodeProto& node) {
    for (const auto& attribute : node.attribute()) {
        if (attribute.has_g() || attribute.graphs_size() > 0 || attribute.has_t() || attribute.tensors_size() > 0)
            return false;
    }
    return true;
}

std::string firstLine(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

}  // namespace

std::int64_t newestKnownOpset() {
    static const std::int64_t newest = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
    return newest;
}

std::vector<std::string> objections(const ::onnx::ModelProto& model, const Opsets& opsets, std::size_t most) {
    std::vector<std::string> found;
    ::onnx::checker::CheckerContext context;
    context.set_ir_version(static_cast<int>(model.ir_version()));
    std::unordered_map<std::string, int> imports;
    for (const auto& [domain, version] : opsets) imports[domain] = static_cast<int>(version);
    context.set_opset_imports(imports);
    const ::onnx::checker::LexicalScopeContext scope;
    for (const auto& node : model.graph().node()) {
        if (found.size() >= most) break;
        if (!plain(node) || (node.domain() != "" && node.domain() != "ai.onnx")) continue;
        try {
            ::onnx::checker::check_node(node, context, scope);
        } catch (const std::exception& objection) {
            const std::string& name = node.name().empty() ? node.op_type() : node.name();
            found.push_back(name + ": " + firstLine(objection.what()));
        }
    }
    return found;
}

bool inferByLibrary(RuleContext& rule) {
    if (rule.node.domain() == Domain::Other || rule.node.domain() == Domain::Microsoft) return false;
    try {
        const auto* schema = ::onnx::OpSchemaRegistry::Schema(
            rule.node.proto().op_type(), static_cast<int>(rule.node.opset()), rule.node.proto().domain());
        if (!schema || !schema->has_type_and_shape_inference_function()) return false;
        Context context(rule);
        schema->GetTypeAndShapeInferenceFunction()(context);
        bool told = false;
        for (std::size_t i = 0; i < rule.out.size(); ++i) {
            const ::onnx::TypeProto& type = *context.getOutputType(i);
            if (!type.has_tensor_type()) continue;
            rule.setType(i, elementType(type.tensor_type().elem_type()));
            if (!type.tensor_type().has_shape()) continue;
            Extents extents;
            for (const auto& dim : type.tensor_type().shape().dim()) {
                extents.push_back(dim.has_dim_value() ? dim.dim_value() : unknown);
            }
            rule.set(i, elementType(type.tensor_type().elem_type()), std::move(extents));
            told = true;
        }
        return told;
    } catch (const std::exception&) {
        return false;  // it cannot tell; the declared shape may
    }
}

}  // namespace orrery::onnx_import
