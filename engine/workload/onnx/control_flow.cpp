// Functions and control flow, opened in place. A body that runs several times is priced once with `repeat`.

#include "workload/onnx/builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::onnx_import {
namespace {

constexpr int deepest = 40;
constexpr std::size_t mostOpened = 100000;
constexpr std::int64_t mostIterations = 1ll << 40;
constexpr double mostRepeats = 1099511627776.0 * 4096;  // 2^52

bool sameShape(const Value& a, const Value& b) {
    return a.ranked == b.ranked && a.extents == b.extents && a.form == b.form && a.length == b.length;
}

/// What a carried value is known to be if it may change from iteration to iteration.
void generalise(Value& known, const Value& other) {
    if (known.ranked != other.ranked || known.extents.size() != other.extents.size()) {
        known.ranked = false;
        known.extents.clear();
    }
    for (std::size_t i = 0; i < known.extents.size(); ++i) {
        if (known.extents[i] != other.extents[i]) known.extents[i] = unknown;
    }
    if (known.length != other.length) known.length = unknown;
}

/// A value as the body of a loop gets it: the same tensor, but no longer known beforehand.
Value carried(const Value& from) {
    Value value = from;
    value.data = nullptr;
    value.constant = false;
    value.origin = Value::Origin::Computed;
    return value;
}

}  // namespace

std::optional<Frame> Builder::inner(const Frame& frame, const std::string& name, std::int64_t times) {
    if (frame.depth >= deepest) {
        refuse("onnx.too-deep", fmt::format("functions or subgraphs are nested more than {} deep", deepest),
               fmt::format("{} levels at most, and no function that calls itself", deepest), "export the model again",
               name);
        return std::nullopt;
    }
    if (++opened_ > mostOpened) {
        refuse("onnx.too-many-nodes", fmt::format("functions and subgraphs are opened more than {} times", mostOpened),
               "functions that do not call one another in powers of two", "export a part of the model", name);
        return std::nullopt;
    }
    Frame result = frame;
    result.prefix = name + "/";
    result.depth = frame.depth + 1;
    if (static_cast<double>(frame.repeat) * static_cast<double>(times) > mostRepeats) {
        refuse("onnx.too-many-iterations", fmt::format("{} iterations within {}", times, frame.repeat),
               "2^52 iterations at most", "check the loop's trip count", name);
        return std::nullopt;
    }
    result.repeat = frame.repeat * std::max<std::int64_t>(times, 1);
    return result;
}

bool Builder::runFunction(const ::onnx::FunctionProto& function, const Node& node, Scope& scope, const Frame& frame,
                          const std::string& name, const std::vector<ValueId>& inputs) {
    auto body = inner(frame, name, 1);
    if (!body) return false;
    body->opsets = &functionOpsets_.at(&function);
    AttributeArguments arguments;
    for (const auto& given : node.proto().attribute()) {
        if (const auto* attribute = node.attribute(given.name())) arguments[given.name()] = attribute;
    }
    body->arguments = &arguments;
    Scope own;
    for (int i = 0; i < function.input_size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool given = at < inputs.size() && inputs[at] != absent;
        own.names.emplace(function.input(i), given ? inputs[at] : omitted);
    }
    if (!runNodes(function.node(), own, *body)) return false;
    for (int i = 0; i < node.proto().output_size() && i < function.output_size(); ++i) {
        if (node.proto().output(i).empty()) continue;
        const ValueId id = own.find(function.output(i));
        if (id < 0) {
            return refuse("onnx.missing-output",
                          fmt::format("the function {} does not make `{}`", function.name(), function.output(i)),
                          "a function that makes its outputs", "export the model again", name);
        }
        if (!define(scope, node.proto().output(i), id, name)) return false;
    }
    return true;
}

std::optional<std::vector<ValueId>> Builder::runBody(const ::onnx::GraphProto& body, const std::vector<ValueId>& inputs,
                                                     const Scope& scope, const Frame& frame) {
    Scope own;
    own.parent = &scope;
    for (int i = 0; i < body.input_size() && static_cast<std::size_t>(i) < inputs.size(); ++i) {
        const ValueId given = inputs[static_cast<std::size_t>(i)];
        if (!define(own, body.input(i).name(), given == absent ? omitted : given, frame.prefix)) return std::nullopt;
    }
    if (!runGraph(body, own, frame)) return std::nullopt;
    std::vector<ValueId> results;
    for (const auto& output : body.output()) {
        results.push_back(own.find(output.name()));
        if (results.back() < 0) {
            refuse("onnx.missing-output", fmt::format("the subgraph's output `{}` is made by nothing", output.name()),
                   "outputs that some node makes", "export the model again", frame.prefix);
            return std::nullopt;
        }
    }
    return results;
}

