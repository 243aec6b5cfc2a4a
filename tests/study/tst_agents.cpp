// Every agent: the same at any thread count and after a stop, no point twice, and the best of spaces that can be
// exhausted. And how agents are compared.

#include "store/export/search_exports.h"
#include "study/exploration/agent_benchmark.h"
#include "study/exploration/table_space.h"
#include "support/bowl_space.h"

#include <QtTest/QtTest>

#include <cstring>
#include <random>
#include <set>

using namespace orrery;
using namespace orrery::test;

namespace {

bool same(const PointAnswers& a, const PointAnswers& b) {
    return a.points == b.points && a.value.size() == b.value.size() &&
           std::memcmp(a.value.data(), b.value.data(), a.value.size() * sizeof(double)) == 0 &&
           a.violation == b.violation && a.refusal == b.refusal && a.refusals == b.refusals;
}

// 300 rows of five columns of which one is words, and two objectives.
SearchProblem randomTable(std::uint64_t seed) {
    PointTable table{"random.csv", {"a", "b", "c", "d", "word", "time", "power"}, {}, {}};
    RandomStream random(seed, 77);
    for (int row = 0; row < 300; ++row) {
        std::vector<std::string> cells;
        double time = 1, power = 1;
        for (int k = 0; k < 4; ++k) {
            const auto level = random.below(1000);
            cells.push_back(std::to_string(level));
            time += std::abs(static_cast<double>(level) - 700);
            power += static_cast<double>(level) * (k + 1);
        }
        cells.push_back(std::string(1, static_cast<char>('p' + random.below(4))));
        if (cells.back() == "q") time *= 2;
        cells.push_back(fmt::format("{}", time));
        cells.push_back(fmt::format("{}", power));
        table.rows.push_back(std::move(cells));
        table.lines.push_back(row + 2);
    }
    SearchSettings settings{.objectives = {"time", "power"}, .seed = seed};
    for (const char* column : {"a", "b", "c", "d", "word"}) settings.knobs.push_back({column, {}, {}});
    Diagnostics warnings;
    auto problem = tableProblem(settings, table, warnings);
    if (!problem) qFatal("%s", toText(problem.error()).c_str());
    return std::move(*problem);
}

SearchProblem fourRows(std::vector<std::vector<std::string>> rows = {
                           {"1", "0", "9"}, {"2", "1", "4"}, {"3", "4", "1"}, {"4", "9", "0"}}) {
    const PointTable table{"four.csv", {"k", "x", "y"}, std::move(rows), {2, 3, 4, 5}};
    const SearchSettings settings{.knobs = {{"k", {}, {}}}, .objectives = {"x", "y"}};
    Diagnostics warnings;
    auto problem = tableProblem(settings, table, warnings);
    if (!problem) qFatal("%s", toText(problem.error()).c_str());
    return std::move(*problem);
}

std::vector<SearchProblem> seededProblems() {
    std::vector<SearchProblem> problems;
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
        problems.push_back(bowlProblem(4, 1, seed));
        problems.push_back(bowlProblem(3, 2, seed));
        problems.back().constraints.push_back({"n0", false, 4, "n0 <= 4"});
        problems.push_back(randomTable(seed));
    }
    return problems;
}

}  // namespace

