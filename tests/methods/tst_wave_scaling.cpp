#include "hardware/files/catalogue.h"
#include "hardware/views/gpu_view.h"
#include "methods/tile/tile_wave_vector.h"
#include "methods/tile/wave_scaling.h"
#include "methods/tile/wave_scaling_origin.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

GpuView gpuOf(const char* id) {
    auto loaded = loadHardware(id);
    if (!loaded) return {};
    auto view = gpuView(loaded->hardware);
    return view ? *view : GpuView();
}
// "Measured": 30 % above the physics, on adds of many sizes.
KernelRows rowsOf(const char* id) {
    KernelRows rows;
    rows.gpu = gpuOf(id);
    rows.deviceId = id;
    rows.source.name = "made by hand";
    const auto parameters = nominalParameters(vectorFamily());
    for (int i = 0; i < 240; ++i) {
        Kernel kernel;
        kernel.kind = KernelKind::Elementwise;
        kernel.type = DType::F32;
        kernel.function = "Add";
        kernel.operands = 2;
        kernel.m = 4096 + 512 * i, kernel.n = 768 + 64 * (i % 20);
        countWork(kernel);
        rows.kernels.push_back(kernel);
        rows.seconds.push_back(1.3 * vectorPhysics(kernel, rows.gpu, parameters).seconds);
    }
    return rows;
}
CalibrationSet setOf(const Calibration& calibration) {
    CalibrationSet set;
    set.add(std::make_shared<Calibration>(calibration));
    return set;
}

}  // namespace

class TestWaveScaling : public QObject {
    Q_OBJECT
private slots:
    void gammaIsThatOfThePaper() {
        QCOMPARE(memoryBoundedness(0, 100, 10), 1.0);
        QCOMPARE(memoryBoundedness(100, 0, 10), 0.0);
        QCOMPARE(memoryBoundedness(500, 100, 10), 0.75);    // x = 5, R = 10
        QCOMPARE(memoryBoundedness(1000, 100, 10), 0.5);    // at the ridge
        QCOMPARE(memoryBoundedness(4000, 100, 10), 0.125);  // x = 40
    }
    void scalesByHand() {
        const WaveDevice origin{80, 1e9, 800e9, 160}, destination{40, 2e9, 400e9, 80};
        // Many waves: (800/400)^γ · (1/2)^(1−γ) · (80/40)^(1−γ)
        QVERIFY(std::abs(waveScale(origin, destination, 10000, 1) - 2) < 1e-12);
        QVERIFY(std::abs(waveScale(origin, destination, 10000, 0) - 1) < 1e-12);
        QVERIFY(std::abs(waveScale(origin, destination, 10000, 0.5) - std::sqrt(2)) < 1e-12);
        // One wave on both: clock ratio times rounds, ⌈60/40⌉ ÷ ⌈60/80⌉ = 2.
        QVERIFY(std::abs(waveScale(origin, destination, 60, 0) - 1) < 1e-12);
        QVERIFY(std::abs(waveScale(origin, destination, 60, 1) - 1) < 1e-12);
        QVERIFY(std::abs(waveScale(origin, destination, 30, 0) - 0.5) < 1e-12);
        QCOMPARE(waveScale(origin, origin, 12345, 0.3), 1.0);
    }
    void theOriginIsKept() {
        for (const char* id : {"v100-pcie", "l4", "mi210"}) {
            const GpuView gpu = gpuOf(id);
            CalibrationSection section;
            keepOrigin(section, gpu);
            const auto back = originOf(section);
            QVERIFY(back);
            QCOMPARE(back->sms, gpu.sms);
            QCOMPARE(back->dramBandwidth, gpu.dramBandwidth);
            QCOMPARE(back->vectorPeak(DType::F32), gpu.vectorPeak(DType::F32));
            QCOMPARE(back->tensorPeak(DType::F16), gpu.tensorPeak(DType::F16));
            QCOMPARE(graphicsMemory(*back), graphicsMemory(gpu));
            section.parameters.erase("origin clock");
            const auto broken = originOf(section);
            QVERIFY(!broken);
            QCOMPARE(QString::fromStdString(broken.error().code), QString("calibration.no-origin"));
        }
    }
    void theSameDeviceGivesTheSameTime() {
        const KernelMethod method = waveScalingKernels();
        const KernelRows rows = rowsOf("v100-pcie");
        FitOptions options;
        const auto calibration = method.fit(std::span(&rows, 1), options);
        QVERIFY2(calibration, calibration ? "" : calibration.error().message.c_str());
        const auto text = writeCalibration(*calibration);
        const auto again = parseCalibration(text, "test");
        QVERIFY(again);
        const auto same = method.bind(rows.gpu, setOf(*again));
        const auto other = method.bind(gpuOf("t4"), setOf(*again));
        QVERIFY(same && other);
        double error = 0, ratio = 0;
        for (std::size_t i = 0; i < rows.kernels.size(); ++i) {
            const double seconds = (*same)->price(rows.kernels[i]).seconds;
            error += std::abs(seconds / rows.seconds[i] - 1);
            ratio += (*other)->price(rows.kernels[i]).seconds / seconds;
        }
        QVERIFY2(error / 240 < 0.05, qPrintable(QString::number(error / 240)));
        // An add has next to no operations: γ ≈ 1, so time goes with bandwidth, 900 ÷ 320 GB/s = 2.8, less the launch.
        QVERIFY2(ratio / 240 > 2.2 && ratio / 240 < 2.9, qPrintable(QString::number(ratio / 240)));
        QVERIFY(!(*other)->explain(rows.kernels[0]).terms.empty());
    }
    void withoutAnOriginThereIsOnlyTheRoofline() {
        const auto pricer = waveScalingKernels().bind(gpuOf("t4"), CalibrationSet());
        QVERIFY(pricer);
        QVERIFY(!(*pricer)->price(rowsOf("t4").kernels[0]).priced);
    }
};

QTEST_APPLESS_MAIN(TestWaveScaling)
#include "tst_wave_scaling.moc"
