// Is an ncnn .param file read as the network that it is, with and without the shapes that it may state?

#include "workload/workload.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

using namespace orrery;

namespace {

WorkloadPtr load(const QString& path, WorkloadOptions options = {}) {
    auto loaded = loadWorkload({path.toStdString(), options, {}});
    if (!loaded) qWarning("%s", toText(loaded.error()).c_str());
    return loaded ? *loaded : nullptr;
}

}  // namespace

class TestNcnn : public QObject {
    Q_OBJECT
private slots:
    void aNetworkHasTheWorkOfItsLayers() {
        const auto w = load(ORRERY_TEST_DATA "/ncnn/small.param");
        QVERIFY(w);
        QVERIFY(w->warnings.empty());
        // 16² outputs: 3·9·16, 9·16, 16·16; then the classifier.
        QCOMPARE(w->totals.macs, 256 * (432.0 + 144 + 256) + 160);
        const Tensor* output = w->graph.tensor(w->graph.outputs.front());
        QCOMPARE(elementCount(output->shape).value_or(0), 10.0);
        int narrow = 0;
        for (const Tensor& tensor : w->graph.tensors) narrow += tensor.type == DType::I8 ? 1 : 0;
        QCOMPARE(narrow, 1);  // the layer with an int8 scale, and no other
    }

    void batchMultipliesTheWork() {
        WorkloadOptions four;
        four.batch = 4;
        const auto one = load(ORRERY_TEST_DATA "/ncnn/small.param"),
                   all = load(ORRERY_TEST_DATA "/ncnn/small.param", four);
        QVERIFY(one && all);
        QCOMPARE(all->totals.macs, 4 * one->totals.macs);
        QCOMPARE(all->totals.parameters, one->totals.parameters);
    }

    // Without an Input's extents the side is that of the options.
    void theSideMayBeGiven() {
        QFile small(ORRERY_TEST_DATA "/ncnn/small.param");
        QVERIFY(small.open(QIODevice::ReadOnly));
        QByteArray text = small.readAll();
        text.replace(" 0=32 1=32 2=3", "");
        QTemporaryDir folder;
        QFile open(folder.filePath("open.param"));
        QVERIFY(open.open(QIODevice::WriteOnly));
        open.write(text);
        open.close();
        WorkloadOptions options;
        options.image = 64;
        const auto w = load(open.fileName(), options);
        QVERIFY(w);
        QCOMPARE(w->totals.macs, 4 * 256 * (432.0 + 144 + 256) + 160);
    }

    // Published work of torchvision's networks, which these are but for details of their ends.
    void thePublishedTopologiesHaveTheirWork_data() {
        QTest::addColumn<double>("millions");
        QTest::newRow("resnet50") << 3858.0;  // strides in the 1×1 convolutions, as the paper has them
        QTest::newRow("mobilenet_v2") << 313.6;
        QTest::newRow("vgg16") << 15470.0;
        QTest::newRow("mobilenet") << 568.7;
    }
    void thePublishedTopologiesHaveTheirWork() {
        QFETCH(double, millions);
        const QString path = QString(ORRERY_REFERENCE "/edge/ncnn/models/%1.param").arg(QTest::currentDataTag());
        if (!QFile::exists(path)) QSKIP("the reference data is not here");
        const auto w = load(path);
        QVERIFY(w);
        QVERIFY2(std::abs(w->totals.macs / 1e6 / millions - 1) < 0.002, qPrintable(QString::number(w->totals.macs)));
    }

    void brokenFilesNameTheirLine_data() {
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        QTest::newRow("empty") << "ncnn.not-param" << 1;
        QTest::newRow("not-magic") << "ncnn.not-param" << 1;
        QTest::newRow("too-many") << "ncnn.not-param" << 2;
        QTest::newRow("truncated") << "ncnn.truncated" << 4;
        QTest::newRow("unknown-blob") << "ncnn.unknown-blob" << 4;
        QTest::newRow("bad-count") << "ncnn.bad-line" << 4;
        QTest::newRow("bad-number") << "ncnn.bad-number" << 4;
        QTest::newRow("bad-groups") << "ncnn.bad-layer" << 4;
        QTest::newRow("too-wide") << "ncnn.bad-layer" << 4;
    }
    void brokenFilesNameTheirLine() {
        QFETCH(QString, code);
        QFETCH(int, line);
        const QString path = QString(ORRERY_TEST_DATA "/bad/ncnn/%1.param").arg(QTest::currentDataTag());
        const auto loaded = loadWorkload({path.toStdString(), {}, {}});
        QVERIFY(!loaded);
        QCOMPARE(QString::fromStdString(loaded.error().code), code);
        QCOMPARE(loaded.error().place.line, line);
        QCOMPARE(QString::fromStdString(loaded.error().place.file), path);
        QVERIFY(!loaded.error().hint.empty());
    }
};

QTEST_GUILESS_MAIN(TestNcnn)
#include "tst_ncnn.moc"
