#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "widgets/common/fact_list.h"
#include "widgets/common/plot_zoom.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/accuracy_plot.h"
#include "widgets/evidence/coverage_matrix.h"
#include "widgets/evidence/cycle_stack.h"
#include "widgets/evidence/method_matrix_view.h"
#include "widgets/evidence/plot_frame.h"
#include "widgets/evidence/residual_plot.h"
#include "widgets/evidence/row_chips.h"
#include "widgets/evidence/story_view.h"
#include "widgets/evidence/training_plot.h"
#include "widgets/evidence/wave_picture.h"
#include "widgets/evidence/why_view.h"
#include "widgets/fidelity/convergence_plot.h"
#include "workload/workload.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

#include <cmath>

using namespace orrery;
using namespace orrery::ui;

using Fronts = std::vector<std::vector<int>>;

class TestEvidencePlots : public QObject {
    Q_OBJECT

private slots:
    // In a panel as low as the smallest window leaves it the band has its share of the height, not the names of the
    // axes.
    void aLowPlotShowsItsBand() {
        ConvergencePlot plot;
        plot.setMinimumSize(1, 1);
        for (const int tall : {52, 240}) {
            plot.resize(420, tall);
            plot.setPoints({{1e-3, 2e-3, 1e-3, 4e-3, "roofline"}, {1e-2, 2e-3, 1e-3, 4e-3, "tile-wave"}});
            const QImage picture = plot.grab().toImage();
            const int x = picture.width() * 3 / 4;
            const QColor surface = Theme::instance().colours().surface;
            int band = 0;
            for (int y = 0; y < picture.height(); ++y) {
                const QColor at = picture.pixelColor(x, y);
                band += at != surface && at.blue() > at.red() + 8 ? 1 : 0;
            }
            QVERIFY2(band * 4 >= picture.height(), qPrintable(QString("%1 of %2").arg(band).arg(picture.height())));
        }
    }

    void aClickOnAPointNamesItsMethod() {
        AccuracyPlot plot;
        plot.resize(500, 360);
        plot.setPoints({{"roofline", "Roofline", 0, 0.46, 0.3, 0.8, 1e-6, false, 100},
                        {"tile-hybrid", "Tile hybrid", 1, 0.03, 0.02, 0.06, 2e-6, false, 100},
                        {"search", "Search", 2, 0.05, 0.04, 0.09, 1e-3, true, 20}});
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        plot.grab();
        QSignalSpy chosen(&plot, &AccuracyPlot::chosen);
        for (int point = 0; point < 3; ++point) {
            QTest::mouseClick(&plot, Qt::LeftButton, {}, plot.placeOf(point).toPoint());
            QCOMPARE(chosen.takeLast().first().toInt(), point);
        }
        // Less error stands lower, more cost further right.
        QVERIFY(plot.placeOf(0).y() < plot.placeOf(1).y());
        QVERIFY(plot.placeOf(2).x() > plot.placeOf(1).x());
        QTest::keyClick(&plot, Qt::Key_Right);
        QCOMPARE(plot.current(), 0);
        plot.setPoints({});
        QCOMPARE(plot.pointAt({250, 180}), -1);
    }

    void theFrontIsWhatNoOtherMethodBeats() {
        const std::vector<AccuracyPoint> points{{"a", "A", 0, 0.5, 0.4, 0.8, 1e-6, false, 9},
                                                {"b", "B", 0, 0.1, 0.1, 0.2, 1e-5, false, 9},
                                                {"c", "C", 0, 0.2, 0.1, 0.3, 1e-5, false, 9},
                                                {"d", "D", 0, 0.3, 0.1, 0.4, 1e-4, false, 9},
                                                {"e", "E", 0, 0.05, 0.04, 0.1, 1e-2, false, 9}};
        QCOMPARE(paretoFronts(points), (Fronts{{0, 1, 4}}));
        QVERIFY(paretoFronts({}).empty());
    }

