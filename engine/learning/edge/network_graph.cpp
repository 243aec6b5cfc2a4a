#include "learning/edge/network_graph.h"

#include "learning/edge/space_features.h"
#include "workload/spaces/spaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace orrery {
namespace {

constexpr std::size_t logs = 10, amountsOfOperator = 4;
constexpr std::size_t operatorWords = operatorKindCount + 1;  // the last: eight bits

// The input, six operators, the output. An operator of the edge i → j stands before those of j → k.
constexpr std::size_t cellWords = 7, cellNodes = 8;

NetworkGraph cellGraph(const NasBench201Cell& cell) {
    using Cell = NasBench201Cell;
    NetworkGraph graph;
    graph.rows = cellNodes;
    graph.nodes.assign(cellNodes * cellWords, 0);
    graph.nodes[5] = graph.nodes[(cellNodes - 1) * cellWords + 6] = 1;
    for (std::size_t e = 0; e < cell.edges.size(); ++e) graph.nodes[(1 + e) * cellWords + cell.edges[e]] = 1;
    const auto from = [&](std::size_t n) { return n == 0 ? 0 : n == 7 ? 3 : Cell::from[n - 1]; };
    const auto to = [&](std::size_t n) { return n == 0 ? 0 : n == 7 ? 4 : Cell::to[n - 1]; };
    for (std::uint32_t a = 0; a < cellNodes; ++a)
        for (std::uint32_t b = a + 1; b < cellNodes; ++b)
            if (to(a) == from(b)) graph.edges.emplace_back(a, b);
    return graph;
}

bool isStored(const Tensor& tensor) {
    return tensor.role == TensorRole::Weight || tensor.role == TensorRole::Constant;
}

double elementsOf(const Graph& graph, std::span<const TensorId> ids, bool weights) {
    double sum = 0;
    std::set<TensorId> seen;
    for (const TensorId id : ids) {
        const Tensor* tensor = graph.tensor(id);
        if (!tensor || !seen.insert(id).second) continue;
        if (isStored(*tensor) == weights) sum += tensor->elements();
    }
    return sum;
}

// Of the first output: channels stand second where there are positions behind them (N C H W), else last.
double channelsOf(const Graph& graph, const Operator& op) {
    const Tensor* tensor = op.outputs.empty() ? nullptr : graph.tensor(op.outputs.front());
    if (!tensor || tensor->shape.empty()) return 1;
    const Dim& at = tensor->shape.size() >= 4 ? tensor->shape[1] : tensor->shape.back();
    return at.known() ? static_cast<double>(std::max<std::int64_t>(1, at.value)) : 1;
}

bool isConstant(const Graph& graph, const Operator& op) {
    return std::all_of(op.outputs.begin(), op.outputs.end(), [&](TensorId id) {
        const Tensor* tensor = graph.tensor(id);
        return !tensor || isStored(*tensor);
    });
}

// A cell's code where what folds is none.
std::string codeOf(const NasBench201Cell& cell) {
    constexpr std::array<const char*, 5> names{"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};
    const auto op = [&](std::size_t e) { return names[cell.edges[e]]; };
    return fmt::format("|{}~0|+|{}~0|{}~1|+|{}~0|{}~1|{}~2|", op(0), op(1), op(2), op(3), op(4), op(5));
}

}  // namespace

NetworkGraph operatorGraph(const Workload& workload) {
    const Graph& all = workload.graph;
    const CostTable& costs = workload.costs;
    constexpr std::size_t columns = operatorWords + logs;
    NetworkGraph graph;
    struct Source {
        std::vector<std::uint32_t> nodes;  // that its values come from
        int readers = 0;
        double repeat = 0;  // of its operator, where that is a node or joined to one; else 0
    };
    std::vector<Source> of(all.tensors.size());
    const auto at = [&](TensorId id) -> Source& { return of[static_cast<std::size_t>(id)]; };
    for (const Operator& op : all.operators)
        for (const TensorId id : op.inputs)
            if (id >= 0) ++at(id).readers;
    for (const TensorId id : all.outputs)
        if (id >= 0) ++at(id).readers;
    std::vector<double> joined;
    for (std::size_t i = 0; i < all.operators.size(); ++i) {
        const Operator& op = all.operators[i];
        std::set<std::uint32_t> from;
        TensorId only = -1;
        int activations = 0;
        for (const TensorId id : op.inputs) {
            if (id < 0) continue;
            from.insert(at(id).nodes.begin(), at(id).nodes.end());
            if (isStored(*all.tensor(id))) continue;
            only = id;
            ++activations;
        }
        Source here{{from.begin(), from.end()}, 0, 0};
        const bool norm = op.type == "BatchNormalization";
        if (costs.kind[i] == OperatorKind::View || isConstant(all, op)) {
            // Edges pass through.
        } else if ((norm || costs.kind[i] == OperatorKind::Elementwise) && activations == 1 && from.size() == 1 &&
                   at(only).readers == 1 && at(only).repeat == costs.repeat[i]) {
            if (!norm) joined[*from.begin()] += costs.flops[i];
            here.repeat = costs.repeat[i];
        } else {
            const auto node = static_cast<std::uint32_t>(graph.rows++);
            for (const std::uint32_t each : from) graph.edges.emplace_back(each, node);
            const GemmShape& gemm = costs.gemm[i];
            const bool product = gemm.batch > 0;
            const double in = elementsOf(all, op.inputs, false), out = elementsOf(all, op.outputs, false),
                         weights = costs.weightBytes[i] > 0 ? elementsOf(all, op.inputs, true) : 0,
                         channels = channelsOf(all, op), times = costs.repeat[i];
            graph.nodes.resize(graph.nodes.size() + columns);
            float* row = graph.nodes.data() + node * columns;
            row[static_cast<std::size_t>(costs.kind[i])] = 1;
            if (bits(costs.type[i]) == 8) row[operatorKindCount] = 1;
            std::size_t c = operatorWords + 1;
            for (const double each : {costs.flops[i], in, out, weights, channels, product ? gemm.k : 0,
                                      product ? gemm.batch : 0, out / channels, times})
                row[c++] = static_cast<float>(std::log1p(each));
            for (const double each : {1.0, costs.flops[i], in + out, weights})
                graph.amounts.push_back(static_cast<float>(times * each));
            joined.push_back(0);
            here = {{node}, 0, times};
        }
        for (const TensorId id : op.outputs) {
            if (id < 0) continue;
            at(id).nodes = here.nodes;
            at(id).repeat = here.repeat;
        }
    }
    for (std::size_t n = 0; n < graph.rows; ++n)
        graph.nodes[n * columns + operatorWords] = static_cast<float>(std::log1p(joined[n]));
    return graph;
}

GraphShape graphShape(std::string_view space, GraphForm form) {
    if (form == GraphForm::Operators) return {operatorWords + logs, amountsOfOperator, operatorWords};
    if (space != "nasbench201") return {};
    return {cellWords, 0, cellWords};
}

std::size_t graphsOfEach(std::string_view space) {
    return space == "nasbench201" ? 2 : 1;
}

Expected<NetworkGraph> graphOfCode(std::string_view space, std::string_view input, std::string_view code,
                                   GraphForm form, bool folded) {
    std::string written(code);
    if (space == "nasbench201") {
        auto cell = readNasBench201(code);
        if (!cell) return Unexpected(cell.error());
        if (folded) cell = foldedCell(*cell);
        if (form == GraphForm::Words) return cellGraph(*cell);
        written = codeOf(*cell);
    }
    if (form == GraphForm::Words)
        return fail("edge.no-graph", fmt::format("codes of “{}” are no words of a graph", space), "nasbench201",
                    "read them operator by operator");
    auto made = buildFromSpace(fmt::format("{}:{}", input.empty() ? space : input, written), {});
    if (!made) return Unexpected(made.error());
    return operatorGraph(*finishWorkload({}, {}, {}, std::move(made->graph), {}));
}

}  // namespace orrery
