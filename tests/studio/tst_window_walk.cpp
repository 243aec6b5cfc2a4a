// Is anything cut, hidden or out of reach, in any state of the window? Every page in every layout with every panel
// brought to the front, small and large, light and dark, with a small project and with a crowded one: long names,
// fifteen methods, two thousand parts.

#include "app/window/dock_layouts.h"
#include "app/window/dock_set.h"
#include "app/window/layouts.h"
#include "app/window/main_window.h"
#include "app/window/page.h"
#include "app/window/studio.h"
#include "support/studio_fixture.h"
#include "support/window_walk.h"

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

constexpr QSize smallest(1280, 720);  ///< what the window fits into, whatever it shows

/// Pixels of the window before the scale: 1280×720 is a screen of 1920×1080 at 150 %.
struct Screen {
    const char* name;
    bool crowded, dark;
    QSize size;
    const char* scale;
};
constexpr std::array screens{
    Screen{"small 1280x720 light", false, false, smallest, "1"},
    Screen{"small 1600x1000 dark", false, true, {1600, 1000}, "1"},
    Screen{"crowded 1280x720 dark", true, true, smallest, "1"},
    Screen{"small 1600x900 at 125 % dark", false, true, smallest, "1.25"},
    Screen{"crowded 1920x1080 at 150 % light", true, false, smallest, "1.5"},
    Screen{"crowded 3840x2160 at 200 % light", true, false, {1920, 1080}, "2"},
};

int partsOf(const Component& component) {
    int parts = 1;
    for (const Component& child : component.children) parts += partsOf(child);
    return parts;
}

Project crowdedProject() {
    Project project = smallProject();
    const std::string longName = "A name that somebody gave in a hurry, with the revision of last week, number 17";
    Hardware& design = project.hardware.front();
    design.name = longName;
    const Component device = design.root.children.front();
    while (partsOf(design.root) < 2000) {
        design.root.children.push_back(device);
        design.root.children.back().name =
            "accelerator_with_a_long_name_" + std::to_string(design.root.children.size());
    }
    project.workloads.front().name = longName + " (decode)";
    project.scenarios.front().hardware = design.name;
    project.scenarios.front().workload = project.workloads.front().name;
    project.methods.clear();
    for (const Method& method : builtinMethods())
        if (method.card.live && !asksForFile(method.card) && project.methods.size() < 15)
            project.methods.emplace_back(method.card.id);
    return project;
}

}  // namespace

