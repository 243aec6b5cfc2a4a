// The shapes behind the costs: implicit products and loop nests.

#include "workload/costs.h"
#include "workload/what_if_costs.h"

#include <algorithm>
#include <array>
#include <set>

namespace orrery {
namespace {

using Extents = std::vector<double>;

std::optional<Extents> extents(const Operator& op, const Graph& graph, std::size_t input) {
    if (input >= op.inputs.size()) return std::nullopt;
    const Tensor* tensor = graph.tensor(op.inputs[input]);
    if (!tensor || !tensor->ranked || !elementCount(tensor->shape)) return std::nullopt;
    Extents result;
    for (const Dim& dim : tensor->shape) result.push_back(static_cast<double>(dim.value));
    return result;
}

std::optional<Extents> outputExtents(const Operator& op, const Graph& graph) {
    const Tensor* tensor = op.outputs.empty() ? nullptr : graph.tensor(op.outputs.front());
    if (!tensor || !tensor->ranked || !elementCount(tensor->shape)) return std::nullopt;
    Extents result;
    for (const Dim& dim : tensor->shape) result.push_back(static_cast<double>(dim.value));
    return result;
}

double product(const Extents& values, std::size_t from = 0, std::size_t to = ~std::size_t{0}) {
    double result = 1;
    for (std::size_t i = from; i < std::min(to, values.size()); ++i) result *= values[i];
    return result;
}

/// Quantised ONNX operators put scales and zero points between their two operands.
std::size_t secondOperand(const Operator& op) {
    return op.type.starts_with("QLinear") ? 3 : 1;
}

GemmShape einsum(const Operator& op, const Graph& graph) {
    const auto a = extents(op, graph, 0);
    const auto b = extents(op, graph, 1);
    std::string equation = op.text("equation");
    std::erase(equation, ' ');
    const std::size_t comma = equation.find(',');
    const std::size_t arrow = equation.find("->");
    if (!a || !b || comma == std::string::npos || arrow == std::string::npos || arrow < comma) return {};
    const std::string left = equation.substr(0, comma);
    const std::string right = equation.substr(comma + 1, arrow - comma - 1);
    const std::string out = equation.substr(arrow + 2);
    // Letters are matched from the right, which also places an ellipsis before them.
    std::map<char, double> size;
    double ellipsis = 1;
    const auto bind = [&](const std::string& letters, const Extents& dims) {
        const std::size_t dots = letters.find("...");
        const std::string head = letters.substr(0, std::min(dots, letters.size()));
        const std::string tail = dots == std::string::npos ? std::string{} : letters.substr(dots + 3);
        if (head.size() + tail.size() > dims.size()) return;
        for (std::size_t i = 0; i < head.size(); ++i) size[head[i]] = std::max(size[head[i]], dims[i]);
        for (std::size_t i = 0; i < tail.size(); ++i) {
            char letter = tail[tail.size() - 1 - i];
            size[letter] = std::max(size[letter], dims[dims.size() - 1 - i]);
        }
        if (dots != std::string::npos) {
            ellipsis = std::max(ellipsis, product(dims, head.size(), dims.size() - tail.size()));
        }
    };
    bind(left, *a);
    bind(right, *b);
    GemmShape gemm{ellipsis, 1, 1, 1};
    for (const auto& [letter, extent] : size) {
        const bool inLeft = left.find(letter) != std::string::npos;
        const bool inRight = right.find(letter) != std::string::npos;
        const bool inOut = out.find(letter) != std::string::npos;
        if (!inOut) {
            gemm.k *= extent;
        } else if (inLeft && inRight) {
            gemm.batch *= extent;
        } else {
            (inLeft ? gemm.m : gemm.n) *= extent;
        }
    }
    return gemm;
}

GemmShape matMul(const Operator& op, const Graph& graph) {
    if (op.type == "Einsum") return einsum(op, graph);
    auto a = extents(op, graph, 0);
    auto b = extents(op, graph, secondOperand(op));
    if (!a || !b || a->empty() || b->empty()) return {};
    if (a->size() == 1) a->insert(a->begin(), 1);
    if (b->size() == 1) b->push_back(1);
    if (op.integer("transA", 0) != 0) std::swap(a->back(), (*a)[a->size() - 2]);
    if (op.integer("transB", 0) != 0) std::swap(b->back(), (*b)[b->size() - 2]);
    const double k = a->back();
    if (op.type == "GroupedMatMul") {
        const double rows = product(*a, 0, a->size() - 1);
        const double groups = std::max(1.0, b->front() * op.weightShareRead);
        return {groups, rows / groups, b->back(), k};
    }
    const double outerB = product(*b, 0, b->size() - 2);
    if (outerB == 1) return {1, product(*a, 0, a->size() - 1), b->back(), k};
    double batch = 1;
    for (std::size_t i = 0; i + 2 < std::max(a->size(), b->size()); ++i) {
        const double fromA = i + 2 < a->size() ? (*a)[a->size() - 3 - i] : 1;
        const double fromB = i + 2 < b->size() ? (*b)[b->size() - 3 - i] : 1;
        batch *= fromA == 1 ? fromB : fromA;
    }
    return {batch, (*a)[a->size() - 2], b->back(), k};
}

GemmShape convolution(const Operator& op, const Graph& graph) {
    const auto x = extents(op, graph, 0);
    const auto w = extents(op, graph, secondOperand(op));
    const auto y = outputExtents(op, graph);
    if (!x || !w || !y || x->size() < 2 || w->size() < 2 || y->size() < 2) return {};
    const double groups = static_cast<double>(std::max<std::int64_t>(1, op.integer("group", 1)));
    const double taps = product(*w, 2);
    if (op.kind == OperatorKind::ConvTranspose) {
        return {groups, x->front() * product(*x, 2), (*w)[1] * taps, w->front() / groups};
    }
    return {groups, y->front() * product(*y, 2), w->front() / groups, (*w)[1] * taps};
}

std::int64_t whole(double value) {
    return value < 9e18 ? static_cast<std::int64_t>(value) : 0;
}

std::vector<Loop> convolutionLoops(const Operator& op, const Graph& graph) {
    const auto w = extents(op, graph, secondOperand(op));
    const bool transposed = op.kind == OperatorKind::ConvTranspose;
    // A transposed convolution iterates over its input's positions.
    const auto at = transposed ? extents(op, graph, 0) : outputExtents(op, graph);
    if (!w || !at || w->size() < 2 || at->size() < 2) return {};
    const double groups = static_cast<double>(std::max<std::int64_t>(1, op.integer("group", 1)));
    std::vector<Loop> loops{{"N", whole(at->front())}};
    if (groups > 1) loops.push_back({"G", whole(groups)});
    loops.push_back({"K", whole(transposed ? (*w)[1] : w->front() / groups)});
    loops.push_back({"C", whole(transposed ? w->front() / groups : (*w)[1]), true});
    static constexpr std::array<const char*, 3> space{"P", "Q", "O"};
    static constexpr std::array<const char*, 3> taps{"R", "S", "T"};
    for (std::size_t i = 2; i < std::min<std::size_t>(at->size(), 5); ++i) {
        loops.push_back({space[i - 2], whole((*at)[i])});
    }
    for (std::size_t i = 2; i < std::min<std::size_t>(w->size(), 5); ++i) {
        loops.push_back({taps[i - 2], whole((*w)[i]), true});
    }
    return loops;
}

std::vector<Loop> extentLoops(const Extents& dims) {
    std::vector<Loop> loops;
    for (std::size_t i = 0; i < dims.size(); ++i) loops.push_back({"D" + std::to_string(i), whole(dims[i])});
    return loops;
}

}  // namespace

double attentionPairs(const AttentionShape& shape) {
    const auto queries = static_cast<double>(shape.queries);
    const auto keys = static_cast<double>(shape.keys);
    if (!shape.causal || !shape.flash) return queries * keys;
    if (keys < queries) return keys * (keys + 1) / 2 + (queries - keys) * keys;
    return queries * (keys - queries) + queries * (queries + 1) / 2;
}

GemmShape gemmShape(const Operator& op, const Graph& graph) {
    if (hasWhatIfShape(op)) {
        const Reshaped changed = reshaped(op, graph);
        return gemmShape(changed.op, changed.graph);
    }
    if (const auto work = numbers(op, fusedWorkAttribute); work.size() == 7)
        return {work[3], work[4], work[5], work[6]};
    switch (op.kind) {
        case OperatorKind::MatMul:
            return matMul(op, graph);
        case OperatorKind::Conv:
        case OperatorKind::ConvTranspose:
            return convolution(op, graph);
        case OperatorKind::Attention: {
            if (!op.attention) return {};
            const AttentionShape& a = *op.attention;
            return {static_cast<double>(a.batch) * static_cast<double>(a.heads), static_cast<double>(a.queries),
                    static_cast<double>(a.keys), static_cast<double>(a.headDim) + static_cast<double>(a.valueDim)};
        }
        default:
            return {};
    }
}

std::vector<Loop> loopSpace(const Operator& op, const Graph& graph) {
    if (hasWhatIfShape(op)) {
        const Reshaped changed = reshaped(op, graph);
        return loopSpace(changed.op, changed.graph);
    }
    if (const auto work = numbers(op, fusedWorkAttribute); work.size() == 7 && work[4] * work[5] * work[6] > 0) {
        return {{"B", whole(work[3])}, {"M", whole(work[4])}, {"N", whole(work[5])}, {"K", whole(work[6]), true}};
    }
    switch (op.kind) {
        case OperatorKind::View:
        case OperatorKind::Other:
            return {};
        case OperatorKind::MatMul: {
            const GemmShape g = matMul(op, graph);
            if (g.m * g.n * g.k <= 0) return {};
            return {{"B", whole(g.batch)}, {"M", whole(g.m)}, {"N", whole(g.n)}, {"K", whole(g.k), true}};
        }
        case OperatorKind::Conv:
        case OperatorKind::ConvTranspose:
            return convolutionLoops(op, graph);
        case OperatorKind::Attention: {
            if (!op.attention) return {};
            const AttentionShape& a = *op.attention;
            return {{"B", a.batch},
                    {"H", a.heads},
                    {"M", a.queries},
                    {"N", a.keys, true},
                    {"K", a.headDim + a.valueDim, true}};
        }
        case OperatorKind::Pool: {
            const auto out = outputExtents(op, graph);
            if (!out) return {};
            std::vector<Loop> loops = extentLoops(*out);
            const auto window = op.integers("kernel_shape");
            for (std::size_t i = 0; i < window.size(); ++i) {
                loops.push_back({i < 2 ? (i == 0 ? "R" : "S") : "T", window[i], true});
            }
            return loops;
        }
        case OperatorKind::Reduce: {
            const auto in = extents(op, graph, 0);
            if (!in) return {};
            std::vector<Loop> loops = extentLoops(*in);
            for (const std::int64_t axis : op.integers("axes")) {
                const std::int64_t at = axis < 0 ? axis + static_cast<std::int64_t>(loops.size()) : axis;
                if (at >= 0 && at < static_cast<std::int64_t>(loops.size())) {
                    loops[static_cast<std::size_t>(at)].reduction = true;
                }
            }
            return loops;
        }
        default: {
            const auto out = outputExtents(op, graph);
            return out ? extentLoops(*out) : std::vector<Loop>{};
        }
    }
}

}  // namespace orrery
