#include "simulation/npu/kernel_specs.h"

#include "base/maths.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

std::int64_t whole(double value) {
    return static_cast<std::int64_t>(std::ceil(std::clamp(value, 0.0, 9e15) - 1e-9));
}

double elementBytes(const Tensor& tensor) {
    const double elements = tensor.elements();
    return elements > 0 ? tensor.bytes().value / elements : 4;
}

const Tensor* tensorAt(const Graph& graph, const std::vector<TensorId>& ids, std::size_t i) {
    return i < ids.size() ? graph.tensor(ids[i]) : nullptr;
}

std::vector<std::int64_t> extents(const Tensor& tensor) {
    std::vector<std::int64_t> out;
    for (const Dim& dim : tensor.shape) out.push_back(dim.value);
    return out;
}

std::optional<ProductOperator> convolution(const Operator& op, const Graph& graph, const NpuMachine& machine) {
    const Tensor* x = tensorAt(graph, op.inputs, 0);
    const Tensor* w = tensorAt(graph, op.inputs, 1);
    const Tensor* y = tensorAt(graph, op.outputs, 0);
    if (!x || !w || !y || y->shape.size() < 3 || w->shape.size() != y->shape.size()) return std::nullopt;
    const auto out = extents(*y);
    const auto filter = extents(*w);
    const std::int64_t groups = std::max<std::int64_t>(op.integer("group", 1), 1);
    const std::size_t spatial = out.size() - 2;
    ProductOperator p;
    p.convolution = true;
    auto& s = p.spec;
    s.batch = groups;
    s.lines = out[0];
    for (std::size_t d = 2; d + 1 < out.size(); ++d) s.lines *= out[d];
    s.lineRows = out.back();
    s.channels = filter[1];
    s.columns = filter[0] / groups;
    for (std::size_t d = 2; d < filter.size(); ++d) s.taps *= filter[d];
    const auto strides = op.integers("strides");
    p.stride = strides.empty() ? 1 : std::max<std::int64_t>(strides.front(), 1);
    if (spatial >= 2) s.haloLines = std::max<std::int64_t>(ceilDiv(filter[2] - p.stride, p.stride), 0);
    s.movingBytes = storedBytes(*x, machine) / groups;
    s.keptBytes = storedBytes(*w, machine) / groups;
    s.resultBytes = storedBytes(*y, machine) / groups;
    p.loops = {out[0],
               s.channels,
               s.columns,
               spatial >= 2 ? s.lines / out[0] : 1,
               s.lineRows,
               filter.back(),
               s.taps / filter.back()};
    p.element = whole(elementBytes(*x));
    return p;
}

std::optional<ProductOperator> matrixProduct(const Operator& op, const Graph& graph, const CostTable& costs,
                                             std::size_t row, const NpuMachine& machine) {
    const GemmShape g = costs.gemm[row];
    const Tensor* a = tensorAt(graph, op.inputs, 0);
    const Tensor* b = tensorAt(graph, op.inputs, 1);
    const Tensor* y = tensorAt(graph, op.outputs, 0);
    if (!a || !b || !y || g.batch * g.m * g.n * g.k <= 0) return std::nullopt;
    ProductOperator p;
    auto& s = p.spec;
    s.batch = std::max<std::int64_t>(whole(g.batch), 1);
    s.channels = whole(g.k);
    const std::int64_t first = storedBytes(*a, machine);
    std::int64_t second = storedBytes(*b, machine);
    if (op.weightShareRead < 1) second = whole(static_cast<double>(second) * op.weightShareRead);
    // The smaller operand is kept: less to fetch before the first result.
    p.movesFirst = first >= second;
    s.lines = whole(p.movesFirst ? g.m : g.n);
    s.columns = whole(p.movesFirst ? g.n : g.m);
    s.movingBytes = ceilDiv(p.movesFirst ? first : second, s.batch);
    s.keptBytes = ceilDiv(p.movesFirst ? second : first, s.batch);
    s.resultBytes = ceilDiv(storedBytes(*y, machine), s.batch);
    p.loops = {whole(g.m), s.channels, whole(g.n), 1, 1, 1, 1};
    p.element = whole(elementBytes(*a));
    for (std::size_t i = 2; i < op.inputs.size(); ++i) {
        if (const Tensor* bias = graph.tensor(op.inputs[i])) {
            s.extraBytes += ceilDiv(storedBytes(*bias, machine), s.batch);
            s.epilogueOps += ceilDiv(whole(y->elements()), s.batch);
        }
    }
    return p;
}

