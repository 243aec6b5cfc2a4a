#include "study/exploration/agents.h"
#include "study/exploration/bayesian_acquisition.h"
#include "study/exploration/bayesian_models.h"
#include "support/search_fixture.h"

#include <QtTest/QtTest>

#include <cmath>
#include <set>

using namespace orrery;
using namespace orrery::test;

namespace {

// What a point adds to what a front covers, drawn from what is expected of it.
double drawnGain(const std::vector<std::vector<double>>& front, const std::vector<double>& reference,
                 const std::vector<Normal>& expected, int draws) {
    const std::size_t width = reference.size();
    Costs costs{width, {}, {}, {}};
    std::vector<std::size_t> all;
    for (const auto& row : front) {
        all.push_back(costs.size());
        costs.value.insert(costs.value.end(), row.begin(), row.end());
    }
    const double before = hypervolume(costs, all, reference);
    all.push_back(costs.size());
    costs.value.resize(costs.value.size() + width);
    RandomStream random(11);
    double sum = 0;
    for (int i = 0; i < draws; ++i) {
        for (std::size_t k = 0; k < width; ++k)
            costs.value[costs.value.size() - width + k] = expected[k].mean + expected[k].deviation * random.normal();
        sum += hypervolume(costs, all, reference) - before;
    }
    return sum / draws;
}

}  // namespace

