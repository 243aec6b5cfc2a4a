#include "hardware/catalogue.h"
#include "hardware/gpu_view.h"
#include "hardware/power_limit.h"
#include "methods/analytical/tile_wave_simt.h"
#include "methods/analytical/tile_wave_vector.h"
#include "methods/hybrid/features_simt.h"

#include <QtTest/QtTest>

#include <cmath>
#include <random>

using namespace orrery;

namespace {

GpuView gpuOf(const char* id) {
    auto loaded = loadHardware(id);
    if (!loaded) return {};
    auto view = gpuView(loaded->hardware);
    return view ? *view : GpuView();
}
Kernel product(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
    Kernel kernel;
    kernel.kind = KernelKind::Gemm;
    kernel.type = kernel.weightType = DType::F32;
    kernel.batch = batch, kernel.m = m, kernel.n = n, kernel.k = k;
    countWork(kernel);
    return kernel;
}
Kernel vectorKernel(KernelKind kind, std::int64_t m, std::int64_t n, int operands) {
    Kernel kernel;
    kernel.kind = kind;
    kernel.type = DType::F32;
    kernel.function = kind == KernelKind::Elementwise ? "Add"
                      : kind == KernelKind::Softmax   ? "Softmax"
                                                      : "LayerNormalization";
    kernel.m = m, kernel.n = n, kernel.operands = operands;
    countWork(kernel);
    return kernel;
}
TilePhysics physicsOf(const TileFamily& family, const Kernel& kernel, const GpuView& gpu) {
    return family.physics(kernel, gpu, nominalParameters(family));
}

}  // namespace

