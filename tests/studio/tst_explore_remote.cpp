// Searches that another program runs: words without a shell, lines as they come, and what goes wrong.

#include "app/window/explore/explore_remote.h"
#include "base/hash.h"
#include "store/export/search_lines.h"
#include "store/runs/search_store.h"
#include "support/search_fixture.h"

#include <QElapsedTimer>
#include <QtTest/QtTest>

#include <cstring>
#include <thread>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::test;

class TestExploreRemote : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::optional<LoadedSearch> loaded_;

    QString script(const QString& name, const QByteArray& text) const {
        QFile file(folder_.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write("#!/bin/sh\n" + text) < 0) qFatal("cannot write");
        file.setPermissions(file.permissions() | QFile::ExeOwner);
        return file.fileName();
    }
    Expected<PointAnswers> searched(const RemoteSearch& how, SearchOptions options = {},
                                    bool* stopped = nullptr) const {
        const SearchProblem& problem = loaded_->problem;
        return searchElsewhere(how, problem, **searchAgent("grid"),
                               writeSearch("Small", problem.space.base(), loaded_->settings), options, stopped);
    }
    static QStringList wordsOf(const QString& command, const QStringList& arguments = {"search", "a b;c.yaml"}) {
        const auto words = commandWords(command, "/opt/or rery/orrery-cli", "/tmp/it's", arguments);
        return words ? *words : QStringList{QString::fromStdString(words.error().code)};
    }

