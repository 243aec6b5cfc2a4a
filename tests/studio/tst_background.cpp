// Does the newest question win, does stopping stop, and does nothing arrive after its owner is gone?

#include "app/document/background.h"
#include "base/diagnostic.h"

#include <QPointer>
#include <QtTest/QtTest>

#include <latch>
#include <set>

using namespace orrery;
using namespace orrery::app;

namespace {

/// Runs until it is told to stop, at most ten seconds; says whether it was.
bool untilStopped(const std::stop_token& stop) {
    for (int turn = 0; turn < 10000 && !stop.stop_requested(); ++turn)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return stop.stop_requested();
}

}  // namespace

class TestBackground : public QObject {
    Q_OBJECT
private slots:
    void whatIsFoundArrivesOnTheGuiThread();
    void theNewestWins();
    void ofThoseThatWaitOnlyTheNewestRuns();
    void startingDoesNotWait();
    void aDragShowsSomethingMeanwhile();
    void cancelTakesWhatIsThere();
    void cancelReachesAJobThatWaits();
    void aFailureIsAValue();
    void progressIsPolledNotPosted();
    void finishesComeNoFasterThanFrames();
    void destroyedWhileRunning();
    void nothingArrivesAfterTheEnd();
    void aFinishMayStartTheNextOrDeleteItsOwner();
    void onceEndsWithItsOwner();
    void waitRunsTheFinish();
};

void TestBackground::whatIsFoundArrivesOnTheGuiThread() {
    Background work;
    QSignalSpy ended(&work, &Background::ended);
    QThread* found = nullptr;
    QThread* took = nullptr;
    work.ask([](std::stop_token, Progress&) { return QThread::currentThread(); },
             [&](QThread* thread) {
                 found = thread;
                 took = QThread::currentThread();
                 QVERIFY(!work.isRunning());
             });
    QVERIFY(work.isRunning());
    QCOMPARE(took, nullptr);
    QTRY_COMPARE(ended.count(), 1);
    QCOMPARE(took, QThread::currentThread());
    QVERIFY(found != took);
}

void TestBackground::theNewestWins() {
    Background work;
    QSignalSpy ended(&work, &Background::ended);
    std::vector<int> taken;
    std::latch begun(1);
    std::atomic<bool> stopped = false;
    work.ask(
        [&](const std::stop_token& stop, Progress&) {
            begun.count_down();
            stopped = untilStopped(stop);
            return 1;
        },
        [&](int found) { taken.push_back(found); });
    begun.wait();
    work.ask(
        [](std::stop_token, Progress&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));  // time for the older one to be taken over
            return 2;
        },
        [&](int found) { taken.push_back(found); });
    QTRY_COMPARE(ended.count(), 1);
    QVERIFY2(stopped, "the older job was told to stop");
    QCOMPARE(taken, std::vector<int>{2});
    // One that has ended but was not taken over yet is older too.
    std::atomic<bool> done = false;
    work.ask(
        [&](std::stop_token, Progress&) {
            done = true;
            return 3;
        },
        [&](int found) { taken.push_back(found); });
    while (!done) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    work.ask([](std::stop_token, Progress&) { return 4; }, [&](int found) { taken.push_back(found); });
    QTRY_COMPARE(ended.count(), 2);
    QCOMPARE(taken, (std::vector<int>{2, 4}));
}

void TestBackground::ofThoseThatWaitOnlyTheNewestRuns() {
    Background work;
    QSignalSpy ended(&work, &Background::ended);
    std::latch begun(1), go(1);
    std::mutex guard;
    std::set<int> ran;
    work.start([&](std::stop_token, Progress&) -> Background::Finish {
        begun.count_down();
        go.wait();
        return {};
    });
    begun.wait();
    for (int number = 1; number <= 50; ++number) {
        work.start([&, number](std::stop_token, Progress&) -> Background::Finish {
            const std::lock_guard lock(guard);
            ran.insert(number);
            return {};
        });
    }
    go.count_down();
    QTRY_COMPARE(ended.count(), 1);
    QCOMPARE(ran, std::set<int>{50});
}

