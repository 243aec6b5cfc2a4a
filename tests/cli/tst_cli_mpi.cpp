// `mpirun -n 4 orrery-cli …`: the store of one rank, whatever happens to the others.

#include "base/text/read_file.h"
#include "store/runs/run_store.h"
#include "store/runs/search_store.h"
#include "support/cli_process.h"
#include "support/search_fixture.h"
#include "support/stored_rows.h"

#include <QDir>
#include <QElapsedTimer>
#include <QtTest/QtTest>

#include <csignal>

using namespace orrery;
using namespace orrery::test;

class TestCliMpi : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QString path(const QString& name) const { return folder_.filePath(name); }
    void write(const QString& name, const QByteArray& text) const {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size()) qFatal("cannot write");
    }
    QByteArray textOf(const QString& name) const {
        const auto text = readFile(path(name).toStdString(), std::size_t{1} << 30);
        return text ? QByteArray::fromStdString(*text) : "absent: " + name.toUtf8();
    }
    static QByteArray sweep(int values, const char* methods) {
        QByteArray list = "1";
        for (int i = 2; i <= values; ++i) list += ", " + QByteArray::number(i);
        return "orrery: study/1\nname: Cores\nhardware: [h100-sxm]\nworkloads: [resnet-50]\nmethods: [" +
               QByteArray(methods) + "]\nsweep: {sm.count: [" + list + "]}\n";
    }
    // Answers of a third of a second, so that every rank has some left when one is killed.
    static constexpr std::size_t slowRows = 48;
    static QByteArray slow(std::size_t rows = slowRows) {
        QByteArray list = "1";
        for (std::size_t i = 2; i <= rows / 2; ++i) list += ", " + QByteArray::number(static_cast<int>(i));
        return "orrery: study/1\nname: Slow\nhardware: [eyeriss-like]\nworkloads: [alexnet]\nmethods: [roofline, "
               "\"loop-nest(mapper=genetic)\"]\nsweep: {batch: [" +
               list + "]}\n";
    }
    static QStringList ranks(int count, const QStringList& launcher = {}) {
        return QStringList{"--oversubscribe", "--bind-to", "none", "-n", QString::number(count)} + launcher +
               QStringList{ORRERY_CLI};
    }
    Outcome mpirun(const QStringList& words, int milliseconds = 120000) const {
        QProcess process;
        start(process, words);
        Outcome outcome;
        outcome.ended = process.waitForFinished(milliseconds);
        if (!outcome.ended) {
            process.kill();
            process.waitForFinished();
        }
        outcome.exit = process.exitCode();
        outcome.out = QString::fromUtf8(process.readAllStandardOutput());
        outcome.error = QString::fromUtf8(process.readAllStandardError());
        return outcome;
    }
    void start(QProcess& process, const QStringList& words) const {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* each : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
            environment.insert(each, "1");
        environment.insert("ORRERY_RANK_TIMEOUT", "3");
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(folder_.path());
        process.start("mpirun", words);
    }
    // Process ids by rank, from what the launcher put into their environments.
    std::map<int, pid_t> ranksOf(const QString& out) const {
        std::map<int, pid_t> found;
        for (const QString& id : QDir("/proc").entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
            QFile words("/proc/" + id + "/cmdline"), environment("/proc/" + id + "/environ");
            if (!words.open(QIODevice::ReadOnly) || !words.readAll().contains(out.toUtf8())) continue;
            if (!environment.open(QIODevice::ReadOnly)) continue;
            for (const QByteArray& each : environment.readAll().split('\0'))
                if (each.startsWith("OMPI_COMM_WORLD_RANK=")) found[each.mid(21).toInt()] = id.toInt();
        }
        return found;
    }
    // The processes by rank of a run that has stored something and is not done. On a busy machine it may be done
    // before anyone looks: then it is started again, from nothing.
    std::map<int, pid_t> startedRanks(QProcess& process, const QString& out, const QStringList& launcher = {}) const {
        for (int attempt = 0; attempt < 5; ++attempt) {
            QDir(path(out)).removeRecursively();
            start(process, ranks(4, launcher) + QStringList{"study", "slow.yaml", "--out", out});
            if (!process.waitForStarted()) return {};
            for (QElapsedTimer since; process.state() != QProcess::NotRunning && stored(out) == 0;) {
                if (!since.isValid()) since.start();
                if (since.elapsed() > 60000) return {};
                process.waitForFinished(5);
            }
            if (auto found = ranksOf(out); found.size() == 4) return found;
            process.waitForFinished(60000);
            if (process.exitCode() != 0) return {};
        }
        return {};
    }
    std::size_t stored(const QString& out) const {
        if (!QFile::exists(path(out + "/runs.sqlite"))) return 0;
        auto store = RunStore::open(path(out + "/runs.sqlite").toStdString());
        const auto runs = store ? (*store)->runs() : Unexpected(store.error());
        return runs && !runs->empty() ? runs->back().results : 0;
    }
    QStringList rows(const QString& out) const { return storedRows(path(out + "/runs.sqlite")); }

