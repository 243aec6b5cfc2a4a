// From a kernel to an operator that launches it.

#include "workload/costs.h"
#include "workload/kernel.h"
#include "workload/kernel_parts.h"
#include "workload/operator_types.h"
#include "workload/what_if_costs.h"

#include <algorithm>
#include <tuple>

namespace orrery {

namespace {

class OperatorMaker {
public:
    OperatorMaker(Graph& graph, const Kernel& kernel) : graph_(graph), kernel_(kernel) {}

    Operator make() {
        switch (kernel_.kind) {
            case KernelKind::Gemm:
                product();
                break;
            case KernelKind::PrefillAttention:
            case KernelKind::DecodeAttention:
                attention();
                break;
            case KernelKind::Elementwise:
            case KernelKind::Softmax:
            case KernelKind::Normalization:
                rows();
                break;
            case KernelKind::Convolution:
                convolution();
                break;
            default:
                bytes();
        }
        return std::move(op_);
    }

private:
    TensorId tensor(DType type, Shape shape, TensorRole role, double bytesPerElement = 0) {
        return graph_.addTensor({{}, type, std::move(shape), true, role, bytesPerElement});
    }
    TensorId activation(Shape shape) { return tensor(kernel_.type, std::move(shape), TensorRole::Activation); }

    TensorId weight(Shape shape, TensorRole role = TensorRole::Weight) {
        const double stored =
            kernel_.scaleBlock > 0 ? weightBytesPerElement(kernel_.weightType, kernel_.scaleBlock) : 0;
        return tensor(kernel_.weightType, std::move(shape), role, stored);
    }

    // Whose type says nothing, the widest of the operands decides, so that a narrow product of wide operands says its.
    void computeIn(DType type) { op_.attributes[std::string(computeTypeAttribute)] = std::string(toText(type)); }

    void product() {
        const auto [b, m, n, k] = std::tuple(kernel_.batch, kernel_.m, kernel_.n, kernel_.k);
        const bool single = b <= 1;
        op_.kind = OperatorKind::MatMul;
        op_.type = single ? (kernel_.transposedWeight ? "Linear" : "Gemm") : "MatMul";
        const DType wide = wideType(kernel_.type);
        const DType in = kernel_.quantisesInput ? wide : kernel_.type;
        const TensorId a = tensor(in, single ? Shape{m, k} : Shape{b, m, k}, TensorRole::Input);
        Shape shape = kernel_.transposedWeight ? Shape{n, k} : Shape{k, n};
        if (!single) shape.insert(shape.begin(), b);
        // Products of a batch multiply activations with each other (attention's scores).
        op_.inputs = {a, weight(std::move(shape), single ? TensorRole::Weight : TensorRole::Input)};
        if (kernel_.transposedWeight) op_.attributes["transB"] = std::int64_t{1};
        if (kernel_.bias) op_.inputs.push_back(tensor(wide, {n}, TensorRole::Weight));
        if (kernel_.quantisesInput) op_.attributes[std::string(quantisesInputAttribute)] = std::int64_t{1};
        computeIn(kernel_.type);
        op_.outputs = {tensor(wide, single ? Shape{m, n} : Shape{b, m, n}, TensorRole::Output)};
    }

    void attention() {
        const AttentionShape whole = kernel_.attention;
        const AttentionShape a = windowed(kernel_);
        op_.kind = OperatorKind::Attention;
        op_.type = "Attention";
        op_.attention = a;
        const bool decode = kernel_.kind == KernelKind::DecodeAttention;
        const std::int64_t rows = decode ? 1 : whole.keys;
        const bool latent = latentCache(whole);
        std::vector<std::int64_t> widths{a.headDim};
        if (!latent) widths.push_back(a.valueDim);
        op_.inputs = {activation({a.batch, a.queries, a.heads * a.headDim})};
        op_.outputs = {activation({a.batch, a.queries, a.heads * a.valueDim})};
        for (const std::int64_t width : widths) op_.inputs.push_back(activation({a.batch, rows, a.kvHeads * width}));
        if (decode) {
            for (const std::int64_t width : widths) {
                op_.inputs.push_back(
                    tensor(kernel_.kvType, {a.batch, a.keys - 1, a.kvHeads, width}, TensorRole::KvCache));
                op_.outputs.push_back(tensor(kernel_.kvType, {a.batch, 1, a.kvHeads, width}, TensorRole::KvCache));
            }
        }
        computeIn(kernel_.type);
    }

