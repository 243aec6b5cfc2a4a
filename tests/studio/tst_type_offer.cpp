// A type that the drawn device lacks: is it said where the model is chosen, and is its nearest offered, for a model
// that Orrery builds and for a graph that was read?

#include "app/window/main_window.h"
#include "app/window/studio.h"
#include "support/studio_fixture.h"
#include "widgets/common/theme.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestTypeOffer : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
    }
    void init() {
        window_ = std::make_unique<MainWindow>();
        window_->resize(1400, 900);
        window_->show();
        QVERIFY(QTest::qWaitFor([this] { return window_->isReady(); }));
    }
    void cleanup() { window_.reset(); }

    void aBuiltModelTakesTheNearestByItsOptions() {
        WorkloadOptions options;
        options.sequence = 128;
        options.weights = options.activations = options.kv = DType::BF16;
        open({"bert-base", options}, "t4");
        QVERIFY2(lacks()->text().contains("does not compute bf16"), qPrintable(lacks()->text()));
        QVERIFY(lacks()->text().contains("run as fp32"));
        QCOMPARE(use()->text(), QString("Use fp16"));
        const double before = seconds();
        QTest::mouseClick(use(), Qt::LeftButton);
        QVERIFY(answered());
        QVERIFY(use()->isHidden() && lacks()->isHidden());
        QCOMPARE(recipe().options.activations, DType::F16);
        QCOMPARE(recipe().options.weights, DType::F16);
        QVERIFY(seconds() < before);
        window_->document().undoStack()->undo();
        QCOMPARE(recipe().options.activations, DType::BF16);
        QVERIFY(answered());
        QVERIFY(!use()->isHidden());
    }
    void aGraphThatWasReadTakesItByChangesOfItsProducts() {
        const QString file = home_.filePath("perceptron.yaml");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(R"(orrery: workload/1
name: Perceptron
dtype: bf16
tensors:
  x: {shape: [batch, 1024], role: input}
  w: {shape: [1024, 4096], role: weight}
operators:
  - {name: fc, type: MatMul, inputs: [x, w]}
  - {name: act, type: gelu, inputs: [fc]}
)");
        out.close();
        WorkloadOptions options;
        options.batch = 256;
        open({file.toStdString(), options}, "t4");
        QCOMPARE(use()->text(), QString("Use fp16"));
        QTest::mouseClick(use(), Qt::LeftButton);
        QVERIFY(answered());
        QCOMPARE(recipe().whatIfs.size(), std::size_t{1});
        QCOMPARE(window_->live().workload()->costs.type.front(), DType::F16);
        QVERIFY(use()->isHidden());
    }
    void aDeviceThatComputesItIsOfferedNothing() {
        WorkloadOptions options;
        options.weights = options.activations = options.kv = DType::BF16;
        open({"bert-base", options}, "h100-sxm");
        QVERIFY(use()->isHidden() && lacks()->isHidden());
    }

private:
    void open(const WorkloadRecipe& recipe, const char* device) {
        Project project;
        project.hardware.push_back(loadHardware(device).value().hardware);
        project.workloads.push_back({"Model", recipe, {}});
        project.scenarios.push_back({project.hardware.front().name, "Model", {}});
        project.methods = {"roofline"};
        window_->document().reset(std::move(project));
        QVERIFY(answered());
        window_->studio().docks.reveal(QStringLiteral("inspector"));
        window_->studio().inspection.showWorkload();
        QTRY_VERIFY(use() && lacks());
    }
    bool answered() {
        return QTest::qWaitFor(
            [this] { return window_->live().snapshot() && window_->live().upToDate() && window_->live().workload(); },
            30000);
    }
    double seconds() const { return window_->live().snapshot()->primaryEstimate()->latency.value; }
    const WorkloadRecipe& recipe() const { return window_->document().workload()->recipe; }
    QPushButton* use() const { return window_->findChild<QPushButton*>("inspector.type.use"); }
    QLabel* lacks() const { return window_->findChild<QLabel*>("inspector.type.lacks"); }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(TestTypeOffer)
#include "tst_type_offer.moc"
