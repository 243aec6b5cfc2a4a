// Is the curve of least data movement what every mapping of one buffer over a store can reach, and none can beat?

#include "base/random.h"
#include "mapping/bounds/data_movement.h"
#include "mapping/mappers/mapper.h"
#include "mapping/nest_evaluator.h"
#include "support/mapping_fixture.h"
#include "support/near.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace orrery;
using orrery::test::near;

namespace {

BoundCurve curveOf(const NestProblem& problem, const BoundOptions& options = {}) {
    auto curve = dataMovementBound(problem, options);
    if (!curve) qFatal("%s", toText(curve.error()).c_str());
    return std::move(*curve);
}

double movedOf(const NestProblem& problem, const NestCounts& counts) {
    double moved = 0;
    for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
        const TensorCounts& at = counts.levels[1].tensors[t];
        moved += at.reads + at.fills + at.updates;
    }
    return moved;
}
double heldOf(const NestProblem& problem, const NestCounts& counts) {
    double held = 0;
    for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
        if (counts.levels[0].tensors[t].kept) held += counts.levels[0].tensors[t].tile;
    }
    return held;
}

/// Every tile, every order and every set of kept tensors, one by one through the evaluator.
class BruteForce {
public:
    BruteForce(const NestProblem& problem, const BoundOptions& options)
        : problem_(problem),
          options_(options),
          evaluator_(problem, twoLevelMachine(std::numeric_limits<double>::infinity())) {}
    std::map<double, double> front() {
        point_.tile.fill(1);
        tiles(0);
        std::map<double, double> corners;
        double least = 1e300;
        for (const auto& [words, moved] : best_) {
            if (moved < least) corners[words] = least = moved;
        }
        return corners;
    }

private:
    bool alone(std::size_t d) const {
        for (const NestTensor& tensor : problem_.tensors) {
            int ranks = 0;
            for (const TensorRank& rank : tensor.ranks) {
                const bool has =
                    std::any_of(rank.terms.begin(), rank.terms.end(), [&](auto& term) { return term.dimension == d; });
                const auto longer = std::count_if(rank.terms.begin(), rank.terms.end(),
                                                  [&](auto& term) { return problem_.extents[term.dimension] > 1; });
                if (has && (longer > 1 || rank.terms.front().coefficient > 1 || rank.terms.back().coefficient > 1))
                    return false;
                ranks += has;
            }
            if (ranks > 1) return false;
        }
        return true;
    }
    void tiles(std::size_t d) {
        if (d == problem_.dimensions.size()) return orders();
        for (std::int64_t tile = 1; tile <= problem_.extents[d]; ++tile) {
            if (problem_.extents[d] % tile && (!options_.anyTile || !alone(d))) continue;
            point_.tile[d] = tile;
            tiles(d + 1);
        }
    }
    void orders() {
        std::vector<std::uint8_t> loops, others;
        for (std::size_t d = 0; d < problem_.dimensions.size(); ++d)
            (point_.tile[d] < problem_.extents[d] ? loops : others).push_back(static_cast<std::uint8_t>(d));
        do {
            std::copy(loops.begin(), loops.end(), point_.order.begin());
            std::copy(others.begin(), others.end(), point_.order.begin() + static_cast<std::ptrdiff_t>(loops.size()));
            const std::uint32_t every = (1u << problem_.tensors.size()) - 1;
            for (std::uint32_t keeps = options_.bypass ? 0 : every; keeps <= every; ++keeps) {
                point_.keeps = keeps;
                if (evaluator_.evaluate(twoLevelMapping(problem_, point_), counts_) != MappingFault::None)
                    qFatal("refused");
                const double held = heldOf(problem_, counts_), moved = movedOf(problem_, counts_);
                const auto at = best_.try_emplace(held, moved).first;
                at->second = std::min(at->second, moved);
            }
        } while (std::next_permutation(loops.begin(), loops.end()));
    }

