// What a window that has been worked in for hours takes: memory after a thousand edits on every page, and nothing of
// the processor while nobody touches it.

#include "app/document/commands/set_attribute.h"
#include "app/window/main_window.h"
#include "app/window/page.h"
#include "app/window/studio.h"
#include "support/studio_fixture.h"
#include "widgets/common/theme.h"

#include <QtWidgets>

#include <ctime>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

constexpr int edits = 1000;
constexpr double mostMemory = 200;  ///< MB, resident

/// MB, of a line of /proc/self/status; −1 where there is none.
double statusOf(const char* line) {
    QFile file(QStringLiteral("/proc/self/status"));
    if (!file.open(QIODevice::ReadOnly)) return -1;
    for (const QByteArray& each : file.readAll().split('\n')) {
        if (each.startsWith(line))
            return each.mid(each.indexOf(':') + 1).simplified().split(' ').front().toDouble() / 1024;
    }
    return -1;
}

/// Seconds of all threads.
double processorTime() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Rest {
    int wakes = 0;
    double busy = 0;  ///< s
};

/// A window left alone for that long. It sleeps in the event loop, as the program does; qWait() would wake it itself.
Rest restFor(int milliseconds) {
    Rest rest;
    QEventLoop loop;
    const double before = processorTime();
    const auto counting = QObject::connect(QAbstractEventDispatcher::instance(), &QAbstractEventDispatcher::awake,
                                           &loop, [&] { ++rest.wakes; });
    QTimer::singleShot(milliseconds, &loop, &QEventLoop::quit);
    loop.exec();
    QObject::disconnect(counting);
    rest.busy = processorTime() - before;
    return rest;
}

}  // namespace

class TestStudioRest : public QObject {
    Q_OBJECT
    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;

    bool settled() const {
        return window_->live().snapshot() && window_->live().upToDate() && window_->feeder().settled();
    }
    // What another row's window left in the process is not this one's.
    static bool inner() { return qEnvironmentVariableIsSet("ORRERY_REST_INNER"); }
    static void runInItsOwnProcess(const QString& id) {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("ORRERY_REST_INNER", "1");
        process.setProcessEnvironment(environment);
        process.start(QCoreApplication::applicationFilePath(),
                      {"tst_studio_rest", "aThousandEditsOfAPageStaySmall:" + id, "-maxwarnings", "0"});
        QVERIFY(process.waitForFinished(280'000));
        const QByteArray said = process.readAllStandardOutput();
        for (const QByteArray& line : said.split('\n'))
            if (line.contains(" MB")) qInfo("%s", line.constData());
        QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, said.right(2000).constData());
        QVERIFY2(said.contains(" MB after"), "the row was not run");
    }
    static void everyPage() {
        QTest::addColumn<QString>("id");
        MainWindow window;
        for (Page* page : window.studio().router.pages()) QTest::newRow(qPrintable(page->card().id)) << page->card().id;
    }
    void show(Page* page) { window_->studio().router.show(page); }
    void edit(int number) {
        Document& document = window_->document();
        QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), document.hardwareIndex(),
                                                     pathOf(document, "hbm3"), QStringLiteral("bandwidth"),
                                                     QStringLiteral("%1 GB/s").arg(2000 + number % 1777))));
        // Most are overtaken by the next, as under a slider; some are seen to their end.
        if (number % 50 == 0) {
            QVERIFY(QTest::qWaitFor([this] { return settled(); }, 60'000));
        } else {
            QCoreApplication::processEvents();
        }
    }

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
        QVERIFY(QTest::qWaitFor([this] { return window_->isReady(); }, 30'000));
        window_->openExample("first-light");
        QVERIFY(QTest::qWaitFor([this] { return settled(); }, 60'000));
    }
    void cleanup() { window_.reset(); }

    void aThousandEditsOfAPageStaySmall_data() { everyPage(); }
    void aThousandEditsOfAPageStaySmall() {
        QFETCH(QString, id);
        if (!inner()) return runInItsOwnProcess(id);
        show(window_->studio().router.page(id));
        edit(0);
        const double before = statusOf("VmRSS");
        for (int at = 1; at <= edits; ++at) {
            edit(at);
            if (QTest::currentTestFailed()) return;
        }
        QVERIFY(QTest::qWaitFor([this] { return settled(); }, 60'000));
        QCOMPARE(window_->document().undoStack()->count(), edits + 1);
        const double after = statusOf("VmRSS");
        qInfo("%.0f MB before, %.0f MB after, %.0f of them not from files", before, after, statusOf("RssAnon"));
        QVERIFY(after > 0);
        QVERIFY2(after <= mostMemory, qPrintable(QStringLiteral("%1 MB").arg(after, 0, 'f', 0)));
    }

    void aWindowLeftAloneSleeps_data() { everyPage(); }
    void aWindowLeftAloneSleeps() {
        QFETCH(QString, id);
        show(window_->studio().router.page(id));
        edit(0);
        // References, pictures and a page's own answers come by themselves; then there is nothing left to do.
        Rest rest;
        QVERIFY2(QTest::qWaitFor([&] { return (rest = restFor(1000)).wakes <= 2; }, 30'000),
                 qPrintable(QStringLiteral("%1 wakes and %2 ms of work in a second")
                                .arg(rest.wakes)
                                .arg(rest.busy * 1000, 0, 'f', 1)));
        rest = restFor(3000);
        qInfo("%d wakes, %.1f ms of work in 3 s", rest.wakes, rest.busy * 1000);
        // Its own timer is one; the autosave may be another.
        QVERIFY2(rest.wakes <= 5, qPrintable(QString::number(rest.wakes)));
        QVERIFY2(rest.busy < 0.03, qPrintable(QString::number(rest.busy)));
    }
};

QTEST_MAIN(TestStudioRest)
#include "tst_studio_rest.moc"
