// The fidelity dock with real mouse and keys: from fast to slow, a budget, advice; a slip is said; Stop keeps what is
// known.

#include "app/window/fidelity/fidelity_cells.h"
#include "app/window/fidelity/fidelity_panel.h"
#include "app/window/main_window.h"
#include "app/window/studio.h"
#include "support/studio_fixture.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/fidelity/convergence_plot.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioFidelity : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
    }
    void init() {
        QFile::remove(home_.filePath("orrery.ini"));
        window_ = std::make_unique<MainWindow>();
        window_->resize(1600, 1000);
        window_->show();
        QVERIFY(QTest::qWaitFor([this] { return window_->isReady(); }));
        window_->document().reset(smallProject());
        window_->studio().layouts.showProject();
        window_->studio().docks.reveal("fidelity");
        QVERIFY(QTest::qWaitFor([this] { return (panel_ = window_->findChild<FidelityPanel*>()) != nullptr; }));
        QVERIFY(QTest::qWaitFor([this] { return button("fidelity.run")->isEnabled(); }, 20000));
    }
    void cleanup() { window_.reset(); }

    void fromFastToSlow() {
        QVERIFY(panel_->plot()->points().empty());
        click("fidelity.run");
        QVERIFY(QTest::qWaitFor([this] { return panel_->view() && !panel_->isBusy(); }, 60000));
        const FidelityView& view = *panel_->view();
        QVERIFY(view.ladder && view.ladder->last());
        QVERIFY(panel_->plot()->points().size() >= 3);
        double before = 0;
        for (const ui::ConvergencePoint& point : panel_->plot()->points()) {
            QVERIFY(point.spent >= before);
            before = point.spent;
            if (point.latency > 0) QVERIFY(point.low <= point.latency && point.latency <= point.high);
        }
        QCOMPARE(panel_->steps()->cells()->rowCount(), static_cast<int>(panel_->plot()->points().size()));
        QVERIFY(label("fidelity.headline").contains("±"));
        // What makes it wide: a click selects the operator everywhere.
        auto* tabs = window_->findChild<QTabWidget*>("fidelity.views");
        tabs->setCurrentWidget(panel_->widest());
        QVERIFY(panel_->widest()->cells()->rowCount() > 0);
        window_->studio().selection.clear();
        const QModelIndex first = panel_->widest()->model()->index(0, 0);
        QTest::mouseClick(panel_->widest()->viewport(), Qt::LeftButton, {},
                          panel_->widest()->visualRect(first).center());
        QCOMPARE(window_->studio().selection.operators().size(), 1);
        // Another question: what is shown says that it is of an earlier one.
        window_->document().reset(smallProject());
        QVERIFY(!panel_->view());
    }

    void aBudget() {
        panel_->setMode(FidelityMode::To);
        auto* value = window_->findChild<QLineEdit*>("fidelity.value");
        QVERIFY(value->isVisible());
        value->selectAll();
        QTest::keyClicks(value, "wide");
        QTest::keyClick(value, Qt::Key_Return);
        QVERIFY(!panel_->isBusy());
        QVERIFY(label("fidelity.headline").contains("wide"));
        value->selectAll();
        QTest::keyClicks(value, "40 %");
        QTest::keyClick(value, Qt::Key_Return);
        QVERIFY(QTest::qWaitFor([this] { return panel_->view() && !panel_->isBusy(); }, 60000));
        QVERIFY(panel_->view()->budget);
        const Estimate& e = panel_->view()->budget->estimate;
        QVERIFY(e.interval.low <= e.latency && e.latency <= e.interval.high);
        QVERIFY(panel_->steps()->cells()->rowCount() > 0);
    }

    void advice() {
        panel_->setMode(FidelityMode::Advice);
        click("fidelity.run");
        QVERIFY(QTest::qWaitFor([this] { return panel_->view() && !panel_->isBusy(); }, 60000));
        QVERIFY(panel_->view()->advice);
        QVERIFY(panel_->advice()->isVisible());
        QCOMPARE(panel_->advice()->cells()->rowCount(), static_cast<int>(panel_->view()->advice->methods.size()));
        QVERIFY(window_->findChild<QLabel*>("fidelity.reasons")->text().contains("Breaks where"));
    }

private:
    QAbstractButton* button(const char* name) const { return window_->findChild<QAbstractButton*>(name); }
    void click(const char* name) { QTest::mouseClick(button(name), Qt::LeftButton); }
    QString label(const char* name) const {
        auto* found = window_->findChild<QLabel*>(name);
        return found ? found->text() : QString();
    }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
    FidelityPanel* panel_ = nullptr;
};

QTEST_MAIN(TestStudioFidelity)
#include "tst_studio_fidelity.moc"
