// Are quick fixes offered where there are some, by bulb, key and menu, and is the right one asked for? Do devices of
// the library say their numbers, and operators what they cost?

#include "support/drag.h"
#include "support/panels_fixture.h"
#include "widgets/common/fact_list.h"
#include "widgets/common/theme.h"
#include "widgets/inspector/inspector.h"
#include "widgets/library/library.h"
#include "widgets/library/library_model.h"
#include "widgets/library/library_numbers.h"
#include "widgets/messages/problems_delegate.h"
#include "widgets/messages/problems_panel.h"

#include <QtTest>
#include <QtWidgets>

using namespace orrery;
using namespace orrery::ui;

namespace {

struct Asked {
    std::string code;
    int fix;
    QString title;
};

struct Bench {
    ProblemsPanel panel;
    std::vector<Asked> asked;
    int lookedUp = 0;

    Bench() {
        panel.setDiagnostics(fixture::problems());
        // Two ways out of the missing capacity, none out of anything else.
        panel.model()->setFixProvider([this](const Diagnostic& problem) -> std::vector<Fix> {
            ++lookedUp;
            if (problem.code != "hardware.missing") return {};
            const auto same = [](Hardware design) -> Expected<Hardware> { return design; };
            return {{"Give smem 228 KiB", same}, {"Remove smem", same}};
        });
        QObject::connect(&panel, &ProblemsPanel::fixRequested, &panel,
                         [this](const Diagnostic& problem, int fix, const QString& title) {
                             asked.push_back({problem.code, fix, title});
                         });
        panel.resize(600, 260);
        panel.show();
        panel.activateWindow();
        (void)QTest::qWaitForWindowActive(&panel);
    }
    QModelIndex row(const char* code) {
        for (int i = 0; i < panel.model()->rowCount(); ++i)
            if (panel.model()->at(i).code == code) return panel.model()->index(i);
        return {};
    }
    QMenu* menu() {
        const auto all = panel.findChildren<QMenu*>("problems.menu");
        return all.isEmpty() ? nullptr : all.back();
    }
};

}  // namespace

