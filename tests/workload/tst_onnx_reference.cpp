// Real exporter output, against counts that others have published or that follow from the architecture.

#include "workload/costs.h"
#include "workload/onnx/import.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>

using namespace orrery;

namespace {

std::string reference(const char* file) {
    return std::string(ORRERY_REFERENCE) + "/onnx/" + file;
}

std::string describe(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics) text += toText(diagnostic) + "\n";
    return text;
}

/// Multiply-accumulates of convolutions and matrix products alone.
double productMacs(const Graph& graph) {
    const CostTable table = costTable(graph);
    double sum = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const bool product = table.kind[i] == OperatorKind::Conv || table.kind[i] == OperatorKind::MatMul;
        if (product) sum += table.macs[i] * table.repeat[i];
    }
    return sum;
}

}  // namespace

class TestOnnxReference : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (!std::filesystem::exists(reference("torchvision"))) QSKIP("the reference models are not here");
    }

    void everyFileImportsWithEveryShapeKnown() {
        int files = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(reference(""))) {
            if (entry.path().extension() != ".onnx") continue;
            ++files;
            const auto imported = importOnnx(entry.path().string());
            QVERIFY2(imported.has_value(), imported ? "" : toText(imported.error()).c_str());
            QVERIFY2(imported->graph.unresolved().empty(), entry.path().c_str());
            for (const Tensor& tensor : imported->graph.tensors)
                for (const Dim& dim : tensor.shape) QVERIFY2(dim.known(), entry.path().c_str());
            for (const Operator& op : imported->graph.operators) {
                QVERIFY2(op.kind != OperatorKind::Other, (entry.path().string() + ": " + op.type).c_str());
            }
        }
        QVERIFY2(files >= 11, qPrintable(QString("%1 files").arg(files)));
    }

    // Real exports read for eight inputs: eight times the products, the same parameters, or a refusal by name.
    void batchesOfEightAreExactOrRefused() {
        QStringList read, refused;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(reference(""))) {
            if (entry.path().extension() != ".onnx") continue;
            const QString name = QString::fromStdString(entry.path().stem().string());
            const auto one = importOnnx(entry.path().string()), many = importOnnx(entry.path().string(), {}, 8);
            if (!many) {
                QCOMPARE(many.error().code, std::string("onnx.batch"));
                QVERIFY2(!many.error().place.path.empty(), qPrintable(name));
                refused << name + QLatin1String(" by ") + QString::fromStdString(many.error().place.path);
                continue;
            }
            read << name;
            const CostTotals before = costTotals(one->graph, costTable(one->graph));
            const CostTotals after = costTotals(many->graph, costTable(many->graph));
            QCOMPARE(after.parameters, before.parameters);
            QVERIFY2(std::abs(after.macs / (8 * before.macs) - 1) < 1e-9, qPrintable(name));
        }
        qInfo() << "read:" << read << "refused:" << refused;
        QVERIFY(read.contains("resnet50"));
    }

    void productsAreCountedExactly_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("bindings");
        QTest::addColumn<double>("macs");
        QTest::addColumn<double>("tolerance");
        // torchvision's model cards give the same in GFLOPS (a multiply-add counted once): 4.09, 0.22,
        // 0.39, 17.56, 4.49
        QTest::newRow("resnet50") << "torchvision/resnet50.onnx"
                                  << "" << 4089184256.0 << 0.0;
        QTest::newRow("mobilenet v3") << "torchvision/mobilenet_v3_large.onnx"
                                      << "" << 216589760.0 << 0.0;
        QTest::newRow("efficientnet b0") << "torchvision/efficientnet_b0.onnx"
                                         << "" << 385814752.0 << 0.0;
        QTest::newRow("vit b16") << "torchvision/vit_b_16.onnx"
                                 << "" << 17563828224.0 << 0.0;
        QTest::newRow("swin t") << "torchvision/swin_t.onnx"
                                << "" << 4.49e9 << 0.01;
        QTest::newRow("encoder") << "torchvision/torch_nn_transformer_encoder_dynamic.onnx"
                                 << "batch=1,seq=128" << 11173625856.0 << 0.0;
        QTest::newRow("vgg19") << "light/light_vgg19.onnx"
                               << "" << 19632062464.0 << 0.0;
    }
    void productsAreCountedExactly() {
        QFETCH(QString, file);
        QFETCH(QString, bindings);
        QFETCH(double, macs);
        QFETCH(double, tolerance);
        const auto bound = parseBindings(bindings.toStdString());
        QVERIFY(bound.has_value());
        const auto imported = importOnnx(reference(file.toUtf8().constData()), *bound);
        QVERIFY2(imported.has_value(), imported ? "" : toText(imported.error()).c_str());
        const double counted = productMacs(imported->graph);
        QVERIFY2(std::fabs(counted - macs) <= tolerance * macs,
                 qPrintable(QString("%1 instead of %2").arg(counted, 0, 'f', 0).arg(macs, 0, 'f', 0)));
        QVERIFY2(!bindings.isEmpty() || imported->warnings.size() <= 1, describe(imported->warnings).c_str());
    }

    void parametersAreCountedAsStored_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<double>("parameters");
        // counts of torchvision's model cards, changed as the export changes them
        QTest::newRow("vgg19") << "light/light_vgg19.onnx" << 143667240.0;
        QTest::newRow("vit b16") << "torchvision/vit_b_16.onnx" << 86567656.0;
        QTest::newRow("resnet50 with statistics") << "light/light_resnet50.onnx" << 25557032.0 + 2 * 26560;
        QTest::newRow("resnet50 folded") << "torchvision/resnet50.onnx" << 25557032.0 - 26560;
        // 138 heads store their bias of 49 x 49 positions instead of its table of 13 x 13
        QTest::newRow("swin t") << "torchvision/swin_t.onnx" << 28288354.0 + 138.0 * (49 * 49 - 13 * 13);
    }
    void parametersAreCountedAsStored() {
        QFETCH(QString, file);
        QFETCH(double, parameters);
        const auto imported = importOnnx(reference(file.toUtf8().constData()));
        QVERIFY2(imported.has_value(), imported ? "" : toText(imported.error()).c_str());
        QCOMPARE(costTotals(imported->graph, costTable(imported->graph)).parameters, parameters);
    }
};

QTEST_GUILESS_MAIN(TestOnnxReference)
#include "tst_onnx_reference.moc"
