// Every widget of the window, its docks and its dialogs: has each control a name for scripts, one for a screen reader
// and a tooltip? Is every item model sound while the project changes? Can all be reached by keys alone?

#include "app/document/run_controller.h"
#include "app/window/actions.h"
#include "app/window/workload/stored_runs.h"
#include "support/studio_window.h"
#include "widgets/graph/graph_view.h"
#include "widgets/library/library.h"

#include <QAbstractItemModelTester>

#include <set>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

/// Something a person acts on. Parts of a control that Qt makes itself belong to that control.
bool isControl(const QWidget& widget) {
    const QWidget* parent = widget.parentWidget();
    if (widget.objectName().startsWith("qt_")) return false;
    if (qobject_cast<const QScrollBar*>(&widget) || qobject_cast<const QHeaderView*>(&widget)) return false;
    if (widget.inherits("QComboBoxPrivateContainer") || widget.inherits("QComboBoxListView")) return false;
    if (widget.inherits("QTableCornerButton") || widget.inherits("QMenuBarExtension")) return false;
    if (qobject_cast<const QAbstractButton*>(&widget)) {
        // Clear buttons, scroll buttons of tab bars, buttons of floating docks' titles.
        if (qobject_cast<const QLineEdit*>(parent) || qobject_cast<const QTabBar*>(parent)) return false;
        return true;
    }
    if (qobject_cast<const QLineEdit*>(&widget))
        return !qobject_cast<const QAbstractSpinBox*>(parent) && !qobject_cast<const QComboBox*>(parent);
    return qobject_cast<const QComboBox*>(&widget) || qobject_cast<const QAbstractSpinBox*>(&widget) ||
           qobject_cast<const QAbstractSlider*>(&widget) || qobject_cast<const QAbstractItemView*>(&widget) ||
           qobject_cast<const QTabBar*>(&widget) || qobject_cast<const QTextEdit*>(&widget) ||
           qobject_cast<const QPlainTextEdit*>(&widget);
}

QString whereIs(const QWidget& widget) {
    QStringList names;
    for (const QWidget* at = &widget; at; at = at->parentWidget()) {
        names.prepend(QString::fromLatin1(at->metaObject()->className()).section("::", -1) +
                      (at->objectName().isEmpty() ? QString() : "#" + at->objectName()));
    }
    return names.join(" › ");
}

bool isNamed(const QWidget& control) {
    if (!control.accessibleName().isEmpty()) return true;
    const auto* button = qobject_cast<const QAbstractButton*>(&control);
    return button && !button->text().isEmpty();
}

bool saysWhatItDoes(const QWidget& control) {
    if (!control.toolTip().isEmpty()) return true;
    const auto* bar = qobject_cast<const QTabBar*>(&control);
    if (!bar) return false;
    for (int tab = 0; tab < bar->count(); ++tab)
        if (bar->tabToolTip(tab).isEmpty()) return false;
    return bar->count() > 0;
}

}  // namespace

class TestStudioWalk : public QObject, private StudioWindow {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() { start(); }
    void cleanup() { window.reset(); }

    void everyControlIsNamedAndSaysWhatItDoes();
    void everyModelIsSound();
    void drawingByKeysAlone();
    void theTabKeyReachesEveryPart();
    void aStoredRunIsPaintedOnTheGraph();

private:
    void openAll() {
        window->openExample("prefill-and-decode");
        QTRY_VERIFY_WITH_TIMEOUT(window->live().snapshot() && window->live().upToDate(), 20000);
        for (const Layout layout : {Layout::Explore, Layout::Teach, Layout::Compare, Layout::Draw}) {
            window->setLayoutMode(layout);
            QCoreApplication::processEvents();
        }
        for (Dock* dock : window->docks().all()) window->docks().reveal(dock->objectName());
        for (const QString& id : MainWindow::resultViewIds()) window->docks().reveal(id);
        for (const char* id : {"library", "project", "problems", "jobs", "log", "history", "parts", "inspector"})
            window->docks().reveal(id);
        for (const char* id : {"editPreferences", "helpShortcuts", "helpAbout", "designDerive"})
            window->actions().find(id)->trigger();
        auto* pages = window->centralWidget()->findChild<QTabWidget*>();
        for (int page = pages->count() - 1; page >= 0; --page) {
            pages->setCurrentIndex(page);
            QCoreApplication::processEvents();
        }
        pages->setCurrentWidget(window->page<HardwarePage>().parentWidget()->parentWidget());
        window->actions().find("editFind")->trigger();
        window->actions().find("helpPalette")->trigger();
        QTest::qWait(100);
    }
};