class TestTileFp32 : public QObject {
    Q_OBJECT
private slots:
    void aClockFallsUntilPowerFitsTheCap() {
        QCOMPARE(clockUnderPower(0, 10, 100), 1.0);
        QCOMPARE(clockUnderPower(300, 60, 240), 1.0);
        // 49 W of 100 W at constant voltage 0.7: share · 0.49 · 100 = 20 gives 0.408, below the knee at 0.5.
        QVERIFY(std::abs(clockUnderPower(30, 10, 100) - 20.0 / 49) < 1e-12);
        double before = 1;
        for (double dynamic = 50; dynamic < 2000; dynamic *= 1.1) {
            const double share = clockUnderPower(250, 50, dynamic);
            QVERIFY(share <= before && share >= 0.1);
            if (share < 1 && share > 0.1) {
                const double voltage = voltageAt(share);
                QVERIFY(std::abs(50 + dynamic * share * voltage * voltage - 250) < 0.01);
            }
            before = share;
        }
        QCOMPARE(processNanometres("12 nm"), 12.0);
        QCOMPARE(processNanometres("4N"), 4.0);
        QCOMPARE(processNanometres("5/6 nm"), 5.0);
        QCOMPARE(processNanometres(""), 0.0);
    }
    void generationsAreToldApartByTensorUnits() {
        QCOMPARE(simtGeneration(gpuOf("p100")), 0);
        QCOMPARE(simtGeneration(gpuOf("v100-pcie")), 1);
        QCOMPARE(simtGeneration(gpuOf("t4")), 1);
        QCOMPARE(simtGeneration(gpuOf("a100-40-pcie")), 2);
        QCOMPARE(simtGeneration(gpuOf("l4")), 2);
    }
    void batchedProductsTakeTheRecordedTile() {
        // NeuSight records ampere_sgemm_128x128_nn with grid 2,1,192 for L4, 192 × [96×196]·[196×196].
        const TilePhysics onL4 = physicsOf(simtFamily(), product(192, 96, 196, 196), gpuOf("l4"));
        QCOMPARE(onL4.tileM, 128.0);
        QCOMPARE(onL4.tileN, 128.0);
        QCOMPARE(onL4.blocks, 384.0);
        // and maxwell_sgemm_128x64_nn for P100.
        const TilePhysics onP100 = physicsOf(simtFamily(), product(13, 27, 29, 15), gpuOf("p100"));
        QCOMPARE(onP100.tileN, 128.0);
        QCOMPARE(onP100.tileM, 64.0);
        QCOMPARE(onP100.blocks, 13.0);
    }
    void noProductBeatsThePeak() {
        std::mt19937_64 random(7);
        for (const char* id : {"p4", "p100", "v100-pcie", "t4", "a100-40-pcie", "l4", "h100-sxm", "mi100"}) {
            const GpuView gpu = gpuOf(id);
            const double peak = std::max(gpu.vectorPeak(DType::F32), gpu.tensorPeak(DType::F32));
            for (int i = 0; i < 200; ++i) {
                const auto draw = [&] { return std::int64_t(1) << (random() % 13); };
                const Kernel kernel = product(i % 2 ? 1 : draw() / 16 + 1, draw(), draw(), draw());
                const TilePhysics physics = physicsOf(simtFamily(), kernel, gpu);
                QVERIFY2(std::isfinite(physics.seconds) && physics.seconds > kernel.flops / peak, id);
                QVERIFY(physics.fill > 0 && physics.fill <= 1);
            }
        }
    }
    void moreWorkOrLessBandwidthIsNotFaster() {
        const GpuView gpu = gpuOf("a100-80-pcie");
        GpuView slower = gpu, capped = gpu;
        slower.dramBandwidth /= 2;
        capped.powerCap /= 2;
        for (std::int64_t size = 64; size <= 8192; size *= 2) {
            const double seconds = physicsOf(simtFamily(), product(1, size, size, size), gpu).seconds;
            QVERIFY(physicsOf(simtFamily(), product(1, size, size, 2 * size), gpu).seconds >= seconds);
            QVERIFY(physicsOf(simtFamily(), product(1, size, size, size), slower).seconds >= seconds);
            QVERIFY(physicsOf(simtFamily(), product(1, size, size, size), capped).seconds >= seconds);
            const double bytes =
                physicsOf(vectorFamily(), vectorKernel(KernelKind::Elementwise, size, 4096, 2), gpu).seconds;
            QVERIFY(physicsOf(vectorFamily(), vectorKernel(KernelKind::Elementwise, 2 * size, 4096, 2), gpu).seconds >=
                    bytes);
            QVERIFY(physicsOf(vectorFamily(), vectorKernel(KernelKind::Elementwise, size, 4096, 2), slower).seconds >=
                    bytes);
        }
    }
    void aHeavyLoadSlowsTheSmallBoards() {
        // Stated sustained clocks (0.37 and 0.39 of nominal) show in long runs; V100 holds its clock.
        const auto share = [](const char* id) {
            const GpuView gpu = gpuOf(id);
            const Kernel kernel = product(1, 8192, 8192, 8192);
            return kernel.flops / gpu.vectorPeak(DType::F32) / physicsOf(simtFamily(), kernel, gpu).seconds;
        };
        QVERIFY(share("t4") < 0.6 && share("l4") < 0.6);
        QVERIFY(share("v100-pcie") > 0.7 && share("a100-80-pcie") > 0.7);
    }
    void vectorOperatorsStreamTheirBytes() {
        const GpuView gpu = gpuOf("v100-pcie");
        const Kernel add = vectorKernel(KernelKind::Elementwise, 655360, 1024, 2);
        const TilePhysics physics = physicsOf(vectorFamily(), add, gpu);
        const double bytes = 3.0 * 655360 * 1024 * 4;
        QVERIFY(std::abs(physics.dramBytes / bytes - 1) < 1e-3);
        QVERIFY(physics.seconds > bytes / gpu.dramBandwidth);
        // Measured: 9.61896 ms (NeuSight, V100 PCIe).
        QVERIFY2(std::abs(physics.seconds / 9.61896e-3 - 1) < 0.1, qPrintable(QString::number(physics.seconds)));
        // What fits L2 stays there.
        QVERIFY(physicsOf(vectorFamily(), vectorKernel(KernelKind::Elementwise, 16, 1024, 2), gpu).dramBytes < 1e4);
        QVERIFY(graphicsMemory(gpuOf("t4")) && !graphicsMemory(gpu));
    }
    void aConvolutionIsItsProduct() {
        Kernel kernel;
        kernel.kind = KernelKind::Convolution;
        kernel.type = kernel.weightType = DType::F32;
        kernel.convolution = {32, 256, 512, 1, 14, 14, 3, 3, 14, 14, 1, 1};
        countWork(kernel);
        QVERIFY(tileFamilyOf(kernel) && tileFamilyOf(kernel)->name == convolutionFamily().name);
        const GpuView gpu = gpuOf("a100-40-pcie");
        QCOMPARE(physicsOf(convolutionFamily(), kernel, gpu).seconds,
                 physicsOf(simtFamily(), product(1, 32 * 14 * 14, 512, 256 * 9), gpu).seconds);
    }
    void featuresAreFinite() {
        const GpuView gpu = gpuOf("p4");
        std::vector<double> row(mostHybridFeatures);
        for (const HybridFamily* family : {&simtHybrid(), &vectorHybrid()}) {
            for (std::int64_t size : {1, 7, 1000, 60000}) {
                const Kernel kernel = family == &simtHybrid() ? product(1, size, size, size)
                                                              : vectorKernel(KernelKind::Softmax, size, size, 1);
                const TilePhysics physics =
                    physicsOf(family == &simtHybrid() ? simtFamily() : vectorFamily(), kernel, gpu);
                family->features(kernel, gpu, physics, std::span(row.data(), family->featureNames.size()));
                for (std::size_t i = 0; i < family->featureNames.size(); ++i) QVERIFY(std::isfinite(row[i]));
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestTileFp32)
#include "tst_tile_fp32.moc"
