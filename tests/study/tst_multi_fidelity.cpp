#include "study/exploration/agents.h"
#include "study/exploration/ladder.h"
#include "support/search_fixture.h"

#include <QtTest/QtTest>

#include <map>
#include <set>

using namespace orrery;
using namespace orrery::test;

namespace {

SearchProblem problemOf(const std::string& method, const std::string& objectives = "[time, area]") {
    auto loaded = readSearch(
        "orrery: search/1\nhardware: h100-sxm\nworkload: {source: llama-2-7b, phase: decode, batch: 32}\nmethod: " +
        method + "\nobjectives: " + objectives +
        "\nknobs:\n"
        "  hbm3.bandwidth: {from: 1 TB/s, to: 8 TB/s, steps: 20, scale: log}\n"
        "  sm.count: {from: 20, to: 200, steps: 20}\n"
        "  l2.capacity: {from: 5 MB, to: 80 MB, steps: 6, scale: log}\n"
        "  registers.capacity: [64 KiB, 128 KiB, 256 KiB, 512 KiB]\n"
        "  tensor.macs.fp16: [128/cycle, 256/cycle, 512/cycle, 1024/cycle]\n");
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return std::move(loaded->problem);
}

std::string ladderError(const char* method, std::vector<std::string> ladder) {
    SearchProblem problem = problemOf(method);
    problem.ladder = std::move(ladder);
    const auto found = ladderOf(problem);
    return found ? std::string() : found.error().code;
}

}  // namespace

