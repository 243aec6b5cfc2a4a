// `orrery-cli search`: fronts as a table, JSON and CSV, going on after a kill, and what is no search.

#include "store/runs/search_store.h"
#include "support/cli_process.h"
#include "support/handbook_runs.h"
#include "support/schema_check.h"
#include "support/search_fixture.h"

#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <vector>

using namespace orrery;
using namespace orrery::test;

class TstCliSearch : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QString written(const QString& name, const std::string& text) const {
        QFile file(folder_.filePath(name));
        if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write");
        file.write(text.data(), static_cast<qint64>(text.size()));
        return file.fileName();
    }
    // But for the one time in it.
    static Json numbersOf(const Outcome& outcome) {
        Json json = Json::parse(outcome.out.toStdString());
        json.erase("seconds");
        return json;
    }

private slots:
    void shippedSearchesAnswer() {
        const QString folder = QStringLiteral(ORRERY_SOURCE "/presets/searches/");
        for (const char* name : {"hbm-or-cores.yaml", "ten-thousand-designs.yaml"}) {
            const Outcome outcome = cli({"search", folder + name, "--json", "-"}, {}, 60000);
            QVERIFY2(outcome.exit == 0, outcome.text().constData());
            for (const std::string& error : schemaErrors(outcome.out.toStdString(), "search")) QFAIL(error.c_str());
            const Json json = Json::parse(outcome.out.toStdString());
            QCOMPARE(json["evaluated"], json["points"]);
            QVERIFY(!json["front"].empty());
        }
    }
    void nothingThatFitsIsSaid() {
        // The first two designs of this one do not fit: no front, and a script must be told why the exit is 1.
        const Outcome outcome =
            cli({"search", QStringLiteral(ORRERY_SOURCE "/presets/searches/spread-a-model.yaml"), "--evaluations", "2"},
                {}, 60000);
        QCOMPARE(outcome.exit, 1);
        QVERIFY2(outcome.error.contains("error: none of the 2 designs") && outcome.error.contains("hint: "),
                 outcome.text().constData());
    }
    void bandwidthIsWorthMoreThanCores() {
        const Outcome outcome =
            cli({"search", QStringLiteral(ORRERY_SOURCE "/presets/searches/hbm-or-cores.yaml"), "--json", "-"});
        const Json json = Json::parse(outcome.out.toStdString());
        const auto time = [&](const char* bandwidth, const char* cores) {
            const auto level = [&](std::size_t knob, const char* value) {
                const auto values = json["knobs"][knob]["values"].get<std::vector<std::string>>();
                return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin());
            };
            return json["history"]["values"]["time"][level(0, bandwidth) * 5 + level(1, cores)].get<double>();
        };
        QVERIFY(time("6.7 TB/s", "132") < 0.8 * time("3.35 TB/s", "132"));
        QVERIFY(time("3.35 TB/s", "264") > 0.9 * time("3.35 TB/s", "132"));
    }
    // What the handbook shows of its first search, and what it says in words, is what the search says today.
    void theHandbooksSearch() {
        const QString page = handbookPage("exploration.md");
        const HandbookRun run = firstRun(page);
        QVERIFY2(run.shown.size() >= 5 && run.arguments.value(0) == "search", qPrintable(run.arguments.join(' ')));
        const Outcome outcome = cli(run.arguments, QStringLiteral(ORRERY_SOURCE), 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        QCOMPARE(notPrinted(run, outcome.out), QString());
        const Json json =
            Json::parse(cli(run.arguments + QStringList{"--json", "-"}, ORRERY_SOURCE, 60000).out.toStdString());
        const auto at = [&](const char* quantity, const char* bandwidth, const char* cores) {
            std::size_t point = 0;
            for (std::size_t knob = 0; knob < 2; ++knob) {
                const auto values = json["knobs"][knob]["values"].get<std::vector<std::string>>();
                const auto found = std::find(values.begin(), values.end(), knob == 0 ? bandwidth : cores);
                if (found == values.end()) qFatal("no such value");
                point = point * values.size() + static_cast<std::size_t>(found - values.begin());
            }
            return json["history"]["values"][quantity][point].get<double>();
        };
        static const QRegularExpression sentence(
            "Twice the bandwidth saves a third of the time and costs (\\d+) mm² of silicon. Twice the cores alone "
            "save (\\d+) % and cost (\\d+) mm²");
        const auto said = sentence.match(page.simplified());
        QVERIFY(said.hasMatch());
        const double time = at("time", "3.35 TB/s", "132"), area = at("area", "3.35 TB/s", "132");
        QVERIFY(std::abs(1 - at("time", "6.7 TB/s", "132") / time - 1.0 / 3) < 0.05);
        QCOMPARE(std::round(1e6 * (at("area", "6.7 TB/s", "132") - area)), said.captured(1).toDouble());
        QCOMPARE(std::round(100 * (1 - at("time", "3.35 TB/s", "264") / time)), said.captured(2).toDouble());
        QCOMPARE(std::round(1e6 * (at("area", "3.35 TB/s", "264") - area)), said.captured(3).toDouble());
    }
    // A slip in what is wanted is told before any point is answered, with the nearest name; what some answers have
    // alone is no slip.
    void aQuantityThatNobodyHasIsNamed() {
        const auto asked = [&](const std::string& rest) {
            return cli({"search", written("slip.yaml", searchYaml(rest, "tile-hybrid")), "--csv", "-"}, {}, 60000);
        };
        const Outcome objective = asked("objectives: [tme]\n");
        QVERIFY2(objective.exit == 1 && objective.out.isEmpty() && objective.error.contains("search.objective") &&
                     objective.error.contains("did you mean `time`"),
                 objective.text());
        const Outcome limit = asked("objectives: [time]\nconstraints: [powre <= 700 W]\n");
        QVERIFY2(limit.exit == 1 && limit.out.isEmpty() && limit.error.contains("did you mean `power`"), limit.text());
        const Outcome figure = asked("objectives: [max Throughput]\n");
        QVERIFY2(figure.exit == 0, figure.text());
    }
    void theTableAndCsv() {
        const QString file = written("a.yaml", searchYaml());
        const Outcome outcome = cli({"search", file, "--agent", "one-at-a-time"});
        QVERIFY2(outcome.exit == 0 && outcome.out.contains("as drawn") && outcome.out.contains("Each knob alone"),
                 outcome.text().constData());
        const Outcome csv = cli({"search", file, "--csv", "-", "--json", folder_.filePath("a.json")});
        const QString table = csv.out.mid(csv.out.indexOf("point,"));
        QCOMPARE(table.split("\r\n", Qt::SkipEmptyParts).size(), 1 + 126);
    }
    // Killed again and again, gone on with: the same as at one go.
    void goesOnAfterAKill() {
        const QString file = written("b.yaml", searchYaml("objectives: [time]\n", "tile-hybrid"));
        const QStringList command{"search", file, "--agent", "nsga2", "--evaluations", "110", "--seed", "5"};
        const Outcome whole = cli(command + QStringList{"--json", "-"}, {}, 60000);
        QVERIFY2(whole.exit == 0, whole.text().constData());
        const QStringList resumed = command + QStringList{"--out", folder_.filePath("kill"), "--resume"};
        for (const int wait : {30, 60, 90}) {
            QProcess process;
            process.start(ORRERY_CLI, resumed);
            QVERIFY(process.waitForStarted());
            QTest::qWait(wait);
            process.kill();  // SIGKILL, and nothing where it has ended by itself
            process.waitForFinished();
        }
        const Outcome rest = cli(resumed + QStringList{"--json", "-"}, {}, 60000);
        QVERIFY2(rest.exit == 0, rest.text().constData());
        QVERIFY(numbersOf(rest) == numbersOf(whole));
        const Outcome again = cli(resumed + QStringList{"--json", "-"}, {}, 60000);
        QVERIFY(numbersOf(again) == numbersOf(whole));
    }
    // A cheaper method's answers are stored as well: the same search again answers nothing, and says what it asked.
    void cheapAnswersAreStored() {
        const std::string yaml = searchYaml("objectives: [time, area]\nladder: [roofline]\n", "tile-hybrid");
        const QString file = written("cheap.yaml", yaml), folder = folder_.filePath("cheap");
        const QStringList command{"search",        file,     "--agent", "multi-fidelity",
                                  "--evaluations", "24",     "--out",   folder,
                                  "--resume",      "--json", "-"};
        const Outcome whole = cli(command, {}, 60000);
        QVERIFY2(whole.exit == 0, whole.text().constData());
        for (const std::string& error : schemaErrors(whole.out.toStdString(), "search")) QFAIL(error.c_str());
        const Json json = Json::parse(whole.out.toStdString());
        QCOMPARE(json["objectives"][0]["unit"].get<std::string>(), std::string("s"));
        QVERIFY(json["objectives"][1].contains("unit"));
        QCOMPARE(json["cheaper"].size(), std::size_t{1});
        QCOMPARE(json["cheaper"][0]["method"].get<std::string>(), std::string("roofline"));
        const auto storedNow = [&] {
            SearchProblem asked = readSearch(yaml)->problem;
            asked.method = "roofline";
            const auto store = SearchStore::open(folder.toStdString() + "/runs.sqlite");
            return (*store)->answered(cheapProblemText(asked, 0), 2)->size();
        };
        QCOMPARE(storedNow(), json["cheaper"][0]["evaluated"].get<std::size_t>());
        const Outcome again = cli(command, {}, 60000);
        QVERIFY2(again.exit == 0, again.text().constData());
        QVERIFY(numbersOf(again) == numbersOf(whole));
        QCOMPARE(storedNow(), json["cheaper"][0]["evaluated"].get<std::size_t>());
        const Outcome text = cli({"search", file, "--agent", "multi-fidelity", "--evaluations", "24"}, {}, 60000);
        QVERIFY2(text.out.contains("Besides "), text.text().constData());
    }
    void tablesAreSearched() {
        written("t.csv", "kind,size,time\na,1,5\nb,2,4\na,3,3\nb,4,6\n");
        const QString file =
            written("t.yaml", "orrery: search/1\ntable: t.csv\nknobs: [kind, size]\nobjectives: [time]\n");
        const Outcome outcome = cli({"search", file, "--json", "-"});
        QVERIFY2(outcome.exit == 0, outcome.text().constData());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "search")) QFAIL(error.c_str());
        const Json json = Json::parse(outcome.out.toStdString());
        QCOMPARE(json["best"]["time"]["knobs"]["size"].get<std::string>(), std::string("3"));
        QVERIFY(!json.contains("drawn"));
        const Outcome text = cli({"search", file, "--agent", "one-at-a-time"});
        QVERIFY2(text.exit == 0 && !text.out.contains("as drawn"), text.text().constData());
        QCOMPARE(cli({"search", file, "--method", "roofline"}).exit, 2);
        // A table elsewhere, and none.
        const QString away =
            written("away.yaml", "orrery: search/1\ntable: t.csv\nknobs: [size]\nobjectives: [time]\n");
        QDir(folder_.path()).mkdir("else");
        QVERIFY(QFile::rename(away, folder_.filePath("else/away.yaml")));
        const Outcome none = cli({"search", folder_.filePath("else/away.yaml")});
        QVERIFY2(none.exit == 1 && none.error.contains("--tables"), none.text().constData());
        QCOMPARE(cli({"search", folder_.filePath("else/away.yaml"), "--tables", folder_.path()}).exit, 0);
    }
    // What was learned from a table answers designs that are not in it, with intervals.
    void aSurrogateIsSearched() {
        std::string rows = "x,kind,noise,time\n";
        for (int i = 0; i < 80; ++i) {
            const double x = 1 + (i * 7) % 40 / 4.0;
            rows += fmt::format("{},{},{},{}\n", x, i % 2 ? "slow" : "quick", i % 3,
                                (i % 2 ? 2 : 1) * (3 + (x - 6) * (x - 6)));
        }
        written("designs.csv", rows);
        const QString learned = folder_.filePath("designs.json");
        const Outcome fitted =
            cli({"surrogate", folder_.filePath("designs.csv"), "--target", "time", "--out", learned});
        QVERIFY2(fitted.exit == 0, fitted.text().constData());
        const QString file =
            written("s.yaml",
                    "orrery: search/1\nsurrogate: designs.json\nknobs: {x: {from: 1, to: 10, steps: 37}, "
                    "kind: [quick, slow], noise: [0]}\nobjectives: [time]\n");
        const Outcome outcome = cli({"search", file, "--json", "-"});
        QVERIFY2(outcome.exit == 0, outcome.text().constData());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "search")) QFAIL(error.c_str());
        const Json json = Json::parse(outcome.out.toStdString());
        const Json best = json["best"]["time"];
        QCOMPARE(best["knobs"]["kind"].get<std::string>(), std::string("quick"));
        const double at = std::stod(best["knobs"]["x"].get<std::string>());
        QVERIFY2(at > 4.5 && at < 7.5, qPrintable(QString::number(at)));
        const auto points = [&](const char* name) {
            const QString csv = folder_.filePath(name);
            QFile out(csv);
            const bool there = cli({"search", file, "--csv", csv}).exit == 0 && out.open(QIODevice::ReadOnly);
            return there ? out.readAll() : QByteArray(name);
        };
        QCOMPARE(points("one.csv"), points("two.csv"));
        for (const auto& [knobs, objective, says] : std::vector<std::array<const char*, 3>>{
                 {"{x: [1], kind: [quick]}", "time", "noise"},
                 {"{x: [1], kind: [quick], noise: [0], y: [1]}", "time", "`y`"},
                 {"{x: [one], kind: [quick], noise: [0]}", "time", "no number"},
                 {"{x: [1], kind: [quick], noise: [0]}", "energy", "did not learn"}}) {
            const QString wrong = written("w.yaml", fmt::format("orrery: search/1\nsurrogate: designs.json\nknobs: {}\n"
                                                                "objectives: [{}]\n",
                                                                knobs, objective));
            const Outcome refused = cli({"search", wrong});
            QVERIFY2(refused.exit == 1 && refused.error.contains(says), refused.text().constData());
            QVERIFY2(refused.error.count("knobs.x") < 2, "its place is said twice: " + refused.text());
        }
    }
    void agentsAreCompared() {
        std::string rows = "a,b,time,power\n";
        for (int i = 0; i < 60; ++i)
            rows += fmt::format("{},{},{},{}\n", i % 8, i, (i * 37) % 61 + 1, (i * 11) % 59 + 1);
        written("many.csv", rows);
        const QString file = written("many.yaml",
                                     "orrery: search/1\nname: Many\ntable: many.csv\nknobs: [a, b]\n"
                                     "objectives: [time, power]\nevaluations: 20\n");
        const QString page =
            written("page.md", "# Page\n\n| Agent | Cost | old |\n|---|---|---|\n| x | 1 | 2 |\n\nend\n");
        const QStringList command{"search", file, "--agents", "all", "--seeds", "3"};
        const Outcome outcome = cli(command + QStringList{"--page", page});
        QVERIFY2(outcome.exit == 0 && outcome.out.contains("Worse than random"), outcome.text().constData());
        QFile there(page);
        QVERIFY(there.open(QIODevice::ReadOnly));
        const QByteArray text = there.readAll();
        QVERIFY2(text.contains("| Many (20 of 60) |") && text.contains("| NSGA-II | 1.00 |") && !text.contains("old") &&
                     text.startsWith("# Page") && text.endsWith("\nend\n"),
                 text.constData());
        const Outcome csv = cli(command + QStringList{"--csv", "-"});
        const auto lines = csv.out.split("\r\n", Qt::SkipEmptyParts);
        QVERIFY(lines.size() > 1 + 8 * 3 - 1 && (lines.size() - 1) % 3 == 0);
        QCOMPARE(cli(command + QStringList{"--csv", "-"}).out, csv.out);
        for (const QStringList& wrong : {QStringList{"search", file, file},
                                         {"search", file, "--seeds", "3"},
                                         {"search", file, "--agents", "oracle"},
                                         {"search", file, "--agents", "all", "--seeds", "0"},
                                         {"search", file, "--agents", "all", "--seeds", "1"},
                                         {"search", file, "--agents", "all", "--json", "-"}}) {
            const Outcome refused = cli(wrong);
            QVERIFY2(refused.exit == 2, (wrong.join(' ').toUtf8() + refused.text()).constData());
        }
        const QString silent =
            written("silent.yaml", "orrery: search/1\ntable: many.csv\nknobs: [a, b]\nobjectives: [time]\n");
        QCOMPARE(cli({"search", silent, "--agents", "random", "--seeds", "2"}).exit, 2);
        QCOMPARE(cli({"search", silent, "--agents", "random", "--seeds", "2", "--evaluations", "5"}).exit, 0);
    }
    void noSearch() {
        const QString file = written("c.yaml", searchYaml());
        QCOMPARE(cli({"search"}).exit, 2);
        QCOMPARE(cli({"search", file, "--agent", "oracle"}).exit, 2);
        QCOMPARE(cli({"search", file, "--agent", "random"}).exit, 2);
        QCOMPARE(cli({"search", file, "--evaluations", "none"}).exit, 2);
        QCOMPARE(cli({"search", file, "--seed", "-1"}).exit, 2);
        QCOMPARE(cli({"search", file, "--resume"}).exit, 2);
        QCOMPARE(cli({"search", file, "--method", "oracle"}).exit, 1);
        QCOMPARE(cli({"search", folder_.filePath("absent.yaml")}).exit, 1);
        const Outcome notOne = cli({"search", QStringLiteral(ORRERY_SOURCE "/presets/hardware/h100-sxm.yaml")});
        QVERIFY2(notOne.exit == 1 && notOne.error.contains("document.kind"), notOne.text().constData());
    }
    // Four agents walk by a library that is loaded when one of them is chosen; the others need it not.
    void anAlgorithmThatIsNotInstalledIsSaid() {
        const QString file = written("c.yaml", searchYaml());
        QProcessEnvironment without = QProcessEnvironment::systemEnvironment();
        without.insert("ORRERY_AGENTS", folder_.filePath("none.so"));
        const QStringList command{"search", file, "--evaluations", "20", "--agent"};
        for (const char* agent : {"moead", "cma-es", "annealing", "ants"}) {
            const Outcome refused = cli(command + QStringList{agent}, {}, 10'000, without);
            QVERIFY2(refused.exit == 2 && refused.error.contains("none.so"), refused.text().constData());
        }
        QCOMPARE(cli(command + QStringList{"hill"}, {}, 10'000, without).exit, 0);
        QCOMPARE(cli(command + QStringList{"moead"}).exit, 0);
    }
    void areasOfADesign() {
        const Outcome outcome = cli({"hardware", "a100-80-sxm", "--area", "--json"});
        QVERIFY2(outcome.exit == 0, outcome.text().constData());
        const Json json = Json::parse(outcome.out.toStdString())["area"];
        QCOMPARE(json["area_m2"].get<double>(), 826e-6);
        double sum = 0;
        for (const Json& part : json["parts"]) sum += part["each_m2"].get<double>() * part["copies"].get<double>();
        QVERIFY(std::abs(sum / json["dies"][0]["parts_m2"].get<double>() - 1) < 1e-9);
        QCOMPARE(cli({"hardware", "gemmini-like", "--area"}).exit, 1);
    }
};

QTEST_MAIN(TstCliSearch)
#include "tst_cli_search.moc"
