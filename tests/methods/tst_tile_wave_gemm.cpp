#include "base/random.h"
#include "evaluation/evaluation.h"
#include "evaluation/holdout.h"
#include "hardware/files/catalogue.h"
#include "methods/tile/tile_fit.h"
#include "methods/tile/tile_wave.h"
#include "methods/tile/tile_wave_gemm.h"
#include "support/tile_fixture.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>

using namespace orrery;
using namespace orrery::fixture;

namespace {

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::BF16) {
    Kernel kernel;
    kernel.kind = KernelKind::Gemm;
    kernel.type = kernel.weightType = type;
    kernel.batch = 1, kernel.m = m, kernel.n = n, kernel.k = k;
    countWork(kernel);
    return kernel;
}

Kernel randomProduct(RandomStream& random) {
    const auto extent = [&](double most) { return std::int64_t(std::exp(random.uniform() * std::log(most))); };
    return product(extent(20000), 8 * extent(2000), 8 * extent(2000));
}

double price(const Kernel& kernel, const GpuView& gpu) {
    return nominalSeconds(gemmFamily(), kernel, gpu);
}

GpuView scaled(GpuView gpu, double sms, double bandwidth) {
    gpu.sms *= sms;
    gpu.dramBandwidth *= bandwidth;
    for (auto& unit : gpu.device.peaks) {
        for (auto& peak : unit) peak = peak * sms;
    }
    return gpu;
}

}  // namespace

class TestTileWaveGemm : public QObject {
    Q_OBJECT
private slots:
    void wavesOfWholeTilesAreCounted() {
        // 1280 × 2560 in tiles of 128 × 256 is 10 × 10: one block for each of 100 multiprocessors, once.
        const TilePhysics physics =
            gemmPhysics(product(1280, 2560, 65536), handmadeGpu(), nominalParameters(gemmFamily()));
        QCOMPARE(physics.blocks / physics.splits, 1280.0 * 2560 / (physics.tileM * physics.tileN));
        QCOMPARE(physics.fill, 1.0);
        QVERIFY(physics.waves <= 1.0);
    }

    void oneMoreRowCostsAnotherWave() {
        const GpuView gpu = handmadeGpu();
        const double full = price(product(12800, 12800, 8192), gpu), more = price(product(12801, 12800, 8192), gpu);
        QVERIFY(more > full);
        QVERIFY(more < 1.15 * full);
    }

    void largeProductsComeNearThePeakAndNoneBeatsIt() {
        const GpuView gpu = handmadeGpu();
        const Kernel large = product(16384, 16384, 16384);
        QVERIFY(price(large, gpu) < 1.5 * large.flops / 1e15);
        RandomStream random(3);
        std::vector<double> values(GemmParameterCount);
        for (int i = 0; i < 4000; ++i) {
            const Kernel kernel = randomProduct(random);
            for (std::size_t p = 0; p < values.size(); ++p) {
                const TileParameter& one = gemmFamily().parameters[p];
                values[p] = one.low * std::pow(one.high / one.low, random.uniform());
            }
            values[GemmCompute] = std::min(values[GemmCompute], 1.0);
            const TilePhysics physics = gemmPhysics(kernel, gpu, values);
            QVERIFY(std::isfinite(physics.seconds));
            QVERIFY(physics.seconds >= kernel.flops / 1e15);
            QVERIFY(physics.seconds >= physics.dramBytes / gpu.dramBandwidth);
            QVERIFY(physics.fill > 0 && physics.fill <= 1);
        }
    }

    void weightsThatNoCacheHoldsComeFromMemory() {
        const GpuView gpu = handmadeGpu();
        const Kernel kernel = product(4, 65536, 16384);
        QVERIFY(price(kernel, gpu) >= 0.95 * kernel.bytes() / 2e12);
        QVERIFY(price(kernel, gpu) < 1.6 * kernel.bytes() / 2e12);
    }

    void copiesOfWeightsFillTheCache() {
        QCOMPARE(gemmReuse(1e6, 40e6), 5e6);    // five copies at most
        QCOMPARE(gemmReuse(15e6, 40e6), 45e6);  // three are more than the cache
        QCOMPARE(gemmReuse(50e6, 40e6), 50e6);
    }

