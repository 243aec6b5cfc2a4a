// Is what the optimal mapper claims true? On every drawn space that can be exhausted, its value is the least of all,
// and its bound never above it.

#include "base/random.h"
#include "mapping/mappers/optimal/facts.h"
#include "mapping/mapspace_read.h"
#include "mapping/sparse/sparse_design.h"
#include "mapping/timeloop/timeloop.h"
#include "support/mapping_fixture.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>
#include <limits>

using namespace orrery;

namespace {

constexpr std::array objectives{MapObjective::Edp, MapObjective::Latency, MapObjective::Energy,
                                MapObjective::LastLevelAccesses};

class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed, 77) {}
    bool once(std::uint64_t in) { return random_.below(in) == 0; }
    template <class T>
    T of(std::initializer_list<T> list) {
        return *(list.begin() + random_.below(list.size()));
    }
    std::size_t below(std::size_t n) { return random_.below(n); }

private:
    RandomStream random_;
};

NestProblem drawProblem(Draw& draw) {
    if (draw.once(2))
        return fixture::layer(draw.of({1, 2, 3, 4}), draw.of({1, 2, 4}), draw.of({1, 2, 3, 4}), draw.of({1, 2, 3}),
                              draw.of({1, 2, 3}), draw.of({1, 2}), draw.of({1, 2}));
    return fixture::product(draw.of({2, 3, 4, 6, 8, 12}), draw.of({1, 2, 4, 6}), draw.of({2, 3, 4, 6}));
}

NestHardware drawHardware(Draw& draw) {
    const std::int64_t x = draw.of({1, 2, 2, 4}), y = draw.of({1, 2});
    NestHardware made = fixture::array(x, y, draw.of({3, 4, 8, 12, 1000}), draw.of({12, 24, 48, 64, 1000}));
    if (draw.once(2)) {
        made.levels.erase(made.levels.begin());  // the arithmetic fans out
    } else if (draw.once(2)) {
        const bool shared = draw.once(2);
        made.levels.insert(made.levels.begin() + 1,
                           fixture::storage("second", shared ? 1 : x * y, shared ? 1 : x, 16, 2e-12));
    }
    for (NestLevel& level : made.levels) {
        if (draw.once(3)) level.sharedBandwidth = draw.of({1, 2, 3});
        if (draw.once(4)) level.readBandwidth = draw.of({1, 2, 3});
        if (draw.once(4)) level.writeBandwidth = draw.of({1, 2, 3});
        if (draw.once(4)) level.blockSize = draw.of({2, 4});
        if (draw.once(4)) level.networkLatency = 5;
        if (draw.once(5)) level.multipleBuffering = 2;
        if (draw.once(8)) level.minUtilisation = 0.3;
        if (draw.once(3)) level.energy.vectorWrite *= 1.5, level.energy.vectorUpdate *= 0.7;
    }
    return made;
}

MapspaceConstraints drawConstraints(Draw& draw, std::size_t levels, std::size_t dimensions, std::size_t freedom) {
    MapspaceConstraints made;
    made.levels.resize(levels);
    for (std::size_t l = 0; l < levels; ++l) {
        for (unsigned t = 0; t < 3; ++t) {
            const std::size_t what = draw.below(freedom);
            if (what == 0) made.levels[l].keep |= 1u << t;
            if (what == 1 && l + 1 < levels) made.levels[l].bypass |= 1u << t;
            if (what == 3 && l + 1 < levels) (draw.once(2) ? made.levels[l].keep : made.levels[l].bypass) |= 1u << t;
        }
        for (LoopConstraint* loops : {&made.levels[l].spatial, &made.levels[l].temporal}) {
            if (draw.once(3)) loops->factors.assign(dimensions, 0), loops->factors[draw.below(dimensions)] = 1;
            if (draw.once(4)) loops->maxFactors.assign(dimensions, 0), loops->maxFactors[draw.below(dimensions)] = 2;
            if (draw.once(4)) loops->innermost.push_back(static_cast<std::uint8_t>(draw.below(dimensions)));
            if (draw.once(4)) {
                const auto last = static_cast<std::uint8_t>(draw.below(dimensions));
                if (loops->innermost.empty() || loops->innermost[0] != last) loops->outermost.push_back(last);
            }
        }
        if (draw.once(3)) made.levels[l].spatial.split = draw.below(dimensions + 1);
    }
    if (draw.once(6)) made.minParallelism = 0.5;
    return made;
}