    // A method of other terms beats nobody: D is on the front of its own group, which A and B left before.
    void frontsAreAmongEquals() {
        std::vector<AccuracyPoint> points{{"a", "A", 0, 0.5, 0.4, 0.8, 1e-6, false, 9},
                                          {"b", "B", 0, 0.1, 0.1, 0.2, 1e-5, false, 9},
                                          {"c", "C", 1, 0.3, 0.1, 0.3, 1e-4, false, 9},
                                          {"d", "D", 1, 0.2, 0.1, 0.4, 1e-2, false, 9}};
        QCOMPARE(paretoFronts(points), (Fronts{{0, 1}}));
        AccuracyPlot plot;
        plot.resize(600, 400);
        plot.setPoints(points);
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        const QImage one = plot.grab().toImage();
        points[2].group = points[3].group = 1;
        QCOMPARE(paretoFronts(points), (Fronts{{0, 1}, {2, 3}}));
        plot.setPoints(points);
        QVERIFY(plot.grab().toImage() != one);
    }

    // On rows of its own a method is shown, and counts for nothing: no front, however good it looks there.
    void whoStandsApartIsInNoFront() {
        std::vector<AccuracyPoint> points{{"a", "A", 0, 0.4, 0.3, 0.8, 1e-6, false, 100},
                                          {"b", "B", 1, 0.1, 0.05, 0.2, 1e-3, false, 100},
                                          {"c", "C", 2, 0.01, 0.005, 0.02, 1e-7, false, 4}};
        QCOMPARE(paretoFronts(points), (Fronts{{2}}));
        points[2].apart = true;
        QCOMPARE(paretoFronts(points), (Fronts{{0, 1}}));
        // Half of the answers of B take 1 us to 1 s: the axis holds both, and the text says so.
        points[1].secondsLow = 1e-6;
        points[1].secondsHigh = 1;
        AccuracyPlot plot;
        plot.resize(600, 400);
        plot.setPoints(points);
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        const QImage with = plot.grab().toImage();
        QVERIFY(plot.accessibleDescription().contains("not compared"));
        const QString said = plot.accessibleDescription();
        QVERIFY2(said.contains("half of the answers"), qPrintable(said));
        QTest::mouseClick(&plot, Qt::LeftButton, {}, plot.placeOf(2).toPoint());
        QCOMPARE(plot.current(), 2);
        plot.setCurrent(-1);
        points[1].secondsLow = points[1].secondsHigh = 0;
        plot.setPoints(points);
        QVERIFY(plot.grab().toImage() != with);
    }

    // A cost that nobody knows is no cheap one: such points stand in a column beyond the axis and in no front.
    void anUnknownCostStandsApart() {
        std::vector<AccuracyPoint> points{{"a", "A", 0, 0.4, 0.3, 0.8, 1e-6, false, 100},
                                          {"b", "B", 1, 0.1, 0.05, 0.2, 1e-3, false, 100},
                                          {"c", "C", 2, 0.01, 0.005, 0.02, 0, false, 100}};
        points[2].samples = -1;
        QCOMPARE(paretoFronts(points), (Fronts{{0, 1}}));
        QCOMPARE(paretoFronts(points, CostAxis::SetUp), (Fronts{{1}}));
        AccuracyPlot plot;
        plot.resize(600, 400);
        plot.setPoints(points);
        plot.setPublished({{"Other", "Other", 0.2, 0}});
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        for (const CostAxis cost : {CostAxis::Answer, CostAxis::SetUp}) {
            plot.setCost(cost);
            plot.grab();
            QVERIFY(plot.unknownColumn().contains(plot.placeOf(2)));
            for (const int known : {0, 1}) QVERIFY(plot.placeOf(known).x() < plot.unknownColumn().left());
        }
        QVERIFY(plot.unknownColumn().contains(plot.placeOfPublished(0)));
        QVERIFY(plot.accessibleDescription().contains("not known"));
        // Alone it stands there as well, and where all say their cost there is no column.
        plot.setPoints({points[2]});
        plot.grab();
        QVERIFY(plot.unknownColumn().contains(plot.placeOf(0)));
        plot.setPoints({points[0], points[1]});
        plot.grab();
        QVERIFY(plot.unknownColumn().isEmpty());
    }

