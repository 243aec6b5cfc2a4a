// Does a workload document mean what it says, and is a wrong one refused with a place and a hint?

#include "workload/workload.h"

#include <QDirIterator>
#include <QTemporaryDir>
#include <QtTest/QtTest>

using namespace orrery;

class TestWorkloadYaml : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    Expected<WorkloadPtr> load(const char* text, WorkloadOptions options = {}) {
        const QString path = folder_.filePath("test.yaml");
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly)) return fail("test", "cannot write");
        file.write(text);
        file.close();
        auto loaded = loadWorkload({path.toStdString(), options});
        if (!loaded) qWarning("%s", toText(loaded.error()).c_str());
        return loaded;
    }

private slots:
    void aGraphIsReadWithItsShapes() {
        const auto loaded = load(R"(orrery: workload/1
name: Perceptron
dtype: fp32
tensors:
  x: {shape: [batch, 1024], role: input}
  w: {shape: [1024, 4096], role: weight, dtype: int8}
  bias: {shape: [4096], role: weight}
operators:
  - {name: fc, type: Linear, inputs: [x, w, bias], repeat: 4}
  - {name: act, type: gelu, inputs: [fc]}
)",
                                 {.batch = 8});
        QVERIFY(loaded);
        const Workload& w = **loaded;
        QCOMPARE(w.name, std::string("Perceptron"));
        QCOMPARE(w.totals.parameters, 4.0 * (1024 * 4096 + 4096));
        QCOMPARE(w.totals.weightBytes, 4.0 * (1024 * 4096 + 4096 * 4));
        QCOMPARE(w.totals.macs, 4.0 * 8 * 1024 * 4096);
        QCOMPARE(w.totals.flops, 4.0 * (2.0 * 8 * 1024 * 4096 + 8 * 4096) + 5.0 * 8 * 4096);
        QCOMPARE(w.costs.type[0], DType::F32);
        QCOMPARE(w.graph.outputs.size(), std::size_t{1});
        QVERIFY(w.warnings.empty());
    }
    void convolutionShapesFollow() {
        const auto loaded = load(R"(orrery: workload/1
tensors:
  x: {shape: [2, 3, 224, 224]}
  w: {shape: [64, 3, 7, 7], role: weight}
operators:
  - {name: c, type: Conv, inputs: [x, w], attributes: {strides: [2, 2], pads: [3, 3, 3, 3]}}
)");
        QVERIFY(loaded);
        QCOMPARE(toText((*loaded)->graph.tensors.back().shape), std::string("2×64×112×112"));
        QCOMPARE((*loaded)->totals.macs, 2.0 * 64 * 112 * 112 * 3 * 49);
    }
    void batchedProductsBroadcast() {
        const auto loaded = load(R"(orrery: workload/1
tensors:
  a: {shape: [5, 1, 6, 7]}
  b: {shape: [3, 7, 2]}
operators:
  - {name: c, type: MatMul, inputs: [a, b]}
)");
        QVERIFY(loaded);
        QCOMPARE(toText((*loaded)->graph.tensors.back().shape), std::string("5×3×6×2"));
        QCOMPARE((*loaded)->totals.macs, 5.0 * 3 * 6 * 2 * 7);
    }
    void aRecipeIsTheBuiltInModel() {
        const char* text = R"(orrery: workload/1
builtin: llama-2-7b
options: {batch: 8, sequence: 2048, phase: decode, weights: int8}
)";
        const auto loaded = load(text);
        QVERIFY(loaded);
        const auto direct =
            loadWorkload({"llama-2-7b", {.batch = 8, .sequence = 2048, .phase = Phase::Decode, .weights = DType::I8}});
        QCOMPARE((*loaded)->totals.macs, (*direct)->totals.macs);
        QCOMPARE((*loaded)->totals.weightBytes, (*direct)->totals.weightBytes);
        // What a person sets outside wins over the document.
        const auto smaller = load(text, {.batch = 2});
        QCOMPARE((*smaller)->totals.kvBytes, (*direct)->totals.kvBytes / 4);
    }
    void symbolsAreBoundOrNamed() {
        const char* text = R"(orrery: workload/1
tensors: {x: {shape: [batch, tokens]}}
operators: [{name: a, type: Relu, inputs: [x]}]
)";
        const auto open = load(text, {.batch = 3});
        QVERIFY(open);
        QCOMPARE((*open)->totals.flops, 3.0);
        QVERIFY((*open)->warnings.front().message.find("tokens") != std::string::npos);
        const auto bound = load(text, {.batch = 3, .bindings = {{"tokens", 70}}});
        QCOMPARE((*bound)->totals.flops, 210.0);
        QVERIFY((*bound)->warnings.empty());
    }
    void anOperatorWithoutARuleIsKeptAndWarnedOf() {
        const auto loaded = load(R"(orrery: workload/1
dtype: fp32
tensors: {x: {shape: [100]}}
operators: [{name: a, type: Sorcery, inputs: [x], outputs: {y: [50]}}]
)");
        QVERIFY(loaded);
        QCOMPARE((*loaded)->costs.bytes(0), 600.0);
        QCOMPARE((*loaded)->warnings.front().code, std::string("workload.unpriced-operators"));
    }

    void badFilesAreRefused_data() {
        QTest::addColumn<QString>("path");
        QDirIterator files(ORRERY_TEST_DATA "/bad/workload", {"*.yaml"}, QDir::Files);
        while (files.hasNext()) {
            const QString path = files.next();
            QTest::newRow(qPrintable(files.fileName())) << path;
        }
    }
    void badFilesAreRefused() {
        QFETCH(QString, path);
        const auto wrong = loadWorkload({path.toStdString(), {}});
        QVERIFY(!wrong);
        const Diagnostic& why = wrong.error();
        QCOMPARE(why.severity, Severity::Error);
        QVERIFY2(why.code.starts_with("yaml.") || why.code.starts_with("workload."), why.code.c_str());
        QVERIFY(why.code != "workload.failed");
        QCOMPARE(why.place.file, path.toStdString());
        QVERIFY2(why.place.line > 0, toText(why).c_str());
        QVERIFY(!why.message.empty());
        QVERIFY2(!why.expected.empty() || !why.hint.empty(), toText(why).c_str());
    }
    void thereAreBadFiles() { QVERIFY(QDir(ORRERY_TEST_DATA "/bad/workload").count() > 20); }
};

QTEST_GUILESS_MAIN(TestWorkloadYaml)
#include "tst_workload_yaml.moc"