    void powerPullsTheClockOfADevice() {
        GpuView gpu = handmadeGpu();
        gpu.process = "4N";
        const double energy = 0.8e-12;
        QCOMPARE(gemmClockShare(DType::BF16, gpu, energy), 1.0);  // no cap
        double before = 0;
        for (const double cap : {100.0, 200.0, 400.0, 800.0, 5000.0}) {
            gpu.powerCap = cap;
            const double share = gemmClockShare(DType::BF16, gpu, energy);
            QVERIFY(share >= before && share >= 0.1 && share <= 1);
            QVERIFY(gemmClockShare(DType::BF16, gpu, 2 * energy) <= share);
            before = share;
        }
        QCOMPARE(before, 1.0);
        // Half the bits at twice the rate draw the same.
        gpu.powerCap = 200;
        QCOMPARE(gemmClockShare(DType::FP8, gpu, energy), gemmClockShare(DType::BF16, gpu, energy));
        gpu.clock *= 1.5;  // driven faster at the same peak: higher voltage
        QVERIFY(gemmClockShare(DType::BF16, gpu, energy) < 0.9 * gemmClockShare(DType::BF16, handmadeGpu(), energy));
    }

    void halvesOfACacheHoldTheSame() {
        GpuView gpu = handmadeGpu();
        QCOMPARE(gemmCache(gpu), gpu.l2Bytes);
        gpu.dramTiming = "HBM3";
        QCOMPARE(gemmCache(gpu), gpu.l2Bytes / 2);
        gpu.l2Bytes = 6e6;  // V100: one cache
        QCOMPARE(gemmCache(gpu), 6e6);
    }

    void moreOfADeviceIsNeverSlower() {
        const GpuView gpu = handmadeGpu();
        RandomStream random(5);
        for (int i = 0; i < 1500; ++i) {
            const Kernel kernel = randomProduct(random);
            const double base = price(kernel, gpu);
            // Waves are whole: the last one may take a little of what more multiprocessors bring.
            QVERIFY2(price(kernel, scaled(gpu, 2, 1)) <= base * 1.02, toText(kernel).c_str());
            QVERIFY2(price(kernel, scaled(gpu, 1, 1.5)) <= base * (1 + 1e-12), toText(kernel).c_str());
        }
    }

    void moreWorkIsNotFaster() {
        const GpuView gpu = handmadeGpu();
        RandomStream random(6);
        for (int i = 0; i < 1500; ++i) {
            // Not narrower than a tile, where the list of tiles itself changes with n.
            const Kernel some = randomProduct(random), one = product(some.m, 8 * some.n, 8 * some.k);
            const double base = price(one, gpu);
            if (one.m > 1) QVERIFY2(price(product(2 * one.m, one.n, one.k), gpu) >= 0.9 * base, toText(one).c_str());
            QVERIFY2(price(product(one.m, 2 * one.n, one.k), gpu) >= 0.9 * base, toText(one).c_str());
            QVERIFY2(price(product(one.m, one.n, 2 * one.k), gpu) >= 0.9 * base, toText(one).c_str());
        }
    }

    void quantisingAndNarrowWeightsCost() {
        const GpuView gpu = handmadeGpu();
        Kernel plain = product(64, 4096, 4096, DType::FP8), quantises = plain;
        quantises.quantisesInput = true;
        QVERIFY(price(quantises, gpu) > price(plain, gpu) + 1e-6);
        // One scale of a tensor takes more launches than scales of rows.
        Kernel row = quantises;
        row.scaleBlock = -1;
        QVERIFY(price(quantises, gpu) > price(row, gpu) + 4e-6);
        QVERIFY(price(row, gpu) > price(plain, gpu) + 1e-6);
        // Scales along k: no splits, so that a single tile grows with its steps.
        Kernel tile = product(64, 64, 16384, DType::FP8), scales = tile;
        scales.scaleBlock = 128;
        const auto physics = [&](const Kernel& kernel) {
            return gemmPhysics(kernel, gpu, nominalParameters(gemmFamily()));
        };
        QVERIFY(physics(tile).splits > 1);
        QCOMPARE(physics(scales).splits, 1.0);
        QVERIFY(physics(scales).steps == 128 && price(scales, gpu) > 1.5 * price(tile, gpu));
        // A device keeps its latencies whatever the type: half as many steps of as many cycles.
        Kernel small = product(64, 64, 512);
        const double bf16 = physics(small).serial;
        small = product(64, 64, 1024, DType::FP8);
        QVERIFY(std::abs(physics(small).serial / bf16 - 1) < 0.01);
        Kernel wide = product(1, 16384, 16384), narrow = wide;
        narrow.weightType = DType::I4;
        QVERIFY(price(narrow, gpu) < 0.6 * price(wide, gpu));  // a quarter of the bytes
    }

