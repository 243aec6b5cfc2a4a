// Fields that are passed over, and fields that keep the keyboard: the wheel changes nothing, and Ctrl+Z after a value
// was typed is the project's.

#include "app/window/serving/serving_page.h"
#include "support/studio_window.h"

#include <QWheelEvent>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestInputManners : public QObject, private StudioWindow {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() {
        start();
        window->openExample("first-light");
        QTRY_VERIFY_WITH_TIMEOUT(window->live().snapshot() && window->live().upToDate(), 20000);
    }
    void cleanup() { window.reset(); }

    void undoAfterATypedValueIsTheProjects() {
        auto* bandwidth = window->findChild<QLineEdit*>("inspector.bandwidth");
        QVERIFY(bandwidth && bandwidth->isVisible());
        const QString before = bandwidth->text();
        bandwidth->setFocus();
        bandwidth->selectAll();
        QTest::keyClicks(bandwidth, "2 TB/s");
        QTest::keyClick(bandwidth, Qt::Key_Z, Qt::ControlModifier);
        QVERIFY2(!window->document().undoStack()->canUndo(), "while one types, Ctrl+Z is the field's");
        bandwidth->selectAll();
        QTest::keyClicks(bandwidth, "2 TB/s");
        QTest::keyClick(bandwidth, Qt::Key_Return);
        QVERIFY(window->document().undoStack()->canUndo());
        QVERIFY(bandwidth->hasFocus());
        QTest::keyClick(bandwidth, Qt::Key_Z, Qt::ControlModifier);
        QVERIFY2(!window->document().undoStack()->canUndo(), "the edit is taken back");
        QCOMPARE(bandwidth->text(), before);
        QTest::keyClick(bandwidth, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(bandwidth->text(), QStringLiteral("2 TB/s"));
    }

    void undoInABoxToo() {
        ServingPage* page = openServing();
        QVERIFY(page);
        auto* tensor = page->findChild<QSpinBox*>("serving.plan.tensor");
        QVERIFY(tensor);
        tensor->setFocus();
        tensor->selectAll();
        QTest::keyClick(tensor, Qt::Key_2);
        QTest::keyClick(tensor, Qt::Key_Return);
        QTRY_VERIFY(window->document().undoStack()->canUndo());
        QTRY_COMPARE(tensor->value(), 2);
        QTest::qWait(1);
        QTest::keyClick(tensor, Qt::Key_Z, Qt::ControlModifier);
        QTRY_COMPARE(tensor->value(), 1);
        QVERIFY(!window->document().undoStack()->canUndo());
    }

    // Letters find a choice by any of its words, in the closed field and in its open list.
    void aChoiceIsFoundByAnyOfItsWords() {
        ServingPage* page = openServing();
        QVERIFY(page);
        auto* devices = page->findChild<QComboBox*>("serving.device");
        devices->setFocus();
        QTest::keyClicks(devices, "h100 s");
        QCOMPARE(devices->currentData().toString(), QStringLiteral("h100-sxm"));
        QTest::keyClicks(devices, "q");  // nothing has it there: what was found stays
        QCOMPARE(devices->currentData().toString(), QStringLiteral("h100-sxm"));
        QTRY_COMPARE(page->question().scenario.pools.front().hardware, std::string("h100-sxm"));
        QTest::qWait(2 * QApplication::keyboardInputInterval() + 50);  // a new word
        devices->showPopup();
        QTRY_VERIFY(devices->view()->isVisible());
        QTest::keyClicks(devices->view(), "grace");
        QCOMPARE(devices->view()->currentIndex().data().toString(), QStringLiteral("NVIDIA Grace"));
        QTest::keyClick(devices->view(), Qt::Key_Return);
        QTRY_COMPARE(devices->currentText(), QStringLiteral("NVIDIA Grace"));
    }

    void theWheelChangesNothing() {
        ServingPage* page = openServing();
        QVERIFY(page);
        int looked = 0;
        for (QWidget* each : window->findChildren<QWidget*>()) {
            const auto* combo = qobject_cast<QComboBox*>(each);
            const auto* box = qobject_cast<QAbstractSpinBox*>(each);
            if (!each->isVisible() || !each->isEnabled() || (!combo && !box)) continue;
            const QString before = combo ? combo->currentText() : box->text();
            for (const bool focused : {false, true}) {
                if (focused) each->setFocus();
                for (const int turn : {-120, 120, 120}) {
                    QWheelEvent wheel(QPointF(4, 4), each->mapToGlobal(QPointF(4, 4)), {}, {0, turn}, Qt::NoButton,
                                      Qt::NoModifier, Qt::NoScrollPhase, false);
                    QApplication::sendEvent(each, &wheel);
                    QCOMPARE(combo ? combo->currentText() : box->text(), before);
                }
            }
            ++looked;
        }
        QVERIFY2(looked > 8, qPrintable(QString::number(looked)));
        QVERIFY(!window->document().undoStack()->canUndo());
    }

private:
    ServingPage* openServing() {
        auto* page = window->studio().router.page<ServingPage>();
        window->studio().router.show(page);
        [&] { QTRY_VERIFY_WITH_TIMEOUT(page->form() && !page->isBusy() && page->showsAnswer(), 30000); }();
        return page;
    }
};

QTEST_MAIN(TestInputManners)
#include "tst_input_manners.moc"