class TestAgents : public QObject {
    Q_OBJECT
    static std::vector<const AgentInfo*> choosing() {
        std::vector<const AgentInfo*> agents;
        for (const AgentInfo& agent : searchAgents())
            if (agent.needsBudget) agents.push_back(&agent);
        return agents;
    }

private slots:
    void sameAtAnyThreadCount() {
        for (const SearchProblem& problem : seededProblems()) {
            for (const AgentInfo& agent : searchAgents()) {
                const PointAnswers one = runSearch(problem, agent, {.evaluations = 180});
                QVERIFY(one.size() <= 180);
                const std::set<std::uint64_t> once(one.points.begin(), one.points.end());
                QVERIFY2(once.size() == one.size(), std::string(agent.id).c_str());
                for (const int threads : {2, 3}) {
                    const auto executor = makeThreadExecutor(threads);
                    const PointAnswers many =
                        runSearch(problem, agent, {.executor = executor.get(), .evaluations = 180});
                    QVERIFY2(same(one, many), std::string(agent.id).c_str());
                }
            }
        }
    }
    // Stopped after a batch and gone on with what is known, at another thread count.
    void sameAfterAStop() {
        const auto executor = makeThreadExecutor(2);
        for (const SearchProblem& problem : {bowlProblem(4, 1), bowlProblem(4, 2), randomTable(3)}) {
            for (const AgentInfo& agent : searchAgents()) {
                const PointAnswers whole = runSearch(problem, agent, {.evaluations = 150});
                for (const int after : {1, 4}) {
                    PointAnswers part;
                    SearchOptions options{.evaluations = 150};
                    int batches = 0;
                    options.onBatch = [&](const PointAnswers& seen, std::size_t first) {
                        for (std::size_t i = first; i < seen.size(); ++i) part.add(seen.at(i));
                        return ++batches < after;
                    };
                    runSearch(problem, agent, options);
                    const PointAnswers rest =
                        runSearch(problem, agent, {.executor = executor.get(), .evaluations = 150, .known = &part});
                    QVERIFY2(same(whole, rest), std::string(agent.id).c_str());
                }
            }
        }
    }
    void stopsAtOnce() {
        std::stop_source stop;
        stop.request_stop();
        for (const AgentInfo& agent : searchAgents()) {
            bool stopped = false;
            QCOMPARE(runSearch(bowlProblem(4, 2), agent, {.stop = stop.get_token()}, &stopped).size(), std::size_t{0});
            QVERIFY(stopped);
        }
    }
    // What a listener throws comes out of libraries and threads as it was.
    void exceptionsComeOut() {
        for (const AgentInfo* agent : choosing()) {
            SearchOptions options{.evaluations = 400};
            options.onBatch = [&](const PointAnswers& seen, std::size_t) -> bool {
                if (seen.size() > 60) throw std::runtime_error("no more");
                return true;
            };
            QVERIFY_EXCEPTION_THROWN(runSearch(bowlProblem(4, 2), *agent, options), std::runtime_error);
        }
    }
    // Agents that learn have the lowest of 1,536 points after 600 answers, for every seed; those that do not learn once
    // they have had nearly all of a small space.
    void theBestIsFound() {
        for (const AgentInfo* agent : choosing()) {
            const bool learns = agent->id != "random" && agent->id != "latin";
            for (std::uint64_t seed = 0; seed < 3; ++seed) {
                const SearchProblem problem = bowlProblem(learns ? 3 : 2, 1, seed);
                const PointAnswers seen = runSearch(problem, *agent, {.evaluations = 600});
                const auto best = bestOf(problem, seen).front();
                QVERIFY(best);
                QVERIFY2(seen.value[*best] == 1,
                         fmt::format("{} seed {}: {}", agent->id, seed, seen.value[*best]).c_str());
            }
        }
    }
    // Two bowls three apart in each of two knobs: the front is what lies between them.
    void wholeFrontsOfSmallSpaces() {
        const SearchProblem problem = bowlProblem(2, 2);
        const auto grid = runSearch(problem, **searchAgent("grid"), {});
        const auto pairs = [&](const PointAnswers& seen) {
            std::set<std::pair<double, double>> all;
            for (const std::size_t i : frontOf(problem, seen).points)
                all.emplace(seen.value[2 * i], seen.value[2 * i + 1]);
            return all;
        };
        QVERIFY(pairs(grid).size() > 3);
        for (const AgentInfo* agent : choosing()) {
            const auto found = pairs(runSearch(problem, *agent, {.evaluations = problem.space.points()}));
            QVERIFY2(found == pairs(grid), std::string(agent->id).c_str());
        }
    }
    void ranksSayWhatIsWorse() {
        const std::vector<double> low{1, 2, 3, 4, 5}, high{6, 7, 8, 9, 10}, equal(5, 3.0);
        // Exactly 1 of 252 orders is so low; the normal approximation says 0.6 %.
        QVERIFY(std::abs(rankSumChance(low, high) - 0.0061) < 0.0005);
        QVERIFY(rankSumChance(high, low) > 0.99);
        QVERIFY(std::abs(rankSumChance(low, low) - 0.54) < 0.02);
        QCOMPARE(rankSumChance(equal, equal), 1.0);
    }
    void agentsAreCompared() {
        const std::vector<BenchmarkSpace> spaces{{"bowl", bowlProblem(4, 2), 120}, {"rows", randomTable(0), 60}};
        const std::vector<BenchmarkAgent> agents{*searchAgent("nsga2"), *searchAgent("hill")};
        const auto scores = benchmarkAgents(spaces, agents, {.seeds = 6});
        QVERIFY(scores);
        QCOMPARE(scores->size(), std::size_t{6});  // random is among them
        for (const BenchmarkScore& score : *scores) {
            QCOMPARE(score.volumes.size(), std::size_t{6});
            QVERIFY(score.low <= score.median && score.median <= score.high && score.high <= 1 && score.low > 0);
            QCOMPARE(score.answers, double(spaces[score.space].evaluations));
            QCOMPARE(score.cost, score.answers);
            QVERIFY(!score.worse);
        }
        QVERIFY(scores->front().median > scores->at(2).median);
        const auto threads = makeThreadExecutor(3);
        const auto again = benchmarkAgents(spaces, agents, {.executor = threads.get(), .seeds = 6});
        QCOMPARE(benchmarkCsv(spaces, *again), benchmarkCsv(spaces, *scores));
        QCOMPARE(QString::fromStdString(benchmarkCsv(spaces, *scores)).count("\r\n"), 1 + 6 * 6);
        const std::string table = benchmarkTable(spaces, *scores);
        QVERIFY(table.starts_with("| Agent | Cost | bowl (120 of 12288) | rows (60 of 300) |\n"));
        QVERIFY(table.find("| Random | 1.00 |") != std::string::npos);
        QCOMPARE(withBenchmarkTable("before\n\n| Agent | Cost | old |\n|---|\n| x | 1 | 2 |\n\nafter\n", table),
                 "before\n\n" + table + "\nafter\n");
        QCOMPARE(withBenchmarkTable("nothing\n", table), table);
    }
    // Who claims to need less gets less, in a row of its own.
    void aPartOfTheEvaluations() {
        const std::vector<BenchmarkSpace> spaces{{"bowl", bowlProblem(4, 2), 120}};
        const std::vector<BenchmarkAgent> agents{
            *searchAgent("hill"), {*searchAgent("hill"), 3}, {*searchAgent("random"), 2}};
        const auto scores = benchmarkAgents(spaces, agents, {.seeds = 4});
        QVERIFY(scores);
        QCOMPARE(scores->size(), std::size_t{4});  // and random with all of them
        QCOMPARE(scores->at(1).answers, 40.0);
        QVERIFY(scores->at(1).median < scores->at(0).median);
        QCOMPARE(scores->at(2).answers, 60.0);
        QCOMPARE(scores->at(3).answers, 120.0);
        const std::string table = benchmarkTable(spaces, *scores);
        QVERIFY2(table.find("| Hill climbing, 1/3 | 0.33 |") != std::string::npos, table.c_str());
        QVERIFY(benchmarkCsv(spaces, *scores).find(",40,hill/3,") != std::string::npos);
        QVERIFY2(table.find("| as many, chosen greedily from all | 0.33 |") != std::string::npos, table.c_str());
    }
    // By hand: (1, 4) and (4, 1) cover 5 × 8 each up to the worst of each, (9, 9), of which 5 × 5 are the same: 55. The
    // other two cover nothing.
    void aGreedyChoiceOfFewAnswers() {
        const AgentInfo every{"every", "Every", "All points.", true, [](Search& search, RandomStream) {
                                  for (std::uint64_t point = 0; point < search.space().points(); ++point)
                                      if (!search.evaluate(std::span(&point, 1))) return;
                              }};
        const std::vector<BenchmarkSpace> spaces{{"four", fourRows(), 4}};
        const std::vector<BenchmarkAgent> agents{&every, {&every, 2}, {&every, 4}};
        const auto scores = benchmarkAgents(spaces, agents, {.seeds = 2});
        QVERIFY(scores);
        QVERIFY(std::abs(scores->at(0).median - 1) < 1e-12);
        QVERIFY(std::abs(scores->at(1).greedy - 1) < 1e-12);
        QVERIFY2(std::abs(scores->at(2).greedy - 40.0 / 55) < 1e-12, qPrintable(QString::number(scores->at(2).greedy)));
        // The first rows are not the best choice.
        QVERIFY(std::abs(scores->at(1).median - 40.0 / 55) < 1e-12);
        QCOMPARE(scores->at(2).median, 0.0);
        // Where the middle adds most at first, both ends cover more than it and one of them: an agent has more than
        // greed. From 1 to 11 the ends are (0, 0.5) and (0.5, 0), together 0.75; the middle is (0.25, 0.25), with an
        // end 0.6875, with both 0.8125.
        const std::vector<BenchmarkSpace> ends{
            {"ends", fourRows({{"1", "1", "6"}, {"2", "6", "1"}, {"3", "3.5", "3.5"}, {"4", "11", "11"}}), 4}};
        const auto more = benchmarkAgents(ends, agents, {.seeds = 2});
        QVERIFY(more);
        QVERIFY2(std::abs(more->at(1).greedy - 0.6875 / 0.8125) < 1e-12,
                 qPrintable(QString::number(more->at(1).greedy)));
        QVERIFY(std::abs(more->at(1).median - 0.75 / 0.8125) < 1e-12);
    }
    // One that asks for the same corner first is found out.
    void whatIsWorseIsFoundOut() {
        const AgentInfo bad{"bad", "Bad", "The last points.", true, [](Search& search, RandomStream) {
                                for (std::uint64_t point = search.space().points(); point-- > 0;)
                                    if (!search.evaluate(std::span(&point, 1))) return;
                            }};
        const std::vector<BenchmarkSpace> spaces{{"bowl", bowlProblem(4, 2), 100}};
        const std::vector<BenchmarkAgent> agents{&bad};
        const auto scores = benchmarkAgents(spaces, agents, {.seeds = 10});
        QVERIFY(scores->front().worse && !scores->back().worse);
        QVERIFY(benchmarkTable(spaces, *scores).find(" worse |") != std::string::npos);
    }
    void comparingStops() {
        std::stop_source stop;
        stop.request_stop();
        const std::vector<BenchmarkSpace> spaces{{"bowl", bowlProblem(3, 2), 50}};
        QCOMPARE(benchmarkAgents(spaces, {}, {.stop = stop.get_token(), .seeds = 3}).error().code,
                 std::string("study.cancelled"));
    }
};

QTEST_GUILESS_MAIN(TestAgents)
#include "tst_agents.moc"
