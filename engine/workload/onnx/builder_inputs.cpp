#include "workload/onnx/builder.h"
#include "workload/onnx/reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::onnx_import {
namespace {

/// Empty where the file says how many.
std::string symbolOf(const ::onnx::TensorShapeProto::Dimension& dim, std::string_view name, int axis) {
    if (dim.has_dim_value() && dim.dim_value() != -1) return {};
    return dim.dim_param().empty() ? fmt::format("{}_dim{}", name, axis) : dim.dim_param();
}

}  // namespace

bool Builder::readOpsets() {
    for (const auto& import : model_.opset_import()) {
        opsets_[import.domain() == "ai.onnx" ? "" : import.domain()] = import.version();
    }
    // before IR version 3 there were no imports, and the operator set was the first
    if (!opsets_.contains("")) opsets_[""] = model_.opset_import_size() == 0 ? 1 : newestKnownOpset();
    return true;
}

bool Builder::readFunctions() {
    for (const auto& function : model_.functions()) {
        functions_[function.domain() + ":" + function.name()] = &function;
        Opsets& own = functionOpsets_[&function];
        for (const auto& import : function.opset_import()) {
            own[import.domain() == "ai.onnx" ? "" : import.domain()] = import.version();
        }
        if (own.empty()) own = opsets_;
    }
    return true;
}

std::int64_t Builder::bound(const ::onnx::TensorShapeProto::Dimension& dim, std::string_view name, int axis,
                            bool input) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) return dim.dim_value();
    // exporters write -1 (and some an empty name) for what they do not know
    if (dim.has_dim_value() && dim.dim_value() != -1) return dim.dim_value();
    if (dim.dim_param().empty() && !input) return unknown;
    const std::string symbol = symbolOf(dim, name, axis);
    if (const auto given = bindings_.find(symbol); given != bindings_.end()) {
        seenSymbols_.insert(symbol);
        return given->second;
    }
    if (!input) return unboundSymbols_.contains(symbol) ? 1 : unknown;
    unboundSymbols_.insert(symbol);
    return 1;
}

bool Builder::readType(const ::onnx::TypeProto& type, Value& value, bool input) {
    if (type.has_optional_type()) return readType(type.optional_type().elem_type(), value, input);
    if (type.has_sequence_type()) {
        const bool nested = type.sequence_type().elem_type().has_map_type();
        if (!nested && !readType(type.sequence_type().elem_type(), value, input)) return false;
        value.form = nested ? Value::Form::Map : Value::Form::Sequence;
        return true;
    }
    if (type.has_map_type()) {
        value.form = Value::Form::Map;
        value.type = elementType(type.map_type().value_type().tensor_type().elem_type());
        return true;
    }
    const bool sparse = type.has_sparse_tensor_type();
    value.type = elementType(sparse ? type.sparse_tensor_type().elem_type() : type.tensor_type().elem_type());
    if (!(sparse ? type.sparse_tensor_type().has_shape() : type.tensor_type().has_shape())) return true;
    const auto& shape = sparse ? type.sparse_tensor_type().shape() : type.tensor_type().shape();
    value.ranked = true;
    for (int i = 0; i < shape.dim_size() && i <= static_cast<int>(largestRank); ++i) {
        value.extents.push_back(bound(shape.dim(i), value.name, i, input));
    }
    return true;
}

void Builder::declare(const ::onnx::GraphProto& graph) {
    for (const auto* list : {&graph.value_info(), &graph.output()}) {
        for (const auto& info : *list) {
            if (info.has_type()) declared_.emplace(info.name(), &info.type());
        }
    }
}

bool Builder::setBatch(const ::onnx::ValueInfoProto& input, Value& value) {
    if (batch_ == 1 || !value.shaped() || value.rank() == 0 || value.extents.front() == batch_) return true;
    if (value.extents.front() != 1)
        return refuse("onnx.batch",
                      fmt::format("the input `{}` is {}, so its leading extent is no batch of 1 that can become {}",
                                  input.name(), toText(value.extents), batch_),
                      "inputs whose leading extent is 1 or an unbound symbol",
                      "leave the batch at 1: the file's own extents hold", input.name());
    value.extents.front() = batch_;
    return true;
}