class TestPanelsFixes : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    void bulbStandsWhereThereIsAFix() {
        Bench bench;
        const QModelIndex missing = bench.row("hardware.missing"), unusual = bench.row("hardware.unusual");
        QListView* list = bench.panel.list();
        QVERIFY(ProblemsDelegate::bulb(list->visualRect(missing), missing).isValid());
        QVERIFY(!ProblemsDelegate::bulb(list->visualRect(unusual), unusual).isValid());
        QVERIFY(missing.data(Qt::AccessibleTextRole).toString().contains("quick fix"));
        QVERIFY(!unusual.data(Qt::AccessibleTextRole).toString().contains("quick fix"));
    }

    void bulbOffersAndDoesNotJump() {
        Bench bench;
        QSignalSpy jumps(&bench.panel, &ProblemsPanel::jumpTo);
        QListView* list = bench.panel.list();
        const QModelIndex missing = bench.row("hardware.missing");
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                          ProblemsDelegate::bulb(list->visualRect(missing), missing).center());
        QVERIFY(bench.menu());
        QCOMPARE(bench.menu()->actions().size(), 2);
        QCOMPARE(bench.menu()->actions()[1]->text(), "Remove smem");
        bench.menu()->actions()[1]->trigger();
        QCOMPARE(bench.asked.size(), 1u);
        QCOMPARE(QString::fromStdString(bench.asked[0].code), "hardware.missing");
        QCOMPARE(bench.asked[0].fix, 1);
        QCOMPARE(bench.asked[0].title, "Remove smem");
        QCOMPARE(jumps.size(), 0);
        bench.menu()->close();
    }

    void keysOfferAndJump() {
        Bench bench;
        QSignalSpy jumps(&bench.panel, &ProblemsPanel::jumpTo);
        QListView* list = bench.panel.list();
        list->setFocus();
        list->setCurrentIndex(bench.row("hardware.missing"));
        QTest::keyClick(list, Qt::Key_Return, Qt::AltModifier);
        QVERIFY(bench.menu() && bench.menu()->activeAction());
        QTest::keyClick(bench.menu(), Qt::Key_Return);
        QCOMPARE(bench.asked.size(), 1u);
        QCOMPARE(bench.asked[0].fix, 0);
        QCOMPARE(jumps.size(), 0);
        QTest::keyClick(list, Qt::Key_Return);
        QCOMPARE(jumps.size(), 1);
        QCOMPARE(QString::fromStdString(jumps[0][0].value<Place>().path), "system/h100/sm/smem.capacity");
    }

    void menuSaysWhenThereIsNone() {
        Bench bench;
        QListView* list = bench.panel.list();
        emit list->customContextMenuRequested(list->visualRect(bench.row("hardware.unusual")).center());
        QVERIFY(bench.menu());
        QVERIFY(!bench.menu()->actions().front()->isEnabled());
        QVERIFY(bench.menu()->actions().front()->text().contains("No quick fix"));
        bench.menu()->close();
    }

    void fixesAreLookedUpOncePerProblem() {
        Bench bench;
        for (int i = 0; i < 5; ++i) bench.panel.grab();
        QCOMPARE(bench.lookedUp, 4);
        bench.panel.setDiagnostics({});
        bench.panel.setDiagnostics(fixture::problems());
        bench.panel.grab();
        QVERIFY(bench.lookedUp > 4);  // other problems, other fixes
    }

    void devicesSayTheirNumbers() {
        // The data sheet of the H100 SXM: 80 GB, 3.35 TB/s; 132 SMs × 4 × 512 × 2 × 1.83 GHz = 989 TFLOP/s in bf16.
        const QString numbers = deviceNumbers(*fixture::hardware());
        QVERIFY2(numbers.contains("80 GB") && numbers.contains("3.35 TB/s") && numbers.contains("bf16"),
                 qPrintable(numbers));
        QVERIFY2(deviceNumbers(*fixture::hardware("dgx-h100")).startsWith("8 × "),
                 qPrintable(deviceNumbers(*fixture::hardware("dgx-h100"))));
        QVERIFY(deviceNumbers(Hardware{}).isEmpty());
        LibraryPanel library;
        library.resize(300, 500);
        library.setHardware(hardwareCatalogue());
        library.show();
        const auto detail = [&] {
            for (int row = 0; row < library.list()->model()->rowCount(); ++row) {
                const QModelIndex index = library.list()->model()->index(row, 0);
                if (index.data(LibraryModel::IdRole) == QLatin1String("h100-sxm"))
                    return index.data(LibraryModel::DetailRole).toString();
            }
            return QString();
        };
        QTRY_COMPARE(detail(), numbers);
        auto* search = library.findChild<QLineEdit*>("library.search");
        QTest::keyClicks(search, "row-stationary");  // only in a description
        QCOMPARE(library.list()->model()->rowCount(), 1);
    }

    void devicesAreDraggedByTheirId() {
        LibraryPanel library;
        library.setHardware(hardwareCatalogue());
        library.show();
        const QModelIndex first = library.list()->model()->index(0, 0);
        const auto data = fixture::dragged(library.list(), {first});
        QVERIFY(data);
        QCOMPARE(QString::fromUtf8(data->data("application/x-orrery-hardware")),
                 first.data(LibraryModel::IdRole).toString());
    }

    void operatorsSayWhatTheyCost() {
        const WorkloadPtr workload = fixture::workload();
        QVERIFY(workload);
        const auto& all = workload->graph.operators;
        const auto found = std::find_if(all.begin(), all.end(), [](const Operator& op) {
            return op.kind == OperatorKind::MatMul && op.repeat > 1;
        });
        QVERIFY(found != all.end());
        Inspector inspector;
        inspector.showOperator(workload, int(found - all.begin()), nullptr);
        const auto fact = [&](const char* list, const QString& label) {
            for (const Fact& one : inspector.findChild<FactList*>(list)->facts())
                if (one.label == label) return one.value;
            return QString();
        };
        // A layer of Llama-2 7B runs 32 times; the first matrix product's weight is [4096×…] in fp16.
        QCOMPARE(fact("operator.place", "Runs"), "32");
        QCOMPARE(fact("operator.place", "Block"), QString::fromStdString(found->block));
        QVERIFY(!fact("operator.costs", "Parameters").isEmpty());
        QVERIFY(!fact("operator.costs", "Bytes in all").isEmpty());
        QVERIFY(fact("operator.tensors", "Weight").contains("fp16"));
        QVERIFY(!fact("operator.tensors", "Output").isEmpty());
    }
};

QTEST_MAIN(TestPanelsFixes)
#include "tst_panels_fixes.moc"
