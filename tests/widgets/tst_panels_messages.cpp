// Do the pages that speak to people (welcome, palette, problems, jobs, log, notifications) do what the mouse and the
// keys ask?

#include "support/panels_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/welcome/command_palette.h"
#include "widgets/messages/jobs_panel.h"
#include "widgets/messages/log_panel.h"
#include "widgets/messages/notification_bar.h"
#include "widgets/messages/problems_panel.h"
#include "widgets/welcome/welcome_page.h"

#include <QtTest>
#include <QtWidgets>

using namespace orrery;
using namespace orrery::ui;

class TestPanelsMessages : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    void fuzzyPrefersBeginningsOfWords_data() {
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<QString>("better");
        QTest::addColumn<QString>("worse");
        QTest::newRow("initials") << "or"
                                  << "Open roofline"
                                  << "Colour mode";
        QTest::newRow("run of letters") << "roof"
                                        << "Show roofline"
                                        << "Remove old offline files";
        QTest::newRow("prefix") << "exp"
                                << "Export picture"
                                << "Next page";
        QTest::newRow("no match") << "h100"
                                  << "NVIDIA H100 SXM"
                                  << "NVIDIA A100";
    }
    void fuzzyPrefersBeginningsOfWords() {
        QFETCH(QString, pattern);
        QFETCH(QString, better);
        QFETCH(QString, worse);
        std::vector<int> hits;
        QVERIFY(fuzzyScore(pattern, better, &hits) > fuzzyScore(pattern, worse));
        QCOMPARE(hits.size(), static_cast<std::size_t>(pattern.size()));
        for (std::size_t i = 0; i < hits.size(); ++i)
            QCOMPARE(better[hits[i]].toLower(), pattern[static_cast<qsizetype>(i)]);
    }

    void paletteRunsByKeysAlone() {
        QWidget window;
        window.resize(800, 500);
        auto* before = new QLineEdit(&window);
        CommandPalette palette(&window);
        QAction open("&Open…"), run("Run the study"), off("Open recent");
        off.setEnabled(false);
        palette.setActions({&open, &run, &off});
        QString chosen;
        palette.setProvider([&chosen] {
            return std::vector<PaletteEntry>{{"NVIDIA H100 SXM", "Device", {}, {}, [&chosen] { chosen = "h100"; }}};
        });
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        before->setFocus();
        palette.open();
        QVERIFY(palette.line()->hasFocus());
        QCOMPARE(palette.list()->model()->rowCount(), 2);  // things wait for letters, what is disabled is not offered
        QSignalSpy ran(&run, &QAction::triggered);
        QTest::keyClick(palette.line(), Qt::Key_Down);
        QTest::keyClick(palette.line(), Qt::Key_Return);
        QCOMPARE(ran.size(), 1);
        QVERIFY(palette.isHidden());
        QVERIFY(before->hasFocus());
        palette.open();
        QTest::keyClicks(palette.line(), "nvh1");
        QTest::keyClick(palette.line(), Qt::Key_Return);
        QCOMPARE(chosen, "h100");
        palette.open();
        QTest::keyClick(palette.line(), Qt::Key_Escape);
        QVERIFY(palette.isHidden());
        QCOMPARE(ran.size(), 1);
    }

    // A word of what a command is for is worth more than its letters strewn over another's title.
    void paletteFindsWhatACommandIsFor() {
        QWidget window;
        window.resize(800, 500);
        CommandPalette palette(&window);
        palette.setProvider([] {
            return std::vector<PaletteEntry>{{"Array of processing elements", "Insert", {}, {}, {}},
                                             {"Pools of adapters, resident", "Serving", {}, {}, {}},
                                             {"Teach", "View", "Large type and few panels, for presenting", {}, {}}};
        });
        window.show();
        palette.open();
        QTest::keyClicks(palette.line(), "present");
        QVERIFY(palette.list()->model()->rowCount() >= 1);
        QCOMPARE(palette.list()->model()->index(0, 0).data().toString(), "Teach");
        palette.line()->clear();
        QTest::keyClicks(palette.line(), "aope");  // initials and letters still find a title
        QCOMPARE(palette.list()->model()->index(0, 0).data().toString(), "Array of processing elements");
    }

    void problemsJumpFilterAndCopy() {
        ProblemsPanel panel;
        panel.resize(800, 300);
        QSignalSpy counts(&panel, &ProblemsPanel::countsChanged);
        panel.setDiagnostics(fixture::problems());
        QCOMPARE(counts.back(), (QList<QVariant>{1, 2}));
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        QCOMPARE(panel.model()->at(0).severity, Severity::Error);  // the worst stands first
        QSignalSpy jumps(&panel, &ProblemsPanel::jumpTo);
        QTest::mouseClick(panel.list()->viewport(), Qt::LeftButton, {},
                          panel.list()->visualRect(panel.model()->index(0)).center());
        QCOMPARE(jumps.size(), 1);
        QCOMPARE(jumps[0][0].value<Place>().path, "system/h100/sm/smem.capacity");
        QTest::keyClick(panel.list(), Qt::Key_C, Qt::ControlModifier);
        QTRY_VERIFY(QGuiApplication::clipboard()->text().contains("A buffer without a capacity"));
        QTest::mouseClick(panel.findChild<QToolButton*>("problems.warning"), Qt::LeftButton);
        QCOMPARE(panel.model()->rowCount(), 2);
    }

    void jobTextTellsRateAndTimeLeft() {
        QCOMPARE(jobText(0, 0, 0, "results"), "starting …");
        QCOMPARE(jobText(0, 40, 1, "results"), "0 of 40 results");
        QCOMPARE(jobText(10, 40, 5, "results"), "10 of 40 results · 2/s · 15 s left");
        QVERIFY(jobText(40, 40, 5, "results").endsWith("8/s"));
    }

    void jobsCancelAndSayWhyTheyFailed() {
        JobsPanel panel;
        panel.resize(600, 300);
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        auto progress = std::make_shared<Progress>();
        progress->setTotal(100);
        QSignalSpy cancels(&panel, &JobsPanel::cancelRequested);
        QSignalSpy running(&panel, &JobsPanel::runningChanged);
        const int job = panel.addJob("Sweep", "results", progress);
        QCOMPARE(panel.running(), 1);
        progress->advance(30);
        auto* text = panel.findChild<QLabel*>(QString("jobs.row%1.text").arg(job));
        QTRY_VERIFY(text->text().startsWith("30 of 100 results"));  // polled, not told
        auto* cancel = panel.findChild<QToolButton*>(QString("jobs.row%1.cancel").arg(job));
        QTRY_VERIFY(cancel->isVisible() && cancel->x() > 300);  // laid out
        QTest::mouseClick(cancel, Qt::LeftButton);
        QCOMPARE(cancels.size(), 1);
        QCOMPARE(panel.state(job), JobState::Running);  // it asks; the owner decides
        panel.setState(job, JobState::Failed, "hbm3 has no capacity");
        QCOMPARE(text->text(), "hbm3 has no capacity");
        QCOMPARE(running.back()[0].toInt(), 0);
        const int done = panel.addJob("Study", "results", progress);
        panel.setState(done, JobState::Done);
        QSignalSpy opens(&panel, &JobsPanel::openRequested);
        auto* open = panel.findChild<QToolButton*>(QString("jobs.row%1.open").arg(done));
        QTRY_VERIFY(open->isVisible() && open->x() > 300);
        QTest::mouseClick(open, Qt::LeftButton);
        QCOMPARE(opens.size(), 1);
        QCOMPARE(opens[0][0].toInt(), done);
        QTest::mouseClick(panel.findChild<QToolButton*>("jobs.clear"), Qt::LeftButton);
        QTRY_VERIFY(!panel.findChild<QWidget*>(QString("jobs.row%1").arg(job)));
    }

    void notificationsStackReplaceActAndGo() {
        NotificationBar bar;
        bar.resize(600, 300);
        bar.show();
        bool saved = false;
        const int first = bar.notify(
            {Severity::Error, "Not saved", "Disk full", {{"Save as…", [&saved] { saved = true; }}}, "save", -1});
        bar.notify({Severity::Error, "Not saved again", {}, {{"Save as…", [&saved] { saved = true; }}}, "save", -1});
        QCOMPARE(bar.count(), 1);  // the same matter, once
        QVERIFY(!bar.findChild<QWidget*>(QString("notification%1").arg(first)) ||
                bar.findChild<QWidget*>(QString("notification%1").arg(first))->isHidden());
        bar.notify({Severity::Note, "Saved", {}, {}, {}, 30});
        QCOMPARE(bar.count(), 2);
        QTRY_COMPARE(bar.count(), 1);  // notes go by themselves, errors stay
        QPushButton* button = nullptr;
        for (QPushButton* candidate : bar.findChildren<QPushButton*>())
            if (candidate->parentWidget()->isVisible()) button = candidate;
        QVERIFY(button);
        QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(saved);
        QCOMPARE(bar.count(), 0);
        QVERIFY(bar.isHidden());
        for (int i = 0; i < 7; ++i) bar.notify({Severity::Warning, QString::number(i), {}, {}, {}, -1});
        QCOMPARE(bar.count(), 7);
        int visible = 0;
        for (const QWidget* row : bar.findChildren<QWidget*>(QRegularExpression("^notification\\d+$")))
            if (!row->isHidden()) ++visible;
        QCOMPARE(visible, 4);
    }

    void logFiltersAndKeepsOrder() {
        LogPanel log;
        log.append(Severity::Note, "read h100-sxm");
        log.append(Severity::Warning, "l2 is unverified");
        QCOMPARE(log.text()->blockCount(), 2);
        QTest::keyClicks(log.findChild<QLineEdit*>("log.search"), "unver");
        QCOMPARE(log.text()->blockCount(), 1);
        QVERIFY(log.text()->toPlainText().endsWith("l2 is unverified"));
        log.append(Severity::Note, "unverified too\nsecond line");
        QCOMPARE(log.text()->blockCount(), 2);  // one line each
    }

    void welcomeByMouseKeysAndDrop() {
        WelcomePage page;
        page.resize(1200, 800);
        page.setExamples(
            {{"one", "One", "First", {}, {}}, {"two", "Two", "Second", {}, {}}, {"three", "Three", "Third", {}, {}}});
        page.setRecent({{"/tmp/a.orrery", {}, {}, true}, {"/tmp/gone.orrery", {}, {}, false}});
        page.show();
        page.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&page));
        QSignalSpy examples(&page, &WelcomePage::exampleChosen);
        QSignalSpy recent(&page, &WelcomePage::recentChosen);
        QSignalSpy fresh(&page, &WelcomePage::newRequested);
        QSignalSpy dropped(&page, &WelcomePage::filesDropped);
        auto* one = page.findChild<QAbstractButton*>("welcome.example.one");
        auto* two = page.findChild<QAbstractButton*>("welcome.example.two");
        QTest::mouseClick(two, Qt::LeftButton);
        QCOMPARE(examples.back()[0].toString(), "two");
        one->setFocus();
        QTest::keyClick(one, Qt::Key_Right);
        QVERIFY(two->hasFocus());
        QTest::keyClick(two, Qt::Key_Return);
        QCOMPARE(examples.size(), 2);
        QTest::mouseClick(page.findChild<QAbstractButton*>("welcome.recent0"), Qt::LeftButton);
        QCOMPARE(recent.back()[0].toString(), "/tmp/a.orrery");
        QTest::mouseClick(page.findChild<QAbstractButton*>("welcome.recent1"), Qt::LeftButton);  // it is not there
        QCOMPARE(recent.size(), 1);
        QTest::mouseClick(page.findChild<QAbstractButton*>("welcome.new"), Qt::LeftButton);
        QCOMPARE(fresh.size(), 1);
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile("/tmp/model.onnx")});
        QDragEnterEvent enter({600, 400}, Qt::CopyAction, &data, Qt::LeftButton, {});
        QCoreApplication::sendEvent(&page, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop(QPointF(600, 400), Qt::CopyAction, &data, Qt::LeftButton, {});
        QCoreApplication::sendEvent(&page, &drop);
        QCOMPARE(dropped.size(), 1);
        QCOMPARE(dropped[0][0].toStringList(), QStringList{"/tmp/model.onnx"});
    }
};

QTEST_MAIN(TestPanelsMessages)
#include "tst_panels_messages.moc"
