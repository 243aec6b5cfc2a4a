// From an operator of a graph to the kernel that it launches.

#include "workload/costs.h"
#include "workload/kernel.h"
#include "workload/kernel_parts.h"
#include "workload/operator_types.h"
#include "workload/what_if_costs.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

const Tensor* input(const Operator& op, const Graph& graph, std::size_t i) {
    return i < op.inputs.size() ? graph.tensor(op.inputs[i]) : nullptr;
}

const Tensor* output(const Operator& op, const Graph& graph) {
    return op.outputs.empty() ? nullptr : graph.tensor(op.outputs.front());
}

std::int64_t whole(double value) {
    return value < 9e18 ? std::llround(value) : 0;
}

std::int64_t extent(const Tensor& tensor, std::size_t axis) {
    return axis < tensor.shape.size() ? std::max<std::int64_t>(tensor.shape[axis].value, 0) : 1;
}

std::int32_t scaleBlockOf(const Tensor& tensor) {
    const double extra = tensor.bytesPerElement * 8 - bits(tensor.type);
    if (tensor.bytesPerElement <= 0 || extra <= 1e-9) return 0;
    const bool bytes = tensor.type == DType::FP8 || tensor.type == DType::I8;
    constexpr double microscaled = 8 / 32.0;  // bits of an OCP MX scale
    if (bytes && std::abs(extra - microscaled) < 1e-6) return 32;
    if (bytes) return static_cast<std::int32_t>(whole(std::sqrt(32 / extra)));
    return static_cast<std::int32_t>(whole((tensor.type == DType::I4 ? 20 : 8) / extra));
}

void readWeight(Kernel& kernel, const Operator& op, const Graph& graph) {
    const bool quantised = op.type.starts_with("QLinear");
    const Tensor* weight = input(op, graph, quantised ? 3 : 1);
    if (weight) {
        kernel.weightType = weight->type;
        constexpr std::int64_t notSaid = -2;
        const std::int64_t said = op.integer(scaleBlockAttribute, notSaid);
        kernel.scaleBlock = said > notSaid ? static_cast<std::int32_t>(said) : scaleBlockOf(*weight);
    }
    const bool plain = !quantised && !op.type.ends_with("Integer") && op.type != "Einsum";
    kernel.bias = plain && op.inputs.size() > 2 && op.inputs[2] >= 0;
}

void readProduct(Kernel& kernel, const GemmShape& gemm, const Operator& op, const Graph& graph) {
    if (gemm.batch * gemm.m * gemm.n * gemm.k <= 0) return;
    kernel.kind = KernelKind::Gemm;
    kernel.batch = std::max<std::int64_t>(1, whole(gemm.batch));
    kernel.m = std::max<std::int64_t>(1, whole(gemm.m));
    kernel.n = whole(gemm.n);
    kernel.k = whole(gemm.k);
    readWeight(kernel, op, graph);
    kernel.transposedWeight = op.type == "Linear" || op.integer("transB", 0) != 0;
    kernel.quantisesInput = op.integer(quantisesInputAttribute, 0) != 0;
}

void readAttention(Kernel& kernel, const Operator& op, const Graph& graph) {
    if (!op.attention) return;
    AttentionShape& a = kernel.attention = *op.attention;
    kernel.kind = a.queries == 1 ? KernelKind::DecodeAttention : KernelKind::PrefillAttention;
    if (a.causal && a.keys < a.queries) {
        kernel.window = a.keys;
        a.keys = a.queries;
    }
    kernel.kvType = kernel.type;
    for (const auto* ids : {&op.inputs, &op.outputs}) {
        for (const TensorId id : *ids) {
            const Tensor* tensor = graph.tensor(id);
            if (tensor && tensor->role == TensorRole::KvCache) kernel.kvType = tensor->type;
        }
    }
}

// Rows of n: what is normalised together, the last extent of anything else.
void readRows(Kernel& kernel, KernelKind kind, const Operator& op, const Graph& graph) {
    const Tensor* shaped = kind == KernelKind::Elementwise ? output(op, graph) : input(op, graph, 0);
    if (!shaped) return;
    double elements = shaped->elements();
    double row = shaped->shape.empty() ? 1 : static_cast<double>(extent(*shaped, shaped->shape.size() - 1));
    if (kind == KernelKind::Elementwise && op.outputs.size() > 1) {
        const double rows = row > 0 ? elements / row : 0;
        elements = 0;
        for (const TensorId id : op.outputs) {
            if (const Tensor* tensor = graph.tensor(id)) elements += tensor->elements();
        }
        row = rows > 0 ? elements / rows : 0;
    } else if (kind == KernelKind::Softmax && op.integer("axis", -1) >= 0) {
        row = static_cast<double>(extent(*shaped, static_cast<std::size_t>(op.integer("axis", -1))));
    } else if (op.type == "BatchNormalization" && shaped->shape.size() == 2) {
        row = static_cast<double>(extent(*shaped, 0));  // a feature over all samples
    } else if (op.type == "BatchNormalization" || op.type == "InstanceNormalization") {
        row = elements / std::max(1.0, static_cast<double>(extent(*shaped, 0) * extent(*shaped, 1)));
    } else if (op.type == "GroupNormalization") {
        const auto groups = static_cast<double>(std::max<std::int64_t>(1, op.integer("num_groups", 1)));
        row = elements / std::max(1.0, static_cast<double>(extent(*shaped, 0)) * groups);
    } else if (kind == KernelKind::Normalization && op.integer("axis", -1) >= 0) {
        row = 1;
        for (auto axis = static_cast<std::size_t>(op.integer("axis", -1)); axis < shaped->shape.size(); ++axis) {
            row *= static_cast<double>(extent(*shaped, axis));
        }
    }
    if (elements <= 0 || row <= 0) return;
    kernel.kind = kind;
    kernel.n = whole(row);
    kernel.m = whole(elements / row);
    double read = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const Tensor* tensor = input(op, graph, i);
        const auto end = op.inputs.begin() + static_cast<std::ptrdiff_t>(i);
        if (!tensor || tensor->role == TensorRole::Weight || tensor->role == TensorRole::Constant) continue;
        if (std::find(op.inputs.begin(), end, op.inputs[i]) == end) read += tensor->elements();
    }
    kernel.operands = static_cast<std::int32_t>(std::clamp(std::round(read / elements), 1.0, 64.0));
}

