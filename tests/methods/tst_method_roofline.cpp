#include "base/random.h"
#include "methods/roofline/roofline.h"
#include "support/method_fixture.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

OperatorEstimates price(const CostTable& costs, const DeviceView& device) {
    OperatorEstimates out;
    const auto rates = computeRates(device, costs);
    Q_ASSERT(rates);
    priceRoofline(costs, rates->rates, device.main().bandwidth.value, out);
    return out;
}

CostTable randomTable(std::uint64_t seed, int rows) {
    RandomStream random(seed);
    CostTable costs;
    for (int i = 0; i < rows; ++i) {
        const auto extent = [&] { return static_cast<double>(1 + random.below(5000)); };
        if (random.uniform() < 0.5) {
            fixture::addProduct(costs, extent(), extent(), extent(), static_cast<double>(1 + random.below(40)));
        } else {
            const double elements = extent() * extent();
            fixture::addRow(costs, OperatorKind::Elementwise, DType::F16, 0, 4 * elements, 0, 2 * elements,
                            2 * elements);
        }
    }
    return costs;
}

}  // namespace

class TestMethodRoofline : public QObject {
    Q_OBJECT
private slots:
    void largeProductTakesItsWorkAtThePeak() {
        CostTable costs;
        fixture::addProduct(costs, 4096, 4096, 4096);
        const auto out = price(costs, fixture::device());
        QCOMPARE(out.seconds[0], 2.0 * 4096 * 4096 * 4096 / 100e12);
        QVERIFY(out.bound[0] == (Bound{BoundKind::Compute, -1}));
        QCOMPARE(out.bytes[0], 3 * 2.0 * 4096 * 4096);
    }
    void skinnyProductTakesItsBytesAtTheBandwidth() {
        CostTable costs;
        fixture::addProduct(costs, 1, 4096, 4096);
        const auto out = price(costs, fixture::device());
        QCOMPARE(out.seconds[0], (2.0 * 4096 * 4096 + 2 * 2.0 * 4096) / 1e12);
        QVERIFY(out.bound[0] == (Bound{BoundKind::Memory, 0}));
    }
    void repeatsMultiplyTimeWorkAndBytes() {
        CostTable once;
        CostTable many;
        fixture::addProduct(once, 64, 512, 512);
        fixture::addProduct(many, 64, 512, 512, 32);
        const auto a = price(once, fixture::device());
        const auto b = price(many, fixture::device());
        QCOMPARE(b.seconds[0], 32 * a.seconds[0]);
        QCOMPARE(b.flops[0], 32 * a.flops[0]);
        QCOMPARE(b.bytes[0], 32 * a.bytes[0]);
    }
    // Tensor and vector units work side by side; one unit for both does one after the other.
    void workOnDifferentUnitsOverlapsAndOnOneUnitAdds() {
        CostTable costs;
        fixture::addRow(costs, OperatorKind::Attention, DType::F16, 50e9, 2 * 50e9 + 30e9, 0, 0, 0);
        auto device = fixture::device();
        QCOMPARE(price(costs, device).seconds[0], 30e9 / 10e12);
        device.peaks[static_cast<std::size_t>(UnitKind::Tensor)] = {};
        QCOMPARE(price(costs, device).seconds[0], (100e9 + 30e9) / 10e12);
    }
    void viewsTakeNoTime() {
        CostTable costs;
        fixture::addRow(costs, OperatorKind::View, DType::F16, 0, 0, 0, 0, 0);
        const auto out = price(costs, fixture::device());
        QCOMPARE(out.seconds[0], 0.0);
        QVERIFY(out.bound[0].kind == BoundKind::None);
    }
    void productsWithoutAnyUnitAreRefusedByName() {
        auto device = fixture::device();
        device.peaks = {};
        CostTable costs;
        fixture::addProduct(costs, 8, 8, 8);
        const auto rates = computeRates(device, costs);
        QVERIFY(!rates);
        QCOMPARE(rates.error().code, std::string("hardware.missing-peak"));
        QVERIFY(rates.error().message.find("fp16") != std::string::npos);
        QCOMPARE(rates.error().place.path, std::string("system/hand"));
    }
    void elementWiseWorkWithoutAVectorUnitIsPricedByBytesAndSaysSo() {
        auto device = fixture::device();
        device.peaks[static_cast<std::size_t>(UnitKind::Vector)] = {};
        CostTable costs;
        fixture::addRow(costs, OperatorKind::Elementwise, DType::F16, 0, 1e15, 0, 500e6, 500e6);
        const auto rates = computeRates(device, costs);
        QVERIFY(rates);
        if (device.peak(false, DType::F16).value == 0) {
            QCOMPARE(rates->assumptions.size(), std::size_t{1});
            OperatorEstimates out;
            priceRoofline(costs, rates->rates, 1e12, out);
            QCOMPARE(out.seconds[0], 1e-3);
        }
    }
    void noOperatorBeatsEitherRoof() {
        const auto costs = randomTable(1, 500);
        const auto device = fixture::device();
        const auto out = price(costs, device);
        for (std::size_t i = 0; i < costs.size(); ++i) {
            const double memory = costs.repeat[i] * costs.bytes(i) / 1e12;
            const double compute = costs.repeat[i] * (2 * costs.macs[i] / 100e12);
            QVERIFY(out.seconds[i] >= memory * (1 - 1e-12));
            QVERIFY(out.seconds[i] >= compute * (1 - 1e-12));
        }
    }
    void moreBandwidthOrPeakNeverSlowsAndNeverGainsMoreThanItsFactor() {
        const auto costs = randomTable(2, 500);
        const auto device = fixture::device();
        const auto base = price(costs, device);
        auto wider = device;
        wider.levels[0].bandwidth *= 1.7;
        auto faster = device;
        for (auto& unit : faster.peaks) {
            for (auto& peak : unit) peak *= 1.7;
        }
        for (const auto& better : {wider, faster}) {
            const auto out = price(costs, better);
            for (std::size_t i = 0; i < costs.size(); ++i) {
                QVERIFY(out.seconds[i] <= base.seconds[i]);
                QVERIFY(out.seconds[i] * 1.7 >= base.seconds[i] * (1 - 1e-12));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestMethodRoofline)
#include "tst_method_roofline.moc"
