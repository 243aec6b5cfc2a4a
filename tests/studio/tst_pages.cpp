// Is a new page one file pair and one line? A page that only this test knows must be in the tabs, the menu, the palette
// and under a key, get every answer, open its files, put its docks up and keep its view, with nothing else said about
// it.

#include "app/window/hardware/hardware_page.h"
#include "app/window/main_window.h"
#include "app/window/snapshot_feeder.h"
#include "app/window/welcome/start_page.h"
#include "support/studio_fixture.h"
#include "widgets/common/theme.h"

#include <QtWidgets>

#include <map>
#include <set>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

/// Wafer maps, say: lists the lines of its files.
class WaferPage : public Page {
    Q_OBJECT
public:
    WaferPage(Studio& /*studio*/, QWidget* parent) : Page(parent) { setObjectName("waferPage"); }

    PageCard card() const override {
        return {"wafer", tr("Wafer"), tr("Dies on a wafer"), "view-grid", {}, true, {"waferDock"}};
    }
    void join(Studio& studio) override {
        studio_ = &studio;
        studio.docks.add("waferDock", tr("Dies"), tr("Every die"), [](QWidget* dock) { return new QWidget(dock); });
        studio.actions.add(
            {"waferTurn", tr("Wafer"), tr("&Turn"), tr("Turn the wafer"), {}, QKeySequence("Ctrl+Alt+T")},
            [this] { ++turned; });
    }
    std::vector<MenuPart> menus() override {
        return {{"menuWafer", tr("&Wafer"), {}, {"waferTurn"}, {}},
                {"menuTurns", tr("Turns"), "menuWafer", {}, [](QMenu* menu) { menu->addAction("once"); }, true}};
    }
    bool accepts(const OpenFile& file) const override {
        return file.kind == QLatin1String("wafer") || file.path.endsWith(QLatin1String(".wafer"));
    }
    std::vector<FileFilter> filters() const override { return {{tr("Wafer maps"), {".wafer"}}}; }
    void open(const QString& path) override {
        files << path;
        studio_->router.show(this);
        emit opened(path, true);
    }
    bool acceptsDrop(const QMimeData& mime) const override { return mime.hasFormat("application/x-die"); }
    void drop(const QMimeData& mime) override { dropped = mime.data("application/x-die"); }
    std::vector<ui::PaletteEntry> findable() override {
        return {{"Die 7", tr("Die"), {}, {}, [this] { turned = 7; }}};
    }
    void feed(const ui::SnapshotPtr& snapshot) override { fed.push_back(snapshot); }
    bool goTo(const Place& place) override { return place.path == "die/7" ? (went = place.path, true) : false; }
    Expected<QStringList> report(const QString& folder) override {
        QFile file(folder + "/wafer.txt");
        if (!file.open(QIODevice::WriteOnly)) return fail("wafer.report", "no room", {}, {});
        return QStringList{file.fileName()};
    }
    void saveView(QSettings& settings) const override { settings.setValue("turned", turned); }
    void restoreView(const QSettings& settings) override { turned = settings.value("turned", 0).toInt(); }

    int turned = 0, built = 0;
    QStringList files;
    QByteArray dropped;
    std::string went;
    std::vector<ui::SnapshotPtr> fed;

protected:
    void build() override { ++built; }

private:
    Studio* studio_ = nullptr;
};

PageList withWafer() {
    PageList pages = builtinPages();
    pages.insert(pages.begin() + 9, makePage<WaferPage>);  // the one line; the tenth has a key too
    return pages;
}

QAction* entry(const QMenu* menu, const QString& id) {
    for (QAction* action : menu->actions()) {
        if (action->objectName() == id) return action;
    }
    return nullptr;
}

}  // namespace

