#include "workload/one_type.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

std::size_t index(const Graph& graph, const std::string& name) {
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (graph.operators[i].name == name) return i;
    }
    return ~std::size_t{0};
}

TensorId apply(Graph& graph, const std::string& name, const std::string& type, OperatorKind kind,
               std::vector<TensorId> inputs, Shape shape) {
    Operator op;
    op.name = name;
    op.type = type;
    op.kind = kind;
    op.inputs = std::move(inputs);
    op.outputs = {graph.addTensor({.name = name + ":0", .type = DType::F16, .shape = std::move(shape)})};
    graph.operators.push_back(op);
    return op.outputs[0];
}

/// x[4,8] · w[8,16] → h, Relu → r, r · v[16,8] → y. fp16.
Graph perceptron() {
    Graph graph;
    const TensorId x = graph.addTensor({.name = "x", .type = DType::F16, .shape = {4, 8}, .role = TensorRole::Input});
    const TensorId w = graph.addTensor({.name = "w", .type = DType::F16, .shape = {8, 16}, .role = TensorRole::Weight});
    const TensorId v = graph.addTensor({.name = "v", .type = DType::F16, .shape = {16, 8}, .role = TensorRole::Weight});
    const TensorId h = apply(graph, "up", "MatMul", OperatorKind::MatMul, {x, w}, {4, 16});
    const TensorId r = apply(graph, "act", "Relu", OperatorKind::Elementwise, {h}, {4, 16});
    const TensorId y = apply(graph, "down", "MatMul", OperatorKind::MatMul, {r, v}, {4, 8});
    graph.inputs = {x};
    graph.outputs = {y};
    return graph;
}

/// How many weights it stored.
std::size_t store(Graph& graph, const NumberFormat& format, const std::vector<WhatIf>& changes = {}) {
    Diagnostics warnings;
    const std::size_t stored = storeProductWeights(graph, changes, format, warnings);
    return warnings.empty() ? stored : ~std::size_t{0};
}

/// y of one product of `kind` whose operand `slot` is a weight of `weight`.
Graph oneProduct(OperatorKind kind, std::size_t slot, Shape weight, Shape data, Shape result,
                 std::vector<std::string> flags = {}) {
    Graph graph;
    const TensorId x =
        graph.addTensor({.name = "x", .type = DType::F16, .shape = std::move(data), .role = TensorRole::Input});
    const TensorId w =
        graph.addTensor({.name = "w", .type = DType::F16, .shape = std::move(weight), .role = TensorRole::Weight});
    const std::vector<TensorId> inputs = slot == 0 ? std::vector{w, x} : std::vector{x, w};
    apply(graph, "one", std::string(toText(kind)), kind, inputs, std::move(result));
    for (const std::string& flag : flags) graph.operators[0].attributes[flag] = std::int64_t{1};
    return graph;
}

double allBytes(const CostTable& table) {
    double sum = 0;
    for (std::size_t i = 0; i < table.size(); ++i) sum += table.repeat[i] * table.bytes(i);
    return sum;
}

}  // namespace

class TestWhatIf : public QObject {
    Q_OBJECT
private slots:
    void fusingRemovesTheIntermediateWriteAndReadAndNothingElse() {
        Graph graph = perceptron();
        const CostTable before = costTable(graph);
        QVERIFY(applyWhatIfs(graph, std::vector<WhatIf>{FuseOperators{{"act", "up"}, "up_act"}}).empty());
        QCOMPARE(graph.operators.size(), std::size_t{2});
        const CostTable after = costTable(graph);
        // h: 4·16 elements of 2 bytes, written once and read once
        QCOMPARE(allBytes(before) - allBytes(after), 2 * 4 * 16 * 2.0);
        QCOMPARE(after.macs[0], 4 * 8 * 16.0);
        QCOMPARE(after.flops[0], 2 * 4 * 8 * 16.0 + 4 * 16);  // and one per element for Relu
        QCOMPARE(after.inputBytes[0], 4 * 8 * 2.0);
        QCOMPARE(after.weightBytes[0], 8 * 16 * 2.0);
        QCOMPARE(after.outputBytes[0], 4 * 16 * 2.0);
        QCOMPARE(after.kind[0], OperatorKind::MatMul);
        QCOMPARE(after.gemm[0].m * after.gemm[0].n * after.gemm[0].k, 4.0 * 16 * 8);
        QCOMPARE(costTotals(graph, after).parameters, 8 * 16 + 16 * 8.0);
        QCOMPARE(graph.operators[0].name, std::string("up_act"));
    }

