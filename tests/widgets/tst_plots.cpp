// The plots as a person uses them: real mouse and key events, and what they leave in the shared selection.

#include "methods/answer/time_parts.h"
#include "support/plots_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/breakdown_view.h"
#include "widgets/plots/hover_card.h"
#include "widgets/plots/memory_view.h"
#include "widgets/plots/operator_facts.h"
#include "widgets/plots/roofline_plot.h"
#include "widgets/plots/timeline_view.h"

#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QWheelEvent>
#include <QtTest>

using namespace orrery;
using namespace orrery::ui;

namespace {

void wheel(QWidget* widget, const QPointF& at, int delta, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWheelEvent event(at, widget->mapToGlobal(at), {}, {0, delta}, Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(widget, &event);
}

void drag(QWidget* widget, const QPoint& from, const QPoint& to, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::mousePress(widget, Qt::LeftButton, modifiers, from);
    for (const double t : {0.3, 0.7, 1.0}) {
        const QPoint at = from + (to - from) * t;
        QMouseEvent move(QEvent::MouseMove, at, widget->mapToGlobal(at), Qt::NoButton, Qt::LeftButton, modifiers);
        QApplication::sendEvent(widget, &move);
    }
    QTest::mouseRelease(widget, Qt::LeftButton, modifiers, to);
}

template <class View>
void open(View& view, const SnapshotPtr& snapshot, const QSize& size = {800, 500}) {
    view.resize(size);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    view.setSnapshot(snapshot);
    QCoreApplication::processEvents();
}

QPoint pixelOf(const RooflinePlot& plot, std::size_t point) {
    const RooflinePoint& p = plot.scene().now.points[point];
    return plot.axes().toPixel(p.intensity, p.attained).toPoint();
}

// A point that no smaller one covers.
std::size_t clearPoint(const RooflinePlot& plot) {
    const LogAxes axes = plot.axes();
    for (std::size_t i = 0; i < plot.scene().now.points.size(); ++i) {
        if (pickPoint(plot.scene().now, axes, largestRadius(axes.area), pixelOf(plot, i)) == int(i)) return i;
    }
    return 0;
}

}  // namespace

class TestPlots : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }
    void init() { Theme::instance().setAnimated(false); }
    void cleanup() { QVERIFY(QApplication::topLevelWidgets().isEmpty()); }

    // Roofline.

    void rooflineClickSelects() {
        Selection selection;
        RooflinePlot plot(&selection);
        open(plot, fixture::snapshot());
        const std::size_t at = clearPoint(plot);
        const auto& members = plot.scene().now.points[at].members;
        QTest::mouseClick(plot.canvas(), Qt::LeftButton, {}, pixelOf(plot, at));
        QCOMPARE(selection.operators(), QSet<int>(members.begin(), members.end()));
        QVERIFY(plot.scene().selected == selection.operators());
        QTest::mouseClick(plot.canvas(), Qt::LeftButton, Qt::ControlModifier, pixelOf(plot, at));
        QVERIFY(selection.operators().isEmpty());  // Ctrl toggles
        QTest::mouseClick(plot.canvas(), Qt::LeftButton, {}, pixelOf(plot, at));
        QTest::mouseClick(plot.canvas(), Qt::LeftButton, {}, plot.axes().area.topLeft().toPoint() + QPoint(30, 60));
        QVERIFY(selection.operators().isEmpty());  // an empty place clears
    }
    void rooflineRubberBandSelects() {
        Selection selection;
        RooflinePlot plot(&selection);
        open(plot, fixture::snapshot());
        const QRectF area = plot.axes().area;
        drag(plot.canvas(), area.topLeft().toPoint() + QPoint(2, 2), area.bottomRight().toPoint() - QPoint(2, 2),
             Qt::ShiftModifier);
        std::size_t members = 0;
        for (const RooflinePoint& point : plot.scene().now.points) members += point.members.size();
        QCOMPARE(std::size_t(selection.operators().size()), members);
        QTest::keyClick(&plot, Qt::Key_Escape);
        QVERIFY(selection.operators().isEmpty());
    }
    void rooflineDragPansAndDoubleClickFits() {
        Selection selection;
        RooflinePlot plot(&selection);
        open(plot, fixture::snapshot());
        const LogAxes before = plot.axes();
        const QPoint start = before.area.topLeft().toPoint() + QPoint(60, 60);
        const double grabbed = before.valueX(start.x());
        drag(plot.canvas(), start, start + QPoint(80, 40));
        QVERIFY(std::abs(plot.axes().valueX(start.x() + 80) / grabbed - 1) < 1e-6);  // the value follows the hand
        QVERIFY(selection.operators().isEmpty());
        QTest::mouseDClick(plot.canvas(), Qt::LeftButton, {}, start);
        QTest::mouseRelease(plot.canvas(), Qt::LeftButton, {}, start);
        QVERIFY(std::abs(plot.axes().x.low / before.x.low - 1) < 1e-9);
    }
    void rooflineWheelZoomsAtTheCursor() {
        Selection selection;
        RooflinePlot plot(&selection);
        open(plot, fixture::snapshot());
        const LogAxes before = plot.axes();
        const QPointF at = before.area.center() + QPointF(50, 30);
        wheel(plot.canvas(), at, 240);
        const LogAxes after = plot.axes();
        QVERIFY(after.x.high / after.x.low < before.x.high / before.x.low);
        QVERIFY(std::abs(after.valueX(at.x()) / before.valueX(at.x()) - 1) < 1e-6);
        QVERIFY(std::abs(after.valueY(at.y()) / before.valueY(at.y()) - 1) < 1e-6);
        // Over an axis, that axis alone.
        wheel(plot.canvas(), {before.area.center().x(), before.area.bottom() + 12}, 240);
        QCOMPARE(plot.axes().y, after.y);
        QVERIFY(plot.axes().x != after.x);
        for (int i = 0; i < 200; ++i) wheel(plot.canvas(), at, -480);  // never out of what doubles and the eye can take
        QVERIFY(std::isfinite(plot.axes().x.high) && plot.axes().x.low > 0);
    }
    void rooflineHoverTells() {
        Selection selection;
        RooflinePlot plot(&selection);
        const SnapshotPtr snapshot = fixture::snapshot();
        open(plot, snapshot);
        const std::size_t at = clearPoint(plot);
        const RooflinePoint point = plot.scene().now.points[at];
        QTest::mouseMove(plot.canvas(), pixelOf(plot, at) + QPoint(1, 0));
        QTest::mouseMove(plot.canvas(), pixelOf(plot, at));
        QTRY_VERIFY(plot.card()->isVisible());
        QCOMPARE(plot.card()->title(), operatorName(*snapshot, point.op));
        const Estimate& estimate = *snapshot->primaryEstimate();
        QCOMPARE(plot.card()->value("Bound by"), boundText(estimate.operators.bound[std::size_t(point.op)], estimate));
        for (const char* label : {"Kind", "Time", "Attained", "Intensity", "Repeats"})
            QVERIFY2(!plot.card()->value(label).isEmpty(), label);
        QVERIFY(plot.card()->value("Attained").endsWith("FLOP/s"));
        QVERIFY(plot.rect().contains(plot.card()->geometry()));
        QCOMPARE(selection.hovered(), point.op);
        QTest::mouseMove(plot.canvas(), plot.axes().area.topLeft().toPoint() + QPoint(40, 80));
        QTRY_VERIFY(!plot.card()->isVisible());
        QCOMPARE(selection.hovered(), -1);
    }
    void rooflineGlidesAndLeavesATrail() {
        Theme::instance().setAnimated(true);
        Selection selection;
        RooflinePlot plot(&selection);
        open(plot, fixture::snapshot({.bandwidth = 2e12}));
        const double before = plot.scene().now.roofs[0].rate;
        plot.setSnapshot(fixture::snapshot({.bandwidth = 3.35e12}));
        QVERIFY(plot.scene().now.roofs[0].rate < 3.35e12);  // not there at once
        QTRY_COMPARE(plot.scene().now.roofs[0].rate, 3.35e12);
        QVERIFY(plot.scene().ghost.has_value());
        QCOMPARE(plot.scene().ghost->roofs[0].rate, before);
        Theme::instance().setAnimated(false);
        plot.setSnapshot(fixture::snapshot({.bandwidth = 2.5e12}));
        QCOMPARE(plot.scene().now.roofs[0].rate, 2.5e12);
        plot.setSnapshot(fixture::snapshot({.prefill = true}));
        QVERIFY(!plot.scene().ghost.has_value());  // another workload is no trail of this one
    }
    void rooflineKeepsTheAxesWhileNumbersChange() {
        Selection selection;
        RooflinePlot plot(&selection);
        open(plot, fixture::snapshot());
        const LogAxes before = plot.axes();
        plot.setSnapshot(fixture::snapshot({.bandwidth = 3e12}));
        QCOMPARE(plot.axes().x, before.x);
        QCOMPARE(plot.axes().y, before.y);
    }
    // A slider that is dragged moves roofs and points, not the axes under them, even past their end.
    void rooflineAxesStandWhileOneDrags() {
        Selection selection;
        RooflinePlot plot(&selection);
        open(plot, fixture::snapshot());
        plot.setSnapshot(fixture::snapshot({.bandwidth = 3.2e12}));
        const LogAxes before = plot.axes();
        for (const double bandwidth : {1e12, 1e11, 1e10, 1e9}) {
            plot.setSnapshot(fixture::snapshot({.bandwidth = bandwidth}));
            QCOMPARE(plot.axes().x, before.x);
            QCOMPARE(plot.axes().y, before.y);
        }
        QTRY_VERIFY_WITH_TIMEOUT(plot.axes().y != before.y, 3000);  // the hand has rested: all is shown again
        QVERIFY(showsAll({plot.axes().x, plot.axes().y}, plot.scene().now));
    }
    void rooflineNamesItsRidge() {
        Selection selection;
        RooflinePlot plot(&selection);
        open(plot, fixture::snapshot());
        const RooflineModel& model = plot.scene().now;
        QCOMPARE(model.ridge(), model.leadingCompute() / model.mainMemory());
        const auto labels = plot.labels().texts;
        const auto named = [&](const QString& start) {
            return std::ranges::find_if(labels, [&](const RooflineLabel& l) { return l.text.contains(start); });
        };
        const auto ridge = named("ridge point");
        QVERIFY(ridge != labels.end());
        QVERIFY2(ridge->text.contains(text(model.ridge(), Dimension::Intensity)), qPrintable(ridge->text));
        const auto memory = named("memory-bound"), compute = named("compute-bound");
        QVERIFY(memory != labels.end() && compute != labels.end());
        const double corner = plot.axes().toPixel(model.ridge(), 1).x();
        QVERIFY(memory->at.box.boundingRect().right() <= corner && compute->at.box.boundingRect().left() >= corner);
    }
    void rooflinePinsBaselines() {
        Selection selection;
        RooflinePlot plot(&selection);
        open(plot, fixture::snapshot());
        QTest::mouseClick(plot.findChild<QToolButton*>("roofline-pin"), Qt::LeftButton);
        QCOMPARE(plot.baselineCount(), std::size_t(1));
        plot.setSnapshot(fixture::snapshot({.bandwidth = 1e12}));
        QCOMPARE(plot.scene().baselines[0].mainMemory(), 3.35e12);
        const auto labels = plot.labels().texts;
        QVERIFY(std::any_of(labels.begin(), labels.end(),
                            [](const RooflineLabel& l) { return l.text.startsWith("H100 SXM"); }));
        QTest::keyClick(&plot, Qt::Key_P);
        QCOMPARE(plot.baselineCount(), std::size_t(0));
    }
    void rooflineStepsByKey() {
        Selection selection;
        RooflinePlot plot(&selection);
        open(plot, fixture::snapshot());
        QTest::keyClick(&plot, Qt::Key_Period);
        QVERIFY(plot.scene().isSelected(plot.scene().now.points[0]));
        QTest::keyClick(&plot, Qt::Key_Period);
        QVERIFY(plot.scene().isSelected(plot.scene().now.points[1]));
        QTest::keyClick(&plot, Qt::Key_Comma);
        QVERIFY(plot.scene().isSelected(plot.scene().now.points[0]));
    }
    void rooflineLabelsStayApart_data() {
        QTest::addColumn<QSize>("size");
        for (const QSize& size :
             {QSize(260, 180), QSize(400, 300), QSize(640, 360), QSize(1000, 640), QSize(1600, 900)})
            QTest::addRow("%dx%d", size.width(), size.height()) << size;
    }
    void rooflineLabelsStayApart() {
        QFETCH(QSize, size);
        for (const bool prefill : {false, true}) {
            Selection selection;
            RooflinePlot plot(&selection);
            open(plot, fixture::snapshot({.prefill = prefill}), size);
            plot.pinBaseline();
            plot.setSnapshot(fixture::snapshot({.prefill = prefill, .bandwidth = 1.2e12}));
            const RooflineLabels labels = plot.labels();
            const QRectF area = plot.axes().area;
            QVERIFY(labels.texts.size() >= (size.width() > 500 ? 5U : 2U));
            // What has no place on the axes is said beside the plot, where it covers neither points nor roofs.
            QVERIFY(plot.scene().now.notShown > 0);
            const RooflineNote note = plot.note();
            QVERIFY(size.width() < 400 || note.text.contains(QString::number(plot.scene().now.notShown)));
            QVERIFY(!note.box.intersects(area));
            QVERIFY(note.text.isEmpty() || plot.canvas()->rect().contains(note.box.toAlignedRect()));
            for (std::size_t i = 0; i < labels.texts.size(); ++i) {
                for (const QPointF& corner : labels.texts[i].at.box)
                    QVERIFY2(area.contains(corner), qPrintable(labels.texts[i].text));
                for (std::size_t j = 0; j < i; ++j)
                    QVERIFY2(!overlap(labels.texts[i].at.box, labels.texts[j].at.box),
                             qPrintable(labels.texts[i].text));
            }
        }
    }
    void rooflineNamesTheLeadingRoofs() {
        // One memory level and a workload of low intensity leave a short flat roof at the right border.
        auto snapshot = std::make_shared<Snapshot>(*fixture::snapshot());
        auto estimate = std::make_shared<Estimate>(*snapshot->answers[0].estimate);
        estimate->ceilings = {{"hbm3 3.35 TB/s", true, 3.35e12, 0}, {"bf16 tensor 989 TFLOP/s", false, 989e12, -1}};
        snapshot->answers[0].estimate = estimate;
        for (const QSize& size : {QSize(320, 240), QSize(560, 360), QSize(1200, 700)}) {
            Selection selection;
            RooflinePlot plot(&selection);
            open(plot, snapshot, size);
            const auto labels = plot.labels().texts;
            for (const Ceiling& ceiling : estimate->ceilings) {
                QVERIFY2(std::any_of(labels.begin(), labels.end(),
                                     [&](const RooflineLabel& label) {
                                         return label.text == QString::fromStdString(ceiling.label);
                                     }),
                         ceiling.label.c_str());
            }
        }
    }
    void rooflineShowsRoofsBeforeAnyAnswer() {
        Selection selection;
        RooflinePlot plot(&selection);
        auto snapshot = std::make_shared<Snapshot>(*fixture::snapshot());
        snapshot->answers.clear();
        open(plot, snapshot);
        QVERIFY(!plot.isEmpty());
        QVERIFY(plot.scene().now.roofs.size() > 3);
        plot.setSnapshot(nullptr);
        QVERIFY(plot.isEmpty());
    }

    // Timeline.

    void timelineClickSelects() {
        Selection selection;
        TimelineView view(&selection);
        open(view, fixture::snapshot({.prefill = true}));
        const TimelineSpan& span = view.model().timeline()->spans[40];
        const QPoint at(int(view.map().pixel(double(span.startPs + span.endPs) / 2)),
                        view.rowRect(span.row).center().y());
        QTest::mouseClick(&view, Qt::LeftButton, {}, at);
        QCOMPARE(selection.operators(), QSet<int>{span.op});
        QTest::keyClick(&view, Qt::Key_Period);
        QCOMPARE(selection.operators(), QSet<int>{view.model().timeline()->spans[std::size_t(view.currentSpan())].op});
        const std::int64_t here = view.currentSpan();
        QTest::keyClick(&view, Qt::Key_Comma);
        QCOMPARE(view.currentSpan(), here - 1);
        QTest::keyClick(&view, Qt::Key_Escape);
        QVERIFY(selection.operators().isEmpty());
    }
    void timelineKeysZoomPanAndFit() {
        Selection selection;
        TimelineView view(&selection);
        open(view, fixture::snapshot());
        const TimeMap whole = view.map();
        QTest::keyClick(&view, Qt::Key_W);
        QVERIFY(view.map().to - view.map().from < whole.to - whole.from);
        const double from = view.map().from;
        QTest::keyClick(&view, Qt::Key_D);
        QVERIFY(view.map().from > from);
        QTest::keyClick(&view, Qt::Key_A);
        QVERIFY(std::abs(view.map().from - from) < 1);
        for (int i = 0; i < 20; ++i) QTest::keyClick(&view, Qt::Key_S);
        QVERIFY(view.map().from <= double(view.model().begin()) && view.map().to >= double(view.model().end()));
        selection.select({7});
        const auto extent = view.model().extent({7});
        QTest::keyClick(&view, Qt::Key_F);
        QVERIFY(view.map().from <= double(extent.first) && view.map().to >= double(extent.second));
        QVERIFY(view.map().to - view.map().from < 1.5 * double(extent.second - extent.first));
    }
    void timelineWheelZoomsAtTheCursor() {
        Selection selection;
        TimelineView view(&selection);
        open(view, fixture::snapshot());
        const QPointF at(500, view.rowRect(0).center().y());
        const double under = view.map().time(500);
        wheel(&view, at, 480, Qt::ControlModifier);
        QVERIFY(std::abs(view.map().time(500) - under) < view.map().perPixel());
        const TimeMap before = view.map();
        drag(&view, {400, view.rowRect(1).center().y()}, {460, view.rowRect(1).center().y()});
        QVERIFY(std::abs(before.time(400) - view.map().time(460)) < view.map().perPixel());
    }
    void timelineAreaCounts() {
        Selection selection;
        TimelineView view(&selection);
        open(view, fixture::snapshot());
        QSignalSpy spy(&view, &TimelineView::areaChanged);
        const int y = view.rowRect(1).center().y();
        drag(&view, {300, y}, {520, y}, Qt::ShiftModifier);
        QVERIFY(view.area().has_value());
        QVERIFY(spy.count() > 0);
        SpanStatistics expected;
        const auto area = *view.area();
        QCOMPARE(area.firstRow, 1);
        QCOMPARE(area.lastRow, 1);
        for (const TimelineSpan& span : view.model().timeline()->spans) {
            if (span.row != 1 || span.endPs <= std::int64_t(area.from) || span.startPs >= std::int64_t(area.to))
                continue;
            const auto length = span.endPs - span.startPs;
            expected.add({1, length, length, length});
        }
        QVERIFY(expected.count > 3);
        QCOMPARE(view.areaStatistics().count, expected.count);
        QCOMPARE(view.areaStatistics().sum, expected.sum);
        QTest::keyClick(&view, Qt::Key_Escape);
        QVERIFY(!view.area().has_value());
        drag(&view, view.rulerRect().center(), view.rulerRect().center() + QPoint(60, 0));  // the ruler takes all rows
        QCOMPARE(view.area()->lastRow, 1);
        QCOMPARE(view.area()->firstRow, 0);
        QTest::keyClick(&view, Qt::Key_Escape);
        selection.select({3});
        QTest::keyClick(&view, Qt::Key_R);
        QCOMPARE(std::int64_t(view.area()->from), view.model().extent({3}).first);
    }
    void timelineHoverTells() {
        Selection selection;
        TimelineView view(&selection);
        const SnapshotPtr snapshot = fixture::snapshot({.prefill = true});
        open(view, snapshot);
        const TimelineSpan& span = view.model().timeline()->spans[40];
        const QPoint at(int(view.map().pixel(double(span.startPs + span.endPs) / 2)),
                        view.rowRect(span.row).center().y());
        QTest::mouseMove(&view, at);
        QTRY_VERIFY(view.card()->isVisible());
        QCOMPARE(view.card()->title(), operatorName(*snapshot, span.op));
        QCOMPARE(view.card()->value("Row"), QString("compute"));
        QCOMPARE(selection.hovered(), span.op);
    }
    void hoverCardsStayInsideLowViews() {
        Selection selection;
        TimelineView view(&selection);
        open(view, fixture::snapshot({.prefill = true}), {500, 130});
        const TimelineSpan& span = view.model().timeline()->spans[40];
        const QPoint at(int(view.map().pixel(double(span.startPs + span.endPs) / 2)), view.rowRect(0).top() + 4);
        QTest::mouseMove(&view, at);
        QTRY_VERIFY(view.card()->isVisible());
        QVERIFY(view.rect().contains(view.card()->geometry()));
    }
    void timelineSearchFinds() {
        Selection selection;
        TimelineView view(&selection);
        const SnapshotPtr snapshot = fixture::snapshot();
        open(view, snapshot);
        view.activateWindow();
        view.setFocus();
        QTest::keyClick(&view, Qt::Key_F, Qt::ControlModifier);
        auto* box = view.findChild<QLineEdit*>("timeline-search");
        QVERIFY(box->isVisible());
        QTest::keyClicks(box, "lm_head");
        QCOMPARE(selection.operators().size(), 1);
        QCOMPARE(operatorName(*snapshot, *selection.operators().begin()), QString("lm_head"));
        QTest::keyClick(box, Qt::Key_Return);
        QVERIFY(view.currentSpan() >= 0);
        QTest::keyClick(box, Qt::Key_Escape);
        QVERIFY(!box->isVisible());
    }
    void timelineOverviewMovesTheWindow() {
        Selection selection;
        TimelineView view(&selection);
        open(view, fixture::snapshot());
        for (int i = 0; i < 6; ++i) QTest::keyClick(&view, Qt::Key_W);
        const QRect strip = view.overviewRect();
        QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(strip.left() + strip.width() * 3 / 4, strip.center().y()));
        const double middle = (view.map().from + view.map().to) / 2;
        const double wanted = double(view.model().begin()) + 0.75 * double(view.model().end() - view.model().begin());
        QVERIFY(std::abs(middle / wanted - 1) < 0.02);
    }
    void timelineTellsWhenAMethodHasNone() {
        Selection selection;
        TimelineView view(&selection);
        auto snapshot = std::make_shared<Snapshot>(*fixture::snapshot());
        auto estimate = std::make_shared<Estimate>(*snapshot->answers[0].estimate);
        estimate->timeline = {};
        snapshot->answers[0].estimate = estimate;
        open(view, snapshot);
        QVERIFY(view.isEmpty());
    }

    // Breakdown and memory.

    void breakdownClickSelects() {
        Selection selection;
        BreakdownView view(&selection);
        open(view, fixture::snapshot());
        const auto part = view.parts().front();
        QTest::mouseClick(&view, Qt::LeftButton, {}, part.box.center().toPoint());
        const auto ops = view.model().categories[std::size_t(part.category)].ops;
        QCOMPARE(selection.operators(), QSet<int>(ops.begin(), ops.end()));
        const auto line = view.parts().back();
        QTest::mouseClick(&view, Qt::LeftButton, Qt::ControlModifier, line.box.center().toPoint());
        QCOMPARE(std::size_t(selection.operators().size()),
                 ops.size() + view.model().categories[std::size_t(line.category)].ops.size());
        QTest::mouseMove(&view, part.box.center().toPoint());
        QTRY_VERIFY(view.card()->isVisible());
        QCOMPARE(view.card()->title(), view.model().categories[0].label);
        QVERIFY(view.card()->value("Roofline").contains("%"));
    }
    void breakdownModes() {
        Selection selection;
        BreakdownView view(&selection);
        open(view, fixture::snapshot());
        QTest::mouseClick(view.findChild<QToolButton*>("breakdown-by-bound"), Qt::LeftButton);
        QCOMPARE(view.by(), BreakdownBy::Bound);
        QVERIFY(std::any_of(view.model().categories.begin(), view.model().categories.end(),
                            [](const BreakdownCategory& c) { return c.label == "hbm3 bandwidth"; }));
        QTest::keyClick(&view, Qt::Key_2);
        QCOMPARE(view.by(), BreakdownBy::Block);
        QVERIFY(view.findChild<QToolButton*>("breakdown-by-block")->isChecked());
    }
    void breakdownByPart() {
        Selection selection;
        BreakdownView view(&selection);
        auto* button = view.findChild<QToolButton*>("breakdown-by-part");
        open(view, fixture::snapshot());
        QVERIFY(!button->isVisible());  // no answer says what worked
        QTest::keyClick(&view, Qt::Key_4);
        QCOMPARE(view.by(), BreakdownBy::Kind);
        auto snapshot = std::make_shared<Snapshot>(*fixture::snapshot());
        auto estimate = std::make_shared<Estimate>(*snapshot->answers[0].estimate);
        const double latency = estimate->latency.value;
        for (const auto& [label, share] : {std::pair{"Computing", 0.25}, {"Transfers", 0.35}, {"Preparation", 0.4}})
            estimate->figures.push_back({label, share * latency, Dimension::Time, {}, {}, std::string(partOfTime)});
        snapshot->answers[0].estimate = estimate;
        open(view, snapshot);
        QVERIFY(button->isVisible());
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(view.by(), BreakdownBy::Part);
        const auto& model = view.model();
        QCOMPARE(model.categories.size(), std::size_t(3));
        QCOMPARE(model.categories[0].label, QString("Computing"));
        double sum = 0;
        for (const BreakdownCategory& each : model.categories) sum += each.seconds[0];
        QVERIFY(std::abs(sum / latency - 1) < 1e-12);
        QVERIFY(model.bars[0].divided && !model.bars[1].divided);
        for (const auto& part : view.parts()) QVERIFY(part.bar <= 0);
        // Where nothing is divided so any more, the usual division is back.
        open(view, fixture::snapshot());
        QCOMPARE(view.by(), BreakdownBy::Kind);
        QVERIFY(!button->isVisible());
    }
    void breakdownBarsShareAScaleAndLabelsFit() {
        for (const QSize& size : {QSize(240, 160), QSize(400, 300), QSize(1600, 900)}) {
            Selection selection;
            BreakdownView view(&selection);
            open(view, fixture::snapshot(), size);
            std::map<int, double> length;
            for (const auto& part : view.parts()) {
                if (part.bar < 0) continue;
                length[part.bar] += part.box.width();
                if (!part.label.isEmpty()) QVERIFY(part.box.contains(part.labelBox));
                QVERIFY(part.box.right() <= view.width());
            }
            // The second method is 1.35 times slower, so its bar is that much longer.
            QVERIFY(std::abs(length[1] / length[0] - 1.35) < 1e-6);
        }
    }
    void memorySaysWhetherItFits() {
        Selection selection;
        MemoryView view(&selection);
        open(view, fixture::snapshot({.kvBytes = 17e9}));
        QCOMPARE(view.verdict(), QString("Fits: 48.3 GB free (60 %)"));
        double sum = 0;
        for (const auto& part : view.parts()) sum += part.box.width();
        QVERIFY(sum < view.capacityEdge());
        view.setSnapshot(fixture::snapshot({.kvBytes = 90e9}));
        QCOMPARE(view.verdict(), QString("Does not fit: 24.7 GB more than the 80 GB of H100 SXM"));
        QVERIFY(view.parts().back().box.right() > view.capacityEdge());
        QTest::mouseMove(&view, view.parts()[0].box.center().toPoint());
        QTRY_VERIFY(view.card()->isVisible());
        QCOMPARE(view.card()->title(), QString("Weights"));
        QCOMPARE(view.card()->value("Size"), QString("13.5 GB"));
    }

    // All of them.

    void exportsAreNotEmpty() {
        QTemporaryDir folder;
        Selection selection;
        RooflinePlot roofline(&selection);
        TimelineView timeline(&selection);
        BreakdownView breakdown(&selection);
        MemoryView memory(&selection);
        for (ResultView* view : QList<ResultView*>{&roofline, &timeline, &breakdown, &memory}) {
            view->resize(500, 320);
            view->setSnapshot(fixture::snapshot());
            for (const char* ending : {"png", "svg", "pdf", "csv"}) {
                const QString file = folder.filePath(view->id() + '.' + ending);
                QCOMPARE(view->exportTo(file), QString());
                QVERIFY2(QFileInfo(file).size() > (qstrcmp(ending, "csv") == 0 ? 60 : 2000), qPrintable(file));
            }
            const QImage image(folder.filePath(view->id() + ".png"));
            QCOMPARE(image.size(), QSize(1000, 640));
            QFile svg(folder.filePath(view->id() + ".svg"));
            QVERIFY(svg.open(QIODevice::ReadOnly));
            const QByteArray drawing = svg.readAll();
            QVERIFY2(drawing.contains("<text"), qPrintable(view->id()));  // lines and letters, not a bitmap
            QVERIFY2(!drawing.contains("<image"), qPrintable(view->id()));
            QVERIFY(!view->exportTo(folder.filePath("x.bmp")).isEmpty());
            QVERIFY(!view->exportTo(folder.filePath("no/such/folder.png")).isEmpty());
            view->copyPicture();
            QCOMPARE(QApplication::clipboard()->image().size(), QSize(1000, 640));
        }
        // As many lines as operators, and a heading.
        QCOMPARE(std::size_t(roofline.csv().count('\n')), fixture::snapshot()->primaryEstimate()->operators.size() + 1);
        QCOMPARE(std::size_t(timeline.csv().count('\n')), timeline.model().timeline()->spans.size() + 1);
    }
    void emptyStatesSpeakAndOffer() {
        Selection selection;
        RooflinePlot roofline(&selection);
        TimelineView timeline(&selection);
        BreakdownView breakdown(&selection);
        MemoryView memory(&selection);
        for (ResultView* view : QList<ResultView*>{&roofline, &timeline, &breakdown, &memory}) {
            open(*view, nullptr, {400, 300});
            QVERIFY(view->isEmpty());
            QSignalSpy spy(view, &ResultView::emptyActionTriggered);
            auto* button = view->findChild<QPushButton*>(view->id() + "-empty-action");
            QVERIFY(button && button->isVisible());
            QTest::mouseClick(button, Qt::LeftButton);
            QCOMPARE(spy.count(), 1);
            view->setSnapshot(fixture::snapshot());
            QVERIFY(!view->isEmpty() && !button->isVisible());
            view->hide();
        }
    }
    void failuresSayWhyAndWhatNext() {
        auto snapshot = std::make_shared<Snapshot>(*fixture::snapshot());
        for (Answer& answer : snapshot->answers) {
            answer.estimate = nullptr;
            answer.failure = fail("method.needs", "the device gives no bandwidth", "", "set hbm3.bandwidth").value();
        }
        Selection selection;
        TimelineView timeline(&selection);
        MemoryView memory(&selection);
        for (ResultView* view : QList<ResultView*>{&timeline, &memory}) {
            view->setSnapshot(fixture::snapshot());
            open(*view, snapshot, {400, 300});
            QVERIFY(view->isEmpty());
            QString said;
            for (const QLabel* label : view->findChildren<QLabel*>()) said += label->text();
            QVERIFY2(said.contains("no bandwidth") && said.contains("set hbm3.bandwidth"), qPrintable(said));
            view->setSnapshot(fixture::snapshot());
            QVERIFY(!view->isEmpty());
            view->hide();
        }
        BreakdownView breakdown(&selection);
        open(breakdown, snapshot, {400, 300});
        QVERIFY(breakdown.model().bars[0].state.contains("no bandwidth"));
    }
    void controlsAreNamed() {
        Selection selection;
        RooflinePlot roofline(&selection);
        TimelineView timeline(&selection);
        BreakdownView breakdown(&selection);
        for (ResultView* view : QList<ResultView*>{&roofline, &timeline, &breakdown}) {
            QVERIFY(!view->objectName().isEmpty() && !view->accessibleName().isEmpty());
            const auto controls = view->findChildren<QToolButton*>();
            QVERIFY(!controls.isEmpty());
            for (const QToolButton* control : controls) {
                if (qobject_cast<QLineEdit*>(control->parent())) continue;  // Qt's own clear button
                QVERIFY2(!control->objectName().isEmpty() && !control->accessibleName().isEmpty() &&
                             control->toolTip().contains('('),
                         qPrintable(view->id()));
            }
        }
    }
};

QTEST_MAIN(TestPlots)
#include "tst_plots.moc"