void TestBackground::startingDoesNotWait() {
    Background work;
    std::latch begun(1), go(1);
    work.start([&](std::stop_token, Progress&) -> Background::Finish {
        begun.count_down();
        go.wait();  // deaf to its stop token
        return {};
    });
    begun.wait();
    bool taken = false;
    work.start([&](std::stop_token, Progress&) -> Background::Finish { return [&] { taken = true; }; });
    QVERIFY(work.isRunning());  // got here while the deaf one still holds the thread
    go.count_down();
    QTRY_VERIFY(taken);
}

void TestBackground::aDragShowsSomethingMeanwhile() {
    Background work;
    std::vector<int> taken;
    int asked = 0;
    const auto ask = [&] {
        work.ask(
            [number = ++asked](const std::stop_token& stop, Progress&) {
                for (int turn = 0; turn < 30 && !stop.stop_requested(); ++turn)
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                return stop.stop_requested() ? -1 : number;
            },
            [&](int found) { taken.push_back(found); }, Background::Newest::LetsItFinish);
    };
    // A question every 5 ms, 30 ms for an answer: if the newest always won, nothing would come before the end.
    for (int step = 0; step < 120; ++step) {
        ask();
        QTest::qWait(5);
    }
    const std::size_t meanwhile = taken.size();
    QVERIFY2(meanwhile >= 2, qPrintable(QString::number(meanwhile)));
    QTRY_VERIFY(!work.isRunning());
    QCOMPARE(taken.back(), asked);
    QVERIFY(std::ranges::is_sorted(taken));
    QVERIFY2(taken.front() > 0, "what was stopped does not arrive");
}

void TestBackground::cancelTakesWhatIsThere() {
    Background work;
    QSignalSpy ended(&work, &Background::ended);
    QString taken;
    work.ask([](const std::stop_token& stop, Progress&) { return untilStopped(stop) ? "best so far" : "all"; },
             [&](const char* found) { taken = found; });
    QTest::qWait(20);
    work.cancel();
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 5000);
    QCOMPARE(taken, QString("best so far"));
    work.cancel();  // of nothing: nothing
    QVERIFY(!work.isRunning());
}

void TestBackground::cancelReachesAJobThatWaits() {
    Background work;
    QSignalSpy ended(&work, &Background::ended);
    std::latch begun(1), go(1);
    work.start([&](std::stop_token, Progress&) -> Background::Finish {
        begun.count_down();
        go.wait();
        return {};
    });
    begun.wait();
    bool stopped = false;
    work.ask([](const std::stop_token& stop, Progress&) { return stop.stop_requested(); },
             [&](bool found) { stopped = found; });
    work.cancel();
    go.count_down();
    QTRY_COMPARE(ended.count(), 1);
    QVERIFY(stopped);
}

void TestBackground::aFailureIsAValue() {
    Background work;
    std::optional<Diagnostic> why;
    work.ask([](std::stop_token, Progress&) -> Expected<int> { return fail("test.refused", "no", "yes", "ask again"); },
             [&](const Expected<int>& found) {
                 if (!found) why = found.error();
             });
    QTRY_VERIFY(!work.isRunning());
    QVERIFY(why);
    QCOMPARE(why->code, std::string("test.refused"));
    int next = 0;
    work.ask([](std::stop_token, Progress&) { return 7; }, [&](int found) { next = found; });
    QTRY_COMPARE(next, 7);
}

