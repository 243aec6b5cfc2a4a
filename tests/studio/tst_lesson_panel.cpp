// Can a lesson be read and ended in a small window? Its words and buttons stand whole in every layout, its tab stays in
// front, the last step says that it is the last, and the list remembers what was done.

#include "app/window/actions.h"
#include "app/window/lessons/hand_out.h"
#include "app/window/lessons/lesson_run.h"
#include "app/window/page.h"
#include "app/window/studio.h"
#include "support/studio_window.h"

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestLessonPanel : public QObject, private StudioWindow {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() {
        start();
        window->resize(1280, 720);
    }
    void cleanup() {
        window.reset();
        ui::Theme::instance().setPresenter(false);
    }

    void itHasRoomInEveryLayout() {
        STEP(open("roofline"));
        for (const Layout layout : {Layout::Explore, Layout::Teach, Layout::Explore, Layout::Draw, Layout::Compare}) {
            window->setLayoutMode(layout);
            QTest::qWait(50);
            const Dock* dock = window->docks().dock("lesson");
            const QByteArray where = toText(layout).toUtf8();
            QVERIFY2(dock->isVisible() && !dock->visibleRegion().isEmpty(), where + ": it is not in front");
            QVERIFY2(3 * dock->height() >= window->height(),
                     where + QStringLiteral(": %1 of %2").arg(dock->height()).arg(window->height()).toUtf8());
            QVERIFY2(window->width() == 1280 && window->height() == 720, where + ": the window grew");
            for (int step = 0; step < int(window->lessons().lesson()->steps.size()); ++step) {
                window->lessons().goTo(step);
                for (auto* hint : window->findChildren<QAbstractButton*>(QRegularExpression("lesson\\.hint.*")))
                    if (hint->isVisible()) hint->click();  // more buttons: Show me
                QTest::qWait(20);
                STEP(standsWhole(where));
            }
            window->lessons().goTo(0);
        }
    }

    // Beside a comparison, in a projector's type, three lines of text were left.
    void aClassReadsSeveralLinesAtOnce() {
        window->setLayoutMode(Layout::Teach, true);
        STEP(open("silent-shift"));
        for (int step = 0; step < int(window->lessons().lesson()->steps.size()); ++step) {
            window->lessons().goTo(step);
            QTest::qWait(50);
            const auto* scroll = window->findChild<QScrollArea*>("lesson.scroll");
            const auto* text = window->findChild<QLabel*>("lesson.text");
            const int lines = scroll->viewport()->height() / text->fontMetrics().lineSpacing();
            QVERIFY2(window->docks().dock("comparison")->isVisible() && lines >= 5,
                     qPrintable(QStringLiteral("step %1: %2 lines").arg(step + 1).arg(lines)));
        }
        QCOMPARE(window->size(), QSize(1280, 720));
    }

    void itSaysThatItIsDone() {
        STEP(open("roofline"));
        LessonRun& run = window->lessons();
        const int steps = int(run.lesson()->steps.size());
        auto* next = window->findChild<QAbstractButton*>("lesson.next");
        auto* praise = window->findChild<QLabel*>("lesson.praise");
        run.goTo(steps - 1);
        QVERIFY2(!next->isEnabled(), "there is no next step");
        for (int step = 0; step < steps; ++step) {
            run.goTo(step);
            for (int task = 0; task < int(run.current().tasks.size()); ++task) {
                run.showMe(task);
                QTRY_VERIFY_WITH_TIMEOUT(!run.state().before.empty() && run.state().now.contains("roofline.latency"),
                                         30000);
            }
            for (int task = 0; task < int(run.current().tasks.size()); ++task) {
                const LessonTask& asked = run.current().tasks[std::size_t(task)];
                if (!asked.answer)
                    QTRY_VERIFY_WITH_TIMEOUT(run.done(step, task), 30000);
                else
                    QTRY_VERIFY_WITH_TIMEOUT(
                        run.answer(task, evaluate(asked.answer->value, run.state()).value()) == true, 30000);
            }
        }
        QVERIFY(run.finished());
        // Seen without scrolling, and the button leads somewhere.
        QVERIFY(praise->isVisible() && praise->visibleRegion().boundingRect().height() == praise->height());
        QVERIFY(!window->findChild<QScrollArea*>("lesson.scroll")->isAncestorOf(praise));
        QVERIFY2(next->isEnabled() && next->text() == "All lessons", qPrintable(next->text()));
        next->click();
        QVERIFY(!run.lesson());
        auto* listed = window->findChild<QAbstractButton*>("lesson.open.roofline");
        QVERIFY2(listed->isVisible() && listed->text().startsWith("☑"), qPrintable(listed->text()));
        QVERIFY(!window->findChild<QAbstractButton*>("lesson.open.waves")->text().contains("☑"));
        QCOMPARE(LessonRun::finishedLessons(), QStringList{"roofline"});
    }

    // In a low window a hint, and what is said of a wrong number, come into sight by themselves.
    void whatIsSaidIsSeen() {
        STEP(open("roofline"));
        window->setLayoutMode(Layout::Teach);
        window->lessons().goTo(0);
        QTest::qWait(50);
        const auto seen = [this](const char* id) {
            const auto* label = window->findChild<QLabel*>(id);
            return label && label->isVisible() && label->visibleRegion().boundingRect().height() == label->height();
        };
        auto* line = window->findChild<QLineEdit*>("lesson.answer2");
        QVERIFY(line);
        line->setFocus();
        QTest::keyClicks(line, "2");
        QTest::keyClick(line, Qt::Key_Return);
        QTRY_VERIFY2(seen("lesson.word2"), "the verdict is out of sight");
        window->findChild<QScrollArea*>("lesson.scroll")->verticalScrollBar()->setValue(0);
        QTest::mouseClick(window->findChild<QAbstractButton*>("lesson.hint2"), Qt::LeftButton);
        QTRY_VERIFY2(seen("lesson.word2"), "the hint is out of sight");
    }

    // Teach shows no canvas to select on: the inspector holds the part that the step is about.
    void theInspectorHoldsWhatAStepChanges() {
        STEP(open("roofline"));
        window->setLayoutMode(Layout::Teach);
        LessonRun& run = window->lessons();
        window->components().select({});
        run.goTo(1);
        const auto part = findComponent(window->document().hardware()->root, "hbm3");
        QVERIFY(part);
        QCOMPARE(window->components().paths(), ComponentPaths{*part});
        STEP(open("waves"));
        window->components().select({});
        run.goTo(1);
        QCOMPARE(window->components().paths(),
                 ComponentPaths{findComponent(window->document().hardware()->root, "sm").value()});
        // A page that stands alone is shown, where the layout shows none.
        STEP(open("batching"));
        window->setLayoutMode(Layout::Teach);
        for (int step = 0; step < int(run.lesson()->steps.size()); ++step) {
            run.goTo(step);
            if (run.current().page != "serving") continue;
            QTRY_VERIFY(window->studio().router.front()->isVisible());
            QCOMPARE(window->studio().router.front()->card().id, QString("serving"));
        }
    }

    // Titles break into lines, so that each is read whole in a narrow dock.
    void titlesAreReadWhole() {
        window->actions().find("helpLessons")->trigger();
        Dock* dock = window->docks().dock("lesson");
        window->resizeDocks({dock}, {220}, Qt::Horizontal);
        QTest::qWait(50);
        const auto all = window->findChildren<QAbstractButton*>(QRegularExpression("lesson\\.open\\..*"));
        QVERIFY(all.size() >= 10);
        for (const QAbstractButton* each : all) {
            const QRect lines =
                each->fontMetrics().boundingRect({0, 0, each->width() - 16, 10000}, Qt::TextWordWrap, each->text());
            QVERIFY2(lines.height() <= each->height() && lines.width() <= each->width() - 16,
                     qPrintable(each->text() + QStringLiteral(": %1 × %2").arg(each->width()).arg(each->height())));
        }
    }

    // An exercise is no work to be saved: only what was done after it is asked about.
    void anExerciseIsLeftWithoutAQuestion() {
        STEP(open("roofline"));
        LessonRun& run = window->lessons();
        run.goTo(2);
        run.showMe(0);
        QVERIFY(window->document().isModified());
        int asked = 0;
        QTimer watch;
        connect(&watch, &QTimer::timeout, this, [&] {
            if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) {
                ++asked;
                box->button(QMessageBox::Cancel)->click();
            }
        });
        watch.start(20);
        window->actions().find("lesson.waves")->trigger();
        QCOMPARE(asked, 0);
        QCOMPARE(run.lesson()->head.id, std::string("waves"));
        run.showMe(0);
        run.leave();
        window->actions().find("lesson.roofline")->trigger();
        QCOMPARE(asked, 0);
        QCOMPARE(run.lesson()->head.id, std::string("roofline"));
        run.goTo(2);
        run.leave();
        ProjectState renamed = *window->document().state();
        renamed.name = "my own";
        QVERIFY(window->document().apply(Edit{std::move(renamed), "Rename", {}, {}, {}}));
        window->actions().find("lesson.waves")->trigger();
        QCOMPARE(asked, 1);
        QVERIFY(!run.lesson());
    }

    // What was done to the project since is not on paper.
    void theHandOutIsOfTheBeginning() {
        QTemporaryDir folder;
        STEP(open("roofline"));
        LessonRun& run = window->lessons();
        const auto paper = [&](const char* name) {
            const QString file = folder.filePath(name);
            if (!writeHandOut(*run.lesson(), run.state().start, file)) return QByteArray();
            QFile written(file);
            return written.open(QIODevice::ReadOnly) ? written.readAll() : QByteArray();
        };
        const QByteArray before = paper("before.md");
        QVERIFY(before.contains("3.35 TB/s"));
        run.goTo(2);
        run.showMe(0);
        QTRY_VERIFY_WITH_TIMEOUT(run.done(2, 0), 30000);
        QCOMPARE(paper("after.md"), before);
    }

