// What the explore page shows of a search: axes that are brushed, the history, what has no answer, files.

#include "support/explore_window.h"
#include "widgets/exploration/search_plot.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioExploreViews : public ExploreTest {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() { open(); }
    void cleanup() { close(); }

    void aThirdObjective() {
        start();
        choose("explore.also", "Silicon area");
        QCOMPARE(window_->document().state()->search->objectives, (std::vector<std::string>{"time", "energy", "area"}));
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
        search();
        QCOMPARE(page_->parallel()->data()->axes.size(), std::size_t{1 + 3});
        QCOMPARE(page_->view()->seen.objectives, std::size_t{3});
    }
    // Lines across all axes: a drag keeps those that pass, a click chooses one, the file has those that pass.
    void axesAreBrushed() {
        ready({{{"hbm3.bandwidth", {}, {"1 TB/s", "8 TB/s", 8, true}}, {"sm.count", {"66", "132", "264"}, {}}},
               {"time", "area"},
               {},
               "roofline"});
        search();
        auto* tabs = page_->findChild<QTabWidget*>("explore.views");
        tabs->setCurrentIndex(ExplorePage::ParallelTab);
        ui::ParallelPlot* plot = page_->parallel();
        QTRY_VERIFY(plot->isPainted());
        QCOMPARE(plot->keptPoints(), std::size_t{24});
        const QPoint end(static_cast<int>(plot->xOf(1)), static_cast<int>(plot->yOf(0)));
        const QPoint middle(end.x(), static_cast<int>(plot->yOf(0.4F)));
        QTest::mousePress(plot, Qt::LeftButton, {}, end);
        QTest::mouseMove(plot, middle);
        QTest::mouseRelease(plot, Qt::LeftButton, {}, middle);
        QVERIFY(plot->brushes()[1].has_value());
        QCOMPARE(plot->keptPoints(), std::size_t{8});
        for (std::size_t i = 0; i < 24; ++i)
            QCOMPARE(plot->isKept(i), page_->problem()->space.levelsAt(page_->view()->seen.points[i])[1] == 0u);
        QTRY_VERIFY(plot->isPainted());
        // A line of the front that passes is chosen by a click beside an axis.
        int wanted = -1;
        for (std::size_t i = 0; i < 24; ++i)
            if (plot->isKept(i) && plot->data()->places[i] == ui::PointPlace::Front) wanted = static_cast<int>(i);
        QVERIFY(wanted >= 0);
        const auto& axes = plot->data()->axes;
        const auto at = static_cast<std::size_t>(wanted);
        const QPointF on((plot->xOf(2) * 3 + plot->xOf(3)) / 4, plot->yOf((axes[2].at[at] * 3 + axes[3].at[at]) / 4));
        QTest::mouseClick(plot, Qt::LeftButton, {}, on.toPoint());
        QVERIFY(plot->current() >= 0 && plot->isKept(static_cast<std::size_t>(plot->current())));
        QCOMPARE(page_->plot()->current(), plot->current());
        QVERIFY(button("explore.use")->isEnabled());
        const QString file = home_.filePath("lines.csv");
        QCOMPARE(page_->written(file, ExplorePage::ParallelTab), QString());
        QFile csv(file);
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readAll().count('\n'), 1 + 8);
        QTest::mouseClick(plot, Qt::LeftButton, {}, middle);  // a click lets all pass
        QCOMPARE(plot->keptPoints(), std::size_t{24});
        // A click on a name colours by it.
        QCOMPARE(plot->coloured(), std::size_t{2});
        QTest::mouseClick(plot, Qt::LeftButton, {},
                          QPoint(static_cast<int>(plot->xOf(3)), static_cast<int>(plot->yOf(1)) - 16));
        QCOMPARE(plot->coloured(), std::size_t{3});
        QTRY_VERIFY(plot->isPainted());
    }
    void howItCameToItsBest() {
        start();
        search();
        const auto& curves = page_->history()->curves();
        QCOMPARE(curves.size(), std::size_t{3});  // what the front covers, and the best of both
        for (const ui::HistoryCurve& curve : curves) {
            QCOMPARE(curve.share.back(), 1.0);
            QVERIFY(std::ranges::is_sorted(curve.share));
        }
    }
    // Why points have no answer, how many, and one of them by a click.
    void whatHasNoAnswerIsListed() {
        ready({{{"tp", {"1", "2", "4"}, {}}, {"batch", {"1", "8"}, {}}}, {"time"}, {}, "roofline"});
        search();
        std::size_t all = 0;
        for (const auto& each : page_->view()->refused) all += each.points;
        QVERIFY(all > 0);
        QCOMPARE(page_->refused()->model()->rowCount(), static_cast<int>(page_->view()->refused.size()));
        QVERIFY(page_->findChild<QTabWidget*>("explore.views")
                    ->tabText(ExplorePage::RefusedTab)
                    .contains(QString::number(all)));
        emit page_->refused()->rowChosen(0);
        QVERIFY(!button("explore.use")->isEnabled());
    }
    // A dot says its knobs, for they tell it from its neighbours, and how it stands to the drawing; below, no number is
    // cut.
    void aDotSaysWhatItIs() {
        ready({{{"hbm3.bandwidth", {"3.35 TB/s", "6.7 TB/s"}, {}}, {"sm.count", {"132", "264"}, {}}},
               {"time", "area"},
               {},
               "roofline"});
        search();
        ui::SearchPlot* plot = page_->plot();
        int drawn = -1, both = -1;
        for (std::size_t i = 0; i < page_->view()->seen.size(); ++i) {
            const auto levels = page_->problem()->space.levelsAt(page_->view()->seen.points[i]);
            if (levels[0] == 0 && levels[1] == 0) drawn = int(i);
            if (levels[0] == 1 && levels[1] == 1) both = int(i);
        }
        QVERIFY(drawn >= 0 && both >= 0);
        const auto tip = [&](int point) {
            const QPoint at = plot->placeOf(point).toPoint();
            QHelpEvent help(QEvent::ToolTip, at, plot->mapToGlobal(at));
            QApplication::sendEvent(plot, &help);
            return QToolTip::text();
        };
        const QString asDrawn = tip(drawn);
        QVERIFY2(asDrawn.contains("hbm3.bandwidth  3.35 TB/s") && asDrawn.contains("sm.count  132"),
                 qPrintable(asDrawn));
        QCOMPARE(asDrawn.count("1 × as drawn"), 2);
        QToolTip::hideText();
        const QString doubled = tip(both);
        QVERIFY2(doubled.contains("sm.count  264"), qPrintable(doubled));
        const PointAnswer answer = page_->view()->seen.at(std::size_t(both)),
                          base = page_->view()->seen.at(std::size_t(drawn));
        const QString ratio = QString::number(answer.values[0].value / base.values[0].value, 'g', 3);
        QVERIFY2(doubled.contains(ratio + " × as drawn"), qPrintable(doubled));
        QTest::mouseClick(plot, Qt::LeftButton, {}, plot->placeOf(both).toPoint());
        const auto* foot = page_->findChild<QLabel*>("explore.chosen");
        QTRY_VERIFY2(foot->text().contains(ratio + " × as drawn") && foot->text().contains("Power"),
                     qPrintable(foot->text()));
        window_->resize(1280, 720);
        QTest::qWait(50);
        QVERIFY2(foot->heightForWidth(foot->width()) <= foot->height(), "numbers are cut");
        QVERIFY(foot->wordWrap());
    }
    // Where knobs are set, the empty plot asks for none.
    void theEmptyPlotAsksForWhatIsMissing() {
        start();
        QVERIFY2(!page_->plot()->emptySentence().contains("Add knobs"), qPrintable(page_->plot()->emptySentence()));
        QTest::mouseClick(newest<QToolButton>("explore.remove.batch"), Qt::LeftButton);
        QTRY_VERIFY2(page_->plot()->emptySentence().contains("Add knobs"), qPrintable(page_->plot()->emptySentence()));
    }
    // Energy has no stated interval: table and picture say so.
    void whatIsUnsureIsSaid() {
        start();
        search();
        QVERIFY(page_->plot()->data().y.unsure && !page_->plot()->data().x.unsure);
        const QModelIndex energy = page_->table()->model()->index(0, 2);
        QVERIFY2(energy.data().toString().endsWith(" ?"), qPrintable(energy.data().toString()));
    }
    void figuresAndFilesAreWritten() {
        start();
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy() && page_->view(); }, 20000));
        QTemporaryDir folder;
        const auto written = page_->report(folder.path());
        QVERIFY(written);
        QCOMPARE(written->size(), 2);
        for (const QString& file : *written) QVERIFY(QFileInfo(file).size() > 100);
    }
};

QTEST_MAIN(TestStudioExploreViews)
#include "tst_studio_explore_views.moc"
