// What is left of the studio's work when it is killed? A child is the real window, edits and runs, and writes down each
// edit and each result that it showed; its parent kills it and looks for them. ORRERY_KILLS: how often.

#include "app/document/commands/set_attribute.h"
#include "app/window/main_window.h"
#include "app/window/studio.h"
#include "support/studio_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/messages/notification_bar.h"

#include <QtWidgets>

#include <csignal>
#include <random>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

constexpr qint64 promised = 2000;  ///< ms from an edit until it is kept
const char* const part = "hbm3";

void append(const QString& file, const QString& line) {
    QFile log(file);
    if (log.open(QIODevice::Append)) log.write(line.toUtf8() + '\n');
}

QList<QStringList> linesOf(const QString& file) {
    QFile log(file);
    QList<QStringList> lines;
    if (!log.open(QIODevice::ReadOnly)) return lines;
    // A line that the kill cut short has no end.
    const QString text = QString::fromUtf8(log.readAll());
    for (const QString& line : text.left(text.lastIndexOf('\n')).split('\n', Qt::SkipEmptyParts))
        lines << line.split(' ');
    return lines;
}

/// The bandwidth that tells which edit it was, GB/s.
double valueOf(int edit) {
    return 1000 + edit;
}

}  // namespace

class TestKilled : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { ui::initialiseApplicationLook(); }
    void theFirstEditIsKept();
    void nothingShownIsLost();
    void aCopyThatCannotBeWrittenIsSaid();
    void childThatIsKilled();

private:
    struct Child {
        QTemporaryDir home;
        QProcess process;
        qint64 killedAt = 0;
        void start(int edits, unsigned seed) {
            QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
            environment.insert("ORRERY_TEST_CHILD", QStringLiteral("%1 %2").arg(edits).arg(seed));
            environment.insert("ORRERY_CONFIG_HOME", home.path());
            process.setProcessEnvironment(environment);
            process.start(QCoreApplication::applicationFilePath(), {"tst_killed", "childThatIsKilled"});
        }
        void kill() {
            killedAt = QDateTime::currentMSecsSinceEpoch();
            ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
            process.waitForFinished();
        }
        ~Child() {
            if (process.state() != QProcess::NotRunning) kill();
        }
    };
};