std::optional<std::int64_t> uniform(const Operator& op, std::string_view attribute) {
    const auto values = op.integers(attribute);
    if (values.empty()) return 1;
    const bool same = std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == values.front(); });
    if (!same) return std::nullopt;
    return values.front();
}

void readConvolution(Kernel& kernel, const GemmShape& gemm, const Operator& op, const Graph& graph) {
    const bool quantised = op.type.starts_with("QLinear");
    const Tensor* x = input(op, graph, 0);
    const Tensor* w = input(op, graph, quantised ? 3 : 1);
    const Tensor* y = output(op, graph);
    const auto stride = uniform(op, "strides"), dilation = uniform(op, "dilations");
    const bool planar = x && w && y && x->shape.size() == w->shape.size() && x->shape.size() == y->shape.size() &&
                        (x->shape.size() == 3 || x->shape.size() == 4);
    // Transposed, spatial and unevenly strided convolutions are priced as the product that they amount to.
    if (op.kind == OperatorKind::ConvTranspose || !planar || !stride || !dilation) {
        readProduct(kernel, gemm, op, graph);
        return;
    }
    const std::size_t last = x->shape.size() - 1;
    const bool line = last == 2;
    kernel.kind = KernelKind::Convolution;
    kernel.convolution = {.batch = extent(*x, 0),
                          .inChannels = extent(*x, 1),
                          .outChannels = extent(*y, 1),
                          .groups = std::max<std::int64_t>(1, op.integer("group", 1)),
                          .height = line ? 1 : extent(*x, 2),
                          .width = extent(*x, last),
                          .kernelHeight = line ? 1 : extent(*w, 2),
                          .kernelWidth = extent(*w, last),
                          .outHeight = line ? 1 : extent(*y, 2),
                          .outWidth = extent(*y, last),
                          .stride = *stride,
                          .dilation = *dilation};
    readWeight(kernel, op, graph);
}

void readShapes(Kernel& kernel, const GemmShape& gemm, const Operator& op, const Graph& graph) {
    switch (op.kind) {
        case OperatorKind::MatMul:
            return readProduct(kernel, gemm, op, graph);
        case OperatorKind::Conv:
        case OperatorKind::ConvTranspose:
            return readConvolution(kernel, gemm, op, graph);
        case OperatorKind::Attention:
            return readAttention(kernel, op, graph);
        case OperatorKind::Elementwise:
            return readRows(kernel, KernelKind::Elementwise, op, graph);
        case OperatorKind::Normalization:
            return readRows(kernel, KernelKind::Normalization, op, graph);
        case OperatorKind::Softmax:
            return readRows(kernel, KernelKind::Softmax, op, graph);
        case OperatorKind::Movement:
        case OperatorKind::View:
            kernel.kind = KernelKind::Movement;
            return;
        case OperatorKind::Gather:
            if (kernel.flops == 0) kernel.kind = KernelKind::Movement;
            return;
        case OperatorKind::Reduce:
        case OperatorKind::Pool:
        case OperatorKind::Scan:
        case OperatorKind::Routing:
        case OperatorKind::Other:
            return;
    }
}

}  // namespace

Kernel kernelOf(const Graph& graph, const CostTable& costs, std::size_t i) {
    const Operator& op = graph.operators[i];
    Kernel kernel;
    if (const OperatorType* known = operatorType(op.type)) kernel.function = known->name;
    kernel.type = kernel.weightType = kernel.kvType = costs.type[i];
    kernel.flops = costs.flops[i];
    kernel.readBytes = costs.weightBytes[i] + costs.kvReadBytes[i] + costs.inputBytes[i] + costs.scratchBytes[i] / 2;
    kernel.writeBytes = costs.kvWriteBytes[i] + costs.outputBytes[i] + costs.scratchBytes[i] / 2;
    if (kernel.flops <= 0 && kernel.bytes() <= 0) return kernel;
    if (hasWhatIfShape(op)) {
        const Reshaped changed = reshaped(op, graph);
        readShapes(kernel, costs.gemm[i], changed.op, changed.graph);
    } else if (op.attributes.contains(fusedWorkAttribute)) {
        readProduct(kernel, costs.gemm[i], op, graph);
    } else {
        readShapes(kernel, costs.gemm[i], op, graph);
    }
    return kernel;
}

}  // namespace orrery
