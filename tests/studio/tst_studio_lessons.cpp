// Can lessons be done in the window? Every one once by what Show me changes, with all boxes ticked by the answers that
// the window shows; every one with mouse and keys; and a hand-out on paper.

#include "app/window/actions.h"
#include "app/window/help/find_anything.h"
#include "app/window/lessons/hand_out.h"
#include "app/window/lessons/lesson_run.h"
#include "app/window/lessons/lessons.h"
#include "hardware/attribute_at.h"
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
    /// In a window of 1280 × 720: opened from the list, hints asked for, done where a person does it (on the drawing,
    /// in the inspector, in the toolbar, in the form of the page), numbers typed, Next pressed. Of one lesson *Show me*
    /// is pressed.
    void byHand() {
        QFETCH(QString, id);
        window->resize(1280, 720);
        QTest::mouseClick(window->findChild<QAbstractButton*>("welcome.lessons"), Qt::LeftButton);
        QTRY_VERIFY(button("lesson.open." + id));
        STEP(click("lesson.open." + id));
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
                STEP(click("lesson.hint" + number));
                QTRY_VERIFY(shown<ui::Label>("lesson.word" + number));
                const int before = window->document().undoStack()->index();
                if (id == "roofline" && step == 1) {
                    STEP(click("lesson.show" + number));
                } else {
                    for (const auto& [key, value] : asked.changes) STEP(change(key, QString::fromStdString(value)));
                }
                QVERIFY(window->document().undoStack()->index() > before);
            }
            for (int task = 0; task < tasks; ++task) {
                const LessonTask& asked = run.current().tasks[std::size_t(task)];
                if (!asked.answer) QTRY_VERIFY2_WITH_TIMEOUT(run.done(step, task), asked.text.c_str(), 30000);
            }
            for (int task = 0; task < tasks; ++task) {
                const LessonTask& asked = run.current().tasks[std::size_t(task)];
                if (!asked.answer) continue;
                const QString number = QString::number(task + 1);
                auto* line = shown<QLineEdit>("lesson.answer" + number);
                QVERIFY(line);
                line->setFocus();
                QTest::keyClicks(line, "abc");
                STEP(click("lesson.check" + number));
                QVERIFY(!run.done(step, task));
                line->selectAll();
                QTest::keyClicks(line, QString::number(evaluate(asked.answer->value, run.state()).value(), 'g', 6));
                STEP(click("lesson.check" + number));
                QTRY_VERIFY(run.done(step, task));
            }
            QTRY_COMPARE(shown<ui::Label>("lesson.tick1")->text(), QStringLiteral("☑"));
            if (step + 1 < int(run.lesson()->steps.size())) STEP(click("lesson.next"));
        }
        QVERIFY(run.finished());
        QCOMPARE(window->size(), QSize(1280, 720));
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
    /// What *Show me* would do, by hand.
    void change(const std::string& key, const QString& value) {
        const QString words = QString::fromStdString(key);
        if (key == "hardware") return chooseInMenu("hardwareChooser", value);
        if (key == "plan") return plan(value);
        if (key == "serving.scheduler") return choose("serving.policy", value);
        if (key == "serving.max_sequences") {
            auto* settings = shown<QAbstractButton>("serving.numbers");
            QVERIFY(settings);
            if (!settings->isChecked()) STEP(press(settings));
            return number("serving.option.maxSequences", value);
        }
        if (!words.contains('.')) return typeInto(words, value);  // an option of the model, on its page
        const auto at = attributeAt(root(), key);
        QVERIFY2(at, key.c_str());
        STEP(clickPart(at->component));
        typeInto(QString::fromStdString(at->attribute), value);
    }
    /// Where its name stands in the drawing; where that is too small to show it, found in the tree beside it.
    void clickPart(const ComponentPath& path) {
        QVERIFY(canvas()->isVisible());
        canvas()->fitAll();
        const QRectF box = boxOf(path);
        const QString name = QString::fromStdString(at(path).name);
        if (box.width() >= 40 && box.height() >= 16) {
            QVERIFY2(QRectF(canvas()->rect()).contains(box.topLeft()), qPrintable(name));
            QTest::mouseClick(canvas(), Qt::LeftButton, {}, (box.topLeft() + QPointF(10, 6)).toPoint());
        } else {
            auto* search = shown<QLineEdit>("componentTree.search");
            auto* tree = shown<QTreeView>("componentTree.tree");
            QVERIFY(search && tree);
            QTest::mouseClick(search, Qt::LeftButton);
            search->selectAll();
            QTest::keyClicks(search, name);
            tree->expandAll();
            // Of several of that name the one inside of the part above it.
            const QString above = QString::fromStdString(at(ComponentPath(path.begin(), path.end() - 1)).name);
            QModelIndex found;
            for (const QModelIndex& each : tree->model()->match(tree->model()->index(0, 0), Qt::DisplayRole, name, -1,
                                                                Qt::MatchStartsWith | Qt::MatchRecursive))
                if (each.parent().data().toString().startsWith(above)) found = each;
            QVERIFY2(found.isValid(), qPrintable(name));
            tree->scrollTo(found);
            QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(found).center());
            QTest::keyClick(search, Qt::Key_Escape);
        }
        QVERIFY2(window->components().paths() == ComponentPaths{path}, qPrintable(name));
    }
    /// In the toolbar, or of a step of training in the form of its page.
    void plan(const QString& value) {
        const Plan wanted = parsePlan(value.toStdString()).value();
        const Plan is = window->document().state()->scenarios.front().plan;
        if (wanted.microbatches == is.microbatches && wanted.interleave == is.interleave)
            return chooseInMenu("planChooser", "plan-" + value);
        if (wanted.microbatches != is.microbatches)
            STEP(number("training.mb.field", QString::number(wanted.microbatches)));
        if (wanted.interleave != is.interleave) STEP(number("training.vp.field", QString::number(wanted.interleave)));
        QVERIFY(window->document().state()->scenarios.front().plan == wanted);
    }
    void number(const char* id, const QString& value) {
        auto* field = shown<QAbstractSpinBox>(id);
        QVERIFY2(field && field->isEnabled(), id);
        bring(field);
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, value);
        QTest::keyClick(field, Qt::Key_Return);
    }
    void choose(const char* id, const QString& data) {
        auto* box = shown<QComboBox>(id);
        QVERIFY2(box && box->findData(data) >= 0, id);
        bring(box);
        box->setFocus();
        QTest::keyClicks(box, box->itemText(box->findData(data)));
        QCOMPARE(box->currentData().toString(), data);
    }
    /// Scrolled into sight.
    static void bring(QWidget* widget) {
        for (QWidget* up = widget->parentWidget(); up; up = up->parentWidget())
            if (auto* area = qobject_cast<QScrollArea*>(up)) area->ensureWidgetVisible(widget);
        QVERIFY2(!widget->visibleRegion().isEmpty(), qPrintable(widget->objectName()));
    }

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
        press(found);
    }
    void press(QAbstractButton* found) {
        STEP(bring(found));
        QTest::mouseClick(found, Qt::LeftButton);
        QCoreApplication::processEvents();
    }
};

QTEST_MAIN(TestStudioLessons)
#include "tst_studio_lessons.moc"