// Cycles that arrays need at least; for the choice between them and the vector unit.
double arrayCycles(const ProductSpec& s, const NpuMachine& machine) {
    const double tiles = static_cast<double>(s.taps * ceilDiv(s.channels, machine.height)) *
                         static_cast<double>(ceilDiv(s.columns, machine.width)) * static_cast<double>(s.batch);
    return tiles * static_cast<double>(std::max(s.rows(), machine.height)) /
           static_cast<double>(machine.arrays * machine.cores);
}

}  // namespace

std::int64_t storedBytes(std::span<const std::int64_t> sizes, double bytesPerElement, const NpuMachine& machine) {
    double elements = 1;
    for (const std::int64_t size : sizes) elements *= static_cast<double>(std::max<std::int64_t>(size, 0));
    double padding = 1;
    if (machine.layoutLanes > 1 && elements > 0) {
        padding = static_cast<double>(machine.layoutLanes);
        for (const std::int64_t size : sizes) {
            const auto padded = ceilDiv(size, machine.layoutLanes) * machine.layoutLanes;
            padding = std::min(padding, static_cast<double>(padded) / static_cast<double>(size));
        }
    }
    return whole(elements * padding * bytesPerElement);
}

std::int64_t storedBytes(const Tensor& tensor, const NpuMachine& machine) {
    return storedBytes(extents(tensor), elementBytes(tensor), machine);
}

std::optional<ProductOperator> productOf(const Operator& op, const Graph& graph, const CostTable& costs,
                                         std::size_t row, const NpuMachine& machine) {
    std::optional<ProductOperator> product;
    if (op.kind == OperatorKind::Conv) product = convolution(op, graph, machine);
    if (!product) product = matrixProduct(op, graph, costs, row, machine);
    if (!product) return std::nullopt;
    const double onVector = 2 * product->spec.macs() / machine.vectorOps / static_cast<double>(machine.cores);
    const bool oneChannel = product->convolution && product->spec.channels == 1 && product->spec.batch > 1;
    if (oneChannel && onVector < arrayCycles(product->spec, machine)) return std::nullopt;
    return product;
}

std::vector<NpuKernel> attentionKernels(const Operator& op, const Graph& graph, const NpuMachine& machine) {
    const AttentionShape& a = *op.attention;
    const Tensor* input = tensorAt(graph, op.inputs, 0);
    const double bytes = input ? elementBytes(*input) : 2;
    const std::int64_t kv = std::max<std::int64_t>(a.kvHeads, 1);
    const std::int64_t group = std::max<std::int64_t>(a.heads / kv, 1);
    const std::int64_t batch = a.batch * kv;
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
        return storedBytes(std::array{rows, columns}, bytes, machine);
    };
    const std::int64_t rows = group * a.queries;
    if (a.flash) {
        FlashSpec s;
        s.batch = batch;
        s.group = group;
        s.queries = a.queries;
        s.keys = a.keys;
        s.headDim = a.headDim;
        s.valueDim = a.valueDim;
        s.causal = a.causal;
        s.queryBytes = matrix(rows, a.headDim);
        s.keyBytes = matrix(a.keys, a.headDim);
        s.valueBytes = matrix(a.keys, a.valueDim);
        s.resultBytes = matrix(rows, a.valueDim);
        return {{s, "attention"}};
    }
    const std::int64_t scores = matrix(rows, a.keys);
    ProductSpec first;
    first.batch = batch;
    first.lines = rows;
    first.channels = a.headDim;
    first.columns = a.keys;
    first.movingBytes = matrix(rows, a.headDim);
    first.keptBytes = matrix(a.keys, a.headDim);
    first.resultBytes = scores;
    first.epilogueOps = 2 * rows * a.keys;  // scale, maximum
    VectorSpec sum{scores * batch, 0, 3 * rows * a.keys * batch};
    ProductSpec last;
    last.batch = batch;
    last.lines = rows;
    last.channels = a.keys;
    last.columns = a.valueDim;
    last.movingBytes = scores;
    last.keptBytes = matrix(a.keys, a.valueDim);
    last.resultBytes = matrix(rows, a.valueDim);
    last.prologueOps = 3 * rows * a.keys;  // subtract, exponential, scale
    return {{first, "scores"}, {sum, "sum of exponentials"}, {last, "values"}};
}

}  // namespace orrery
