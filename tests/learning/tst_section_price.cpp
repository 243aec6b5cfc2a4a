// The one rule for intervals and verdicts away from what was learned: devices, formats, software.

#include "learning/off_by_two.h"
#include "learning/section_price.h"

#include <QtTest/QtTest>

#include <cmath>
#include <utility>

using namespace orrery;

namespace {

// Of a device with round numbers; times as many bytes a second.
GpuView gpu(double bandwidth) {
    GpuView gpu;
    gpu.sms = 100, gpu.clock = 1e9, gpu.dramBandwidth = 1e12 * bandwidth, gpu.l2Bytes = 4e7;
    return gpu;
}

CalibrationSection section(double half, bool ofOneDevice = true) {
    CalibrationSection section;
    section.kind = KernelKind::Gemm;
    section.variant = "bf16";
    section.correlation = 0.1;
    const DeviceFingerprint home = fingerprint(gpu(1), DType::BF16);
    if (ofOneDevice)
        section.device = home;
    else
        section.devices = {home, home, home};
    ResidualClass one;
    one.upperSeconds = INFINITY;
    one.p5 = -half, one.p95 = half, one.meanAbsolute = half / 2.06, one.rows = 100;
    section.residuals = {one};
    section.sources = {{"table", "trtllm-1.3.0 + nccl-2.27", "", "", 100}};
    return section;
}

double halfWidth(const SectionPrice& price) {
    return std::log(price.high / price.low) / 2;
}

}  // namespace

class TestSectionPrice : public QObject {
    Q_OBJECT
private slots:
    void distanceIsThatOfTheNearest() {
        const CalibrationSection one = section(0.1);
        QCOMPARE(foreignDistance(one, gpu(1)), 0.0);
        QCOMPARE(foreignDistance(one, gpu(1.005)), 0.0);
        QVERIFY(std::abs(foreignDistance(one, gpu(2)) - std::log(2)) < 1e-9);
        QVERIFY(std::abs(foreignDistance(one, gpu(0.5)) - std::log(2)) < 1e-9);
        QCOMPARE(foreignDistance(one, gpu(1000)), farthestDevice);
        CalibrationSection any = section(0.1, false);
        any.devices[1].dramBandwidth = 4e12;
        QVERIFY(std::abs(foreignDistance(any, gpu(3)) - std::log(4.0 / 3)) < 1e-9);
        any.devices.clear();
        QCOMPARE(foreignDistance(any, gpu(3)), 0.0);
    }
    void sidesGrowWithDistance() {
        const CalibrationSection one = section(0.1);
        double last = 0;
        for (const double distance : {0.0, 0.2, 0.5, 1.0, 2.0}) {
            const SectionPrice price = priceWith(one, 1e-3, {}, 0, distance);
            QVERIFY(price.low < price.seconds && price.seconds < price.high && price.errorKnown);
            QVERIFY(std::abs(halfWidth(price) - std::hypot(0.1, deviceShift(one, 0.1, distance))) < 1e-9);
            QVERIFY(halfWidth(price) > last);
            last = halfWidth(price);
        }
        // Narrow operands have kernels that differ more between generations.
        CalibrationSection narrow = one;
        narrow.variant = "fp8 block 128";
        QVERIFY(deviceShift(narrow, 0.1, 1) > 1.5 * deviceShift(one, 0.1, 1));
        // What is off by much at home is off by more abroad.
        QVERIFY(deviceShift(one, 0.4, 1) > 1.5 * deviceShift(one, 0.1, 1));
    }
    void beyondWhatWasLearnedIsFarther() {
        // Learned at one and at four times the bandwidth: between them physics interpolates, past them it does not.
        const auto calibration = std::make_shared<Calibration>();
        calibration->method = "tile-hybrid";
        calibration->sections = {section(0.1), section(0.1)};
        calibration->sections[1].device->dramBandwidth = 4e12;
        CalibrationSet set;
        set.add(calibration);
        const CalibrationSection& one = calibration->sections.front();
        const auto far = [&](double bandwidth) { return distanceAbroad(set, "tile-hybrid", one, gpu(bandwidth)); };
        QCOMPARE(far(1), 0.0);
        QVERIFY(std::abs(far(3) - std::log(3.0)) < 1e-9);
        QVERIFY(std::abs(far(0.25) - std::log(4.0) - 0.2 * std::pow(std::log(4.0), 2)) < 1e-9);
        QVERIFY(std::abs(far(8) - std::log(8.0) - 0.2 * std::pow(std::log(2.0), 2)) < 1e-9);
        // Another method has learned nothing, and wires know no memory.
        QVERIFY(std::abs(distanceAbroad(set, "booster", one, gpu(0.25)) - std::log(4.0)) < 1e-9);
        calibration->sections[0].kind = calibration->sections[1].kind = KernelKind::Collective;
        QVERIFY(std::abs(far(0.25) - std::log(4.0)) < 1e-9);
    }
    void flaggedIsWhatMayBeOffByTwo() {
        QVERIFY(priceWith(section(0.1), 1e-3, {}).domain == DomainVerdict::Inside);
        QVERIFY(priceWith(section(0.1), 1e-3, {}, 0, 1).domain == DomainVerdict::Edge);
        QVERIFY(priceWith(section(0.1), 1e-3, {}, 0, 3).domain == DomainVerdict::Outside);
        QVERIFY(priceWith(section(0.39), 1e-3, {}).domain == DomainVerdict::Inside);
        QVERIFY(priceWith(section(0.42), 1e-3, {}).domain == DomainVerdict::Outside);
        QVERIFY(priceWith(section(0.5), 1e-3, {}, 0, 1).domain == DomainVerdict::Outside);
        QVERIFY(unfittedPrice(1e-3).domain == DomainVerdict::Outside && !unfittedPrice(1e-3).errorKnown);
    }
    void aSectionForAnyDeviceHoldsTheShiftAlready() {
        const SectionPrice price = priceWith(section(0.25, false), 1e-3, {}, 0, 1);
        QVERIFY(std::abs(halfWidth(price) - 0.25) < 1e-9);
        QVERIFY(price.domain == DomainVerdict::Edge);
    }
    void withoutResidualsThereIsAGuess() {
        CalibrationSection bare = section(0.1);
        bare.residuals.clear();
        const SectionPrice price = priceWith(bare, 1e-3, {});
        QVERIFY(!price.errorKnown && price.low < price.seconds && price.seconds < price.high);
    }
    void kernelsAreMissedTogetherAbroad() {
        const CalibrationSection one = section(0.1);
        QCOMPARE(correlationAbroad(one, 0), 0.1);
        double last = 0.1;
        for (const double distance : {0.2, 0.5, 1.0, 2.0}) {
            const double now = correlationAbroad(one, distance);
            QVERIFY(now > last && now <= 1);
            last = now;
        }
        QVERIFY(last > 0.9);
        QVERIFY(correlationAbroad(section(0.25, false), 1) > 0.9);
    }
    void whatNothingScalesIsWiderStill() {
        SectionPrice scaled = priceWith(section(0.1), 1e-3, {}), plain = scaled;
        goAbroad(scaled, section(0.1), 1);
        goAbroad(plain, section(0.1), 1, false);
        QVERIFY(halfWidth(plain) > 3 * halfWidth(scaled));
        QVERIFY(plain.domain == DomainVerdict::Outside);
    }
    // Experts whose weights are widened are slower than another device's numbers say, not faster.
    void widenedExpertsAreWiderUpwards() {
        CalibrationSection plain = section(0.1);
        plain.kind = KernelKind::Experts;
        CalibrationSection widened = plain;
        widened.variant = "fp4 block 32 weights";
        const SectionPrice one = priceWith(plain, 1e-3, {}, 0, 1), other = priceWith(widened, 1e-3, {}, 0, 1);
        QCOMPARE(other.low, one.low);
        QVERIFY(other.high > 1.5 * one.high);
        QCOMPARE(priceWith(widened, 1e-3, {}).high, priceWith(plain, 1e-3, {}).high);  // at home nothing changes
    }