class TestWindowWalk : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
        // Scales that are not this process's are walked beside it, if all are asked for.
        if (qEnvironmentVariableIsSet("QT_SCALE_FACTOR") || QCoreApplication::arguments().join(' ').contains(':'))
            return;
        for (const Screen& screen : screens)
            if (QByteArray(screen.scale) != "1") begin(screen);
    }
    void cleanup() { ui::Theme::instance().setPresenter(false); }

    void everyPageInEveryLayout_data() {
        QTest::addColumn<int>("which");
        for (std::size_t i = 0; i < screens.size(); ++i) QTest::newRow(screens[i].name) << static_cast<int>(i);
    }
    void everyPageInEveryLayout() {
        QFETCH(int, which);
        const auto [name, crowded, dark, size, scale] = screens[static_cast<std::size_t>(which)];
        if (QByteArray(scale) != "1" && !qEnvironmentVariableIsSet("QT_SCALE_FACTOR"))
            return finish(screens[static_cast<std::size_t>(which)]);
        QFile::remove(home_.filePath("orrery.ini"));
        MainWindow window;
        window.setTheme(dark);
        window.resize(size);
        window.show();
        QVERIFY(QTest::qWaitFor([&] { return window.isReady(); }));
        QCOMPARE(window.devicePixelRatio(), QByteArray(scale).toDouble());
        ui::Theme::instance().setAnimated(false);
        const Project project = crowded ? crowdedProject() : smallProject();
        QVERIFY(!crowded || (project.methods.size() == 15 && partsOf(project.hardware.front().root) >= 2000));
        window.document().reset(project);
        (void)QTest::qWaitFor([&] { return window.live().snapshot() && window.live().upToDate(); }, 20'000);
        ui::fixture::WindowWalk walk;
        int states = 0;
        const auto look = [&](const QString& state) {
            // What is asked of a layout while another is done comes with the next turn.
            for (int turn = 0; turn < 3; ++turn) {
                QCoreApplication::processEvents();
                QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
            }
            ++states;
            const QSize least = window.minimumSizeHint();
            if (least.width() > smallest.width() || least.height() > smallest.height())
                walk.faults.try_emplace(
                    "window", QStringLiteral("needs %1×%2 (%3)%4")
                                  .arg(least.width())
                                  .arg(least.height())
                                  .arg(state, ui::fixture::culprits(window, least.width() > smallest.width())));
            if (const QString sideways = ui::fixture::scrollsSideways(window); !sideways.isEmpty())
                walk.faults.try_emplace(sideways.section(QLatin1String(" scrolls "), 0, 0),
                                        QStringLiteral("%1 (%2)").arg(sideways, state));
            if (window.size() != size)
                walk.faults.try_emplace(
                    "window", QStringLiteral("became %1×%2 (%3)").arg(window.width()).arg(window.height()).arg(state));
            walk.look(window, state);
        };
        const auto standing = [&] {
            QStringList docks;
            for (const Dock* dock : window.docks().all())
                if (dock->isVisible()) docks << dock->objectName();
            return docks;
        };
        std::map<Layout, QStringList> left;
        for (const Layout layout : {Layout::Explore, Layout::Teach, Layout::Compare, Layout::Draw}) {
            window.setLayoutMode(layout, true);
            for (Dock* dock : window.docks().all()) {
                if (window.tabifiedDockWidgets(dock).isEmpty()) continue;
                dock->raise();
                look(dock->objectName() + QLatin1Char(' ') + toText(layout));
            }
            window.studio().layouts.showPages(true);
            for (Page* page : window.studio().router.pages()) {
                const QString state = page->card().id + QLatin1Char(' ') + toText(layout);
                window.studio().docks.setAside(false);  // a page of before may have the window
                const QStringList docks = standing();
                window.studio().router.show(page);
                look(state);
                if (!page->card().alone) continue;
                window.studio().docks.setAside(false);  // beside the docks, where one wants them
                look(state + QLatin1String(" beside"));
                if (standing() != docks)
                    walk.faults.try_emplace(
                        "docks", QStringLiteral("%1 became %2 (%3)").arg(docks.join(' '), standing().join(' '), state));
            }
            window.studio().docks.setAside(false);
            left[layout] = standing();
        }
        // Come back to, a layout has the panels that it was left with, and none of another layout.
        for (const auto& [layout, docks] : left) {
            window.setLayoutMode(layout);
            QCoreApplication::processEvents();
            if (standing() != docks)
                walk.faults.try_emplace("layout", QStringLiteral("%1 came back as %2 (%3)")
                                                      .arg(docks.join(' '), standing().join(' '), toText(layout)));
        }
        QStringList faults;
        for (const auto& [widget, fault] : walk.faults) faults << widget + QLatin1Char(' ') + fault;
        qInfo("%d states, %d controls, %d labels, %d cells, %d inks", states, walk.controls, walk.labels, walk.cells,
              walk.inks);
        QVERIFY(states >= 80);
        QVERIFY(walk.controls > 2000 && walk.labels > 2000 && walk.cells > 1000 && walk.inks > 150);
        QVERIFY2(faults.empty(), qPrintable(QStringLiteral("%1 are cut, out of reach or hard to read:\n%2")
                                                .arg(faults.size())
                                                .arg(faults.join(QLatin1Char('\n')))));
    }

private:
    /// The scale is that of a process.
    void begin(const Screen& screen) {
        QProcess& walk = *(scaled_[screen.name] = std::make_unique<QProcess>());
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("QT_SCALE_FACTOR", screen.scale);
        walk.setProcessEnvironment(environment);
        walk.setProcessChannelMode(QProcess::MergedChannels);
        walk.start(QCoreApplication::applicationFilePath(),
                   {"tst_window_walk", QStringLiteral("everyPageInEveryLayout:") + QLatin1String(screen.name)});
    }
    void finish(const Screen& screen) {
        if (!scaled_.contains(screen.name)) begin(screen);
        QProcess& walk = *scaled_.at(screen.name);
        QVERIFY(walk.state() == QProcess::NotRunning || walk.waitForFinished(280'000));
        const QByteArray said = walk.readAll();
        QVERIFY2(said.contains("PASS   : TestWindowWalk::everyPageInEveryLayout(" + QByteArray(screen.name)) &&
                     walk.exitCode() == 0,
                 said.mid(said.indexOf("FAIL!")));
    }

    std::map<std::string, std::unique_ptr<QProcess>> scaled_;
    QTemporaryDir home_;
};

QTEST_MAIN(TestWindowWalk)
#include "tst_window_walk.moc"