class TestPages : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
    }
    void init() {
        QFile::remove(home_.filePath("orrery.ini"));
        open();
    }
    void cleanup() { window_.reset(); }

    void itIsMadeWhenItIsFirstSeen();
    void itIsInTheSwitcher();
    void examplesAreAnsweredWhereTheyCanBeSeen();
    void tabsStayWhileDocksComeAndGo();
    void itIsInTheMenu();
    void layoutsAreFoundByThatWord();
    void itHasAKey();
    void itsCommandsAndDocksAreThere();
    void aDockThatALayoutLeavesOutCanBeShown();
    void layoutsPlaceDocksThatAreThere();
    void itTakesEveryAnswer();
    void itOpensItsFiles();
    void aFileThatNoPageAcceptsIsRefused();
    void itTakesDropsAndPlaces();
    void itIsInTheReport();
    void itsViewIsKept();
    void everyPageHasACardOfItsOwn();

private:
    void open() {
        window_ = std::make_unique<MainWindow>(nullptr, withWafer());
        window_->resize(1400, 900);
        window_->show();
        window_->activateWindow();
        QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
        QTRY_VERIFY(window_->isReady());
        ui::Theme::instance().setAnimated(false);
    }
    WaferPage& wafer() { return window_->page<WaferPage>(); }
    QTabWidget* tabs() { return window_->studio().router.tabs(); }
    QString write(const char* name, const QByteArray& text) {
        QFile file(home_.filePath(name));
        if (!file.open(QIODevice::WriteOnly)) return {};
        file.write(text);
        return file.fileName();
    }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
};

// What nobody has looked at yet does not delay the window.
void TestPages::itIsMadeWhenItIsFirstSeen() {
    for (Page* page : window_->studio().router.pages()) QCOMPARE(page->isMade(), page->isVisible());
    QCOMPARE(wafer().built, 0);
    window_->studio().router.show(&wafer());
    QCOMPARE(wafer().built, 1);
    window_->studio().router.show(QStringLiteral("hardware"));
    window_->studio().router.show(&wafer());
    wafer().make();
    QCOMPARE(wafer().built, 1);
    // Pages that were seen alone are full of controls.
    for (const char* id :
         {"workload", "mapping", "gpu", "training", "serving", "explore", "compare", "evidence", "core"}) {
        Page* page = window_->studio().router.page(QLatin1String(id));
        const auto before = page->findChildren<QWidget*>().size();
        QVERIFY2(before <= 1, id);
        page->make();
        QVERIFY2(page->findChildren<QWidget*>().size() > before + 10, id);
    }
}

void TestPages::itIsInTheSwitcher() {
    const int tab = tabs()->indexOf(wafer().parentWidget()->parentWidget());
    QCOMPARE(tab, 9);
    QCOMPARE(tabs()->tabText(tab), QString("Wafer"));
    QCOMPARE(tabs()->tabToolTip(tab), QString("Dies on a wafer"));
    auto* bar = window_->findChild<QTabBar*>("documentTabs");
    QTest::mouseClick(bar, Qt::LeftButton, Qt::NoModifier, bar->tabRect(tab).center());
    QVERIFY(wafer().isVisible());
    QCOMPARE(window_->studio().router.front(), &wafer());
    QCOMPARE(window_->studio().router.page("wafer"), &wafer());
    QCOMPARE(window_->studio().router.page("no-such"), nullptr);
}

// From any page an example leads to where it is answered; the gallery has the window for itself.
void TestPages::examplesAreAnsweredWhereTheyCanBeSeen() {
    window_->openExample("first-light");
    QTRY_VERIFY_WITH_TIMEOUT(window_->live().snapshot() && window_->live().upToDate(), 20000);
    auto* bar = window_->findChild<QTabBar*>("documentTabs");
    const auto click = [&](const char* id) {
        const int tab = window_->studio().router.tabOf(window_->studio().router.page(QLatin1String(id)));
        QTest::mouseClick(bar, Qt::LeftButton, Qt::NoModifier, bar->tabRect(tab).center());
        QTest::qWait(1);
    };
    const auto* roofline = window_->docks().dock("roofline");
    click("welcome");
    QVERIFY2(!roofline->isVisible(), "docks stand around the gallery");
    click("core");
    window_->openExample("which-share-is-the-accelerators");
    QTest::qWait(1);
    QCOMPARE(window_->studio().router.front()->card().id, QString("hardware"));
    QVERIFY(roofline->isVisible());
    click("welcome");
    window_->openExample("a100-h100-or-h200");
    QCOMPARE(window_->studio().router.front()->card().id, QString("compare"));
}

