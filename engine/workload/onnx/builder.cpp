#include "workload/onnx/builder.h"

#include "workload/onnx/evaluate.h"
#include "workload/onnx/reader.h"

#include <queue>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace orrery::onnx_import {
namespace {

constexpr std::size_t mostNodes = 1000000;
constexpr std::size_t mostEvaluated = 1u << 26;

Domain domainOf(const std::string& name) {
    if (name.empty() || name == "ai.onnx") return Domain::Standard;
    if (name == "com.microsoft" || name == "com.microsoft.nchwc" || name == "com.ms.internal.nhwc")
        return Domain::Microsoft;
    if (name == "ai.onnx.ml") return Domain::Classic;
    if (name.starts_with("ai.onnx.preview") || name == "ai.onnx.training") return Domain::Training;
    return Domain::Other;
}

std::string nodeName(const ::onnx::NodeProto& node, const Frame& frame) {
    return frame.prefix + (node.name().empty() ? node.op_type() : node.name());
}

/// Names that a graph's nodes read from outside of it.
void captured(const ::onnx::GraphProto& graph, std::vector<std::string_view>& names) {
    std::unordered_set<std::string_view> own;
    for (const auto& input : graph.input()) own.insert(input.name());
    for (const auto& tensor : graph.initializer()) own.insert(tensor.name());
    std::vector<std::string_view> read;
    for (const auto& node : graph.node()) {
        for (const auto& name : node.input()) read.push_back(name);
        for (const auto& attribute : node.attribute()) {
            if (attribute.has_g()) captured(attribute.g(), read);
        }
        for (const auto& name : node.output()) own.insert(name);
    }
    for (const auto& output : graph.output()) read.push_back(output.name());
    for (const std::string_view name : read) {
        if (!name.empty() && !own.contains(name)) names.push_back(name);
    }
}

}  // namespace

ValueId Scope::find(std::string_view name) const {
    for (const Scope* scope = this; scope; scope = scope->parent) {
        if (const auto found = scope->names.find(name); found != scope->names.end()) return found->second;
    }
    return absent;
}

Builder::Builder(const ::onnx::ModelProto& model, std::string path, const Bindings& bindings, std::int64_t batch)
    : model_(model), path_(std::move(path)), bindings_(bindings), batch_(batch) {}

bool Builder::refuse(std::string code, std::string message, std::string expected, std::string hint,
                     std::string_view where) {
    if (!error_) {
        error_ = Diagnostic{Severity::Error,     std::move(code), std::move(message),
                            std::move(expected), std::move(hint), Place{path_, 0, 0, std::string(where)}};
    }
    return false;
}

void Builder::warn(std::string code, std::string message, std::string hint, std::string_view where) {
    if (warnings_.size() > 100) return;
    warnings_.push_back(
        warning(std::move(code), std::move(message), std::move(hint), Place{path_, 0, 0, std::string(where)}));
}

ValueId Builder::add(Value value) {
    values_.push_back(std::move(value));
    return static_cast<ValueId>(values_.size() - 1);
}

bool Builder::define(Scope& scope, const std::string& name, ValueId id, const std::string& where) {
    if (scope.names.emplace(name, id).second) return true;
    return refuse("onnx.duplicate-name", fmt::format("`{}` is made a second time", name), "each value made once",
                  "export the model again: its names must be unique", where);
}

bool Builder::build() {
    graph_.name = model_.graph().name();
    Scope scope;
    const Frame frame{"", &opsets_, nullptr, 0, 1};
    if (!readOpsets() || !readFunctions() || !readInputs(scope)) return false;
    if (!runGraph(model_.graph(), scope, frame)) return false;
    for (const auto& output : model_.graph().output()) {
        const ValueId id = scope.find(output.name());
        if (id < 0) {
            return refuse("onnx.missing-output",
                          fmt::format("the graph's output `{}` is made by nothing", output.name()),
                          "outputs that some node makes", "export the model again", output.name());
        }
        const TensorId tensor = tensorOf(id, false);
        Tensor& made = graph_.tensors[static_cast<std::size_t>(tensor)];
        if (made.role == TensorRole::Activation) made.role = TensorRole::Output;
        if (made.role == TensorRole::Output) made.name = output.name();
        graph_.outputs.push_back(tensor);
    }
    for (const Input& input : inputs_) {
        if (value(input.id).constant) continue;
        graph_.inputs.push_back(tensorOf(input.id, false));
        Shape& shape = graph_.tensors[static_cast<std::size_t>(graph_.inputs.back())].shape;
        for (std::size_t i = 0; i < input.symbols.size() && input.symbols.size() == shape.size(); ++i)
            shape[i].symbol = input.symbols[i];
    }
    warnOfSymbols();
    if (!ruleless_.empty()) {
        std::string list;
        for (const auto& [type, times] : ruleless_)
            list += fmt::format("{}{} ×{}", list.empty() ? "" : ", ", type, times);
        warn("onnx.no-rule", "there is no rule for these operators, so their time is that of their bytes:  " + list,
             "their time is a lower bound");
    }
    return true;
}

