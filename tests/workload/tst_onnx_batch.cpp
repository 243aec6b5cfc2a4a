// Is an ONNX file that was exported for one input the same as its export for eight, when it is read with a batch of
// eight? And is a file that cannot be refused by the operator that holds its batch?

#include "support/onnx_models.h"
#include "workload/costs.h"
#include "workload/onnx/import.h"

#include <QtTest/QtTest>

using namespace orrery;
using namespace orrery::test;

namespace {

struct Totals {
    double flops = 0, parameters = 0, weightBytes = 0, activationBytes = 0;
    bool operator==(const Totals&) const = default;
};

Totals totals(const ImportedGraph& imported) {
    const CostTotals all = costTotals(imported.graph, costTable(imported.graph));
    return {all.flops, all.parameters, all.weightBytes, all.activationBytes};
}

Expected<ImportedGraph> read(const ModelBuilder& model, std::int64_t batch, const Bindings& bindings = {}) {
    const QTemporaryDir folder;
    return importOnnx(model.write(folder), bindings, batch);
}

/// A small convolutional network as exporters write one: `Flatten` of what a global pooling leaves.
ModelBuilder convolutional(const std::string& batch) {
    ModelBuilder m(17, 8);
    m.input("x", {batch, "3", "32", "32"}).stored("w", {16, 3, 3, 3}).stored("b", {16}).stored("f", {16, 10});
    auto& conv = m.node("Conv", {"x", "w", "b"}, {"c"});
    set(conv, "pads", Ints{1, 1, 1, 1});
    m.node("Relu", {"c"}, {"r"});
    m.node("GlobalAveragePool", {"r"}, {"p"});
    m.node("Flatten", {"p"}, {"v"});
    m.node("MatMul", {"v", "f"}, {"y"});
    m.output("y");
    return m;
}

/// Self-attention whose heads are split by a constant shape.
ModelBuilder attention(const Ints& split) {
    ModelBuilder m(17, 8);
    m.input("x", {"1", "16", "32"}).stored("w", {32, 32}).longs("split", split).longs("join", {-1, 16, 32});
    m.node("MatMul", {"x", "w"}, {"q"}).set_name("project");
    m.node("Reshape", {"q", "split"}, {"s"}).set_name("heads");
    auto& turned = m.node("Transpose", {"s"}, {"t"});
    set(turned, "perm", Ints{0, 2, 1, 3});
    auto& keys = m.node("Transpose", {"s"}, {"k"});
    set(keys, "perm", Ints{0, 2, 3, 1});
    m.node("MatMul", {"t", "k"}, {"scores"}).set_name("scores");
    auto& soft = m.node("Softmax", {"scores"}, {"a"});
    set(soft, "axis", -1);
    m.node("MatMul", {"a", "t"}, {"o"}).set_name("mix");
    auto& back = m.node("Transpose", {"o"}, {"u"});
    set(back, "perm", Ints{0, 2, 1, 3});
    m.node("Reshape", {"u", "join"}, {"y"}).set_name("join");
    m.output("y");
    return m;
}

}  // namespace

class TestOnnxBatch : public QObject {
    Q_OBJECT
private slots:
    void aFixedBatchOfOneBecomesEight() {
        const auto one = read(convolutional("1"), 1), many = read(convolutional("1"), 8);
        const auto exported = read(convolutional("8"), 1);
        QVERIFY(one && many && exported);
        QVERIFY(totals(*many) == totals(*exported));
        QCOMPARE(totals(*many).parameters, totals(*one).parameters);
        QCOMPARE(totals(*many).flops, 8 * totals(*one).flops);
        QCOMPARE(totals(*many).activationBytes, 8 * totals(*one).activationBytes);
        QCOMPARE(shapeOf(many), std::string("8×10"));
    }