// Some pages are seen without docks. The next tab is found where it was.
void TestPages::tabsStayWhileDocksComeAndGo() {
    auto* bar = window_->findChild<QTabBar*>("documentTabs");
    window_->openExample("first-light");
    QTRY_VERIFY_WITH_TIMEOUT(window_->live().snapshot() && window_->live().upToDate(), 20000);
    const QPoint place = bar->mapTo(window_.get(), QPoint());
    std::set<int> widths;
    for (int tab = bar->count() - 1; tab >= 0; --tab) {
        QTest::mouseClick(bar, Qt::LeftButton, Qt::NoModifier, bar->tabRect(tab).center());
        QCOMPARE(tabs()->currentIndex(), tab);
        QTest::qWait(1);
        QCOMPARE(bar->mapTo(window_.get(), QPoint()), place);
        widths.insert(tabs()->width());
    }
    QVERIFY2(widths.size() > 1, "docks came and went");
    window_->studio().router.show(QStringLiteral("hardware"));
    QCOMPARE(bar->tabText(bar->currentIndex()), tabs()->tabText(tabs()->currentIndex()));
    // Where a layout shows no pages there are no tabs either.
    for (const auto& [layout, pages] :
         {std::pair{"layout-teach", false}, {"layout-explore", true}, {"layout-teach", false}}) {
        window_->actions().find(QLatin1String(layout))->trigger();
        QTRY_COMPARE(tabs()->isVisible(), pages);
        QTRY_COMPARE(bar->isVisible(), pages);
    }
}

void TestPages::layoutsAreFoundByThatWord() {
    window_->actions().find("helpPalette")->trigger();
    auto* line = window_->findChild<QLineEdit*>("commandPalette.line");
    auto* list = window_->findChild<QListView*>("commandPalette.list");
    QTRY_VERIFY(line && line->isVisible());
    QTest::keyClicks(line, "teach layout");
    QVERIFY(list->model()->rowCount() > 0);
    QCOMPARE(list->model()->index(0, 0).data().toString(), QString("Teach"));
    QTest::keyClick(line, Qt::Key_Escape);
}

void TestPages::itIsInTheMenu() {
    auto* pages = window_->findChild<QMenu*>("menuPages");
    QVERIFY(pages);
    QCOMPARE(pages->actions().size(), qsizetype(builtinPages().size() + 1));
    QAction* action = entry(pages, "page.wafer");
    QVERIFY(action);
    QCOMPARE(action->text(), QString("Wafer"));
    action->trigger();
    QVERIFY(wafer().isVisible());
    // Also where a layout hides the pages.
    window_->setLayoutMode(Layout::Compare);
    QVERIFY(!tabs()->isVisible());
    action->trigger();
    QVERIFY(wafer().isVisible());
}

void TestPages::itHasAKey() {
    QCOMPARE(window_->actions().find("page.wafer")->shortcut(), QKeySequence("Ctrl+Alt+0"));
    QTest::keyClick(window_.get(), Qt::Key_0, Qt::ControlModifier | Qt::AltModifier);
    QTRY_COMPARE(window_->studio().router.front(), &wafer());
    QTest::keyClick(window_.get(), Qt::Key_2, Qt::ControlModifier | Qt::AltModifier);
    QTRY_VERIFY(window_->page<HardwarePage>().isVisible());
    // No two commands of the window have one key.
    std::map<QString, QString> owner;
    for (const Actions::Entry& one : window_->actions().all()) {
        for (const QKeySequence& key : one.action->shortcuts()) {
            if (one.action->shortcutContext() != Qt::WindowShortcut) continue;
            QString& other = owner[key.toString()];
            QVERIFY2(other.isEmpty(), qPrintable(one.action->objectName() + " and " + other + ": " + key.toString()));
            other = one.action->objectName();
        }
    }
}

