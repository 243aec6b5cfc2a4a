// Does the window stay as small as it was made? Every example in every layout, and every page of it, at 1280 × 720.

#include "app/window/dock_set.h"
#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/calibrate_tab.h"
#include "app/window/evidence/device_tab.h"
#include "app/window/evidence/evidence_page.h"
#include "app/window/evidence/runs_tab.h"
#include "app/window/evidence/survey_tab.h"
#include "app/window/main_window.h"
#include "app/window/page.h"
#include "app/window/serving/serving_page.h"
#include "app/window/studio.h"
#include "app/window/welcome/examples.h"
#include "support/studio_fixture.h"
#include "support/window_walk.h"
#include "widgets/common/chip.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/inspector/attribute_row.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;

namespace {

constexpr QSize smallWindow(1280, 720);
constexpr int leastPage = 260;  ///< pixels of height of a page beside the docks

}  // namespace

class TestWindowFits : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
    }
    void init() {
        QFile::remove(home_.filePath("orrery.ini"));
        window_ = std::make_unique<MainWindow>();
        window_->resize(smallWindow);
        window_->show();
        QVERIFY(QTest::qWaitFor([this] { return window_->isReady(); }));
        ui::Theme::instance().setAnimated(false);
    }
    void cleanup() {
        window_.reset();
        ui::Theme::instance().setPresenter(false);
    }

    void everyExampleInEveryLayout_data() {
        QTest::addColumn<QString>("example");
        for (const Example& example : examples())
            if (!example.cases()) QTest::newRow(qPrintable(example.id)) << example.id;
    }
    void everyExampleInEveryLayout() {
        QFETCH(QString, example);
        window_->openExample(example);
        QVERIFY(QTest::qWaitFor([this] { return window_->document().hardware() != nullptr; }, 20'000));
        // Large models are answered slowly here; what has not come by then is not waited for.
        (void)QTest::qWaitFor([this] { return window_->live().snapshot() && window_->live().upToDate(); }, 10'000);
        for (const Layout layout : {Layout::Explore, Layout::Teach, Layout::Compare, Layout::Draw}) {
            window_->setLayoutMode(layout, true);
            QTest::qWait(1);
            check(example + QLatin1Char(' ') + toText(layout));
        }
    }

    // What the class is to see of the question stays in the bar in every width of a projector: a bar hides as a whole
    // what it has no room for.
    void aClassSeesTheQuestionAtEveryWidth() {
        window_->openExample("first-light");
        QVERIFY(QTest::qWaitFor([this] { return window_->document().workload() != nullptr; }, 20'000));
        window_->setLayoutMode(Layout::Teach, true);
        for (int width = smallWindow.width(); width <= 3840; width += 80) {
            window_->resize(width, 1080);
            QTest::qWait(1);
            for (const char* id : {"workloadChooser", "batchField", "sequenceField", "planChooser", "hardwareChooser",
                                   "viewDarkButton", "helpPaletteButton"}) {
                const auto* control = window_->findChild<QWidget*>(id);
                QVERIFY2(control, id);
                const int right = control->mapTo(window_.get(), QPoint(control->width(), 0)).x();
                QVERIFY2(control->isVisible() && right <= window_->width(),
                         qPrintable(QStringLiteral("%1 at %2").arg(QLatin1String(id)).arg(width)));
            }
        }
    }

    // On a screen of four times the pixels a class reads the same picture, and the window can become small again.
    void typeForAClassGrowsWithTheWindow() {
        window_->openExample("first-light");
        QVERIFY(QTest::qWaitFor([this] { return window_->document().workload() != nullptr; }, 20'000));
        window_->setLayoutMode(Layout::Teach, true);
        window_->resize(3840, 2160);
        QTRY_COMPARE(QApplication::font().pixelSize(), 39);  // 13 px three times as large
        for (const char* id : {"workloadChooser", "batchField", "sequenceField", "planChooser", "hardwareChooser",
                               "viewDarkButton", "helpPaletteButton", "headline"}) {
            const auto* control = window_->findChild<QWidget*>(id);
            QVERIFY2(control, id);
            QTRY_VERIFY2_WITH_TIMEOUT(control->isVisible() && !control->visibleRegion().isEmpty(), id, 20'000);
        }
        // What stands beside a value has grown with it.
        const auto rows = window_->findChildren<ui::AttributeRow*>();
        QVERIFY(!rows.isEmpty());
        for (const ui::AttributeRow* row : rows) {
            const auto* name = row->findChild<ui::Label*>();
            const auto* source = row->findChild<ui::Chip*>();
            if (!row->isVisible()) continue;
            QVERIFY2(name->fontMetrics().horizontalAdvance(name->text()) <= name->width(), qPrintable(name->text()));
            QVERIFY2(source->height() >= QFontMetrics(ui::Theme::instance().font(ui::FontRole::Small)).ascent(),
                     qPrintable(QString::number(source->height())));
        }
        // A page's form has the width of its type, wherever it was built.
        window_->studio().router.show("training");
        window_->setLayoutMode(Layout::Explore, true);
        const auto* form = window_->findChild<QWidget*>("training.form");
        QVERIFY(form);
        const int narrow = form->minimumWidth();
        const auto isAbout = [&](double growth) { return std::abs(form->minimumWidth() - growth * narrow) <= 1; };
        window_->setLayoutMode(Layout::Teach, true);
        QTRY_VERIFY2(isAbout(ui::formGrowth(3)), qPrintable(QString::number(form->minimumWidth())));
        window_->resize(smallWindow);
        QTRY_VERIFY2(isAbout(ui::formGrowth(1.5)), qPrintable(QString::number(form->minimumWidth())));
        QTRY_COMPARE(QApplication::font().pixelSize(), 20);  // one and a half times
        QCOMPARE(window_->size(), smallWindow);
        window_->setLayoutMode(Layout::Explore, true);
        QCOMPARE(QApplication::font().pixelSize(), 13);
        QCOMPARE(window_->size(), smallWindow);
    }

    // Teach and Compare have no pages: one that puts the docks aside would leave an empty window.
    void aPageForItselfIsSeenInEveryLayout() {
        for (const Layout layout : {Layout::Teach, Layout::Compare, Layout::Explore}) {
            for (const char* example : {"hbm-or-cores", "warps-of-a-product", "disaggregated-serving"}) {
                window_->setLayoutMode(layout, true);
                window_->openExample(example);
                QVERIFY(QTest::qWaitFor([this] { return window_->document().hardware() != nullptr; }, 20'000));
                QVERIFY2(window_->findChild<QTabWidget*>("documents")->isVisible(), example);
                const Page* front = window_->studio().router.front();
                QVERIFY2(
                    QTest::qWaitFor([&] { return front->isVisible() && front->height() > smallWindow.height() / 2; }),
                    qPrintable(QStringLiteral("%1 %2: %3").arg(example, toText(layout)).arg(front->height())));
            }
        }
    }

    // Documents shown by their key in a layout without pages: one that fills the window does, and hidden again it
    // leaves the panels, not an empty window.
    void documentsAreShownAndHiddenByKey() {
        window_->openExample("first-light");
        QVERIFY(QTest::qWaitFor([this] { return window_->document().hardware() != nullptr; }, 20'000));
        window_->studio().router.show("serving");
        window_->setLayoutMode(Layout::Teach, true);
        const Page* front = window_->studio().router.front();
        auto* roofline = window_->docks().dock("roofline");
        QVERIFY(!front->isVisible() && roofline->isVisible());
        for (int turn = 0; turn < 2; ++turn) {
            QTest::keyClick(window_.get(), Qt::Key_0, Qt::AltModifier);
            QTRY_VERIFY2(front->isVisible() && front->height() > smallWindow.height() / 2,
                         qPrintable(QString::number(front->height())));
            QVERIFY(!roofline->isVisible());
            QTest::keyClick(window_.get(), Qt::Key_0, Qt::AltModifier);
            QTRY_VERIFY(!front->isVisible() && roofline->isVisible());
        }
    }

    void everyPageBesideTheDocks() {
        window_->openExample("which-training-plan");
        QVERIFY(QTest::qWaitFor([this] { return window_->document().hardware() != nullptr; }, 20'000));
        for (const Layout layout : {Layout::Explore, Layout::Teach, Layout::Draw}) {
            for (Page* page : window_->findChildren<Page*>()) {
                auto* tabs = window_->findChild<QTabWidget*>("documents");
                tabs->setCurrentWidget(page->parentWidget()->parentWidget());
                window_->setLayoutMode(layout, true);  // also where the page would have put the docks aside
                QTest::qWait(1);
                check(page->card().id + QLatin1Char(' ') + toText(layout));
                if (layout == Layout::Teach) continue;  // shows no page
                QVERIFY2(page->height() >= leastPage, qPrintable(QStringLiteral("%1 has %2 pixels in %3")
                                                                     .arg(page->card().id)
                                                                     .arg(page->height())
                                                                     .arg(toText(layout))));
            }
        }
    }

    // Panels that share tabs in a small window do so behind the roofline.
    void theRooflineStaysInFront() {
        window_->openExample("first-light");
        QVERIFY(QTest::qWaitFor([this] { return window_->document().hardware() != nullptr; }, 20'000));
        for (const Layout layout : {Layout::Explore, Layout::Teach}) {
            window_->setLayoutMode(layout, true);
            QCoreApplication::processEvents();
            auto *roofline = window_->docks().dock("roofline"), *timeline = window_->docks().dock("timeline");
            QVERIFY(window_->tabifiedDockWidgets(roofline).contains(timeline));
            QVERIFY2(!roofline->visibleRegion().isEmpty() && timeline->visibleRegion().isEmpty(),
                     qPrintable(toText(layout)));
        }
        window_->resize(1600, 1000);
        window_->setLayoutMode(Layout::Explore, true);
        QCoreApplication::processEvents();
        auto *roofline = window_->docks().dock("roofline"), *timeline = window_->docks().dock("timeline");
        QVERIFY(!roofline->visibleRegion().isEmpty() && !timeline->visibleRegion().isEmpty());
    }

    // Nothing is open yet: what says so takes no more room than what it stands for.
    void everyPageOfAnEmptyProject() {
        QTest::mouseClick(window_->findChild<QAbstractButton*>("welcome.lessons"), Qt::LeftButton);
        for (const Layout layout : {Layout::Explore, Layout::Draw}) {
            for (Page* page : window_->studio().router.pages()) {
                window_->studio().router.show(page);
                window_->setLayoutMode(layout, true);
                QTest::qWait(1);
                check(page->card().id + QLatin1Char(' ') + toText(layout));
                if (QTest::currentTestFailed()) return;
            }
        }
    }

    // While presenting the model, its batch and sequence, the plan, the device, the palette and the theme are in the
    // tool bar.
    void batchAndSequenceAreAtHandWhilePresenting() {
        window_->openExample("first-light");
        QVERIFY(QTest::qWaitFor([this] { return window_->document().workload() != nullptr; }, 20'000));
        auto* batch = window_->findChild<QLineEdit*>("batchField");
        auto* sequence = window_->findChild<QLineEdit*>("sequenceField");
        QVERIFY(batch && sequence);
        QVERIFY(!batch->isVisible());
        window_->setLayoutMode(Layout::Teach, true);
        auto* bar = window_->findChild<QToolBar*>("mainToolbar");
        for (const char* name : {"workloadChooser", "batchField", "sequenceField", "planChooser", "hardwareChooser",
                                 "viewDarkButton", "helpPaletteButton", "runStartButton", "editUndoButton"}) {
            auto* part = window_->findChild<QWidget*>(name);
            QTRY_VERIFY2(part && part->isVisible(), name);
            const QRect place(part->mapTo(bar, QPoint()), part->size());
            QVERIFY2(bar->rect().contains(place), name);
            QVERIFY2(part->width() >= part->minimumSizeHint().width(), name);
        }
        // Task and methods stand behind the plan, which has more to choose where more is drawn.
        auto* choices = window_->findChild<QMenu*>("planChooserMenu");
        emit choices->aboutToShow();
        QStringList entries;
        for (const QAction* each : choices->actions()) entries << each->text();
        QVERIFY2(entries.filter("Task: One pass").size() == 1 && entries.filter("Methods: ").size() == 1,
                 qPrintable(entries.join('|')));
        QUndoStack* stack = window_->document().undoStack();
        const auto options = [this] { return window_->document().workload()->recipe.options; };
        const WorkloadOptions before = options();
        const int at = stack->index();
        const auto type = [](QLineEdit* field, const QString& text) {
            QTest::mouseClick(field, Qt::LeftButton);
            field->selectAll();
            QTest::keyClicks(field, text);
            QTest::keyClick(field, Qt::Key_Return);
        };
        type(batch, "16");
        QCOMPARE(stack->index(), at + 1);
        QCOMPARE(options().batch, std::int64_t{16});
        type(sequence, "4096");
        QCOMPARE(stack->index(), at + 2);
        QCOMPARE(options().sequence, std::int64_t{4096});
        type(batch, "0");  // refused where it stands
        QCOMPARE(stack->index(), at + 2);
        QTest::keyClick(batch, Qt::Key_Escape);
        QCOMPARE(batch->text(), QString("16"));
        stack->undo();
        stack->undo();
        QVERIFY(options() == before);
        QCOMPARE(batch->text(), QString::number(before.batch));
        check("first-light, presenting, after typing");
        window_->setLayoutMode(Layout::Explore, true);
        QVERIFY(!batch->isVisible());
    }

    // The figures of a serving run stand whole above it, in as many lines as they need.
    void figuresOfServingAreNotCut() {
        window_->openExample("how-many-requests");
        auto* page = window_->findChild<ServingPage*>();
        QVERIFY(QTest::qWaitFor([&] { return page->isVisible() && page->showsAnswer() && !page->isBusy(); }, 60'000));
        for (const char* name : {"serving.headline", "serving.notes"}) {
            const auto* label = page->findChild<QLabel*>(name);
            QVERIFY2(label && label->isVisible() && !label->text().isEmpty(), name);
            QTRY_VERIFY2(label->fontMetrics()
                                 .boundingRect(QRect(0, 0, label->width(), 10'000), Qt::TextWordWrap, label->text())
                                 .height() <= label->height(),
                         qPrintable(label->text()));
        }
        check("serving");
    }

    // The time of one pass would stand above what users of a fleet see: it gives way to a page with its own answer, and
    // is back on the next one, and where no page is shown.
    void oneAnswerStandsAboveAPage() {
        window_->openExample("first-light");
        QVERIFY(QTest::qWaitFor([this] { return window_->live().snapshot() && window_->live().upToDate(); }, 20'000));
        auto* headline = window_->findChild<QWidget*>("headline");
        QVERIFY(headline && headline->isVisible());
        for (const char* page : {"serving", "training"}) {
            window_->studio().router.show(page);
            QVERIFY2(!headline->isVisible(), page);
            window_->studio().router.show("hardware");
            QVERIFY2(headline->isVisible(), page);
        }
        window_->studio().router.show("serving");
        window_->setLayoutMode(Layout::Teach, true);
        QVERIFY(headline->isVisible());
    }

    // Opening makes what is seen, and nothing that a page for itself puts aside or that waits behind a tab: all of it
    // at once held the window up for a quarter of a second.
    void openingMakesWhatIsSeen() {
        auto* page = window_->findChild<EvidencePage*>();
        window_->openExample("compare-methods");
        QVERIFY(page->isVisible() && page->accuracy() && !page->device());
        for (const char* dock : {"roofline", "inspector", "comparison", "timeline", "methods", "fidelity", "lesson"})
            QVERIFY2(!window_->docks().dock(dock)->isMade(), dock);
        QTRY_VERIFY(page->survey() && page->calibrate() && page->runs() && page->device() && page->schedules());
        for (int tab = 0; tab < page->tabs()->count(); ++tab)
            QVERIFY2(!page->tabs()->widget(tab)->children().isEmpty(), qPrintable(page->tabs()->tabText(tab)));
        QCOMPARE(page->tabs()->currentWidget(), page->accuracy());
        window_->studio().router.show("hardware");
        auto *roofline = window_->docks().dock("roofline"), *behind = window_->docks().dock("fidelity");
        QTRY_VERIFY(roofline->isMade() && !roofline->visibleRegion().isEmpty());
        QVERIFY(!behind->isMade());
        window_->docks().reveal("fidelity");
        QTRY_VERIFY(behind->isMade() && !behind->visibleRegion().isEmpty());
    }

    // What was arranged in a high window is not what a low one begins with; each keeps its own.
    void aLowWindowKeepsItsOwnPanels() {
        auto *roofline = window_->docks().dock("roofline"), *timeline = window_->docks().dock("timeline");
        window_->openExample("first-light");
        QVERIFY(QTest::qWaitFor([this] { return window_->document().hardware() != nullptr; }, 20'000));
        const auto stacked = [&] { return window_->tabifiedDockWidgets(roofline).contains(timeline); };
        window_->resize(1600, 1000);
        window_->setLayoutMode(Layout::Explore, true);
        QVERIFY(!stacked());
        window_->setLayoutMode(Layout::Teach);  // remembers Explore
        window_->resize(smallWindow);
        window_->setLayoutMode(Layout::Explore);
        QVERIFY(stacked());
        window_->setLayoutMode(Layout::Teach);
        window_->resize(1600, 1000);
        window_->setLayoutMode(Layout::Explore);
        QVERIFY(!stacked());
    }

    // A design without an array: the page says so without a scroll bar to the side, and has a way on.
    void aPageWithoutAnArrayOffersOne() {
        window_->openExample("first-light");
        QVERIFY(QTest::qWaitFor([this] { return window_->live().snapshot() && window_->live().upToDate(); }, 20'000));
        window_->studio().router.show("mapping");
        auto* add = window_->findChild<QPushButton*>("mapping.addArray");
        QTRY_VERIFY(add && add->isVisible());
        for (QWidget* up = add; up; up = up->parentWidget())
            if (auto* frame = qobject_cast<QScrollArea*>(up)) QVERIFY(!frame->horizontalScrollBar()->isVisible());
        auto* example = add->parentWidget()->findChild<QPushButton*>("emptyStateButton");
        QVERIFY(example && example->isVisible());
        const int at = window_->document().undoStack()->index();
        add->click();
        QCOMPARE(window_->document().undoStack()->index(), at + 1);
        QCOMPARE(window_->document().state()->hardware.size(), std::size_t{2});
        QTRY_VERIFY_WITH_TIMEOUT(!add->isVisible(), 20'000);
        window_->document().undoStack()->undo();
        QTRY_VERIFY_WITH_TIMEOUT(add->isVisible(), 20'000);
        example->click();
        QTRY_COMPARE_WITH_TIMEOUT(window_->document().hardware()->name, std::string("Eyeriss-like array"), 20'000);
    }

private:
    void check(const QString& what) {
        // Of the facts beside the answer each stands whole, or in the tip alone.
        if (const auto* facts = window_->findChild<QLabel*>("headlineFacts"); facts && facts->isVisible()) {
            QTRY_VERIFY2_WITH_TIMEOUT(  // a longer text is given its room with the next turn
                facts->fontMetrics().horizontalAdvance(facts->text()) <= facts->width() + 1 ||
                    !facts->text().contains(QStringLiteral("  ·  ")),
                qPrintable(what + QStringLiteral(" gives %1 pixels to ").arg(facts->width()) + facts->text()), 3000);
        }
        const QString sideways = ui::fixture::scrollsSideways(*window_);
        QVERIFY2(sideways.isEmpty(), qPrintable(what + QStringLiteral(": ") + sideways));
        const QSize least = window_->minimumSizeHint(), is = window_->size();
        const bool wide = least.width() > smallWindow.width(), tall = least.height() > smallWindow.height();
        QVERIFY2(!wide && !tall, qPrintable(QStringLiteral("%1: the window needs %2 x %3\n    %4")
                                                .arg(what)
                                                .arg(least.width())
                                                .arg(least.height())
                                                .arg(ui::fixture::culprits(*window_, wide))));
        QVERIFY2(
            is == smallWindow,
            qPrintable(QStringLiteral("%1: the window became %2 x %3").arg(what).arg(is.width()).arg(is.height())));
    }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(TestWindowFits)
#include "tst_window_fits.moc"
