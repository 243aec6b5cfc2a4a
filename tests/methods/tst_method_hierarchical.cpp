#include "base/random.h"
#include "methods/answer/traffic.h"
#include "methods/roofline/hierarchical_roofline.h"
#include "support/method_fixture.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

double traffic(double m, double n, double k, double elements) {
    return productTraffic({1, m, n, k}, m * k, k * n, m * n, 1, elements);
}

// Every whole tile of every face that fits: what a person would find with three loops.
double bestWholeTiling(int m, int n, int k, int elements) {
    double best = 1e300;
    const auto face = [&](int x, int y, double kept, double streamedOverX, double streamedOverY, bool accumulates) {
        for (int tx = 1; tx <= x; ++tx) {
            for (int ty = 1; ty <= y && tx * ty <= elements; ++ty) {
                const double overX = std::ceil(static_cast<double>(x) / tx);
                const double overY = std::ceil(static_cast<double>(y) / ty);
                const double last = accumulates ? 2 * overY - 1 : overY;
                best = std::min(best, kept + streamedOverX * overX + streamedOverY * last);
            }
        }
    };
    const double a = 1.0 * m * k;
    const double b = 1.0 * k * n;
    const double c = 1.0 * m * n;
    face(m, n, c, b, a, false);
    face(n, k, b, a, c, true);
    face(m, k, a, b, c, true);
    return best;
}

Workload products(int count, std::uint64_t seed) {
    RandomStream random(seed);
    Workload workload;
    for (int i = 0; i < count; ++i) {
        const auto extent = [&] { return std::floor(std::exp2(14 * random.uniform())); };
        fixture::addProduct(workload.costs, extent(), extent(), extent());
    }
    return workload;
}

}  // namespace

class TestMethodHierarchical : public QObject {
    Q_OBJECT
private slots:
    void productThatFitsMovesItsOperandsOnce() { QCOMPARE(traffic(64, 64, 64, 64 * 64), 3.0 * 64 * 64); }