    // Kinds that work in one type pass numbers of it among themselves, and all of a graph is what its kinds are.
    void kindsOfOneTypePassItsNumbers() {
        Graph products = perceptron(), all = perceptron();
        QVERIFY(applyWhatIfs(products, std::vector<WhatIf>{RetypeKind{OperatorKind::MatMul, DType::F32}}).empty());
        // x, both weights and y are theirs alone; h and r are shared with Relu: 4·8 + 8·16 + 16·8 + 4·8 elements.
        QCOMPARE(allBytes(costTable(products)), (32 + 128 + 128 + 32) * 4 + 4 * 64 * 2.0);
        const auto changes = inOneType(all, {RetypeKind{OperatorKind::MatMul, DType::I8}}, DType::F32);
        QCOMPARE(changes.size(), std::size_t{2});
        QVERIFY(!oneTypeOf(all, {}));
        QCOMPARE(oneTypeOf(all, changes), std::optional(DType::F32));
        QVERIFY(!oneTypeOf(all, std::span(changes).first(1)));
        const double before = allBytes(costTable(all));
        QVERIFY(applyWhatIfs(all, changes).empty());
        QCOMPARE(allBytes(costTable(all)), 2 * before);
        for (const DType type : costTable(all).type) QCOMPARE(type, DType::F32);
        // Asked of the changed graph as of the one of before; and back.
        QCOMPARE(inOneType(all, changes, DType::F32), changes);
        QVERIFY(inOneType(all, changes, std::nullopt).empty());
    }

