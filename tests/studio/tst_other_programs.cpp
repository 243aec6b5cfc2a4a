// Other programs in the window: found, asked with the mouse, run, and shown beside our own.

#include "app/window/other_programs.h"
#include "support/adapter_fixture.h"
#include "support/studio_window.h"

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

QTreeWidgetItem* rowOf(QTreeWidget* list, const QString& title) {
    const auto found = list->findItems(title, Qt::MatchExactly, 0);
    return found.isEmpty() ? nullptr : found.front();
}

}  // namespace

class TstOtherPrograms : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        tool_.adapter();
        tool_.program("echo m,n,k,seconds\necho \"$1,$2,$3,0.001\"\n");
        qputenv("ORRERY_ADAPTERS", tool_.folder().toUtf8());
        studio_.prepare();
    }
    void aFoundProgramIsAskedInThreeClicks() {
        STEP(studio_.start());
        MainWindow& window = *studio_.window;
        window.openExample("first-light");
        QTRY_VERIFY_WITH_TIMEOUT(window.live().snapshot() && window.live().upToDate(), 20000);
        const auto before = window.document().state()->methods;
        window.findChild<QAction*>("runPrograms")->trigger();
        auto* dialog = window.findChild<OtherPrograms*>();
        QVERIFY(dialog && dialog->isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->isLooking(), 60000);
        auto* list = dialog->findChild<QTreeWidget*>("otherPrograms.list");
        auto* ask = dialog->findChild<QPushButton*>("otherPrograms.ask");
        QTreeWidgetItem* row = rowOf(list, "Stand-in");
        QVERIFY(row && row->text(1).contains("found"));
        list->scrollToItem(row);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, Qt::NoModifier, list->visualItemRect(row).center());
        QVERIFY(ask->isEnabled());
        QTest::mouseClick(ask, Qt::LeftButton);
        auto asked = before;
        asked.push_back("tool");
        QCOMPARE(window.document().state()->methods, asked);
        QVERIFY(!ask->isEnabled());  // it is asked
        dialog->close();
        // It has a row, which says that no edit asks it.
        const auto mine = [&]() -> const ui::Answer* {
            const auto& snapshot = window.live().snapshot();
            if (!snapshot) return nullptr;
            for (const ui::Answer& each : snapshot->answers)
                if (each.method == "tool") return &each;
            return nullptr;
        };
        QTRY_VERIFY_WITH_TIMEOUT(mine(), 20000);
        QVERIFY(!mine()->estimate && mine()->failure && mine()->failure->code == "method.not-asked");
        window.findChild<QAction*>("runStart")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(mine() && mine()->estimate, 60000);
        QVERIFY(mine()->estimate->latency.value > 0.001);
        QVERIFY(mine()->estimate->cost.value > 0.001);  // what asking it took, not what looking it up did
        // One edit on, and it has not been asked about that.
        window.document().undoStack()->undo();
        QTRY_COMPARE(window.document().state()->methods, before);
    }
    void oneThatIsNotHereSaysWhatItNeeds() {
        MainWindow& window = *studio_.window;
        window.findChild<QAction*>("runPrograms")->trigger();
        auto* dialog = window.findChild<OtherPrograms*>();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->isLooking(), 60000);
        auto* list = dialog->findChild<QTreeWidget*>("otherPrograms.list");
        QTreeWidgetItem* row = rowOf(list, "VIDUR");
        QVERIFY(row);
        list->scrollToItem(row);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, Qt::NoModifier, list->visualItemRect(row).center());
        QVERIFY(!dialog->findChild<QPushButton*>("otherPrograms.ask")->isEnabled());
        QVERIFY(dialog->findChild<QPushButton*>("otherPrograms.recorded")->isEnabled());
        QVERIFY(dialog->findChild<QLabel*>("otherPrograms.detail")->text().contains("request_metrics.csv"));
        dialog->close();
        studio_.window.reset();
    }

private:
    orrery::test::StandIn tool_{"adapters"};
    StudioWindow studio_;
};

QTEST_MAIN(TstOtherPrograms)
#include "tst_other_programs.moc"
