#include "workload/costs.h"

#include "workload/operator_types.h"
#include "workload/what_if_costs.h"

#include <algorithm>

namespace orrery {
namespace {

double inputElements(const Operator& op, const Graph& graph, std::size_t input = 0) {
    const Tensor* tensor = input < op.inputs.size() ? graph.tensor(op.inputs[input]) : nullptr;
    return tensor ? tensor->elements() : 0;
}

double outputElements(const Operator& op, const Graph& graph) {
    const Tensor* tensor = op.outputs.empty() ? nullptr : graph.tensor(op.outputs.front());
    return tensor ? tensor->elements() : 0;
}

double bytesPerElement(const Tensor& tensor) {
    return tensor.bytesPerElement > 0 ? tensor.bytesPerElement : bits(tensor.type) / 8.0;
}

/// Rank of floating types by width; 0 for the others. Of equal widths the first named wins.
int floatingRank(DType type) {
    switch (type) {
        case DType::F64:
            return 7;
        case DType::F32:
            return 6;
        case DType::TF32:
            return 5;
        case DType::BF16:
        case DType::F16:
            return 4;
        case DType::FP8:
            return 3;
        case DType::FP6:
            return 2;
        case DType::FP4:
            return 1;
        default:
            return 0;
    }
}

DType computeType(const Operator& op, const Graph& graph) {
    if (const auto chosen = dtype(op.text(computeTypeAttribute))) return *chosen;
    std::size_t operands = op.inputs.size();
    switch (op.kind) {
        case OperatorKind::MatMul:
        case OperatorKind::Conv:
        case OperatorKind::ConvTranspose:
            // A bias or scales may be wider than what the products run in.
            operands = std::min<std::size_t>(operands, op.type.starts_with("QLinear") ? 1 : 2);
            break;
        default:
            break;
    }
    const Tensor* best = nullptr;
    for (const bool scalars : {false, true}) {
        for (std::size_t i = 0; i < operands; ++i) {
            const Tensor* tensor = graph.tensor(op.inputs[i]);
            if (!tensor || (tensor->shape.empty() && tensor->ranked && !scalars)) continue;
            if (!best) {
                best = tensor;
                continue;
            }
            const int rank = floatingRank(tensor->type);
            const int bestRank = floatingRank(best->type);
            if (rank > bestRank || (rank == 0 && bestRank == 0 && bits(tensor->type) > bits(best->type))) best = tensor;
        }
        if (best) return best->type;
    }
    const Tensor* out = op.outputs.empty() ? nullptr : graph.tensor(op.outputs.front());
    return out ? out->type : DType::F32;
}

double poolWindow(const Operator& op, const Graph& graph) {
    double window = 1;
    for (const std::int64_t extent : op.integers("kernel_shape")) {
        window *= static_cast<double>(std::max<std::int64_t>(extent, 0));
    }
    if (!op.type.starts_with("Global") && !op.type.starts_with("Adaptive")) return window;
    const double out = outputElements(op, graph);
    return out > 0 ? inputElements(op, graph) / out : 0;
}

/// Bytes of the table (input 0) that a look-up touches.
double gatheredBytes(const Operator& op, const Graph& graph, const Tensor& table) {
    const double whole = table.bytes().value;
    if (op.type == "Scatter" || op.type == "ScatterND" || op.type == "ScatterElements" || op.type == "Compress") {
        return whole;
    }
    double touched = outputElements(op, graph);
    if (op.type == "EmbeddingBag") {
        const double rows = table.shape.empty() ? 1 : static_cast<double>(table.shape.front().value);
        touched = rows > 0 ? inputElements(op, graph, 1) * table.elements() / rows : 0;
    }
    return std::min(whole, touched * bytesPerElement(table));
}

struct Row {
    double macs = 0, flops = 0;
    double weight = 0, kvRead = 0, kvWrite = 0, input = 0, output = 0, scratch = 0;
    GemmShape gemm;
};

void countWork(Row& row, const Operator& op, const Graph& graph) {
    const OperatorType* known = operatorType(op.type);
    const double perElement = known && known->kind == op.kind ? known->flopsPerElement : 1;
    switch (op.kind) {
        case OperatorKind::MatMul:
        case OperatorKind::Conv:
        case OperatorKind::ConvTranspose: {
            row.gemm = gemmShape(op, graph);
            row.macs = row.gemm.batch * row.gemm.m * row.gemm.n * row.gemm.k;
            const bool quantised = op.type.starts_with("QLinear") || op.type.ends_with("Integer");
            const bool bias = !quantised && op.inputs.size() > 2 && op.inputs[2] >= 0 && op.type != "Einsum";
            row.flops = 2 * row.macs + (bias ? outputElements(op, graph) : 0);
            break;
        }
        case OperatorKind::Attention: {
            if (!op.attention) break;
            const AttentionShape& a = *op.attention;
            row.gemm = gemmShape(op, graph);
            const double scores = row.gemm.batch * attentionPairs(a);
            row.macs = scores * row.gemm.k;
            row.flops = 2 * row.macs + 5 * scores;
            const Tensor* query = op.inputs.empty() ? nullptr : graph.tensor(op.inputs.front());
            if (!a.flash && query) row.scratch = 4 * scores * bits(query->type) / 8.0;
            break;
        }
        case OperatorKind::Elementwise:
            for (const TensorId id : op.outputs) {
                if (const Tensor* out = graph.tensor(id)) row.flops += perElement * out->elements();
            }
            break;
        case OperatorKind::Normalization:
        case OperatorKind::Softmax:
        case OperatorKind::Reduce:
        case OperatorKind::Routing:
            row.flops = perElement * inputElements(op, graph);
            break;
        case OperatorKind::Pool:
            row.flops = perElement * outputElements(op, graph) * poolWindow(op, graph);
            break;
        case OperatorKind::Gather:
            if (op.type == "EmbeddingBag" && !op.inputs.empty()) {
                const Tensor* table = graph.tensor(op.inputs[0]);
                const double rows = table && !table->shape.empty() ? static_cast<double>(table->shape[0].value) : 0;
                if (rows > 0) row.flops = inputElements(op, graph, 1) * table->elements() / rows;
            }
            break;
        case OperatorKind::Scan:
            if (op.type == "SelectiveScan") {
                // Inputs u[B,L,D], delta[B,L,D], A[D,N], B[B,L,N], C[B,L,N], D[D].
                const Tensor* a = op.inputs.size() > 2 ? graph.tensor(op.inputs[2]) : nullptr;
                const double states = a && a->shape.size() == 2 ? static_cast<double>(a->shape[1].value) : 0;
                row.flops = (9 * states + 2) * inputElements(op, graph);
            } else {
                const Tensor* x = op.inputs.empty() ? nullptr : graph.tensor(op.inputs[0]);
                if (!x || x->shape.size() < 2) break;
                const double steps = static_cast<double>(x->shape[0].value) * static_cast<double>(x->shape[1].value);
                row.macs = steps * (inputElements(op, graph, 1) + inputElements(op, graph, 2));
                row.flops = 2 * row.macs + 10 * outputElements(op, graph);
            }
            break;
        case OperatorKind::Movement:
        case OperatorKind::View:
        case OperatorKind::Other:
            break;
    }
}

void countBytes(Row& row, const Operator& op, const Graph& graph) {
    const std::vector<double> shares = numbers(op, fusedReadsAttribute);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const Tensor* tensor = graph.tensor(op.inputs[i]);
        if (!tensor) continue;
        const auto end = op.inputs.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::find(op.inputs.begin(), end, op.inputs[i]) != end) continue;
        const double bytes = i < shares.size() ? shares[i] * tensor->bytes().value : bytesRead(op, graph, i);
        switch (tensor->role) {
            case TensorRole::Weight:
            case TensorRole::Constant:
                row.weight += bytes;
                break;
            case TensorRole::KvCache:
                row.kvRead += bytes;
                break;
            default:
                row.input += bytes;
        }
    }
    for (const TensorId id : op.outputs) {
        const Tensor* tensor = graph.tensor(id);
        if (!tensor) continue;
        (tensor->role == TensorRole::KvCache ? row.kvWrite : row.output) += tensor->bytes().value;
    }
}