bool Builder::readInputs(Scope& scope) {
    std::unordered_set<std::string_view> stored;
    for (const auto& tensor : model_.graph().initializer()) stored.insert(tensor.name());
    const auto stripped = strippedWeights(model_.graph());
    for (const auto& input : model_.graph().input()) {
        if (stored.contains(input.name())) continue;  // until IR version 3, stored tensors were inputs too
        const bool weight = stripped.contains(input.name());
        const auto& dims = input.type().tensor_type().shape().dim();
        Input seen{absent, {}};
        for (int i = 0; i < dims.size() && i <= static_cast<int>(largestRank); ++i)
            seen.symbols.push_back(symbolOf(dims[i], input.name(), i));
        // A size that leads an input is the batch, wherever else it stands.
        if (batch_ > 1 && !weight && !seen.symbols.empty() && !seen.symbols.front().empty())
            bindings_.emplace(seen.symbols.front(), batch_);
        Value fresh;
        fresh.name = input.name();
        if (!readType(input.type(), fresh, true)) return false;
        if (!weight && !setBatch(input, fresh)) return false;
        if (const std::string problem = extentsProblem(fresh.extents); !problem.empty()) {
            return refuse("onnx.extents", fmt::format("the input `{}` cannot be: {}", input.name(), problem),
                          fmt::format("extents of 0 or more, rank {} and 2^53 elements at most", largestRank),
                          "mend the shape that the file declares", input.name());
        }
        fresh.origin = weight ? Value::Origin::Stored : Value::Origin::Input;
        fresh.constant = weight;
        const ValueId id = add(std::move(fresh));
        if (!define(scope, input.name(), id, input.name())) return false;
        seen.id = id;
        if (!weight) inputs_.push_back(std::move(seen));
    }
    if (!stripped.empty()) {
        warnings_.push_back(
            Diagnostic{Severity::Note,
                       "onnx.stripped-weights",
                       fmt::format("{} inputs look like weights whose data was stripped, and count as parameters",
                                   stripped.size()),
                       {},
                       {},
                       Place{path_}});
    }
    return true;
}

bool Builder::readInitialisers(const ::onnx::GraphProto& graph, Scope& scope, const Frame& frame) {
    for (const auto& tensor : graph.initializer()) {
        auto read = readTensor(tensor);
        const std::string where = frame.prefix + tensor.name();
        if (!read)
            return refuse(read.error().code, read.error().message, read.error().expected, "export the model again",
                          where);
        if (!define(scope, tensor.name(), add(std::move(*read)), where)) return false;
    }
    for (const auto& tensor : graph.sparse_initializer()) {
        Value value;
        value.name = tensor.values().name();
        value.type = elementType(tensor.values().data_type());
        value.extents.assign(tensor.dims().begin(), tensor.dims().end());
        value.ranked = value.constant = true;
        value.origin = Value::Origin::Stored;
        const std::string problem = extentsProblem(value.extents);
        if (!problem.empty() || !allKnown(value.extents)) {
            return refuse("onnx.extents", "the sparse tensor cannot be: " + problem, "extents of 0 or more", {},
                          value.name);
        }
        if (!define(scope, tensor.values().name(), add(std::move(value)), tensor.values().name())) return false;
    }
    return true;
}

void Builder::warnOfSymbols() {
    if (!unboundSymbols_.empty()) {
        std::string list, example;
        for (const std::string& name : unboundSymbols_) {
            list += (list.empty() ? "" : ", ") + name;
            example += fmt::format("{}{}={}", example.empty() ? "" : ",", name, example.empty() ? 8 : 128);
        }
        warn("onnx.unbound", "these sizes are not fixed by the model and were taken as 1: " + list,
             "set them among the model's options, or with --bind " + example + " on the command line");
    }
    std::string unused;
    for (const auto& [name, extent] : bindings_) {
        if (!seenSymbols_.contains(name)) unused += (unused.empty() ? "" : ", ") + name;
    }
    if (unused.empty()) return;
    std::string known;
    for (const auto* names : {&seenSymbols_, &unboundSymbols_}) {
        for (const std::string& name : *names) known += (known.empty() ? "" : ", ") + name;
    }
    warn("onnx.unknown-symbol", "the model has no size of this name: " + unused,
         known.empty() ? "all sizes of this model are fixed" : "its sizes are: " + known);
}

}  // namespace orrery::onnx_import
