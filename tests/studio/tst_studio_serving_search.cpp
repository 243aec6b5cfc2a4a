// Searches on the serving page with real mouse and keys: choices are ticked, configurations come, one is chosen and
// used; the capacity is found as the engine finds it.

#include "app/window/main_window.h"
#include "app/window/serving/serving_page.h"
#include "app/window/serving/serving_search.h"
#include "support/serving_window.h"
#include "widgets/common/fold.h"
#include "widgets/common/label.h"
#include "widgets/common/value_edit.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/serving/front_plot.h"

#include <QtWidgets>

#include <algorithm>
#include <cmath>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioServingSearch : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { ui::initialiseApplicationLook(); }
    void init() { QVERIFY(open(ServingWindow::shortQuestion())); }
    void cleanup() { serving_.window.reset(); }

    void aTickIsOneStepAndSimulatesNothing() {
        tick("serving.search.tensor", "2");
        tick("serving.search.tensor", "1");
        tick("serving.search.scheduler", "sarathi");
        QCOMPARE(serving().sweep, (std::vector<SweepAxis>{{"tensor", {"1", "2"}}, {"scheduler", {"sarathi"}}}));
        QCOMPARE(window_->document().undoStack()->count(), 3);
        QVERIFY(!page_->isBusy());
        QVERIFY(page_->findChild<QPushButton*>("serving.search.run")->text().contains("2"));
        window_->document().undoStack()->undo();
        QCOMPARE(page_->question().sweep.size(), std::size_t{1});
        tick("serving.search.tensor", "1");
        tick("serving.search.tensor", "2");
        QVERIFY(serving().sweep.empty());
    }

    void aConfigurationIsFoundChosenAndUsed() {
        tick("serving.search.tensor", "1");
        tick("serving.search.tensor", "2");
        tick("serving.search.scheduler", "vllm-v1");
        tick("serving.search.scheduler", "sarathi");
        tick("serving.search.chunk", "256");
        tick("serving.search.chunk", "512");
        click("serving.search.run");
        QVERIFY(page_->search()->isBusy());
        QVERIFY(searched());
        auto* table = page_->search()->table();
        auto* plot = page_->search()->plot();
        // 8 combinations, of which the two of vLLM V1 with another chunk repeat two others.
        QCOMPARE(table->cells()->rowCount(), 6);
        const auto& points = page_->search()->findings()->points;
        QCOMPARE(points.size(), std::size_t{8});
        for (const SweepAnswer& point : points) QVERIFY(!point.failure);
        // The dots of plot and table are the best of the engine's own sweep of the same question.
        SweepOptions options;
        options.drawing = window_->document().hardware();
        const auto asked = runSweep(serving(), options);
        QVERIFY(asked);
        for (std::size_t i = 0; i < points.size(); ++i)
            if (points[i].sameAs < 0) QCOMPARE(bool(plot->front()[i]), (*asked)[i].pareto);
        QVERIFY(std::ranges::any_of(plot->front(), [](bool best) { return best; }));

        int wanted = -1;
        for (std::size_t i = 0; i < points.size(); ++i)
            if (points[i].values == std::vector<std::string>{"2", "sarathi", "256"}) wanted = static_cast<int>(i);
        QVERIFY(wanted >= 0);
        QTest::mouseClick(plot, Qt::LeftButton, {}, plot->placeOf(wanted).toPoint());
        const int chosen = plot->current();
        QVERIFY(chosen >= 0);
        QCOMPARE(page_->findChild<ui::Label*>("serving.search.chosen")->text(),
                 searchPointText(serving(), points[static_cast<std::size_t>(chosen)]));
        page_->search()->choose(wanted);
        const int before = window_->document().undoStack()->count();
        const PoolSpec old = page_->question().scenario.pools.front();
        click("serving.search.use");
        const PoolSpec& pool = serving().scenario.pools.front();
        QCOMPARE(pool.plan.tensor, 2);
        QCOMPARE(pool.scheduler.id, std::string("sarathi"));
        QCOMPARE(pool.scheduler.chunk, 256);
        QCOMPARE(window_->document().undoStack()->count(), before + 1);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy(); }, 60000));
        // The form's run is the configuration's.
        QCOMPARE(page_->runs().front()->metrics.ttft.p99, points[static_cast<std::size_t>(wanted)].metrics.ttft.p99);
        window_->document().undoStack()->undo();
        QCOMPARE(page_->question().scenario.pools.front(), old);
    }

    void aHeadSortsAndARowChooses() {
        tick("serving.search.tensor", "1");
        tick("serving.search.tensor", "2");
        tick("serving.search.tensor", "8");
        click("serving.search.run");
        QVERIFY(searched());
        auto* table = page_->search()->table();
        int column = -1;
        for (int c = 0; c < table->model()->columnCount(); ++c)
            if (table->model()->headerData(c, Qt::Horizontal).toString() == "TTFT p99") column = c;
        QVERIFY(column > 0);
        table->scrollTo(table->model()->index(0, column));
        auto* head = table->horizontalHeader();
        for (int times = 0; times < 2; ++times) {
            QTest::mouseClick(head->viewport(), Qt::LeftButton, {},
                              QPoint(head->sectionViewportPosition(column) + 8, head->height() / 2));
            const bool down = head->sortIndicatorOrder() == Qt::DescendingOrder;
            double last = down ? 1e300 : -1e300;
            for (int row = 0; row < table->model()->rowCount(); ++row) {
                const double value = table->model()->index(row, column).data(ui::CellsModel::SortRole).toDouble();
                QVERIFY(down ? value <= last : value >= last);
                last = value;
            }
        }
        const QModelIndex second = table->model()->index(1, 0);
        table->scrollTo(second);
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(second).center());
        QVERIFY(page_->search()->plot()->current() >= 0);
        QVERIFY(page_->findChild<QPushButton*>("serving.search.use")->isEnabled());
    }

    // What misses the SLO is no choice, however fast it makes tokens.
    void whatMissesTheSloIsNeverBest() {
        ServingStudy hard = ServingWindow::shortQuestion();
        hard.scenario.promise = {.ttft = 1e-4};
        QVERIFY(open(hard));
        tick("serving.search.tensor", "1");
        tick("serving.search.tensor", "2");
        click("serving.search.run");
        QVERIFY(searched());
        const auto* table = page_->search()->table();
        QCOMPARE(table->cells()->rowCount(), 2);
        for (int row = 0; row < 2; ++row) QCOMPARE(table->model()->index(row, 0).data().toString(), QString());
        QVERIFY(std::ranges::none_of(page_->search()->plot()->front(), [](bool best) { return best; }));
        QVERIFY(page_->findChild<ui::Label*>("serving.search.state")
                    ->text()
                    .contains("no configuration reaches an SLO attainment"));
    }

    void whatCannotRunSaysWhy() {
        tick("serving.search.tensor", "1");
        tick("serving.search.hardware", "t4");
        click("serving.search.run");
        // One device and one degree are one configuration: nothing to search.
        QVERIFY(!page_->search()->isBusy());
        tick("serving.search.hardware", "h100-sxm");
        click("serving.search.run");
        QVERIFY(searched());
        const auto& points = page_->search()->findings()->points;
        // 16 GB of weights do not fit a T4.
        const auto t4 = std::ranges::find_if(points, [](const SweepAnswer& p) { return p.values[0] == "t4"; });
        QVERIFY(t4 != points.end() && t4->failure);
        page_->search()->choose(static_cast<int>(t4 - points.begin()));
        QVERIFY(!page_->findChild<QPushButton*>("serving.search.use")->isEnabled());
        QVERIFY(page_->findChild<ui::Label*>("serving.search.state")->text().contains("cannot run"));
    }

    void aPriceIsOfItsDevice() {
        tick("serving.search.hardware", "h100-sxm");
        auto* price = page_->findChild<ui::ValueEdit*>("serving.search.hardware.h100-sxm.price");
        reveal(price);
        QVERIFY(price->isVisible());
        price->setFocus();
        QTest::keyClicks(price, "2.5");
        QTest::keyClick(price, Qt::Key_Return);
        QCOMPARE(serving().sweep, (std::vector<SweepAxis>{{"hardware", {"h100-sxm@2.5"}}}));
        tick("serving.search.tensor", "1");
        tick("serving.search.tensor", "2");
        click("serving.search.run");
        QVERIFY(searched());
        for (const SweepAnswer& point : page_->search()->findings()->points)
            QVERIFY(point.metrics.dollarsPerMillionTokens > 0);
    }

    void aStoppedSearchKeepsWhatItFound() {
        ServingStudy heavy = ServingWindow::shortQuestion();
        heavy.traffic.requests = 5000;  // no machine is through before it is stopped
        QVERIFY(open(heavy));
        for (const char* value : {"128", "256", "512", "1024", "2048", "4096"}) tick("serving.search.chunk", value);
        for (const char* value : {"512", "1024", "2048", "4096", "8192", "16384"})
            tick("serving.search.token_budget", value);
        tick("serving.search.scheduler", "sarathi");
        auto* each = page_->findChild<QCheckBox*>("serving.search.capacities");
        reveal(each);
        QTest::mouseClick(each, Qt::LeftButton, {}, QPoint(8, each->height() / 2));
        click("serving.search.run");
        QVERIFY(QTest::qWaitFor([this] { return page_->search()->table()->cells()->rowCount() > 0; }, 60000));
        click("serving.search.run");
        QVERIFY(searched());
        const int rows = page_->search()->table()->cells()->rowCount();
        QVERIFY2(rows > 0 && rows < 36, qPrintable(QString::number(rows)));
        QVERIFY(page_->findChild<ui::Label*>("serving.search.state")->text().contains("stopped"));
    }

    // Without an SLO there is no capacity: the button says so and leads to where one is set.
    void withoutAnSloTheButtonLeadsToIt() {
        auto* run = page_->findChild<QPushButton*>("serving.capacity.run");
        QCOMPARE(run->text(), QString("Find the capacity"));
        ServingStudy none = ServingWindow::shortQuestion();
        none.scenario.promise = {};
        QVERIFY(open(none));
        run = page_->findChild<QPushButton*>("serving.capacity.run");
        QTRY_VERIFY(run->isEnabled() && run->text().contains("SLO"));
        click("serving.capacity.run");
        QVERIFY(!page_->search()->isBusy());
        QWidget* focus = QApplication::focusWidget();
        QVERIFY(focus && focus->property("field").toString() == "promise/ttft");
        QVERIFY(!focus->visibleRegion().isEmpty());
    }

    void theCapacityIsTheEngines() {
        click("serving.capacity.run");
        QVERIFY(page_->search()->isBusy());
        QVERIFY(searched());
        const auto& findings = *page_->search()->findings();
        QVERIFY(findings.capacity[0].has_value());
        const auto& marks = page_->search()->load()->data().marks;
        QCOMPARE(marks.size(), std::size_t{1});
        QCOMPARE(marks.front().x, *findings.capacity[0]);
        // At it the promise is kept by so many, a little above no more.
        const double wanted = page_->question().capacity.attainment;
        for (const CapacityProbe& probe : findings.probes[0]) {
            if (probe.rate <= *findings.capacity[0] * 0.999) continue;
            QCOMPARE(probe.attainment >= wanted, probe.rate <= *findings.capacity[0] * 1.001);
        }
        const auto planned = fleetOf(page_->question().scenario, window_->document().hardware());
        CapacityOptions options;
        options.seed = page_->question().seed;
        options.scenario = &page_->question().scenario;
        CapacitySpec spec = page_->question().capacity;
        spec.guess = page_->question().traffic.arrivals.rate;
        const auto direct = capacityOf(planned->fleet, page_->question().traffic, spec, options);
        QCOMPARE(*findings.capacity[0], direct->rate);
    }

