#include "base/text/nearest.h"
#include "base/text/words.h"
#include "workload/operator_types.h"
#include "workload/yaml/document.h"
#include "workload/yaml/fields.h"
#include "workload/yaml/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>

namespace orrery {
namespace {

constexpr std::int64_t largestExtent = 1'000'000'000'000, mostRepeats = 1'000'000'000;

class GraphReader {
public:
    GraphReader(std::string file, const WorkloadOptions& options)
        : file_(std::move(file)), options_(options), type_(options.activations) {
        bindings_ = options.bindings;
        bindings_.try_emplace("batch", options.batch);
        if (options.sequence > 0) bindings_.try_emplace("sequence", options.sequence);
        if (options.image > 0) bindings_.try_emplace("image", options.image);
    }

    Expected<ImportedGraph> read(const YamlNode& root);

private:
    void readTensors(const YamlNode& node);
    void readOperator(const YamlNode& node, std::size_t index);
    void readInputs(YamlFields& fields, Operator& op);
    void readOutputs(YamlFields& fields, Operator& op);
    void readAttention(YamlFields& fields, Operator& op);
    void readAttributes(YamlFields& fields, Operator& op);
    std::optional<Shape> readShape(YamlFields& fields, const YamlNode& node);
    std::optional<std::int64_t> readExtent(YamlFields& fields, const YamlNode& node);
    static void refuse(YamlFields& fields, const YamlNode& at, const Diagnostic& why) {
        fields.refuse(at, why.message, why.expected, why.hint);
    }
    /// Keeps a reader's complaint; false if there is one.
    bool accept(const YamlFields& fields) {
        if (!problem_ && fields.problem()) problem_ = fields.problem();
        return !problem_;
    }