void TestStudioWalk::everyControlIsNamedAndSaysWhatItDoes() {
    STEP(openAll());
    int controls = 0;
    QStringList faults;
    for (const QWidget* widget : QApplication::allWidgets()) {
        if (!isControl(*widget)) continue;
        ++controls;
        QStringList lacks;
        if (widget->objectName().isEmpty()) lacks << "an object name";
        if (!isNamed(*widget)) lacks << "an accessible name";
        if (!saysWhatItDoes(*widget)) lacks << "a tooltip";
        if (!lacks.isEmpty()) faults << whereIs(*widget) + " has not " + lacks.join(", ");
    }
    for (const QString& fault : faults) qWarning("%s", qPrintable(fault));
    qInfo("%d controls", controls);
    QVERIFY(controls > 120);
    QVERIFY2(faults.isEmpty(), qPrintable(QString::number(faults.size()) + " controls lack something"));
}

void TestStudioWalk::everyModelIsSound() {
    STEP(openAll());
    std::set<QAbstractItemModel*> models;
    std::vector<std::unique_ptr<QAbstractItemModelTester>> testers;
    for (QWidget* widget : QApplication::allWidgets()) {
        auto* view = qobject_cast<QAbstractItemView*>(widget);
        for (QAbstractItemModel* model = view ? view->model() : nullptr; model;) {
            // Qt's own item widgets answer for themselves (QTreeWidget gives every column the row's children).
            const bool ours = QLatin1String(model->metaObject()->className()).startsWith(QLatin1String("orrery::"));
            if (ours && models.insert(model).second) {
                testers.push_back(std::make_unique<QAbstractItemModelTester>(
                    model, QAbstractItemModelTester::FailureReportingMode::QtTest));
            }
            auto* proxy = qobject_cast<QAbstractProxyModel*>(model);
            model = proxy ? proxy->sourceModel() : nullptr;
        }
    }
    QVERIFY2(models.size() >= 8, qPrintable(QString::number(models.size())));
    // Under testers, what happens in a session: edits, undo, another workload, a search, problems that come and go.
    window->actions().find("insert.node")->trigger();
    window->actions().find("insert.topology.fat-tree")->trigger();
    window->actions().find("editUndo")->trigger();
    window->actions().find("editUndo")->trigger();
    window->actions().find("editRedo")->trigger();
    for (auto* line : window->findChildren<QLineEdit*>()) {
        if (!line->isVisible() || !line->objectName().contains("earch", Qt::CaseSensitive)) continue;
        line->setText("a");
        line->clear();
    }
    window->setTheme(true);
    window->setTheme(false);
    QVERIFY_DONE(window->document().saveAs(home.filePath("models.yaml")));  // or opening another would ask
    window->openExample("phone");
    QTRY_VERIFY_WITH_TIMEOUT(window->live().snapshot() && window->live().upToDate(), 20000);
    window->drawYourOwn();
    QCoreApplication::processEvents();
}

// No mouse at all: a node with two packages that are linked, a number typed, saved.
void TestStudioWalk::drawingByKeysAlone() {
    QTest::keyClick(window.get(), Qt::Key_N, Qt::ControlModifier);
    QTRY_VERIFY(canvas()->isVisible());
    auto* palette = window->findChild<ui::ComponentPalette*>();
    QVERIFY(palette && palette->isVisible());
    const auto put = [&](const char* words) {
        palette->line()->setFocus();
        palette->line()->selectAll();
        QTest::keyClicks(palette->line(), words);
        QTest::keyClick(palette->line(), Qt::Key_Return);  // takes the part, and the canvas the keys
        QCOMPARE(canvas()->tool(), ui::CanvasView::Tool::Place);
        QTRY_VERIFY(canvas()->hasFocus());
        QTest::keyClick(canvas(), Qt::Key_Return);
        QCOMPARE(canvas()->tool(), ui::CanvasView::Tool::Select);
    };
    STEP(put("node server"));
    QCOMPARE(root().children.size(), std::size_t(1));
    STEP(put("package"));
    QCOMPARE(at({0}).children.size(), std::size_t(1));
    QTest::keyClick(canvas(), Qt::Key_D, Qt::ControlModifier);
    QCOMPARE(at({0}).children.size(), std::size_t(2));
    // The one is selected: L takes it as the beginning, Tab goes to the other, Enter links.
    QTest::keyClick(canvas(), Qt::Key_L);
    QTest::keyClick(canvas(), Qt::Key_Tab);
    QTest::keyClick(canvas(), Qt::Key_Return);
    QCOMPARE(at({0}).children.size(), std::size_t(3));
    QCOMPARE(at({0}).children.back().kind, ComponentKind::Link);
    QTest::keyClick(canvas(), Qt::Key_Escape);
    QTest::keyClick(canvas(), Qt::Key_F2);
    QTest::keyClick(canvas(), Qt::Key_Escape);
    // The menu key opens the canvas's menu at what is selected.
    bool opened = false;
    QTimer::singleShot(0, [&] {
        (void)QTest::qWaitFor([] { return QApplication::activePopupWidget() != nullptr; }, 3000);
        if (QWidget* menu = QApplication::activePopupWidget()) {
            opened = menu->objectName() == "canvasMenu";
            menu->close();
        }
    });
    const QPoint middle = canvas()->rect().center();
    QContextMenuEvent menu(QContextMenuEvent::Keyboard, middle, canvas()->mapToGlobal(middle));
    QCoreApplication::sendEvent(canvas(), &menu);
    QVERIFY(opened);
    STEP(savesAndReads());
}

