#include "base/random.h"
#include "methods/tile/features_collective.h"
#include "methods/tile/tile_wave_collective.h"
#include "support/tile_fixture.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;
using namespace orrery::fixture;

namespace {

constexpr CollectiveOp everyOp[] = {CollectiveOp::AllReduce, CollectiveOp::AllGather, CollectiveOp::ReduceScatter,
                                    CollectiveOp::AllToAll,  CollectiveOp::Broadcast, CollectiveOp::SendReceive};

double seconds(const Kernel& kernel, const GpuView& gpu) {
    return nominalSeconds(collectiveFamily(), kernel, gpu);
}

}  // namespace

class TestTileCollective : public QObject {
    Q_OBJECT
private slots:
    // NCCL's tests, PERFORMANCE.md: bus bandwidth = 2 (n − 1) ÷ n × bytes ÷ time for all-reduce.
    void ringsSendWhatTheyMust() {
        QCOMPARE(collectiveWork(collective(CollectiveOp::AllReduce, 8, 800)).wireBytes, 1400.0);
        QCOMPARE(collectiveWork(collective(CollectiveOp::AllGather, 8, 800)).wireBytes, 700.0);
        QCOMPARE(collectiveWork(collective(CollectiveOp::ReduceScatter, 4, 800)).wireBytes, 600.0);
        QCOMPARE(collectiveWork(collective(CollectiveOp::AllToAll, 2, 800)).wireBytes, 400.0);
        QCOMPARE(collectiveWork(collective(CollectiveOp::AllReduce, 8, 800)).steps, 14.0);
        QCOMPARE(collectiveWork(collective(CollectiveOp::AllReduce, 1, 800)).wireBytes, 0.0);
    }

    void ringsNeverBeatTheLinks() {
        const GpuView gpu = handmadeGpu();
        RandomStream random(5);
        const TileFamily& family = collectiveFamily();
        for (int i = 0; i < 4000; ++i) {
            Kernel kernel = collective(everyOp[random.below(6)], std::int64_t(2 + random.below(7)),
                                       std::pow(2.0, 8 + 24 * random.uniform()));
            kernel.type = DType::I8;  // no reduction in the switch
            std::vector<double> values;
            for (const TileParameter& p : family.parameters) {
                values.push_back(p.low * std::pow(p.high / p.low, random.uniform()));
            }
            const TilePhysics price = family.physics(kernel, gpu, values);
            QVERIFY(std::isfinite(price.seconds));
            const auto open = collectiveWays(kernel, gpu, values);
            QVERIFY(price.seconds > collectiveWork(kernel).wireBytes / gpu.linkBandwidth * 0.75);
            QVERIFY(open.rings <= open.simple * 1.000001);
        }
    }

    void protocolsTakeTurnsWithSize() {
        const GpuView gpu = handmadeGpu();
        const auto values = nominalParameters(collectiveFamily());
        const auto small = collectiveWays(collective(CollectiveOp::AllReduce, 4, 1024), gpu, values);
        QVERIFY(small.lowLatency < small.lowLatency128 && small.lowLatency128 < small.simple);
        const auto large = collectiveWays(collective(CollectiveOp::AllReduce, 4, 1e9), gpu, values);
        QVERIFY(large.simple < large.lowLatency128 && large.lowLatency128 < large.lowLatency);
    }

    void priceGrowsWithSizeAndShrinksWithBandwidth() {
        const GpuView gpu = handmadeGpu();
        GpuView faster = gpu;
        faster.linkBandwidth *= 2;
        for (const CollectiveOp op : everyOp) {
            for (const auto library : {CollectiveLibrary::Nccl, CollectiveLibrary::Custom}) {
                double before = 0;
                for (double bytes = 256; bytes < 2e9; bytes *= 1.5) {
                    const Kernel kernel = collective(op, 8, bytes, library);
                    const double price = seconds(kernel, gpu);
                    QVERIFY2(price >= before, std::string(toText(op)).c_str());
                    // Faster links are later ones, whose latencies are longer.
                    QVERIFY(seconds(kernel, faster) <= price * (bytes > 1e8 ? 1 : 1.25));
                    before = price;
                }
            }
        }
    }

    // Cycles of the multiprocessors: half the clock, twice the latency. Bytes on the links do not ask for it.
    void latenciesFollowTheClockAndTheLinks() {
        const GpuView gpu = handmadeGpu();
        GpuView slower = gpu, later = gpu, quicker = gpu;
        slower.clock /= 2;
        later.linkBandwidth = 900e9;
        quicker.vectorLanes = 100;  // 25 TFLOP/s of 100 × 100 lanes: 1.25 GHz
        for (const CollectiveOp op : everyOp) {
            const Kernel small = collective(op, 8, 512), large = collective(op, 8, 4e9);
            QVERIFY(std::abs(seconds(small, slower) / seconds(small, gpu) - 2) < 0.01);
            QVERIFY(std::abs(seconds(large, slower) / seconds(large, gpu) - 1) < 0.02);
            QVERIFY(std::abs(seconds(small, later) / seconds(small, gpu) - 1.5) < 0.01);
            QVERIFY(seconds(large, later) < 0.4 * seconds(large, gpu));
            QVERIFY(std::abs(seconds(small, quicker) / seconds(small, gpu) - 0.8) < 0.01);
        }
    }

