// Can methods be chosen in one panel: with ticks that stay open, why not for those that do not answer, and all that
// apply?

#include "app/window/dock_set.h"
#include "app/window/methods/methods_panel.h"
#include "app/window/studio.h"
#include "support/studio_window.h"
#include "widgets/common/label.h"
#include "widgets/common/units_text.h"

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestMethodsPanel : public QObject, private StudioWindow {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() {
        STEP(start());
        window->document().reset(smallProject());
        window->studio().layouts.showProject();
        QTRY_VERIFY_WITH_TIMEOUT(window->live().snapshot() && window->live().upToDate(), 30000);
        auto* button = window->findChild<QToolButton*>("methodChooser");
        QVERIFY(button && button->isVisible());
        QTest::mouseClick(button, Qt::LeftButton);
        panel_ = window->findChild<MethodsPanel*>();
        QVERIFY(panel_);
        QTRY_VERIFY(panel_->isVisible());
        QVERIFY(settled());
    }
    void cleanup() { window.reset(); }

    void everyMethodHasARowWithItsFullName() {
        for (const Method& method : builtinMethods()) {
            QCheckBox* box = panel_->box(QString::fromUtf8(method.card.id.data(), qsizetype(method.card.id.size())));
            QVERIFY2(box, std::string(method.card.id).c_str());
            QCOMPARE(box->accessibleName().toStdString(), std::string(method.card.title));
            QVERIFY2(box->sizeHint().width() <= panel_->width(), "a name is cut");
        }
    }

    // Ticks are edits; the panel stays where it is.
    void aTickIsAnEditAndUndone() {
        QVERIFY(panel_->box("roofline")->isChecked() && !panel_->box("tile-wave")->isChecked());
        tick("tile-wave");
        QVERIFY(panel_->isVisible());
        QVERIFY(asked("tile-wave"));
        tick("roofline");
        QVERIFY(!asked("roofline") && panel_->isVisible());
        window->document().undoStack()->undo();
        window->document().undoStack()->undo();
        QVERIFY(panel_->box("roofline")->isChecked() && !panel_->box("tile-wave")->isChecked());
    }

    void aRowSaysWhatItsMethodAnswers() {
        const auto& snapshot = window->live().snapshot();
        for (const ui::Answer& answer : snapshot->answers) {
            QVERIFY(answer.estimate);
            QCOMPARE(panel_->said(answer.method), ui::text(answer.estimate->latency));
        }
        // What is not chosen says what it would say, and says it when it is asked.
        const QString before = panel_->said("tile-wave");
        QVERIFY2(before.startsWith("would say "), qPrintable(before));
        tick("tile-wave");
        QTRY_COMPARE_WITH_TIMEOUT(panel_->said("tile-wave"), before.mid(10), 30000);
    }

    void whoDoesNotAnswerSaysWhy() {
        // An array's, a memory's and a training step's methods on a decode on a GPU.
        for (const char* id : {"systolic-closed-form", "npu-tile", "closed-form-step"}) {
            const QString said = panel_->said(id);
            QVERIFY2(!said.isEmpty() && !said.startsWith("would"), qPrintable(QString(id) + ": " + said));
        }
    }

    void allThatApplyAnswer() {
        QTest::mouseClick(panel_->findChild<QPushButton*>("methods.all"), Qt::LeftButton);
        QVERIFY(settled());
        QTRY_VERIFY_WITH_TIMEOUT(window->document().state()->methods.size() > 4, 30000);
        QTRY_VERIFY_WITH_TIMEOUT(window->live().upToDate() && settled(), 60000);
        for (const ui::Answer& answer : window->live().snapshot()->answers)
            QVERIFY2(answer.estimate, qPrintable(answer.method));
        for (const Method& method : builtinMethods())
            if (const QString id = QString::fromUtf8(method.card.id.data(), qsizetype(method.card.id.size()));
                !panel_->box(id)->isChecked())
                QVERIFY2(!panel_->said(id).startsWith("would say"), qPrintable(id));
        picture("methods-panel");
        QCOMPARE(window->document().undoStack()->count(), 1);
        QTest::mouseClick(panel_->findChild<QPushButton*>("methods.none"), Qt::LeftButton);
        QVERIFY(window->document().state()->methods.empty());
    }

    void searchFindsByNameAndPurpose() {
        auto* line = panel_->findChild<QLineEdit*>("methods.search");
        line->setFocus();
        QTest::keyClicks(line, "systolic");
        QVERIFY(panel_->box("systolic-closed-form")->isVisible() && !panel_->box("roofline")->isVisible());
        line->clear();
        QVERIFY(panel_->box("roofline")->isVisible());
    }

private:
    bool settled() {
        return QTest::qWaitFor([this] { return !panel_->isBusy() && window->live().upToDate(); }, 60000);
    }
    void tick(const QString& id) {
        QCheckBox* box = panel_->box(id);
        QVERIFY2(box, qPrintable(id));
        panel_->findChild<QScrollArea*>("methods.scroll")->ensureWidgetVisible(box);
        QCoreApplication::processEvents();
        QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(10, box->height() / 2));
    }
    bool asked(const std::string& id) {
        const auto& methods = window->document().state()->methods;
        return std::ranges::find(methods, id) != methods.end();
    }

    MethodsPanel* panel_ = nullptr;
};

QTEST_MAIN(TestMethodsPanel)
#include "tst_methods_panel.moc"