    const NestProblem& problem_;
    BoundOptions options_;
    NestEvaluator evaluator_;
    NestCounts counts_;
    BoundPoint point_;
    std::map<double, double> best_;
};

void compare(const NestProblem& problem, const BoundOptions& options, const char* what) {
    const BoundCurve curve = curveOf(problem, options);
    const auto corners = BruteForce(problem, options).front();
    std::string text = what;
    for (std::size_t d = 0; d < problem.dimensions.size(); ++d)
        text += " " + problem.dimensions[d] + std::to_string(problem.extents[d]);
    auto at = corners.begin();
    for (std::size_t i = 0; i < std::max(corners.size(), curve.points.size()); ++i, ++at) {
        const bool same = i < corners.size() && i < curve.points.size() && curve.points[i].words == at->first &&
                          near(curve.points[i].moved, at->second);
        if (same) continue;
        QFAIL(qPrintable(QString("%1: corner %2 of %3 and %4: curve %5 %6, every mapping %7 %8")
                             .arg(text.c_str())
                             .arg(i)
                             .arg(curve.points.size())
                             .arg(corners.size())
                             .arg(i < curve.points.size() ? curve.points[i].words : -1)
                             .arg(i < curve.points.size() ? curve.points[i].moved : -1)
                             .arg(i < corners.size() ? at->first : -1)
                             .arg(i < corners.size() ? at->second : -1)));
    }
}

/// A few dimensions, each in some of three tensors; every dimension is in one at least.
NestProblem randomProduct(RandomStream& random) {
    NestProblem made;
    const std::size_t dimensions = 2 + random.below(3);
    const std::int64_t largest = dimensions == 2 ? 12 : dimensions == 3 ? 7 : 4;
    made.tensors = {{"A", {}, false}, {"B", {}, false}, {"Z", {}, true}};
    for (std::size_t d = 0; d < dimensions; ++d) {
        made.dimensions.push_back(std::string(1, static_cast<char>('I' + d)));
        made.extents.push_back(1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(largest))));
        const auto in = 1 + random.below(7);
        for (std::size_t t = 0; t < 3; ++t) {
            if (in >> t & 1u)
                made.tensors[t].ranks.push_back({made.dimensions[d], {{static_cast<std::uint8_t>(d), 1}}});
        }
    }
    for (NestTensor& tensor : made.tensors) {
        if (!tensor.ranks.empty()) continue;
        made.dimensions.push_back("U" + tensor.name);
        made.extents.push_back(1);
        tensor.ranks.push_back({made.dimensions.back(), {{static_cast<std::uint8_t>(made.dimensions.size() - 1), 1}}});
    }
    return made;
}

/// A convolution along one axis, with stride and dilation.
NestProblem randomLine(RandomStream& random) {
    const auto extent = [&](std::int64_t most) {
        return 1 + static_cast<std::int64_t>(random.below(std::uint64_t(most)));
    };
    NestProblem made;
    made.dimensions = {"P", "R", "C", "K"};
    made.extents = {extent(8), extent(4), extent(3), extent(3)};
    const std::int64_t stride = extent(3), dilation = extent(2);
    made.tensors = {{"Inputs", {{"C", {{2, 1}}}, {"W", {{0, stride}, {1, dilation}}}}, false},
                    {"Weights", {{"K", {{3, 1}}}, {"C", {{2, 1}}}, {"R", {{1, 1}}}}, false},
                    {"Outputs", {{"K", {{3, 1}}}, {"P", {{0, 1}}}}, true}};
    return made;
}

}  // namespace

