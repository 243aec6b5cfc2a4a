// Can lessons be done in the window? Every one once by what Show me changes, with all boxes ticked by the answers that
// the window shows; every one with mouse and keys; and a hand-out on paper.

#include "app/window/actions.h"
#include "app/window/help/find_anything.h"
#include "app/window/lessons/hand_out.h"
#include "app/window/lessons/lesson_run.h"
#include "app/window/lessons/lessons.h"
#include "support/studio_window.h"
#include "widgets/common/label.h"

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioLessons : public QObject, private StudioWindow {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() { start(); }
    void cleanup() { window.reset(); }

    void theyAreFound() {
        auto* link = window->findChild<QAbstractButton*>("welcome.lessons");
        QVERIFY(link && link->isVisible());
        QTest::mouseClick(link, Qt::LeftButton);
        QTRY_VERIFY(window->docks().dock("lesson")->isVisible());
        for (const LessonHead& head : shippedLessons()) {
            const QString id = QString::fromStdString(head.id);
            QVERIFY2(window->actions().find("lesson." + id), qPrintable(id));
            QVERIFY2(button("lesson.open." + id), qPrintable(id));
        }
        QVERIFY(window->actions().find("helpLessons"));
    }

    void everyLessonByShowMe_data() {
        QTest::addColumn<QString>("id");
        for (const LessonHead& head : shippedLessons())
            QTest::newRow(head.id.c_str()) << QString::fromStdString(head.id);
    }
    void everyLessonByShowMe() {
        QFETCH(QString, id);
        window->actions().find("lesson." + id)->trigger();
        LessonRun* run = &window->lessons();
        QVERIFY(run->lesson());
        QTRY_VERIFY_WITH_TIMEOUT(run->hasAnswers(), 30000);
        for (int step = 0; step < int(run->lesson()->steps.size()); ++step) {
            run->goTo(step);
            QTRY_VERIFY_WITH_TIMEOUT(!run->state().before.empty(), 30000);
            for (int task = 0; task < int(run->current().tasks.size()); ++task) {
                QVERIFY2(!run->done(step, task), run->current().tasks[std::size_t(task)].text.c_str());
                run->showMe(task);
            }
            const auto right = [&](int task) {
                return evaluate(run->current().tasks[std::size_t(task)].answer->value, run->state());
            };
            for (int task = 0; task < int(run->current().tasks.size()); ++task) {
                const LessonTask& asked = run->current().tasks[std::size_t(task)];
                if (!asked.answer) continue;
                // The answer may still be on its way: the right one is that of the newest.
                QTRY_VERIFY_WITH_TIMEOUT(right(task) && run->answer(task, *right(task)) == true, 30000);
            }
            for (int task = 0; task < int(run->current().tasks.size()); ++task)
                QTRY_VERIFY2_WITH_TIMEOUT(run->done(step, task), run->current().tasks[std::size_t(task)].text.c_str(),
                                          30000);
        }
        QVERIFY(run->finished());
    }

    void byHand_data() {
        QTest::addColumn<QString>("id");
        for (const LessonHead& head : shippedLessons())
            QTest::newRow(head.id.c_str()) << QString::fromStdString(head.id);
    }
    /// Opened from the list, hints asked for, changes shown, numbers typed, Next pressed: with the mouse alone but for
    /// the numbers.
    void byHand() {
        QFETCH(QString, id);
        QTest::mouseClick(window->findChild<QAbstractButton*>("welcome.lessons"), Qt::LeftButton);
        QTRY_VERIFY(button("lesson.open." + id));
        click("lesson.open." + id);
        LessonRun& run = window->lessons();
        QTRY_VERIFY_WITH_TIMEOUT(run.hasAnswers(), 30000);
        QCOMPARE(run.lesson()->head.id, id.toStdString());
        for (int step = 0; step < int(run.lesson()->steps.size()); ++step) {
            QCOMPARE(run.step(), step);
            QTRY_VERIFY_WITH_TIMEOUT(!run.state().before.empty(), 30000);
            const int tasks = int(run.current().tasks.size());
            for (int task = 0; task < tasks; ++task) {
                const LessonTask& asked = run.current().tasks[std::size_t(task)];
                const QString number = QString::number(task + 1);
                if (asked.changes.empty()) continue;
                click("lesson.hint" + number);
                QTRY_VERIFY(shown<ui::Label>("lesson.word" + number));
                const int before = window->document().undoStack()->index();
                click("lesson.show" + number);
                QVERIFY(window->document().undoStack()->index() > before);
            }
            for (int task = 0; task < tasks; ++task) {
                if (run.current().tasks[std::size_t(task)].answer) continue;
                QTRY_VERIFY_WITH_TIMEOUT(run.done(step, task), 30000);
            }
            for (int task = 0; task < tasks; ++task) {
                const LessonTask& asked = run.current().tasks[std::size_t(task)];
                if (!asked.answer) continue;
                const QString number = QString::number(task + 1);
                auto* line = shown<QLineEdit>("lesson.answer" + number);
                QVERIFY(line);
                line->setFocus();
                QTest::keyClicks(line, "abc");
                click("lesson.check" + number);
                QVERIFY(!run.done(step, task));
                line->selectAll();
                QTest::keyClicks(line, QString::number(evaluate(asked.answer->value, run.state()).value(), 'g', 6));
                click("lesson.check" + number);
                QTRY_VERIFY(run.done(step, task));
            }
            QTRY_COMPARE(shown<ui::Label>("lesson.tick1")->text(), QStringLiteral("☑"));
            if (step + 1 < int(run.lesson()->steps.size())) click("lesson.next");
        }
        QVERIFY(run.finished());
        window->grab().save(QStringLiteral(ORRERY_TEST_OUTPUT "/lesson-%1.png").arg(id));
    }

    void handOutsAreWritten() {
        QTemporaryDir folder;
        for (const LessonHead& head : shippedLessons()) {
            const Lesson lesson = readLessonFile(head.file).value();
            for (const char* ending : {"pdf", "html", "md"}) {
                const QString file = folder.filePath(QString::fromStdString(head.id) + "." + ending);
                QVERIFY_DONE(writeHandOut(lesson, {}, file));
                QVERIFY(QFileInfo(file).size() > 500);
            }
        }
        QVERIFY(!writeHandOut(readLessonFile(shippedLessons().front().file).value(), {}, "/no/such/folder/a.md"));
    }

private:
    // Rows of the step before may not have gone yet.
    template <class Widget>
    Widget* shown(const QString& id) {
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        for (auto* each : window->findChildren<Widget*>(id))
            if (each->isVisible()) return each;
        return nullptr;
    }
    QAbstractButton* button(const QString& id) { return shown<QAbstractButton>(id); }
    void click(const QString& id) {
        QAbstractButton* found = button(id);
        QVERIFY2(found, qPrintable(id));
        QTest::mouseClick(found, Qt::LeftButton);
        QCoreApplication::processEvents();
    }
};

QTEST_MAIN(TestStudioLessons)
#include "tst_studio_lessons.moc"
