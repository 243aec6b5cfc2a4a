// Everything of a question that a number or a word says is a knob, and each knob changes what it names.

#include "hardware/attribute_at.h"
#include "hardware/files/catalogue.h"
#include "hardware/walk.h"
#include "methods/question_value.h"
#include "store/project/search_yaml.h"
#include "store/project/serving_file.h"
#include "study/exploration/agents.h"
#include "support/search_fixture.h"
#include "workload/one_type.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;
using namespace orrery::test;

namespace {

Scenario passOf(const char* device = "h100-sxm") {
    WorkloadRecipe recipe;
    recipe.source = "llama-2-7b";
    recipe.options.phase = Phase::Decode;
    return {std::make_shared<const Hardware>(loadHardware(device)->hardware), *loadWorkload(recipe)};
}

Scenario servingOf() {
    auto read = readServing(
        "orrery: serving/1\nmodel: {source: llama-2-7b}\npools:\n  - name: all\n    replicas: 1\n"
        "traffic:\n  requests: 40\n  arrivals: {kind: poisson, rate: 4}\n"
        "  prompt: {kind: fixed, mean: 256}\n  output: {kind: fixed, mean: 16}\n");
    if (!read) qFatal("%s", toText(read.error()).c_str());
    Scenario scenario = passOf();
    scenario.task = ServingRun{std::make_shared<const ServingStudy>(std::move(read->study))};
    return scenario;
}

}  // namespace

class TestKnobs : public QObject {
    Q_OBJECT
private slots:
    // A grid of copies stands for their number: the knob's own value changes how many there are as little as a count.
    void aGridOfCopiesTurnsByItsNumber() {
        const auto grid = withAttribute(*passOf().hardware, "sm.count", "12x11");
        QVERIFY(grid);
        QCOMPARE(drawnValue(*grid, "sm.count"), std::string("132"));
        const auto turned = withAttribute(*grid, "sm.count", drawnValue(*grid, "sm.count"));
        QVERIFY(turned);
        QCOMPARE(drawnValue(*turned, "sm.count"), std::string("132"));
        QVERIFY(usualKnob(*grid, "sm.count"));
    }