    // Both operands carry scales: multiplying, then the wait until sums are scaled, for every step of a lone tile.
    void stepsOfScaledSumsFollowOneAnother() {
        GpuView gpu = handmadeGpu();
        gpu.sharedBytes = 228 * 1024;
        auto& units = gpu.device.peaks[std::size_t(UnitKind::Tensor)];
        units[std::size_t(DType::FP4)] = FlopsPerSecond(4e15);  // they scale by themselves: no vector unit has a part
        auto values = nominalParameters(gemmFamily());
        values[GemmStep] = 5, values[GemmFeed] = 512;
        const auto stepsOf = [&](DType type, int block, double cycles) {
            Kernel some = product(64, 64, 8192, type);
            some.scaleBlock = block;
            Kernel more = some;
            more.k *= 2;
            const TilePhysics one = gemmPhysics(some, gpu, values), two = gemmPhysics(more, gpu, values);
            const double waited = (two.seconds - one.seconds) - (two.compute - one.compute);
            return waited / ((two.steps - one.steps) * cycles / gpu.clock);
        };
        QVERIFY(std::abs(stepsOf(DType::FP8, 128, 157) - 1) < 1e-3);
        QVERIFY(std::abs(stepsOf(DType::FP8, 32, 157) - 1) < 1e-3);
        QVERIFY(std::abs(stepsOf(DType::FP4, 16, 2 * 157) - 1) < 1e-3);  // 128 elements of fp4 are 64 B
    }

    void narrowFormatsHaveFewTiles() {
        GpuView gpu = handmadeGpu();
        auto& units = gpu.device.peaks[std::size_t(UnitKind::Tensor)];
        units[std::size_t(DType::I8)] = FlopsPerSecond(2e15);
        const auto nominal = nominalParameters(gemmFamily());
        const auto tileOf = [&](std::int64_t m, DType type, DType weights, int block) {
            Kernel kernel = product(m, 64, 16384, type);
            kernel.weightType = weights;
            kernel.scaleBlock = block;
            const TilePhysics physics = gemmPhysics(kernel, gpu, nominal);
            return QString("%1x%2/%3").arg(physics.tileM).arg(physics.tileN).arg(physics.splits);
        };
        gpu.sharedBytes = 100 * 1024;
        QCOMPARE(tileOf(8, DType::FP8, DType::FP8, 128), QString("32x128/1"));
        QCOMPARE(tileOf(4, DType::I8, DType::I8, 0), QString("1x8/1"));
        QVERIFY(tileOf(5, DType::I8, DType::I8, 0).endsWith("/1"));
        QVERIFY(!tileOf(5, DType::I8, DType::I8, 0).startsWith("16x"));
        QVERIFY(tileOf(8, DType::BF16, DType::I4, 128).contains("x128/"));
        QVERIFY(tileOf(8, DType::BF16, DType::I4, 128).section('/', 1).toDouble() <= 7);
        QVERIFY(tileOf(8, DType::BF16, DType::BF16, 0).section('/', 1).toDouble() > 7);
        gpu.sharedBytes = 228 * 1024;
        units[std::size_t(DType::FP4)] = FlopsPerSecond(4e15);
        QCOMPARE(tileOf(8, DType::FP4, DType::FP4, 16), QString("128x256/1"));
        QVERIFY(tileOf(8, DType::FP8, DType::FP8, 128) != QString("16x32/1"));
        // Waves of 64 threads have other libraries.
        gpu.warpSize = 64;
        QCOMPARE(tileOf(8, DType::FP8, DType::FP8, 128), QString("16x32/1"));
        // Where the only tile does not fit there is another, however little shared memory there is.
        gpu.warpSize = 32;
        for (const double shared : {100e3, 48e3, 16e3}) {
            gpu.sharedBytes = shared;
            for (const DType type : {DType::FP4, DType::FP8}) {
                Kernel kernel = product(4096, 4096, 4096, type);
                kernel.scaleBlock = type == DType::FP4 ? 16 : 128;
                QVERIFY(std::isfinite(price(kernel, gpu)));
            }
        }
    }

