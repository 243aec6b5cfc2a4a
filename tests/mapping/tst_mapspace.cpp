// Is every mapping of a space there once, and none that is not of it?

#include "base/random.h"
#include "mapping/mapspace_read.h"
#include "mapping/timeloop/timeloop.h"
#include "support/mapping_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

using namespace orrery;

namespace {

const FactorSpace::Limit anyFactor = [](std::size_t, std::int64_t) { return std::int64_t{1} << 40; };

double binomial(int n, int k) {
    double result = 1;
    for (int i = 1; i <= k; ++i) result = result * (n - k + i) / i;
    return result;
}

/// Ordered factorisations of n into k factors: for every prime power p^e the ways to share e among k.
double orderedFactorisations(std::int64_t n, int k) {
    double count = 1;
    for (std::int64_t p = 2; n > 1; ++p) {
        int e = 0;
        for (; n % p == 0; n /= p) ++e;
        count *= binomial(e + k - 1, k - 1);
    }
    return count;
}

std::vector<MapPoint> allPoints(const Mapspace& space) {
    std::vector<MapPoint> points;
    MapPoint point = space.start();
    for (std::uint64_t f = 0; f < space.factorisations(); ++f) {
        space.setFactors(point, f);
        const std::uint64_t variants = space.variants(point);
        for (std::uint64_t v = 0; v < variants; ++v) {
            space.setVariant(point, v);
            points.push_back(point);
        }
    }
    return points;
}

Mapspace spaceOf(NestProblem problem, NestHardware hardware, MapspaceConstraints constraints = {},
                 MapspaceOptions options = {}) {
    auto space = Mapspace::make(std::move(problem), std::move(hardware), std::move(constraints), options);
    if (!space) qFatal("%s", toText(space.error()).c_str());
    return std::move(*space);
}

std::int64_t extentOf(const NestMapping& mapping, std::uint8_t dimension) {
    // Last iteration of every loop, the outermost first: the mixed radix of the bounds.
    std::int64_t last = 0;
    for (auto level = mapping.levels.rbegin(); level != mapping.levels.rend(); ++level) {
        for (auto loop = level->loops.rbegin(); loop != level->loops.rend(); ++loop) {
            if (loop->dimension == dimension) last = last * loop->bound + loop->residual - 1;
        }
    }
    return last + 1;
}

}  // namespace

