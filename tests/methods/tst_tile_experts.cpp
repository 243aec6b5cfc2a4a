#include "base/random.h"
#include "learning/calibration.h"
#include "methods/tile/features_experts.h"
#include "methods/tile/tile_wave_experts.h"
#include "support/tile_fixture.h"
#include "workload/expert_routing.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;
using namespace orrery::fixture;

namespace {

Kernel experts(const Routing& routing, double skew = 0, std::int64_t hidden = 7168, std::int64_t inner = 2048) {
    Kernel kernel;
    kernel.kind = KernelKind::Experts;
    kernel.type = kernel.weightType = DType::BF16;
    kernel.experts.hidden = hidden, kernel.experts.inner = inner, kernel.experts.skew = skew;
    routeExperts(kernel.experts, routing);
    countWork(kernel);
    return kernel;
}

}  // namespace

class TestTileExperts : public QObject {
    Q_OBJECT
private slots:
    void choicesGoRoundTheExperts() {
        const auto routed = [](std::int64_t tokens, std::int64_t ranks) {
            return experts({.tokens = tokens, .experts = 256, .perToken = 8, .ranks = ranks}).experts;
        };
        QCOMPARE(routed(1, 1).touched, 8);
        QCOMPARE(routed(32, 1).touched, 256);
        QCOMPARE(routed(4096, 1).rows, 32768);
        QCOMPARE(routed(4, 8).held, 32);
        QCOMPARE(routed(4, 8).touched, 4);
        QCOMPARE(routed(4096, 8).rows, 4096);
    }

    void skewTouchesFewerAndLoadsOneRankMore() {
        for (const std::int64_t tokens : {32, 256, 4096}) {
            const Routing one{.tokens = tokens, .experts = 256, .perToken = 8, .ranks = 1};
            const Routing eight{.tokens = tokens, .experts = 256, .perToken = 8, .ranks = 8};
            const ExpertShape even = experts(one).experts, skewed = experts(one, 1.2).experts;
            QVERIFY(skewed.touched < even.touched || tokens == 4096);
            QVERIFY(skewed.rows <= even.rows && 2 * skewed.rows > even.rows);
            const ExpertShape busiest = experts(eight, 1.2).experts;
            QVERIFY(busiest.rows > experts(eight).experts.rows);
            QVERIFY(busiest.rows <= tokens * 8);
        }
        const ExpertShape lone = experts({.tokens = 1, .experts = 8, .perToken = 2, .ranks = 8}, 1.01).experts;
        QVERIFY(lone.rows >= 1 && lone.rows <= 1 && lone.touched == 1);
    }

    void oneProductSaysTheSameWork() {
        const Kernel kernel = experts({.tokens = 512, .experts = 64, .perToken = 8, .ranks = 1});
        Kernel product = expertsAsProduct(kernel);
        countWork(product);
        const double activation = 5.0 * double(kernel.experts.rows) * 2048;
        QVERIFY(std::abs(product.flops + activation - kernel.flops) < 1e-9 * kernel.flops);
        QVERIFY(product.readBytes > 0.95 * kernel.readBytes);
        QCOMPARE(kernel.flops, 2.0 * 3 * 4096 * 7168 * 2048 + activation);
        QVERIFY(kernel.readBytes > 64.0 * 3 * 7168 * 2048 * 2);
    }

    void timeGrowsWithExpertsTouchedNotWithRows() {
        const GpuView gpu = handmadeGpu();
        Kernel few = experts({.tokens = 8, .experts = 256, .perToken = 8, .ranks = 1});
        Kernel all = experts({.tokens = 32, .experts = 256, .perToken = 8, .ranks = 1});
        Kernel more = experts({.tokens = 256, .experts = 256, .perToken = 8, .ranks = 1});
        const double a = nominalSeconds(expertsFamily(), few, gpu), b = nominalSeconds(expertsFamily(), all, gpu);
        const double c = nominalSeconds(expertsFamily(), more, gpu);
        QVERIFY(b > 3 * a);
        QVERIFY(c < 1.3 * b);
        QVERIFY(b > 256.0 * 3 * 7168 * 2048 * 2 / gpu.dramBandwidth);  // its weights alone
    }

    void variantsNameBothTypes() {
        Kernel kernel = experts({.tokens = 64, .experts = 64, .perToken = 4, .ranks = 1});
        const auto variant = [&] { return QString::fromStdString(kernelVariant(kernel)); };
        QCOMPARE(variant(), QString("bf16"));
        kernel.weightType = DType::FP4, kernel.scaleBlock = 32;
        QCOMPARE(variant(), QString("fp4 block 32 weights"));
        kernel.type = DType::FP8;
        QCOMPARE(variant(), QString("fp8 with fp4 block 32"));
        kernel.weightType = DType::FP8, kernel.scaleBlock = 128;
        QCOMPARE(variant(), QString("fp8 block 128"));
    }

    void unevenRowsCostMoreTiles() {
        Kernel even = experts({.tokens = 4096, .experts = 64, .perToken = 4, .ranks = 1});
        Kernel uneven = even;
        uneven.experts.skew = 1.2;
        QVERIFY(expertTiles(uneven).rows > expertTiles(even).rows);
        QCOMPARE(expertTiles(even).fill, 1.0);
        QVERIFY(expertTiles(uneven).fill < 1);
        QVERIFY(nominalSeconds(expertsFamily(), uneven, handmadeGpu()) >
                nominalSeconds(expertsFamily(), even, handmadeGpu()));
    }

    void pricesAreFiniteAndFeaturesToo() {
        GpuView gpu = handmadeGpu(), bare = gpu;
        bare.l2Bytes = 0;
        RandomStream random(5);
        const HybridFamily& hybrid = expertsFeatures();
        for (int i = 0; i < 2000; ++i) {
            const auto power = [&](int most) { return std::int64_t(1) << random.below(std::uint64_t(most) + 1); };
            Kernel kernel = experts({.tokens = power(15), .experts = power(9), .perToken = power(3), .ranks = power(6)},
                                    i % 3 ? 1.2 : 0, 64 * power(7), 16 * power(10));
            if (i % 4 == 0) kernel.type = kernel.weightType = DType::FP8, kernel.scaleBlock = 128;
            countWork(kernel);
            QVERIFY(kernel.experts.touched >= 1 && kernel.experts.touched <= kernel.experts.held);
            QVERIFY(kernel.experts.touched <= kernel.experts.rows);
            const auto values = nominalParameters(expertsFamily());
            const TilePhysics price = expertsFamily().physics(kernel, i % 5 ? gpu : bare, values);
            QVERIFY(std::isfinite(price.seconds) && price.seconds > 0);
            QVERIFY(price.seconds >= kernel.flops / gpu.peak(true, kernel.type) * 0.9);
            std::vector<double> row(hybrid.featureNames.size(), NAN);
            hybrid.features(kernel, i % 5 ? gpu : bare, price, row);
            for (const double one : row) QVERIFY(std::isfinite(one));
        }
    }
};

QTEST_APPLESS_MAIN(TestTileExperts)
#include "tst_tile_experts.moc"