    std::string file_;
    WorkloadOptions options_;
    Bindings bindings_;
    DType type_;
    Graph graph_;
    std::unordered_map<std::string, TensorId> names_;
    std::unordered_map<std::string, int> later_;  ///< lines of the operators that make each tensor
    std::set<std::string> operators_, unbound_;
    std::optional<Diagnostic> problem_;
};

Expected<ImportedGraph> GraphReader::read(const YamlNode& root) {
    YamlFields fields(root, file_, "");
    fields.find("orrery");
    if (const YamlNode* node = fields.find("options")) {
        auto options = readOptions(*node, file_, options_);
        if (!options) return Unexpected(options.error());
        *this = GraphReader(file_, *options);
    }
    ImportedGraph result;
    result.name = fields.text("name", std::filesystem::path(file_).stem().string());
    graph_.name = result.name;
    graph_.keepsActivations = options_.phase == Phase::TrainingForward;
    if (const YamlNode* node = fields.find("dtype")) {
        const auto type = node->isScalar() ? dtype(node->scalar) : std::nullopt;
        if (!type)
            fields.refuse(*node, "this is not a number type", "fp16, bf16, fp8, int8, …", "see the list of types");
        type_ = type.value_or(type_);
    }
    const YamlNode* tensors = fields.find("tensors");
    const YamlNode* operators = fields.required("operators", "a list of operators, or `builtin: <id>`");
    if (operators && (!operators->isSequence() || operators->items.empty())) {
        fields.refuse(*operators, fmt::format("operators is {}", operators->typeText()),
                      "a list with one operator or more", "write `- {name: …, type: …, inputs: […]}`");
    }
    fields.refuseOthers();
    if (!accept(fields)) return Unexpected(*problem_);
    for (const YamlNode& node : operators->items) {
        const YamlNode* outputs = node.isMap() ? node.find("outputs") : nullptr;
        const YamlNode* name = node.isMap() ? node.find("name") : nullptr;
        if (outputs && outputs->isMap()) {
            for (const YamlNode& item : outputs->items) later_.emplace(item.key, node.line);
        } else if (name && name->isScalar()) {
            later_.emplace(name->scalar, node.line);
        }
    }
    if (tensors) readTensors(*tensors);
    for (std::size_t i = 0; i < operators->items.size() && !problem_; ++i) readOperator(operators->items[i], i);
    if (problem_) return Unexpected(*problem_);

    std::vector<bool> used(graph_.tensors.size(), false), made(graph_.tensors.size(), false);
    for (const Operator& op : graph_.operators) {
        for (const TensorId id : op.inputs) used[static_cast<std::size_t>(id)] = true;
        for (const TensorId id : op.outputs) made[static_cast<std::size_t>(id)] = true;
    }
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
        Tensor& tensor = graph_.tensors[i];
        if (tensor.role != TensorRole::Activation) {
            if (tensor.role == TensorRole::Input) graph_.inputs.push_back(static_cast<TensorId>(i));
            if (tensor.role == TensorRole::Output) graph_.outputs.push_back(static_cast<TensorId>(i));
        } else if (made[i] && !used[i]) {
            tensor.role = TensorRole::Output;
            graph_.outputs.push_back(static_cast<TensorId>(i));
        }
    }
    if (!unbound_.empty()) {
        result.warnings.push_back(
            warning("workload.unbound-symbols", fmt::format("not bound and taken as 1: {}", fmt::join(unbound_, ", ")),
                    fmt::format("bind with --bind {}=…", *unbound_.begin()), Place{.file = file_}));
    }
    result.graph = std::move(graph_);
    return result;
}

std::optional<std::int64_t> GraphReader::readExtent(YamlFields& fields, const YamlNode& node) {
    const bool symbol = node.isScalar() && !node.scalar.empty() && node.scalar.size() < 64 &&
                        (std::isalpha(static_cast<unsigned char>(node.scalar[0])) || node.scalar[0] == '_');
    if (!symbol) return fields.wholeOf(node, 0, largestExtent);
    const auto bound = bindings_.find(node.scalar);
    if (bound != bindings_.end()) return bound->second;
    unbound_.insert(node.scalar);
    return 1;
}

std::optional<Shape> GraphReader::readShape(YamlFields& fields, const YamlNode& node) {
    if (!node.isSequence() || node.items.size() > 16) {
        fields.refuse(node, fmt::format("a shape cannot be {}", node.isSequence() ? "this long" : node.typeText()),
                      "a list of at most 16 extents, such as [batch, 128, 768]", "put the extents into [ ]");
        return std::nullopt;
    }
    Shape shape;
    for (const YamlNode& item : node.items) {
        const auto extent = readExtent(fields, item);
        if (!extent) return std::nullopt;
        shape.emplace_back(*extent);
    }
    return shape;
}

void GraphReader::readTensors(const YamlNode& node) {
    static const std::vector<std::pair<std::string, TensorRole>> roles{
        {"input", TensorRole::Input},       {"output", TensorRole::Output},    {"weight", TensorRole::Weight},
        {"constant", TensorRole::Constant}, {"kv_cache", TensorRole::KvCache}, {"activation", TensorRole::Activation}};
    YamlFields all(node, file_, "tensors");
    if (!accept(all)) return;
    for (const YamlNode& item : node.items) {
        YamlFields fields(item, file_, "tensors/" + item.key);
        Tensor tensor;
        tensor.name = item.key;
        if (const YamlNode* shape = fields.required("shape", "a list of extents")) {
            tensor.shape = readShape(fields, *shape).value_or(Shape{});
        }
        const std::string role = fields.text("role", "input");
        const auto found = std::find_if(roles.begin(), roles.end(), [&role](const auto& r) { return r.first == role; });
        if (found == roles.end()) {
            fields.refuse(item, fmt::format("“{}” is not a role", role.substr(0, 40)),
                          "input, output, weight, constant, kv_cache or activation", "choose one of them");
        } else {
            tensor.role = found->second;
        }
        tensor.type = type_;
        if (tensor.role == TensorRole::Weight && options_.weights != WorkloadOptions{}.weights)
            tensor.type = options_.weights;
        if (tensor.role == TensorRole::KvCache && options_.kv != WorkloadOptions{}.kv) tensor.type = options_.kv;
        if (const YamlNode* type = fields.find("dtype")) {
            const auto read = type->isScalar() ? dtype(type->scalar) : std::nullopt;
            if (!read)
                fields.refuse(*type, "this is not a number type", "fp16, bf16, fp8, int8, …", "see the list of types");
            tensor.type = read.value_or(type_);
        }
        tensor.bytesPerElement = fields.number("bytes_per_element", 0, 64, 0);
        fields.refuseOthers();
        if (!accept(fields)) return;
        names_[item.key] = graph_.addTensor(std::move(tensor));
    }
}

void GraphReader::readOperator(const YamlNode& node, std::size_t index) {
    YamlFields fields(node, file_, fmt::format("operators/{}", index));
    if (!accept(fields)) return;
    Operator op;
    op.name = fields.text("name", fmt::format("op{}", index));
    op.type = fields.text("type", "");
    if (op.type.empty()) fields.required("type", "an operator type such as MatMul, Conv, Gelu");
    if (!operators_.insert(op.name).second) {
        fields.refuse(node, fmt::format("there is another operator `{}`", op.name), "names that differ", "rename one");
    }
    const OperatorType* type = operatorType(op.type);
    if (type) {
        op.type = std::string(type->name);
        op.kind = type->kind;
    }
    if (const YamlNode* kind = fields.find("kind")) {
        bool found = false;
        for (int k = 0; k < operatorKindCount; ++k) {
            if (kind->isScalar() && toText(static_cast<OperatorKind>(k)) == kind->scalar) {
                op.kind = static_cast<OperatorKind>(k);
                found = true;
            }
        }
        if (!found)
            fields.refuse(*kind, "this is not a kind of operator", "MatMul, Conv, Elementwise, …", "check the case");
    }
    op.repeat = fields.whole("repeat", 1, mostRepeats, 1);
    op.weightCopies = fields.whole("weight_copies", 0, mostRepeats, 0);
    op.weightShareRead = fields.number("weight_share_read", 0, 1, 1);
    op.block = fields.text("block", "");
    readAttributes(fields, op);
    readInputs(fields, op);
    readAttention(fields, op);
    if (!accept(fields)) return;  // shapes are inferred from sound attributes only
    readOutputs(fields, op);
    fields.refuseOthers();
    if (accept(fields)) graph_.operators.push_back(std::move(op));
}

void GraphReader::readInputs(YamlFields& fields, Operator& op) {
    const YamlNode* inputs = fields.required("inputs", "a list of tensor names");
    if (!inputs) return;
    if (!inputs->isSequence()) {
        fields.refuse(*inputs, fmt::format("inputs is {}", inputs->typeText()), "a list of tensor names",
                      "write [a, b]");
        return;
    }
    for (const YamlNode& item : inputs->items) {
        const auto found = item.isScalar() ? names_.find(item.scalar) : names_.end();
        if (found != names_.end()) {
            op.inputs.push_back(found->second);
            continue;
        }
        if (item.isScalar() && later_.contains(item.scalar)) {
            fields.refuse(item,
                          fmt::format("the tensor `{}` is made only on line {}, by this operator or a later one",
                                      item.scalar, later_[item.scalar]),
                          "operators after those that make their inputs, without cycles", "move the operator down");
            return;
        }
        std::vector<std::string> known;
        for (const auto& [name, id] : names_) known.push_back(name);
        const std::string near = item.isScalar() ? didYouMean(item.scalar, known) : "";
        fields.refuse(
            item, fmt::format("there is no tensor `{}`", item.isScalar() ? item.scalar : std::string(item.typeText())),
            "a name under `tensors`, or an output of an earlier operator",
            near.empty() ? "declare it under `tensors`" : near);
        return;
    }
}

void GraphReader::readAttention(YamlFields& fields, Operator& op) {
    const YamlNode* node = fields.find("attention");
    if (!node) {
        if (op.kind == OperatorKind::Attention) {
            fields.refuse(fields.map(), "attention needs its shape",
                          "attention: {batch, heads, kv_heads, queries, keys, head_dim, causal}",
                          "add the key `attention`");
        }
        return;
    }
    YamlFields shape(*node, file_, fields.path() + "/attention");
    const auto extent = [&](std::string_view key, std::int64_t fallback) {
        const YamlNode* value = shape.find(key);
        if (!value) return fallback;
        const auto read = readExtent(shape, *value);
        if (read && (*read < 1 || *read > 1'000'000'000)) {
            shape.refuse(*value, fmt::format("{} is {}", key, *read), "a whole number from 1 to 1000000000",
                         "check it");
        }
        return read.value_or(1);
    };
    AttentionShape a;
    a.batch = extent("batch", options_.batch);
    a.heads = extent("heads", 1);
    a.kvHeads = extent("kv_heads", a.heads);
    a.queries = extent("queries", 1);
    a.keys = extent("keys", a.queries);
    a.headDim = extent("head_dim", 64);
    a.valueDim = extent("value_dim", a.headDim);
    a.causal = shape.flag("causal", false);
    a.flash = shape.flag("flash", options_.flashAttention);
    shape.refuseOthers();
    accept(shape);
    op.attention = a;
}

void GraphReader::readAttributes(YamlFields& fields, Operator& op) {
    const YamlNode* node = fields.find("attributes");
    if (!node) return;
    YamlFields values(*node, file_, fields.path() + "/attributes");
    if (!accept(values)) return;
    for (const YamlNode& item : node->items) {
        if (item.isScalar()) {
            const auto whole = item.quoted ? std::nullopt : wholeIn(item.scalar);
            if (whole) {
                op.attributes[item.key] = *whole;
            } else {
                op.attributes[item.key] = item.scalar;
            }
        } else if (item.isSequence()) {
            std::vector<std::int64_t> list;
            for (const YamlNode& part : item.items) {
                list.push_back(values.wholeOf(part, -largestExtent, largestExtent).value_or(0));
            }
            op.attributes[item.key] = std::move(list);
        } else {
            values.refuse(item, fmt::format("an attribute cannot be {}", item.typeText()),
                          "a number, a text or a list of whole numbers", "flatten it");
        }
    }
    if (op.integer("group", 1) < 1) {
        values.refuse(*node, "group is less than 1", "1 or more", "leave it out for an ordinary convolution");
    }
    for (const std::int64_t extent : op.integers("kernel_shape")) {
        if (extent < 1) values.refuse(*node, fmt::format("kernel_shape has {}", extent), "1 or more", "correct it");
    }
    accept(values);
}

void GraphReader::readOutputs(YamlFields& fields, Operator& op) {
    const auto add = [&](const YamlNode& at, const std::string& name, Shape shape) {
        if (const auto declared = names_.find(name); declared != names_.end()) {
            Tensor& tensor = graph_.tensors[static_cast<std::size_t>(declared->second)];
            const bool written = tensor.role == TensorRole::Output || tensor.role == TensorRole::KvCache ||
                                 tensor.role == TensorRole::Activation;
            if (!written || tensor.shape != shape) {
                fields.refuse(at, fmt::format("there is already a tensor `{}` of another shape or role", name),
                              "an output that nothing else makes", "rename the output");
            }
            op.outputs.push_back(declared->second);
            return;
        }
        op.outputs.push_back(graph_.addTensor({name, type_, std::move(shape), true, TensorRole::Activation, 0}));
        names_[name] = op.outputs.back();
    };
    const YamlNode* outputs = fields.find("outputs");
    if (!outputs) {
        auto shape = outputShape(op, graph_);
        if (!shape) {
            refuse(fields, fields.map(), shape.error());
        } else if (!*shape) {
            fields.refuse(fields.map(),
                          fmt::format("the shape of `{}`'s output does not follow from its inputs", op.name),
                          "outputs: {name: [extents]}", "add the key `outputs`");
        } else {
            add(fields.map(), op.name, std::move(**shape));
        }
        return;
    }
    if (!outputs->isMap() || outputs->items.empty()) {
        fields.refuse(*outputs, fmt::format("outputs is {}", outputs->typeText()), "a map of names and shapes",
                      "write {y: [batch, 128]}");
        return;
    }
    for (const YamlNode& item : outputs->items) {
        if (auto shape = readShape(fields, item)) add(item, item.key, std::move(*shape));
    }
    // The shape that follows must be the one written.
    if (fields.problem() || (op.kind != OperatorKind::MatMul && op.kind != OperatorKind::Conv)) return;
    const auto follows = outputShape(op, graph_);
    const Shape& written = graph_.tensor(op.outputs.front())->shape;
    if (!follows) {
        refuse(fields, *outputs, follows.error());
    } else if (*follows && **follows != written) {
        fields.refuse(
            *outputs,
            fmt::format("the output is written as {}, but its operands give {}", toText(written), toText(**follows)),
            toText(**follows), "correct the shape, or leave `outputs` out");
    }
}

}  // namespace

Expected<ImportedGraph> readGraph(const YamlNode& root, const std::string& file, const WorkloadOptions& options) {
    return GraphReader(file, options).read(root);
}

}  // namespace orrery