    // A point of a search is what its label says: fp16 beside an fp32 file would be answered in fp32.
    void weightsOfAFileAreNotNamedAnew() {
        WorkloadRecipe recipe{ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx", {}, {}};
        const auto file = loadWorkload(recipe);
        QVERIFY(file);
        const auto of = [](const WorkloadPtr& workload, std::vector<std::string> values) {
            const Scenario base{passOf().hardware, workload};
            KnobSetting setting;
            setting.path = "weights";
            setting.values = std::move(values);
            return knobOf(setting, base);
        };
        QVERIFY(of(*file, {"int8", "nvfp4"}));
        const auto wrong = of(*file, {"fp16", "int8"});
        QVERIFY(!wrong);
        QCOMPARE(QString::fromStdString(wrong.error().code), QStringLiteral("search.value"));
        QVERIFY(!wrong.error().hint.empty());
        // In fp16 as a whole, and of a model that follows its options, it is true.
        recipe.whatIfs = inOneType((*file)->graph, {}, DType::F16);
        const auto half = loadWorkload(recipe);
        QVERIFY(half);
        QVERIFY(of(*half, {"fp16", "int8"}));
        QVERIFY(of(passOf().workload, {"fp16", "int8"}));
    }

    // Every number that is drawn in any device or system of the catalogue, of parts, links, switches and networks.
    void everyDrawnNumberTurns() {
        std::size_t numbers = 0, links = 0;
        for (const CatalogueEntry& entry : hardwareCatalogue()) {
            const auto loaded = loadHardware(entry.id);
            QVERIFY2(loaded, entry.id.c_str());
            const Hardware* hardware = &loaded->hardware;
            Scenario base{std::make_shared<const Hardware>(*hardware), {}};
            walk(hardware->root, [&](const Component& component, const ComponentPath& path) {
                const std::string name = pathText(hardware->root, path);
                for (const Attribute& attribute : component.attributes) {
                    const auto* measure = std::get_if<Measure>(&attribute.value);
                    if (!measure || !(measure->si > 0)) continue;
                    const std::string own = name + "." + attribute.name;
                    const auto usual = usualKnob(*hardware, own);
                    if (!usual) qFatal("%s: %s", own.c_str(), toText(usual.error()).c_str());
                    const auto knob = knobOf(*usual, base);
                    if (!knob) qFatal("%s: %s", own.c_str(), toText(knob.error()).c_str());
                    if (!(knob->numbers.back() > knob->numbers.front()))
                        qFatal("%s: %s", own.c_str(), toText(*usual).c_str());
                    if (knob->own.empty()) qFatal("%s has no value of its own", own.c_str());
                    ++numbers;
                    links += component.kind == ComponentKind::Link || component.kind == ComponentKind::Topology ||
                                     component.kind == ComponentKind::Switch
                                 ? 1
                                 : 0;
                }
                const auto count = usualKnob(*hardware, name + ".count");
                if (!count || !knobOf(*count, base)) qFatal("%s.count", name.c_str());
                return true;
            });
        }
        qInfo("%zu numbers, %zu of links and networks", numbers, links);
        QVERIFY(numbers > 500 && links > 50);
    }
    void wordsOfTheDrawingTurn() {
        const Scenario base = passOf("dgx-h100");
        std::size_t words = 0;
        walk(base.hardware->root, [&](const Component& component, const ComponentPath& path) {
            for (const Attribute& attribute : component.attributes) {
                const AttributeSpec* spec = attributeSpec(component.kind, attribute.name);
                if (!spec || spec->form != AttributeForm::Choice) continue;
                const auto usual =
                    usualKnob(*base.hardware, pathText(base.hardware->root, path) + "." + attribute.name);
                if (!usual || usual->values.size() != spec->choices.size() || !knobOf(*usual, base))
                    qFatal("%s", attribute.name.c_str());
                ++words;
            }
            return true;
        });
        QVERIFY(words > 0);
    }
    void everyOfferIsAKnob() {
        Scenario training = passOf();
        training.task = TrainingStep{};
        for (const Scenario& base : {passOf(), training, servingOf()}) {
            for (const char* method : {"tile-hybrid", "serving"}) {
                std::size_t offers = 0;
                for (const KnobOffer& offer : knobOffers(base, method)) {
                    const auto knob = knobOf(offer.usual, base, method);
                    QVERIFY2(knob, (offer.path + ": " + (knob ? "" : toText(knob.error()))).c_str());
                    QCOMPARE(knob->own, offer.drawn);
                    // Written in one line and read again: the same.
                    const auto again = parseKnobSetting(offer.path, toText(offer.usual));
                    QVERIFY(again && *again == offer.usual);
                    ++offers;
                }
                QVERIFY(offers > 8);
            }
        }
    }
    // Of each way of naming a thing one knob: the scenario of a point has the value, and no other has.
    void eachTurnsWhatItNames() {
        const Scenario base = servingOf();
        std::vector<Knob> knobs;
        const auto add = [&](const char* path, std::vector<std::string> values, const char* method = "serving") {
            auto knob = makeKnob(base, path, std::move(values), method);
            if (!knob) qFatal("%s: %s", path, toText(knob.error()).c_str());
            knobs.push_back(std::move(*knob));
        };
        add("serving.rate", {"2", "4", "8"});
        add("serving.scheduler", {"vllm-v1", "sarathi"});
        add("serving.pools/memory_share", {"0.8", "0.9"});
        add("software", {"vLLM 0.24.0", "trtllm-1.3.0(graphs=on)"});
        add("method.compute", {"tile-hybrid", "tile-hybrid(launch=eager, fusion=none)"});
        QVERIFY(!knobs[0].words && knobs[1].words && !knobs[2].words && knobs[3].words && knobs[4].words);
        QCOMPARE(knobs[0].own, std::string("4"));
        QCOMPARE(knobs[1].own, std::string("vllm-v1"));
        QCOMPARE(knobs[4].own, std::string("as-drawn"));
        const auto space = SearchSpace::make(base, knobs);
        QVERIFY(space);
        for (std::uint64_t point = 0; point < space->points(); ++point) {
            const auto levels = space->levelsAt(point);
            const auto scenario = space->scenarioAt(point);
            QVERIFY(scenario);
            const ServingStudy& study = *std::get<ServingRun>(scenario->task).study;
            QCOMPARE(study.traffic.arrivals.rate, std::vector<double>({2, 4, 8})[levels[0]]);
            QCOMPARE(study.scenario.pools.front().scheduler.id, knobs[1].values[levels[1]]);
            QCOMPARE(study.scenario.pools.front().memoryShare, levels[2] == 0 ? 0.8 : 0.9);
            QCOMPARE(toText(scenario->software), knobs[3].values[levels[3]]);
            const auto method = space->methodAt(point, *methodChoice("serving", builtinMethods()));
            QVERIFY(method);
            QCOMPARE(method->options.at("compute"), knobs[4].values[levels[4]]);
        }
    }
    // What one dimension needs of another is asked for together.
    void dimensionsOfAPlanAreSetTogether() {
        const Scenario base = passOf("dgx-h100");
        const auto space = SearchSpace::make(base, {*makeKnob(base, "ep", std::vector<std::string>{"1", "2", "4"}),
                                                    *makeKnob(base, "dp", std::vector<std::string>{"1", "4"})});
        QVERIFY(space);
        const std::vector<bool> good{true, true, false, true, false, true};
        for (std::uint64_t point = 0; point < space->points(); ++point)
            QCOMPARE(space->scenarioAt(point).has_value(), good[point]);
        QCOMPARE(space->scenarioAt(5)->plan.devices(), std::int64_t{4});
    }
    void anOptionOfASlot() {
        const auto asked = methodChoice("serving(compute=tile-hybrid(fusion=none))", builtinMethods());
        QVERIFY(asked);
        const auto turned = withMethodValue(*asked, "compute.launch", "eager");
        QVERIFY(turned);
        const std::string text = toText(*turned);
        QVERIFY2(text.find("launch=eager") != std::string::npos && text.find("fusion=none") != std::string::npos,
                 text.c_str());
        const auto knob =
            makeKnob(servingOf(), "method.compute.launch", std::vector<std::string>{"eager", "graph"}, toText(*asked));
        QVERIFY(knob);
    }
    // A search over an option of the method answers what the method answers with that option.
    void aMethodOptionIsAnswered() {
        auto loaded = readSearch(
            "orrery: search/1\nhardware: h100-sxm\nworkload: {source: llama-2-7b, phase: decode}\n"
            "method: tile-hybrid\nknobs: {method.launch: [eager, graph], batch: [1, 8]}\n");
        if (!loaded) QFAIL(toText(loaded.error()).c_str());
        const SearchProblem& problem = loaded->problem;
        const PointAnswers seen = runSearch(problem, **searchAgent("grid"), {});
        QCOMPARE(seen.size(), std::size_t{4});
        QVERIFY(seen.value[0] > seen.value[2]);  // eager launches cost time
        SearchProblem eager = problem;
        eager.method = "tile-hybrid(launch=eager)";
        const auto one = SearchSpace::make(
            problem.space.base(), {*makeKnob(problem.space.base(), "batch", std::vector<std::string>{"1", "8"})});
        eager.space = *one;
        const PointAnswers alone = runSearch(eager, **searchAgent("grid"), {});
        QCOMPARE(seen.value[0], alone.value[0]);
        QCOMPARE(seen.value[1], alone.value[1]);
    }
    // More traffic: the time to the first token rises, and `slo` holds what the run promises.
    void aServingRunIsSearched() {
        SearchSettings settings{
            .knobs = {{"serving.rate", {"1", "40"}, {}}, {"hbm3.bandwidth", {"1 TB/s", "4 TB/s"}, {}}},
            .objectives = {"Time to first token, 99th percentile", "max Throughput", "devices"},
            .constraints = {"slo"},
            .method = "serving"};
        Scenario base = servingOf();
        auto study = *std::get<ServingRun>(base.task).study;
        study.scenario.promise.ttft = 0.05;
        study.capacity.attainment = 0.99;
        base.task = ServingRun{std::make_shared<const ServingStudy>(study)};
        const auto problem = searchProblem(settings, base);
        if (!problem) QFAIL(toText(problem.error()).c_str());
        const PointAnswers seen = runSearch(*problem, **searchAgent("grid"), {});
        QCOMPARE(seen.size(), std::size_t{4});
        for (std::size_t i = 0; i < 4; ++i)
            QVERIFY2(seen.answered(i), seen.refusals.empty() ? "" : seen.refusals.front().c_str());
        QVERIFY(seen.value[0] < seen.value[2 * 3]);      // rate
        QVERIFY(seen.value[0] > seen.value[3]);          // bandwidth
        QVERIFY(seen.feasible(1) && !seen.feasible(2));  // promises
        QCOMPARE(seen.low[2], seen.high[2]);             // devices are counted
    }
    // Of a serving run: all of its devices, what it bears, and what it costs from the first arrival to the last token.
    void aServingRunIsWeighed() {
        SearchSettings settings{.knobs = {{"serving.replicas", {"1", "2"}, {}}},
                                .objectives = {"devices", "max capacity", "cost", "Makespan"},
                                .method = "serving",
                                .deviceHour = 3600};
        Scenario base = servingOf();
        auto study = *std::get<ServingRun>(base.task).study;
        study.scenario.promise.ttft = 0.05;
        base.task = ServingRun{std::make_shared<const ServingStudy>(study)};
        const auto problem = searchProblem(settings, base);
        if (!problem) QFAIL(toText(problem.error()).c_str());
        const PointAnswers seen = runSearch(*problem, **searchAgent("grid"), {});
        QVERIFY2(seen.answered(0) && seen.answered(1), seen.refusals.empty() ? "" : seen.refusals.front().c_str());
        QCOMPARE(seen.value[0], 1.0);
        QCOMPARE(seen.value[4], 2.0);
        QVERIFY(seen.value[5] > 1.5 * seen.value[1]);
        QVERIFY(seen.low[1] < seen.value[1] && seen.value[1] < seen.high[1]);
        QCOMPARE(seen.value[6], 2 * seen.value[7]);
        // A run that promises nothing has no capacity, and says so.
        base = servingOf();
        const auto none = searchProblem(settings, base);
        QVERIFY(none);
        QVERIFY(!runSearch(*none, **searchAgent("grid"), {}).answered(0));
    }
    // Energy has no stated interval: no width is made up, the front goes by its value, and files leave it out.
    void whatIsUnsureIsNotOfNoWidth() {
        auto loaded = readSearch(searchYaml("objectives: [time, energy, power, memory]\n"));
        QVERIFY(loaded);
        const SearchProblem& problem = loaded->problem;
        const PointAnswers seen = runSearch(problem, **searchAgent("grid"), {});
        QVERIFY(seen.high[0] > seen.low[0]);
        for (const std::size_t k : {1u, 2u}) QVERIFY(std::isnan(seen.low[k]) && std::isnan(seen.high[k]));
        QCOMPARE(seen.low[3], seen.value[3]);
        const Costs costs = costsOf(problem, seen);
        QCOMPARE(costs.low[1], seen.value[1]);
        QCOMPARE(costs.high[1], seen.value[1]);
        QVERIFY(!frontOf(problem, seen).points.empty());
    }
    // As fine as a search can tell apart, its ends as they were written; whole numbers once each.
    void aFreeRangeHasNoSteps() {
        const KnobSetting setting = *parseKnobSetting("hbm3.bandwidth", "2 TB/s .. 6 TB/s, free, log");
        QCOMPARE(toText(setting), std::string("2 TB/s .. 6 TB/s, free, log"));
        QVERIFY(*parseKnobSetting(setting.path, toText(setting)) == setting);
        const auto knob = knobOf(setting, passOf());
        QVERIFY2(knob, knob ? "" : toText(knob.error()).c_str());
        QVERIFY(knob->free && knob->logarithmic);
        QCOMPARE(knob->values.front(), std::string("2 TB/s"));
        QCOMPARE(knob->values.back(), std::string("6 TB/s"));
        const double ratio = std::pow(3.0, 1.0 / (freeKnobValues - 1));
        QCOMPARE(knob->numbers.size(), std::size_t{freeKnobValues});
        for (std::size_t i = 1; i < knob->numbers.size(); ++i)
            QVERIFY(std::abs(knob->numbers[i] / knob->numbers[i - 1] / ratio - 1) < 1e-4);
        const auto cores = makeKnob(passOf(), "sm.count", {.from = "66", .to = "264", .free = true});
        QVERIFY(cores);
        QCOMPARE(cores->values.size(), std::size_t{199});
        for (std::size_t i = 0; i < cores->numbers.size(); ++i) QCOMPARE(cores->numbers[i], 66.0 + i);
        // The same in a file.
        auto read = readSearch(
            "orrery: search/1\nhardware: h100-sxm\nworkload: {source: llama-3-8b}\nmethod: roofline\n"
            "knobs:\n  hbm3.bandwidth: {from: 2 TB/s, to: 6 TB/s, steps: free, scale: log}\n");
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QCOMPARE(read->settings.knobs.size(), std::size_t{1});
        QVERIFY(read->settings.knobs.front() == setting);
        QVERIFY(store::writeSearchSettings(read->settings).find("steps: free, scale: log") != std::string::npos);
    }
    // The lowest point of a valley lies where no list of nine values comes within 3 %.
    void agentsMoveOverAFreeRange() {
        struct Valley : PointSource {
            PointAnswer answerAt(const SearchProblem& problem, std::uint64_t point,
                                 const SearchOptions&) const override {
                const auto levels = problem.space.levelsAt(point);
                double cost = 1;
                for (std::size_t k = 0; k < levels.size(); ++k)
                    cost += std::pow(std::log(problem.space.knobs()[k].numbers[levels[k]] / 3.2e12), 2);
                PointAnswer answer;
                answer.values.push_back({cost, cost, cost});
                return answer;
            }
            std::string title() const override { return "a valley"; }
            std::string identity() const override { return "valley"; }
        };
        const auto problemOf = [](const char* text) {
            std::vector<Knob> knobs{*knobOf(*parseKnobSetting("hbm3.bandwidth", text), passOf())};
            SearchProblem problem{*SearchSpace::make(passOf(), std::move(knobs)), "valley", {}, {}, 0, 1};
            problem.objectives.push_back({"cost", false});
            problem.source = std::make_shared<Valley>();
            return problem;
        };
        const auto offBy = [](const SearchProblem& problem, const PointAnswers& seen) {
            const double best = *std::min_element(seen.value.begin(), seen.value.end());
            return std::exp(std::sqrt(best - 1)) - 1;
        };
        const SearchProblem free = problemOf("2 TB/s .. 6 TB/s, free, log"),
                            nine = problemOf("2 TB/s .. 6 TB/s, 9 steps, log");
        QVERIFY(offBy(nine, runSearch(nine, **searchAgent("grid"), {})) > 0.03);
        for (const char* agent : {"hill", "nsga2", "bayesian"}) {
            const PointAnswers seen = runSearch(free, **searchAgent(agent), {.evaluations = 100});
            QVERIFY2(offBy(free, seen) < 0.005, agent);
        }
        // Alone it takes nine values, its ends among them.
        const PointAnswers alone = runSearch(free, **searchAgent("one-at-a-time"), {});
        QVERIFY(alone.size() >= 9 && alone.size() <= 10);
        for (const std::uint64_t end : {std::uint64_t{0}, free.space.points() - 1})
            QVERIFY(std::find(alone.points.begin(), alone.points.end(), end) != alone.points.end());
    }
    void badKnobs_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("code");
        QTest::addColumn<bool>("serving");
        QTest::newRow("no option") << "method.warp"
                                   << "1"
                                   << "search.knob" << false;
        QTest::newRow("no slot") << "method.launch.more"
                                 << "1"
                                 << "search.knob" << false;
        QTest::newRow("no choice") << "method.launch"
                                   << "sideways"
                                   << "search.value" << false;
        QTest::newRow("two options") << "method.launch"
                                     << "eager, fusion=none"
                                     << "search.value" << false;
        QTest::newRow("no serving") << "serving.rate"
                                    << "2"
                                    << "search.knob" << false;
        QTest::newRow("no key") << "serving.spin"
                                << "2"
                                << "search.knob" << true;
        QTest::newRow("no number") << "serving.rate"
                                   << "many"
                                   << "search.value" << true;
        QTest::newRow("of a pass") << "batch"
                                   << "2"
                                   << "search.knob" << true;
        QTest::newRow("software") << "software"
                                  << "9lives"
                                  << "search.value" << false;
        QTest::newRow("graphs") << "software"
                                << "vLLM(graphs=maybe)"
                                << "search.value" << false;
    }
    void badKnobs() {
        QFETCH(QString, path);
        QFETCH(QString, value);
        QFETCH(QString, code);
        QFETCH(bool, serving);
        const auto knob = makeKnob(serving ? servingOf() : passOf(), path.toStdString(),
                                   std::vector<std::string>{value.toStdString()}, "tile-hybrid");
        QVERIFY(!knob);
        QVERIFY2(QString::fromStdString(knob.error().code) == code, toText(knob.error()).c_str());
    }
};

QTEST_GUILESS_MAIN(TestKnobs)
#include "tst_knobs.moc"