    // Twice Hopper's rate waits as long as Hopper; sections from before that keep half of it, and any tile.
    void latenciesShrinkAsFarAsHoppers() {
        GpuView gpu = handmadeGpu();
        auto values = nominalParameters(gemmFamily());
        auto older = values;
        older[GemmScaled] = gemmAnyKernel;
        const auto waited = [&](double flopsPerCycle, std::span<const double> parameters) {
            for (const DType type : {DType::BF16, DType::F16}) {
                gpu.device.peaks[std::size_t(UnitKind::Tensor)][std::size_t(type)] =
                    FlopsPerSecond(flopsPerCycle * gpu.sms * gpu.clock);
            }
            return gemmPhysics(product(64, 64, 512), gpu, parameters).serial;
        };
        const double ampere = waited(2048, values), hopper = waited(4096, values);
        QVERIFY(std::abs(ampere / hopper - 2) < 1e-9);
        QCOMPARE(waited(8192, values), hopper);
        QVERIFY(std::abs(waited(8192, older) / hopper - 0.5) < 1e-9);
        Kernel kernel = product(8, 64, 16384, DType::FP8);
        kernel.scaleBlock = 128;
        QCOMPARE(gemmPhysics(kernel, gpu, older).tileM, 16.0);
        QCOMPARE(gemmPhysics(kernel, gpu, values).tileM, 32.0);
    }

    // ns for each element of k of a lone tile, from 4,096 to 16,384: NVIDIA's aiconfigurator, TensorRT-LLM 1.3.0rc20,
    // 16 × 128 (snapshot 2026-08-21). No parameter was fitted to them, but the law was written with B200's rows in
    // sight: no blind figure. The law before said at most 0.6 times as long.
    void aLoneTileTakesAsLongAsMeasured_data() {
        QTest::addColumn<QString>("device");
        QTest::addColumn<int>("bits");
        QTest::addColumn<double>("measured");
        QTest::newRow("H100, fp8 block") << "h100-sxm" << 8 << (22.2336 - 8.87253) / 12.288;
        QTest::newRow("L40S, fp8 block") << "l40s" << 8 << (53.8624 - 15.9061) / 12.288;
        QTest::newRow("B200, fp8 block") << "b200-sxm" << 8 << (17.3931 - 7.97547) / 12.288;
        QTest::newRow("B200, nvfp4") << "b200-sxm" << 4 << (35.7707 - 13.6309) / 12.288;
    }
    void aLoneTileTakesAsLongAsMeasured() {
        QFETCH(QString, device);
        QFETCH(int, bits);
        QFETCH(double, measured);
        const auto loaded = loadHardware(device.toStdString());
        QVERIFY(loaded.has_value());
        const auto gpu = gpuView(loaded->hardware);
        QVERIFY(gpu.has_value());
        Kernel kernel = product(16, 128, 4096, bits == 4 ? DType::FP4 : DType::FP8);
        kernel.scaleBlock = bits == 4 ? 16 : 128;
        kernel.quantisesInput = true;
        Kernel more = kernel;
        more.k = 16384;
        const double law = (price(more, *gpu) - price(kernel, *gpu)) / 12288 * 1e9;
        qInfo("%.2f ns, measured %.2f", law, measured);
        QVERIFY2(std::abs(law / measured - 1) < 0.25, QByteArray::number(law));
        std::vector<double> before = nominalParameters(gemmFamily());
        before[GemmScaled] = gemmAnyKernel;
        const double earlier =
            (gemmPhysics(more, *gpu, before).seconds - gemmPhysics(kernel, *gpu, before).seconds) / 12288 * 1e9;
        qInfo("the law before: %.2f of it", earlier / measured);
        QVERIFY2(earlier < 0.6 * measured && earlier > 0.05 * measured, QByteArray::number(earlier));
    }