void TestPages::itsCommandsAndDocksAreThere() {
    auto* own = window_->findChild<QMenu*>("menuWafer");
    QVERIFY(own && own->parentWidget());
    QVERIFY(entry(own, "waferTurn"));
    QTest::keyClick(window_.get(), Qt::Key_T, Qt::ControlModifier | Qt::AltModifier);
    QTRY_COMPARE(wafer().turned, 1);
    auto* turns = window_->findChild<QMenu*>("menuTurns");
    QVERIFY(turns && turns->isEmpty());
    for (int time = 0; time < 2; ++time) {  // filled anew each time
        emit turns->aboutToShow();
        QCOMPARE(turns->actions().size(), qsizetype(1));
    }
    window_->drawYourOwn();
    Dock* dock = window_->docks().dock("waferDock");
    Dock* inspector = window_->docks().dock("inspector");
    QVERIFY(dock && !dock->isVisible());
    QVERIFY(inspector->isVisible());
    auto* panels = window_->findChild<QMenu*>("menuPanels");
    QVERIFY(panels->actions().contains(dock->toggleViewAction()));
    window_->actions().find("page.wafer")->trigger();
    QVERIFY2(!inspector->isVisible(), "a page that fills the window puts the docks aside");
    QVERIFY2(dock->isVisible(), "but for its own");
    QVERIFY(window_->dockWidgetArea(dock) != Qt::NoDockWidgetArea);
    window_->actions().find("page.hardware")->trigger();
    QVERIFY(inspector->isVisible());
    const auto found = window_->studio().router.findable();
    const auto die = std::ranges::find(found, QString("Die 7"), &ui::PaletteEntry::title);
    QVERIFY(die != found.end());
    die->run();
    QCOMPARE(wafer().turned, 7);
}

void TestPages::aDockThatALayoutLeavesOutCanBeShown() {
    window_->setLayoutMode(Layout::Teach);
    Dock* library = window_->docks().dock("library");
    QVERIFY(!library->isVisible());
    library->toggleViewAction()->trigger();
    QVERIFY(library->isVisible());
    QVERIFY2(window_->dockWidgetArea(library) != Qt::NoDockWidgetArea, "beside the others, not over them");
}

void TestPages::layoutsPlaceDocksThatAreThere() {
    QCOMPARE(layoutPlans().size(), std::size_t(4));
    for (const LayoutPlan& plan : layoutPlans()) {
        QCOMPARE(layoutOf(plan.name), plan.layout);
        std::set<QString> placed;
        for (const DockPlace& place : plan.places) {
            QVERIFY2(window_->docks().dock(place.dock), place.dock);
            QVERIFY2(place.how == DockPlace::Into || placed.contains(place.where), place.where);
            QVERIFY2(placed.insert(place.dock).second, place.dock);
        }
        for (const DockShare& share : plan.shares) {
            for (const auto& [dock, percent] : share.docks) QVERIFY2(placed.contains(dock) && percent < 100, dock);
        }
        window_->setLayoutMode(plan.layout, true);
        for (Dock* dock : window_->docks().all()) QCOMPARE(!dock->isHidden(), placed.contains(dock->objectName()));
        QCOMPARE(tabs()->isVisible(), plan.pages);
        QVERIFY(window_->actions().find(QString("layout-") + plan.name)->isChecked());
    }
}

void TestPages::itTakesEveryAnswer() {
    window_->document().reset(smallProject());
    QTRY_VERIFY(window_->live().snapshot() && window_->live().upToDate() && window_->feeder().settled());
    QVERIFY(!wafer().isVisible());
    QVERIFY(!wafer().fed.empty());
    QCOMPARE(wafer().fed.back(), window_->live().snapshot());
    QVERIFY(std::set(wafer().fed.begin(), wafer().fed.end()).size() == wafer().fed.size());  // each once
}