void TestStudioWalk::theTabKeyReachesEveryPart() {
    STEP(openAll());
    for (QWidget* dialog : QApplication::topLevelWidgets())
        if (qobject_cast<QDialog*>(dialog)) dialog->close();
    window->setLayoutMode(Layout::Draw, true);
    window->components().clear();
    QCoreApplication::processEvents();
    window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    canvas()->setFocus();
    QTRY_VERIFY(canvas()->hasFocus());
    std::set<QString> reached;
    for (int step = 0; step < 400; ++step) {
        QWidget* focus = QApplication::focusWidget();
        if (!focus) break;
        for (const QWidget* at = focus; at; at = at->parentWidget()) reached.insert(at->objectName());
        QTest::keyClick(focus, Qt::Key_Tab);
    }
    for (const char* part : {"canvas", "componentPalette", "inspector", "problems", "designTabs"})
        QVERIFY2(reached.contains(part), part);
}

void TestStudioWalk::aStoredRunIsPaintedOnTheGraph() {
    window->openExample("first-light");
    QTRY_VERIFY_WITH_TIMEOUT(window->live().snapshot() && window->live().upToDate(), 20000);
    QVERIFY_DONE(window->document().saveAs(home.filePath("runs.yaml")));
    window->centralWidget()->findChild<QTabWidget*>()->setCurrentIndex(2);
    auto* runs = window->findChild<QComboBox*>("graphRun");
    auto* metric = window->findChild<QComboBox*>("graphMetric");
    QVERIFY(runs && metric);
    QCOMPARE(runs->count(), 1);
    QSignalSpy finished(&window->runs(), &RunController::finished);
    window->actions().find("runStart")->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 30000);
    QTRY_COMPARE(runs->count(), 2);
    runs->setFocus();
    QTest::keyClick(runs, Qt::Key_Down);
    auto* graph = window->findChild<ui::GraphView*>();
    QTRY_VERIFY_WITH_TIMEOUT(graph->metric().startsWith("time/run-1-0/"), 10000);
    const auto& metrics = graph->metrics();
    const auto ratio = std::ranges::find(metrics, QString("ratio/run-1-0/roofline/roofline"), &ui::HeatMetric::id);
    QVERIFY(ratio != metrics.end());
    for (const double value : ratio->values) QVERIFY(std::isnan(value) || std::abs(value - 1) < 1e-9);
    // A run of another model says so and paints nothing.
    const auto other = builtinWorkload("resnet-50");
    const WorkloadPtr resnet = loadWorkload({other->id, other->usual}).value();
    const auto answers = answersOfRun(window->runs().storeFile(), 1, *resnet);
    QVERIFY(!answers);
    QCOMPARE(answers.error().code, std::string("run.other-workload"));
    QTest::keyClick(runs, Qt::Key_Up);
    QTRY_VERIFY(!std::ranges::any_of(graph->metrics(), [](const auto& one) { return one.id.contains("run-1"); }));
    QVERIFY(storedRuns(home.filePath("no-such.sqlite"))->empty());
    QVERIFY(!QFileInfo::exists(home.filePath("no-such.sqlite")));
}

QTEST_MAIN(TestStudioWalk)
#include "tst_studio_walk.moc"
