// Collectives of kernel methods in the network's slot: their prices inside a node, the closed form outside.

#include "hardware/files/catalogue.h"
#include "hardware/views/gpu_view.h"
#include "learning/calibration.h"
#include "methods/system/kernel_network.h"

#include <QtTest/QtTest>

#include <array>

using namespace orrery;

namespace {

struct OnDesign {
    std::vector<NetworkTier> tiers;
    KernelPricerPtr pricer;
};
OnDesign onDesign(const char* design) {
    const auto loaded = loadHardware(design);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    const auto gpu = gpuView(loaded->hardware);
    if (!gpu) qFatal("%s", toText(gpu.error()).c_str());
    auto pricer = findKernelMethod("tile-hybrid")->bind(*gpu, shippedCalibrations().set);
    if (!pricer) qFatal("%s", toText(pricer.error()).c_str());
    return {clusterView(loaded->hardware)->groups.front().tiers, *pricer};
}

constexpr std::array<CollectiveOp, 6> every_op{CollectiveOp::AllReduce,     CollectiveOp::AllGather,
                                               CollectiveOp::ReduceScatter, CollectiveOp::AllToAll,
                                               CollectiveOp::Broadcast,     CollectiveOp::SendReceive};

}  // namespace

class TstKernelNetwork : public QObject {
    Q_OBJECT
private slots:
    void inside();
    void outside();
    void sameLinksSamePrice();
};

void TstKernelNetwork::inside() {
    const OnDesign b = onDesign("dgx-h100");
    const KernelNetwork network(b.pricer, b.tiers);
    const ClosedFormNetwork wires(b.tiers, wiresAlone());
    for (const CollectiveOp op : every_op) {
        for (const std::int64_t ranks : {2, 4, 8}) {
            for (double bytes = 1024; bytes < 2e9; bytes *= 16) {
                const CollectiveCall call{op, bytes, communicator(b.tiers, ranks, 1)};
                const auto price = network.price(call);
                QVERIFY(price);
                QVERIFY(price->low <= price->seconds && price->seconds <= price->high);
                QVERIFY(price->seconds >= wires.price(call)->low);
                Kernel kernel;
                kernel.kind = KernelKind::Collective;
                kernel.collective = op;
                kernel.type = DType::BF16;
                kernel.ranks = ranks;
                kernel.messageBytes = bytes;
                countWork(kernel);
                const KernelPrice alone = b.pricer->price(kernel);
                if (alone.priced) QVERIFY(price->seconds == std::max(alone.seconds, price->low));
            }
        }
    }
    const auto none = network.price({CollectiveOp::AllReduce, 1e6, communicator(b.tiers, 1, 1)});
    QCOMPARE(none->seconds, 0.0);
}

void TstKernelNetwork::outside() {
    const OnDesign b = onDesign("dgx-h100-x2");
    const KernelNetwork network(b.pricer, b.tiers);
    const CollectiveCall call{CollectiveOp::AllReduce, 64e6, communicator(b.tiers, 16, 1)};
    const auto price = network.price(call);
    QVERIFY(price);
    QCOMPARE(price->seconds, ClosedFormNetwork(b.tiers).price(call)->seconds);
    QVERIFY(!price->assumptions.empty());
    QVERIFY(!network.price({CollectiveOp::AllReduce, 64e6, Communicator{16, 1, {16}, false}}));
}

// The same eight GPUs, their links drawn in the device or as a topology: one price, and not that of a PCIe bus.
void TstKernelNetwork::sameLinksSamePrice() {
    const OnDesign one = onDesign("dgx-h100"), two = onDesign("dgx-h100-x2");
    for (const double bytes : {8e3, 1e6, 64e6, 1e9}) {
        const auto a =
            KernelNetwork(one.pricer, one.tiers).price({CollectiveOp::AllReduce, bytes, communicator(one.tiers, 8, 1)});
        const auto b =
            KernelNetwork(two.pricer, two.tiers).price({CollectiveOp::AllReduce, bytes, communicator(two.tiers, 8, 1)});
        QVERIFY(a && b);
        QCOMPARE(a->seconds, b->seconds);
    }
}

QTEST_GUILESS_MAIN(TstKernelNetwork)
#include "tst_kernel_network.moc"
