// Is energy × delay of nests that run one after the other the least that any choice of their mappings gives? Every
// choice of drawn spaces is counted.

#include "base/random.h"
#include "mapping/mappers/together.h"
#include "support/mapping_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;

namespace {

struct Spent {
    double energy = 0, cycles = 0;
};

/// Of every mapping that fits; nothing where there are more than `most`.
std::vector<Spent> everyMapping(const Mapspace& space, std::uint64_t most) {
    std::vector<Spent> found;
    if (space.factorisations() > most) return found;
    NestEvaluator evaluator(space.problem(), space.hardware());
    MapPoint point = space.start();
    NestMapping mapping;
    NestCounts counts;
    std::uint64_t seen = 0;
    for (std::uint64_t f = 0; f < space.factorisations(); ++f) {
        space.setFactors(point, f);
        const std::uint64_t variants = space.variants(point);
        for (std::uint64_t v = 0; v < variants; ++v) {
            if (++seen > most) return {};
            space.setVariant(point, v);
            if (space.check(point).fault != MappingFault::None) continue;
            space.toMapping(point, mapping);
            if (evaluator.evaluate(mapping, counts) != MappingFault::None) continue;
            found.push_back({counts.energy, counts.cycles});
        }
    }
    // Only those that no other one beats.
    std::sort(found.begin(), found.end(), [](const Spent& a, const Spent& b) {
        return a.energy != b.energy ? a.energy < b.energy : a.cycles < b.cycles;
    });
    std::vector<Spent> front;
    for (const Spent& each : found) {
        if (front.empty() || each.cycles < front.back().cycles) front.push_back(each);
    }
    return front;
}

class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed, 41) {}
    template <class T>
    T of(std::initializer_list<T> list) {
        return *(list.begin() + random_.below(list.size()));
    }
    NestProblem problem() {
        if (of({0, 1})) return fixture::layer(of({1, 2, 3}), of({2, 4}), of({2, 3, 4}), 1, of({1, 2, 3}), 1);
        return fixture::product(of({2, 3, 4, 6}), of({2, 4, 6}), of({2, 3, 4}));
    }
    /// Slow memory and dear registers, so that the fastest mapping is seldom the leanest.
    NestHardware hardware() {
        NestHardware made = fixture::array(of({2, 4}), of({1, 2}), of({3, 4, 8}), of({12, 24, 48}));
        made.levels[0].energy.vectorRead = of({1e-12, 20e-12, 60e-12});
        made.levels[1].sharedBandwidth = of({1, 2, 4});
        made.levels[2].sharedBandwidth = of({1, 2, 4});
        made.levels[2].energy.vectorRead = of({20e-12, 200e-12});
        return made;
    }

private:
    RandomStream random_;
};

}  // namespace

