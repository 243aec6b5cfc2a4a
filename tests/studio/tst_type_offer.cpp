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

    // Sizes that an ONNX file leaves open, and a batch that it fixes, are set where the model is chosen.
    void sizesOfAnOnnxFileAreSet() {
        const QString vit = QStringLiteral(ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx");
        open({vit.toStdString(), {}}, "l4");
        QVERIFY(!row("batch"));
        QVERIFY2(row("bind.batch"), "a symbol that nobody has bound yet");
        const double one = work();
        type("bind.batch", "8");
        QCOMPARE(recipe().options.bindings, (Bindings{{"batch", 8}}));
        const double eight = work();
        QVERIFY(eight > 7 * one);

        QFile file(vit);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QByteArray bytes = file.readAll();
        // dim_param "batch" of the input, as the wire has it, becomes dim_value 1 and five bytes of an unknown field.
        const QByteArray symbol(
            "\x0a\x07\x12\x05"
            "batch",
            9),
            fixed(
                "\x0a\x07\x08\x01\x7a\x03"
                "dim",
                9);
        QVERIFY(bytes.contains(symbol));
        bytes.replace(symbol, fixed);
        const QString copy = home_.filePath("fixed.onnx");
        QFile out(copy);
        QVERIFY(out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size());
        out.close();
        open({copy.toStdString(), {}}, "l4");
        QVERIFY(row("batch"));
        QCOMPARE(work(), one);
        type("batch", "8");
        QCOMPARE(recipe().options.batch, std::int64_t{8});
        QCOMPARE(work(), eight);
        window_->document().undoStack()->undo();
        QVERIFY(answered());
        QCOMPARE(work(), one);
    }

    // The types of a file that says its own are chosen for all of its graph, as one step.
    void allOfAnOnnxFileTakesOneType() {
        open({ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx", {}}, "l4");
        const CostTotals before = window_->live().workload()->totals;
        auto* choice = row("type") ? row("type")->findChild<QComboBox*>() : nullptr;
        if (!choice) choice = qobject_cast<QComboBox*>(row("type"));
        QVERIFY(choice);
        QCOMPARE(choice->currentText(), QString("as in the file"));
        const int steps = window_->document().undoStack()->index();
        choose(choice, "fp16");
        QCOMPARE(window_->document().undoStack()->index(), steps + 1);
        const CostTotals half = window_->live().workload()->totals;
        // Indices among the constants, some bytes, keep their type.
        const double saved = before.weightBytes - half.weightBytes;
        QVERIFY(saved > 0.49 * before.weightBytes && saved <= 0.5 * before.weightBytes);
        QCOMPARE(half.peakActivationBytes, before.peakActivationBytes / 2);
        QCOMPARE(half.flops, before.flops);
        QCOMPARE(choice->currentText(), QString("fp16"));
        choose(choice, "int8");
        QCOMPARE(half.weightBytes - window_->live().workload()->totals.weightBytes, saved / 2);
        window_->document().undoStack()->undo();
        window_->document().undoStack()->undo();
        QVERIFY(answered());
        QCOMPARE(window_->live().workload()->totals.weightBytes, before.weightBytes);
        QCOMPARE(choice->currentText(), QString("as in the file"));
    }

    // Its weights are stored in a type of their own, beside the one of all of its graph.
    void weightsOfAnOnnxFileAreTypedApart() {
        open({ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx", {}}, "l4");
        const auto box = [this](const char* id) {
            auto* found = row(id) ? row(id)->findChild<QComboBox*>() : nullptr;
            return found ? found : qobject_cast<QComboBox*>(row(id));
        };
        QVERIFY(box("type") && box("weights"));
        QCOMPARE(box("weights")->currentText(), QString("as the rest"));
        choose(box("type"), "bf16");
        const CostTotals half = window_->live().workload()->totals;
        choose(box("weights"), "int8");
        const CostTotals narrow = window_->live().workload()->totals;
        QVERIFY(narrow.weightBytes < 0.6 * half.weightBytes);
        QCOMPARE(narrow.activationBytes, half.activationBytes);
        QCOMPARE(recipe().options.weights, DType::I8);
        QCOMPARE(box("type")->currentText(), QString("bf16"));
        choose(box("weights"), "as the rest");
        QCOMPARE(window_->live().workload()->totals.weightBytes, half.weightBytes);
        window_->document().undoStack()->undo();
        QVERIFY(answered());
        QCOMPARE(window_->live().workload()->totals.weightBytes, narrow.weightBytes);
        QCOMPARE(box("weights")->currentText(), QString("int8"));
    }

    // A graph that the command line names comes before any device: its one scenario is with the device that follows.
    void aModelBeforeAnyDeviceLeavesNoScenarioWithoutOne() {
        window_->document().reset({});
        const QString vit = QStringLiteral(ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx");
        window_->openFile(vit);
        QTRY_COMPARE(window_->document().state()->workloads.size(), std::size_t{1});
        const auto& scenarios = window_->document().state()->scenarios;
        QCOMPARE(scenarios.size(), std::size_t{1});
        QCOMPARE(scenarios.front().hardware, window_->document().hardware()->name);
        QVERIFY(answered());
        int said = 0;
        for (const Diagnostic& problem : window_->studio().problems.current()) said += problem.code == "onnx.unbound";
        QCOMPARE(said, 1);
    }

private:
    void choose(QComboBox* choice, const QString& text) {
        const int at = choice->findText(text);
        QVERIFY(at >= 0);
        choice->setCurrentIndex(at);
        emit choice->activated(at);
        QVERIFY(answered());
    }
    QWidget* row(const char* id) const {
        return window_->findChild<QWidget*>(QLatin1String("inspector.") + QLatin1String(id));
    }
    void type(const char* id, const QString& text) {
        auto* edit = qobject_cast<QLineEdit*>(row(id));
        if (!edit) edit = row(id)->findChild<QLineEdit*>();
        QVERIFY(edit);
        edit->setFocus();
        edit->selectAll();
        QTest::keyClicks(edit, text);
        QTest::keyClick(edit, Qt::Key_Return);
        QVERIFY(answered());
    }
    double work() const { return window_->live().workload()->totals.flops; }
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
