#include "base/random.h"
#include "study/exploration/front.h"

#include <QtTest/QtTest>

#include <set>

using namespace orrery;

namespace {

Costs randomCosts(RandomStream& random, std::size_t points, std::size_t width, int steps) {
    Costs costs{width, {}, {}, {}};
    for (std::size_t i = 0; i < points * width; ++i) {
        const double value = static_cast<double>(random.below(static_cast<std::uint64_t>(steps)));
        costs.value.push_back(value);
        costs.low.push_back(value - random.uniform() * 2);
        costs.high.push_back(value + random.uniform() * 2);
    }
    return costs;
}

bool beats(const double* a, const double* b, std::size_t width) {
    bool less = false;
    for (std::size_t k = 0; k < width; ++k) {
        if (a[k] > b[k]) return false;
        less = less || a[k] < b[k];
    }
    return less;
}

}  // namespace

class TestFront : public QObject {
    Q_OBJECT
private slots:
    // Every pair is compared: what the sweep leaves out is beaten, what it keeps is not.
    void equalsTryingEveryPair() {
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            RandomStream random(seed);
            const std::size_t width = 1 + random.below(4), points = 1 + random.below(60);
            const Costs costs = randomCosts(random, points, width, 6);
            const auto row = [&](const std::vector<double>& of, std::size_t i) { return of.data() + i * width; };
            const Front front = frontOf(costs);
            std::set<std::size_t> kept(front.points.begin(), front.points.end()),
                possible(front.possible.begin(), front.possible.end());
            for (std::size_t i = 0; i < points; ++i) {
                bool beaten = false, twin = false, surely = false;
                for (std::size_t j = 0; j < points; ++j) {
                    beaten = beaten || beats(row(costs.value, j), row(costs.value, i), width);
                    twin = twin ||
                           (j < i && std::equal(row(costs.value, i), row(costs.value, i) + width, row(costs.value, j)));
                    surely = surely || (j != i && beats(row(costs.high, j), row(costs.low, i), width));
                }
                QCOMPARE(kept.contains(i), !beaten && !twin);
                QCOMPARE(possible.contains(i), !kept.contains(i) && !surely);
            }
        }
    }
    void whatIsNoNumberIsNever() {
        const double none = std::nan("");
        const Costs costs{2, {1, none, 2, 2}, {1, none, 2, 2}, {1, none, 2, 2}};
        const Front front = frontOf(costs);
        QCOMPARE(front.points, std::vector<std::size_t>{1});
        QVERIFY(front.possible.empty());
    }
    void exactIntervalsLeaveNoDoubt() {
        RandomStream random(7);
        Costs costs = randomCosts(random, 100, 2, 1000);
        costs.low = costs.high = costs.value;
        const Front front = frontOf(costs);
        for (const std::size_t i : front.possible) {  // only twins of points on the front
            QVERIFY(std::any_of(front.points.begin(), front.points.end(), [&](std::size_t j) {
                return costs.value[2 * i] == costs.value[2 * j] && costs.value[2 * i + 1] == costs.value[2 * j + 1];
            }));
        }
    }
    // On a grid of unit cells the volume is the number of cells that some point covers.
    void volumeCountsCells() {
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            RandomStream random(seed);
            const std::size_t width = 1 + random.below(4);
            const Costs costs = randomCosts(random, 12, width, 5);
            const Front front = frontOf(costs);
            const std::vector<double> reference(width, 5);
            std::size_t covered = 0;
            const auto cells = static_cast<std::size_t>(std::pow(5, width));
            for (std::size_t cell = 0; cell < cells; ++cell) {
                std::vector<double> at;
                for (std::size_t k = 0, left = cell; k < width; ++k, left /= 5)
                    at.push_back(static_cast<double>(left % 5));
                covered += std::any_of(front.points.begin(), front.points.end(), [&](std::size_t i) {
                    for (std::size_t k = 0; k < width; ++k)
                        if (costs.value[i * width + k] > at[k]) return false;
                    return true;
                });
            }
            QCOMPARE(hypervolume(costs, front.points, reference), static_cast<double>(covered));
        }
    }
};

QTEST_GUILESS_MAIN(TestFront)
#include "tst_front.moc"