bool Builder::runIf(const Node& node, Scope& scope, const Frame& frame, const std::string& name,
                    const std::vector<ValueId>& inputs) {
    const auto *yes = node.graph("then_branch"), *no = node.graph("else_branch");
    const auto body = inner(frame, name, 1);
    if (!body) return false;
    if (!yes || !no || inputs.empty() || inputs[0] == absent) {
        return refuse("onnx.branches", "the If lacks a condition or a branch",
                      "a condition, then_branch and else_branch", "export the model again", name);
    }
    const auto* condition = value(inputs[0]).integers();
    std::optional<std::vector<ValueId>> results;
    if (condition && condition->size() == 1 && condition->front() != unknownElement) {
        results = runBody(condition->front() != 0 ? *yes : *no, {}, scope, *body);
        if (!results) return false;
    } else {
        const Mark before = mark();
        auto otherwise = runBody(*no, {}, scope, *body);
        std::vector<Value> shapes;
        if (otherwise) {
            for (const ValueId id : *otherwise) shapes.push_back(value(id));
        }
        const auto problem = std::exchange(error_, std::nullopt);
        rollBack(before);
        results = runBody(*yes, {}, scope, *body);
        if (!results && otherwise) {  // only the other branch makes sense at these sizes
            error_.reset();
            rollBack(before);
            results = runBody(*no, {}, scope, *body);
            warn("onnx.branch", "the condition is not known beforehand; the else-branch alone fits and was taken", {},
                 name);
        } else if (results) {
            bool agree = otherwise && shapes.size() == results->size();
            for (std::size_t i = 0; agree && i < shapes.size(); ++i) agree = sameShape(shapes[i], value((*results)[i]));
            warn("onnx.branch",
                 agree ? "the condition is not known beforehand; the then-branch was taken, whose shapes agree with "
                         "the other's"
                       : "the condition is not known beforehand; the then-branch was taken, whose shapes differ from "
                         "the other's",
                 {}, name);
        }
        if (!results) return false;
    }
    for (int i = 0; i < node.proto().output_size(); ++i) {
        if (static_cast<std::size_t>(i) >= results->size()) {
            return refuse("onnx.missing-output", "the branch has fewer outputs than the If", "as many outputs",
                          "export the model again", name);
        }
        if (node.proto().output(i).empty()) continue;
        if (!define(scope, node.proto().output(i), (*results)[static_cast<std::size_t>(i)], name)) return false;
    }
    return true;
}

ValueId Builder::stack(ValueId element, std::int64_t times, std::size_t axis, const std::string& name,
                       const Frame& frame, const std::string& output) {
    Value result = carried(value(element));
    result.tensor = -1;
    result.name = name;
    if (result.ranked) {
        axis = std::min(axis, result.extents.size());
        result.extents.insert(result.extents.begin() + static_cast<std::ptrdiff_t>(axis), times);
    }
    complete(result, output);
    const ValueId id = add(std::move(result));
    Operator op;
    op.name = uniqueName(name + "/stack");
    op.type = "Concat";
    op.kind = OperatorKind::Movement;
    op.repeat = frame.repeat;
    op.weightCopies = frame.repeat > 1 ? 1 : 0;
    op.inputs = {tensorOf(element, false)};
    op.outputs = {tensorOf(id, false)};
    graph_.operators.push_back(std::move(op));
    return id;
}