class TestMappedTogether : public QObject {
    Q_OBJECT
private slots:
    void equalsTheBestOfEveryChoice() {
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor};
        int compared = 0, traded = 0;
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            Draw draw(seed);
            const NestHardware hardware = draw.hardware();
            std::vector<Mapspace> spaces;
            for (int i = draw.of({2, 2, 3}); i > 0; --i) {
                auto space = Mapspace::make(draw.problem(), hardware);
                if (space) spaces.push_back(std::move(*space));
            }
            std::vector<NestInRow> row;
            std::vector<std::vector<Spent>> fronts;
            bool small = spaces.size() > 1;
            for (const Mapspace& space : spaces) {
                row.push_back({&space, draw.of({1.0, 2.0, 5.0})});
                fronts.push_back(everyMapping(space, 60000));
                small = small && !fronts.back().empty();
            }
            if (!small) continue;
            std::vector<Spent> sums{{}};
            double best = 0, alone = 0;
            for (std::size_t i = 0; i < fronts.size(); ++i) {
                std::vector<Spent> next;
                for (const Spent& sum : sums) {
                    for (const Spent& each : fronts[i])
                        next.push_back(
                            {sum.energy + row[i].times * each.energy, sum.cycles + row[i].times * each.cycles});
                }
                sums = std::move(next);
            }
            for (const Spent& sum : sums)
                best = best ? std::min(best, sum.energy * sum.cycles) : sum.energy * sum.cycles;
            Spent own;
            for (std::size_t i = 0; i < fronts.size(); ++i) {
                const auto least = std::min_element(fronts[i].begin(), fronts[i].end(), [](auto& a, auto& b) {
                    return a.energy * a.cycles < b.energy * b.cycles;
                });
                own.energy += row[i].times * least->energy;
                own.cycles += row[i].times * least->cycles;
            }
            alone = own.energy * own.cycles;
            const auto found = searchTogether(row, {}, context);
            QVERIFY2(found, found ? "" : toText(found.error()).c_str());
            const QByteArray name = QByteArray("seed ") + QByteArray::number(static_cast<qulonglong>(seed));
            QVERIFY2(std::abs(found->edp() - best) <= 2e-9 * best, name);
            QVERIFY2(found->proven, name);
            QVERIFY2(found->lowerBound <= best * (1 + 1e-12), name);
            double energy = 0, cycles = 0;
            for (std::size_t i = 0; i < row.size(); ++i) {
                energy += row[i].times * found->mappings[i]->counts.energy;
                cycles += row[i].times * found->mappings[i]->counts.cycles;
            }
            QVERIFY(std::abs(energy - found->energy) <= 1e-12 * energy);
            QVERIFY(std::abs(cycles - found->cycles) <= 1e-12 * cycles);
            ++compared;
            traded += alone > best * (1 + 1e-6);
        }
        QVERIFY2(compared >= 30, qPrintable(QString::number(compared)));
        // Without these the test would be passed by mapping each nest alone.
        QVERIFY2(traded >= 2, qPrintable(QString::number(traded)));
    }
    void aPricedCycleIsSearchedAsExhaustively() {
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor};
        int compared = 0;
        for (std::uint64_t seed = 100; seed < 130; ++seed) {
            Draw draw(seed);
            const auto space = Mapspace::make(draw.problem(), draw.hardware());
            if (!space) continue;
            const auto front = everyMapping(*space, 60000);
            if (front.empty()) continue;
            for (const double price : {0.0, 1e-12, 1e-11, 1e-10, 1e-8}) {
                double least = 0;
                for (const Spent& each : front) {
                    const double value = each.energy + price * each.cycles;
                    least = least ? std::min(least, value) : value;
                }
                const MapperOptions options{
                    .kind = MapperKind::Optimal, .objectives = {MapObjective::Energy}, .joulesPerCycle = price};
                const auto found = searchMappings(*space, options, context);
                QVERIFY(found);
                QVERIFY((*found)->proven);
                const double value = objectiveValue(MapObjective::Energy, (*found)->counts, price);
                QVERIFY(std::abs(value - least) <= 1.1e-9 * least);
                QVERIFY((*found)->lowerBound <= least * (1 + 1e-12));
                ++compared;
            }
        }
        QVERIFY2(compared >= 50, qPrintable(QString::number(compared)));
    }
    void whatIsCutShortStillBoundsTheSum() {
        const auto hardware = fixture::array(8, 4, 64, 4096);
        const auto space = Mapspace::make(fixture::layer(64, 64, 28, 28, 3, 3), hardware);
        QVERIFY(space);
        const auto executor = makeSerialExecutor();
        MapperProgress progress;
        SearchContext context{*executor, {}, &progress};
        const std::vector<NestInRow> row{{&*space, 1}, {&*space, 3}};
        const auto found = searchTogether(row, {.steps = 20000}, context);
        QVERIFY2(found, found ? "" : toText(found.error()).c_str());
        QVERIFY(found->lowerBound > 0);
        QVERIFY(found->lowerBound <= found->edp());
        QCOMPARE(progress.lowerBound(), found->lowerBound);
        // The same nest four times has the same best as once: 16 times its own.
        const auto own = searchMappings(*space, {.kind = MapperKind::Annealing, .evaluations = 20000}, context);
        QVERIFY(own);
        QVERIFY(16 * objectiveValue(MapObjective::Edp, (*own)->counts) >= found->lowerBound * (1 - 1e-12));
    }
    void aStoppedSearchSaysSo() {
        const auto space = Mapspace::make(fixture::product(64, 64, 64), fixture::array(8, 4, 64, 4096));
        QVERIFY(space);
        const auto executor = makeSerialExecutor();
        std::stop_source source;
        source.request_stop();
        SearchContext context{*executor, source.get_token()};
        const auto found = searchTogether({{&*space, 1}, {&*space, 2}}, {}, context);
        // Either nothing was found until then, or what was found is no proof.
        if (found) QVERIFY(!found->proven);
        if (!found) QCOMPARE(found.error().code, std::string("mapper.cancelled"));
    }
};

QTEST_GUILESS_MAIN(TestMappedTogether)
#include "tst_mapped_together.moc"
