// The walk of the row-stationary dataflow: does it make every multiplication of a convolution once, each element from
// the filter row that it keeps, and are its figures those of its cycles?

#include "simulation/systolic/row_stationary.h"

#include <QtTest/QtTest>

#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

using namespace orrery;
using namespace orrery::systolic;

class TestRowStationary : public QObject {
    Q_OBJECT
private slots:
    void everyMultiplicationIsMadeOnce_data() {
        QTest::addColumn<std::vector<int>>("sizes");  // rows, columns, input, filter, channels, filters, stride
        QTest::newRow("one set") << std::vector{3, 5, 7, 3, 1, 1, 1};
        QTest::newRow("strips, sets, passes") << std::vector{8, 4, 9, 3, 5, 3, 1};
        QTest::newRow("stride") << std::vector{12, 14, 11, 5, 3, 2, 2};
        QTest::newRow("1 × 1") << std::vector{4, 4, 6, 1, 9, 2, 1};
    }
    void everyMultiplicationIsMadeOnce() {
        QFETCH(std::vector<int>, sizes);
        Layer layer;
        layer.ifmapHeight = layer.ifmapWidth = sizes[2];
        layer.filterHeight = layer.filterWidth = sizes[3];
        layer.channels = sizes[4];
        layer.filters = sizes[5];
        layer.strideHeight = layer.strideWidth = sizes[6];
        const auto plan = planRows(sizes[0], sizes[1], layer);
        QVERIFY(plan);
        using Place = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
        std::map<Place, int> made;  // filter, channel, output, tap
        std::vector<double> active;
        for (std::int64_t cycle = 0; cycle < plan->cycles(); ++cycle) {
            const SystolicSnapshot shot = snapshot(*plan, cycle);
            active.push_back(static_cast<double>(shot.activePes) / static_cast<double>(shot.rows * shot.cols));
            for (std::int64_t row = 0; row < shot.rows; ++row) {
                for (std::int64_t col = 0; col < shot.cols; ++col) {
                    const PeSnapshot& pe = shot.at(row, col);
                    if (pe.activity != PeActivity::Active) continue;
                    QCOMPARE(pe.b.row, row % layer.filterHeight);
                    QCOMPARE(pe.a.row, layer.strideHeight * pe.z.row + pe.b.row);
                    QCOMPARE(pe.a.col, layer.strideWidth * pe.z.col + pe.b.col);
                    const std::int64_t channel = shot.fold.row * plan->sets + row / layer.filterHeight;
                    QVERIFY(channel < layer.channels);
                    ++made[{shot.fold.col, channel, pe.z.row, pe.z.col, pe.b.row, pe.b.col}];
                }
            }
        }
        const std::int64_t macs = layer.filters * layer.channels * layer.outHeight() * layer.outWidth() *
                                  layer.filterHeight * layer.filterWidth;
        QCOMPARE(static_cast<std::int64_t>(made.size()), macs);
        QVERIFY(std::ranges::all_of(made, [](const auto& one) { return one.second == 1; }));
        const std::vector<double> shares = utilizationOverTime(*plan, static_cast<int>(active.size()));
        QCOMPARE(shares.size(), active.size());
        for (std::size_t i = 0; i < shares.size(); ++i) QVERIFY(std::abs(shares[i] - active[i]) < 1e-12);
    }
    void aSumMovesUpOneRowACycle() {
        Layer layer;
        layer.ifmapHeight = layer.ifmapWidth = 6;
        layer.filterHeight = layer.filterWidth = 3;
        const auto plan = planRows(3, 4, layer);
        QVERIFY(plan);
        for (std::int64_t cycle = 0; cycle + 1 < plan->cycles(); ++cycle) {
            const SystolicSnapshot now = snapshot(*plan, cycle), next = snapshot(*plan, cycle + 1);
            for (std::int64_t row = 1; row < 3; ++row) {
                if (now.at(row, 1).activity == PeActivity::Active) QVERIFY(next.at(row - 1, 1).z == now.at(row, 1).z);
            }
        }
    }
    void whatDoesNotFitIsRefused() {
        Layer layer;
        layer.ifmapHeight = layer.ifmapWidth = 9;
        layer.filterHeight = 5;
        const auto plan = planRows(4, 4, layer);
        QVERIFY(!plan);
        QCOMPARE(plan.error().code, std::string("systolic.filter-rows"));
        QVERIFY(!plan.error().hint.empty());
    }
};

QTEST_GUILESS_MAIN(TestRowStationary)
#include "tst_row_stationary.moc"