bool Builder::runLoop(const Node& node, Scope& scope, const Frame& frame, const std::string& name,
                      const std::vector<ValueId>& inputs) {
    const auto* body = node.graph("body");
    if (!body || inputs.size() < 2 || body->input_size() != static_cast<int>(inputs.size()) ||
        body->output_size() < static_cast<int>(inputs.size()) - 1 ||
        node.proto().output_size() > body->output_size() - 1) {
        return refuse("onnx.loop", "the Loop and its body do not fit one another",
                      "a body that takes iteration, condition and the carried values", "export the model again", name);
    }
    std::int64_t trips = unknown;
    const auto* most = inputs[0] != absent ? value(inputs[0]).integers() : nullptr;
    // exporters write the largest number for `while`
    if (most && most->size() == 1 && most->front() != unknownElement && most->front() < INT64_MAX)
        trips = std::max<std::int64_t>(most->front(), 0);
    if (trips > mostIterations) {
        return refuse("onnx.too-many-iterations", fmt::format("the loop runs {} times", trips), "2^40 times at most",
                      "check the loop's trip count", name);
    }
    const auto* go = inputs[1] != absent ? value(inputs[1]).integers() : nullptr;
    if (go && go->size() == 1 && go->front() == 0) trips = 0;
    if (trips == unknown) warn("onnx.loop", "the number of runs of the loop is unknown; it counts once", {}, name);
    const auto inside = inner(frame, name, trips == unknown ? 1 : trips);
    if (!inside) return false;
    const std::size_t states = inputs.size() - 2;
    std::vector<ValueId> arguments;
    Value iteration, condition;
    iteration.name = name + "/iteration", iteration.type = ElementType::Int64, iteration.ranked = true;
    condition.name = name + "/condition", condition.type = ElementType::Bool, condition.ranked = true;
    arguments = {add(std::move(iteration)), add(std::move(condition))};
    for (std::size_t i = 0; i < states; ++i) {
        const ValueId from = inputs[i + 2];
        if (from != absent) tensorOf(from, false);
        arguments.push_back(from == absent ? absent : add(carried(value(from))));
    }
    const Mark before = mark();
    auto results = runBody(*body, arguments, scope, *inside);
    if (!results) return false;
    bool changes = false;
    for (std::size_t i = 0; i < states; ++i) {
        if (arguments[i + 2] == absent) continue;
        Value& start = value(arguments[i + 2]);
        if (sameShape(start, value((*results)[i + 1]))) continue;
        changes = true;
        generalise(start, value((*results)[i + 1]));
    }
    if (changes && trips != 1 && trips != 0) {  // once more, knowing only what stays the same
        rollBack(before);
        results = runBody(*body, arguments, scope, *inside);
        if (!results) return false;
        warn("onnx.loop", "a carried value changes its shape from one iteration to the next",
             "its operators stay unresolved", name);
    }
    if (trips == 0) rollBack(before);
    for (int i = 0; i < node.proto().output_size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (node.proto().output(i).empty()) continue;
        ValueId id = absent;
        if (at < states) {
            id = trips == 0 ? inputs[at + 2] : (*results)[at + 1];
            if (id != absent && trips != 0 && trips != 1 && value(id).constant) id = add(carried(value(id)));
        } else {
            id =
                stack((*results)[at + 1], trips, 0, name + "/" + node.proto().output(i), frame, node.proto().output(i));
        }
        if (id == absent) continue;
        if (at < states && trips != 0) complete(value(id), node.proto().output(i));
        if (!define(scope, node.proto().output(i), id, name)) return false;
    }
    return true;
}

