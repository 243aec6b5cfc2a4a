// Is a machine that changes its clock while it is measured told from one that does not, and is what it measures next
// told at its last level? And what is told where samples leave open what a runtime does?

#include "base/random.h"
#include "evaluation/edge/bring_device.h"
#include "evaluation/edge/edge_judge.h"
#include "learning/edge/level_steps.h"
#include "support/edge_fixture.h"

#include <QtTest/QtTest>

#include <numeric>

using namespace orrery;

namespace {

std::vector<double> counted(std::size_t n) {
    std::vector<double> out(n);
    std::iota(out.begin(), out.end(), 0.0);
    return out;
}

std::vector<double> noiseOf(std::size_t n, double scatter, std::uint64_t seed) {
    RandomStream random(seed);
    std::vector<double> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(scatter * random.normal());
    return out;
}

// Slower by a quarter from a row on.
EdgeTable steppedTable(std::size_t from) {
    EdgeTable table = madeTable(6, 400, 0.01, false);
    for (std::size_t r = from; r < table.networks.size(); ++r) table.values[0][r] *= 1.25;
    return table;
}

}  // namespace

class TestEdgeLevels : public QObject {
    Q_OBJECT
private slots:
    void aStepIsFoundWhereItIs() {
        const auto order = counted(300);
        auto off = noiseOf(300, 0.02, 3);
        for (std::size_t i = 180; i < 300; ++i) off[i] += 0.15;
        const LevelSteps steps = LevelSteps::find(order, off);
        QCOMPARE(steps.states(), std::size_t{2});
        QVERIFY2(std::abs(steps.begins().front() - 180) <= 2, qPrintable(QString::number(steps.begins().front())));
        QVERIFY(std::abs(steps.at(50).mean + 0.15) < 0.01);
        QCOMPARE(steps.at(250).mean, 0.0);  // beside the last state
        QCOMPARE(steps.at(299).low, 0.0);
        // In what sequence samples are given does not matter, only when they were measured.
        const std::vector<double> backOrder(order.rbegin(), order.rend()), backOff(off.rbegin(), off.rend());
        const LevelSteps back = LevelSteps::find(backOrder, backOff);
        QCOMPARE(back.begins(), steps.begins());
        QCOMPARE(back.at(50).mean, steps.at(50).mean);
    }