bool free(const Operator& op, const Graph& graph) {
    if (op.kind == OperatorKind::View) return true;
    return !op.outputs.empty() && std::all_of(op.outputs.begin(), op.outputs.end(), [&graph](TensorId id) {
        const Tensor* tensor = graph.tensor(id);
        return tensor && tensor->role == TensorRole::Constant;
    });
}

Row countRow(const Operator& op, const Graph& graph) {
    Row row;
    if (hasWhatIfShape(op)) {
        const Reshaped changed = reshaped(op, graph);
        return countRow(changed.op, changed.graph);
    }
    if (const auto work = numbers(op, fusedWorkAttribute); work.size() == 7) {
        row.macs = work[0], row.flops = work[1], row.scratch = work[2];
        row.gemm = {work[3], work[4], work[5], work[6]};
    } else if (free(op, graph)) {
        return row;
    } else {
        countWork(row, op, graph);
    }
    countBytes(row, op, graph);
    return row;
}

}  // namespace

double bytesRead(const Operator& op, const Graph& graph, std::size_t input) {
    const Tensor* tensor = input < op.inputs.size() ? graph.tensor(op.inputs[input]) : nullptr;
    if (!tensor) return 0;
    double bytes = tensor->bytes().value;
    if (op.kind == OperatorKind::Gather && input == 0) bytes = gatheredBytes(op, graph, *tensor);
    if (op.kind == OperatorKind::Movement && (op.type == "Slice" || op.type == "Split") && input == 0) {
        double taken = 0;
        for (const TensorId id : op.outputs) {
            if (const Tensor* out = graph.tensor(id)) taken += out->bytes().value;
        }
        bytes = std::min(bytes, taken);
    }
    return tensor->role == TensorRole::Weight ? bytes * op.weightShareRead : bytes;
}

CostTable costTable(const Graph& graph) {
    CostTable table;
    const std::size_t count = graph.operators.size();
    for (auto* column : {&table.repeat, &table.macs, &table.flops, &table.weightBytes, &table.kvReadBytes,
                         &table.kvWriteBytes, &table.inputBytes, &table.outputBytes, &table.scratchBytes}) {
        column->reserve(count);
    }
    std::vector<bool> open(count, false);
    for (const std::size_t i : graph.unresolved()) open[i] = true;
    for (std::size_t i = 0; i < count; ++i) {
        const Operator& op = graph.operators[i];
        const Row row = open[i] ? Row{} : countRow(op, graph);
        table.kind.push_back(op.kind);
        table.type.push_back(computeType(op, graph));
        table.repeat.push_back(static_cast<double>(op.repeat));
        table.macs.push_back(row.macs);
        table.flops.push_back(row.flops);
        table.weightBytes.push_back(row.weight);
        table.kvReadBytes.push_back(row.kvRead);
        table.kvWriteBytes.push_back(row.kvWrite);
        table.inputBytes.push_back(row.input);
        table.outputBytes.push_back(row.output);
        table.scratchBytes.push_back(row.scratch);
        table.gemm.push_back(row.gemm);
    }
    return table;
}

}  // namespace orrery