class TestMultiFidelity : public QObject {
    Q_OBJECT
private slots:
    void laddersRiseFromCheapToDear() {
        const auto usual = ladderOf(problemOf("mapping-search"));
        QVERIFY(usual && !usual->empty());
        double before = 0;
        for (const Rung& rung : *usual) {
            QVERIFY2(rung.cost > before && rung.cost <= 0.1, rung.method.c_str());
            before = rung.cost;
        }
        SearchProblem named = problemOf("tile-hybrid");
        named.ladder = {"tile-wave", "roofline", "tile-hybrid"};
        const auto found = ladderOf(named);
        QVERIFY(found);
        QCOMPARE(found->size(), std::size_t{2});
        QCOMPARE(found->front().method, std::string("roofline"));
        QVERIFY(found->back().cost < 1);
        QVERIFY(ladderOf(problemOf("roofline"))->empty());
    }
    void laddersThatLeadNowhereAreRefused() {
        QCOMPARE(ladderError("tile-hybrid", {"rofline"}), std::string("search.ladder"));
        QCOMPARE(ladderError("roofline", {"tile-hybrid"}), std::string("search.ladder"));
        QCOMPARE(ladderError("tile-hybrid", {"serving"}), std::string("search.ladder"));
        QCOMPARE(ladderError("tile-hybrid", {"roofline(colour=red)"}), std::string("search.ladder"));
    }
    void filesNameTheirLadder() {
        const auto rungs = ladderOf(problemOf("mapping-search\nladder: [tile-hybrid, roofline, mapping-search]"));
        QVERIFY(rungs);
        QCOMPARE(rungs->size(), std::size_t{2});
        QCOMPARE(rungs->front().method, std::string("roofline"));
        const auto bad = readSearch(searchYaml("ladder: [rofline]\n", "tile-hybrid"), "bad.yaml");
        QVERIFY(!bad);
        QCOMPARE(bad.error().code, std::string("search.ladder"));
        QCOMPARE(bad.error().place.file, std::string("bad.yaml"));
    }
    // Cheap answers stand apart, are of the ladder's methods, and cost their share of the budget.
    void cheapAnswersTakeTheirShare() {
        const SearchProblem problem = problemOf("mapping-search");
        std::vector<RungAnswers> cheap;
        const PointAnswers seen =
            runSearch(problem, **searchAgent("multi-fidelity"), {.evaluations = 30, .cheap = &cheap});
        double spent = static_cast<double>(seen.size());
        QVERIFY(!cheap.empty());
        for (const RungAnswers& rung : cheap) {
            QVERIFY(rung.answers.size() > 0);
            spent += rung.rung.cost * static_cast<double>(rung.answers.size());
            SearchProblem other = problem;
            other.method = rung.rung.method;
            const PointAnswer again = evaluatePoint(other, rung.answers.points.back(), {});
            QCOMPARE(again.values.front().value, rung.answers.at(rung.answers.size() - 1).values.front().value);
            std::set<std::uint64_t> once(rung.answers.points.begin(), rung.answers.points.end());
            QCOMPARE(once.size(), rung.answers.size());
        }
        qInfo("%zu answers for %.2f of 30", seen.size(), spent);
        QVERIFY(spent <= 30);
        QVERIFY(seen.size() >= 10);
        const PointAnswer own = evaluatePoint(problem, seen.points.front(), {});
        QCOMPARE(own.values.front().value, seen.value.front());
    }
    // A start takes a tenth of the budget and no more: what is left is asked where answers so far say that it pays.
    void mostOfTheBudgetIsChosen() {
        const SearchProblem problem = problemOf("mapping-search");
        for (const std::uint64_t evaluations : {40, 60, 90}) {
            std::size_t start = 0;
            SearchOptions options{.evaluations = evaluations};
            options.onBatch = [&](const PointAnswers& seen, std::size_t) {
                start = seen.size();
                return false;
            };
            runSearch(problem, **searchAgent("multi-fidelity"), options);
            QVERIFY2(start >= 4 && start <= std::max<std::uint64_t>(4, evaluations / 10),
                     qPrintable(QString("%1 of %2").arg(start).arg(evaluations)));
        }
    }
    // What an earlier run has answered, by whatever method, is not answered again; and both find the same.
    void knownAnswersAreTakenOfEveryMethod() {
        const SearchProblem problem = problemOf("mapping-search");
        const AgentInfo& agent = **searchAgent("multi-fidelity");
        std::map<std::string, PointAnswers> kept;
        SearchOptions options{.evaluations = 14};
        options.onCheap = [&](const SearchProblem& asked, const PointAnswers& fresh) {
            if (asked.method == problem.method) return false;
            for (std::size_t i = 0; i < fresh.size(); ++i) kept[asked.method].add(fresh.at(i));
            return true;
        };
        const PointAnswers first = runSearch(problem, agent, options);
        QVERIFY(!kept.empty());
        const auto before = kept;
        // Half of the search's own, all of the cheap ones.
        PointAnswers known;
        for (std::size_t i = 0; i < first.size() / 2; ++i) known.add(first.at(i));
        options.known = &known;
        options.knownCheap = [&](const SearchProblem& asked) {
            const auto found = before.find(asked.method);
            return found == before.end() ? PointAnswers() : found->second;
        };
        const PointAnswers again = runSearch(problem, agent, options);
        QVERIFY(again.points == first.points && again.value == first.value);
        for (const auto& [method, answers] : before) QCOMPARE(kept[method].size(), answers.size());
        // A store that can keep nothing more ends the search.
        options.knownCheap = {};
        options.onCheap = [](const SearchProblem&, const PointAnswers&) { return false; };
        bool stopped = false;
        runSearch(problem, agent, options, &stopped);
        QVERIFY(stopped);
    }
    // For the same cost it covers more than chance and evolution.
    void worthItsCost() {
        SearchProblem problem = problemOf("mapping-search");
        const auto executor = makeDefaultExecutor();
        const std::vector<double> worst{1, 2e-3};
        const auto median = [&](const char* agent, std::uint64_t evaluations) {
            std::vector<double> volumes;
            for (std::uint64_t seed = 0; seed < 3; ++seed) {
                problem.seed = seed;
                const PointAnswers seen =
                    runSearch(problem, **searchAgent(agent), {.executor = executor.get(), .evaluations = evaluations});
                Costs costs = costsOf(problem, seen);
                for (std::size_t i = 0; i < costs.value.size(); i += 2)
                    costs.value[i] = std::log(costs.value[i]) / 10 + 0.6;
                volumes.push_back(hypervolume(costs, frontOf(problem, seen).points, worst));
            }
            std::nth_element(volumes.begin(), volumes.begin() + 1, volumes.end());
            return volumes[1];
        };
        const double found = median("multi-fidelity", 60), chance = median("random", 60);
        const double evolution = median("nsga2", 60);
        qInfo("of the volume of chance: %.4f, nsga2 %.4f, bayesian %.4f", found / chance, evolution / chance,
              median("bayesian", 60) / chance);
        QVERIFY(found >= chance);
        QVERIFY(found >= evolution);
    }
};

QTEST_GUILESS_MAIN(TestMultiFidelity)
#include "tst_multi_fidelity.moc"