bool Builder::runScan(const Node& node, Scope& scope, const Frame& frame, const std::string& name,
                      const std::vector<ValueId>& inputs) {
    const auto* body = node.graph("body");
    const bool old = node.opset() < 9;  // opset 8 has sequence lengths first, and a batch before the scanned axis
    const std::vector<ValueId> given(inputs.begin() + (old && !inputs.empty() ? 1 : 0), inputs.end());
    const std::int64_t scanned = node.integer("num_scan_inputs", 0);
    if (!body || scanned < 1 || scanned > static_cast<std::int64_t>(given.size()) ||
        body->input_size() != static_cast<int>(given.size())) {
        return refuse("onnx.scan", "the Scan and its body do not fit one another",
                      "a body that takes states and scanned slices", "export the model again", name);
    }
    const std::size_t states = given.size() - static_cast<std::size_t>(scanned);
    if (body->output_size() < static_cast<int>(states) || node.proto().output_size() > body->output_size()) {
        return refuse("onnx.scan", "the Scan has more outputs than its body", "as many outputs",
                      "export the model again", name);
    }
    const Extents axes = node.integers("scan_input_axes"), outputAxes = node.integers("scan_output_axes");
    std::vector<ValueId> arguments;
    std::int64_t trips = unknown, batch = 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (given[i] == absent) {
            arguments.push_back(absent);
            continue;
        }
        tensorOf(given[i], false);
        Value slice = carried(value(given[i]));
        if (slice.ranked && old && !slice.extents.empty()) {
            batch = std::max<std::int64_t>(slice.extents[0], 1);
            slice.extents.erase(slice.extents.begin());
        }
        if (i >= states && slice.ranked && !slice.extents.empty()) {
            const std::size_t at = i - states;
            std::int64_t axis = !old && at < axes.size() ? axes[at] : 0;
            if (axis < 0) axis += static_cast<std::int64_t>(slice.extents.size());
            if (axis < 0 || axis >= static_cast<std::int64_t>(slice.extents.size())) {
                return refuse("onnx.scan", fmt::format("the scanned axis {} does not exist", axis),
                              "an axis of the input", {}, name);
            }
            const std::int64_t length = slice.extents[static_cast<std::size_t>(axis)];
            if (trips >= 0 && length >= 0 && trips != length) {
                return refuse("onnx.contradiction", fmt::format("scanned inputs have {} and {} steps", trips, length),
                              "equal lengths", symbolsHint(), name);
            }
            trips = trips >= 0 ? trips : length;
            slice.extents.erase(slice.extents.begin() + axis);
        }
        arguments.push_back(add(std::move(slice)));
    }
    if (trips == unknown) warn("onnx.loop", "the number of runs of the scan is unknown; it counts once", {}, name);
    std::int64_t times = 1;
    if (trips > 0 && __builtin_mul_overflow(trips, batch, &times)) times = INT64_MAX;
    const auto inside = inner(frame, name, times);
    if (!inside) return false;
    const auto results = runBody(*body, arguments, scope, *inside);
    if (!results) return false;
    for (int i = 0; i < node.proto().output_size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (node.proto().output(i).empty()) continue;
        ValueId id = (*results)[at];
        if (at < states && !old) {
            if (value(id).constant) id = add(carried(value(id)));
        } else {
            std::int64_t axis = at >= states && at - states < outputAxes.size() ? outputAxes[at - states] : 0;
            if (axis < 0) axis += static_cast<std::int64_t>(value(id).extents.size()) + 1;
            if (at >= states) {
                id = stack(id, trips, static_cast<std::size_t>(std::max<std::int64_t>(axis, 0)),
                           name + "/" + node.proto().output(i), frame, node.proto().output(i));
            }
            if (old) id = stack(id, batch, 0, name + "/" + node.proto().output(i), frame, node.proto().output(i));
        }
        if (!define(scope, node.proto().output(i), id, name)) return false;
    }
    return true;
}

bool Builder::runSequenceMap(const Node& node, Scope& scope, const Frame& frame, const std::string& name,
                             const std::vector<ValueId>& inputs) {
    const auto* body = node.graph("body");
    if (!body || inputs.empty() || inputs[0] == absent || body->input_size() != static_cast<int>(inputs.size()) ||
        node.proto().output_size() > body->output_size()) {
        return refuse("onnx.loop", "the SequenceMap and its body do not fit one another",
                      "a body that takes one element of each", "export the model again", name);
    }
    const std::int64_t length = value(inputs[0]).length;
    if (length == unknown) warn("onnx.loop", "the length of the sequence is unknown; its body counts once", {}, name);
    const auto inside = inner(frame, name, std::max<std::int64_t>(length, 1));
    if (!inside) return false;
    std::vector<ValueId> arguments;
    for (const ValueId id : inputs) {
        if (id == absent) {
            arguments.push_back(absent);
            continue;
        }
        tensorOf(id, false);
        Value element = carried(value(id));
        if (element.form == Value::Form::Sequence) element.tensor = -1;
        element.form = Value::Form::Tensor;
        element.length = unknown;
        arguments.push_back(add(std::move(element)));
    }
    const auto results = runBody(*body, arguments, scope, *inside);
    if (!results) return false;
    for (int i = 0; i < node.proto().output_size(); ++i) {
        if (node.proto().output(i).empty()) continue;
        Value sequence = carried(value((*results)[static_cast<std::size_t>(i)]));
        sequence.form = Value::Form::Sequence;
        sequence.length = length;
        if (!define(scope, node.proto().output(i), add(std::move(sequence)), name)) return false;
    }
    return true;
}

}  // namespace orrery::onnx_import
