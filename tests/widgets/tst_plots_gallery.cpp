// Pictures of every plot at several sizes, light and dark, for a person to look at; the test fails if one is blank.

#include "base/executor.h"
#include "hardware/files/catalogue.h"
#include "support/plots_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/plots/breakdown_view.h"
#include "widgets/plots/memory_view.h"
#include "widgets/plots/roofline_plot.h"
#include "widgets/plots/timeline_view.h"

#include <QDir>
#include <QtTest>

using namespace orrery;
using namespace orrery::ui;

class TestPlotsGallery : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        initialiseApplicationLook();
        Theme::instance().setAnimated(false);
        QVERIFY(QDir().mkpath(ORRERY_TEST_OUTPUT));
    }
    void cleanupTestCase() { Theme::instance().setMode(Mode::Light); }

    void pictures_data() {
        QTest::addColumn<int>("mode");
        QTest::addColumn<QSize>("size");
        QTest::addColumn<bool>("presenter");
        QTest::newRow("light-400x300") << int(Mode::Light) << QSize(400, 300) << false;
        QTest::newRow("dark-400x300") << int(Mode::Dark) << QSize(400, 300) << false;
        QTest::newRow("light-800x500") << int(Mode::Light) << QSize(800, 500) << false;
        QTest::newRow("dark-800x500") << int(Mode::Dark) << QSize(800, 500) << false;
        QTest::newRow("light-1600x900") << int(Mode::Light) << QSize(1600, 900) << false;
        QTest::newRow("dark-1600x900-presenter") << int(Mode::Dark) << QSize(1600, 900) << true;
    }
    void pictures() {
        QFETCH(int, mode);
        QFETCH(QSize, size);
        QFETCH(bool, presenter);
        Theme::instance().setMode(Mode(mode));
        Theme::instance().setPresenter(presenter);
        for (const bool prefill : {false, true}) {
            Selection selection;
            RooflinePlot roofline(&selection);
            TimelineView timeline(&selection);
            BreakdownView breakdown(&selection);
            MemoryView memory(&selection);
            for (ResultView* view : QList<ResultView*>{&roofline, &timeline, &breakdown, &memory}) {
                view->resize(size);
                view->show();
                QVERIFY(QTest::qWaitForWindowExposed(view));
                if (prefill) view->setSnapshot(fixture::snapshot({.prefill = true, .bandwidth = 2e12}));
                view->setSnapshot(fixture::snapshot({.prefill = prefill, .kvBytes = prefill ? 90e9 : 17e9}));
                QCoreApplication::processEvents();
                const QImage image = view->grab().toImage();
                QSet<QRgb> colours;
                for (int y = 0; y < image.height(); y += 3)
                    for (int x = 0; x < image.width(); x += 3) colours.insert(image.pixel(x, y));
                QVERIFY2(colours.size() > 4, qPrintable(view->id()));
                QVERIFY(image.save(
                    QStringLiteral("%1/plots-%2-%3-%4.png")
                        .arg(ORRERY_TEST_OUTPUT, view->id(), prefill ? "prefill" : "decode", QTest::currentDataTag())));
            }
        }
        Theme::instance().setPresenter(false);
    }

    // The same with real methods on a real device.
    void real_data() {
        QTest::addColumn<QString>("workloadId");
        QTest::addColumn<bool>("decode");
        QTest::newRow("llama-decode") << "llama-2-7b" << true;
        QTest::newRow("resnet") << "resnet-50" << false;
    }
    void real() {
        QFETCH(QString, workloadId);
        QFETCH(bool, decode);
        Theme::instance().setMode(decode ? Mode::Dark : Mode::Light);
        const auto hardware = loadHardware(ORRERY_SOURCE "/presets/hardware/h100-sxm.yaml");
        QVERIFY2(hardware, hardware ? "" : toText(hardware.error()).c_str());
        WorkloadRecipe recipe;
        recipe.source = workloadId.toStdString();
        recipe.options.batch = decode ? 16 : 8;
        recipe.options.sequence = decode ? 2048 : 0;
        recipe.options.phase = decode ? Phase::Decode : Phase::Forward;
        const auto workload = loadWorkload(recipe);
        QVERIFY2(workload, workload ? "" : toText(workload.error()).c_str());
        auto snapshot = std::make_shared<Snapshot>();
        snapshot->scenario.hardware = std::make_shared<Hardware>(hardware->hardware);
        snapshot->scenario.workload = *workload;
        const auto view = deviceView(hardware->hardware);
        QVERIFY(view);
        snapshot->device = std::make_shared<DeviceView>(*view);
        const auto executor = makeSerialExecutor();
        for (const Method& method : builtinMethods()) {
            EstimateContext context{*executor, {}};
            auto answer = estimate(method, snapshot->scenario, context);
            Answer entry{QString::fromUtf8(method.card.id.data()), QString::fromUtf8(method.card.title.data()), nullptr,
                         std::nullopt, int(snapshot->answers.size())};
            if (answer)
                entry.estimate = std::make_shared<Estimate>(std::move(*answer));
            else
                entry.failure = answer.error();
            snapshot->answers.push_back(entry);
        }
        snapshot->primary = std::min(1, int(snapshot->answers.size()) - 1);
        Selection selection;
        RooflinePlot roofline(&selection);
        TimelineView timeline(&selection);
        BreakdownView breakdown(&selection);
        MemoryView memory(&selection);
        for (ResultView* result : QList<ResultView*>{&roofline, &timeline, &breakdown, &memory}) {
            result->resize(820, result == &roofline ? 520 : 300);
            result->show();
            QVERIFY(QTest::qWaitForWindowExposed(result));
            result->setSnapshot(snapshot);
            QCoreApplication::processEvents();
            QVERIFY(result->grab().save(QStringLiteral("%1/plots-real-%2-%3.png")
                                            .arg(ORRERY_TEST_OUTPUT, result->id(), QTest::currentDataTag())));
        }
        QVERIFY(!roofline.isEmpty() && !breakdown.isEmpty());
    }

    void inUse_data() {
        QTest::addColumn<int>("mode");
        QTest::newRow("light") << int(Mode::Light);
        QTest::newRow("dark") << int(Mode::Dark);
    }
    void inUse() {
        QFETCH(int, mode);
        Theme::instance().setMode(Mode(mode));
        const auto save = [](QWidget& view, const QString& name) {
            QCoreApplication::processEvents();
            QVERIFY(view.grab().save(
                QStringLiteral("%1/plots-%2-%3.png").arg(ORRERY_TEST_OUTPUT, name, QTest::currentDataTag())));
        };
        const auto show = [](ResultView& view, const QSize& size, const SnapshotPtr& snapshot) {
            view.resize(size);
            view.show();
            QVERIFY(QTest::qWaitForWindowExposed(&view));
            view.setSnapshot(snapshot);
            QCoreApplication::processEvents();
        };
        Selection selection;
        RooflinePlot roofline(&selection);
        show(roofline, {900, 560}, fixture::snapshot({.bandwidth = 2e12}));
        roofline.pinBaseline();
        roofline.setSnapshot(fixture::snapshot({.bandwidth = 4.8e12}));
        const LogAxes axes = roofline.axes();
        const RooflinePoint& point = roofline.scene().now.points[0];
        QTest::mouseMove(roofline.canvas(), axes.toPixel(point.intensity, point.attained).toPoint());
        save(roofline, "roofline-hover");
        QTest::mouseMove(roofline.canvas(), axes.area.center().toPoint() + QPoint(120, 60));
        selection.select({7, 22});
        save(roofline, "roofline-selected");
        roofline.hide();

        TimelineView timeline(&selection);
        show(timeline, {900, 220}, fixture::snapshot({.prefill = true}));
        selection.clear();
        for (int i = 0; i < 9; ++i) QTest::keyClick(&timeline, Qt::Key_W);
        save(timeline, "timeline-zoomed");
        selection.select({25});
        QTest::keyClick(&timeline, Qt::Key_R);
        QTest::mouseMove(&timeline, timeline.rowRect(0).center());
        save(timeline, "timeline-area");
        timeline.hide();

        BreakdownView breakdown(&selection);
        show(breakdown, {700, 330}, fixture::snapshot({.prefill = true, .layers = 8, .failSecond = true}));
        breakdown.setBy(BreakdownBy::Block);
        save(breakdown, "breakdown-block");
        breakdown.setSnapshot(fixture::snapshot());
        breakdown.setBy(BreakdownBy::Bound);
        QTest::mouseMove(&breakdown, breakdown.parts()[1].box.center().toPoint());
        save(breakdown, "breakdown-bound");
        breakdown.hide();

        RooflinePlot empty(&selection);
        show(empty, {500, 320}, nullptr);
        save(empty, "empty");
    }
};

QTEST_MAIN(TestPlotsGallery)
#include "tst_plots_gallery.moc"