    void parametersThatMadeTheRowsAreFound() {
        const GpuView gpu = handmadeGpu();
        std::vector<double> truth = nominalParameters(gemmFamily());
        truth[GemmCompute] = 0.6, truth[GemmDram] = 0.6, truth[GemmLaunch] = 5e-6;
        RandomStream random(8);
        std::vector<Kernel> kernels;
        for (int i = 0; i < 300; ++i) kernels.push_back(randomProduct(random));
        std::vector<TileRow> rows;
        for (const Kernel& kernel : kernels)
            rows.push_back({&kernel, &gpu, gemmPhysics(kernel, gpu, truth).seconds, 0});
        const auto found = fitTileParameters(gemmFamily(), rows, nominalParameters(gemmFamily()), {});
        double error = 0;
        for (const TileRow& row : rows) {
            error += std::abs(gemmPhysics(*row.kernel, gpu, found).seconds / row.seconds - 1) / double(rows.size());
        }
        QVERIFY2(error < 0.03, QByteArray::number(error));
    }

    void explanationHoldsTheChain() {
        const auto pricer = tileWaveKernels().bind(handmadeGpu(), {});
        QVERIFY(pricer.has_value());
        const Kernel kernel = product(4096, 4096, 4096);
        const KernelStory story = (*pricer)->explain(kernel);
        QVERIFY(story.waves > 0 && story.tileM > 0 && story.blocks > 0);
        QVERIFY(story.terms.size() > GemmParameterCount);
        QCOMPARE(story.terms.back().value, (*pricer)->price(kernel).seconds);
        QCOMPARE((*pricer)->price(kernel).seconds, (*pricer)->price(kernel).seconds);
    }

    void fittingNothingIsRefused() {
        const auto none = tileWaveKernels().fit({}, {});
        QVERIFY(!none.has_value());
        QCOMPARE(none.error().code, std::string("learning.no-rows"));
    }

    // Fifty rows of a device, all others to test: bf16 products of NVIDIA's aiconfigurator.
    void fiftyRowsAreEnough_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("device");
        QTest::addColumn<double>("most");
        QTest::newRow("H100") << "h100_sxm__trtllm-1.3.0rc20__gemm.csv.gz"
                              << "h100-sxm" << 9.0;
        QTest::newRow("A100") << "a100_sxm__trtllm-1.0.0__gemm.csv.gz"
                              << "a100-80-sxm" << 13.0;
        QTest::newRow("L40S") << "l40s__trtllm-1.3.0rc20__gemm.csv.gz"
                              << "l40s" << 17.0;
    }
    void fiftyRowsAreEnough() {
        QFETCH(QString, file);
        QFETCH(QString, device);
        QFETCH(double, most);
        const std::string path = std::string(ORRERY_REFERENCE) + "/gpu/aiconfigurator/" + file.toStdString();
        if (!std::filesystem::exists(path)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const std::vector<std::string> files{path};
        const auto tables = readReferences(files);
        QVERIFY(tables.has_value());
        const auto filter = parseFilter("dtype=bf16,kind=gemm");
        const auto chosen = selectRows(*tables, *filter);
        const auto split = splitRows(*tables, chosen, *parseHoldout("rows=50", 1));
        QVERIFY(split.has_value());
        std::vector<RowRef> test;
        for (std::size_t i = 0; i < split->test.size(); i += 11) test.push_back(split->test[i]);
        Diagnostics warnings;
        const auto fitted = tileWaveKernels().fit(*kernelRows(*tables, split->training, warnings), {});
        QVERIFY(fitted.has_value());
        CalibrationSet set;
        set.add(std::make_shared<const Calibration>(*fitted));
        const auto held = kernelRows(*tables, test, warnings);
        const auto pricer = tileWaveKernels().bind(held->front().gpu, set);
        double error = 0;
        for (std::size_t i = 0; i < held->front().kernels.size(); ++i) {
            error += std::abs((*pricer)->price(held->front().kernels[i]).seconds / held->front().seconds[i] - 1);
        }
        error *= 100 / double(held->front().kernels.size());
        QVERIFY2(error < most, QByteArray::number(error));
    }
};

QTEST_APPLESS_MAIN(TestTileWaveGemm)
#include "tst_tile_wave_gemm.moc"