/// Points of a space, or more than `most`.
double pointsOf(const Mapspace& space, double most) {
    if (static_cast<double>(space.factorisations()) > most) return 2 * most;
    double points = 0;
    MapPoint point = space.start();
    for (std::uint64_t f = 0; f < space.factorisations() && points <= most; ++f) {
        space.setFactors(point, f);
        points += static_cast<double>(space.variants(point));
    }
    return points;
}

/// Compares with the exhaustive search by every objective; the number of comparisons.
int compare(const Mapspace& space, const std::shared_ptr<const SparseDesign>& sparse, const QByteArray& name) {
    const auto executor = makeSerialExecutor();
    int compared = 0;
    for (const MapObjective objective : objectives) {
        SearchContext context{*executor, {}, nullptr, nullptr, sparse};
        const MapperOptions all{.kind = MapperKind::Exhaustive, .objectives = {objective}, .timeout = 0};
        const MapperOptions proof{.kind = MapperKind::Optimal, .objectives = {objective}};
        const auto every = searchMappings(space, all, context);
        const auto best = searchMappings(space, proof, context);
        if (bool(every) != bool(best)) {
            QTest::qFail(name + ": one of the two finds no mapping", __FILE__, __LINE__);
            return compared;
        }
        if (!every) continue;
        ++compared;
        const double least = objectiveValue(objective, (*every)->counts);
        const double value = objectiveValue(objective, (*best)->counts);
        if (!(std::abs(value - least) <= 1.1e-9 * least) || !(*best)->proven ||
            (*best)->lowerBound > least * (1 + 1e-12) || !(*every)->proven) {
            QTest::qFail(qPrintable(QString("%1, %2: %3, the least is %4, the bound %5")
                                        .arg(name, QString::fromStdString(std::string(toText(objective))))
                                        .arg(value, 0, 'g', 12)
                                        .arg(least, 0, 'g', 12)
                                        .arg((*best)->lowerBound, 0, 'g', 12)),
                         __FILE__, __LINE__);
        }
    }
    return compared;
}

NestHardware drawSparseHardware(Draw& draw) {
    NestHardware made = fixture::array(draw.of({1, 2}), 1, draw.of({4, 8, 100}), draw.of({24, 48, 1000}));
    for (NestLevel& level : made.levels) {
        if (draw.once(3)) level.sharedBandwidth = draw.of({1, 2});
        if (draw.once(4)) level.readBandwidth = draw.of({1, 2});
        if (draw.once(3)) level.blockSize = 2;
        if (draw.once(2)) level.decompressionSupported = level.compressionSupported = true;
        if (draw.once(2)) level.metadataWidthBits = 8, level.energy.metadataRead = 1e-13;
        level.energy.gatedRead = draw.once(2) ? 0 : level.energy.vectorRead * 0.1;
    }
    made.arithmetic.gatedEnergy = draw.once(2) ? 0 : made.arithmetic.energy * 0.1;
    return made;
}

std::shared_ptr<const SparseDesign> drawSparseDesign(Draw& draw, const NestProblem& problem,
                                                     const NestHardware& hardware) {
    auto design = std::make_shared<SparseDesign>(denseDesign(problem, hardware.levels.size()));
    for (std::size_t t = 0; t < (draw.once(4) ? 3u : 2u); ++t) {
        DensityModel model;
        model.kind = draw.of({DensityKind::Hypergeometric, DensityKind::FixedStructured, DensityKind::Banded});
        model.density = draw.of({0.1, 0.25, 0.5, 1.0});
        model.bandWidth = draw.of({0, 1});
        if (!draw.once(4)) setDensity(*design, problem, t, model);
        for (SparseLevel& level : design->levels)
            if (draw.once(3)) level.formats[t].ranks.assign(4, {RankFormat::Bitmask, 1, 0, {}});
    }
    design->skipCompute = draw.once(2);
    design->gateCompute = draw.once(2);
    for (SparseLevel& level : design->levels) {
        for (std::size_t n = draw.below(3); n > 0; --n) {
            ActionOptimization action;
            action.elimination = draw.of({Elimination::Gating, Elimination::Skipping, Elimination::Skipping,
                                          Elimination::SpatialSkipping, Elimination::PositionSkipping});
            const auto target = static_cast<std::uint8_t>(draw.below(3));
            const std::uint32_t leaders = 1u << draw.below(2) | (draw.once(4) ? 3u : 0u);
            action.options = {{target, action.elimination == Elimination::PositionSkipping ? 0u : leaders}};
            level.actions.push_back(action);
        }
    }
    return design;
}