    void largeSquareProductFollowsTheTiledFormula() {
        const double n = 8192;
        const double s = 4096;
        const double expected = 2 * n * n * n / std::sqrt(s) + n * n;
        QVERIFY(std::fabs(traffic(n, n, n, s) / expected - 1) < 1e-9);
    }
    // Smith et al. 2019: no schedule moves less than 2·M·N·K/√S − 2·S elements.
    void trafficNeverBeatsTheCommunicationLowerBound() {
        RandomStream random(3);
        for (int i = 0; i < 2000; ++i) {
            const auto extent = [&] { return std::floor(std::exp2(13 * random.uniform())); };
            const double m = extent(), n = extent(), k = extent();
            const double s = std::exp2(4 + 18 * random.uniform());
            QVERIFY(traffic(m, n, k, s) >= 2 * m * n * k / std::sqrt(s) - 2 * s);
            QVERIFY(traffic(m, n, k, s) >= m * k + k * n + m * n);
            QVERIFY(traffic(m, n, k, 2 * s) <= traffic(m, n, k, s) * (1 + 1e-12));
        }
    }
    void trafficStaysCloseBelowTheBestWholeTiling() {
        RandomStream random(4);
        for (int i = 0; i < 60; ++i) {
            const auto extent = [&] { return static_cast<int>(1 + random.below(48)); };
            const int m = extent(), n = extent(), k = extent();
            const int s = static_cast<int>(4 + random.below(600));
            const double ours = traffic(m, n, k, s);
            const double whole = bestWholeTiling(m, n, k, s);
            QVERIFY2(ours <= whole * (1 + 1e-12), qPrintable(QString("%1×%2×%3 S=%4").arg(m).arg(n).arg(k).arg(s)));
            QVERIFY2(whole <= 1.8 * ours, qPrintable(QString("%1×%2×%3 S=%4").arg(m).arg(n).arg(k).arg(s)));
        }
    }
    void innerLevelsMoveAtLeastWhatOuterOnesDo() {
        const auto workload = products(400, 5);
        const auto traffic = levelTraffic(workload, fixture::device());
        QCOMPARE(traffic.size(), std::size_t{3});
        for (std::size_t i = 0; i < workload.costs.size(); ++i) {
            QVERIFY(traffic[0][i] >= workload.costs.bytes(i) * (1 - 1e-12));
            QVERIFY(traffic[1][i] >= traffic[0][i]);
            QVERIFY(traffic[2][i] >= traffic[1][i]);
        }
    }
    // 2 MB of fp16 in a 32 MiB cache: what one writes the next one finds.
    void activationsThatFitOnChipDoNotCrossMainMemory() {
        const auto workload = fixture::workloadOf(fixture::chain(3, 1'000'000));
        const auto traffic = levelTraffic(*workload, fixture::device());
        QCOMPARE(traffic[0][0], 2e6);  // reads its input, keeps its result
        QCOMPARE(traffic[0][1], 0.0);
        QCOMPARE(traffic[0][2], 2e6);  // the output leaves
        QCOMPARE(traffic[1][1], 4e6);
    }
    void activationsThatDoNotFitCrossMainMemoryBothWays() {
        const auto workload = fixture::workloadOf(fixture::chain(3, 40'000'000));
        const auto traffic = levelTraffic(*workload, fixture::device());
        for (const double bytes : traffic[0]) QCOMPARE(bytes, 160e6);
    }
    void attentionStreamsKeysOncePerBlockOfQueries() {
        Graph graph;
        const auto add = [&](std::int64_t rows, TensorRole role) {
            Tensor t;
            t.type = DType::F16;
            t.shape = {1, 8, rows, 64};
            t.role = role;
            return graph.addTensor(t);
        };
        Operator op;
        op.name = op.type = "Attention";
        op.kind = OperatorKind::Attention;
        op.attention = AttentionShape{1, 8, 8, 4096, 4096, 64, 64, false, true};
        op.inputs = {add(4096, TensorRole::Input), add(4096, TensorRole::Input), add(4096, TensorRole::Input)};
        op.outputs = {add(4096, TensorRole::Output)};
        graph.operators.push_back(op);
        const auto workload = fixture::workloadOf(graph);
        const auto traffic = levelTraffic(*workload, fixture::device());
        const double operands = 4 * 8.0 * 4096 * 64 * 2;
        QCOMPARE(traffic[0][0], operands);  // the L2 holds all keys and values
        // 128 KiB hold 512 queries of 64 + 64 fp16 numbers: eight passes over keys and values.
        QCOMPARE(traffic[1][0], operands + 7 * (operands / 2));
    }
    void neverBeatsTheComputeRoofAndAddsTheLaunch() {
        const auto workload = products(300, 6);
        const auto device = fixture::device();
        const auto rates = computeRates(device, workload.costs);
        QVERIFY(rates);
        OperatorEstimates without;
        OperatorEstimates with;
        const auto traffic = levelTraffic(workload, device);
        const std::vector<double> perByte{1e-12, 0.25e-12, 1 / 16e12};
        priceHierarchical(workload.costs, rates->rates, traffic, perByte, 0, without);
        priceHierarchical(workload.costs, rates->rates, traffic, perByte, 4e-6, with);
        for (std::size_t i = 0; i < workload.costs.size(); ++i) {
            QVERIFY(without.seconds[i] >= 2 * workload.costs.macs[i] / 100e12 * (1 - 1e-12));
            QVERIFY(std::fabs(with.seconds[i] - without.seconds[i] - 4e-6) < 1e-12);
            if (without.seconds[i] < 4e-6) QVERIFY(with.bound[i].kind == BoundKind::Overhead);
        }
    }
    void aSlowInnerLevelBecomesTheBound() {
        Workload workload;
        fixture::addProduct(workload.costs, 8192, 8192, 8192);
        auto device = fixture::device();
        const auto rates = computeRates(device, workload.costs);
        OperatorEstimates out;
        priceHierarchical(workload.costs, rates->rates, levelTraffic(workload, device), {1e-12, 2e-12, 0}, 0, out);
        QVERIFY(out.bound[0] == (Bound{BoundKind::Memory, 1}));
    }
};

QTEST_GUILESS_MAIN(TestMethodHierarchical)
#include "tst_method_hierarchical.moc"
