#include "base/random.h"
#include "learning/composition.h"

#include <QtTest/QtTest>

#include <cmath>
#include <vector>

using namespace orrery;

namespace {

bool near(double a, double b, double tolerance = 1e-12) {
    return std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b));
}

}  // namespace

class TestComposition : public QObject {
    Q_OBJECT
private slots:
    // Four parts of 10 ± 1: ±2 if independent (√4), ±4 if missed together.
    void limitsAreThoseOfTheTextbook() {
        const std::vector<PartInterval> parts(4, PartInterval{10, 9, 11});
        const auto sum = composeIntervals(parts, {});
        QVERIFY(near(sum.seconds, 40) && near(sum.low, 38) && near(sum.high, 42));
        QVERIFY(near(sum.independentLow, 38) && near(sum.independentHigh, 42));
        QVERIFY(near(sum.correlatedLow, 36) && near(sum.correlatedHigh, 44));
        const double one = 1;
        QVERIFY(near(composeIntervals(parts, std::span(&one, 1)).high, 44));
    }
    void sidesAreComposedByThemselvesAndRepeatsAddUp() {
        const std::vector<PartInterval> parts{{10, 9, 13, 2}, {5, 5, 9}};
        const auto sum = composeIntervals(parts, {});
        QVERIFY(near(sum.seconds, 25));
        QVERIFY(near(sum.high, 25 + std::sqrt(6 * 6 + 4 * 4)));
        QVERIFY(near(sum.low, 23));
    }
    void groupsAreCorrelatedWithinAndBetween() {
        const std::vector<PartInterval> parts{{10, 8, 12, 1, 0}, {10, 8, 12, 1, 0}, {10, 7, 13, 1, 1}};
        const std::vector<double> full{1, 1};
        QVERIFY(near(composeIntervals(parts, full, 0).high, 30 + std::sqrt(16 + 9)));
        QVERIFY(near(composeIntervals(parts, full, 1).high, 30 + 7));
        double last = 0;
        for (double rho = 0; rho <= 1; rho += 0.125) {
            const std::vector<double> same{rho, rho};
            const auto sum = composeIntervals(parts, same, 0.5);
            QVERIFY(sum.high >= last && sum.high >= sum.independentHigh - 1e-9 &&
                    sum.high <= sum.correlatedHigh + 1e-9);
            last = sum.high;
        }
    }
    void theLatencyLiesInsideAndTimesStayPositive() {
        const std::vector<PartInterval> parts{{10, 11, 12}, {1, -5, 1}, {0, 0, 0}};
        const auto sum = composeIntervals(parts, {});
        QVERIFY(sum.low <= sum.seconds && sum.seconds <= sum.high && sum.low >= 0);
        const auto none = composeIntervals({}, {});
        QVERIFY(none.seconds == 0 && none.low == 0 && none.high == 0);
        const std::vector<PartInterval> strange{{1, 0.5, 2, 1, -3}, {1, 0.5, 2, 1, 1000}};
        QVERIFY(near(composeIntervals(strange, {}).seconds, 2));
    }
    // Errors drawn by the model itself: the composed 90 % interval holds 90 % of the sums.
    void composedIntervalsCoverWhatTheyPromise() {
        RandomStream random(5);
        for (const double rho : {0.0, 0.4, 1.0}) {
            const std::vector<PartInterval> parts(12, PartInterval{100, 100 - 1.6449 * 5, 100 + 1.6449 * 5});
            const auto sum = composeIntervals(parts, std::span(&rho, 1));
            int inside = 0;
            constexpr int rounds = 20000;
            for (int round = 0; round < rounds; ++round) {
                const double common = random.normal();
                double total = 0;
                for (std::size_t i = 0; i < parts.size(); ++i) {
                    total += 100 + 5 * (std::sqrt(rho) * common + std::sqrt(1 - rho) * random.normal());
                }
                inside += total >= sum.low && total <= sum.high;
            }
            QVERIFY2(std::fabs(inside / double(rounds) - 0.9) < 0.01, qPrintable(QString::number(inside)));
        }
    }
    // Shrout and Fleiss 1979, table 2: six targets, four judges; ICC(1,1) = 0.17.
    void intraclassCorrelationGivesThePublishedFigure() {
        const std::vector<std::vector<double>> ratings{{9, 2, 5, 8}, {6, 1, 3, 2},  {8, 4, 6, 8},
                                                       {7, 1, 2, 6}, {10, 5, 6, 9}, {6, 2, 4, 7}};
        std::vector<double> residuals;
        std::vector<std::int32_t> cluster;
        for (std::size_t i = 0; i < ratings.size(); ++i) {
            for (const double each : ratings[i]) {
                residuals.push_back(each);
                cluster.push_back(static_cast<std::int32_t>(i));
            }
        }
        QVERIFY(std::fabs(intraclassCorrelation(residuals, cluster) - 0.17) < 0.005);
    }
    void intraclassCorrelationRecoversWhatWasPutIn() {
        RandomStream random(9);
        std::vector<double> residuals;
        std::vector<std::int32_t> cluster;
        for (int c = 0; c < 2000; ++c) {
            const double common = random.normal();
            for (int i = 0; i <= c % 7 + 1; ++i) {
                residuals.push_back(std::sqrt(0.3) * common + std::sqrt(0.7) * random.normal());
                cluster.push_back(c);
            }
        }
        QVERIFY(std::fabs(intraclassCorrelation(residuals, cluster) - 0.3) < 0.04);
        QCOMPARE(intraclassCorrelation({}, {}), 0.0);
        const std::vector<double> same(6, 1.0);
        const std::vector<std::int32_t> two{0, 0, 0, 1, 1, 1};
        QCOMPARE(intraclassCorrelation(same, two), 0.0);
    }
};

QTEST_GUILESS_MAIN(TestComposition)
#include "tst_composition.moc"