void TestKilled::childThatIsKilled() {
    const QStringList orders = qEnvironmentVariable("ORRERY_TEST_CHILD").split(' ');
    if (orders.size() != 2) return;  // is started by the others
    const QString home = qEnvironmentVariable("ORRERY_CONFIG_HOME");
    std::minstd_rand random(orders[1].toUInt());
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitFor([&] { return window.isReady(); }, 30'000));
    window.document().reset(smallProject());
    connect(&window.runs(), &RunController::resultsArrived, &window,
            [&](int run, int count) { append(home + "/results.log", QStringLiteral("%1 %2").arg(run).arg(count)); });
    const int edits = orders[0].toInt();
    for (int edit = 1; edit <= edits; ++edit) {
        Document& document = window.document();
        const QString value = QStringLiteral("%1 GB/s").arg(valueOf(edit));
        QVERIFY_DONE(
            document.apply(setAttributeEdit(*document.state(), 0, pathOf(document, part), "bandwidth", value)));
        append(home + "/edits.log", QStringLiteral("%1 %2").arg(edit).arg(QDateTime::currentMSecsSinceEpoch()));
        if (edit % 20 == 2) window.runs().start();
        QTest::qWait(int(random() % 120));
    }
    QTest::qWait(60'000);  // until it is killed
}

void TestKilled::theFirstEditIsKept() {
    Child child;
    child.start(1, 1);
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(child.home.filePath("edits.log")), 60'000);
    QTest::qWait(promised);
    child.kill();
    // Another studio with the same home offers it, and it opens as it was.
    qputenv("ORRERY_CONFIG_HOME", child.home.path().toUtf8());
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitFor([&] { return window.isReady(); }, 30'000));
    window.offerRecovery();
    auto* bar = window.findChild<ui::NotificationBar*>();
    QCOMPARE(bar->count(), 1);
    for (QAbstractButton* button : bar->findChildren<QAbstractButton*>())
        if (button->text().contains("Recover")) QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(window.document().hardware());
    QCOMPARE(bandwidthOf(window.document(), part), valueOf(1) * 1e9);
    QVERIFY(window.document().isModified());
    window.document().undoStack()->setClean();
}

void TestKilled::nothingShownIsLost() {
    const int kills = qEnvironmentVariable("ORRERY_KILLS", "2").toInt();
    std::minstd_rand random(qEnvironmentVariable("ORRERY_SEED", "7").toUInt());
    int copies = 0, results = 0;
    for (int kill = 0; kill < kills; ++kill) {
        Child child;
        child.start(100'000, unsigned(kill + 1));
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(child.home.filePath("edits.log")), 120'000);
        QTest::qWait(promised / 4 + int(random() % (2 * promised)));
        child.kill();
        int owed = 0;
        for (const QStringList& line : linesOf(child.home.filePath("edits.log")))
            if (line[1].toLongLong() <= child.killedAt - promised) owed = line[0].toInt();
        const std::vector<Recovery> found = Autosave::abandoned(child.home.filePath("autosave"));
        QVERIFY2(!found.empty() || owed == 0, qPrintable(QStringLiteral("kill %1: %2 owed").arg(kill).arg(owed)));
        if (!found.empty()) {
            ++copies;
            Document document;
            QVERIFY_DONE(document.load(found.front().copy));
            const double kept = bandwidthOf(document, part) / 1e9;
            QVERIFY2(kept >= valueOf(owed),
                     qPrintable(QStringLiteral("kill %1: %2 kept, %3 owed").arg(kill).arg(kept).arg(valueOf(owed))));
            Autosave::discard(found.front());
            QVERIFY(QDir(child.home.filePath("autosave"))
                        .entryList({"*.yaml*", ".*"}, QDir::Files | QDir::Hidden)
                        .isEmpty());
        }
        std::map<int, std::size_t> shown;
        for (const QStringList& line : linesOf(child.home.filePath("results.log")))
            shown[line[0].toInt()] = line[1].toULong();
        if (shown.empty()) continue;
        const auto store = RunStore::open(child.home.filePath("untitled.runs.sqlite").toStdString());
        QVERIFY2(store, store ? "" : toText(store.error()).c_str());
        const auto runs = (*store)->runs();
        QVERIFY(runs);
        std::size_t stored = 0, owedResults = 0;
        for (const auto& run : *runs) stored += (*store)->results(run.id)->size();
        for (const auto& [run, count] : shown) owedResults += count;
        results += int(owedResults);
        QVERIFY2(stored >= owedResults, qPrintable(QStringLiteral("%1 stored, %2 shown").arg(stored).arg(owedResults)));
    }
    qInfo() << kills << "kills," << copies << "copies found," << results << "results shown and found";
}

void TestKilled::aCopyThatCannotBeWrittenIsSaid() {
    const QTemporaryDir home;
    Document document;
    Autosave autosave(document, home.filePath("autosave"));
    const QSignalSpy failed(&autosave, &Autosave::failed);
    document.reset(smallProject());
    QVERIFY(QDir(home.filePath("autosave")).removeRecursively());
    const auto edit = [&](int number) {
        return document.apply(setAttributeEdit(*document.state(), 0, pathOf(document, part), "bandwidth",
                                               QStringLiteral("%1 GB/s").arg(valueOf(number))));
    };
    QVERIFY_DONE(edit(1));
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY_DONE(edit(2));
    QTest::qWait(2 * int(Autosave::delay.count()));
    QCOMPARE(failed.count(), 1);  // said once
    QVERIFY(QDir().mkpath(home.filePath("autosave")));
    QVERIFY_DONE(edit(3));
    QTRY_VERIFY(QFile::exists(autosave.copyFile()));
}

QTEST_MAIN(TestKilled)
#include "tst_killed.moc"