private:
    const ServingStudy& serving() const { return *window_->document().state()->serving; }
    bool searched() {
        return QTest::qWaitFor([this] { return !page_->search()->isBusy(); }, 120000);
    }
    void reveal(QWidget* widget) {
        QCoreApplication::processEvents();
        page_->findChild<QScrollArea*>("serving.search")->ensureWidgetVisible(widget);
        QCoreApplication::processEvents();
    }
    void click(const char* id) {
        auto* button = page_->findChild<QPushButton*>(id);
        QVERIFY(button);
        reveal(button);
        QTest::mouseClick(button, Qt::LeftButton);
    }
    void tick(const QString& axis, const QString& value) {
        auto* head = page_->findChild<ui::FoldHead*>(axis);
        QVERIFY2(head, qPrintable(axis));
        reveal(head);
        if (!head->isChecked()) QTest::mouseClick(head, Qt::LeftButton);
        auto* box = page_->findChild<QCheckBox*>(axis + '.' + value);
        QVERIFY2(box, qPrintable(value));
        reveal(box);
        QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
    }

    bool open(const ServingStudy& question) {
        window_ = nullptr;
        if (!serving_.open(question)) return false;
        window_ = serving_.window.get();
        page_ = serving_.page;
        page_->tabs()->setCurrentWidget(page_->search());
        return QTest::qWaitFor([this] { return page_->search()->isVisible(); });
    }

    ServingWindow serving_;
    MainWindow* window_ = nullptr;
    ServingPage* page_ = nullptr;
};

QTEST_MAIN(TestStudioServingSearch)
#include "tst_studio_serving_search.moc"