    // Of different rows there is no front, and the plot says why.
    void onDifferentRowsThereIsNoFront() {
        AccuracyPlot plot;
        plot.resize(600, 400);
        plot.setPoints(
            {{"a", "A", 0, 0.4, 0.3, 0.8, 1e-6, false, 100}, {"b", "B", 1, 0.1, 0.05, 0.2, 1e-3, false, 100}});
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        const QImage with = plot.grab().toImage();
        plot.setSameRows(false);
        const QImage without = plot.grab().toImage();
        QVERIFY(!plot.sameRows() && without != with);
        // Between the two marks the front was, and the sentence is not.
        const QPoint a = plot.placeOf(0).toPoint(), b = plot.placeOf(1).toPoint();
        int changed = 0;
        for (int x = a.x() + 40; x < b.x() - 40; ++x)
            changed += with.pixel(x, a.y()) != without.pixel(x, a.y()) ? 1 : 0;
        QVERIFY(changed > 0);
    }

    // What others published is named by a click, joined to nothing, and moves no front.
    void publishedCrossesAreNamedAndSetUpIsACost() {
        AccuracyPlot plot;
        plot.resize(600, 400);
        std::vector<AccuracyPoint> points{{"a", "A", 0, 0.4, 0.3, 0.8, 1e-6, false, 100},
                                          {"b", "B", 1, 0.1, 0.05, 0.2, 1e-3, false, 100},
                                          {"b(x=2)", "B 2", 1, 0.05, 0.02, 0.1, 1e-1, false, 100}};
        points[1].family = points[2].family = "b";
        points[1].samples = 5000;
        points[2].samples = 100;
        plot.setPoints(points);
        plot.setPublished({{"Tool", "Tool: 30 % of something (somebody)", 0.3, 1e-2}, {"Other", "Other", 0.2, 0}});
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        plot.grab();
        QSignalSpy published(&plot, &AccuracyPlot::publishedChosen), chosen(&plot, &AccuracyPlot::chosen);
        for (int cross = 0; cross < 2; ++cross) {
            QTest::mouseClick(&plot, Qt::LeftButton, {}, plot.placeOfPublished(cross).toPoint());
            QCOMPARE(published.takeLast().first().toInt(), cross);
        }
        QVERIFY(chosen.isEmpty());
        // Without a published time it stands at the right edge.
        QVERIFY(plot.placeOfPublished(1).x() > plot.placeOfPublished(0).x());
        QCOMPARE(paretoFronts(points), (Fronts{{0, 1, 2}}));
        // By what it was fitted to, A costs nothing and B 2 less than B, which it beats.
        QCOMPARE(paretoFronts(points, CostAxis::SetUp), (Fronts{{0, 2}}));
        plot.setCost(CostAxis::SetUp);
        plot.grab();
        QVERIFY(plot.placeOf(0).x() < plot.placeOf(2).x() && plot.placeOf(2).x() < plot.placeOf(1).x());
    }

