#pragma once

// Walks a model's graph once, in topological order, and makes the operator graph: infers each node's outputs, keeps
// what is constant out of the graph, opens functions and control flow in place.

#include "base/diagnostic.h"
#include "workload/graph.h"
#include "workload/onnx/libonnx.h"
#include "workload/onnx/node.h"
#include "workload/onnx/rules.h"
#include "workload/passes.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace orrery::onnx_import {

using ValueId = std::int32_t;
constexpr ValueId absent = -1;
constexpr ValueId omitted = -2;  ///< a named argument of a function or body that the caller has left out

/// Names visible in a graph; a subgraph sees its parents', a function sees nobody's.
struct Scope {
    std::unordered_map<std::string_view, ValueId> names;
    const Scope* parent = nullptr;
    ValueId find(std::string_view name) const;
};

/// How the nodes of one graph or function body are read.
struct Frame {
    std::string prefix;  ///< of operator names
    const Opsets* opsets = nullptr;
    const AttributeArguments* arguments = nullptr;
    int depth = 0;
    std::int64_t repeat = 1;  ///< iterations of the loops around
};

using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

class Builder {
public:
    /// `batch` above 1 is the leading extent of every input.
    Builder(const ::onnx::ModelProto& model, std::string path, const Bindings& bindings, std::int64_t batch = 1);

    /// Builds everything; afterwards graph() and warnings() are there to be taken, or error().
    bool build();
    Graph& graph() { return graph_; }
    Diagnostics& warnings() { return warnings_; }
    const Diagnostic& error() const { return *error_; }

private:
    // builder_inputs.cpp: what the model starts from
    bool readOpsets();
    bool readFunctions();
    bool readInputs(Scope& scope);
    bool readInitialisers(const ::onnx::GraphProto& graph, Scope& scope, const Frame& frame);
    bool setBatch(const ::onnx::ValueInfoProto& input, Value& value);
    bool readType(const ::onnx::TypeProto& type, Value& value, bool input);
    std::int64_t bound(const ::onnx::TensorShapeProto::Dimension& dim, std::string_view name, int axis, bool input);
    void declare(const ::onnx::GraphProto& graph);
    void warnOfSymbols();

    // builder.cpp: nodes
    bool runGraph(const ::onnx::GraphProto& graph, Scope& scope, const Frame& frame);
    bool runNodes(const Nodes& nodes, Scope& scope, const Frame& frame);
    std::optional<std::vector<int>> order(const Nodes& nodes, const Scope& scope, const Frame& frame);
    bool runNode(const ::onnx::NodeProto& proto, Scope& scope, const Frame& frame);
    bool runConstant(const Node& node, Scope& scope, const std::string& name);
    bool runOperator(const Node& node, Scope& scope, const Frame& frame, const std::string& name,
                     const std::vector<ValueId>& inputs);
    bool finish(RuleContext& context, const std::string& name);
    bool foldable(const RuleContext& context, const RuleRow* row) const;
    /// Fills what no rule could tell with what the file declares of a value of that name.
    void complete(Value& out, std::string_view name);

    // control_flow.cpp
    bool runFunction(const ::onnx::FunctionProto& function, const Node& node, Scope& scope, const Frame& frame,
                     const std::string& name, const std::vector<ValueId>& inputs);
    bool runIf(const Node& node, Scope& scope, const Frame& frame, const std::string& name,
               const std::vector<ValueId>& inputs);
    bool runLoop(const Node& node, Scope& scope, const Frame& frame, const std::string& name,
                 const std::vector<ValueId>& inputs);
    bool runScan(const Node& node, Scope& scope, const Frame& frame, const std::string& name,
                 const std::vector<ValueId>& inputs);
    bool runSequenceMap(const Node& node, Scope& scope, const Frame& frame, const std::string& name,
                        const std::vector<ValueId>& inputs);
    std::optional<std::vector<ValueId>> runBody(const ::onnx::GraphProto& body, const std::vector<ValueId>& inputs,
                                                const Scope& scope, const Frame& frame);
    std::optional<Frame> inner(const Frame& frame, const std::string& name, std::int64_t times);
    ValueId stack(ValueId element, std::int64_t times, std::size_t axis, const std::string& name, const Frame& frame,
                  const std::string& output);

    // builder_emit.cpp: operators and tensors that stay
    void emit(const Node& node, RuleContext& context, const RuleRow* row, const std::string& name, const Frame& frame,
              const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs);
    TensorId tensorOf(ValueId id, bool parameterSlot);
    std::string uniqueName(const std::string& wanted);
    struct Mark {
        std::size_t operators, tensors, named, warnings;
    };
    Mark mark() const { return {graph_.operators.size(), graph_.tensors.size(), named_.size(), warnings_.size()}; }
    void rollBack(const Mark& mark);

    ValueId add(Value value);
    Value& value(ValueId id) { return values_[static_cast<std::size_t>(id)]; }
    /// Binds an output's name in the scope; false if the name is taken in the same scope.
    bool define(Scope& scope, const std::string& name, ValueId id, const std::string& where);
    bool refuse(std::string code, std::string message, std::string expected, std::string hint, std::string_view where);
    void warn(std::string code, std::string message, std::string hint = {}, std::string_view where = {});
    std::string symbolsHint() const;

    const ::onnx::ModelProto& model_;
    std::string path_;
    Bindings bindings_;
    std::int64_t batch_;
    Graph graph_;
    Diagnostics warnings_;
    std::optional<Diagnostic> error_;

    Opsets opsets_;
    std::unordered_map<std::string, const ::onnx::FunctionProto*> functions_;
    std::map<const ::onnx::FunctionProto*, Opsets> functionOpsets_;
    std::unordered_map<std::string_view, const ::onnx::TypeProto*> declared_;
    std::set<std::string, std::less<>> unboundSymbols_, seenSymbols_;
    std::deque<Value> values_;
    std::vector<ValueId> named_;                           ///< values that have got a tensor, in that order
    std::unordered_map<std::string, std::int64_t> names_;  ///< operator names in use, with the next suffix
    std::map<std::string, std::int64_t> ruleless_;         ///< operators without a rule, by type
    struct Input {
        ValueId id;
        std::vector<std::string> symbols;  ///< by axis; empty where the file fixes the extent
    };
    std::vector<Input> inputs_;
    std::size_t visited_ = 0;    ///< nodes
    std::size_t opened_ = 0;     ///< functions and subgraphs
    std::size_t evaluated_ = 0;  ///< elements of constants
};

/// Inputs of the graph that are weights whose data was stripped (exporters then leave them as plain inputs): by their
/// names, and by their place in the order of inputs. Empty for an ordinary model.
std::unordered_set<std::string_view> strippedWeights(const ::onnx::GraphProto& graph);

/// Whether that operator reads a parameter in that input slot.
bool isParameterSlot(std::string_view type, std::size_t slot);

}  // namespace orrery::onnx_import
