// Do searches find what is best, the same for a seed on any threads, and say why nothing fits?

#include "mapping/mapspace_read.h"
#include "mapping/timeloop/timeloop.h"
#include "support/mapping_fixture.h"

#include <QElapsedTimer>
#include <QtTest/QtTest>

#include <filesystem>
#include <thread>

using namespace orrery;

namespace {

constexpr std::array kinds{MapperKind::Exhaustive, MapperKind::LinearPruned, MapperKind::RandomPruned,
                           MapperKind::LoopOrder,  MapperKind::Annealing,    MapperKind::Genetic};

Mapspace spaceOf(NestProblem problem, NestHardware hardware, MapspaceConstraints constraints = {}) {
    auto space = Mapspace::make(std::move(problem), std::move(hardware), std::move(constraints));
    if (!space) qFatal("%s", toText(space.error()).c_str());
    return std::move(*space);
}

Mapspace tiny() {
    MapspaceConstraints constraints;
    constraints.levels.resize(3);
    constraints.levels[0].keep = 7;
    return spaceOf(fixture::product(4, 6, 2), fixture::array(2, 2, 12, 24), constraints);
}

MapperResultPtr search(const Mapspace& space, const MapperOptions& options, int threads = 1) {
    const auto executor = makeThreadExecutor(threads);
    SearchContext context{*executor};
    auto result = searchMappings(space, options, context);
    if (!result) qFatal("%s: %s", std::string(toText(options.kind)).c_str(), toText(result.error()).c_str());
    return *result;
}

}  // namespace