    void chipsSayWhatTheyBringAndAreClickedAgain() {
        RowChips chips;
        std::vector<RowChipGroup> groups{{"platform", "Platform", false, {{"GPU", 180, true}, {"TPU", 12, true}}},
                                         {"class", "Class", true, {{"products", 100, true}, {"others", 92, true}}}};
        chips.setGroups(groups);
        chips.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chips));
        QSignalSpy toggled(&chips, &RowChips::toggled);
        QToolButton* gpu = chips.chip("platform", "GPU");
        QVERIFY(gpu && gpu->isChecked() && gpu->text().contains("180"));
        QTest::mouseClick(gpu, Qt::LeftButton);
        QCOMPARE(toggled.size(), 1);
        QCOMPARE(toggled.takeFirst(), (QVariantList{"platform", "GPU", false}));
        groups[0].chips[0].on = false;
        groups[0].chips[1].rows = 7;
        chips.setGroups(groups);
        QCOMPARE(chips.chip("platform", "GPU"), gpu);  // the same button, so that it can be clicked again
        QVERIFY(!gpu->isChecked() && chips.chip("platform", "TPU")->text().contains("7"));
        QVERIFY(toggled.isEmpty());
        auto* menu = chips.findChild<QToolButton*>("chips.class")->menu();
        QCOMPARE(menu->actions().size(), 2);
        menu->actions()[1]->trigger();
        QCOMPARE(toggled.takeFirst(), (QVariantList{"class", "others", false}));
    }

    void aCellOfTheMatrixIsClickedAndSaysWhyItIsGrey() {
        using Cell = MatrixPicture::Cell;
        MatrixPicture picture;
        picture.columns = {"GPU · 10", "TPU"};
        picture.columnTips = {"", ""};
        const Cell judged{Cell::State::Judged, -0.3, -0.4, -0.2, 10, true, true, "judged"};
        const Cell grey{Cell::State::NotApplicable, 0, 0, 0, 0, false, true, "Not applicable: it is no array"};
        picture.rows = {{-1, "analytical", {}, 0, {}},
                        {4, "Roofline", {}, 0, {judged, Cell{}}},
                        {7, "Arrays", {}, 1, {grey, judged}}};
        MethodMatrixView view;
        view.resize(600, 200);
        view.setPicture(picture);
        QAbstractItemModelTester tester(view.matrixModel());
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.grab();
        const auto index = [&](int row, int column) { return view.model()->index(row, column); };
        QVERIFY(index(1, 1).data().toString().contains("−30 %"));
        QVERIFY(index(1, 2).data().toString().isEmpty());
        QVERIFY(index(2, 1).data(Qt::ToolTipRole).toString().contains("no array"));
        QSignalSpy cells(&view, &MethodMatrixView::cellChosen), rows(&view, &MethodMatrixView::rowChosen);
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(index(2, 2)).center());
        QCOMPARE(cells.takeFirst(), (QVariantList{7, 1}));
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(index(1, 0)).center());
        QCOMPARE(rows.takeFirst(), (QVariantList{4}));
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(index(0, 0)).center());
        QVERIFY(cells.isEmpty() && rows.isEmpty());
    }

    void theWheelZoomsADragMovesADoubleClickShowsAll() {
        AccuracyPlot plot;
        plot.resize(500, 360);
        plot.setPoints({{"roofline", "Roofline", 0, 0.46, 0.3, 0.8, 1e-6, false, 100},
                        {"tile-hybrid", "Tile hybrid", 1, 0.03, 0.02, 0.06, 2e-6, false, 100},
                        {"search", "Search", 2, 0.05, 0.04, 0.09, 1e-3, true, 20}});
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        plot.grab();
        const QPointF fixed = plot.placeOf(1), other = plot.placeOf(0);
        QWheelEvent wheel(fixed, plot.mapToGlobal(fixed), {}, {0, 360}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                          false);
        QApplication::sendEvent(&plot, &wheel);
        plot.grab();
        // What is under the pointer stays, the rest moves away from it.
        QVERIFY(QLineF(plot.placeOf(1), fixed).length() < 12);
        QVERIFY(QLineF(plot.placeOf(0), fixed).length() > 1.2 * QLineF(other, fixed).length());
        // Out of sight is out of reach.
        QCOMPARE(plot.pointAt({499, 5}), -1);
        const QPointF before = plot.placeOf(1);
        QSignalSpy chosen(&plot, &AccuracyPlot::chosen);
        QTest::mousePress(&plot, Qt::LeftButton, {}, {300, 150});
        QMouseEvent moved(QEvent::MouseMove, QPointF(280, 150), plot.mapToGlobal(QPointF(280, 150)), Qt::NoButton,
                          Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&plot, &moved);
        QTest::mouseRelease(&plot, Qt::LeftButton, {}, {280, 150});
        plot.grab();
        QVERIFY(std::fabs(plot.placeOf(1).x() - (before.x() - 20)) < 6);
        QVERIFY(chosen.isEmpty());
        QTest::mouseDClick(&plot, Qt::LeftButton, {}, {300, 150});
        plot.grab();
        QVERIFY(QLineF(plot.placeOf(0), other).length() < 0.5 && QLineF(plot.placeOf(1), fixed).length() < 0.5);
    }

    void aZoomNeverLeavesTheAxis() {
        PlotZoom zoom;
        zoom.setArea({100, 100, 200, 200});
        const PlotAxis whole{1, 1e6, 100, 300, true};
        QVERIFY(zoom.isWhole());
        for (int i = 0; i < 200; ++i) {
            const QPointF at(100 + (i * 37) % 201, 100 + (i * 53) % 201);
            QWheelEvent wheel(at, at, {}, {0, i % 3 == 0 ? -240 : 240}, Qt::NoButton,
                              i % 5 == 0 ? Qt::ShiftModifier : Qt::NoModifier, Qt::NoScrollPhase, false);
            zoom.wheel(wheel);
            const PlotAxis shown = zoom.across(whole);
            QVERIFY(shown.low >= whole.low * (1 - 1e-9) && shown.high <= whole.high * (1 + 1e-9));
            QVERIFY(shown.high > shown.low && shown.ticks(60).size() >= 2);
        }
        QWheelEvent outside({10, 10}, {10, 10}, {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QVERIFY(!zoom.wheel(outside));
        zoom.reset();
        QVERIFY(zoom.isWhole() && zoom.across(whole).low == whole.low);
    }

    void deviationsAreWrittenWithTheirSign() {
        QCOMPARE(signedPercentText(0.123), QStringLiteral("+12 %"));
        QCOMPARE(signedPercentText(-0.0312), QStringLiteral("−3.1 %"));
        QCOMPARE(signedPercentText(-0.0004), QStringLiteral("−0.04 %"));
        QCOMPARE(signedPercentText(0.00099), QStringLiteral("+0.1 %"));
        QCOMPARE(signedPercentText(-1e-6), QStringLiteral("0 %"));
        QCOMPARE(signedPercentText(0), QStringLiteral("0 %"));
    }

    void residualsStandAboveZeroWhereTooLong() {
        ResidualPlot plot;
        plot.resize(500, 300);
        plot.setRows({{1, 10, 100}, {0.2, 0, -0.2}, {}, "intensity"});
        QCOMPARE(plot.rowCount(), 3U);
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        QSignalSpy chosen(&plot, &ResidualPlot::chosen);
        // Find each row by scanning: the middle row stands between the two others in both directions.
        QPointF found[3];
        for (int x = 0; x < 500; x += 2) {
            for (int y = 0; y < 300; y += 2) {
                if (const int row = plot.rowAt(QPointF(x, y)); row >= 0 && found[row].isNull())
                    found[row] = {double(x), double(y)};
            }
        }
        for (const QPointF& place : found) QVERIFY(!place.isNull());
        QVERIFY(found[0].x() < found[1].x() && found[1].x() < found[2].x());
        QVERIFY(found[0].y() < found[1].y() && found[1].y() < found[2].y());
        QTest::mouseClick(&plot, Qt::LeftButton, {}, (found[1] + QPointF(4, 4)).toPoint());
        QCOMPARE(chosen.takeLast().first().toInt(), 1);
    }

    // Rows off by a hundred times stand at the rim: how many says the plot, and the axis is written out.
    void rowsBeyondTheAxisAreCounted() {
        QCOMPARE(tickText(-10, TickText::Percent), QStringLiteral("−1000 %"));
        QCOMPARE(tickText(10, TickText::Percent), QStringLiteral("1000 %"));
        QCOMPARE(tickText(-0.005, TickText::Percent), QStringLiteral("−0.5 %"));
        ResidualPlot plot;
        plot.resize(500, 300);
        ResidualRows rows;
        for (int i = 0; i < 300; ++i) {
            rows.x.push_back(1 + i);
            rows.error.push_back(i % 50 == 0 ? 50 : 0.1);  // one of fifty: more than the axis leaves out
        }
        rows.xName = "size";
        plot.setRows(rows);
        QCOMPARE(plot.beyond(), std::size_t(6));
        QVERIFY2(plot.accessibleDescription().contains("6 row(s) beyond 1000 %"),
                 qPrintable(plot.accessibleDescription()));
        const QImage with = plot.grab().toImage();
        for (double& each : rows.error) each = std::min(each, 10.0);
        plot.setRows(rows);
        QCOMPARE(plot.beyond(), std::size_t(0));
        QVERIFY(!plot.accessibleDescription().contains("beyond"));
        QVERIFY(plot.grab().toImage() != with);
    }

    void tenThousandRowsAreDrawn() {
        ResidualPlot plot;
        plot.resize(500, 300);
        ResidualRows rows;
        for (int i = 0; i < 30000; ++i) {
            rows.x.push_back(1 + i);
            rows.error.push_back(0.1 * std::sin(i));
        }
        rows.xName = "size";
        plot.setRows(std::move(rows));
        QVERIFY(!plot.grab().isNull());
    }

    // An hour is divided as clocks are, and neighbours on an axis never read alike.
    void ticksOfTimeAreWholeMinutes() {
        PlotAxis hour{0, 3504, 0, 860, false, true};
        const std::vector<double> ticks = hour.ticks(90);
        QVERIFY(ticks.size() >= 4 && ticks.size() <= 10);
        for (const double tick : ticks) QCOMPARE(std::fmod(tick, 300.0), 0.0);
        QCOMPARE(tickTexts({0, 600, 1200}, TickText::Seconds), QStringList({"0", "10 min", "20 min"}));
        const PlotAxis seconds{0, 46.2, 0, 860, false, true};
        QCOMPARE(seconds.ticks(90)[1], 5.0);
        const QStringList near = tickTexts({1840, 1860, 1880, 1900}, TickText::Number);
        QCOMPARE(near, QStringList({"1.84 k", "1.86 k", "1.88 k", "1.9 k"}));
        QCOMPARE(tickTexts({1000, 2000}, TickText::Number), QStringList({"1 k", "2 k"}));
    }

    void ticksAroundZeroHitIt() {
        PlotAxis axis;
        axis.low = -0.2;
        axis.high = 0.2;
        axis.from = 300;
        axis.to = 0;
        axis.log = false;
        QVERIFY(std::ranges::count(axis.ticks(34), 0.0) == 1);
    }

    void wavesAreCountedExactly_data() {
        QTest::addColumn<double>("blocks");
        QTest::addColumn<double>("places");
        QTest::addColumn<double>("full");
        QTest::addColumn<double>("last");
        QTest::newRow("one short wave") << 100.0 << 132.0 << 0.0 << 100.0;
        QTest::newRow("exactly full") << 264.0 << 132.0 << 2.0 << 0.0;
        QTest::newRow("a tail of one") << 133.0 << 132.0 << 1.0 << 1.0;
        QTest::newRow("nothing") << 0.0 << 0.0 << 0.0 << 0.0;
    }
    void wavesAreCountedExactly() {
        QFETCH(double, blocks);
        QFETCH(double, places);
        WavePicture picture;
        picture.setFacts({128, 256, 64, blocks, places});
        QTEST(picture.facts().fullWaves(), "full");
        QTEST(picture.facts().lastBlocks(), "last");
    }

    void theStackAddsUp() {
        CycleStack stack;
        stack.setParts({{"base", 100}, {"memory data", 50}, {"idle", 10}});
        QCOMPARE(stack.total(), 160.0);
        stack.resize(300, 200);
        QVERIFY(!stack.grab().isNull());
        stack.setParts({});
        QVERIFY(stack.isHidden());
    }

    void everyMethodHasARowAndItsEvidenceACell() {
        for (const CoverageBy by : {CoverageBy::Platform, CoverageBy::WorkloadClass}) {
            const Coverage coverage = coverageOf(builtinMethods(), by);
            QCOMPARE(coverage.rows.size(), builtinMethods().size());
            QCOMPARE(coverage.cells.size(), coverage.rows.size() * coverage.columns.size());
            qsizetype findings = 0, expected = 0;
            for (const CoverageCell& cell : coverage.cells) findings += cell.findings.size();
            for (const Method& method : builtinMethods())
                expected += static_cast<qsizetype>(method.card.evidence.size());
            QCOMPARE(findings, expected);
        }
    }

    void theCoverageModelIsSound() {
        CoverageMatrix matrix;
        QAbstractItemModelTester tester(matrix.coverageModel(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        matrix.setCoverage(coverageOf(builtinMethods(), CoverageBy::Platform));
        QVERIFY(matrix.model()->rowCount() > 0);
        Coverage judged = coverageOf(builtinMethods(), CoverageBy::Platform);
        judged.cells[0].rows = 35700;
        judged.cells[0].error = 0.03;
        matrix.setCoverage(judged);
        QVERIFY(matrix.model()->index(0, 0).data().toString().startsWith("3.0 %"));
    }

    void aStoryShowsItsKernelsAndKeepsTheChosenOne() {
        StoryView view;
        KernelAnswer first, second;
        first.kernel = "gemm 1×2×3";
        first.price.seconds = 1e-3;
        first.story.terms = {{"tile", 128, Dimension::Number, "", "rows"}};
        second.kernel = "softmax";
        second.price.seconds = 1e-5;
        second.price.domain = DomainVerdict::Outside;
        view.setKernels("attention", "Tile hybrid", {first, second}, {});
        QCOMPARE(view.kernelCount(), 2U);
        auto* chooser = view.findChild<QComboBox*>("why.kernel");
        chooser->setCurrentIndex(1);
        view.setKernels("attention", "Tile hybrid", {first, second}, {});
        QCOMPARE(chooser->currentText(), QString("softmax"));
        view.setKernels("view", "Tile hybrid", {}, "nothing to launch");
        QCOMPARE(view.kernelCount(), 0U);
    }

    // An interval of a factor of two holds nine of ten, so that one of ten is off by more.
    void aStoryShowsHowLikelyItIsFarOff() {
        StoryView view;
        const auto chance = [&](double factor) {
            KernelAnswer one;
            one.kernel = "gemm 1×2×3";
            one.price.seconds = 1e-3, one.price.low = 1e-3 / factor, one.price.high = 1e-3 * factor;
            one.story.terms = {{"tile", 128, Dimension::Number, "", "rows"}};
            view.setKernels("product", "Tile hybrid", {one}, {});
            for (const FactList* list : view.findChildren<FactList*>())
                for (const Fact& fact : list->facts())
                    if (fact.label.startsWith("Chance")) return fact.value;
            return QString();
        };
        QCOMPARE(chance(2), QString("10 %"));
        QCOMPARE(chance(1.02), QString("< 0.1 %"));
        QCOMPARE(chance(1), QString());
    }

    // The best answer may be of a method without terms: another one tells, and the page says whose terms they are.
    void aMethodWithoutTermsHandsOver() {
        Scenario scenario{std::make_shared<const Hardware>(loadHardware("h100-sxm").value().hardware), nullptr};
        WorkloadOptions options;
        options.phase = Phase::Decode;
        options.sequence = 512;
        scenario.workload = loadWorkload({"llama-2-7b", options}).value();
        Snapshot asked;
        asked.scenario = scenario;
        const auto executor = makeSerialExecutor();
        for (const char* id : {"llm-inference", "hierarchical-roofline", "tile-wave", "roofline"}) {
            EstimateContext context{*executor, {}};
            const auto answer = estimate(*findMethod(id), scenario, context);
            QVERIFY2(answer, id);
            asked.answers.push_back(
                {id, QString::fromStdString(methodTitle(id)), std::make_shared<const Estimate>(*answer), {}, 0});
        }
        Selection selection;
        WhyView why(&selection);
        why.resize(500, 700);
        why.show();
        QVERIFY(QTest::qWaitForWindowExposed(&why));
        const auto text = [&](const char* name) { return why.findChild<QLabel*>(name)->text(); };
        why.setSnapshot(std::make_shared<const Snapshot>(asked));
        QVERIFY(!why.isEmpty());
        QVERIFY(why.story()->kernelCount() > 0);
        QVERIFY2(text("why.note").contains(asked.answers[0].title) && text("why.note").contains(asked.answers[2].title),
                 qPrintable(text("why.note")));
        // One that has terms tells itself, without a word about it.
        asked.primary = 3;
        why.setSnapshot(std::make_shared<const Snapshot>(asked));
        QCOMPARE(text("why.note"), QString());
        QVERIFY(why.story()->kernelCount() > 0);
        // Of nobody with terms: who has some, by title, and a button that leads there.
        asked.primary = 0;
        asked.answers.resize(2);
        why.setSnapshot(std::make_shared<const Snapshot>(asked));
        QVERIFY(why.isEmpty());
        QString said;
        for (auto* label : why.findChild<QWidget*>("why-empty")->findChildren<QLabel*>()) said += label->text();
        QVERIFY2(said.contains(QString::fromStdString(methodTitle("tile-wave"))) && !said.contains("llm-inference"),
                 qPrintable(said));
        auto* button = why.findChild<QAbstractButton*>("why-empty-action");
        QVERIFY(button && button->isVisible());
        QSignalSpy pressed(&why, &ResultView::emptyActionTriggered);
        button->click();
        QCOMPARE(pressed.count(), 1);
    }

    void aTrainingCurveIsDrawn() {
        TrainingPlot plot;
        plot.resize(400, 220);
        plot.grab();
        plot.setCurve({{0, 0.5, 0.6, 0.1}, {50, 0.1, 0.15, 1}, {100, 0.05, 0.12, 2}}, "gemm bf16");
        QCOMPARE(plot.pointCount(), 3U);
        QVERIFY(plot.accessibleDescription().contains("gemm bf16"));
        QVERIFY(!plot.grab().isNull());
    }
};

QTEST_MAIN(TestEvidencePlots)
#include "tst_evidence_plots.moc"
