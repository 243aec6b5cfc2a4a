// Views of a multiprocessor at work, on a recording made by hand: places, texts and sums; colours apart in light and dark.

#include "widgets/common/theme.h"
#include "widgets/gpu/activity_heat.h"
#include "widgets/gpu/cycle_stack_view.h"
#include "widgets/gpu/occupancy_view.h"
#include "widgets/gpu/warp_colours.h"
#include "widgets/gpu/warp_timeline.h"

#include <QtTest>
#include <QtWidgets>

#include <set>

using namespace orrery;
using namespace orrery::ui;
using gpusim::SchedulerState;
using gpusim::WarpState;

namespace {

/// Two schedulers, three warps, 100 cycles: warp 0 issues at 10 and 60, warp 2 at 11, warp 1 waits for memory all
/// along.
RecordingPtr threeWarps() {
    auto r = std::make_shared<gpusim::Recording>();
    r->schedulers = 2;
    r->cycles = r->recorded = 100;
    r->instructions.resize(2);
    r->instructions[0].text = {0x0, "LDG.E.128 R4, R2"};
    r->instructions[1].text = {0x10, "FFMA R8, R4, R5"};
    r->warps = {{{0, WarpState::Fetch, 0},
                 {10, WarpState::Issue, 0},
                 {11, WarpState::Memory, 1},
                 {60, WarpState::Issue, 1},
                 {61, WarpState::Done, 1}},
                {{0, WarpState::Memory, 1}},
                {{0, WarpState::Fetch, 0}, {11, WarpState::Issue, 0}, {12, WarpState::Memory, 1}}};
    r->schedulerSpans = {{{0, SchedulerState::NoInstruction},
                          {10, SchedulerState::Issue},
                          {12, SchedulerState::Dependence},
                          {60, SchedulerState::Issue},
                          {61, SchedulerState::NoInstruction}},
                         {{0, SchedulerState::Dependence}}};
    r->binCycles = 50;
    r->bins.resize(2);
    r->bins[0].issues[static_cast<std::size_t>(gpusim::Unit::Mem)] = 2;
    r->bins[0].unitCycles[static_cast<std::size_t>(gpusim::Unit::Mem)] = 25;
    r->bins[0].schedulers[1] = 2;
    r->bins[0].l2 = 100, r->bins[0].l2Hits = 50, r->bins[1].dram = 50;
    r->unitPeak.fill(2);
    r->unitPeak[static_cast<std::size_t>(gpusim::Unit::Mem)] = 1;
    r->l1Peak = 4, r->l2Peak = 4, r->dramPeak = 2;
    r->schedulerCycles = {0, 3, 49, 148, 0};
    r->warpCycles[static_cast<std::size_t>(WarpState::Memory)] = 237;
    r->warpCycles[static_cast<std::size_t>(WarpState::Issue)] = 3;
    r->warpCycles[static_cast<std::size_t>(WarpState::Fetch)] = 21;
    r->warpCycles[static_cast<std::size_t>(WarpState::Done)] = 39;
    return r;
}

}  // namespace

class TestGpuViews : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    void rowsAreInGroupsByScheduler() {
        WarpTimeline view("warps");
        view.resize(600, 300);
        view.setRecording(threeWarps(), "SM 0");
        QVERIFY(view.rowOf(2).top() > view.rowOf(0).top());
        QVERIFY(view.rowOf(1).top() > view.rowOf(2).top());
        QVERIFY(view.xOf(60) > view.xOf(10));
    }

    void aPlaceSaysWhatTheWarpDoesThere() {
        WarpTimeline view("warps");
        view.resize(900, 300);
        view.setRecording(threeWarps(), "SM 0");
        view.grab();
        const auto at = [&](double cycle, std::size_t warp) {
            return view.textAt({view.xOf(cycle + 0.5), view.rowOf(warp).center().y()});
        };
        QVERIFY2(at(10, 0).contains("LDG.E.128"), qPrintable(at(10, 0)));
        QVERIFY2(at(30, 0).contains("global memory") && at(30, 0).contains("FFMA"), qPrintable(at(30, 0)));
        view.setCursor(60);
        QVERIFY2(view.cursorText().contains("FFMA R8, R4, R5 (0)"), qPrintable(view.cursorText()));
        QVERIFY2(view.cursorText().contains("memory"), qPrintable(view.cursorText()));
    }

    void stepsMeetEveryIssueOnce() {
        WarpTimeline view("warps");
        view.setRecording(threeWarps(), {});
        QCOMPARE(view.cursor(), qint64{10});
        view.step(false);
        QCOMPARE(view.cursor(), qint64{11});
        view.step(false);
        QCOMPARE(view.cursor(), qint64{60});
        view.step(false);
        QCOMPARE(view.cursor(), qint64{60});
        view.step(true);
        QCOMPARE(view.cursor(), qint64{11});
    }

    void theViewStaysInsideTheRecording() {
        WarpTimeline view("warps");
        view.setRecording(threeWarps(), {});
        view.setView(-50, 40);
        QCOMPARE(view.from(), 0.0);
        view.setView(90, 40);
        QCOMPARE(view.from(), 60.0);
        view.setView(0, 1e9);
        QCOMPARE(view.length(), 100.0);
    }

    void sharesAreOfWhatEachCouldDo() {
        const auto rows = activityRows(*threeWarps());
        const auto of = [&](const QString& name) {
            for (const ActivityRow& row : rows)
                if (row.name == name) return row;
            return ActivityRow();
        };
        QCOMPARE(of("load and store").share.at(0), 0.5);
        QCOMPARE(of("load and store").mean, 0.25);
        QCOMPARE(of("L2").share.at(0), 0.5);
        QCOMPARE(of("L2").hits.at(0), 0.25);
        QCOMPARE(of("DRAM").share.at(1), 0.5);
        QVERIFY2(of("tensor").name.isEmpty(), "a unit that nothing used has no row");
    }

    void partsOfABarAddUpToItsCycles() {
        CycleStackView view;
        view.resize(800, 300);
        const auto recording = threeWarps();
        view.setBars({{"A100", 100, recording->stack(), 40, 20}});
        double wide = 0;
        for (std::size_t s = 0; s < gpusim::warpStateCount; ++s)
            wide += view.partRect(0, static_cast<WarpState>(s)).width();
        QVERIFY(std::abs(wide - (view.width() - 16)) < 0.01);
    }

    void statesHaveColoursOfTheirOwn() {
        for (const Mode mode : {Mode::Light, Mode::Dark}) {
            Theme::instance().setMode(mode);
            std::set<QString> colours, names;
            for (std::size_t s = 1; s < gpusim::warpStateCount; ++s) {
                colours.insert(warpColour(static_cast<WarpState>(s)).name());
                names.insert(warpText(static_cast<WarpState>(s)));
            }
            QCOMPARE(colours.size(), gpusim::warpStateCount - 1);
            QCOMPARE(names.size(), gpusim::warpStateCount - 1);
        }
    }

    void emptyViewsSayWhatTheyWillShow() {
        for (QWidget* view :
             {static_cast<QWidget*>(new WarpTimeline("w")), static_cast<QWidget*>(new ActivityHeat("h")),
              static_cast<QWidget*>(new CycleStackView), static_cast<QWidget*>(new OccupancyView)}) {
            view->resize(400, 240);
            QVERIFY(!view->grab().toImage().isNull());
            QVERIFY(!view->toolTip().isEmpty() && !view->accessibleName().isEmpty());
            delete view;
        }
    }
};

QTEST_MAIN(TestGpuViews)
#include "tst_gpu_views.moc"