class TestDataMovementBound : public QObject {
    Q_OBJECT
private slots:
    void isWhatEveryMappingOfSmallProductsGives() {
        RandomStream random(16);
        for (int i = 0; i < 120; ++i) {
            const NestProblem problem = randomProduct(random);
            compare(problem, {.anyTile = i % 3 != 0, .bypass = i % 4 != 0}, "product");
            if (QTest::currentTestFailed()) return;
        }
    }
    void isWhatEveryMappingOfSmallConvolutionsGives() {
        RandomStream random(17);
        for (int i = 0; i < 80; ++i) {
            compare(randomLine(random), {.anyTile = false, .bypass = i % 2 == 0}, "line");
            if (QTest::currentTestFailed()) return;
        }
        compare(fixture::layer(2, 2, 4, 2, 2, 2), {.anyTile = false}, "layer");
        compare(fixture::layer(2, 2, 2, 4, 3, 1, 2), {.anyTile = false}, "layer");
    }
    void everyCornerIsTheCountOfItsMapping() {
        for (const NestProblem& problem :
             {fixture::product(48, 30, 7), fixture::layer(8, 6, 14, 14, 3, 3), fixture::layer(4, 4, 8, 8, 4, 2, 2)}) {
            const BoundCurve curve = curveOf(problem);
            QVERIFY(curve.points.size() > 5);
            for (const BoundPoint& point : curve.points) {
                NestEvaluator evaluator(problem, twoLevelMachine(point.words));
                NestCounts counts;
                QVERIFY(evaluator.evaluate(twoLevelMapping(problem, point), counts) == MappingFault::None);
                QCOMPARE(heldOf(problem, counts), point.words);
                QVERIFY2(near(movedOf(problem, counts), point.moved),
                         qPrintable(QString("%1 against %2").arg(movedOf(problem, counts)).arg(point.moved)));
                // One word less does not hold it.
                NestEvaluator less(problem, twoLevelMachine(point.words - 1));
                QVERIFY(point.words == 0 ||
                        less.evaluate(twoLevelMapping(problem, point), counts) == MappingFault::Capacity);
            }
        }
    }
    void noMappingLiesBelow() {
        RandomStream random(3);
        int compared = 0;
        for (const bool any : {true, false}) {
            for (const NestProblem& problem :
                 {fixture::product(29, 60, 17), fixture::product(64, 48, 36), fixture::layer(12, 6, 14, 7, 3, 3),
                  fixture::layer(6, 5, 12, 12, 5, 4, 2)}) {
                if (any && problem.dimensions.size() > 3) continue;  // windows of any size are not in the space
                const BoundCurve curve = curveOf(problem, {.anyTile = any});
                const NestHardware machine = twoLevelMachine(std::numeric_limits<double>::infinity());
                MapspaceConstraints constraints;
                constraints.imperfect = any;
                const auto space = Mapspace::make(problem, machine, constraints);
                QVERIFY(space);
                NestEvaluator evaluator(problem, machine);
                MapPoint point = space->start();
                NestMapping mapping;
                NestCounts counts;
                for (int i = 0; i < 3000; ++i) {
                    space->draw(point, random);
                    space->toMapping(point, mapping);
                    if (evaluator.evaluate(mapping, counts) != MappingFault::None) continue;
                    ++compared;
                    const double held = heldOf(problem, counts), moved = movedOf(problem, counts);
                    QVERIFY2(
                        moved >= curve.at(held)->moved * (1 - 1e-9),
                        qPrintable(
                            QString("%1 words: %2 moved, curve %3").arg(held).arg(moved).arg(curve.at(held)->moved)));
                    // With the tiles of what passes by counted too, nothing lies below either.
                    const MappingPoint full = mappingPoint(problem, mapping, counts);
                    QVERIFY(full.words >= held && near(full.moved, moved));
                }
            }
        }
        QVERIFY(compared > 10000);
    }
    void noMappingOfAnArrayLiesBelow() {
        const NestProblem problem = fixture::layer(16, 8, 14, 14, 3, 3);
        const NestHardware hardware = fixture::array(4, 4, 64, 2048);
        const BoundCurve curve = curveOf(problem);
        const auto space = Mapspace::make(problem, hardware);
        QVERIFY(space);
        NestEvaluator evaluator(problem, hardware);
        RandomStream random(5);
        MapPoint point = space->start();
        NestMapping mapping;
        NestCounts counts;
        int fits = 0;
        for (int i = 0; i < 40000; ++i) {
            space->draw(point, random);
            space->toMapping(point, mapping);
            if (evaluator.evaluate(mapping, counts) != MappingFault::None) continue;
            ++fits;
            const MappingPoint at = mappingPoint(problem, mapping, counts);
            const BoundPoint* least = curve.at(at.words);
            QVERIFY2(least && at.moved >= least->moved * (1 - 1e-9), qPrintable(QString("%1 words: %2 moved, curve %3")
                                                                                    .arg(at.words)
                                                                                    .arg(at.moved)
                                                                                    .arg(least ? least->moved : -1)));
        }
        QVERIFY(fits > 100);
    }
    void fallsFromEveryAccessToWhatMustMove() {
        const NestProblem problem = fixture::product(96, 64, 80);
        const BoundCurve curve = curveOf(problem);
        // Nothing kept: two reads, a read and a write of each multiply-accumulate, but for first values.
        QCOMPARE(curve.points.front().words, 0.0);
        QCOMPARE(curve.points.front().moved, 4.0 * 96 * 64 * 80 - 96 * 64);
        QCOMPARE(curve.points.back().moved, 96.0 * 80 + 80.0 * 64 + 96.0 * 64);
        QCOMPARE(curve.points.back().moved, curve.compulsory);
        // The smallest operand and a row of each of the others are enough for that.
        QCOMPARE(curve.points.back().words, 80.0 * 64 + 80 + 64);
        for (std::size_t i = 1; i < curve.points.size(); ++i) {
            QVERIFY(curve.points[i].words > curve.points[i - 1].words);
            QVERIFY(curve.points[i].moved < curve.points[i - 1].moved);
        }
        QVERIFY(curve.at(1e9) == &curve.points.back());
        QVERIFY(curve.at(-1) == nullptr);
    }
    void productsMoveTwiceTheWorkOverTheRootOfTheBuffer() {
        // 2MNK/√S + MN is a lower bound for every schedule (Kwasniewski et al., SC 2019); tiles of one size that stand
        // beside a column of each operand come within an eighth of it.
        const double n = 2048;
        const BoundCurve curve = curveOf(fixture::product(2048, 2048, 2048));
        for (const double words : {1024.0, 4096.0, 16384.0, 65536.0, 262144.0}) {
            const double least = 2 * n * n * n / std::sqrt(words) + n * n;
            const double moved = curve.at(words)->moved;
            QVERIFY2(moved >= least, qPrintable(QString("%1 %2").arg(words).arg(moved / least)));
            QVERIFY2(moved <= 1.125 * least, qPrintable(QString("%1 %2").arg(words).arg(moved / least)));
        }
    }
    void dimensionsOfAllTensorsCostNothing() {
        NestProblem one = fixture::product(32, 24, 16), many = one;
        many.dimensions.push_back("B");
        many.extents.push_back(5);
        for (NestTensor& tensor : many.tensors) tensor.ranks.push_back({"B", {{3, 1}}});
        const BoundCurve a = curveOf(one), b = curveOf(many);
        QCOMPARE(a.points.size(), b.points.size());
        for (std::size_t i = 0; i < a.points.size(); ++i) {
            QCOMPARE(b.points[i].words, a.points[i].words);
            QVERIFY(near(b.points[i].moved, 5 * a.points[i].moved));
        }
    }
    void whatCannotBeCountedIsRefusedAndStoppingSaysSo() {
        NestProblem none = fixture::product(4, 4, 4);
        none.tensors[2].written = false;
        QCOMPARE(dataMovementBound(none).error().code, std::string("mapping.problem"));
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(dataMovementBound(fixture::product(4, 4, 4), {}, stop.get_token()).error().code,
                 std::string("bound.cancelled"));
    }
};

QTEST_GUILESS_MAIN(TestDataMovementBound)
#include "tst_data_movement_bound.moc"
