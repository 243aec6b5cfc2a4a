// Does the history tell the stack's states and go to the one that is clicked? Does the list of differences say what
// differences() finds and lead to both sides?

#include "support/panels_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/comparison/difference_list.h"
#include "widgets/messages/history_panel.h"

#include <QtTest>
#include <QtWidgets>

#include <random>

using namespace orrery;
using namespace orrery::ui;

namespace {

/// A counter as document: what a command does can be seen.
class Add : public QUndoCommand {
public:
    Add(int& value, int by, int gesture = -1)
        : QUndoCommand(QStringLiteral("Add %1").arg(by)), value_(value), by_(by), gesture_(gesture) {}
    void redo() override { value_ += by_; }
    void undo() override { value_ -= by_; }
    int id() const override { return gesture_; }
    bool mergeWith(const QUndoCommand* other) override {
        by_ += static_cast<const Add*>(other)->by_;
        setText(QStringLiteral("Add %1").arg(by_));
        return true;
    }

private:
    int& value_;
    int by_, gesture_;
};

void click(QListView* list, int row) {
    const QModelIndex index = list->model()->index(row, 0);
    list->scrollTo(index);
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(index).center());
}

}  // namespace

class TestPanelsHistory : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    void clickGoesBackAndForth() {
        QUndoStack stack;
        int value = 0;
        for (const int by : {1, 10, 100}) stack.push(new Add(value, by));
        stack.setClean();
        HistoryPanel panel(&stack);
        panel.resize(260, 300);
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        QListView* list = panel.list();
        const auto* model = panel.model();
        QCOMPARE(model->rowCount(), 4);
        QCOMPARE(model->index(0).data().toString(), "As opened");
        QCOMPARE(model->index(2).data().toString(), "Add 10");
        QCOMPARE(list->currentIndex().row(), 3);
        click(list, 1);
        QCOMPARE(value, 1);
        QVERIFY(model->index(1).data(HistoryModel::CurrentRole).toBool());
        QVERIFY(model->index(2).data(HistoryModel::UndoneRole).toBool());
        QVERIFY(model->index(3).data(HistoryModel::SavedRole).toBool());
        QVERIFY(model->index(3).data(Qt::AccessibleTextRole).toString().contains("saved"));
        click(list, 0);
        QCOMPARE(value, 0);
        list->setCurrentIndex(model->index(3));
        QTest::keyClick(list, Qt::Key_Return);
        QCOMPARE(value, 111);
        QTest::mouseClick(panel.findChild<QToolButton*>("history.undo"), Qt::LeftButton);
        QCOMPARE(value, 11);
        QCOMPARE(list->currentIndex().row(), 2);
        QTest::mouseClick(panel.findChild<QToolButton*>("history.redo"), Qt::LeftButton);
        QCOMPARE(value, 111);
        QVERIFY(!panel.findChild<QToolButton*>("history.redo")->isEnabled());
    }

    void mergedEditsChangeTheirRow() {
        QUndoStack stack;
        int value = 0;
        HistoryModel model(&stack);
        stack.push(new Add(value, 1, 7));
        stack.push(new Add(value, 2, 7));
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.index(1).data().toString(), "Add 3");
    }

    void modelStaysSoundUnderRandomUse() {
        QUndoStack stack;
        int value = 0;
        HistoryModel model(&stack);
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        std::mt19937 random(11);
        for (int step = 0; step < 400; ++step) {
            switch (random() % 6) {
                case 0:
                    stack.undo();
                    break;
                case 1:
                    stack.redo();
                    break;
                case 2:
                    stack.setIndex(static_cast<int>(random() % static_cast<unsigned>(stack.count() + 1)));
                    break;
                case 3:
                    stack.setClean();
                    break;
                default:
                    stack.push(new Add(value, static_cast<int>(random() % 9) + 1, random() % 3 ? -1 : 5));
            }
            if (step == 300) stack.clear();
            QCOMPARE(model.rowCount(), stack.count() + 1);
            QCOMPARE(model.current(), stack.index());
            for (int i = 0; i < stack.count(); ++i) QCOMPARE(model.index(i + 1).data().toString(), stack.text(i));
        }
    }

    void differencesAreListedAndLeadToBothSides() {
        const HardwarePtr before = fixture::hardware();
        auto changed = withAttribute(*before, "hbm3.bandwidth", "4 TB/s");
        QVERIFY(changed);
        changed->root.children.front().children.push_back({.kind = ComponentKind::Buffer, .name = "scratch"});
        const auto after = std::make_shared<const Hardware>(*changed);
        DifferenceList list;
        QAbstractItemModelTester tester(list.model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
        list.resize(300, 400);
        list.show();
        QVERIFY(list.list()->isHidden());  // and says what it would show
        list.setDesigns(before, after, "H100", "mine");
        const auto expected = differences(before->root, after->root);
        QCOMPARE(list.model()->rowCount(), int(expected.size()));
        QVERIFY(!expected.empty());
        QVERIFY(expected.size() >= 2);
        for (std::size_t i = 0; i < expected.size(); ++i)
            QCOMPARE(list.model()->index(int(i)).data().toString().toStdString(),
                     toText(before->root, after->root, expected[i]));
        QVERIFY(list.findChild<QLabel*>("differences.summary")->text().contains("H100 → mine"));
        QSignalSpy spy(&list, &DifferenceList::differenceChosen);
        const auto memory = *findComponent(before->root, "hbm3");
        for (std::size_t i = 0; i < expected.size(); ++i) {
            click(list.list(), int(i));
            QCOMPARE(spy.size(), int(i) + 1);
            QCOMPARE(spy.back()[0].value<std::optional<ComponentPath>>(), expected[i].before);
            QCOMPARE(spy.back()[1].value<std::optional<ComponentPath>>(), expected[i].after);
            if (expected[i].attribute == "bandwidth") QCOMPARE(expected[i].before, memory);
        }
        list.setDesigns(before, before, "H100", "H100");
        QCOMPARE(list.model()->rowCount(), 0);
        QVERIFY(list.list()->isHidden());
    }
};

QTEST_MAIN(TestPanelsHistory)
#include "tst_panels_history.moc"