    // Two hundred machines that change nothing, a tenth of them with rows that something else slowed down.
    void noiseIsNoStep() {
        std::size_t found = 0;
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            auto off = noiseOf(150, 0.03, seed);
            RandomStream random(seed + 1000);
            if (seed % 10 == 0)
                for (int i = 0; i < 6; ++i) off[random.below(150)] += 0.8;
            found += LevelSteps::find(counted(150), off).states() > 1 ? 1 : 0;
        }
        QVERIFY2(found <= 2, qPrintable(QString::number(found)));
        QCOMPARE(LevelSteps::find(counted(19), std::vector<double>(19, 0.0)).states(), std::size_t{1});
        QCOMPARE(LevelSteps::find({}, {}).states(), std::size_t{1});
        QCOMPARE(LevelSteps::find(counted(30), std::vector<double>(30, 0.1)).states(), std::size_t{1});
    }

    void levelsBetweenAndBeyondSamplesAreOpen() {
        std::vector<double> order, off = noiseOf(60, 0.01, 5);
        for (std::size_t i = 0; i < 60; ++i) order.push_back(i < 30 ? 10.0 * double(i) : 400 + 10.0 * double(i));
        for (std::size_t i = 30; i < 60; ++i) off[i] -= 0.3;
        const LevelSteps steps = LevelSteps::find(order, off);
        QCOMPARE(steps.states(), std::size_t{2});
        const auto gap = steps.at(350);
        QVERIFY(gap.low < 0.01 && gap.high > 0.28);
        QVERIFY(gap.mean > 0.28);           // nearer to the first state's last sample
        QCOMPARE(steps.at(600).mean, 0.0);  // nearer to the second's first
        QCOMPARE(steps.at(995).high, 0.0);  // hardly time for a step
        const auto far = steps.at(5000);    // steps as seen go on
        QCOMPARE(far.mean, 0.0);
        QVERIFY(far.high > 0.25 && far.low < -0.25);
    }

    void whatIsMeasuredNextIsToldAtTheLastLevel() {
        const EdgeTable table = steppedTable(150);
        EdgeProtocol protocol;
        protocol.targets = {"device0"};
        protocol.samples = 60;
        protocol.pool = {0, 200};
        protocol.test = {200, 400};
        protocol.repeats = 3;
        const auto result = judgeEdge(table, table, protocol);
        QVERIFY(result);
        // Noise of 1 % alone is 0.8 %; at the mean of both levels it would be 10 % and more.
        QVERIFY2(result->mean.mape < 0.025, qPrintable(QString::number(result->mean.mape)));
        const bool said = std::any_of(result->notes.begin(), result->notes.end(),
                                      [](const Diagnostic& each) { return each.code == "edge.level-steps"; });
        QVERIFY(said);
        const EdgeTable steady = madeTable(6, 400, 0.01, false);
        const auto without = judgeEdge(steady, steady, protocol);
        QVERIFY(without);
        QVERIFY(without->notes.empty());
    }

    void rowsAmongTheSamplesAreToldAtTheirOwn() {
        const EdgeTable table = steppedTable(150);
        EdgeProtocol protocol;
        protocol.targets = {"device0"};
        protocol.samples = 60;
        protocol.repeats = 3;
        const auto result = judgeEdge(table, table, protocol);
        QVERIFY(result);
        QVERIFY2(result->mean.median < 0.02, qPrintable(QString::number(result->mean.median)));
        QVERIFY2(result->mean.coverage > 0.85, qPrintable(QString::number(result->mean.coverage)));
    }

    // In *Bring your device* samples were measured as they stand.
    void anOwnDeviceIsToldAtItsLastLevel() {
        const EdgeTable table = steppedTable(0);
        const EdgeTable before = madeTable(6, 400, 0.01, false);
        OwnDevice device{"device0", {}};
        for (std::size_t r = 0; r < 60; ++r)
            device.measured.push_back({table.networks[r], (r < 40 ? before : table).values[0][r]});
        const auto brought = bringDevice(table, device, {});
        QVERIFY(brought);
        double error = 0, rows = 0;
        for (const EdgePrediction& each : brought->told) {
            const auto at = std::find(table.networks.begin(), table.networks.end(), each.network);
            const auto r = static_cast<std::size_t>(at - table.networks.begin());
            if (r < 60) continue;
            error += std::abs(each.predicted.mean / table.values[0][r] - 1);
            rows += 1;
        }
        QVERIFY(rows > 200);
        QVERIFY2(error / rows < 0.03, qPrintable(QString::number(error / rows)));
        QVERIFY(std::any_of(brought->notes.begin(), brought->notes.end(),
                            [](const Diagnostic& each) { return each.code == "edge.level-steps"; }));
    }

    // The only known device executes dead code, and no sample of the new one has any: whether it folds is open. A
    // network without a way through is then told as a constant, for the other way round it may be off by a thousand.
    void whatMayFoldIsToldAsWhatIsOffByLess() {
        const EdgeTable table = madeTable(2, 2000, 0.01, false);
        const auto features = edgeFeatures(table);
        QVERIFY(features);
        const auto prior = DevicePrior::learn(*features, std::span(table.values).subspan(1), analyticColumns(table));
        QVERIFY(prior);
        const std::size_t half = features->half, nothing = features->nothing;
        FeatureRows alive = features->none(), all = features->none();
        std::vector<double> values, others;
        std::vector<std::size_t> constant;
        for (std::size_t r = 0; r < table.networks.size(); ++r) {
            const auto row = features->row(r);
            if (row[nothing] > 0) constant.push_back(r);
            bool same = true;
            for (std::size_t c = 1; c < 4; ++c) same = same && row[c] == row[half + c];
            if (same && row[nothing] == 0 && values.size() < 10) {
                alive.add(row);
                values.push_back(table.values[0][r]);
            }
            if (row[nothing] == 0 && others.size() < 25) {
                all.add(row);
                others.push_back(table.values[0][r]);
            }
        }
        QVERIFY(constant.size() >= 8 && values.size() == 10 && others.size() == 25);
        const auto open = prior->condition(alive, values), executed = prior->condition(all, others);
        QVERIFY(open && executed);
        QVERIFY(open->drops > 0.05 && open->drops < 0.5);
        QVERIFY2(executed->drops < 0.05, qPrintable(QString::number(executed->drops)));
        for (const std::size_t r : constant) {
            const double written = table.values[0][r];
            const Predicted both = open->at(features->row(r));
            QVERIFY(both.mean < 0.1 * written);
            QVERIFY(both.low < both.mean && both.high > 0.8 * written);  // both are possible
            QCOMPARE(open->mean(features->row(r)), both.mean);
            QVERIFY(executed->at(features->row(r)).mean > 0.7 * written);  // its samples say that it executes
        }
    }
};

QTEST_GUILESS_MAIN(TestEdgeLevels)
#include "tst_edge_levels.moc"
