// Spaces that a table answers: rows as points, and what is no such table.

#include "store/project/search_file.h"
#include "study/exploration/agent_benchmark.h"
#include "study/exploration/agents.h"
#include "study/exploration/table_space.h"

#include <QtTest/QtTest>

#include <filesystem>
#include <fstream>
#include <set>

using namespace orrery;

namespace {

const std::string archgym = std::string(ORRERY_REFERENCE) + "/compiler/archgym/";

std::string astrasim() {
    return "orrery: search/1\ntable: " + archgym +
           "astrasim_points.csv\nknobs: [topologies-per-dim-1, topologies-per-dim-2, units-count-1, units-count-2, "
           "link-latency-1, link-latency-2, link-bandwidth-1, link-bandwidth-2, hbm-bandwidth-1, hbm-bandwidth-2, "
           "links-count-1, links-count-2, scheduling-policy, preferred-dataset-splits, "
           "all-reduce-implementation]\nobjectives: [runtime, exposed_communication]\n";
}

}  // namespace

class TestTableSpace : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string written(const std::string& text, const char* name = "t.csv") const {
        const std::string path = folder_.filePath(name).toStdString();
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    Expected<LoadedSearch> read(const std::string& csv, const std::string& rest) const {
        written(csv);
        return readSearch("orrery: search/1\ntable: t.csv\n" + rest, folder_.filePath("s.yaml").toStdString());
    }

private slots:
    void rowsArePoints() {
        const auto loaded = read("a,b,size,time,power\nx,1,10,5,2\ny,2,1000.0,4,3\nx,2,20,3,9\n\ny,1,3000,1,8\n",
                                 "knobs: [a, b, size]\nobjectives: [time, max power]\nconstraints: [power <= 8.5]\n");
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        const SearchProblem& problem = loaded->problem;
        const SearchSpace& space = problem.space;
        QVERIFY(space.isOfRows());
        QCOMPARE(space.points(), std::uint64_t{4});
        QCOMPARE(space.knobs()[2].values, (std::vector<std::string>{"10", "20", "1000.0", "3000"}));
        QVERIFY(space.knobs()[0].words && !space.knobs()[1].words);
        QVERIFY(space.knobs()[2].logarithmic && !space.knobs()[1].logarithmic);
        QCOMPARE(space.labelAt(1), std::string("a y, b 2, size 1000.0"));
        const PointAnswers seen = runSearch(problem, **searchAgent("grid"), {});
        QCOMPARE(seen.value, (std::vector<double>{5, 2, 4, 3, 3, 9, 1, 8}));
        QCOMPARE(seen.low, seen.value);
        QVERIFY(seen.feasible(0) && !seen.feasible(2));
        QCOMPARE(frontOf(problem, seen).points, std::vector<std::size_t>{3});
        QVERIFY(!evaluatePoint(problem, 4, {}).refusal.empty());
        QVERIFY(!evaluateBase(problem, {}).evaluation.refusal.empty());
    }
    // What an agent means is the nearest row that it has not had; by Gower's distance.
    void proposalsFallOnRows() {
        const auto loaded = read("a,n,t\nx,0,1\nx,10,2\ny,0,3\ny,9,4\n", "knobs: [a, n]\nobjectives: [t]\n");
        QVERIFY(loaded);
        const SearchSpace& space = loaded->problem.space;
        const std::vector<std::uint32_t> wanted{1, 2};  // y, 10
        QVERIFY(!space.exactly(wanted));
        QCOMPARE(space.nearest(wanted, 9), (std::vector<std::uint64_t>{3, 1, 2, 0}));
        Search search(loaded->problem, {});
        QCOMPARE(search.pointNear(wanted), std::uint64_t{3});
        QCOMPARE(search.pointNear(wanted, std::vector<std::uint64_t>{3, 1}), std::uint64_t{2});
        search.evaluate(std::vector<std::uint64_t>{3});
        QCOMPARE(search.pointNear(wanted), std::uint64_t{1});
        search.evaluate(std::vector<std::uint64_t>{0, 1, 2});
        QCOMPARE(search.pointNear(wanted), std::uint64_t{3});
    }
    void someValuesAreSomeRows() {
        const std::string csv = "a,n,t\nx,1.0,1\nx,2,2\ny,1,3\ny,2,4\n";
        const auto loaded = read(csv, "knobs: {a: [y, x], n: [1]}\nobjectives: [t]\n");
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        QCOMPARE(runSearch(loaded->problem, **searchAgent("grid"), {}).value, (std::vector<double>{1, 3}));
        QCOMPARE(read(csv, "knobs: {n: [7]}\nobjectives: [t]\n").error().code, std::string("search.value"));
    }
    void oneKnobAloneWhereTheTableKnows() {
        const auto loaded = read("a,n,t\nx,1,1\nx,2,2\ny,1,3\nz,2,4\n", "knobs: [a, n]\nobjectives: [t]\n");
        const PointAnswers seen = runSearch(loaded->problem, **searchAgent("one-at-a-time"), {});
        QCOMPARE(seen.points, (std::vector<std::uint64_t>{0, 2, 1}));
        QVERIFY(!knobEffects(loaded->problem, seen)[0].rows[2]);
    }
    void rowsThatRepeatAreLeftOut() {
        const auto loaded = read("a,t\n1,1\n2,2\n1.0,1\n", "knobs: [a]\nobjectives: [t]\n");
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        QCOMPARE(loaded->problem.space.points(), std::uint64_t{2});
        QCOMPARE(loaded->warnings.size(), std::size_t{1});
        QCOMPARE(loaded->warnings.front().place.line, 4);
    }
    void badTables_data() {
        QTest::addColumn<QString>("csv");
        QTest::addColumn<QString>("rest");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const QString fine = "a,b,t\n1,2,3\n2,3,4\n", ask = "knobs: [a, b]\nobjectives: [t]\n";
        QTest::newRow("empty") << QString() << ask << "table.empty" << 0;
        QTest::newRow("no rows") << "a,b,t\n" << ask << "table.empty" << 1;
        QTest::newRow("two names") << "a,a,t\n1,2,3\n" << ask << "table.columns" << 1;
        QTest::newRow("short row") << "a,b,t\n1,2,3\n\n1,2\n" << ask << "table.cells" << 4;
        QTest::newRow("no number") << "a,b,t\n1,2,3\n2,2,fast\n" << ask << "table.number" << 3;
        QTest::newRow("nothing") << "a,b,t\n1,2,3\n2,2,\n" << ask << "table.number" << 3;
        QTest::newRow("infinite") << "a,b,t\n1,2,inf\n" << ask << "table.number" << 2;
        QTest::newRow("contradiction") << "a,b,t\n1,2,3\n2,2,1\n1,2,4\n" << ask << "table.twice" << 4;
        QTest::newRow("no such knob") << fine << "knobs: [a, c]\nobjectives: [t]\n"
                                      << "table.column" << 1;
        QTest::newRow("knob twice") << fine << "knobs: [a, a]\nobjectives: [t]\n"
                                    << "table.column" << 3;
        QTest::newRow("no such objective") << fine << "knobs: [a]\nobjectives: [time]\n"
                                           << "table.column" << 1;
        QTest::newRow("no such limit") << fine << "knobs: [a]\nobjectives: [t]\nconstraints: [fits]\n"
                                       << "table.column" << 1;
        QTest::newRow("a knob is no objective") << fine << "knobs: [a, t]\nobjectives: [t]\n"
                                                << "table.column" << 4;
        QTest::newRow("range") << fine << "knobs: {a: {from: 1, to: 2}}\nobjectives: [t]\n"
                               << "search.range" << 3;
        QTest::newRow("no row") << "a,b,t\n1,2,3\n2,3,4\n"
                                << "knobs: {a: [1], b: [3]}\nobjectives: [t]\n"
                                << "search.empty" << 3;
        QTest::newRow("no knobs") << fine << "knobs: []\nobjectives: [t]\n"
                                  << "search.empty" << 3;
        QTest::newRow("both") << fine << ask + "hardware: h100-sxm\n"
                              << "search.table" << 5;
        QTest::newRow("method") << fine << ask + "method: roofline\n"
                                << "search.table" << 5;
    }
    void badTables() {
        QFETCH(QString, csv);
        QFETCH(QString, rest);
        QFETCH(QString, code);
        QFETCH(int, line);
        const auto loaded = read(csv.toStdString(), rest.toStdString());
        QVERIFY(!loaded);
        QVERIFY2(QString::fromStdString(loaded.error().code) == code, toText(loaded.error()).c_str());
        QVERIFY2(!loaded.error().place.file.empty(), toText(loaded.error()).c_str());
        QVERIFY2(loaded.error().place.line == line, toText(loaded.error()).c_str());
    }
    void absentTables() {
        const auto loaded = readSearch("orrery: search/1\ntable: nowhere.csv\nknobs: [a]\n", "x.yaml");
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().code, std::string("reference.unreadable"));
    }
    // ArchGym's points of ASTRA-sim: more combinations than can be numbered, 1,254 of them with an answer.
    void numbersAreTheFiles() {
        if (!std::filesystem::exists(archgym)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const auto loaded = readSearch(astrasim(), "astrasim.yaml");
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        const SearchProblem& problem = loaded->problem;
        QCOMPARE(problem.space.points(), std::uint64_t{1254});
        const auto table = readPointTable(archgym + "astrasim_points.csv");
        const std::size_t runtime =
            static_cast<std::size_t>(std::ranges::find(table->columns, "runtime") - table->columns.begin());
        const PointAnswers seen = runSearch(problem, **searchAgent("grid"), {});
        for (std::size_t row = 0; row < seen.size(); ++row) {
            QCOMPARE(seen.value[2 * row], std::stod(table->rows[row][runtime]));
            QCOMPARE(problem.space.knobs()[2].values[problem.space.levelsAt(row)[2]], table->rows[row][6]);
        }
    }
    // The shipped searches over tables that are not shipped.
    void shippedSearches() {
        const std::string folder = std::string(ORRERY_SOURCE) + "/presets/searches/";
        for (const char* name : {"archgym-memory.yaml", "archgym-networks.yaml"}) {
            const auto alone = readSearchFile(folder + name);
            QVERIFY(!alone && alone.error().hint.find("--tables") != std::string::npos);
            if (!std::filesystem::exists(archgym)) continue;
            const auto loaded = readSearchFile(folder + name, archgym);
            QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        }
        if (!std::filesystem::exists(archgym)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
    }
    // As the handbook's page on agents judges them.
    void noAgentIsWorseThanRandom() {
        if (!std::filesystem::exists(archgym)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        auto loaded = readSearchFile(std::string(ORRERY_SOURCE) + "/presets/searches/archgym-memory.yaml", archgym);
        QVERIFY(loaded);
        std::vector<BenchmarkAgent> agents;
        for (const AgentInfo& agent : searchAgents())
            if (agent.needsBudget) agents.emplace_back(&agent);
        const std::vector<BenchmarkSpace> spaces{{loaded->name, loaded->problem, loaded->settings.evaluations}};
        const auto executor = makeDefaultExecutor();
        const auto scores = benchmarkAgents(spaces, agents, {.executor = executor.get(), .seeds = 20});
        QVERIFY(scores);
        for (const BenchmarkScore& score : *scores) QVERIFY2(!score.worse, score.agent.name().c_str());
    }
    void everyAgentWalksIt() {
        if (!std::filesystem::exists(archgym)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const auto loaded = readSearch(astrasim(), "astrasim.yaml");
        const auto threads = makeThreadExecutor(3);
        for (const AgentInfo& agent : searchAgents()) {
            if (agent.id == "one-at-a-time") continue;  // no row differs from the first in one knob alone
            const SearchOptions options{.evaluations = 150};
            const PointAnswers one = runSearch(loaded->problem, agent, options);
            QVERIFY2(one.size() == 150, std::string(agent.id).c_str());
            QCOMPARE(std::set<std::uint64_t>(one.points.begin(), one.points.end()).size(), one.size());
            SearchOptions more = options;
            more.executor = threads.get();
            QCOMPARE(runSearch(loaded->problem, agent, more).points, one.points);
        }
    }
};

QTEST_GUILESS_MAIN(TestTableSpace)
#include "tst_table_space.moc"