class TestMappers : public QObject {
    Q_OBJECT
private slots:
    void namesReadBack() {
        for (const MapperKind kind : kinds) QVERIFY(mapperKind(toText(kind)) == kind);
        QVERIFY(mapObjective("delay") == MapObjective::Latency);
        QVERIFY(!mapperKind("best"));
    }
    void nothingBeatsTheExhaustiveSearchAndItsAnswerIsTheLeastByHand() {
        const auto space = tiny();
        for (const auto objective :
             {MapObjective::Latency, MapObjective::Energy, MapObjective::Edp, MapObjective::LastLevelAccesses}) {
            MapperOptions options{.kind = MapperKind::Exhaustive, .objectives = {objective}};
            const auto best = search(space, options);
            QVERIFY(best->complete && best->valid > 100);
            // The slow twin: a plain loop over every point, without lanes or early ends.
            NestEvaluator evaluator(space.problem(), space.hardware());
            NestMapping mapping;
            NestCounts counts;
            MapPoint point = space.start();
            double least = 1e300;
            std::uint64_t valid = 0;
            for (std::uint64_t f = 0; f < space.factorisations(); ++f) {
                space.setFactors(point, f);
                for (std::uint64_t v = 0, n = space.variants(point); v < n; ++v) {
                    space.setVariant(point, v);
                    space.toMapping(point, mapping);
                    if (space.checkFanOut(point).fault != MappingFault::None ||
                        evaluator.evaluate(mapping, counts) != MappingFault::None)
                        continue;
                    ++valid;
                    least = std::min(least, objectiveValue(objective, counts));
                }
            }
            QCOMPARE(best->valid, valid);
            QCOMPARE(objectiveValue(objective, best->counts), least);
            for (const MapperKind kind : kinds) {
                options.kind = kind;
                options.evaluations = kind == MapperKind::Exhaustive ? 0 : 3000;
                const auto found = search(space, options);
                const double value = objectiveValue(objective, found->counts);
                QVERIFY2(value >= least * (1 - 1e-12), std::string(toText(kind)).c_str());
                // On a space this small a good search is not far from the best.
                QVERIFY2(value <= least * 1.5,
                         qPrintable(QString("%1: %2 of %3").arg(int(kind)).arg(value).arg(least)));
                QVERIFY(found->refusals.total() + found->valid == found->examined);
            }
        }
    }
    void theFirstObjectiveLeadsAndTheSecondDecides() {
        const auto space = tiny();
        const auto fast = search(space, {.kind = MapperKind::Exhaustive, .objectives = {MapObjective::Latency}});
        const auto both = search(
            space, {.kind = MapperKind::Exhaustive, .objectives = {MapObjective::Latency, MapObjective::Energy}});
        QCOMPARE(both->counts.cycles, fast->counts.cycles);
        QVERIFY(both->counts.energy <= fast->counts.energy);
    }
    void threadsChangeNothing_data() {
        QTest::addColumn<int>("kind");
        for (const MapperKind kind : kinds) QTest::newRow(std::string(toText(kind)).c_str()) << int(kind);
    }
    void threadsChangeNothing() {
        QFETCH(int, kind);
        const auto space = spaceOf(fixture::layer(32, 16, 14, 14, 3, 3), fixture::array(8, 4, 64, 4096));
        MapperOptions options{.kind = static_cast<MapperKind>(kind), .seed = 5, .evaluations = 2000};
        const auto one = search(space, options, 1);
        for (const int threads : {2, 3}) {
            const auto more = search(space, options, threads);
            QCOMPARE(more->valid, one->valid);
            QCOMPARE(more->examined, one->examined);
            QVERIFY(more->mapping == one->mapping);
            QCOMPARE(more->counts.energy, one->counts.energy);
            QCOMPARE(more->curve.size(), one->curve.size());
            for (std::size_t i = 0; i < one->curve.size(); ++i) {
                QCOMPARE(more->curve[i].evaluations, one->curve[i].evaluations);
                QCOMPARE(more->curve[i].objective, one->curve[i].objective);
            }
        }
        QCOMPARE(one->valid, std::uint64_t{2000});
        // The curve falls, and ends in the result.
        for (std::size_t i = 1; i < one->curve.size(); ++i) {
            QVERIFY(one->curve[i].objective <= one->curve[i - 1].objective);
            QVERIFY(one->curve[i].evaluations > one->curve[i - 1].evaluations);
        }
        QCOMPARE(one->curve.back().objective, one->counts.energy * one->counts.cycles);
    }
    void seedsGiveOtherWalks() {
        const auto space = spaceOf(fixture::layer(32, 16, 14, 14, 3, 3), fixture::array(8, 4, 64, 4096));
        MapperOptions options{.kind = MapperKind::RandomPruned, .seed = 1, .evaluations = 500};
        const auto a = search(space, options);
        options.seed = 2;
        const auto b = search(space, options);
        QVERIFY(a->examined != b->examined || !(a->mapping == b->mapping));
    }
    void stoppingKeepsTheBest() {
        const auto space = spaceOf(fixture::layer(64, 64, 28, 28, 3, 3), fixture::array(8, 8, 128, 16384));
        const auto executor = makeThreadExecutor(2);
        for (const MapperKind kind : kinds) {
            std::stop_source source;
            MapperProgress progress;
            SearchContext context{*executor, source.get_token(), &progress};
            std::jthread stopper([&] {
                while (progress.valid() < 200) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                source.request_stop();
            });
            QElapsedTimer timer;
            timer.start();
            const auto result = searchMappings(space, {.kind = kind, .evaluations = 2000000000, .timeout = 0}, context);
            QVERIFY2(result, result ? "" : toText(result.error()).c_str());
            QVERIFY(timer.elapsed() < 15000);
            // Loop orders may all have been seen before the stop.
            QVERIFY((*result)->cancelled || kind == MapperKind::LoopOrder);
            QVERIFY(!progress.curve().empty());
            QCOMPARE(progress.curve().back().objective, (*result)->counts.energy * (*result)->counts.cycles);
        }
        std::stop_source stopped;
        stopped.request_stop();
        SearchContext context{*executor, stopped.get_token()};
        const auto none = searchMappings(tiny(), {.kind = MapperKind::RandomPruned}, context);
        QVERIFY(none ? (*none)->cancelled : none.error().code == "mapper.cancelled");
    }
    void nothingFitsIsExplained() {
        // One word of registers must hold all three tensors.
        MapspaceConstraints constraints;
        constraints.levels.resize(3);
        constraints.levels[0].keep = 7;
        const auto space = spaceOf(fixture::product(8, 6, 4), fixture::array(2, 2, 1, 48), constraints);
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor};
        for (const MapperKind kind : {MapperKind::Exhaustive, MapperKind::RandomPruned}) {
            const auto result = searchMappings(space, {.kind = kind, .timeout = 20000}, context);
            QVERIFY(!result);
            QCOMPARE(result.error().code, std::string("mapper.no-mapping"));
            QVERIFY2(result.error().message.find("capacity") != std::string::npos &&
                         result.error().message.find("registers") != std::string::npos,
                     result.error().message.c_str());
            QVERIFY(!result.error().hint.empty());
        }
    }
    void energyWithoutEnergiesIsRefused() {
        auto hardware = fixture::array(2, 2, 16, 64);
        hardware.arithmetic.energy = 0;
        for (auto& level : hardware.levels) level.energy = {};
        const auto space = spaceOf(fixture::product(8, 6, 4), hardware);
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor};
        const auto refused = searchMappings(space, {.objectives = {MapObjective::Edp}}, context);
        QVERIFY(!refused && refused.error().code == "mapper.objective");
        QVERIFY(searchMappings(space, {.objectives = {MapObjective::Latency}, .evaluations = 100}, context));
    }
    void anEqualQuestionIsAnsweredFromTheCache() {
        MappingCache cache;
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor, {}, nullptr, &cache};
        MapperOptions options{.evaluations = 500};
        const auto first = searchMappings(tiny(), options, context);
        QVERIFY(first);
        QVERIFY(*searchMappings(tiny(), options, context) == *first);
        options.seed = 9;
        QVERIFY(*searchMappings(tiny(), options, context) != *first);
        auto smaller = spaceOf(fixture::product(4, 6, 2), fixture::array(2, 2, 12, 25));
        QVERIFY(*searchMappings(smaller, {.evaluations = 500}, context) != *first);
    }
    void asGoodAsTimeloopsRecordedResults_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<double>("edp");  // joule × cycle, from timeloop-mapper.stats.txt
        QTest::newRow("AlexNet conv1, row stationary") << "tl_eyeriss256_rs_alexnet_conv1" << 719.91e-6 * 638880;
        QTest::newRow("AlexNet conv3, row stationary") << "tl_eyeriss256_rs_alexnet_conv3" << 1028.91e-6 * 958464;
        QTest::newRow("ResNet conv2 1x1, row stationary") << "tl_eyeriss256_rs_rn50_conv2_1x1" << 462.71e-6 * 401408;
        QTest::newRow("AlexNet conv1, Simba") << "tl_simba_chip_alexnet_conv1" << 109.71e-6 * 366025;
        QTest::newRow("AlexNet conv2, Simba") << "tl_simba_chip_alexnet_conv2" << 149.03e-6 * 218700;
    }
    void asGoodAsTimeloopsRecordedResults() {
        QFETCH(QString, name);
        QFETCH(double, edp);
        const std::string file = ORRERY_REFERENCE "/accelerators/timeloop/" + name.toStdString() + "/mapper.cfg";
        if (!std::filesystem::exists(file)) QSKIP("no reference data");
        const auto input = readTimeloopFiles({file});
        QVERIFY2(input, input ? "" : toText(input.error()).c_str());
        auto constraints = readConstraints(input->root, input->problem, input->hardware);
        QVERIFY2(constraints, constraints ? "" : toText(constraints.error()).c_str());
        const auto space = spaceOf(input->problem, input->hardware, *constraints);
        const auto found = search(space, {.kind = MapperKind::Annealing, .evaluations = 6000});
        // Printed to five digits there.
        const double value = found->counts.energy * found->counts.cycles;
        QVERIFY2(value <= edp * 1.0001, qPrintable(QString("%1 against %2").arg(value).arg(edp)));
    }
};

QTEST_GUILESS_MAIN(TestMappers)
#include "tst_mappers.moc"