private slots:
    void init() {
        auto loaded = readSearch(searchYaml("objectives: [time, energy]\n"));
        if (!loaded) QFAIL(toText(loaded.error()).c_str());
        loaded_ = std::move(*loaded);
    }
    void wordsAreSplitWithoutAShell() {
        QCOMPARE(wordsOf("mpirun -n 4 {orrery}"),
                 (QStringList{"mpirun", "-n", "4", "/opt/or rery/orrery-cli", "search", "a b;c.yaml"}));
        QCOMPARE(wordsOf("\"my launcher\" {orrery} {arguments} --ranks"),
                 (QStringList{"my launcher", "/opt/or rery/orrery-cli", "search", "a b;c.yaml", "--ranks"}));
        // What a shell would take apart stays a word.
        QCOMPARE(wordsOf("sh -c {orrery};reboot $(id) `id` > /etc/passwd"),
                 (QStringList{"sh", "-c", "/opt/or rery/orrery-cli;reboot", "$(id)", "`id`", ">", "/etc/passwd",
                              "search", "a b;c.yaml"}));
        // ssh gives its words to a shell.
        QCOMPARE(wordsOf("ssh host orrery-cli {arguments}"),
                 (QStringList{"ssh", "host", "orrery-cli", "search", "'a b;c.yaml'"}));
        QCOMPARE(wordsOf("/usr/bin/ssh host cd {folder} {orrery}"),
                 (QStringList{"/usr/bin/ssh", "host", "cd", "'/tmp/it'\\''s'", "'/opt/or rery/orrery-cli'", "search",
                              "'a b;c.yaml'"}));
    }
    void badCommands() {
        for (const char* bad : {"", "   ", "mpirun -n 4", "mpirun {ranks} {orrery}", "mpirun \"-n {orrery}"})
            QCOMPARE(wordsOf(bad), QStringList{"explore.command"});
    }
    void theFilesSayTheSameQuestion() {
        for (const char* more : {"", "plan: tp=1\nsoftware: vLLM 0.24.0\n", "task: training-step\n"}) {
            const bool step = std::string_view(more).starts_with("task");
            const auto loaded = readSearch(searchYaml(std::string("objectives: [time, max Throughput]\n") + more,
                                                      step ? "closed-form-step" : "roofline"));
            QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
            const auto files = writeSearch("it: \"quoted\"", loaded->problem.space.base(), loaded->settings);
            QTemporaryDir folder;
            for (const SearchPart& part : files) {
                QFile file(folder.filePath(QString::fromStdString(part.name)));
                QVERIFY(file.open(QIODevice::WriteOnly) &&
                        file.write(part.text.data(), qsizetype(part.text.size())) > 0);
            }
            const auto again = readSearchFile(folder.filePath("search.yaml").toStdString());
            QVERIFY2(again, again ? "" : toText(again.error()).c_str());
            QCOMPARE(again->name, std::string("it: \"quoted\""));
            QCOMPARE(searchProblemText(again->problem, **searchAgent("grid")),
                     searchProblemText(loaded->problem, **searchAgent("grid")));
        }
    }
    void linesComeBackAsTheyWere() {
        PointAnswers seen;
        const double none = std::numeric_limits<double>::quiet_NaN();
        seen.add({0, {{1, 1, 1}, {2, 2, 2}}, 0, ""});
        seen.add({7, {{0.1 + 0.2, 1e-300, 5}, {1, none, none}}, 0.25, ""});
        seen.add({9, {{none, none, none}, {none, none, none}}, 0, "too \"dear\""});
        const auto line = readSearchLine(pointsLine(seen, 1), 2);
        QVERIFY2(line, line ? "" : toText(line.error()).c_str());
        QCOMPARE(line->points.size(), std::size_t{2});
        PointAnswers back;
        back.add(seen.at(0));
        for (const PointAnswer& each : line->points) back.add(each);
        QCOMPARE(std::memcmp(back.value.data(), seen.value.data(), sizeof(double) * 4), 0);
        QVERIFY(std::isnan(back.low[3]) && std::isnan(back.value[4]));
        QCOMPARE(back.violation, seen.violation);
        QCOMPARE(back.refusals, seen.refusals);
        QCOMPARE(readSearchLine(beginLine("abc", 5), 2)->question, std::string("abc"));
        QVERIFY(readSearchLine(endLine(true), 2)->finished && !readSearchLine(endLine(false), 2)->finished);
        for (const char* bad : {"", "{", "[]", "{\"points\":[{\"values\":[1]}]}", "{\"other\":1}", "hello"})
            QCOMPARE(readSearchLine(bad, 2).error().code, std::string("search.line"));
    }
    // The real program, started by a command: the points of this machine.
    void theSamePointsAsHere() {
        const PointAnswers here = runSearch(loaded_->problem, **searchAgent("grid"), {});
        Progress progress;
        std::size_t told = 0;
        SearchOptions options{.progress = &progress};
        options.onBatch = [&](const PointAnswers& seen, std::size_t first) {
            told += seen.size() - first;
            return true;
        };
        bool stopped = true;
        const auto there = searched({"env ORRERY=1 {orrery}", folder_.filePath("there")}, options, &stopped);
        QVERIFY2(there, there ? "" : toText(there.error()).c_str());
        QVERIFY(!stopped);
        QCOMPARE(there->points, here.points);
        QCOMPARE(std::memcmp(there->value.data(), here.value.data(), sizeof(double) * here.value.size()), 0);
        QCOMPARE(told, here.size());
        QCOMPARE(progress.done(), std::uint64_t(here.size()));
        // Once more goes on with what stands there.
        const auto again = searched({"{orrery}", folder_.filePath("there")});
        QVERIFY(again && again->points == here.points);
    }
    void stoppedOnTheWay() {
        std::stop_source stop;
        SearchOptions options{.stop = stop.get_token()};
        const std::jthread later([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            stop.request_stop();
        });
        QElapsedTimer clock;
        clock.start();
        bool stopped = false;
        QVERIFY(searched({script("wait.sh", "exec sleep 60\n") + " {orrery}", folder_.filePath("stopped")}, options,
                         &stopped));
        QVERIFY(stopped && clock.elapsed() < 20000);
    }
    void whatGoesWrongIsSaid() {
        const auto complaint = [&](const QString& command, int silence = 60'000) {
            const auto found = searched({command, folder_.filePath("wrong"), silence});
            return found ? std::string("found") : found.error().code + ": " + found.error().message;
        };
        const auto says = [&](const QString& command, const char* words, int silence = 60'000) {
            const std::string said = complaint(command, silence);
            return said.starts_with("explore.command") && said.find(words) != std::string::npos;
        };
        QVERIFY(says("/no/such/launcher {orrery}", "cannot be started"));
        const QString failing = script("failing.sh", "echo there is no such partition >&2; exit 3\n");
        QVERIFY(says(failing + " {orrery}", "exit code 3: there is no such partition"));
        // A host that does not answer: the command runs, and says nothing.
        const QString silent = script("silent.sh", "echo trying to connect >&2; exec sleep 60\n");
        QElapsedTimer clock;
        clock.start();
        QVERIFY(says(silent + " {orrery}", "printed nothing for 1 s: trying to connect", 1000));
        QVERIFY(clock.elapsed() < 20000);
        const QString other = script("other.sh", "echo '{\"search\":\"0123\",\"most\":5}'; exec sleep 60\n");
        QVERIFY(says(other + " {orrery}", "another question"));
        const QString torn = script("torn.sh", "echo '{\"points\":[{\"poi'; exit 0\n");
        QVERIFY(complaint(torn + " {orrery}").starts_with("search.line"));
        const QString mute = script("mute.sh", "exit 0\n");
        QVERIFY(says(mute + " {orrery}", "it said nothing"));
        QFile blocked(folder_.filePath("blocked"));
        QVERIFY(blocked.open(QIODevice::WriteOnly));
        const auto noFolder = searched({"{orrery}", folder_.filePath("blocked/inside")});
        QVERIFY(!noFolder && noFolder.error().code == "explore.command");
    }
};

QTEST_GUILESS_MAIN(TestExploreRemote)
#include "tst_explore_remote.moc"
