// Slow methods beside fast ones: each that was chosen has a row, a Run answers it, an edit asks it anew.

#include "app/document/commands/project_edits.h"
#include "app/document/commands/set_attribute.h"
#include "support/studio_window.h"
#include "widgets/comparison/comparison_model.h"

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TstSlowMethods : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { studio_.prepare(); }
    void aRunAnswersThem() {
        STEP(studio_.start());
        MainWindow& window = *studio_.window;
        window.openExample("network-on-a-processor");
        QTRY_VERIFY_WITH_TIMEOUT(answer("core-cycle"), 20000);
        for (const char* method : {"core-windows", "core-cycle"}) {
            QVERIFY(answer(method)->notAsked());
            QVERIFY(!answer(method)->failed());
        }
        // The first order of the cores needs no Run: every edit of a core is answered by it, with its interval.
        QVERIFY(answer(firstOrder)->estimate);
        const double before = answer(firstOrder)->estimate->latency.value;
        QVERIFY(answer(firstOrder)->estimate->interval.low.value <= before);
        QVERIFY(answer(firstOrder)->estimate->interval.high.value >= before);
        QVERIFY_DONE(
            window.document().apply(setAttributeEdit(*window.document().state(), window.document().hardwareIndex(),
                                                     pathOf(window.document(), "epyc"), "clock", "1.2 GHz")));
        QTRY_VERIFY_WITH_TIMEOUT(answer(firstOrder) && answer(firstOrder)->estimate &&
                                     answer(firstOrder)->estimate->latency.value > 1.3 * before,
                                 20000);
        QVERIFY(answer("core-windows")->notAsked());
        window.document().undoStack()->undo();
        QTRY_VERIFY_WITH_TIMEOUT(
            answer(firstOrder) && answer(firstOrder)->estimate && answer(firstOrder)->estimate->latency.value == before,
            20000);
        QVERIFY(answer("cpu-roofline")->estimate);
        QTRY_COMPARE(said("core-cycle"), QString("asked by a Run (F5)"));  // the table follows the answers
        window.findChild<QAction*>("runStart")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(answer("core-cycle") && answer("core-cycle")->estimate, 60000);
        QVERIFY(answer("core-windows")->estimate);
        // What asking it took, not what looking it up did.
        QVERIFY(answer("core-cycle")->estimate->cost > answer("cpu-roofline")->estimate->cost);
        const double seconds = answer("core-cycle")->estimate->latency.value;
        // An edit makes another question of it; the edit taken back, the answer stands again.
        Document& document = window.document();
        QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), document.hardwareIndex(),
                                                     pathOf(document, "ddr5"), "bandwidth", "230 GB/s")));
        QTRY_VERIFY_WITH_TIMEOUT(answer("core-cycle") && answer("core-cycle")->notAsked(), 20000);
        document.undoStack()->undo();
        QTRY_VERIFY_WITH_TIMEOUT(answer("core-cycle") && answer("core-cycle")->estimate, 20000);
        QCOMPARE(answer("core-cycle")->estimate->latency.value, seconds);
    }
    void oneThatCannotAnswerSaysSoAtOnce() {
        MainWindow& window = *studio_.window;
        auto methods = window.document().state()->methods;
        methods.push_back("gpu-cycle");
        QVERIFY_DONE(window.document().apply(setMethodsEdit(*window.document().state(), methods)));
        QTRY_VERIFY_WITH_TIMEOUT(answer("gpu-cycle"), 20000);
        QVERIFY(answer("gpu-cycle")->notApplicable());
        studio_.window.reset();
    }

private:
    const ui::Answer* answer(const QString& method) const {
        const auto& snapshot = studio_.window->live().snapshot();
        if (!snapshot || !studio_.window->live().upToDate()) return nullptr;
        for (const ui::Answer& each : snapshot->answers)
            if (each.method == method) return &each;
        return nullptr;
    }
    QString said(const QString& method) const {
        const auto* table = studio_.window->findChild<QTableView*>("comparison.table");
        const auto* model = table->model();
        const auto& answers = studio_.window->live().snapshot()->answers;
        for (int row = 0; row < model->rowCount(); ++row) {
            if (answers[static_cast<std::size_t>(row)].method == method)
                return model->index(row, ui::ComparisonModel::Prediction).data().toString();
        }
        return {};
    }
    static constexpr const char* firstOrder = "core-windows(pass=flow)";
    StudioWindow studio_;
};

QTEST_MAIN(TstSlowMethods)
#include "tst_slow_methods.moc"
