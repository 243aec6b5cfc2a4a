#include "store/export/exports.h"
#include "store/project/project.h"
#include "store/runs/run_store.h"
#include "support/store_fixture.h"

#include <QtTest/QtTest>

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

using namespace orrery;
using namespace orrery::test;

class TestStoreRuns : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }

private slots:
    // Programs that begin at the same moment, as a window and a command line do: one sets the file up, all read it.
    void manyOpenOneNewFileAtOnce() {
        for (int round = 0; round < 20; ++round) {
            const std::string path = folder_.filePath(QString("at-once-%1.sqlite").arg(round)).toStdString();
            std::atomic<int> ready{0};
            std::array<std::string, 4> failures;
            std::vector<std::thread> all;
            for (int i = 0; i < 4; ++i) {
                all.emplace_back([&, i] {
                    ++ready;
                    while (ready < 4) std::this_thread::yield();
                    if (const auto opened = RunStore::open(path); !opened)
                        failures[static_cast<std::size_t>(i)] = toText(opened.error());
                });
            }
            for (std::thread& each : all) each.join();
            for (const std::string& failure : failures) QVERIFY2(failure.empty(), failure.c_str());
        }
    }
    void aRunComesBackAsItWas() {
        auto store = RunStore::open(path("a.sqlite"));
        QVERIFY2(store, store ? "" : toText(store.error()).c_str());
        const Study study = awkwardStudy(2);
        const auto run = (*store)->beginRun(study);
        QVERIFY(run);
        QVERIFY((*store)->add(*run, study, answer(1)));
        QVERIFY((*store)->add(*run, study, failure(0)));
        const auto before = (*store)->runs();
        QVERIFY(!before->at(0).finished);
        QVERIFY((*store)->finishRun(*run));
        const auto runs = (*store)->runs();
        QCOMPARE(runs->size(), std::size_t{1});
        QCOMPARE(runs->at(0).name, study.name);
        QVERIFY(runs->at(0).finished && runs->at(0).results == 1 && runs->at(0).failures == 1);
        QVERIFY(QDateTime::fromString(QString::fromStdString(runs->at(0).started), Qt::ISODate).isValid());
        const auto results = (*store)->results(*run);
        QCOMPARE(results->size(), std::size_t{2});
        QCOMPARE(results->at(0).failure, std::string("not a <transformer>"));
        QCOMPARE(results->at(1).latency, 3.3e-3);
        QCOMPARE(results->at(1).high, 0.1 + 0.2);
        QCOMPARE(results->at(1).hardware, study.scenarios[1].hardware->name);
        QCOMPARE(results->at(1).estimateJson, estimateJson(study.scenarios[1], awkwardEstimate()));
    }
    void aStoredRunExportsTheSameBytes() {
        auto store = RunStore::open(path("b.sqlite"));
        const Study study = awkwardStudy();
        const std::vector<StudyResult> results{answer(), failure()};
        const auto run = (*store)->beginRun(study);
        // Workers finish in any order.
        QVERIFY((*store)->add(*run, study, results[1]) && (*store)->add(*run, study, results[0]));
        const auto restored = restoreRun(**store, *run);
        QVERIFY2(restored, restored ? "" : toText(restored.error()).c_str());
        QCOMPARE(restored->study.methods, study.methods);
        const auto& estimate = *restored->results[0].estimate;
        const Scenario& scenario = restored->study.scenarios[0];
        QCOMPARE(runJson(restored->study, restored->results), runJson(study, results));
        QCOMPARE(comparisonCsv(restored->study, restored->results), comparisonCsv(study, results));
        QCOMPARE(chromeTrace(scenario, estimate), chromeTrace(scenario, awkwardEstimate()));
        QVERIFY(!restoreRun(**store, *run + 1));
    }
    // The promise of the store: what add() has acknowledged is there after kill -9.
    void everyAcknowledgedResultSurvivesKillNine() {
        const std::string file = path("killed.sqlite");
        for (int round = 0; round < 3; ++round) {
            int pipes[2];
            QCOMPARE(::pipe(pipes), 0);
            const pid_t child = ::fork();
            QVERIFY(child >= 0);
            if (child == 0) {
                ::close(pipes[0]);
                auto store = RunStore::open(file);
                const Study study = awkwardStudy(1);
                const auto run = (*store)->beginRun(study);
                for (;;) {
                    if (!(*store)->add(*run, study, answer())) ::_exit(3);
                    if (::write(pipes[1], "x", 1) != 1) ::_exit(4);
                }
            }
            ::close(pipes[1]);
            std::size_t acknowledged = 0;
            char byte;
            while (acknowledged < 40 && ::read(pipes[0], &byte, 1) == 1) ++acknowledged;
            ::kill(child, SIGKILL);
            while (::read(pipes[0], &byte, 1) == 1) ++acknowledged;
            ::close(pipes[0]);
            int status = 0;
            ::waitpid(child, &status, 0);
            QVERIFY2(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
                     "the child should have been killed, not ended");

            auto store = RunStore::open(file);
            QVERIFY2(store, store ? "" : toText(store.error()).c_str());
            const auto runs = (*store)->runs();
            QCOMPARE(runs->size(), static_cast<std::size_t>(round + 1));
            const StoredRun& last = runs->back();
            QVERIFY(!last.finished);
            // One more may have been committed between its commit and its acknowledgement.
            QVERIFY2(last.results == acknowledged || last.results == acknowledged + 1,
                     qPrintable(QString("%1 stored of %2 acknowledged").arg(last.results).arg(acknowledged)));
            const auto results = (*store)->results(last.id);
            QCOMPARE(results->size(), last.results);
            for (const StoredResult& each : *results) QVERIFY(readEstimateJson(each.estimateJson));
            QVERIFY((*store)->check()->empty());
        }
    }
    void whatIsNoRunDatabaseIsRefusedAndLeftAlone() {
        const std::string text(5000, 'x');
        QVERIFY(saveFileAtomically(path("text.sqlite"), text));
        const auto noDatabase = RunStore::open(path("text.sqlite"));
        QVERIFY(!noDatabase);
        QVERIFY2(!noDatabase.error().hint.empty() && !noDatabase.error().place.file.empty(),
                 toText(noDatabase.error()).c_str());
        QCOMPARE(readFile(path("text.sqlite")).value(), text);

        sqlite3* other = nullptr;
        QCOMPARE(sqlite3_open(path("other.sqlite").c_str(), &other), SQLITE_OK);
        QCOMPARE(sqlite3_exec(other, "create table mine(x); insert into mine values(1)", nullptr, nullptr, nullptr),
                 SQLITE_OK);
        sqlite3_close(other);
        const auto otherProgram = RunStore::open(path("other.sqlite"));
        QVERIFY(!otherProgram);
        QCOMPARE(otherProgram.error().code, std::string("store.kind"));

        QVERIFY(!RunStore::open(path("no/such/folder.sqlite")));
        QVERIFY(!RunStore::open(folder_.path().toStdString()));
    }
    void aNewerFormatIsRefused() {
        QVERIFY(RunStore::open(path("newer.sqlite")));
        sqlite3* database = nullptr;
        QCOMPARE(sqlite3_open(path("newer.sqlite").c_str(), &database), SQLITE_OK);
        QCOMPARE(sqlite3_exec(database, "pragma user_version = 99", nullptr, nullptr, nullptr), SQLITE_OK);
        sqlite3_close(database);
        const auto store = RunStore::open(path("newer.sqlite"));
        QVERIFY(!store);
        QCOMPARE(store.error().code, std::string("store.newer"));
    }
    void damageIsReported() {
        const std::string file = path("damaged.sqlite");
        {
            auto store = RunStore::open(file);
            const Study study = awkwardStudy();
            const auto run = (*store)->beginRun(study);
            for (int i = 0; i < 50; ++i) QVERIFY((*store)->add(*run, study, answer()));
        }
        QFile raw(QString::fromStdString(file));
        QVERIFY(raw.open(QIODevice::ReadWrite));
        QVERIFY(raw.size() > 16384);
        raw.seek(4096);
        raw.write(QByteArray(static_cast<int>(raw.size()) - 4096, '\xa5'));
        raw.close();
        auto store = RunStore::open(file);
        if (store) {
            const auto runs = (*store)->runs();
            const auto found = (*store)->check();
            QVERIFY(!runs || !found || !found->empty());
            if (!runs) QVERIFY(!runs.error().hint.empty());
        } else {
            QVERIFY(!store.error().hint.empty());
        }
    }
    void aReadOnlyDatabaseCanBeReadButNotWritten() {
        const std::string file = path("readonly.sqlite");
        const Study study = awkwardStudy();
        {
            auto store = RunStore::open(file);
            const auto run = (*store)->beginRun(study);
            QVERIFY((*store)->add(*run, study, answer()));
        }
        ::chmod(file.c_str(), 0444);
        ::chmod(folder_.path().toUtf8(), 0555);
        const pid_t child = ::fork();
        if (child == 0) {
            if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(9);
            auto store = RunStore::open(file);
            if (!store)
                ::_exit(store.error().hint.empty() ? 1 : 0);  // SQLite may refuse a WAL database there: with a reason
            const auto run = (*store)->beginRun(study);
            ::_exit(!run && !run.error().hint.empty() ? 0 : 2);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ::chmod(folder_.path().toUtf8(), 0755);
        QVERIFY(WIFEXITED(status));
        QCOMPARE(WEXITSTATUS(status), 0);
    }
};

QTEST_GUILESS_MAIN(TestStoreRuns)
#include "tst_store_runs.moc"
