// Is every kind of operator priced by its rule? Each expectation is counted by hand from the rule in costs.h.

#include "workload/costs.h"
#include "workload/models/builder.h"
#include "workload/passes.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

struct Small {
    Graph graph;
    TensorId tensor(Shape shape, TensorRole role = TensorRole::Activation, DType type = DType::F16) {
        return graph.addTensor({"t" + std::to_string(graph.tensors.size()), type, std::move(shape), true, role, 0});
    }
    Operator& add(std::string type, OperatorKind kind, std::vector<TensorId> in, std::vector<TensorId> out) {
        Operator op;
        op.name = "op" + std::to_string(graph.operators.size());
        op.type = std::move(type);
        op.kind = kind;
        op.inputs = std::move(in);
        op.outputs = std::move(out);
        graph.operators.push_back(std::move(op));
        return graph.operators.back();
    }
    CostTable costs() const { return costTable(graph); }
    CostTotals totals() const { return costTotals(graph, costs()); }
};

double product(const std::vector<Loop>& loops) {
    double all = 1;
    for (const Loop& loop : loops) all *= static_cast<double>(loop.extent);
    return all;
}

}  // namespace

class TestWorkloadCosts : public QObject {
    Q_OBJECT
private slots:
    void products() {
        Small s;
        const auto a = s.tensor({4, 5, 6, 7});
        s.add("MatMul", OperatorKind::MatMul, {a, s.tensor({7, 8})}, {s.tensor({4, 5, 6, 8})});     // rows joined
        s.add("MatMul", OperatorKind::MatMul, {a, s.tensor({5, 7, 8})}, {s.tensor({4, 5, 6, 8})});  // batched
        auto& gemm = s.add("Gemm", OperatorKind::MatMul,
                           {s.tensor({7, 6}), s.tensor({8, 7}, TensorRole::Weight), s.tensor({8}, TensorRole::Weight)},
                           {s.tensor({6, 8})});
        gemm.attributes["transA"] = std::int64_t{1};
        gemm.attributes["transB"] = std::int64_t{1};
        auto& einsum = s.add("Einsum", OperatorKind::MatMul, {s.tensor({2, 3, 5, 7}), s.tensor({2, 3, 11, 7})},
                             {s.tensor({2, 3, 5, 11})});
        einsum.attributes["equation"] = std::string("bhid, bhjd -> bhij");
        const CostTable c = s.costs();
        QCOMPARE(c.macs[0], 4.0 * 5 * 6 * 7 * 8);
        QCOMPARE(c.gemm[0].batch, 1.0);
        QCOMPARE(c.gemm[0].m, 120.0);
        QCOMPARE(c.macs[1], 4.0 * 5 * 6 * 7 * 8);
        QCOMPARE(c.gemm[1].batch, 20.0);
        QCOMPARE(c.gemm[1].m, 6.0);
        QCOMPARE(c.macs[2], 6.0 * 7 * 8);
        QCOMPARE(c.flops[2], 2.0 * 6 * 7 * 8 + 6 * 8);
        QCOMPARE(c.weightBytes[2], 2.0 * (7 * 8 + 8));
        QCOMPARE(c.macs[3], 2.0 * 3 * 5 * 11 * 7);
        QCOMPARE(c.gemm[3].batch, 6.0);
        for (std::size_t i = 0; i < 4; ++i) QCOMPARE(product(loopSpace(s.graph.operators[i], s.graph)), c.macs[i]);
    }
    void convolutions() {
        Small s;
        auto& grouped = s.add("Conv", OperatorKind::Conv, {s.tensor({2, 8, 10, 10}), s.tensor({16, 2, 3, 3})},
                              {s.tensor({2, 16, 8, 8})});
        grouped.attributes["group"] = std::int64_t{4};
        s.add("ConvTranspose", OperatorKind::ConvTranspose, {s.tensor({2, 8, 10, 10}), s.tensor({8, 5, 2, 2})},
              {s.tensor({2, 5, 20, 20})});
        const CostTable c = s.costs();
        QCOMPARE(c.macs[0], 2.0 * 16 * 8 * 8 * 2 * 3 * 3);
        QCOMPARE(c.macs[1], 2.0 * 8 * 10 * 10 * 5 * 2 * 2);
        QCOMPARE(c.gemm[0].batch, 4.0);
        QCOMPARE(c.gemm[0].n, 4.0);
        for (std::size_t i = 0; i < 2; ++i) {
            QCOMPARE(product(loopSpace(s.graph.operators[i], s.graph)), c.macs[i]);
            QCOMPARE(c.gemm[i].batch * c.gemm[i].m * c.gemm[i].n * c.gemm[i].k, c.macs[i]);
        }
        const auto loops = loopSpace(s.graph.operators[0], s.graph);
        QCOMPARE(loops.front().name, std::string("N"));
        QCOMPARE(std::count_if(loops.begin(), loops.end(), [](const Loop& l) { return l.reduction; }), 3);
    }
    void attentionPairsAreThoseOfTheMask() {
        for (const std::int64_t queries : {1, 3, 8}) {
            for (const std::int64_t keys : {1, 3, 8, 11}) {
                double masked = 0;  // query i stands at key position keys - queries + i
                for (std::int64_t i = 0; i < queries; ++i) {
                    for (std::int64_t j = 0; j < keys; ++j) masked += j <= keys - queries + i ? 1 : 0;
                }
                AttentionShape a{.queries = queries, .keys = keys, .causal = true, .flash = true};
                if (keys >= queries) QCOMPARE(attentionPairs(a), masked);
                a.flash = false;
                QCOMPARE(attentionPairs(a), static_cast<double>(queries * keys));
            }
        }
        double window = 0;  // ten queries that see themselves and up to three before
        for (int i = 0; i < 10; ++i) window += std::min(i + 1, 4);
        QCOMPARE(attentionPairs({.queries = 10, .keys = 4, .causal = true, .flash = true}), window);
    }
    void attentionWithoutFlashMovesItsScores() {
        Small s;
        const AttentionShape shape{.batch = 2,
                                   .heads = 3,
                                   .kvHeads = 1,
                                   .queries = 5,
                                   .keys = 7,
                                   .headDim = 16,
                                   .valueDim = 8,
                                   .causal = false,
                                   .flash = false};
        auto& op = s.add("Attention", OperatorKind::Attention,
                         {s.tensor({2, 5, 48}), s.tensor({2, 7, 16}, TensorRole::KvCache),
                          s.tensor({2, 7, 8}, TensorRole::KvCache, DType::FP8)},
                         {s.tensor({2, 5, 24})});
        op.attention = shape;
        const double scores = 2.0 * 3 * 5 * 7;
        const CostTable c = s.costs();
        QCOMPARE(c.macs[0], scores * 24);
        QCOMPARE(c.flops[0], scores * (48 + 5));
        QCOMPARE(c.scratchBytes[0], 4 * scores * 2);
        QCOMPARE(c.kvReadBytes[0], 2.0 * 7 * 16 * 2 + 2.0 * 7 * 8);
        QCOMPARE(c.type[0], DType::F16);
        s.graph.operators[0].attention->flash = true;
        QCOMPARE(s.costs().scratchBytes[0], 0.0);
    }
    void lookUpsReadTheRowsThatAreNamed() {
        Small s;
        const auto table = s.tensor({1000, 64}, TensorRole::Weight);
        s.add("Gather", OperatorKind::Gather, {table, s.tensor({3, 5}, TensorRole::Input, DType::I64)},
              {s.tensor({3, 5, 64})});
        s.add("EmbeddingBag", OperatorKind::Gather, {table, s.tensor({3, 5}, TensorRole::Input, DType::I64)},
              {s.tensor({3, 64})});
        const CostTable c = s.costs();
        QCOMPARE(c.weightBytes[0], 15.0 * 64 * 2);
        QCOMPARE(c.inputBytes[0], 15.0 * 8);
        QCOMPARE(c.outputBytes[0], 15.0 * 64 * 2);
        QCOMPARE(c.weightBytes[1], 15.0 * 64 * 2);
        QCOMPARE(c.flops[1], 15.0 * 64);
        QCOMPARE(s.totals().weightBytes, 1000.0 * 64 * 2);  // stored once, however often read
    }
    void elementsPoolsAndScans() {
        Small s;
        const auto x = s.tensor({2, 4, 8, 8});
        s.add("Sigmoid", OperatorKind::Elementwise, {x}, {s.tensor({2, 4, 8, 8})});
        s.add("Softmax", OperatorKind::Softmax, {x}, {s.tensor({2, 4, 8, 8})});
        s.add("MaxPool", OperatorKind::Pool, {x}, {s.tensor({2, 4, 4, 4})}).attributes["kernel_shape"] =
            std::vector<std::int64_t>{3, 3};
        s.add("GlobalAveragePool", OperatorKind::Pool, {x}, {s.tensor({2, 4, 1, 1})});
        s.add("ReduceMean", OperatorKind::Reduce, {x}, {s.tensor({2, 4, 1, 1})});
        s.add("Transpose", OperatorKind::Movement, {x}, {s.tensor({2, 8, 8, 4})});
        s.add("Reshape", OperatorKind::View, {x}, {s.tensor({2, 256})});
        s.add("Mystery", OperatorKind::Other, {x}, {s.tensor({512})});
        s.add("LSTM", OperatorKind::Scan, {s.tensor({10, 3, 6}), s.tensor({1, 32, 6}), s.tensor({1, 32, 8})},
              {s.tensor({10, 1, 3, 8})});
        s.add("SelectiveScan", OperatorKind::Scan,
              {s.tensor({2, 5, 6}), s.tensor({2, 5, 6}), s.tensor({6, 4}), s.tensor({2, 5, 4}), s.tensor({2, 5, 4})},
              {s.tensor({2, 5, 6})});
        const CostTable c = s.costs();
        QCOMPARE(c.flops[0], 4.0 * 512);
        QCOMPARE(c.flops[1], 5.0 * 512);
        QCOMPARE(c.flops[2], 128.0 * 9);
        QCOMPARE(c.flops[3], 512.0);
        QCOMPARE(c.flops[4], 512.0);
        QCOMPARE(c.flops[5], 0.0);
        QCOMPARE(c.bytes(5), 2048.0);
        QCOMPARE(c.bytes(6), 0.0);
        QCOMPARE(c.flops[7], 0.0);
        QCOMPARE(c.bytes(7), 2048.0);
        QCOMPARE(c.macs[8], 30.0 * (32 * 6 + 32 * 8));
        QCOMPARE(c.flops[9], 2.0 * 5 * 6 * (9 * 4 + 2));
        QVERIFY(loopSpace(s.graph.operators[6], s.graph).empty());
        QVERIFY(loopSpace(s.graph.operators[7], s.graph).empty());
    }
    void theComputeTypeIsThatOfTheWidestFloatingOperand() {
        Small s;
        const auto x16 = s.tensor({4, 4}), x8 = s.tensor({4, 4}, TensorRole::Activation, DType::I8);
        const auto w4 = s.tensor({4, 4}, TensorRole::Weight, DType::I4);
        const auto bias = s.tensor({4}, TensorRole::Weight, DType::F32);
        const auto scalar = s.tensor({}, TensorRole::Constant, DType::F32);
        s.add("Linear", OperatorKind::MatMul, {x16, w4, bias}, {s.tensor({4, 4})});
        s.add("Linear", OperatorKind::MatMul, {x8, w4}, {s.tensor({4, 4})});
        s.add("Mul", OperatorKind::Elementwise, {x16, scalar}, {s.tensor({4, 4})});
        const CostTable c = s.costs();
        QCOMPARE(c.type[0], DType::F16);
        QCOMPARE(c.type[1], DType::I8);
        QCOMPARE(c.type[2], DType::F16);
    }
    void aTensorNamedTwiceIsReadOnce() {
        Small s;
        const auto x = s.tensor({100});
        s.add("Mul", OperatorKind::Elementwise, {x, x}, {s.tensor({100})});
        QCOMPARE(s.costs().inputBytes[0], 200.0);
    }
    void constantsAreMadeWhenTheModelIsLoaded() {
        Small s;
        s.add("Add", OperatorKind::Elementwise, {s.tensor({10}, TensorRole::Constant)},
              {s.tensor({10}, TensorRole::Constant)});
        QCOMPARE(s.costs().bytes(0) + s.costs().flops[0], 0.0);
    }
    void repeatsCopiesAndSharesCount() {
        Small s;
        const auto w = s.tensor({10, 10}, TensorRole::Weight);
        auto& op = s.add("Linear", OperatorKind::MatMul, {s.tensor({1, 10}), w}, {s.tensor({1, 10})});
        op.repeat = 6;
        QCOMPARE(s.totals().parameters, 600.0);
        QCOMPARE(s.totals().macs, 600.0);
        s.graph.operators[0].weightCopies = 1;
        QCOMPARE(s.totals().parameters, 100.0);
        QCOMPARE(s.totals().weightBytesRead, 6 * 200.0);
        s.graph.operators[0].weightShareRead = 0.25;
        QCOMPARE(s.totals().weightBytesRead, 6 * 50.0);
        QCOMPARE(s.totals().weightBytes, 200.0);
        // A second reader of the same weight (a tied head) stores nothing more.
        s.add("Linear", OperatorKind::MatMul, {s.tensor({1, 10}), w}, {s.tensor({1, 10})});
        QCOMPARE(s.totals().parameters, 100.0);
    }
    void peakIsTheLargestSumOfLiveActivations() {
        // x(100) → a(200) → b(400); then a+b → c(50): at b's making x is gone, a and b live; at c's: a, b, c.
        Small s;
        const auto x = s.tensor({100}, TensorRole::Input), a = s.tensor({200}), b = s.tensor({400});
        const auto view = s.tensor({4, 100}), c = s.tensor({50}, TensorRole::Output);
        s.add("Relu", OperatorKind::Elementwise, {x}, {a});
        s.add("Relu", OperatorKind::Elementwise, {a}, {b});
        s.add("Reshape", OperatorKind::View, {b}, {view});
        s.add("Mystery", OperatorKind::Other, {a, view}, {c});
        s.graph.inputs = {x};
        s.graph.outputs = {c};
        QCOMPARE(s.totals().peakActivationBytes, 2.0 * (200 + 400 + 50));
        s.graph.keepsActivations = true;
        QCOMPARE(s.totals().peakActivationBytes, 2.0 * (100 + 200 + 400 + 50));
    }
    void unknownExtentsArePricedAsNothingAndCounted() {
        Small s;
        s.add("Relu", OperatorKind::Elementwise, {s.tensor({Dim::named("batch"), 10})}, {s.tensor({Dim(), 10})});
        QCOMPARE(s.totals().unresolved, 1.0);
        QCOMPARE(s.costs().bytes(0), 0.0);
        QCOMPARE(s.graph.symbols(), std::vector<std::string>{"batch"});
    }
    void hugeExtentsNeverBecomeNaN() {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        Small s;
        const auto x = s.tensor({most, most, most}), w = s.tensor({most, most});
        s.add("MatMul", OperatorKind::MatMul, {x, w}, {s.tensor({most, most, most})});
        s.add("Relu", OperatorKind::Elementwise, {s.tensor(Shape(40, Dim(most)))}, {s.tensor({0})});
        const CostTotals t = s.totals();
        QVERIFY(!std::isnan(t.macs) && !std::isnan(t.peakActivationBytes) && !std::isnan(t.activationBytes));
        QCOMPARE(t.unresolved, 1.0);  // 40 such extents exceed even a double
    }
    void foldingChangesNoTotal() {
        // Six equal layers written one by one, and what folding makes of them.
        GraphBuilder g("six", {.phase = Phase::Forward});
        TensorId x = g.input("x", {16, 64});
        for (int i = 0; i < 6; ++i) {
            const std::string layer = "layer" + std::to_string(i);
            const TensorId h = g.elementwise("SiLU", layer + ".act", {g.linear(layer + ".up", x, 256)});
            x = g.elementwise("Residual", layer + ".add", {x, g.linear(layer + ".down", h, 64)});
        }
        g.output(g.linear("head", x, 10));
        Graph folded = g.finish();
        const CostTotals before = costTotals(folded, costTable(folded));
        QVERIFY(foldRepeats(folded) > 0);
        const CostTotals after = costTotals(folded, costTable(folded));
        QCOMPARE(after.operators, before.operators);
        QCOMPARE(after.macs, before.macs);
        QCOMPARE(after.flops, before.flops);
        QCOMPARE(after.parameters, before.parameters);
        QCOMPARE(after.weightBytes, before.weightBytes);
        QCOMPARE(after.weightBytesRead, before.weightBytesRead);
        QCOMPARE(after.activationBytes, before.activationBytes);
        QCOMPARE(after.peakActivationBytes, before.peakActivationBytes);
    }
    void smallTypesStoreTheirScales() {
        // GPTQ and AWQ: 4 bits, and per 128 weights an fp16 scale and a 4-bit zero point.
        GraphBuilder g("quantised", {.weights = DType::I4});
        g.output(g.linear("fc", g.input("x", {1, 1280}), 128, {.bias = false}));
        const Graph graph = g.finish();
        const CostTotals totals = costTotals(graph, costTable(graph));
        QCOMPARE(totals.weightBytes, 1280.0 * 128 / 2 + 1280.0 * 128 / 128 * 2.5);
    }
};

QTEST_GUILESS_MAIN(TestWorkloadCosts)
#include "tst_workload_costs.moc"