void TestPages::itOpensItsFiles() {
    QSignalSpy opened(window_.get(), &MainWindow::fileOpened);
    const QString other = write("a.wafer", "dies"), yaml = write("b.yaml", "orrery: wafer/1\n");
    window_->openFile(other);
    QCOMPARE(wafer().files, QStringList{other});
    QVERIFY(wafer().isVisible());
    window_->openFile(yaml);
    QCOMPARE(wafer().files, (QStringList{other, yaml}));
    QCOMPARE(opened.count(), 2);
    QCOMPARE(opened.back()[0].toString(), yaml);
    window_->actions().find("fileOpen")->trigger();
    auto* dialog = window_->findChild<QFileDialog*>("openDialog");
    QVERIFY(dialog);
    QVERIFY(dialog->nameFilters().contains("Wafer maps (*.wafer)"));
    QVERIFY(dialog->nameFilters().front().contains("*.wafer"));
    dialog->close();
}

void TestPages::aFileThatNoPageAcceptsIsRefused() {
    const auto refused = [&](const QString& path, const char* code) {
        window_->openFile(path);
        const Diagnostics all = window_->currentProblems();
        return std::ranges::any_of(all, [&](const Diagnostic& one) {
            return one.code == code && one.place.file == path.toStdString() && !one.hint.empty();
        });
    };
    QVERIFY(refused(write("c.die", "?"), "file.kind"));
    QVERIFY(refused(write("d.yaml", "orrery: galaxy/1\n"), "file.kind"));
    // What the studio does not open says what it is, and what does.
    const auto says = [&](const QString& path, std::initializer_list<const char*> words) {
        window_->openFile(path);
        const Diagnostics all = window_->currentProblems();
        const auto its =
            std::ranges::find_if(all, [&](const Diagnostic& one) { return one.place.file == path.toStdString(); });
        if (its == all.end()) return false;
        const std::string text = toText(*its);
        return std::ranges::all_of(words, [&](const char* word) { return text.find(word) != std::string::npos; });
    };
    QVERIFY(says(write("e.yaml", "orrery: benchmark/1\nname: b\n"), {"benchmark", "orrery-cli study FILE"}));
    QVERIFY(says(write("p.yaml.runs.sqlite", "SQLite format 3"), {"runs", "orrery-cli export FILE", "Runs"}));
    QVERIFY(says(write("g.yaml", "orrery: galaxy/1\n"), {"galaxy"}));
    QVERIFY(refused(home_.filePath("none.wafer"), "file.missing"));
    QVERIFY(refused(home_.path(), "file.folder"));
    QVERIFY(wafer().files.isEmpty());
}

void TestPages::itTakesDropsAndPlaces() {
    QMimeData data;
    data.setData("application/x-die", "7");
    QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window_.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window_.get(), &drop);
    QCOMPARE(wafer().dropped, QByteArray("7"));
    window_->studio().router.goTo({{}, 0, 0, "die/7"});
    QCOMPARE(wafer().went, std::string("die/7"));
}

void TestPages::itIsInTheReport() {
    window_->document().reset(smallProject());
    QTRY_VERIFY(window_->live().snapshot() && window_->live().upToDate());
    const auto written = window_->exportReport(home_.filePath("report"));
    QVERIFY_DONE(written);
    QVERIFY(written->contains(home_.filePath("report/wafer.txt")));
    QVERIFY(written->contains(home_.filePath("report/hardware.svg")));
}

void TestPages::itsViewIsKept() {
    wafer().turned = 3;
    window_->close();
    window_.reset();
    open();
    QCOMPARE(wafer().turned, 3);
}

void TestPages::everyPageHasACardOfItsOwn() {
    std::set<QString> ids, titles;
    for (Page* page : window_->studio().router.pages()) {
        const PageCard card = page->card();
        QVERIFY(ids.insert(card.id).second);
        QVERIFY(titles.insert(card.title).second);
        QVERIFY2(!card.meaning.isEmpty(), qPrintable(card.id));
        QVERIFY2(!page->objectName().isEmpty(), qPrintable(card.id));
        for (const QString& dock : card.docks) QVERIFY2(window_->docks().dock(dock), qPrintable(dock));
    }
}

QTEST_MAIN(TestPages)
#include "tst_pages.moc"