class TestMapspace : public QObject {
    Q_OBJECT
private slots:
    void perfectFactorsAreCountedInClosedForm() {
        for (const std::int64_t n : {1, 2, 7, 12, 64, 360, 4096, 50257, 11008}) {
            for (int k = 1; k <= 7; ++k) {
                const FactorSpace space(n, static_cast<std::size_t>(k), false, anyFactor);
                QCOMPARE(static_cast<double>(space.size()), orderedFactorisations(n, k));
            }
        }
    }
    void numbersAreOneToOneAndMultiplyToTheExtent() {
        for (const bool imperfect : {false, true}) {
            for (const std::int64_t n : {1, 7, 12, 60}) {
                const FactorSpace space(n, 3, imperfect, anyFactor);
                std::set<std::vector<std::int32_t>> seen;
                std::vector<std::int32_t> factors(3);
                for (std::uint64_t i = 0; i < space.size(); ++i) {
                    space.at(i, factors);
                    std::int64_t left = n;
                    for (const std::int32_t f : factors) {
                        if (!imperfect) QVERIFY(left % f == 0);
                        left = (left + f - 1) / f;
                    }
                    QCOMPARE(left, std::int64_t{1});
                    QVERIFY(space.contains(factors));
                    QVERIFY(seen.insert(factors).second);
                }
                // The slow twin: every triple, kept if no smaller factor leaves as many iterations.
                std::uint64_t twin = 0;
                for (std::int64_t a = 1; a <= n; ++a) {
                    const std::int64_t afterA = (n + a - 1) / a;
                    if (imperfect ? a > 1 && (n + a - 2) / (a - 1) == afterA : n % a != 0) continue;
                    for (std::int64_t b = 1; b <= afterA; ++b) {
                        const std::int64_t afterB = (afterA + b - 1) / b;
                        if (imperfect ? b > 1 && (afterA + b - 2) / (b - 1) == afterB : afterA % b != 0) continue;
                        ++twin;
                    }
                }
                QCOMPARE(space.size(), twin);
            }
        }
    }
    void limitsRemoveExactlyWhatExceedsThem() {
        const auto limit = [](std::size_t loop, std::int64_t) { return std::int64_t{loop == 1 ? 3 : 1000}; };
        const FactorSpace limited(48, 3, false, limit);
        const FactorSpace full(48, 3, false, anyFactor);
        std::uint64_t within = 0;
        std::vector<std::int32_t> factors(3);
        for (std::uint64_t i = 0; i < full.size(); ++i) {
            full.at(i, factors);
            within += factors[1] <= 3;
            QCOMPARE(limited.contains(factors), factors[1] <= 3);
        }
        QCOMPARE(limited.size(), within);
    }
    void sizesFollowTheirClosedForms() {
        const auto space = spaceOf(fixture::product(12, 8, 6), fixture::array(4, 1, 4, 100), {}, {.prune = false});
        // Temporal loops of three levels and the spatial ones of one: four places for a factor.
        const double factors = orderedFactorisations(12, 4) * orderedFactorisations(8, 4) * orderedFactorisations(6, 4);
        QCOMPARE(space.size().factors, factors);
        QCOMPARE(space.size().orders, 36.0);  // 3! at two levels; order inside the innermost is not seen
        QCOMPARE(space.size().keeps, 64.0);   // three tensors at two levels may pass by
        QCOMPARE(space.size().splits, 1.0);
    }
    void everyPointIsThereOnceAndContained() {
        const auto space = spaceOf(fixture::product(4, 2, 3), fixture::array(2, 2, 8, 100), {}, {.prune = false});
        const auto points = allPoints(space);
        std::set<std::string> seen;
        NestMapping mapping;
        for (const MapPoint& point : points) {
            QVERIFY(space.contains(point));
            space.toMapping(point, mapping);
            std::string key;
            for (const auto& level : mapping.levels) {
                key += std::to_string(level.keeps) + ":";
                for (const auto& loop : level.loops)
                    key +=
                        std::to_string(loop.dimension) + char('a' + int(loop.kind)) + std::to_string(loop.bound) + ",";
            }
            QVERIFY2(seen.insert(key).second, key.c_str());
        }
        QVERIFY(points.size() > 10000);
    }
    void whatTheCheckAcceptsTheEvaluatorAcceptsAndBack() {
        for (const bool imperfect : {false, true}) {
            MapspaceConstraints constraints;
            constraints.imperfect = imperfect;
            for (const auto& problem : {fixture::layer(24, 10, 7, 9, 3, 3, 2), fixture::product(96, 40, 36)}) {
                const auto space = spaceOf(problem, fixture::array(4, 3, 24, 900), constraints);
                NestEvaluator evaluator(space.problem(), space.hardware());
                NestMapping mapping;
                NestCounts counts;
                RandomStream random(7, imperfect);
                MapPoint point = space.start(), other = point, child;
                int valid = 0, refused = 0;
                for (int i = 0; i < (imperfect ? 250 : 1500); ++i) {
                    space.draw(point, random);
                    if (i % 3 == 1) space.mutate(point, random);
                    if (i % 3 == 2) {
                        space.cross(point, other, child, random);
                        point = child;
                    }
                    QVERIFY(space.contains(point));
                    space.toMapping(point, mapping);
                    const MappingFault mine = space.check(point).fault;
                    const MappingFault theirs = evaluator.evaluate(mapping, counts);
                    // Sides of the mesh are the mapper's concern alone; the evaluator takes imperfect tiles uncut.
                    const bool agreed = (mine == MappingFault::None) == (theirs == MappingFault::None);
                    const bool uncut = imperfect && mine == MappingFault::None && theirs == MappingFault::Capacity;
                    QVERIFY2(agreed || uncut || mine == MappingFault::FanOut,
                             qPrintable(QString("check %1, evaluator %2, imperfect %3")
                                            .arg(int(mine))
                                            .arg(int(theirs))
                                            .arg(imperfect)));
                    if (space.checkFactors(point).fault != MappingFault::None) QVERIFY(mine != MappingFault::None);
                    for (std::uint8_t d = 0; d < space.dimensions(); ++d)
                        QCOMPARE(extentOf(mapping, d), space.problem().extents[d]);
                    ++(theirs == MappingFault::None ? valid : refused);
                    other = point;
                }
                QVERIFY(valid > 20 && refused > 20);
            }
        }
    }
    void pruningRemovesOnlyWhatDoesNotFit() {
        const auto problem = fixture::product(16, 12, 8);
        const auto hardware = fixture::array(4, 2, 6, 64);
        MapspaceConstraints keepAll;
        keepAll.levels.resize(3);
        keepAll.levels[0].keep = keepAll.levels[1].keep = 7;
        const auto all = spaceOf(problem, hardware, keepAll, {.prune = false});
        const auto pruned = spaceOf(problem, hardware, keepAll);
        QVERIFY(pruned.factorisations() < all.factorisations());
        const auto fitting = [](const Mapspace& space) {
            const auto points = allPoints(space);
            return std::count_if(points.begin(), points.end(),
                                 [&](const MapPoint& p) { return space.check(p).fault == MappingFault::None; });
        };
        const auto count = fitting(all);
        QVERIFY(count > 100);
        QCOMPARE(fitting(pruned), count);
    }
    void constraintsHoldInEveryPoint() {
        MapspaceConstraints constraints;
        constraints.levels.resize(3);
        auto& buffer = constraints.levels[1];
        buffer.temporal.factors = {0, 2, 1};
        buffer.temporal.maxFactors = {3, 0, 0};
        constraints.levels[2].temporal.innermost = {2};
        constraints.levels[2].temporal.outermost = {0};
        buffer.keep = 4;
        buffer.bypass = 1;
        buffer.spatial.innermost = {1, 0, 2};
        buffer.spatial.split = 1;
        const auto space = spaceOf(fixture::product(12, 8, 6), fixture::array(4, 3, 64, 900), constraints);
        RandomStream random(3);
        MapPoint point = space.start();
        for (int i = 0; i < 500; ++i) {
            space.draw(point, random);
            space.mutate(point, random);
            QCOMPARE(point.factor[3][1], 2);
            QCOMPARE(point.factor[3][2], 1);
            QVERIFY(point.factor[3][0] <= 3);
            QVERIFY((point.keeps[1] & 4u) && !(point.keeps[1] & 1u));
            QCOMPARE(int(point.order[2][0]), 2);
            QCOMPARE(int(point.order[2][2]), 0);
            NestMapping mapping;
            space.toMapping(point, mapping);
            for (const auto& loop : mapping.levels[1].loops) {
                if (loop.kind == LoopKind::Temporal) continue;
                QCOMPARE(loop.kind == LoopKind::SpatialX, loop.dimension == 1);
            }
        }
    }
    void whatCannotBeIsRefusedByName() {
        const auto refusal = [](MapspaceConstraints constraints, NestProblem problem = fixture::product(12, 8, 6)) {
            constraints.levels.resize(3);
            auto made = Mapspace::make(std::move(problem), fixture::array(4, 3, 64, 900), std::move(constraints));
            return made ? std::string() : made.error().code + "|" + toText(made.error());
        };
        MapspaceConstraints c;
        c.levels.resize(3);
        c.levels[1].temporal.factors = {5, 0, 0};
        c.levels[1].temporal.place = {"map.yaml", 7, 0, {}};
        auto text = refusal(c);
        QVERIFY2(text.starts_with("mapspace.factors|") && text.find("map.yaml:7") != std::string::npos &&
                     text.find("buffer") != std::string::npos,
                 text.c_str());
        c = {};
        c.levels.resize(3);
        c.levels[1].keep = c.levels[1].bypass = 2;
        text = refusal(c);
        QVERIFY2(text.starts_with("mapspace.conflict|") && text.find("B") != std::string::npos, text.c_str());
        c = {};
        c.levels.resize(3);
        c.levels[2].spatial.factors = {4, 0, 0};
        text = refusal(c);
        QVERIFY2(text.starts_with("mapspace.no-fan-out|"), text.c_str());
        c = {};
        c.levels.resize(3);
        for (auto& level : c.levels) {
            level.temporal.factors = {1, 0, 0};
            level.spatial.factors = {1, 0, 0};
        }
        text = refusal(c);
        QVERIFY2(text.starts_with("mapspace.empty|") && text.find("M = 12") != std::string::npos, text.c_str());
    }
    void timeloopConstraintsAreRead() {
        const std::string folder = ORRERY_REFERENCE "/accelerators/timeloop/tl_eyeriss256_rs_alexnet_conv3";
        if (!std::filesystem::exists(folder + "/mapper.cfg")) QSKIP("no reference data");
        const auto input = readTimeloopFiles({folder + "/mapper.cfg"});
        QVERIFY2(input, input ? "" : toText(input.error()).c_str());
        QVERIFY(asksForMapper(input->root));
        const auto constraints = readConstraints(input->root, input->problem, input->hardware);
        QVERIFY2(constraints, constraints ? "" : toText(constraints.error()).c_str());
        QCOMPARE(*constraints->levels[3].spatial.split, std::size_t{4});
        const auto space = spaceOf(input->problem, input->hardware, *constraints);
        // The mapping that Timeloop found obeys the constraints under which it searched.
        const auto found = readTimeloopFiles({folder + "/model.cfg"});
        QVERIFY(found && found->mapping);
        MapPoint point = space.start();
        for (auto& row : point.factor) row.fill(1);
        for (std::size_t l = 0; l < space.levels(); ++l) {
            std::vector<std::uint8_t> order;
            for (const auto& loop : found->mapping->levels[l].loops) {
                const bool temporal = loop.kind == LoopKind::Temporal;
                point.factor[2 * l + (temporal ? 1 : 0)][loop.dimension] = static_cast<std::int32_t>(loop.bound);
                if (temporal && loop.bound > 1) order.push_back(loop.dimension);
            }
            space.setOrder(point, l, order);
            point.keeps[l] = found->mapping->levels[l].keeps & 7u;
        }
        QVERIFY(space.contains(point));
        QCOMPARE(space.check(point).fault, MappingFault::None);
        const auto options = readMapperOptions(input->root);
        QVERIFY(options);
        QCOMPARE(options->kind, MapperKind::RandomPruned);
        QCOMPARE(options->victory, std::uint64_t{3000});
        QCOMPARE(options->objectives.front(), MapObjective::Energy);
    }
    void badConstraintsAreToldWithTheirLine_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const auto row = [](const char* name, const char* item, const char* code, int line) {
            QTest::newRow(name) << QString("constraints:\n  - target: buffer\n") + item << code << line;
        };
        row("level", "    type: temporal\n  - target: bufer\n    type: temporal\n", "mapspace.target", 4);
        row("type", "    type: temporally\n", "mapspace.type", 3);
        row("no type", "    factors: M4\n", "mapspace.type", 2);
        row("dimension", "    type: temporal\n    factors: X4\n", "mapspace.dimension", 4);
        row("factor", "    type: temporal\n    factors: M\n", "mapspace.factors", 4);
        row("maximum", "    type: temporal\n    factors: M<=0\n", "mapspace.factors", 4);
        row("twice", "    type: temporal\n    factors: M2 M3\n", "mapspace.conflict", 4);
        row("order", "    type: temporal\n    permutation: MQ\n", "mapspace.dimension", 4);
        row("tensor", "    type: datatype\n    keep: [Q]\n", "mapspace.tensor", 4);
        row("keep and bypass", "    type: bypass\n    keep: [A]\n    bypass: [A]\n", "mapspace.conflict", 5);
        row("utilisation", "    type: utilization\n    min: 3\n", "mapspace.utilisation", 4);
    }
    void badConstraintsAreToldWithTheirLine() {
        QFETCH(QString, text);
        QFETCH(QString, code);
        QFETCH(int, line);
        const auto root = parseTimeloopText(text.toStdString(), "c.yaml");
        QVERIFY2(root, root ? "" : toText(root.error()).c_str());
        const auto read = readConstraints(*root, fixture::product(12, 8, 6), fixture::array(4, 3, 64, 900));
        QVERIFY(!read);
        QCOMPARE(QString::fromStdString(read.error().code), code);
        QCOMPARE(read.error().place.line, line);
        QVERIFY(!read.error().expected.empty());
    }
};

QTEST_GUILESS_MAIN(TestMapspace)
#include "tst_mapspace.moc"