    void rows() {
        const Shape shape{kernel_.m, kernel_.n};
        op_.kind = kernel_.kind == KernelKind::Softmax         ? OperatorKind::Softmax
                   : kernel_.kind == KernelKind::Normalization ? OperatorKind::Normalization
                                                               : OperatorKind::Elementwise;
        op_.type = std::string(vectorFunction(kernel_));
        for (std::int32_t i = 0; i < std::max(1, kernel_.operands); ++i) op_.inputs.push_back(activation(shape));
        if (kernel_.kind == KernelKind::Normalization) {
            const double vectors = normalizationVectors(op_.type);
            for (double i = 0; i < vectors; ++i) {
                op_.inputs.push_back(tensor(kernel_.type, {kernel_.n}, TensorRole::Weight));
            }
        }
        op_.outputs = {activation(shape)};
    }

    void convolution() {
        const ConvolutionShape& c = kernel_.convolution;
        op_.kind = OperatorKind::Conv;
        op_.type = "Conv";
        const std::int64_t perGroup = c.inChannels / std::max<std::int64_t>(1, c.groups);
        op_.inputs = {activation({c.batch, c.inChannels, c.height, c.width}),
                      weight({c.outChannels, perGroup, c.kernelHeight, c.kernelWidth})};
        const DType wide = wideType(kernel_.type);
        if (kernel_.bias) op_.inputs.push_back(tensor(wide, {c.outChannels}, TensorRole::Weight));
        op_.outputs = {tensor(wide, {c.batch, c.outChannels, c.outHeight, c.outWidth}, TensorRole::Activation)};
        op_.attributes["group"] = c.groups;
        op_.attributes["kernel_shape"] = std::vector<std::int64_t>{c.kernelHeight, c.kernelWidth};
        op_.attributes["strides"] = std::vector<std::int64_t>{c.stride, c.stride};
        op_.attributes["dilations"] = std::vector<std::int64_t>{c.dilation, c.dilation};
        computeIn(kernel_.type);
    }

    // Bytes as they are, and work that an attribute states, since no shape says it.
    void bytes() {
        const bool moves = kernel_.kind == KernelKind::Movement;
        op_.kind = moves ? OperatorKind::Movement : OperatorKind::Other;
        op_.type = kernel_.function.empty() ? (moves ? "Cast" : "Other") : std::string(kernel_.function);
        const auto elements = [](double size) { return static_cast<std::int64_t>(size); };
        op_.inputs = {tensor(DType::I8, {elements(kernel_.readBytes)}, TensorRole::Input)};
        op_.outputs = {tensor(DType::I8, {elements(kernel_.writeBytes)}, TensorRole::Output)};
        computeIn(kernel_.type);
        if (!moves) {
            op_.attributes[std::string(fusedWorkAttribute)] = std::vector<double>{0, kernel_.flops, 0, 0, 0, 0, 0};
        }
    }

    Graph& graph_;
    const Kernel& kernel_;
    Operator op_;
};

}  // namespace

void addOperator(Graph& graph, const Kernel& kernel, std::string_view name) {
    Operator op = OperatorMaker(graph, kernel).make();
    op.name = name;
    // Tables hold many thousand kernels, some of them twice.
    if (!name.empty() && !graph.operators.empty()) op.name += " #" + std::to_string(graph.operators.size());
    const auto place = [&](TensorId id, TensorRole end, std::string_view way, std::vector<TensorId>& ends) {
        Tensor& tensor = graph.tensors[static_cast<std::size_t>(id)];
        if (tensor.role == TensorRole::Activation) tensor.role = end;
        if (tensor.role == end) ends.push_back(id);
        if (!name.empty()) tensor.name.append(op.name).append(way).append(std::to_string(id));
    };
    for (const TensorId id : op.inputs) place(id, TensorRole::Input, " in", graph.inputs);
    for (const TensorId id : op.outputs) place(id, TensorRole::Output, " out", graph.outputs);
    graph.operators.push_back(std::move(op));
}

}  // namespace orrery
