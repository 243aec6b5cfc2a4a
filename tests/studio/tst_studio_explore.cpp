// The explore page with real mouse and keys: knobs, the front, a design that is used and undone.

#include "app/window/explore/learn_points.h"
#include "support/explore_window.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/exploration/effect_bars.h"
#include "widgets/exploration/search_plot.h"

#include <QtWidgets>

#include <functional>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioExplore : public ExploreTest {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() { open(); }
    void cleanup() { close(); }

    void nothingIsAskedYet() {
        window_->document().reset({});
        front();
        QVERIFY(!go()->isVisible());
    }
    // A chip that is no GPU and says no process: what a first knob brings can be answered as it stands.
    void aChipThatNoDefaultFitsIsSearched() {
        Project project = smallProject();
        project.hardware = {loadHardware("tpu-v4").value().hardware};
        const std::function<void(Component&)> forget = [&](Component& part) {
            std::erase_if(part.attributes, [](const Attribute& each) { return each.name == "process"; });
            std::ranges::for_each(part.children, forget);
        };
        forget(project.hardware.front().root);
        project.scenarios.front().hardware = project.hardware.front().name;
        project.methods = {"tile-hybrid", "hierarchical-roofline"};
        window_->document().reset(std::move(project));
        front();
        QVERIFY(QTest::qWaitFor([this] { return page_->form()->findChild<QComboBox*>("explore.add")->count() > 5; },
                                10000));
        const auto refused = [this] {
            const auto shown = window_->studio().live.snapshot();
            return shown && shown->primaryEstimate() && std::ranges::any_of(shown->answers, [](const ui::Answer& each) {
                       return each.method == "tile-hybrid" && each.failure;
                   });
        };
        QTRY_VERIFY_WITH_TIMEOUT(refused(), 10000);
        QCoreApplication::processEvents();
        add("batch");
        const auto& search = window_->document().state()->search;
        QVERIFY(search && search->knobs.size() == 1);
        QCOMPARE(search->method, std::string("hierarchical-roofline"));
        QCOMPARE(search->objectives, (std::vector<std::string>{"time", "energy"}));
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy() && page_->view(); }, 20000));
        QVERIFY(page_->view()->seen.answered(0));
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
        QTRY_COMPARE(page_->effects()->bars().size(), std::size_t{2});
        QCOMPARE(page_->effects()->bars().front().name, QString("hbm3.bandwidth"));
        QVERIFY(page_->table()->model()->rowCount() == static_cast<int>(page_->view()->front.points.size()));
        // The quickest point of the front: its dot is clicked, and used.
        const int best = static_cast<int>(page_->view()->front.points.front());
        QTest::mouseClick(page_->plot(), Qt::LeftButton, {}, page_->plot()->placeOf(best).toPoint());
        QCOMPARE(page_->plot()->current(), best);
        QCOMPARE(page_->table()->currentRow(), 0);
        // What is no objective stands beside it: the power and the memory of this design, as its method predicts them.
        auto* chosen = page_->findChild<ui::Label*>("explore.chosen");
        QTRY_VERIFY2(chosen->text().contains("Power") && chosen->text().contains("Memory of a device"),
                     qPrintable(chosen->text()));
        QCOMPARE(chosen->text().count("Time"), 1);  // an objective is not said twice
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
    // What a search has found becomes a method, is chosen, and is let go again by undo.
    void pointsAreLearned() {
        window_->document().reset(smallProject());
        front();
        QVERIFY(QTest::qWaitFor([this] { return page_->form()->findChild<QComboBox*>("explore.add")->count() > 5; },
                                10000));
        QVERIFY(!page_->learner()->isEnabled());
        add("hbm3.bandwidth");
        QVERIFY(QTest::qWaitFor([this] { return go()->text().contains("5"); }));
        add("sm.count");
        QVERIFY(QTest::qWaitFor([this] { return go()->text().contains("25"); }));
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy() && page_->view(); }, 20000));
        QTRY_VERIFY2(page_->learner()->isEnabled(), qPrintable(page_->learner()->toolTip()));
        const QTemporaryDir folder;
        // A name that a method's options cannot hold is refused before anything is learned.
        page_->learner()->learn(folder.filePath("a,b.json"));
        QVERIFY(!page_->learner()->isBusy() && !QFile::exists(folder.filePath("a,b.json")));
        const QString file = folder.filePath("learned.json");
        page_->learner()->learn(file);
        QVERIFY(QTest::qWaitFor([this] { return !page_->learner()->isBusy(); }, 60000));
        QVERIFY(QFile::exists(file));
        const std::string method = "surrogate(file=" + file.toStdString() + ")";
        QCOMPARE(window_->document().state()->search->method, method);
        QCOMPARE(undo()->undoText(), QString("Use the learned method"));
        // It answers the same search.
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy() && page_->view(); }, 20000));
        QCOMPARE(page_->view()->seen.size(), std::size_t{25});
        undo()->undo();
        QVERIFY(window_->document().state()->search->method != method);
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
        auto* said = page_->form()->findChild<ui::Label*>("explore.points");
        QVERIFY2(said->text().contains("many"), qPrintable(said->text()));
    }
    // By form: what fits, a limit that starts at what the question has now, typed, refused, removed, undone.
    void constraintsAreChosen() {
        start();
        const auto constraints = [this] { return window_->document().state()->search->constraints; };
        choose("explore.limit", "Fits into memory");
        QCOMPARE(constraints(), std::vector<std::string>{"fits"});
        QVERIFY(QTest::qWaitFor([this] { return entryOf("explore.limit", "Silicon area at most") > 0; }, 20000));
        choose("explore.limit", "Silicon area at most");
        QCOMPARE(constraints().size(), std::size_t{2});
        QCOMPARE(constraints()[1], std::string("area <= 814 mm²"));
        QTRY_VERIFY(entryOf("explore.limit", "Silicon area at most") < 0);
        QTRY_VERIFY(page_->form()->findChild<ui::ValueEdit*>("explore.limit.1"));
        type(page_->form()->findChild<ui::ValueEdit*>("explore.limit.1"), "858 mm2");
        QCOMPARE(constraints()[1], std::string("area <= 858 mm2"));
        QTest::qWait(50);  // the rows follow the document
        auto* edit = newest<ui::ValueEdit>("explore.limit.1");
        QVERIFY(edit && edit->stored() == "858 mm2");
        type(edit, "3 apples");
        QVERIFY(edit->diagnostic());
        QCOMPARE(constraints()[1], std::string("area <= 858 mm2"));
        auto* remove = newest<ui::IconButton>("explore.unlimit.0");
        QVERIFY(remove);
        QTest::mouseClick(remove, Qt::LeftButton);
        QVERIFY2(constraints() == std::vector<std::string>{"area <= 858 mm2"},
                 constraints().empty() ? "none" : constraints().front().c_str());
        for (int i = 0; i < 4; ++i) undo()->undo();
        QVERIFY(constraints().empty());
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
        ready({{{"hbm3.bandwidth", {}, {"1 TB/s", "8 TB/s", 2000, true}}, {"sm.count", {}, {"20", "200", 181, false}}},
               {"time", "area"},
               {},
               "hierarchical-roofline"});
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
    void aSearchFileOpens() {
        window_->document().reset({});
        page_->open(QStringLiteral(ORRERY_SOURCE "/presets/searches/hbm-or-cores.yaml"));
        QVERIFY(QTest::qWaitFor([this] { return go() && go()->text().contains("45"); }, 10000));
        QCOMPARE(window_->document().workload()->recipe.options.batch, 8);
        undo()->undo();  // all of it was one step
        QVERIFY(!window_->document().state()->search && !window_->document().hardware());
    }
    // Every word that a person may try in the palette leads here.
    void thePaletteFindsIt() {
        const auto entries = page_->findable();
        for (const char* word : {"sweep", "explore", "Pareto", "design space", "sensitivity", "history"}) {
            QVERIFY2(std::ranges::any_of(entries,
                                         [&](const ui::PaletteEntry& entry) {
                                             return entry.title.contains(QLatin1String(word), Qt::CaseInsensitive);
                                         }),
                     word);
        }
    }
};

QTEST_MAIN(TestStudioExplore)
#include "tst_studio_explore.moc"
