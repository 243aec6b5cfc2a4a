// Recommendation and graph networks.

#include "workload/models/other_models.h"

#include <array>

namespace orrery {
namespace {

/// Rows of the 26 categorical tables of Criteo Terabyte, capped at 40 million (MLPerf's --max-ind-range).
constexpr std::array<std::int64_t, 26> criteoRows{
    39884406, 39043, 17289, 7420, 20263, 3,  7120,     1543,     63,       38532951, 2953546, 403346, 10,
    2208,     11938, 155,   4,    976,   14, 39979771, 25641295, 39664984, 585935,   12972,   108,    36};

}  // namespace

Graph buildDlrm(const WorkloadOptions& options) {
    constexpr std::int64_t dense = 13, width = 128, lookUps = 1;
    GraphBuilder g("DLRM", options);
    const std::int64_t batch = options.batch;
    const auto mlp = [&g](const std::string& name, TensorId x, std::initializer_list<std::int64_t> widths) {
        int i = 0;
        for (const std::int64_t features : widths) {
            const std::string part = name + std::to_string(i++);
            x = g.linear(part, x, features);
            const bool last = features == 1;
            x = g.elementwise(last ? "Sigmoid" : "Relu", part + (last ? ".sigmoid" : ".relu"), {x});
        }
        return x;
    };
    const TensorId bottom = mlp("bottom", g.input("dense", {batch, dense}), {512, 256, width});
    std::vector<TensorId> vectors{bottom};
    for (std::size_t i = 0; i < criteoRows.size(); ++i) {
        const std::string name = "table" + std::to_string(i);
        const TensorId ids = g.input(name + ".ids", {batch, lookUps}, DType::I32);
        vectors.push_back(g.embedding(name, ids, criteoRows[i], width, "EmbeddingBag"));
    }
    const auto count = static_cast<std::int64_t>(vectors.size());
    const std::int64_t pairs = count * (count - 1) / 2;
    const TensorId stacked = g.move("Concat", "stack", vectors, {batch, count, width});
    // All products are computed; those below the diagonal are kept.
    const TensorId dots = g.matmul("interaction", stacked, stacked, true);
    const TensorId kept = g.move("Slice", "lower_triangle", {dots}, {batch, pairs});
    const TensorId joined = g.move("Concat", "join", {bottom, kept}, {batch, width + pairs});
    g.output(mlp("top", joined, {1024, 1024, 512, 256, 1}));
    return g.finish();
}

Graph buildGcn(const WorkloadOptions& options) {
    // ogbn-arxiv: 169,343 papers, 2,315,598 citations made symmetric, and a self-loop for each paper.
    constexpr std::int64_t papers = 169'343, citations = 2'315'598, features = 128, hidden = 256, classes = 40;
    GraphBuilder g("GCN", options);
    const std::int64_t nodes = papers * options.batch;
    const std::int64_t edges = (citations + papers) * options.batch;
    TensorId x = g.input("features", {nodes, features});
    const TensorId sources = g.input("edge_sources", {edges}, DType::I32);
    const TensorId weights = g.input("edge_weights", {edges, 1});
    const std::int64_t widths[] = {hidden, hidden, classes};
    for (int layer = 0; layer < 3; ++layer) {
        const std::string name = "conv" + std::to_string(layer + 1);
        const std::int64_t width = widths[layer];
        x = g.linear(name + ".linear", x, width, {.bias = false});
        Operator gather;
        gather.name = name + ".gather";
        gather.type = "Gather";
        gather.kind = OperatorKind::Gather;
        gather.inputs = {x, sources};
        gather.outputs = {g.activation({edges, width})};
        const TensorId messages = g.add(std::move(gather)).outputs.front();
        const TensorId weighted = g.elementwise("Mul", name + ".normalise", {messages, weights});
        Operator sum;
        sum.name = name + ".aggregate";
        sum.type = "ReduceSum";
        sum.kind = OperatorKind::Reduce;
        sum.inputs = {weighted};
        sum.outputs = {g.activation({nodes, width})};
        x = g.add(std::move(sum)).outputs.front();
        x = g.elementwise("Bias", name + ".bias", {x, g.auxiliary(name + ".bias.weight", {width})});
        if (layer == 2) break;
        x = g.elementwise("Relu", name + ".relu", {g.batchNorm("bn" + std::to_string(layer + 1), x)});
    }
    g.output(g.softmax("log_softmax", x));
    return g.finish();
}

}  // namespace orrery