    void aSymbolThatLeadsIsTheBatch() {
        const auto asked = read(convolutional("n"), 8), bound = read(convolutional("n"), 1, {{"n", 8}});
        QVERIFY(asked && bound);
        QVERIFY(totals(*asked) == totals(*bound));
        QVERIFY(!warns(asked, "onnx.unbound"));
        QCOMPARE(asked->graph.symbols(), std::vector<std::string>{"n"});
        const auto both = read(convolutional("n"), 8, {{"n", 8}});
        QVERIFY(both && totals(*both) == totals(*bound));
        const auto unlike = read(convolutional("n"), 8, {{"n", 4}});
        QVERIFY(!unlike && unlike.error().code == "onnx.batch");
    }

    // The shipped file has a symbol for its batch: with 1 written in its place it is what an exporter makes without
    // one.
    void aTransformerAsExportersWriteIt() {
        const std::string path = ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx";
        ModelBuilder fixed(17);
        std::ifstream file(path, std::ios::binary);
        QVERIFY(fixed.model.ParseFromIstream(&file));
        auto* dim =
            fixed.model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
        QCOMPARE(dim->dim(0).dim_param(), std::string("batch"));
        dim->mutable_dim(0)->set_dim_value(1);
        const auto many = read(fixed, 8), bound = importOnnx(path, {{"batch", 8}});
        QVERIFY2(many, many ? "" : many.error().message.c_str());
        QVERIFY(bound.has_value());
        QVERIFY(totals(*many) == totals(*bound));
        QVERIFY(totals(*many).flops > 7.9 * totals(*importOnnx(path, {{"batch", 1}})).flops);
    }

    void whatHoldsItsBatchIsNamed_data() {
        QTest::addColumn<QList<qint64>>("split");
        QTest::addColumn<QString>("name");
        QTest::newRow("open") << QList<qint64>{-1, 16, 4, 8} << QString();
        QTest::newRow("as it came") << QList<qint64>{0, 16, 4, 8} << QString();
        QTest::newRow("held") << QList<qint64>{1, 16, 4, 8} << QStringLiteral("heads");
        // Nothing contradicts itself here: every input would only attend to all the others.
        QTest::newRow("run together") << QList<qint64>{1, -1, 4, 8} << QStringLiteral("scores");
    }
    void whatHoldsItsBatchIsNamed() {
        QFETCH(QList<qint64>, split);
        QFETCH(QString, name);
        const ModelBuilder model = attention(Ints(split.begin(), split.end()));
        QVERIFY(read(model, 1));
        const auto many = read(model, 8);
        if (name.isEmpty()) {
            QVERIFY2(many, many ? "" : many.error().message.c_str());
            QCOMPARE(totals(*many).flops, 8 * totals(*read(model, 1)).flops);
            return;
        }
        QVERIFY(!many);
        QCOMPARE(many.error().code, std::string("onnx.batch"));
        QCOMPARE(QString::fromStdString(many.error().place.path), name);
        QVERIFY(many.error().message.find("batch of 8") != std::string::npos);
        QVERIFY(many.error().hint.find("symbolic batch") != std::string::npos);
    }

    void anInputThatLeadsWithAnotherExtentIsRefused() {
        QVERIFY(read(convolutional("4"), 1));
        const auto many = read(convolutional("4"), 8);
        QVERIFY(!many);
        QCOMPARE(many.error().code, std::string("onnx.batch"));
        QVERIFY(many.error().message.find("`x` is 4×3×32×32") != std::string::npos);
    }

    // What the file declares of its values is of its own batch.
    void declaredShapesDoNotHoldTheBatch() {
        ModelBuilder m(17, 8);
        m.input("x", {"1", "8"});
        m.node("Unheard", {"x"}, {"u"}, "nobody.knows");
        ModelBuilder::describe(*m.model.mutable_graph()->add_value_info(), "u", {"1", "8"}, 1);
        m.node("Relu", {"u"}, {"y"});
        m.output("y");
        QCOMPARE(shapeOf(read(m, 1)), std::string("1×8"));
        const auto many = read(m, 8);
        QVERIFY2(!many, "what an unknown operator makes of a batch is not known");
        QCOMPARE(many.error().code, std::string("onnx.batch"));
    }
};

QTEST_GUILESS_MAIN(TestOnnxBatch)
#include "tst_onnx_batch.moc"