private slots:
    void initTestCase() {
        if (QStandardPaths::findExecutable("mpirun").isEmpty()) QSKIP("mpirun is not there (Debian: openmpi-bin)");
        if (!QFile::exists(QFileInfo(ORRERY_CLI).path() + "/orrery-mpi.so")) QSKIP("built without MPI");
    }
    void fourRanksStoreWhatOneDoes() {
        write("a.yaml", sweep(60, "roofline, tile-hybrid, llm-inference") + "timelines: true\n");
        QCOMPARE(cli({"study", "a.yaml", "--out", "one"}, folder_.path(), 60000).exit, 0);
        const Outcome four = mpirun(ranks(4) + QStringList{"study", "a.yaml", "--out", "four", "--ranks"});
        QVERIFY2(four.exit == 0 && four.error.contains("4 ranks"), four.text());
        QCOMPARE(four.error.count("warning"), 0);
        QCOMPARE(rows("four").size(), 180);
        QCOMPARE(rows("four"), rows("one"));
        const QStringList files = QDir(path("one")).entryList({"*.json", "*.csv"}, QDir::Files);
        QVERIFY(files.size() > 20);
        for (const QString& file : files)
            QVERIFY2(withoutWallTimes(file, textOf("four/" + file)) == withoutWallTimes(file, textOf("one/" + file)),
                     qPrintable(file));
    }
    void searchesToo() {
        write("s.yaml", QByteArray::fromStdString(searchYaml("objectives: [time, energy]\n", "tile-hybrid")));
        for (const QStringList& agent :
             {QStringList{"--agent", "grid"}, QStringList{"--agent", "nsga2", "--evaluations", "90", "--seed", "4"}}) {
            const QStringList words = QStringList{"search", "s.yaml", "--json", "-", "--out"};
            const QString one = "s1" + agent[1], four = "s4" + agent[1];
            const Outcome alone = cli(words + QStringList{one} + agent, folder_.path(), 60000);
            const Outcome together = mpirun(ranks(4) + words + QStringList{four} + agent);
            QVERIFY2(alone.exit == 0 && together.exit == 0, together.text());
            QCOMPARE(withoutWallTimes("json", together.out.toUtf8()), withoutWallTimes("json", alone.out.toUtf8()));
            const char* sql =
                "select search, position, point, violation, refusal, numbers from search_points order by 2";
            QVERIFY(storedRows(path(one + "/runs.sqlite"), sql).size() >= 90);
            QCOMPARE(storedRows(path(four + "/runs.sqlite"), sql), storedRows(path(one + "/runs.sqlite"), sql));
        }
    }
    // Runs of agents are shared, and the scores are those of one rank.
    void agentsAreComparedTogether() {
        write("a1.yaml", QByteArray::fromStdString(searchYaml("objectives: [time, energy]\n", "roofline")));
        const QStringList words{"search", "a1.yaml", "--agents", "latin,nsga2", "--evaluations", "30", "--seeds", "4"};
        const Outcome alone = cli(words + QStringList{"--csv", "-"}, folder_.path(), 60000);
        const Outcome together = mpirun(ranks(3) + words + QStringList{"--csv", "-", "--ranks"});
        QVERIFY2(alone.exit == 0 && together.exit == 0, together.text());
        QVERIFY2(together.error.contains("3 ranks"), together.text());
        QVERIFY(alone.out.count('\n') > 12);
        QCOMPARE(together.out, alone.out);
        const Outcome wrong = mpirun(ranks(3) + QStringList{"search", "a1.yaml", "--agents", "nsga3"});
        QCOMPARE(wrong.exit, 2);
        QCOMPARE(wrong.error.count("nsga3"), 1);
    }
    // The launcher may let the others live: then they take over what the dead rank had.
    void aKilledRankIsReplaced() {
        write("slow.yaml", slow());
        QCOMPARE(cli({"study", "slow.yaml", "--out", "slow"}, folder_.path(), 120000).exit, 0);
        for (const int signal : {SIGKILL, SIGSTOP}) {
            const QString out = QString("k-four-%1").arg(signal);
            QProcess process;
            const auto processes = startedRanks(process, out, {"--enable-recovery"});
            QVERIFY2(processes.size() == 4, process.readAllStandardError());
            const std::size_t before = stored(out);
            QVERIFY2(before < slowRows, "done before a rank could be killed");
            ::kill(processes.at(2), signal);
            const bool ended = process.waitForFinished(120000);
            const QString error = QString::fromUtf8(process.readAllStandardError());
            if (!ended) process.kill();
            QVERIFY2(ended && process.exitCode() == 0, qPrintable(error));
            QVERIFY2(error.contains("rank 2: no word for 3 s"), qPrintable(error));
            QCOMPARE(rows(out), rows("slow"));
            QTRY_VERIFY_WITH_TIMEOUT(!QFile::exists(QString("/proc/%1").arg(processes.at(2))), 20000);
        }
    }
    // As launchers do by default: all are ended, and the run goes on where it was.
    void aKilledRankEndsTheRunAndNothingIsLost() {
        write("slow.yaml", slow());
        QProcess process;
        const auto processes = startedRanks(process, "l-four");
        QVERIFY2(processes.size() == 4, process.readAllStandardError());
        const std::size_t before = stored("l-four");
        ::kill(processes.at(3), SIGKILL);
        QVERIFY(process.waitForFinished(60000));
        QVERIFY(process.exitCode() != 0);
        QVERIFY(stored("l-four") >= before && stored("l-four") < slowRows);
        const Outcome rest = mpirun(ranks(2) + QStringList{"study", "slow.yaml", "--out", "l-four", "--resume"});
        QVERIFY2(rest.exit == 0, rest.text());
        if (!QFile::exists(path("slow"))) cli({"study", "slow.yaml", "--out", "slow"}, folder_.path(), 120000);
        QCOMPARE(rows("l-four"), rows("slow"));
    }
    // All ranks read the same files, or answer nothing.
    void aRankThatCannotAnswerIsNamed() {
        write("m.yaml", slow(20));
        write("wrong.sh",
              "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nif [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then sed s/alexnet/vgg-16/ "
              "m.yaml > other/m.yaml; cd other; fi\nif [ \"$OMPI_COMM_WORLD_RANK\" = 2 ]; then cd empty; "
              "fi\nexec " ORRERY_CLI " study m.yaml --out \"$1\"\n");
        QVERIFY(QDir(folder_.path()).mkpath("other") && QDir(folder_.path()).mkpath("empty"));
        const Outcome outcome = mpirun({"--oversubscribe", "-n", "4", "sh", path("wrong.sh"), path("m-out")});
        QVERIFY2(outcome.error.contains("rank 1: it asks another question"), outcome.text());
        QVERIFY2(outcome.error.contains("rank 2:"), outcome.text());
        QCOMPARE(rows("m-out").size(), 20);
    }
    // What cannot be stored is not acknowledged, and what was stays.
    void aFullDisk() {
        const QString disk = path("disk");
        QVERIFY(QDir().mkpath(disk));
        if (QProcess::execute("mount", {"-t", "tmpfs", "-o", "size=600k", "tmpfs", disk}) != 0)
            QSKIP("no small disk can be mounted here");
        write("f.yaml", sweep(400, "roofline"));
        const Outcome full = mpirun(ranks(3) + QStringList{"study", "f.yaml", "--out", disk + "/out"});
        const std::size_t kept = stored("disk/out");
        const bool sound = (*RunStore::open(path("disk/out/runs.sqlite").toStdString()))->check()->empty();
        // With room again it goes on.
        const bool larger = QProcess::execute("mount", {"-o", "remount,size=200m", disk}) == 0;
        const Outcome rest = mpirun(ranks(3) + QStringList{"study", "f.yaml", "--out", disk + "/out", "--resume"});
        const QStringList all = rows("disk/out");
        QProcess::execute("umount", {disk});
        QVERIFY2(full.ended && full.exit == 1 && full.error.contains("free some space"), full.text());
        QVERIFY2(kept > 0 && kept < 400 && sound, qPrintable(QString::number(kept)));
        QVERIFY2(larger && rest.exit == 0, rest.text());
        QCOMPARE(cli({"study", "f.yaml", "--out", "f-one"}, folder_.path(), 60000).exit, 0);
        QCOMPARE(all, rows("f-one"));
    }
    void badFilesEndAllRanksAtOnce() {
        QElapsedTimer clock;
        clock.start();
        const Outcome none = mpirun(ranks(3) + QStringList{"study", "/no/such.yaml", "--out", "none"});
        QVERIFY2(none.ended && none.exit == 1 && none.error.count("/no/such.yaml") == 1, none.text());
        const Outcome usage = mpirun(ranks(3) + QStringList{"search", "/no/such.yaml", "--agent", "grid"});
        QVERIFY2(usage.ended && usage.exit != 0, usage.text());
        QVERIFY(clock.elapsed() < 30000);
    }
    // Other commands are answered once.
    void aCommandOfOneRankIsAnsweredOnce() {
        const Outcome once = mpirun(ranks(3) + QStringList{"methods"});
        QVERIFY2(once.exit == 0 && once.out.count("\n  roofline ") + once.out.count("\nroofline ") <= 1, once.text());
        QVERIFY(!once.out.isEmpty());
    }
    void aPlainStartLoadsNoMpi() {
        QProcess process;
        process.start("ldd", {ORRERY_CLI});
        QVERIFY(process.waitForFinished());
        QVERIFY(!process.readAllStandardOutput().contains("libmpi"));
    }
};

QTEST_GUILESS_MAIN(TestCliMpi)
#include "tst_cli_mpi.moc"
