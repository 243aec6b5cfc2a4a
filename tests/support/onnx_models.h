#pragma once

// Small ONNX models built in code, for the importer's tests.

#define ONNX_ML 1  // as the library was built
#define ONNX_NAMESPACE onnx
#include "workload/importers.h"

#include <QtTest/QtTest>

#include <onnx/onnx_pb.h>

#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

namespace orrery::test {

using Ints = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

class ModelBuilder {
public:
    explicit ModelBuilder(std::int64_t opset, std::int64_t ir = 10) {
        model.set_ir_version(ir);
        import("", opset);
    }
    ModelBuilder& import(const std::string& domain, std::int64_t version) {
        auto* added = model.add_opset_import();
        added->set_domain(domain);
        added->set_version(version);
        return *this;
    }
    static void describe(::onnx::ValueInfoProto& info, const std::string& name, const Names& dims, int type) {
        info.set_name(name);
        auto* tensor = info.mutable_type()->mutable_tensor_type();
        tensor->set_elem_type(type);
        auto* shape = tensor->mutable_shape();
        for (const std::string& dim : dims) {
            const bool number = !dim.empty() && dim.find_first_not_of("0123456789") == std::string::npos;
            auto* added = shape->add_dim();
            number ? added->set_dim_value(std::stoll(dim)) : added->set_dim_param(dim);
        }
    }
    ModelBuilder& input(const std::string& name, const Names& dims, int type = 1) {
        describe(*model.mutable_graph()->add_input(), name, dims, type);
        return *this;
    }
    ModelBuilder& stored(const std::string& name, const Ints& dims, int type = 1) {
        auto* tensor = model.mutable_graph()->add_initializer();
        tensor->set_name(name);
        tensor->set_data_type(type);
        for (const std::int64_t dim : dims) tensor->add_dims(dim);
        return *this;
    }
    ModelBuilder& longs(const std::string& name, const Ints& values) {
        stored(name, {static_cast<std::int64_t>(values.size())}, 7);
        auto* tensor = model.mutable_graph()->mutable_initializer(model.graph().initializer_size() - 1);
        for (const std::int64_t value : values) tensor->add_int64_data(value);
        return *this;
    }
    ModelBuilder& reals(const std::string& name, const std::vector<float>& values) {
        stored(name, {static_cast<std::int64_t>(values.size())}, 1);
        auto* tensor = model.mutable_graph()->mutable_initializer(model.graph().initializer_size() - 1);
        for (const float value : values) tensor->add_float_data(value);
        return *this;
    }
    ::onnx::NodeProto& node(const std::string& type, const Names& inputs, const Names& outputs,
                            const std::string& domain = {}) {
        return fill(*model.mutable_graph()->add_node(), type, inputs, outputs, domain);
    }
    static ::onnx::NodeProto& fill(::onnx::NodeProto& node, const std::string& type, const Names& inputs,
                                   const Names& outputs, const std::string& domain = {}) {
        node.set_op_type(type);
        node.set_domain(domain);
        for (const std::string& name : inputs) node.add_input(name);
        for (const std::string& name : outputs) node.add_output(name);
        return node;
    }
    ModelBuilder& output(const std::string& name) {
        model.mutable_graph()->add_output()->set_name(name);
        return *this;
    }
    std::string write(const QTemporaryDir& folder, const std::string& name = "model.onnx") const {
        std::string path = folder.filePath(QString::fromStdString(name)).toStdString();
        std::ofstream stream(path, std::ios::binary);
        model.SerializeToOstream(&stream);
        return path;
    }
    Expected<ImportedGraph> import(const Bindings& bindings = {}) const {
        QTemporaryDir folder;
        return importOnnx(write(folder), bindings);
    }

    ::onnx::ModelProto model;
};

inline void set(::onnx::NodeProto& node, const std::string& name, std::int64_t value) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx::AttributeProto::INT);
    attribute->set_i(value);
}
inline void set(::onnx::NodeProto& node, const std::string& name, const Ints& values) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) attribute->add_ints(value);
}
inline void set(::onnx::NodeProto& node, const std::string& name, const std::string& value) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx::AttributeProto::STRING);
    attribute->set_s(value);
}
inline void set(::onnx::NodeProto& node, const std::string& name, const ::onnx::GraphProto& value) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx::AttributeProto::GRAPH);
    *attribute->mutable_g() = value;
}

/// Shape of the i-th graph output as text, or what went wrong.
inline std::string shapeOf(const Expected<ImportedGraph>& imported, std::size_t i = 0) {
    if (!imported) return toText(imported.error());
    if (i >= imported->graph.outputs.size()) return "no such output";
    const Tensor& tensor = *imported->graph.tensor(imported->graph.outputs[i]);
    return tensor.ranked ? toText(tensor.shape) : "unranked";
}

inline bool warns(const Expected<ImportedGraph>& imported, std::string_view code) {
    if (!imported) return false;
    for (const Diagnostic& warning : imported->warnings) {
        if (warning.code == code) return true;
    }
    return false;
}

}  // namespace orrery::test
