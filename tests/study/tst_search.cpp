#include "study/exploration/agents.h"
#include "study/study.h"
#include "support/search_fixture.h"

#include <QtTest/QtTest>

#include <set>

using namespace orrery;
using namespace orrery::test;

namespace {

SearchProblem problemOf(const std::string& yaml) {
    auto loaded = readSearch(yaml);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return std::move(loaded->problem);
}

bool same(const PointAnswers& a, const PointAnswers& b) {
    const auto bits = [](const std::vector<double>& x, const std::vector<double>& y) {
        return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
    };
    return a.points == b.points && bits(a.value, b.value) && bits(a.low, b.low) && bits(a.high, b.high) &&
           a.violation == b.violation && a.refusal == b.refusal && a.refusals == b.refusals;
}

PointAnswers run(const SearchProblem& problem, std::string_view agent, SearchOptions options = {}) {
    return runSearch(problem, **searchAgent(agent), options);
}

}  // namespace

class TestSearch : public QObject {
    Q_OBJECT
private slots:
    void pointsAreNumberedWithTheLastKnobFastest() {
        const SearchProblem problem = problemOf(searchYaml());
        const SearchSpace& space = problem.space;
        QCOMPARE(space.points(), std::uint64_t{7 * 3 * 3 * 2});
        for (std::uint64_t point = 0; point < space.points(); ++point) {
            const auto levels = space.levelsAt(point);
            QCOMPARE(space.pointAt(levels), point);
            QCOMPARE(levels.back(), static_cast<std::uint32_t>(point % 2));
        }
        QCOMPARE(space.knobs()[0].values.front(), std::string("1 TB/s"));
        QCOMPARE(space.knobs()[0].values.back(), std::string("8 TB/s"));
        const auto base = space.levelsAt(space.basePoint());
        QCOMPARE(space.knobs()[1].values[base[1]], std::string("132"));
        QCOMPARE(space.knobs()[2].values[base[2]], std::string("8"));
        QVERIFY(std::abs(std::log(space.knobs()[0].numbers[base[0]] / 3.35e12)) < 0.2);
    }
    // A search answers what a study of the same scenarios answers, to the last bit.
    void answersWhatAStudyAnswers() {
        const SearchProblem problem = problemOf(searchYaml());
        const PointAnswers seen = run(problem, "grid");
        QCOMPARE(seen.size(), std::size_t(problem.space.points()));
        const auto executor = makeSerialExecutor();
        for (const std::uint64_t point : {0u, 17u, 60u, 125u}) {
            const auto scenario = problem.space.scenarioAt(point);
            QVERIFY(scenario);
            Study study{.scenarios = {*scenario}, .methods = {problem.method}};
            StudyOptions options;
            options.executor = executor.get();
            const auto results = runStudy(study, options);
            QVERIFY(results.front().estimate);
            QCOMPARE(seen.value[2 * point], results.front().estimate->latency.value);
            QCOMPARE(seen.high[2 * point], results.front().estimate->interval.high.value);
            QCOMPARE(seen.value[2 * point + 1], results.front().estimate->energy->value);
        }
    }
    void moreBandwidthNeverCostsTime() {
        const SearchProblem problem = problemOf(searchYaml());
        const PointAnswers seen = run(problem, "grid");
        const std::size_t stride = problem.space.points() / 7;
        for (std::size_t i = 0; i + stride < seen.size(); ++i)
            QVERIFY(seen.value[2 * (i + stride)] <= seen.value[2 * i]);
    }
    void theSameAtAnyThreadCount() {
        const SearchProblem problem = problemOf(searchYaml());
        const auto threads = makeThreadExecutor(4);
        for (const AgentInfo& agent : searchAgents()) {
            const PointAnswers one = run(problem, agent.id, {.evaluations = 60});
            QVERIFY2(same(one, run(problem, agent.id, {.executor = threads.get(), .evaluations = 60})),
                     std::string(agent.id).c_str());
            QVERIFY(one.size() <= 60);
            std::set<std::uint64_t> once(one.points.begin(), one.points.end());
            QCOMPARE(once.size(), one.size());
        }
    }
    void anotherSeedIsAnotherWalk() {
        SearchProblem problem = problemOf(searchYaml());
        const auto first = run(problem, "random", {.evaluations = 40}).points;
        problem.seed = 1;
        QVERIFY(first != run(problem, "random", {.evaluations = 40}).points);
    }
    // Stopped after any batch and gone on with what is known: the same as at one go, and nothing answered twice.
    void goesOnWhereItStopped() {
        const SearchProblem problem = problemOf(searchYaml());
        for (const char* agent : {"grid", "nsga2", "hill", "bayesian", "multi-fidelity"}) {
            const PointAnswers whole = run(problem, agent, {.evaluations = 100});
            PointAnswers part;
            SearchOptions options{.evaluations = 100};
            int batches = 0;
            options.onBatch = [&](const PointAnswers& seen, std::size_t first) {
                for (std::size_t i = first; i < seen.size(); ++i) part.add(seen.at(i));
                return ++batches < 2;
            };
            bool stopped = false;
            runSearch(problem, **searchAgent(agent), options, &stopped);
            const PointAnswers rest = run(problem, agent, {.evaluations = 100, .known = &part});
            QVERIFY2(same(whole, rest), agent);
        }
    }
    void agentsEndInASmallSpace() {
        const SearchProblem problem = problemOf(searchYaml());
        for (const AgentInfo& agent : searchAgents()) {
            const PointAnswers seen = run(problem, agent.id, {.evaluations = 100'000});
            QVERIFY(seen.size() <= problem.space.points());
            if (agent.id == "random" || agent.id == "grid") QCOMPARE(seen.size(), std::size_t(problem.space.points()));
        }
    }
    // 200 of 230,400 points, 15 seeds, the median of the volume under the front: what learns must not do worse than
    // chance.
    void whatLearnsBeatsChance() {
        SearchProblem problem = problemOf(
            "orrery: search/1\nhardware: h100-sxm\nworkload: {source: llama-2-7b, phase: decode, batch: 32}\n"
            "method: roofline\nobjectives: [time, area]\nknobs:\n"
            "  hbm3.bandwidth: {from: 1 TB/s, to: 8 TB/s, steps: 20, scale: log}\n"
            "  sm.count: {from: 20, to: 200, steps: 20}\n"
            "  l2.capacity: {from: 5 MB, to: 80 MB, steps: 6, scale: log}\n"
            "  registers.capacity: [64 KiB, 128 KiB, 256 KiB, 512 KiB]\n"
            "  tensor.macs.fp16: [128/cycle, 256/cycle, 512/cycle, 1024/cycle]\n"
            "  nvlink.count: {from: 3, to: 18, steps: 6}\n");
        const auto executor = makeDefaultExecutor();
        const std::vector<double> worst{1, 2e-3};
        const auto volume = [&](const PointAnswers& seen) {
            Costs costs = costsOf(problem, seen);
            for (std::size_t i = 0; i < costs.value.size(); i += 2)
                costs.value[i] = std::log(costs.value[i]) / 10 + 0.6;
            return hypervolume(costs, frontOf(problem, seen).points, worst);
        };
        const auto median = [&](const char* agent) {
            std::vector<double> volumes;
            for (std::uint64_t seed = 0; seed < 15; ++seed) {
                problem.seed = seed;
                volumes.push_back(volume(run(problem, agent, {.executor = executor.get(), .evaluations = 200})));
            }
            std::nth_element(volumes.begin(), volumes.begin() + 7, volumes.end());
            return volumes[7];
        };
        const double chance = median("random");
        qInfo("of the volume of chance: latin %.4f, hill %.4f, nsga2 %.4f", median("latin") / chance,
              median("hill") / chance, median("nsga2") / chance);
        QVERIFY(chance > 0);
        QVERIFY(median("hill") >= chance);
        QVERIFY(median("nsga2") >= chance);
    }
    void oneKnobAtATime() {
        const SearchProblem problem = problemOf(searchYaml());
        const PointAnswers seen = run(problem, "one-at-a-time");
        QCOMPARE(seen.size(), std::size_t(7 + 3 + 3 + 2 - 3));  // the base point stands in each of the four
        for (const KnobEffect& effect : knobEffects(problem, seen)) {
            QCOMPARE(effect.rows.size(), problem.space.knobs()[effect.knob].values.size());
            QVERIFY(
                std::all_of(effect.rows.begin(), effect.rows.end(), [](const auto& row) { return row.has_value(); }));
            QVERIFY(effect.least[0] <= effect.most[0]);
        }
    }
    void constraintsBind() {
        const SearchProblem problem =
            problemOf(searchYaml("objectives: [time]\nconstraints: [fits, area <= 700 mm2]\n"));
        const PointAnswers seen = run(problem, "grid");
        std::size_t broken = 0;
        for (std::size_t i = 0; i < seen.size(); ++i) {
            const auto levels = problem.space.levelsAt(seen.points[i]);
            const auto area =
                changedArea(*problem.drawn, *areaOf(*problem.space.scenarioAt(seen.points[i])->hardware)).area();
            QCOMPARE(seen.feasible(i), area <= 700e-6);
            broken += seen.feasible(i) ? 0 : 1;
        }
        QVERIFY(broken > 0 && broken < seen.size());
        const auto best = bestOf(problem, seen).front();
        QVERIFY(best && seen.feasible(*best));
    }
    void whatIsRefusedSaysWhy() {
        const SearchProblem problem = problemOf(
            "orrery: search/1\nhardware: h100-sxm\nworkload: llama-2-7b\nmethod: tile-hybrid\nknobs: {tp: [1, 2]}\n");
        const PointAnswers seen = run(problem, "grid");
        QVERIFY(seen.answered(0));
        QVERIFY(!seen.answered(1) && !seen.refusals.front().empty());
        QCOMPARE(frontOf(problem, seen).points, std::vector<std::size_t>{0});
    }
    void stopsAtOnce() {
        const SearchProblem problem = problemOf(searchYaml());
        std::stop_source stop;
        stop.request_stop();
        bool stopped = false;
        SearchOptions options{.stop = stop.get_token()};
        QCOMPARE(runSearch(problem, **searchAgent("grid"), options, &stopped).size(), std::size_t{0});
        QVERIFY(stopped);
    }
    void badFiles_data() {
        QTest::addColumn<QString>("yaml");
        QTest::addColumn<QString>("code");
        const auto knobs = [](const char* text) {
            return QString("orrery: search/1\nhardware: h100-sxm\nworkload: resnet-50\nknobs: %1\n").arg(text);
        };
        QTest::newRow("no such part") << knobs("{hbm9.bandwidth: [1 TB/s]}") << "search.knob";
        QTest::newRow("no unit") << knobs("{hbm3.bandwidth: [4 apples]}") << "search.value";
        QTest::newRow("a value twice") << knobs("{sm.count: [66, 132, 66]}") << "search.value";
        QTest::newRow("one value in two units") << knobs("{hbm3.bandwidth: [2 TB/s, 2000 GB/s]}") << "search.value";
        QTest::newRow("an objective twice") << knobs("{batch: [1]}") + "objectives: [time, max time]\n"
                                            << "search.objective";
        QTest::newRow("no values") << knobs("{hbm3.bandwidth: []}") << "search.value";
        QTest::newRow("one end") << knobs("{hbm3.bandwidth: {from: 1 TB/s}}") << "yaml.missing";
        QTest::newRow("equal ends") << knobs("{hbm3.bandwidth: {from: 1 TB/s, to: 1 TB/s}}") << "search.range";
        QTest::newRow("range of words") << knobs("{weights: {from: fp8, to: fp16}}") << "search.range";
        QTest::newRow("twice") << knobs("{hbm3.bandwidth: [1 TB/s], h100/hbm3.bandwidth: [2 TB/s]}") << "search.twice";
        QTest::newRow("no size") << knobs("{batch: [0]}") << "search.value";
        QTest::newRow("no plan") << knobs("{tp: [0]}") << "search.value";
        QTest::newRow("no knobs") << "orrery: search/1\nhardware: h100-sxm\nworkload: resnet-50\n"
                                  << "yaml.missing";
        QTest::newRow("constraint") << knobs("{batch: [1]}") + "constraints: [time < 3]\n"
                                    << "search.constraint";
        QTest::newRow("limit") << knobs("{batch: [1]}") + "constraints: [time <= 3 GB]\n"
                               << "search.constraint";
        QTest::newRow("price") << knobs("{batch: [1]}") + "objectives: [cost]\n"
                               << "search.objective";
        QTest::newRow("method") << knobs("{batch: [1]}") + "method: oracle\n"
                                << "method.unknown";
        QTest::newRow("study") << "orrery: study/1\n"
                               << "document.kind";
        QTest::newRow("newer") << "orrery: search/9\n"
                               << "document.newer";
    }
    void badFiles() {
        QFETCH(QString, yaml);
        QFETCH(QString, code);
        const auto loaded = readSearch(yaml.toStdString(), "bad.yaml");
        QVERIFY(!loaded);
        QVERIFY2(QString::fromStdString(loaded.error().code) == code, toText(loaded.error()).c_str());
        QVERIFY(!loaded.error().place.file.empty());
    }
};

QTEST_GUILESS_MAIN(TestSearch)
#include "tst_search.moc"