private:
    void open(const QString& id) {
        window->actions().find("lesson." + id)->trigger();
        QVERIFY(window->lessons().lesson());
        QTRY_VERIFY_WITH_TIMEOUT(window->lessons().hasAnswers(), 30000);
    }
    void standsWhole(const QByteArray& where) {
        auto* scroll = window->findChild<QScrollArea*>("lesson.scroll");
        const QWidget* content = scroll->widget();
        QVERIFY2(content->width() <= scroll->viewport()->width(),
                 where + QStringLiteral(": %1 in %2").arg(content->width()).arg(scroll->viewport()->width()).toUtf8());
        for (const QWidget* each : content->findChildren<QWidget*>()) {
            if (!each->isVisible()) continue;
            const QRect place(each->mapTo(content, QPoint()), each->size());
            const QByteArray what = where + ": " + each->objectName().toUtf8();
            QVERIFY2(place.left() >= 0 && place.right() < content->width(), what);
            if (const auto* button = qobject_cast<const QAbstractButton*>(each))
                QVERIFY2(button->fontMetrics().horizontalAdvance(button->text()) <= button->width(), what);
        }
        for (const char* id : {"lesson.back", "lesson.next"}) {  // the others stand at the end of the step
            const auto* button = window->findChild<QAbstractButton*>(id);
            QVERIFY2(button->visibleRegion().boundingRect() == button->rect(), where + ": " + id);
        }
    }
};

QTEST_MAIN(TestLessonPanel)
#include "tst_lesson_panel.moc"
