// Programs of others: arguments as they stand, limits, stops, and nothing left running.

#include "base/child_program.h"
#include "base/text/read_file.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <chrono>
#include <csignal>
#include <thread>

using namespace orrery;

namespace {

ProgramCall shell(const QTemporaryDir& folder, const std::string& script) {
    const std::string path = folder.path().toStdString();
    return {.command = {"/bin/sh", "-c", script}, .folder = path, .output = path + "/out", .errors = path + "/err"};
}

std::string said(const ProgramCall& call) {
    return readFile(call.output).value_or("unreadable");
}

}  // namespace

class TstChildProgram : public QObject {
    Q_OBJECT
private slots:
    // No shell stands between: what a shell would expand arrives as it is.
    void argumentsArriveAsTheyStand() {
        const QTemporaryDir folder;
        ProgramCall call = shell(folder, "");
        const std::vector<std::string> odd{"a b",          "'q'", "\"", "$(touch made)", "`touch made`",
                                           "; touch made", "*",   "",   "-n\n"};
        call.command = {"/usr/bin/printf", "%s|"};
        call.command.insert(call.command.end(), odd.begin(), odd.end());
        const auto run = runProgram(call, {});
        QVERIFY(run && run->exit == 0);
        std::string expected;
        for (const std::string& each : odd) expected += each + "|";
        QCOMPARE(said(call), expected);
        QVERIFY(!QFile::exists(folder.filePath("made")));
    }
    void statusAndSignalAreTold() {
        const QTemporaryDir folder;
        const auto seven = runProgram(shell(folder, "exit 7"), {});
        QVERIFY(seven && seven->exit == 7 && seven->signal == 0);
        const auto killed = runProgram(shell(folder, "kill -SEGV $$"), {});
        QVERIFY(killed && killed->exit == -1 && killed->signal == SIGSEGV);
    }
    void timeAndMemoryAreMeasured() {
        const QTemporaryDir folder;
        // 40 MB of text in one variable.
        const auto run =
            runProgram(shell(folder, "x=$(head -c 40000000 /dev/zero | tr '\\0' a); sleep 0.1; echo ${#x}"), {});
        QVERIFY(run && run->exit == 0);
        QVERIFY2(run->seconds > 0.1, qPrintable(QString::number(run->seconds)));
        QVERIFY2(run->peakBytes > 40e6, qPrintable(QString::number(run->peakBytes)));
    }
    void aStopEndsTheWholeGroup() {
        const QTemporaryDir folder;
        std::stop_source stop;
        const ProgramCall call = shell(folder, "sleep 60 & echo $!; sleep 60");
        std::jthread later([&] {
            for (int i = 0; i < 500 && std::atoi(said(call).c_str()) <= 1; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            stop.request_stop();
        });
        const auto run = runProgram(call, stop.get_token());
        QVERIFY(!run);
        QCOMPARE(run.error().code, std::string("study.cancelled"));
        const pid_t child = std::atoi(said(call).c_str());
        QVERIFY(child > 1);
        // Killed, and perhaps not yet buried by whoever inherits it.
        const auto gone = [&] {
            const auto about = readFile("/proc/" + std::to_string(child) + "/stat");
            return !about || about->find(") Z ") != std::string::npos;
        };
        QTRY_VERIFY(gone());
    }
    void aProgramThatEndsLeavesNothingBehind() {
        const QTemporaryDir folder;
        const ProgramCall call = shell(folder, "sleep 60 & echo $!");
        QVERIFY(runProgram(call, {}));
        const pid_t child = std::atoi(said(call).c_str());
        QTRY_VERIFY(kill(child, 0) != 0 ||
                    readFile("/proc/" + std::to_string(child) + "/stat").value_or("").find(") Z ") !=
                        std::string::npos);
    }
    void tooLongAndTooMuchAreStopped() {
        const QTemporaryDir folder;
        ProgramCall call = shell(folder, "sleep 60");
        call.mostSeconds = 0.2;
        const auto longer = runProgram(call, {});
        QVERIFY(!longer);
        QCOMPARE(longer.error().code, std::string("program.too-long"));
        call = shell(folder, "yes");
        call.mostOutput = 1 << 20;
        const auto more = runProgram(call, {});
        QVERIFY(!more);
        QCOMPARE(more.error().code, std::string("program.too-much-output"));
    }
    void whatCannotBeStartedIsSaid() {
        const QTemporaryDir folder;
        ProgramCall call = shell(folder, "");
        call.command = {folder.filePath("nonesuch").toStdString()};
        const auto run = runProgram(call, {});
        QVERIFY(!run);
        QCOMPARE(run.error().code, std::string("program.not-started"));
    }
    void programsAreFoundByTheSearchPath() {
        QVERIFY(QString::fromStdString(findProgram("sh")).endsWith("/sh"));
        QCOMPARE(findProgram("/bin/sh"), std::string("/bin/sh"));
        QVERIFY(findProgram("no-such-program-here").empty());
        QVERIFY(findProgram("/etc/passwd").empty());  // no program
        QVERIFY(findProgram("/etc").empty());
    }
};

QTEST_GUILESS_MAIN(TstChildProgram)
#include "tst_child_program.moc"
