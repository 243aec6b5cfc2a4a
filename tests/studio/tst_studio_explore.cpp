// The explore page with real mouse and keys: knobs, the front, a design that is used and undone.

#include "app/window/explore/explore_form.h"
#include "app/window/explore/explore_page.h"
#include "app/window/main_window.h"
#include "app/window/studio.h"
#include "support/studio_fixture.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/theme.h"
#include "widgets/common/value_edit.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/exploration/effect_bars.h"
#include "widgets/exploration/search_plot.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioExplore : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
    }
    void init() {
        QFile::remove(home_.filePath("orrery.ini"));
        window_ = std::make_unique<MainWindow>();
        window_->resize(1600, 1000);
        window_->show();
        QVERIFY(QTest::qWaitFor([this] { return window_->isReady(); }));
        page_ = window_->findChild<ExplorePage*>();
        QVERIFY(page_);
    }
    void cleanup() { window_.reset(); }

    void nothingIsAskedYet() {
        window_->document().reset({});
        front();
        QVERIFY(!go()->isVisible());
    }
    // From a project without a search: a knob is added, another one, the search runs, a dot is used, all is undone.
    void hbmOrCoresByMouse() {
        window_->document().reset(smallProject());
        front();
        QVERIFY(QTest::qWaitFor([this] { return page_->form()->findChild<QComboBox*>("explore.add")->count() > 5; },
                                10000));
        QVERIFY(!go()->isEnabled());
        add("hbm3.bandwidth");
        QVERIFY(QTest::qWaitFor([this] { return go()->text().contains("5"); }));
        add("sm.count");
        QVERIFY(QTest::qWaitFor([this] { return go()->text().contains("25"); }));
        QCOMPARE(undo()->count(), 2);
        const auto& search = window_->document().state()->search;
        QVERIFY(search && search->knobs.size() == 2);
        QCOMPARE(search->objectives, (std::vector<std::string>{"time", "area"}));
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy() && page_->view(); }, 20000));
        QCOMPARE(page_->view()->seen.size(), std::size_t{25});
        QCOMPARE(page_->effects()->bars().size(), std::size_t{2});
        QCOMPARE(page_->effects()->bars().front().name, QString("hbm3.bandwidth"));
        QVERIFY(page_->table()->model()->rowCount() == static_cast<int>(page_->view()->front.points.size()));
        // The quickest point of the front: its dot is clicked, and used.
        const int best = static_cast<int>(page_->view()->front.points.front());
        QTest::mouseClick(page_->plot(), Qt::LeftButton, {}, page_->plot()->placeOf(best).toPoint());
        QCOMPARE(page_->plot()->current(), best);
        QCOMPARE(page_->table()->currentRow(), 0);
        const double before = bandwidthOf(window_->document(), "hbm3");
        QTest::mouseClick(button("explore.use"), Qt::LeftButton);
        QCOMPARE(undo()->count(), 3);
        QCOMPARE(bandwidthOf(window_->document(), "hbm3"), 2 * before);
        QVERIFY(undo()->undoText().startsWith("Use hbm3.bandwidth"));
        undo()->undo();
        QCOMPARE(bandwidthOf(window_->document(), "hbm3"), before);
        undo()->undo();
        undo()->undo();
        QVERIFY(!window_->document().isModified());
        QVERIFY(!window_->document().state()->search);
    }
    void valuesAreTypedAndRefused() {
        start();
        auto* values = page_->form()->findChild<ui::ValueEdit*>("explore.values.batch");
        QVERIFY(values);
        type(values, "1, 2, 4, 8");
        QVERIFY(QTest::qWaitFor([this] { return go()->text().contains("4"); }));
        values = page_->form()->findChild<ui::ValueEdit*>("explore.values.batch");
        type(values, "1 .. , 3 steps, sideways");
        QVERIFY(values->diagnostic());
        QCOMPARE(window_->document().state()->search->knobs.front().values.size(), std::size_t{4});
        // What no question can set is said by the search, and nothing else happens.
        values->setFocus();
        type(values, "1, many");
        QVERIFY(QTest::qWaitFor([this] { return !go()->isEnabled(); }));
        auto* constraints = page_->form()->findChild<ui::ValueEdit*>("explore.constraints");
        type(constraints, "time < 3");
        QVERIFY(constraints->diagnostic());
    }
    // From the inspector of a drawn part: its number becomes a knob, the page comes to the front.
    void aNumberIsTurnedFromWhereItStands() {
        window_->document().reset(smallProject());
        window_->studio().router.show(QStringLiteral("hardware"));
        window_->studio().inspection.showComponent(pathOf(window_->document(), "hbm3"));
        window_->studio().inspection.reveal();
        QAction* turn = nullptr;
        QVERIFY(QTest::qWaitFor([&] {
            turn = window_->findChild<QAction*>("inspector.bandwidth.turn");
            return turn != nullptr;
        }));
        turn->trigger();
        QVERIFY(QTest::qWaitFor([this] { return page_->isVisible(); }));
        const auto& search = window_->document().state()->search;
        QVERIFY(search && search->knobs.size() == 1);
        QCOMPARE(search->knobs.front().path, std::string("hbm3.bandwidth"));
        turn->trigger();  // there already
        QCOMPARE(window_->document().state()->search->knobs.size(), std::size_t{1});
        page_->turn(pathOf(window_->document(), "tensor"), "macs.fp16");
        QCOMPARE(window_->document().state()->search->knobs.back().path, std::string("tensor.macs.fp16"));
        QVERIFY(window_->document().state()->search->knobs.back().range.to.ends_with("cycle"));
        page_->turn(pathOf(window_->document(), "sm"), "count");
        QCOMPARE(window_->document().state()->search->knobs.back().path, std::string("sm.count"));
        QCOMPARE(undo()->count(), 3);
    }
    void aKnobIsRemoved() {
        start();
        auto* remove = page_->form()->findChild<ui::IconButton*>("explore.remove.batch");
        QTest::mouseClick(remove, Qt::LeftButton);
        QVERIFY(window_->document().state()->search->knobs.empty());
        undo()->undo();
        QCOMPARE(window_->document().state()->search->knobs.size(), std::size_t{1});
    }
    void aSearchIsStopped() {
        Project project = smallProject();
        project.search = SearchSettings{
            {{"hbm3.bandwidth", {}, {"1 TB/s", "8 TB/s", 2000, true}}, {"sm.count", {}, {"20", "200", 181, false}}},
            {"time", "area"},
            {},
            "hierarchical-roofline"};
        window_->document().reset(project);
        front();
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return page_->view() && page_->view()->seen.size() > 600; }, 20000));
        QCOMPARE(go()->text(), QString("Stop"));
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy(); }, 5000));
        QVERIFY(page_->view()->seen.size() < 362'000);
    }
    void itIsKeptWithTheProject() {
        start();
        const QString file = home_.filePath("kept.yaml");
        QVERIFY_DONE(window_->document().saveAs(file));
        const SearchSettings before = *window_->document().state()->search;
        QVERIFY_DONE(window_->document().load(file));
        QVERIFY(window_->document().state()->search == before);
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
    void aSearchFileOpens() {
        window_->document().reset({});
        page_->open(QStringLiteral(ORRERY_SOURCE "/presets/searches/hbm-or-cores.yaml"));
        QVERIFY(QTest::qWaitFor([this] { return go() && go()->text().contains("45"); }, 10000));
        QCOMPARE(window_->document().workload()->recipe.options.batch, 8);
    }
    void fastEnoughForAHundredThousandDots() {
        ui::SearchPlotData data;
        RandomStream random(1);
        for (int i = 0; i < 100'000; ++i) {
            for (ui::SearchAxis* axis : {&data.x, &data.y}) {
                axis->value.push_back(1 + random.uniform());
                axis->low.push_back(axis->value.back());
                axis->high.push_back(axis->value.back());
            }
            data.places.push_back(i == 7 ? ui::PointPlace::Front : ui::PointPlace::Beaten);
        }
        window_->document().reset(smallProject());
        front();
        page_->plot()->setData(data);
        QElapsedTimer timer;
        timer.start();
        page_->plot()->repaint();
        qInfo("first picture of 100,000 dots: %lld ms", timer.elapsed());
        timer.start();
        page_->plot()->setCurrent(7);
        page_->plot()->repaint();
        qInfo("again: %lld ms", timer.elapsed());
        QCOMPARE(page_->plot()->indexAt(page_->plot()->placeOf(7)), 7);
    }

private:
    void front() {
        window_->findChild<Studio*>();
        window_->studio().router.show(page_);
        QVERIFY(QTest::qWaitFor([this] { return page_->isVisible() && page_->form(); }));
        QTest::qWait(50);
    }
    void start() {
        Project project = smallProject();
        project.search = SearchSettings{{{"batch", {"1", "8"}, {}}}, {"time", "energy"}, {}, "roofline"};
        window_->document().reset(project);
        front();
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
    }
    void add(const char* path) {
        auto* box = page_->form()->findChild<QComboBox*>("explore.add");
        for (int i = 0; i < box->count(); ++i) {
            if (!box->itemText(i).startsWith(QLatin1String(path) + QLatin1Char(' '))) continue;
            box->setCurrentIndex(i);
            emit box->activated(i);
            return;
        }
        QFAIL(path);
    }
    static void type(ui::ValueEdit* edit, const char* text) {
        edit->setFocus();
        edit->selectAll();
        QTest::keyClicks(edit, text);
        QTest::keyClick(edit, Qt::Key_Return);
    }
    QPushButton* button(const char* name) const { return page_->findChild<QPushButton*>(name); }
    QPushButton* go() const { return button("explore.go"); }
    QUndoStack* undo() const { return window_->document().undoStack(); }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
    ExplorePage* page_ = nullptr;
};

QTEST_MAIN(TestStudioExplore)
#include "tst_studio_explore.moc"