bool Builder::runGraph(const ::onnx::GraphProto& graph, Scope& scope, const Frame& frame) {
    declare(graph);
    return readInitialisers(graph, scope, frame) && runNodes(graph.node(), scope, frame);
}

std::optional<std::vector<int>> Builder::order(const Nodes& nodes, const Scope& scope, const Frame& frame) {
    std::unordered_map<std::string_view, int> makers;
    for (int i = 0; i < nodes.size(); ++i) {
        for (const auto& name : nodes[i].output()) {
            if (!name.empty() && !makers.emplace(name, i).second) {
                refuse("onnx.duplicate-name", fmt::format("`{}` is made a second time", name), "each value made once",
                       "export the model again: its names must be unique", nodeName(nodes[i], frame));
                return std::nullopt;
            }
        }
    }
    std::vector<std::vector<int>> readers(static_cast<std::size_t>(nodes.size()));
    std::vector<int> waits(static_cast<std::size_t>(nodes.size()), 0);
    for (int i = 0; i < nodes.size(); ++i) {
        std::vector<std::string_view> read(nodes[i].input().begin(), nodes[i].input().end());
        const std::size_t direct = read.size();
        for (const auto& attribute : nodes[i].attribute()) {
            if (attribute.has_g()) captured(attribute.g(), read);
        }
        for (std::size_t r = 0; r < read.size(); ++r) {
            if (read[r].empty()) continue;
            const auto maker = makers.find(read[r]);
            if (maker != makers.end()) {
                readers[static_cast<std::size_t>(maker->second)].push_back(i);
                ++waits[static_cast<std::size_t>(i)];
            } else if (r < direct && scope.find(read[r]) == absent) {
                refuse("onnx.missing-input",
                       fmt::format("{} reads `{}`, which nothing makes", nodes[i].op_type(), read[r]),
                       "inputs, stored tensors or outputs of other nodes", "export the model again",
                       nodeName(nodes[i], frame));
                return std::nullopt;
            }
        }
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < nodes.size(); ++i) {
        if (waits[static_cast<std::size_t>(i)] == 0) ready.push(i);
    }
    std::vector<int> sorted;
    while (!ready.empty()) {
        const int next = ready.top();
        ready.pop();
        sorted.push_back(next);
        for (const int reader : readers[static_cast<std::size_t>(next)]) {
            if (--waits[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
        }
    }
    if (sorted.size() < waits.size()) {
        const auto stuck = std::find_if(waits.begin(), waits.end(), [](int n) { return n > 0; }) - waits.begin();
        const auto& guilty = nodes[static_cast<int>(stuck)];
        refuse("onnx.cycle", fmt::format("{} waits for its own result", guilty.op_type()), "a graph without cycles",
               "export the model again", nodeName(guilty, frame));
        return std::nullopt;
    }
    return sorted;
}

bool Builder::runNodes(const Nodes& nodes, Scope& scope, const Frame& frame) {
    if (static_cast<std::size_t>(nodes.size()) + visited_ > mostNodes) {
        return refuse("onnx.too-many-nodes", fmt::format("the model has more than {} nodes", mostNodes),
                      fmt::format("{} nodes at most, functions and loop bodies opened", mostNodes),
                      "export a part of the model", frame.prefix);
    }
    // exporters write nodes in order, and then nothing needs to be sorted
    bool sorted = true;
    std::unordered_set<std::string_view> made;
    for (const auto& node : nodes) {
        for (const auto& name : node.input()) {
            sorted = sorted && (name.empty() || made.contains(name) || scope.find(name) != absent);
        }
        if (!sorted) break;
        for (const auto& name : node.output()) made.insert(name);
    }
    if (sorted) {
        return std::all_of(nodes.begin(), nodes.end(),
                           [&](const ::onnx::NodeProto& node) { return runNode(node, scope, frame); });
    }
    const auto sequence = order(nodes, scope, frame);
    return sequence &&
           std::all_of(sequence->begin(), sequence->end(), [&](int i) { return runNode(nodes[i], scope, frame); });
}

bool Builder::runNode(const ::onnx::NodeProto& proto, Scope& scope, const Frame& frame) {
    const std::string name = nodeName(proto, frame);
    if (++visited_ > mostNodes) {
        return refuse("onnx.too-many-nodes", "functions and loops open into too many nodes",
                      fmt::format("{} nodes at most", mostNodes), "export a part of the model", name);
    }
    std::vector<ValueId> inputs;
    inputs.reserve(static_cast<std::size_t>(proto.input_size()));
    for (const std::string& input : proto.input()) {
        inputs.push_back(input.empty() ? absent : scope.find(input));
        if (!input.empty() && inputs.back() == absent) {
            return refuse("onnx.missing-input",
                          fmt::format("{} reads `{}`, which nothing makes", proto.op_type(), input),
                          "inputs, stored tensors or outputs of other nodes", "export the model again", name);
        }
        if (inputs.back() == omitted) inputs.back() = absent;
    }
    if (!functions_.empty()) {
        const auto function = functions_.find(proto.domain() + ":" + proto.op_type());
        if (function != functions_.end()) {
            const Node node(proto, Domain::Other, 0, frame.arguments);
            return runFunction(*function->second, node, scope, frame, name, inputs);
        }
    }
    const Domain domain = domainOf(proto.domain());
    const auto version =
        frame.opsets->find(proto.domain() == "ai.onnx" ? std::string_view() : std::string_view(proto.domain()));
    const Node node(proto, domain, version == frame.opsets->end() ? 1 : version->second, frame.arguments);
    if (domain == Domain::Standard) {
        const std::string_view type = node.type();
        if (type == "Constant") return runConstant(node, scope, name);
        if (type == "If") return runIf(node, scope, frame, name, inputs);
        if (type == "Loop") return runLoop(node, scope, frame, name, inputs);
        if (type == "Scan") return runScan(node, scope, frame, name, inputs);
        if (type == "SequenceMap") return runSequenceMap(node, scope, frame, name, inputs);
    }
    return runOperator(node, scope, frame, name, inputs);
}

bool Builder::runConstant(const Node& node, Scope& scope, const std::string& name) {
    Value constant;
    auto data = std::make_shared<Data>();
    if (const auto* stored = node.attribute("value"); stored && stored->has_t()) {
        auto read = readTensor(stored->t());
        if (!read)
            return refuse(read.error().code, read.error().message, read.error().expected, "export the model again",
                          name);
        constant = std::move(*read);
        constant.origin = Value::Origin::Computed;  // a weight only where an operator reads it as one
    } else if (const auto* sparse = node.attribute("sparse_value"); sparse && sparse->has_sparse_tensor()) {
        constant.extents.assign(sparse->sparse_tensor().dims().begin(), sparse->sparse_tensor().dims().end());
        constant.type = elementType(sparse->sparse_tensor().values().data_type());
    } else if (node.has("value_float") || node.has("value_floats")) {
        const bool list = node.has("value_floats");
        data->real = true;
        constant.type = ElementType::Float;
        if (!list) data->reals = {node.real("value_float", 0)};
        if (list)
            data->reals.assign(node.attribute("value_floats")->floats().begin(),
                               node.attribute("value_floats")->floats().end());
        if (list) constant.extents = {static_cast<std::int64_t>(data->reals.size())};
    } else if (node.has("value_int") || node.has("value_ints")) {
        const bool list = node.has("value_ints");
        constant.type = ElementType::Int64;
        data->ints = list ? node.integers("value_ints") : Extents{node.integer("value_int", 0)};
        if (list) constant.extents = {static_cast<std::int64_t>(data->ints.size())};
    } else if (node.has("value_string") || node.has("value_strings")) {
        constant.type = ElementType::String;
        if (const auto* list = node.attribute("value_strings")) constant.extents = {list->strings_size()};
    } else {
        return refuse("onnx.constant", "the constant has no value", "an attribute value, value_int, …",
                      "export the model again", name);
    }
    if (data->size() > 0 && data->size() <= largestData) constant.data = std::move(data);
    constant.ranked = constant.constant = true;
    constant.name = node.proto().output_size() > 0 ? node.proto().output(0) : name;
    if (const std::string problem = extentsProblem(constant.extents); !problem.empty()) {
        return refuse("onnx.extents", "the constant is too large: " + problem, "2^53 elements at most", {}, name);
    }
    return node.proto().output_size() == 0 || node.proto().output(0).empty() ||
           define(scope, node.proto().output(0), add(std::move(constant)), name);
}

bool Builder::runOperator(const Node& node, Scope& scope, const Frame& frame, const std::string& name,
                          const std::vector<ValueId>& inputs) {
    std::vector<const Value*> known;
    known.reserve(inputs.size());
    for (const ValueId id : inputs) known.push_back(id == absent ? nullptr : &value(id));
    RuleContext context(node, std::move(known), static_cast<std::size_t>(node.proto().output_size()));
    if (context.out.empty()) return true;
    const RuleRow* row = ruleOf(node.domain(), node.type());
    if (row) {
        row->rule(context);
    } else {
        inferByLibrary(context);
        ++ruleless_[node.proto().op_type()];
    }
    for (std::size_t i = 0; i < context.out.size(); ++i) context.out[i].name = node.proto().output(static_cast<int>(i));
    if (!finish(context, name)) return false;
    const bool folded = foldable(context, row);
    if (evaluated_ < mostEvaluated && row && !context.random) evaluated_ += evaluate(context);
    bool stored = false;
    for (const Value* input : context.in)
        stored = stored || (input && input->constant && input->origin == Value::Origin::Stored);
    std::vector<ValueId> outputs;
    for (Value& out : context.out) {
        out.constant = folded;
        out.origin = folded && stored && !context.shapeOnly ? Value::Origin::Stored : Value::Origin::Computed;
        if (out.name.empty()) {
            outputs.push_back(absent);
            continue;
        }
        const std::string outputName = out.name;
        if (!frame.prefix.empty()) out.name = frame.prefix + out.name;
        outputs.push_back(add(std::move(out)));
        // the proto's own string lives as long as the scope's key
        const auto slot = outputs.size() - 1;
        if (!define(scope, node.proto().output(static_cast<int>(slot)), outputs.back(), name)) return false;
    }
    if (!folded) emit(node, context, row, name, frame, inputs, outputs);
    return true;
}

void Builder::complete(Value& out, std::string_view name) {
    if (out.ranked && allKnown(out.extents) && out.type != ElementType::Undefined) return;
    const auto declared = declared_.find(name);
    Value told;
    if (declared == declared_.end() || !readType(*declared->second, told, false) || told.form != out.form) return;
    if (out.type == ElementType::Undefined) out.type = told.type;
    if (!told.ranked) return;
    // The file declares them for its own batch.
    if (batch_ > 1 && !told.extents.empty()) told.extents.front() = unknown;
    if (!out.ranked) {
        out.ranked = true;
        out.extents = told.extents;
    } else if (told.rank() == out.rank()) {
        for (std::size_t i = 0; i < out.rank(); ++i) {
            if (out.extents[i] == unknown) out.extents[i] = told.extents[i];
        }
    }
}

bool Builder::finish(RuleContext& context, const std::string& name) {
    if (context.contradiction()) {
        const Contradiction& found = *context.contradiction();
        return refuse("onnx.contradiction", fmt::format("{}: {}", context.node.type(), found.message), found.expected,
                      found.hint.empty() ? symbolsHint() : found.hint, name);
    }
    for (Value& out : context.out) {
        if (out.name.empty()) continue;
        complete(out, out.name);
        for (std::int64_t& extent : out.extents) {
            if (extent == unknownElement) extent = unknown;
        }
        if (const std::string problem = extentsProblem(out.extents); !problem.empty()) {
            return refuse("onnx.extents", fmt::format("the result `{}` cannot be: {}", out.name, problem),
                          fmt::format("extents of 0 or more, rank {} and 2^53 elements at most", largestRank),
                          symbolsHint(), name);
        }
    }
    return true;
}

bool Builder::foldable(const RuleContext& context, const RuleRow* row) const {
    if (!row || context.random || context.node.domain() == Domain::Classic) return false;
    const std::string_view type = context.node.type();
    // weights that are stored narrow are widened when they are read
    if (type == "DequantizeLinear" || type == "QuantizeLinear" || type == "GatherBlockQuantized") return false;
    for (const Value& out : context.out) {
        if (!out.name.empty() && out.shaped() && !out.known()) return false;
        if (!out.name.empty() && !out.ranked) return false;
    }
    if (context.shapeOnly) return true;
    std::int64_t largest = -1, result = 0;
    for (const Value* input : context.in) {
        if (!input) continue;
        if (!input->constant || input->form != Value::Form::Tensor) return false;
        if (input->origin == Value::Origin::Stored && isFloating(input->type)) {
            largest = std::max(largest, count(input->extents).value_or(0));
        }
    }
    if (largest <= 1) return true;
    // Parameters must stay as many as are stored: they may be cut in parts or renamed, but not looked up or repeated.
    for (const Value& out : context.out) result = std::max(result, count(out.extents).value_or(0));
    return result == largest || (result < largest && (type == "Slice" || type == "Split"));
}

std::string Builder::symbolsHint() const {
    if (unboundSymbols_.empty()) return "the file contradicts itself: export it again";
    std::string list;
    for (const std::string& name : unboundSymbols_) list += (list.empty() ? "" : ",") + name + "=…";
    return fmt::format("sizes that nobody gave were taken as 1: set them among the model's options, or with --bind {}",
                       list);
}

}  // namespace orrery::onnx_import