    void softwareIsKnownByItsName_data() {
        QTest::addColumn<QString>("asked");
        QTest::addColumn<bool>("same");
        for (const auto& [asked, same] : {std::pair{"trtllm-1.0.0rc3", true},
                                          {"TensorRT-LLM 1.2", true},
                                          {"nccl-2.29.2", true},
                                          {"vllm-0.24.0", false},
                                          {"SGLang 0.5.14", false},
                                          {"PyTorch 2.1.0+cu121, cuDNN 8", false},
                                          {"", true}}) {
            QTest::newRow(asked) << QString(asked) << same;
        }
    }
    void softwareIsKnownByItsName() {
        QFETCH(QString, asked);
        QFETCH(bool, same);
        QCOMPARE(sameStack(section(0.1), asked.toStdString()), same);
        CalibrationSection silent = section(0.1);
        silent.sources.clear();
        QVERIFY(sameStack(silent, asked.toStdString()));
    }
    void otherSoftwareFlagsNarrowProducts() {
        Kernel kernel;
        kernel.kind = KernelKind::Gemm;
        kernel.type = kernel.weightType = DType::BF16;
        SectionPrice wide = priceWith(section(0.1), 1e-3, {}), narrow = wide;
        changeStack(wide, kernel);
        QVERIFY(wide.domain == DomainVerdict::Edge);
        kernel.weightType = DType::FP8;
        changeStack(narrow, kernel);
        QVERIFY(narrow.domain == DomainVerdict::Outside && halfWidth(narrow) > halfWidth(wide));
    }
    // Tables of Student's t with three degrees of freedom: 5 % lie beyond 2.353, 1 % beyond 4.541, 0.1 % beyond 10.215.
    void chanceOfTwoFollowsTheInterval() {
        const auto atPoint = [](double point) { return std::exp(std::log(2.0) * 2.353363 / point); };
        for (const auto& [point, chance] : {std::pair{2.353363, 0.1}, {4.540703, 0.02}, {10.214532, 0.002}}) {
            const double factor = atPoint(point);
            QVERIFY(std::abs(chanceOffByTwo(3, 3 / factor, 3 * factor) - chance) < 1e-6 * (1 + chance / 1e-2));
        }
        // One side alone counts half; a wider interval never makes it less likely; no interval, no chance.
        QVERIFY(std::abs(chanceOffByTwo(1, 1, 2) - 0.05) < 1e-9);
        double last = 0;
        for (double factor = 1.01; factor < 100; factor *= 1.1) {
            const double chance = chanceOffByTwo(1, 1 / factor, factor);
            QVERIFY2(chance > last && chance < 1, qPrintable(QString::number(factor)));
            last = chance;
        }
        for (const auto& [low, high] :
             {std::pair{1.0, 1.0}, {0.0, 2.0}, {-1.0, 2.0}, {2.0, 3.0}, {0.5, double(INFINITY)}})
            QVERIFY(std::isnan(chanceOffByTwo(1, low, high)));
    }
};

QTEST_GUILESS_MAIN(TestSectionPrice)
#include "tst_section_price.moc"