/// The least of every objective over all mappings, one by one; infinite where none fits.
std::array<double, 4> leastOf(const Mapspace& space, const std::shared_ptr<const SparseDesign>& design) {
    NestEvaluator evaluator(space.problem(), space.hardware(), design);
    NestMapping mapping;
    NestCounts counts;
    std::array<double, 4> least;
    least.fill(std::numeric_limits<double>::infinity());
    MapPoint point = space.start();
    for (std::uint64_t f = 0; f < space.factorisations(); ++f) {
        space.setFactors(point, f);
        for (std::uint64_t variant = 0, all = space.variants(point); variant < all; ++variant) {
            space.setVariant(point, variant);
            space.toMapping(point, mapping);
            if (evaluator.evaluate(mapping, counts) != MappingFault::None) continue;
            for (std::size_t n = 0; n < least.size(); ++n)
                least[n] = std::min(least[n], objectiveValue(objectives[n], counts));
        }
    }
    return least;
}

}  // namespace

class TestOptimalMapper : public QObject {
    Q_OBJECT
private slots:
    void equalsTheExhaustiveSearch_data() {
        QTest::addColumn<int>("from");
        for (int from = 0; from < 240; from += 40) QTest::addRow("seeds from %d", from) << from;
    }
    void equalsTheExhaustiveSearch() {
        QFETCH(int, from);
        int compared = 0;
        for (int seed = from; seed < from + 40; ++seed) {
            Draw draw(static_cast<std::uint64_t>(seed));
            const NestProblem problem = drawProblem(draw);
            const NestHardware hardware = drawHardware(draw);
            const auto constraints = drawConstraints(draw, hardware.levels.size(), problem.dimensions.size(),
                                                     problem.name == "layer" ? 5 : 4);
            const auto space = Mapspace::make(problem, hardware, constraints);
            if (!space || pointsOf(*space, 100000) > 100000) continue;
            compared += compare(*space, {}, QByteArray("seed ") + QByteArray::number(seed));
        }
        QVERIFY2(compared > 80, qPrintable(QString::number(compared)));
    }
    // Where even the smallest tiles find no room, no mapping of all fits.
    void whatNeverFitsIsToldBeforehand() {
        int told = 0, none = 0;
        for (std::uint64_t seed = 1000; seed < 1700; ++seed) {
            Draw draw(seed);
            const NestProblem problem = drawProblem(draw);
            NestHardware hardware = drawHardware(draw);
            for (NestLevel& level : hardware.levels)
                if (draw.once(2)) level.capacityWords = std::ceil(level.capacityWords / 4);
            const auto space = Mapspace::make(
                problem, hardware, drawConstraints(draw, hardware.levels.size(), problem.dimensions.size(), 4));
            if (!space || pointsOf(*space, 20000) > 20000) continue;
            const bool fits = std::isfinite(leastOf(*space, {})[0]);
            const bool refused = space->checkSmallest().fault != MappingFault::None;
            QVERIFY2(!(fits && refused), qPrintable(QString("seed %1").arg(seed)));
            none += fits ? 0 : 1;
            told += refused ? 1 : 0;
        }
        qInfo("%d of %d spaces without a mapping are told", told, none);
        QVERIFY(told > 10);
    }
    void theAnswerIsTheSameOnAnyThreads() {
        const auto space =
            Mapspace::make(fixture::layer(32, 16, 14, 14, 3, 3), fixture::array(8, 4, 64, 4096), rowsInside());
        QVERIFY(space);
        const MapperOptions options{.kind = MapperKind::Optimal, .objectives = {MapObjective::Edp}};
        MapperResultPtr first;
        for (const int threads : {1, 2, 3}) {
            const auto executor = makeThreadExecutor(threads);
            SearchContext context{*executor};
            const auto found = searchMappings(*space, options, context);
            QVERIFY2(found, found ? "" : toText(found.error()).c_str());
            QVERIFY((*found)->proven);
            if (!first) first = *found;
            QVERIFY((*found)->mapping == first->mapping);
            QCOMPARE((*found)->valid, first->valid);
        }
    }
    void noOtherMapperIsBetter() {
        const auto space =
            Mapspace::make(fixture::layer(32, 16, 14, 14, 3, 3), fixture::array(8, 4, 64, 4096), rowsInside());
        QVERIFY(space);
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor};
        const auto best = searchMappings(*space, {.kind = MapperKind::Optimal}, context);
        QVERIFY(best && (*best)->proven);
        for (const MapperKind kind : {MapperKind::LinearPruned, MapperKind::RandomPruned, MapperKind::LoopOrder,
                                      MapperKind::Annealing, MapperKind::Genetic}) {
            const auto other = searchMappings(*space, {.kind = kind, .evaluations = 4000}, context);
            QVERIFY(other);
            QVERIFY(objectiveValue(MapObjective::Edp, (*other)->counts) >= (*best)->lowerBound * (1 - 1e-12));
        }
    }
    void aStoppedProofKeepsItsBestAndItsBound() {
        const auto space = Mapspace::make(fixture::layer(256, 256, 56, 56, 3, 3), fixture::array(16, 16, 512, 262144));
        QVERIFY(space);
        const auto executor = makeSerialExecutor();
        MapperProgress progress;
        SearchContext context{*executor, {}, &progress};
        const auto found = searchMappings(*space, {.kind = MapperKind::Optimal, .seconds = 0.2}, context);
        QVERIFY2(found, found ? "" : toText(found.error()).c_str());
        const double value = objectiveValue(MapObjective::Edp, (*found)->counts);
        QVERIFY((*found)->lowerBound > 0);
        QVERIFY((*found)->lowerBound <= value);
        QCOMPARE(progress.lowerBound(), (*found)->lowerBound);
        QVERIFY((*found)->seconds < 10);
        if (!(*found)->proven) QVERIFY(!(*found)->complete);
    }
    void imperfectFactorsAreSearchedWithoutAFalseProof() {
        MapspaceConstraints constraints;
        constraints.levels.resize(3);
        constraints.levels[0].keep = 7;
        constraints.imperfect = true;
        const auto space = Mapspace::make(fixture::product(5, 3, 2), fixture::array(2, 2, 12, 24), constraints);
        QVERIFY(space);
        QVERIFY(compare(*space, {}, "imperfect") == 4);
    }
    // Drawn spaces with factors that need not divide: no mapping lies below the bound that a stopped search states.
    void whatImperfectSpacesStateIsABound() {
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor};
        int compared = 0, known = 0;
        for (int seed = 0; seed < 60; ++seed) {
            Draw draw(static_cast<std::uint64_t>(3000 + seed));
            const NestProblem problem =
                draw.once(3) ? fixture::layer(draw.of({2, 3}), draw.of({1, 2}), draw.of({2, 3}), 1, draw.of({1, 2}), 1)
                             : fixture::product(draw.of({2, 3, 5}), draw.of({1, 2, 3}), draw.of({2, 3}));
            NestHardware hardware = drawHardware(draw);
            hardware.levels.back().clusterSize = 1;
            MapspaceConstraints constraints;
            constraints.levels.resize(hardware.levels.size());
            for (LevelConstraint& level : constraints.levels) {
                for (unsigned t = 0; t < 3; ++t)
                    if (draw.once(3)) level.keep |= 1u << t;
            }
            constraints.imperfect = true;
            const auto space = Mapspace::make(problem, hardware, constraints);
            if (!space || pointsOf(*space, 30000) > 30000) continue;
            for (const MapObjective objective : objectives) {
                const auto every = searchMappings(
                    *space, {.kind = MapperKind::Exhaustive, .objectives = {objective}, .timeout = 0}, context);
                const auto cut = searchMappings(
                    *space, {.kind = MapperKind::Optimal, .objectives = {objective}, .steps = 1}, context);
                if (!every || !cut) continue;
                const double least = objectiveValue(objective, (*every)->counts);
                QVERIFY2((*cut)->lowerBound <= least * (1 + 1e-9),
                         qPrintable(QString("seed %1, %2: bound %3, least %4")
                                        .arg(seed)
                                        .arg(QString::fromStdString(std::string(toText(objective))))
                                        .arg((*cut)->lowerBound, 0, 'g', 12)
                                        .arg(least, 0, 'g', 12)));
                if ((*cut)->proven) QVERIFY(objectiveValue(objective, (*cut)->counts) <= least * (1 + 1.1e-9));
                ++compared;
                known += (*cut)->lowerBound > 0.1 * least;
            }
        }
        QVERIFY2(compared > 60, qPrintable(QString::number(compared)));
        QVERIFY2(known > compared / 2, qPrintable(QString("%1 of %2").arg(known).arg(compared)));
    }
    void equalsTheExhaustiveSearchOfSparseNests() {
        int compared = 0;
        for (int seed = 0; seed < 40; ++seed) {
            Draw draw(static_cast<std::uint64_t>(1000 + seed));
            const NestProblem problem = fixture::product(draw.of({2, 3, 4}), draw.of({1, 2, 4}), draw.of({2, 4}));
            const NestHardware hardware = fixture::array(draw.of({1, 2}), 1, draw.of({3, 4, 8}), draw.of({12, 24, 48}));
            MapspaceConstraints constraints = drawConstraints(draw, hardware.levels.size(), 3, 4);
            constraints.levels[0].keep |= 7u & ~constraints.levels[0].bypass;
            constraints.levels[1].keep |= 7u & ~constraints.levels[1].bypass;
            const auto space = Mapspace::make(problem, hardware, constraints, {.prune = false});
            if (!space || pointsOf(*space, 4000) > 4000) continue;
            auto design = std::make_shared<SparseDesign>(denseDesign(problem, hardware.levels.size()));
            DensityModel half;
            half.kind = DensityKind::Hypergeometric;
            half.density = draw.of({0.25, 0.5});
            setDensity(*design, problem, 0, half);
            design->skipCompute = draw.once(2);
            design->gateCompute = !design->skipCompute;
            if (draw.once(2)) {
                ActionOptimization skip;
                skip.elimination = draw.once(2) ? Elimination::Skipping : Elimination::Gating;
                skip.options = {{1, 1u}};
                design->levels[draw.below(2)].actions.push_back(skip);
            }
            compared += compare(*space, design, QByteArray("sparse seed ") + QByteArray::number(seed));
        }
        QVERIFY2(compared > 20, qPrintable(QString::number(compared)));
    }
    // Drawn designs that gate, skip, compress and pack: no mapping lies below the bound of their space.
    void whatSparseSpacesStateIsABound() {
        int compared = 0, known = 0, zero = 0;
        for (int seed = 0; seed < 400; ++seed) {
            Draw draw(static_cast<std::uint64_t>(5000 + seed));
            const NestProblem problem = fixture::product(draw.of({2, 3, 4, 6}), draw.of({2, 4}), draw.of({2, 4}));
            const NestHardware hardware = drawSparseHardware(draw);
            const auto constraints = drawConstraints(draw, hardware.levels.size(), 3, 4);
            const auto space = Mapspace::make(problem, hardware, constraints, {.prune = false});
            if (!space || pointsOf(*space, 600) > 600) continue;
            const auto design = drawSparseDesign(draw, problem, hardware);
            const std::array<double, 4> least = leastOf(*space, design);
            for (std::size_t n = 0; n < objectives.size() && std::isfinite(least[n]); ++n) {
                const double bound = optimal::plainBound(
                    optimal::makeFacts(*space, objectives[n]),
                    optimal::remainsOf(problem, *design, static_cast<double>(hardware.arithmetic.instances), true));
                QVERIFY2(bound <= least[n] * (1 + 1e-9),
                         qPrintable(QString("seed %1, %2: bound %3, least %4")
                                        .arg(seed)
                                        .arg(QString::fromStdString(std::string(toText(objectives[n]))))
                                        .arg(bound, 0, 'g', 12)
                                        .arg(least[n], 0, 'g', 12)));
                ++compared;
                known += bound > 0.1 * least[n];
                zero += bound <= 0 && least[n] > 0;
            }
        }
        qInfo("%d compared, %d bounds above a tenth of the least, %d of nothing", compared, known, zero);
        QVERIFY2(compared > 100, qPrintable(QString::number(compared)));
        QVERIFY2(known > compared / 2, qPrintable(QString("%1 of %2").arg(known).arg(compared)));
        QCOMPARE(zero, 0);
    }
    // A search that is stopped in a space too large to look at says that bound.
    void aStoppedSearchOfASparseSpaceStatesIt() {
        const NestProblem problem = fixture::product(64, 32, 32);
        const NestHardware hardware = fixture::array(4, 4, 64, 4096);
        const auto space = Mapspace::make(problem, hardware, {}, {.prune = false});
        QVERIFY(space);
        auto design = std::make_shared<SparseDesign>(denseDesign(problem, hardware.levels.size()));
        DensityModel half;
        half.kind = DensityKind::Hypergeometric;
        half.density = 0.5;
        setDensity(*design, problem, 0, half);
        design->skipCompute = true;
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor, {}, nullptr, nullptr, design};
        const auto found = searchMappings(
            *space, {.kind = MapperKind::Optimal, .objectives = {MapObjective::Edp}, .steps = 1}, context);
        QVERIFY2(found, found ? "" : toText(found.error()).c_str());
        const double value = objectiveValue(MapObjective::Edp, (*found)->counts);
        QVERIFY(!(*found)->proven && (*found)->lowerBound > 0 && (*found)->lowerBound < value);
    }
    void provesWhatTimeloopRecorded_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<double>("edp");  // joule × cycle, from timeloop-mapper.stats.txt
        QTest::newRow("AlexNet conv1, row stationary") << "tl_eyeriss256_rs_alexnet_conv1" << 719.91e-6 * 638880;
        QTest::newRow("AlexNet conv3, row stationary") << "tl_eyeriss256_rs_alexnet_conv3" << 1028.91e-6 * 958464;
        QTest::newRow("ResNet conv2 1x1, row stationary") << "tl_eyeriss256_rs_rn50_conv2_1x1" << 462.71e-6 * 401408;
        QTest::newRow("AlexNet conv1, Simba") << "tl_simba_chip_alexnet_conv1" << 109.71e-6 * 366025;
        QTest::newRow("AlexNet conv2, Simba") << "tl_simba_chip_alexnet_conv2" << 149.03e-6 * 218700;
    }
    void provesWhatTimeloopRecorded() {
        QFETCH(QString, name);
        QFETCH(double, edp);
        const std::string file = ORRERY_REFERENCE "/accelerators/timeloop/" + name.toStdString() + "/mapper.cfg";
        if (!std::filesystem::exists(file)) QSKIP("no reference data");
        const auto input = readTimeloopFiles({file});
        QVERIFY(input);
        const auto constraints = readConstraints(input->root, input->problem, input->hardware);
        QVERIFY(constraints);
        const auto space = Mapspace::make(input->problem, input->hardware, *constraints);
        QVERIFY(space);
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor};
        const auto best = searchMappings(*space, {.kind = MapperKind::Optimal}, context);
        QVERIFY(best);
        QVERIFY((*best)->proven);
        // Printed to five digits there.
        QVERIFY(objectiveValue(MapObjective::Edp, (*best)->counts) <= edp * 1.0001);
    }

private:
    /// Rows of the filter stay inside an element, channels and filters are unrolled.
    static MapspaceConstraints rowsInside() {
        MapspaceConstraints made;
        made.levels.resize(3);
        made.levels[0].keep = 7;
        made.levels[1].keep = 6;
        made.levels[1].bypass = 1;
        made.levels[1].spatial.factors = {1, 0, 1, 0, 1, 0, 1};
        made.levels[1].temporal.factors = {1, 1, 0, 0, 0, 0, 1};
        made.levels[2].temporal.factors = {1, 1, 0, 0, 0, 0, 1};
        return made;
    }
};

QTEST_GUILESS_MAIN(TestOptimalMapper)
#include "tst_optimal_mapper.moc"
