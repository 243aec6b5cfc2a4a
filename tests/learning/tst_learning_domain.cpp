#include "base/random.h"
#include "learning/domain.h"

#include <QtTest/QtTest>

#include <cmath>
#include <limits>

using namespace orrery;

namespace {

// Logarithms of matrix products with extents of 2^low … 2^high, as kernel features are: two of them are sums of others.
constexpr std::size_t columns = 6;
std::vector<double> products(std::size_t rows, double low, double high, std::uint64_t seed, double device = 5) {
    std::vector<double> out;
    RandomStream random(seed);
    const auto draw = [&] { return std::log(2.0) * (low + (high - low) * random.uniform()); };
    for (std::size_t i = 0; i < rows; ++i) {
        const double m = draw(), n = draw(), k = draw();
        out.insert(out.end(),
                   {m, n, k, m + n + k, std::log(std::exp(m + k) + std::exp(k + n) + std::exp(m + n)), device});
    }
    return out;
}

double flagged(const Domain& domain, const std::vector<double>& rows, std::size_t width = columns) {
    std::size_t outside = 0;
    for (std::size_t begin = 0; begin < rows.size(); begin += width) {
        outside += domain.check(std::span(rows).subspan(begin, width)) == DomainVerdict::Outside;
    }
    return double(outside) / double(rows.size() / width);
}

}  // namespace

class TestLearningDomain : public QObject {
    Q_OBJECT
private slots:
    void unseenRowsOfTheSameKindAreIn_data() {
        QTest::addColumn<int>("rows");
        for (const int rows : {50, 200, 1000, 5000}) QTest::newRow(qPrintable(QString::number(rows))) << rows;
    }
    void unseenRowsOfTheSameKindAreIn() {
        QFETCH(int, rows);
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const Domain domain = fitDomain(products(std::size_t(rows), 5, 13, seed), columns);
            const double share = flagged(domain, products(2000, 5, 13, 100 + seed));
            QVERIFY2(share <= 0.05, qPrintable(QString::number(share)));
        }
    }

    void rowsOfOtherRegimesAreOut() {
        const Domain domain = fitDomain(products(1000, 5, 13, 1), columns);
        QVERIFY(flagged(domain, products(2000, 13.6, 16, 2)) >= 0.99);       // larger
        QVERIFY(flagged(domain, products(2000, 0, 4, 3)) >= 0.99);           // smaller
        QVERIFY(flagged(domain, products(2000, 5, 13, 4, 5.2)) >= 0.99);     // another device
        QVERIFY(flagged(domain, products(2000, 5, 13, 5, 5.0005)) <= 0.05);  // the same, rounded otherwise
    }

    // Inside every range by itself, but never together.
    void combinationsThatWereNeverSeenAreOut() {
        RandomStream random(1);
        const auto draw = [&](bool together, std::size_t rows) {
            std::vector<double> out;
            for (std::size_t i = 0; i < rows; ++i) {
                const double a = 10 * random.uniform();
                out.insert(out.end(), {a, together ? a + 0.3 * random.normal() : 10 - a, 3.0});
            }
            return out;
        };
        const Domain domain = fitDomain(draw(true, 800), 3);
        QVERIFY(flagged(domain, draw(true, 2000), 3) <= 0.05);
        std::vector<double> crossed = draw(false, 2000), far;
        for (std::size_t i = 0; i < crossed.size(); i += 3) {
            if (std::abs(crossed[i] - crossed[i + 1]) < 3) continue;  // near the seen line
            far.insert(far.end(), crossed.begin() + std::ptrdiff_t(i), crossed.begin() + std::ptrdiff_t(i + 3));
        }
        QVERIFY(flagged(domain, far, 3) >= 0.9);
    }

    void theEdgeLiesBetween() {
        const Domain domain = fitDomain(products(2000, 5, 13, 1), columns);
        QVERIFY(domain.edge < domain.outside);
        int order = 0;
        for (double step = 0; step < 3; step += 0.01) {  // from the middle outwards: never back in
            std::vector<double> row = domain.mean;
            row[0] += step * 3;
            const int verdict = int(domain.check(row));
            QVERIFY(verdict >= order);
            order = verdict;
        }
        QCOMPARE(order, int(DomainVerdict::Outside));
    }

    void numbersThatAreNoneAreOut() {
        const Domain domain = fitDomain(products(100, 5, 13, 1), columns);
        std::vector<double> row = domain.mean;
        QCOMPARE(domain.check(row), DomainVerdict::Inside);
        row[2] = std::numeric_limits<double>::quiet_NaN();
        QCOMPARE(domain.check(row), DomainVerdict::Outside);
        QCOMPARE(domain.check(std::span(row).first(3)), DomainVerdict::Outside);
    }

    void fewAndEqualRowsDoNoHarm() {
        const std::vector<double> one{1, 2, 3};
        const Domain single = fitDomain(one, 3);
        QCOMPARE(single.check(one), DomainVerdict::Inside);
        QCOMPARE(single.check(std::vector{1.0, 2.0, 3.5}), DomainVerdict::Outside);
        const std::vector<double> equal{1, 2, 1, 2, 1, 2};
        QCOMPARE(fitDomain(equal, 2).check(std::vector{1.0, 2.0}), DomainVerdict::Inside);
        QVERIFY(fitDomain({}, 3).mean.empty() || fitDomain({}, 3).check(one) == DomainVerdict::Outside);
    }
};

QTEST_GUILESS_MAIN(TestLearningDomain)
#include "tst_learning_domain.moc"