    // The tuner leaves LL128 before Simple is the faster: a step that prices take and never fall from.
    void simpleIsTakenEarly() {
        const GpuView gpu = handmadeGpu();
        auto values = nominalParameters(collectiveFamily());
        std::size_t from = 0;
        while (collectiveFamily().parameters[from].name != "simple from") ++from;
        const Kernel kernel = collective(CollectiveOp::AllGather, 4, 4e6);  // 1 MB a step: 3.3 µs of the links
        const auto early = collectiveWays(kernel, gpu, values);
        values[from] = 1;
        const auto never = collectiveWays(kernel, gpu, values);
        QVERIFY(never.rings < 0.95 * early.rings);
        QVERIFY(std::abs(early.rings / early.simple - 1) < 0.02);
    }

    void engineKernelWinsWhileSmallAndHandsOver() {
        const GpuView gpu = handmadeGpu();
        const auto price = [&](double bytes, CollectiveLibrary library) {
            return seconds(collective(CollectiveOp::AllReduce, 4, bytes, library), gpu);
        };
        QVERIFY(price(4096, CollectiveLibrary::Custom) < 0.6 * price(4096, CollectiveLibrary::Nccl));
        QVERIFY(std::abs(price(1e9, CollectiveLibrary::Custom) / price(1e9, CollectiveLibrary::Nccl) - 1) < 1e-3);
    }

    // Among eight, one shot reads seven messages and two shots read less than two.
    void twoShotsTakeOverWithSize() {
        const GpuView gpu = handmadeGpu();
        auto values = nominalParameters(collectiveFamily());
        const auto shots = [&](double bytes, std::int64_t ranks) {
            return collectiveWays(collective(CollectiveOp::AllReduce, ranks, bytes, CollectiveLibrary::Custom), gpu,
                                  values)
                .shots;
        };
        const double large = shots(8e6, 8), pair = shots(8e6, 2), small = shots(1024, 8);
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (collectiveFamily().parameters[i].name == "second shot") values[i] = 1;  // an engine without
        }
        QVERIFY(large < 0.5 * shots(8e6, 8));
        QCOMPARE(pair, shots(8e6, 2));
        QVERIFY(std::abs(small / shots(1024, 8) - 1) < 0.02);
    }

    void nothingDrawnIsNothingPriced() {
        GpuView gpu = handmadeGpu();
        const Kernel kernel = collective(CollectiveOp::AllReduce, 8, 1e6);
        QVERIFY(tileFamilyOn(kernel, gpu));
        gpu.linkBandwidth = 0;
        QVERIFY(!tileFamilyOn(kernel, gpu));
        for (const char* id : {"tile-wave", "tile-hybrid"}) {
            const auto pricer = findKernelMethod(id)->bind(gpu, CalibrationSet());
            QVERIFY(pricer);
            QVERIFY(!(*pricer)->price(kernel).priced);
        }
    }

    void switchReducesFloatsOfEightRanks() {
        GpuView gpu = handmadeGpu();
        const auto values = nominalParameters(collectiveFamily());
        Kernel kernel = collective(CollectiveOp::AllReduce, 8, 1e9);
        QVERIFY(!std::isfinite(collectiveWays(kernel, gpu, values).inSwitch));  // switches of NVLink 3 only forward
        gpu.linkBandwidth = 450e9;
        QVERIFY(std::isfinite(collectiveWays(kernel, gpu, values).inSwitch));
        kernel.type = DType::I8;
        QVERIFY(!std::isfinite(collectiveWays(kernel, gpu, values).inSwitch));
        kernel.type = DType::F16;
        gpu.linkBandwidth = 32e9;  // PCIe
        QVERIFY(!std::isfinite(collectiveWays(kernel, gpu, values).inSwitch));
    }

    void oddAskingIsFinite() {
        GpuView gpu = handmadeGpu();
        gpu.linkBandwidth = 0;
        for (const CollectiveOp op : everyOp) {
            for (const std::int64_t ranks : {-3, 0, 1, 2, 3, 1000}) {
                for (const double bytes : {-5.0, 0.0, 1.0, 1e15}) {
                    const Kernel kernel = collective(op, ranks, bytes, CollectiveLibrary::Custom);
                    const TilePhysics price =
                        collectiveFamily().physics(kernel, gpu, nominalParameters(collectiveFamily()));
                    QVERIFY(std::isfinite(price.seconds) && price.seconds > 0);
                    std::vector<double> row(collectiveFeatures().featureNames.size(), NAN);
                    collectiveFeatures().features(kernel, gpu, price, row);
                    for (const double value : row) QVERIFY(std::isfinite(value));
                }
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestTileCollective)
#include "tst_tile_collective.moc"