    // What a file that says its types cannot follow is said, not passed over.
    void typesThatAFileDoesNotTakeAreSaid() {
        WorkloadRecipe recipe{ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx", {}, {}};
        const auto warned = [&] {
            const auto loaded = loadWorkload(recipe);
            return loaded && std::ranges::any_of((*loaded)->warnings,
                                                 [](const Diagnostic& each) { return each.code == "onnx.types"; });
        };
        QVERIFY(!warned());
        recipe.options.activations = DType::I8;
        QVERIFY(warned());
    }

    // Weights of products alone are stored so: no norm, no bias, no other reader's, and nothing computes in another
    // type.
    void weightsOfProductsAreStoredApart() {
        Graph graph = perceptron();
        const CostTable before = costTable(graph);
        QCOMPARE(store(graph, {DType::I8, Scaling::Row}), std::size_t{2});
        const CostTable after = costTable(graph);
        // A byte each, and a scale of four bytes for each of 16 and 8 outputs.
        QCOMPARE(after.weightBytes[0], 8 * 16 + 16 * 4.0);
        QCOMPARE(after.weightBytes[2], 16 * 8 + 8 * 4.0);
        for (std::size_t i = 0; i < after.size(); ++i) {
            QCOMPARE(after.type[i], before.type[i]);
            QCOMPARE(after.inputBytes[i], before.inputBytes[i]);
            QCOMPARE(after.outputBytes[i], before.outputBytes[i]);
            QCOMPARE(after.flops[i], before.flops[i]);
        }
        // After the graph was put into another type, products keep that one.
        Graph mixed = perceptron();
        QCOMPARE(store(mixed, {DType::I8, Scaling::Tensor}, inOneType(mixed, {}, DType::F32)), std::size_t{2});
        const CostTable wide = costTable(mixed);
        QCOMPARE(wide.type[0], DType::F32);
        QCOMPARE(wide.weightBytes[0], 8 * 16 * 1.0);
        QCOMPARE(wide.inputBytes[0], 4 * 8 * 4.0);
        // A table that a lookup reads too stays as it is.
        Graph tied = perceptron();
        apply(tied, "look", "Gather", OperatorKind::Gather, {1}, {4, 16});
        QCOMPARE(store(tied, {DType::I8, Scaling::Tensor}), std::size_t{1});
        QCOMPARE(costTable(tied).weightBytes[0], 8 * 16 * 2.0);
    }

    // One scale for each output, whichever operand the weight is and however it lies: of [M, K] there are M.
    void eachOutputHasOneScale() {
        using K = OperatorKind;
        const auto scales = [](Graph graph, double elements) {
            if (store(graph, {DType::I8, Scaling::Row}) != 1) return -1.0;
            return (graph.tensors[1].bytes().value - elements) / 4;  // a byte each, and fp32
        };
        // x[4, 8] · w[8, 24], and w as [24, 8]
        QCOMPARE(scales(oneProduct(K::MatMul, 1, {8, 24}, {4, 8}, {4, 24}), 8 * 24), 24.0);
        QCOMPARE(scales(oneProduct(K::MatMul, 1, {24, 8}, {4, 8}, {4, 24}, {"transB"}), 8 * 24), 24.0);
        QCOMPARE(scales(oneProduct(K::MatMul, 1, {8, 24}, {8, 4}, {4, 24}, {"transA"}), 8 * 24), 24.0);
        // w[24, 8] · x[8, 4], and w as [8, 24]
        QCOMPARE(scales(oneProduct(K::MatMul, 0, {24, 8}, {8, 4}, {24, 4}), 8 * 24), 24.0);
        QCOMPARE(scales(oneProduct(K::MatMul, 0, {8, 24}, {8, 4}, {24, 4}, {"transA"}), 8 * 24), 24.0);
        QCOMPARE(scales(oneProduct(K::MatMul, 0, {24, 8}, {4, 8}, {24, 4}, {"transB"}), 8 * 24), 24.0);
        // 12 channels to 20 in 4 groups, 3 × 3
        Graph conv = oneProduct(K::Conv, 1, {20, 3, 3, 3}, {1, 12, 7, 7}, {1, 20, 5, 5});
        conv.operators[0].attributes["group"] = std::int64_t{4};
        QCOMPARE(scales(conv, 20 * 3 * 9), 20.0);
        Graph up = oneProduct(K::ConvTranspose, 1, {12, 5, 3, 3}, {1, 12, 5, 5}, {1, 20, 7, 7});
        up.operators[0].attributes["group"] = std::int64_t{4};
        QCOMPARE(scales(up, 12 * 5 * 9), 20.0);
    }

    // Fusing joins what operators read and says nothing of which operand a weight was: the same tensors are stored.
    void fusedProductsReadTheWeightsThatTheirPartsStored() {
        const NumberFormat format{DType::I8, Scaling::Row};
        Graph plain = perceptron(), fused = perceptron();
        QCOMPARE(store(plain, format), std::size_t{2});
        QCOMPARE(store(fused, format, {FuseOperators{{"up", "act", "down"}, "all"}}), std::size_t{2});
        const CostTable apart = costTable(plain), one = costTable(fused);
        QCOMPARE(one.size(), std::size_t{1});
        QCOMPARE(one.weightBytes[0], 8 * 16 + 16 * 4.0 + 16 * 8 + 8 * 4.0);
        QCOMPARE(one.weightBytes[0], apart.weightBytes[0] + apart.weightBytes[2]);
        QCOMPARE(one.type[0], DType::F16);
        QCOMPARE(one.macs[0], apart.macs[0] + apart.macs[2]);

        // A norm before its product: gamma keeps its type, the product's weight does not.
        const auto normed = [] {
            Graph graph;
            const TensorId x =
                graph.addTensor({.name = "x", .type = DType::F16, .shape = {4, 8}, .role = TensorRole::Input});
            const TensorId gamma =
                graph.addTensor({.name = "gamma", .type = DType::F16, .shape = {8}, .role = TensorRole::Weight});
            const TensorId w =
                graph.addTensor({.name = "w", .type = DType::F16, .shape = {8, 24}, .role = TensorRole::Weight});
            const TensorId n =
                apply(graph, "norm", "LayerNormalization", OperatorKind::Normalization, {x, gamma}, {4, 8});
            graph.inputs = {x};
            graph.outputs = {apply(graph, "up", "MatMul", OperatorKind::MatMul, {n, w}, {4, 24})};
            return graph;
        };
        Graph graph = normed();
        // A retyping after the fusion takes the rest along, not the weights.
        QCOMPARE(
            store(graph, format, {FuseOperators{{"norm", "up"}, "all"}, RetypeKind{OperatorKind::MatMul, DType::F32}}),
            std::size_t{1});
        QCOMPARE(graph.tensors[1].type, DType::F32);
        QCOMPARE(graph.tensors[2].type, DType::I8);
        QCOMPARE(graph.tensors[2].bytes().value, 8 * 24 + 24 * 4.0);
    }

    void aFileStoresItsWeightsAsAsked() {
        WorkloadRecipe recipe{ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx", {}, {}};
        const auto plain = loadWorkload(recipe);
        QVERIFY(plain.has_value());
        recipe.options.weights = DType::I8;
        const auto narrow = loadWorkload(recipe);
        QVERIFY(narrow.has_value());
        QCOMPARE((*narrow)->warnings.size(), (*plain)->warnings.size());
        double products = 0;
        for (std::size_t i = 0; i < (*plain)->costs.size(); ++i) {
            QCOMPARE((*narrow)->costs.type[i], (*plain)->costs.type[i]);
            QCOMPARE((*narrow)->costs.inputBytes[i], (*plain)->costs.inputBytes[i]);
            products += (*plain)->costs.weightBytes[i] - (*narrow)->costs.weightBytes[i];
        }
        QVERIFY(products > 0);
        QVERIFY((*narrow)->totals.weightBytes < 0.5 * (*plain)->totals.weightBytes);
        QCOMPARE((*narrow)->totals.parameters, (*plain)->totals.parameters);
        QCOMPARE((*narrow)->totals.activationBytes, (*plain)->totals.activationBytes);
    }

    void fusingTwiceIsFusingAtOnce() {
        Graph once = perceptron(), twice = perceptron();
        QVERIFY(applyWhatIfs(once, std::vector<WhatIf>{FuseOperators{{"up", "act", "down"}, "all"}}).empty());
        QVERIFY(applyWhatIfs(
                    twice, std::vector<WhatIf>{FuseOperators{{"up", "act"}, "a"}, FuseOperators{{"a", "down"}, "all"}})
                    .empty());
        const CostTable a = costTable(once), b = costTable(twice);
        QCOMPARE(a.size(), std::size_t{1});
        QCOMPARE(b.size(), std::size_t{1});
        QCOMPARE(a.bytes(0), (4 * 8 + 8 * 16 + 16 * 8 + 4 * 8) * 2.0);
        QCOMPARE(b.bytes(0), a.bytes(0));
        QCOMPARE(b.flops[0], a.flops[0]);
    }

    void sharedInputIsReadOnceAfterFusing() {
        Graph graph = perceptron();
        const TensorId k =
            graph.addTensor({.name = "k", .type = DType::F16, .shape = {8, 16}, .role = TensorRole::Weight});
        graph.outputs.push_back(apply(graph, "key", "MatMul", OperatorKind::MatMul, {graph.inputs[0], k}, {4, 16}));
        const double before = allBytes(costTable(graph));
        QVERIFY(applyWhatIfs(graph, std::vector<WhatIf>{FuseOperators{{"up", "key"}, "qk"}}).empty());
        QCOMPARE(before - allBytes(costTable(graph)), 4 * 8 * 2.0);
    }

    void whatCannotBeFusedIsSkippedWithAWarning_data() {
        QTest::addColumn<QStringList>("names");
        QTest::newRow("unknown") << QStringList{"up", "nowhere"};
        QTest::newRow("one") << QStringList{"up"};
        QTest::newRow("one twice") << QStringList{"up", "up"};
        QTest::newRow("none") << QStringList{};
        QTest::newRow("with a hole") << QStringList{"up", "down"};
    }
    void whatCannotBeFusedIsSkippedWithAWarning() {
        QFETCH(QStringList, names);
        Graph graph = perceptron();
        FuseOperators fuse;
        for (const QString& name : names) fuse.operators.push_back(name.toStdString());
        const double before = allBytes(costTable(graph));
        const Diagnostics warnings = applyWhatIfs(graph, std::vector<WhatIf>{fuse});
        QCOMPARE(warnings.size(), std::size_t{1});
        QCOMPARE(warnings[0].code, std::string("what-if.skipped"));
        QVERIFY(!warnings[0].hint.empty());
        QCOMPARE(allBytes(costTable(graph)), before);
    }

    void retypingHalvesTheBytesThatOnlyTheKindTouches() {
        Graph graph = perceptron();
        QVERIFY(applyWhatIfs(graph, std::vector<WhatIf>{RetypeKind{OperatorKind::MatMul, DType::I8}}).empty());
        const CostTable after = costTable(graph);
        QCOMPARE(after.weightBytes[0], 8 * 16 * 1.0);
        QCOMPARE(after.inputBytes[0], 4 * 8 * 1.0);
        QCOMPARE(after.outputBytes[0], 4 * 16 * 2.0);  // Relu reads it
        QCOMPARE(after.inputBytes[2], 4 * 16 * 2.0);
        QCOMPARE(after.outputBytes[2], 4 * 8 * 1.0);
        QCOMPARE(after.type[0], DType::I8);
        QCOMPARE(after.type[1], DType::F16);
        QCOMPARE(after.macs[0], 4 * 8 * 16.0);
        QCOMPARE(costTotals(graph, after).weightBytes, 8 * 16 + 16 * 8.0);

        const auto absent = applyWhatIfs(graph, std::vector<WhatIf>{RetypeKind{OperatorKind::Conv, DType::I8}});
        QCOMPARE(absent.size(), std::size_t{1});
    }

    void reshapingChangesThatOperatorOnly() {
        Graph graph = perceptron();
        const CostTable before = costTable(graph);
        const auto warnings = applyWhatIfs(graph, std::vector<WhatIf>{ReshapeOperator{"up", -1, {40, 8}}});
        QCOMPARE(warnings.size(), std::size_t{1});
        QCOMPARE(warnings[0].code, std::string("what-if.shape"));
        const CostTable after = costTable(graph);
        QCOMPARE(after.macs[0], 40 * 8 * 16.0);
        QCOMPARE(after.inputBytes[0], 40 * 8 * 2.0);
        QCOMPARE(after.gemm[0].m, 40.0);
        for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
            QCOMPARE(after.bytes(i), before.bytes(i));
            QCOMPARE(after.flops[i], before.flops[i]);
        }
        for (const ReshapeOperator& bad :
             {ReshapeOperator{"nowhere", 0, {1}}, ReshapeOperator{"up", 1, {1}}, ReshapeOperator{"up", -4, {1}},
              ReshapeOperator{"up", 0, {0}}, ReshapeOperator{"up", 0, {1'000'000'000, 1'000'000'000}}}) {
            const auto skipped = applyWhatIfs(graph, std::vector<WhatIf>{bad});
            QCOMPARE(skipped.size(), std::size_t{1});
            QCOMPARE(skipped[0].code, std::string("what-if.skipped"));
        }
    }

    void loadedWorkloadsFollowTheirRecipe() {
        const auto plain = loadWorkload({.source = "gpt-3-175b", .options = {}, .whatIfs = {}});
        const auto changed =
            loadWorkload({.source = "gpt-3-175b",
                          .options = {},
                          .whatIfs = {FuseOperators{{"layers.up_proj", "layers.activation"}, "layers.up_act"}}});
        QVERIFY(plain.has_value() && changed.has_value());
        const std::size_t up = index((*plain)->graph, "layers.up_proj");
        // what is between the two is written and read once in each of the 96 layers
        const double between = (*plain)->costs.outputBytes[up] * 96;
        QCOMPARE((*plain)->totals.activationBytes - (*changed)->totals.activationBytes, 2 * between);
        QCOMPARE((*changed)->totals.flops, (*plain)->totals.flops);
        QCOMPARE((*changed)->totals.parameters, (*plain)->totals.parameters);
        const Operator& fused = (*changed)->graph.operators[index((*changed)->graph, "layers.up_act")];
        QCOMPARE(fused.repeat, std::int64_t{96});
        QCOMPARE(fused.block, std::string("layers ×96"));
    }
};

QTEST_GUILESS_MAIN(TestWhatIf)
#include "tst_what_if.moc"
