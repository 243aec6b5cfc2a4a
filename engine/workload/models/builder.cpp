#include "workload/models/builder.h"

#include "workload/kernel_parts.h"
#include "workload/what_if_costs.h"

#include <utility>

namespace orrery {
namespace {

std::int64_t slide(std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                   std::int64_t dilation = 1) {
    return (extent + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

}  // namespace

GraphBuilder::GraphBuilder(std::string name, const WorkloadOptions& options)
    : options_(options), auxiliary_(DType::F16) {
    if (bits(options.activations) >= 16) auxiliary_ = options.activations;
    if (bits(options.weights) >= 16) auxiliary_ = options.weights;
    stored_ = options.activationScaling == Scaling::Usual ? options.activations : auxiliary_;
    graph_.name = std::move(name);
    graph_.keepsActivations = options.phase == Phase::TrainingForward;
}

std::string GraphBuilder::scoped(const std::string& name) const {
    return block_.empty() ? name : block_ + "." + name;
}

TensorId GraphBuilder::input(std::string name, Shape shape) {
    return input(std::move(name), std::move(shape), stored_);
}

TensorId GraphBuilder::input(std::string name, Shape shape, DType type) {
    const TensorId id = graph_.addTensor({std::move(name), type, std::move(shape), true, TensorRole::Input, 0});
    graph_.inputs.push_back(id);
    return id;
}

TensorId GraphBuilder::matrix(std::string name, Shape shape) {
    name = scoped(name);
    const double reduction = shape.size() > 1 ? static_cast<double>(shape[shape.size() - 2].value) : 1;
    const double bytes = storedBytesPerWeight(options_.weightFormat(), reduction);
    const TensorId id = graph_.addTensor({name, options_.weights, std::move(shape), true, TensorRole::Weight, bytes});
    weights_.emplace(std::move(name), id);
    return id;
}

TensorId GraphBuilder::auxiliary(std::string name, Shape shape) {
    name = scoped(name);
    const TensorId id = graph_.addTensor({name, auxiliary_, std::move(shape), true, TensorRole::Weight, 0});
    weights_.emplace(std::move(name), id);
    return id;
}

TensorId GraphBuilder::constant(std::string name, Shape shape) {
    return graph_.addTensor({scoped(name), auxiliary_, std::move(shape), true, TensorRole::Constant, 0});
}

TensorId GraphBuilder::cache(std::string name, Shape shape) {
    return graph_.addTensor({scoped(name), options_.kv, std::move(shape), true, TensorRole::KvCache, 0});
}

TensorId GraphBuilder::activation(Shape shape) {
    return graph_.addTensor({{}, stored_, std::move(shape), true, TensorRole::Activation, 0});
}

Operator GraphBuilder::begin(std::string type, OperatorKind kind, std::string name,
                             std::vector<TensorId> inputs) const {
    Operator op;
    op.name = std::move(name);
    op.type = std::move(type);
    op.kind = kind;
    op.inputs = std::move(inputs);
    return op;
}

void GraphBuilder::scaleOperands(Operator& op) const {
    if (const auto block = scaleBlock(options_.weightScaling))
        op.attributes[std::string(scaleBlockAttribute)] = std::int64_t{*block};
    if (options_.activationScaling == Scaling::Usual) return;
    op.attributes[std::string(quantisesInputAttribute)] = std::int64_t{1};
    op.attributes[std::string(computeTypeAttribute)] = std::string(toText(options_.activations));
}

Operator& GraphBuilder::add(Operator op) {
    op.name = scoped(op.name);
    op.repeat = repeat_;
    if (!block_.empty() && repeat_ > 1) op.block = block_ + " ×" + std::to_string(repeat_);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        std::string& name = graph_.tensors[static_cast<std::size_t>(op.outputs[i])].name;
        if (name.empty()) name = i == 0 ? op.name : op.name + ":" + std::to_string(i);
    }
    graph_.operators.push_back(std::move(op));
    return graph_.operators.back();
}

TensorId GraphBuilder::single(Operator op, Shape shape) {
    const TensorId out = activation(std::move(shape));
    op.outputs = {out};
    add(std::move(op));
    return out;
}

TensorId GraphBuilder::linear(std::string name, TensorId x, std::int64_t features) {
    return linear(std::move(name), x, features, LinearSpec{});
}

TensorId GraphBuilder::linear(std::string name, TensorId x, std::int64_t features, const LinearSpec& spec) {
    const std::int64_t inner = extent(x, -1);
    Shape shape = graph_.tensors[static_cast<std::size_t>(x)].shape;
    shape.back() = features;
    Operator op = begin("Linear", OperatorKind::MatMul, name, {x});
    const auto shared = weights_.find(spec.weight);
    if (!spec.weight.empty() && shared != weights_.end()) {
        op.inputs.push_back(shared->second);
        op.attributes["transB"] = std::int64_t{1};  // an embedding table [rows, features] used as a head
    } else {
        const Shape weight{inner, features};
        op.inputs.push_back(spec.quantised ? matrix(name + ".weight", weight) : auxiliary(name + ".weight", weight));
        if (spec.quantised) scaleOperands(op);
    }
    if (spec.bias) op.inputs.push_back(auxiliary(name + ".bias", {features}));
    return single(std::move(op), std::move(shape));
}

TensorId GraphBuilder::experts(std::string name, TensorId x, std::int64_t count, std::int64_t features, double share) {
    Operator op = begin("GroupedMatMul", OperatorKind::MatMul, name,
                        {x, matrix(name + ".weight", {count, extent(x, -1), features})});
    op.weightShareRead = share;
    scaleOperands(op);
    return single(std::move(op), {extent(x, 0), features});
}

TensorId GraphBuilder::matmul(std::string name, TensorId a, TensorId b, bool transB) {
    Shape shape = graph_.tensors[static_cast<std::size_t>(a)].shape;
    shape.back() = extent(b, transB ? -2 : -1);
    Operator op = begin("MatMul", OperatorKind::MatMul, std::move(name), {a, b});
    if (transB) op.attributes["transB"] = std::int64_t{1};
    return single(std::move(op), std::move(shape));
}

TensorId GraphBuilder::conv(std::string name, TensorId x, std::int64_t channels, const ConvSpec& spec) {
    const std::int64_t k = spec.kernel;
    Operator op = begin("Conv", OperatorKind::Conv, name,
                        {x, matrix(name + ".weight", {channels, extent(x, 1) / spec.groups, k, k})});
    if (spec.bias) op.inputs.push_back(auxiliary(name + ".bias", {channels}));
    op.attributes["group"] = spec.groups;
    op.attributes["kernel_shape"] = std::vector<std::int64_t>{k, k};
    op.attributes["strides"] = std::vector<std::int64_t>{spec.stride, spec.stride};
    op.attributes["pads"] = std::vector<std::int64_t>(4, spec.padding);
    if (spec.dilation != 1) op.attributes["dilations"] = std::vector<std::int64_t>{spec.dilation, spec.dilation};
    return single(std::move(op),
                  {extent(x, 0), channels, slide(extent(x, 2), k, spec.stride, spec.padding, spec.dilation),
                   slide(extent(x, 3), k, spec.stride, spec.padding, spec.dilation)});
}

TensorId GraphBuilder::batchNorm(std::string name, TensorId x) {
    const std::int64_t c = extent(x, 1);
    Operator op = begin("BatchNormalization", OperatorKind::Normalization, name,
                        {x, auxiliary(name + ".weight", {c}), auxiliary(name + ".bias", {c}),
                         constant(name + ".mean", {c}), constant(name + ".variance", {c})});
    return single(std::move(op), shape(x));
}

TensorId GraphBuilder::layerNorm(std::string name, TensorId x, bool affine, bool bias) {
    Operator op = begin("LayerNormalization", OperatorKind::Normalization, name, {x});
    if (affine) op.inputs.push_back(auxiliary(name + ".weight", {extent(x, -1)}));
    if (affine && bias) op.inputs.push_back(auxiliary(name + ".bias", {extent(x, -1)}));
    return single(std::move(op), shape(x));
}

TensorId GraphBuilder::rmsNorm(std::string name, TensorId x) {
    const TensorId weight = auxiliary(name + ".weight", {extent(x, -1)});
    return single(begin("RMSNormalization", OperatorKind::Normalization, name, {x, weight}), shape(x));
}

TensorId GraphBuilder::groupNorm(std::string name, TensorId x, std::int64_t groups) {
    const std::int64_t c = extent(x, 1);
    Operator op = begin("GroupNormalization", OperatorKind::Normalization, name,
                        {x, auxiliary(name + ".weight", {c}), auxiliary(name + ".bias", {c})});
    op.attributes["num_groups"] = groups;
    return single(std::move(op), shape(x));
}

TensorId GraphBuilder::elementwise(std::string type, std::string name, std::vector<TensorId> inputs, TensorId like) {
    const Shape out = shape(like >= 0 ? like : inputs.front());
    return single(begin(std::move(type), OperatorKind::Elementwise, std::move(name), std::move(inputs)), out);
}

TensorId GraphBuilder::softmax(std::string name, TensorId x) {
    return single(begin("Softmax", OperatorKind::Softmax, std::move(name), {x}), shape(x));
}

TensorId GraphBuilder::pool(std::string type, std::string name, TensorId x, std::int64_t kernel, std::int64_t stride,
                            std::int64_t padding) {
    Operator op = begin(std::move(type), OperatorKind::Pool, std::move(name), {x});
    op.attributes["kernel_shape"] = std::vector<std::int64_t>{kernel, kernel};
    op.attributes["strides"] = std::vector<std::int64_t>{stride, stride};
    op.attributes["pads"] = std::vector<std::int64_t>(4, padding);
    return single(std::move(op), {extent(x, 0), extent(x, 1), slide(extent(x, 2), kernel, stride, padding),
                                  slide(extent(x, 3), kernel, stride, padding)});
}

TensorId GraphBuilder::globalPool(std::string name, TensorId x) {
    return single(begin("GlobalAveragePool", OperatorKind::Pool, std::move(name), {x}),
                  {extent(x, 0), extent(x, 1), 1, 1});
}

TensorId GraphBuilder::adaptivePool(std::string name, TensorId x, std::int64_t size) {
    return single(begin("AdaptiveAveragePool", OperatorKind::Pool, std::move(name), {x}),
                  {extent(x, 0), extent(x, 1), size, size});
}

TensorId GraphBuilder::view(std::string name, TensorId x, Shape shape) {
    return single(begin("Reshape", OperatorKind::View, std::move(name), {x}), std::move(shape));
}

TensorId GraphBuilder::move(std::string type, std::string name, std::vector<TensorId> inputs, Shape shape) {
    return single(begin(std::move(type), OperatorKind::Movement, std::move(name), std::move(inputs)), std::move(shape));
}

TensorId GraphBuilder::embedding(std::string name, TensorId ids, std::int64_t rows, std::int64_t features,
                                 std::string type) {
    Shape out = shape(ids);
    const TensorId table = auxiliary(name + ".weight", {rows, features});
    if (type == "EmbeddingBag") {
        out.back() = features;  // ids [batch, bag] → [batch, features]
    } else {
        out.push_back(features);
    }
    return single(begin(std::move(type), OperatorKind::Gather, std::move(name), {table, ids}), std::move(out));
}

TensorId GraphBuilder::attention(std::string name, std::vector<TensorId> inputs, const AttentionShape& shape,
                                 std::vector<Cache> caches) {
    Operator op = begin("Attention", OperatorKind::Attention, std::move(name), std::move(inputs));
    op.attention = shape;
    op.outputs = {activation({shape.batch, shape.queries, shape.heads * shape.valueDim})};
    const TensorId out = op.outputs.front();
    for (const Cache& cache : caches) {
        if (cache.read >= 0) op.inputs.push_back(cache.read);
        if (cache.append >= 0) op.outputs.push_back(cache.append);
    }
    add(std::move(op));
    return out;
}

void GraphBuilder::beginBlock(std::string name, std::int64_t repeat) {
    block_ = std::move(name);
    repeat_ = repeat;
}

void GraphBuilder::endBlock() {
    block_.clear();
    repeat_ = 1;
}

void GraphBuilder::output(TensorId id) {
    graph_.tensors[static_cast<std::size_t>(id)].role = TensorRole::Output;
    graph_.outputs.push_back(id);
}

const Shape& GraphBuilder::shape(TensorId id) const {
    return graph_.tensors[static_cast<std::size_t>(id)].shape;
}

std::int64_t GraphBuilder::extent(TensorId id, int axis) const {
    const Shape& dims = shape(id);
    const auto rank = static_cast<int>(dims.size());
    return dims[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)].value;
}

Graph GraphBuilder::finish() {
    return std::move(graph_);
}

}  // namespace orrery