class TestBayesian : public QObject {
    Q_OBJECT
private slots:
    void improvementInClosedForm() {
        QCOMPARE(expectedImprovement({3, 0}, 5), 2.0);
        QCOMPARE(expectedImprovement({6, 0}, 5), 0.0);
        // At the best itself: deviation ÷ √(2π).
        QVERIFY(std::abs(expectedImprovement({5, 2}, 5) - 2 / std::sqrt(2 * M_PI)) < 1e-12);
        QVERIFY(std::abs(probabilityBelow({0, 1}, 1.6448536) - 0.95) < 1e-6);
        QVERIFY(expectedImprovement({50, 1}, 5) >= 0);
    }
    // What is learned in ln counts by the cost itself: against the mean of many draws.
    void improvementOfALogarithmIsThatOfTheCost() {
        RandomStream random(5);
        for (const Normal& expected : {Normal{1, 0.3}, Normal{0.2, 1.2}, Normal{3, 0.1}, Normal{-2, 0.5}}) {
            for (const CostUnit unit : {CostUnit::Plain, CostUnit::Logarithm, CostUnit::NegativeLogarithm}) {
                for (const double best : {0.9, expected.mean, -1.5}) {
                    double sum = 0;
                    constexpr int draws = 100'000;
                    for (int i = 0; i < draws; ++i) {
                        const double drawn = expected.mean + expected.deviation * random.normal();
                        sum += std::max(0.0, costOf(best, unit) - costOf(drawn, unit)) / draws;
                    }
                    const double found = expectedImprovement(expected, best, unit);
                    QVERIFY2(std::abs(found - sum) < 0.06 * std::max(sum, 0.02),
                             qPrintable(QString("%1 for %2").arg(found).arg(sum)));
                }
            }
        }
        QCOMPARE(expectedImprovement({std::log(3.0), 0}, std::log(5.0), CostUnit::Logarithm), 5.0 - 3.0);
        QVERIFY(std::isfinite(expectedImprovement({0, 300}, 1, CostUnit::Logarithm)));
    }
    void volumeOfLogarithmsIsThatOfTheCosts() {
        const auto logs = [](std::vector<double> row) {
            for (double& each : row) each = std::log(each);
            return row;
        };
        const std::vector<CostUnit> units(2, CostUnit::Logarithm);
        const ExpectedHypervolume gain({logs({1, 6}), logs({2, 3}), logs({5, 1})}, logs({7, 8}), 0, units);
        const std::vector<Normal> sure{{std::log(1.5), 0}, {std::log(2.0), 0}};
        // Below the steps: 0.5 × (6 − 2) up to 2, and 3 × (3 − 2) up to 5.
        QVERIFY(std::abs(gain.of(sure) - 5) < 1e-9);
        const std::vector<CostUnit> three(3, CostUnit::Logarithm);
        const ExpectedHypervolume open({logs({4, 4, 4})}, logs({8, 8, 8}), 3, three);
        const std::vector<Normal> point(3, Normal{std::log(5.0), 0});
        QCOMPARE(open.of(point), 0.0);
        const std::vector<Normal> better(3, Normal{std::log(3.0), 0});
        QVERIFY2(std::abs(open.of(better) - 61) < 8, qPrintable(QString::number(open.of(better))));
    }
    void volumeInOneNumberIsImprovement() {
        const ExpectedHypervolume gain({{5}, {7}}, {9});
        const Normal expected{5.5, 1};
        QCOMPARE(gain.of(std::span(&expected, 1)), expectedImprovement(expected, 5));
    }
    void volumeInTwoNumbersIsThatOfManyDraws() {
        const std::vector<std::vector<double>> front{{1, 6}, {2, 3}, {5, 1}, {4, 4}};
        const std::vector<double> reference{7, 8};
        const ExpectedHypervolume gain(front, reference);
        for (const std::vector<Normal>& expected : std::vector<std::vector<Normal>>{
                 {{3, 1}, {2, 0.5}}, {{0.5, 0.2}, {9, 2}}, {{6, 2}, {5, 3}}, {{1.5, 0}, {2.5, 0}}}) {
            const double drawn = drawnGain(front, reference, expected, 40'000), found = gain.of(expected);
            QVERIFY2(std::abs(found - drawn) < 0.05 * std::max(drawn, 0.2),
                     qPrintable(QString("%1 for %2").arg(found).arg(drawn)));
        }
        const ExpectedHypervolume open({}, {2, 3});
        const std::vector<Normal> sure{{1, 0}, {1, 0}};
        QCOMPARE(open.of(sure), 2.0);
    }
    void volumeInThreeNumbersNearlySo() {
        const std::vector<std::vector<double>> front{{1, 6, 3}, {2, 3, 4}, {5, 1, 2}, {3, 3, 1}};
        const std::vector<double> reference{7, 8, 6};
        const ExpectedHypervolume gain(front, reference, 3);
        for (const std::vector<Normal>& expected : std::vector<std::vector<Normal>>{
                 {{3, 1}, {2, 0.5}, {2, 1}}, {{1.2, 0.2}, {5, 2}, {3, 0.3}}, {{6, 2}, {5, 3}, {5, 1}}}) {
            const double drawn = drawnGain(front, reference, expected, 4'000), found = gain.of(expected);
            QVERIFY2(std::abs(found - drawn) < 0.2 * drawn + 0.1,
                     qPrintable(QString("%1 for %2").arg(found).arg(drawn)));
        }
    }
    void knobsBecomeNumbersFromZeroToOne() {
        const auto loaded = readSearch(searchYaml());
        QVERIFY(loaded);
        const SearchSpace& space = loaded->problem.space;
        const PointCoordinates coordinates(space);
        QCOMPARE(coordinates.words(), (std::vector<bool>{false, false, false, true}));
        QCOMPARE(coordinates.of(0), (std::vector<double>{0, 0, 0, 0}));
        QCOMPARE(coordinates.of(space.points() - 1), (std::vector<double>{1, 1, 1, 1}));
        const std::vector<std::uint32_t> middle{3, 1, 1, 0};
        const auto at = coordinates.of(space.pointAt(middle));
        QVERIFY(std::abs(at[0] - 0.5) < 1e-4);  // even ratios
        QVERIFY(std::abs(at[1] - 1.0 / 3) < 1e-9);
        QVERIFY(std::abs(at[2] - 0.5) < 1e-9);  // 1, 8, 64
    }
    // In a small space with a constraint it has the whole front of 126 points after 60.
    void findsTheFrontOfASmallSpace() {
        auto loaded = readSearch(searchYaml("objectives: [time, area]\nconstraints: [energy <= 2 J]\n"));
        QVERIFY(loaded);
        SearchProblem& problem = loaded->problem;
        const PointAnswers all = runSearch(problem, **searchAgent("grid"), {});
        QVERIFY(std::any_of(all.violation.begin(), all.violation.end(), [](double v) { return v > 0; }));
        std::set<std::uint64_t> best;
        for (const std::size_t i : frontOf(problem, all).points) best.insert(all.points[i]);
        std::size_t found = 0, chance = 0;
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            problem.seed = seed;
            const PointAnswers seen = runSearch(problem, **searchAgent("bayesian"), {.evaluations = 60});
            QCOMPARE(seen.size(), std::size_t{60});
            for (const std::uint64_t point : seen.points) found += best.contains(point) ? 1 : 0;
            const PointAnswers drawn = runSearch(problem, **searchAgent("random"), {.evaluations = 60});
            for (const std::uint64_t point : drawn.points) chance += best.contains(point) ? 1 : 0;
        }
        qInfo("%zu of %zu, by chance %zu", found, 5 * best.size(), chance);
        QVERIFY(found >= 5 * best.size() * 9 / 10);
    }
};

QTEST_GUILESS_MAIN(TestBayesian)
#include "tst_bayesian.moc"