void TestBackground::progressIsPolledNotPosted() {
    Background work;
    QSignalSpy advanced(&work, &Background::advanced);
    std::vector<double> seen;
    connect(&work, &Background::advanced, this, [&] { seen.push_back(work.fraction()); });
    QElapsedTimer since;
    since.start();
    work.start([](std::stop_token, Progress& progress) -> Background::Finish {
        constexpr std::uint64_t steps = 1'000'000;
        progress.setTotal(steps);
        for (int part = 0; part < 10; ++part) {
            for (std::uint64_t step = 0; step < steps / 10; ++step) progress.advance();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return {};
    });
    const auto progress = work.progress();
    QTRY_VERIFY(!work.isRunning());
    QCOMPARE(progress->fraction(), 1.0);
    QVERIFY2(advanced.count() <= 2 + since.elapsed() / 30, qPrintable(QString::number(advanced.count())));
    QVERIFY(seen.size() >= 3);
    QVERIFY(std::ranges::is_sorted(seen));
    QVERIFY2(seen[seen.size() / 2] > 0, "it is seen to advance");
}

void TestBackground::finishesComeNoFasterThanFrames() {
    Background work;
    int taken = 0;
    QElapsedTimer since;
    since.start();
    for (int step = 0; step < 300; ++step) {
        work.ask([step](std::stop_token, Progress&) { return step; }, [&](int) { ++taken; },
                 Background::Newest::LetsItFinish);
        QTest::qWait(1);
    }
    QTRY_VERIFY(!work.isRunning());
    QVERIFY(taken >= 2);
    QVERIFY2(taken <= 2 + since.elapsed() / Background::frame.count(), qPrintable(QString::number(taken)));
}

void TestBackground::destroyedWhileRunning() {
    for (int round = 0; round < 20; ++round) {
        auto alive = std::make_shared<int>(1);
        const std::weak_ptr<int> watch = alive;
        std::atomic<bool> stopped = false;
        {
            Background work;
            std::latch begun(1);
            work.start([&, alive = std::move(alive)](const std::stop_token& stop, Progress&) -> Background::Finish {
                begun.count_down();
                stopped = untilStopped(stop);
                return {};
            });
            if (round % 2 == 0) begun.wait();
            if (round % 3 == 0) work.start([](std::stop_token, Progress&) -> Background::Finish { return {}; });
            if (round % 2 != 0) continue;  // perhaps destroyed before it began
        }
        QVERIFY(stopped);
        QVERIFY2(watch.expired(), "the thread has ended and holds nothing");
    }
}

void TestBackground::nothingArrivesAfterTheEnd() {
    bool taken = false;
    {
        Background work;
        std::atomic<bool> done = false;
        work.ask(
            [&](std::stop_token, Progress&) {
                done = true;
                return 0;
            },
            [&](int) { taken = true; });
        while (!done) std::this_thread::yield();
    }
    QTest::qWait(50);
    QVERIFY(!taken);
}

void TestBackground::aFinishMayStartTheNextOrDeleteItsOwner() {
    auto* work = new Background;
    QSignalSpy ended(work, &Background::ended);
    int rounds = 0;
    std::function<void(int)> take = [&](int) {
        if (++rounds < 4) work->ask([](std::stop_token, Progress&) { return 0; }, take);
    };
    work->ask([](std::stop_token, Progress&) { return 0; }, take);
    QTRY_COMPARE(rounds, 4);
    QTRY_COMPARE(ended.count(), 1);  // only the last was the end
    const QPointer<Background> gone(work);
    work->ask([](std::stop_token, Progress&) { return 0; }, [&](int) { delete work; });
    QTRY_VERIFY(!gone);
}

void TestBackground::onceEndsWithItsOwner() {
    int taken = 0;
    QObject owner;
    for (int file = 0; file < 3; ++file)  // beside each other: none replaces another
        Background::once(
            &owner, [](std::stop_token, Progress&) { return 1; }, [&](int one) { taken += one; });
    QTRY_COMPARE(taken, 3);
    QTRY_VERIFY(owner.children().isEmpty());
    std::atomic<bool> stopped = false;
    {
        QObject shortLived;
        Background::once(
            &shortLived, [&](const std::stop_token& stop, Progress&) { return (stopped = untilStopped(stop)) ? 1 : 0; },
            [&](int) { taken = -1; });
        QTest::qWait(10);
    }
    QVERIFY(stopped);
    QTest::qWait(20);
    QCOMPARE(taken, 3);
}

void TestBackground::waitRunsTheFinish() {
    Background work;
    work.wait();  // for nothing
    int taken = 0;
    work.ask(
        [](std::stop_token, Progress&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            return 5;
        },
        [&](int found) { taken = found; });
    work.wait();
    QCOMPARE(taken, 5);
    QVERIFY(!work.isRunning());
}

QTEST_MAIN(TestBackground)
#include "tst_background.moc"
