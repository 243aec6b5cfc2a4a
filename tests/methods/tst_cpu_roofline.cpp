// The roofline of a processor's cores, worked by hand, and its fit.

#include "evaluation/calibrate.h"
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/views/even_share.h"
#include "measurement/host.h"
#include "measurement/measure.h"
#include "methods/cpu/cpu_fit.h"
#include "methods/cpu/cpu_framework.h"
#include "methods/cpu/cpu_view.h"
#include "support/kernel_fixture.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

// Two cores of 16 lanes and one unit at 2 GHz: 128 GFLOP/s fp32; 20 GB/s of memory, 100 GB/s of an L2 of 1 MB.
constexpr std::string_view design = R"(orrery: hardware/1
name: Two cores
system:
  children:
    - kind: package
      name: cpu
      clock: 2 GHz
      platform: cpu
      launch_overhead: 1 us
      children:
        - {kind: dram, name: memory, capacity: 8 GB, bandwidth: 20 GB/s}
        - {kind: cache, name: l2, capacity: 1 MB, bandwidth: 100 GB/s}
        - kind: core
          name: core
          count: 2
          children:
            - {kind: vector_unit, name: simd, count: 1, lanes: 16, flops: {fp32: 2/cycle}}
)";

GpuView twoCores() {
    auto read = readHardware(design, "design.yaml");
    if (!read) qFatal("%s", read.error().message.c_str());
    auto view = cpuView(read->hardware);
    if (!view) qFatal("%s", view.error().message.c_str());
    return *view;
}

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k) {
    return fixture::product(m, n, k, DType::F32);
}

}  // namespace

class TestCpuRoofline : public QObject {
    Q_OBJECT
private slots:
    void aProductByHand() {
        const CoresTime time = coresSeconds(twoCores(), product(64, 256, 512));
        QCOMPARE(time.compute, 2.0 * 64 * 256 * 512 / 128e9);
        // Weights at 20 GB/s, 4 bytes of each activation (64 × 512 read, 64 × 256 written) at 100 GB/s.
        QCOMPARE(time.memory, 4.0 * 256 * 512 / 20e9 + 4.0 * (64 * 512 + 64 * 256) / 100e9);
        QCOMPARE(int(time.slowest), 0);
    }
    void depthwiseChannelsLieSideBySide() {
        Kernel kernel;
        kernel.kind = KernelKind::Convolution;
        kernel.type = kernel.weightType = DType::F32;
        kernel.convolution = {1, 32, 32, 32, 28, 28, 3, 3, 28, 28, 1, 1};
        countWork(kernel);
        // 32 channels fill two registers: nothing is ragged.
        QVERIFY(std::abs(coresSeconds(twoCores(), kernel).compute * 128e9 / kernel.flops - 1) < 1e-9);
    }
    void unlikeCoresWaitForTheSlowest() {
        const auto i7 = loadHardware("core-i7-12700h");
        QVERIFY(i7);
        // Six cores of 32 operations at 2.3 GHz and eight of 16 at 1.7 GHz: 14 times the latter of all.
        const auto share = evenShare(*firstDevice(borrowed(i7->hardware)));
        QVERIFY(std::abs(share - 14 * 16 * 1.7 / (6 * 32 * 2.3 + 8 * 16 * 1.7)) < 1e-9);
        const auto i9 = loadHardware("core-i9-10940x");
        QCOMPARE(evenShare(*firstDevice(borrowed(i9->hardware))), 1.0);
    }
    void aFrameworkOnlyAdds() {
        const auto place = std::make_shared<const Hardware>(loadHardware("core-i9-10940x")->hardware);
        const CalibrationSet none;
        const auto* method = findKernelMethod("cpu-roofline");
        const auto engine = method->bind(*firstDevice(place), {none});
        const auto framework = method->bind(*firstDevice(place), {none, {{"library", "framework"}}});
        QVERIFY(engine && framework);
        for (const Kernel& kernel : {product(1, 4096, 4096), product(197, 768, 3072), product(64, 64, 64)})
            QVERIFY((*framework)->price(kernel).seconds >=
                    (*engine)->price(kernel).seconds + frameworkTimes.call - 1e-12);
        // Many rows: weights packed once more. One row: by one core alone.
        const double weights = 4.0 * 4096 * 4096;
        const auto added = [&](std::int64_t m) {
            return (*framework)->price(product(m, 4096, 4096)).seconds -
                   (*engine)->price(product(m, 4096, 4096)).seconds - frameworkTimes.call;
        };
        QVERIFY(std::abs(added(64) - weights * frameworkTimes.pack) < 1e-9);
        QVERIFY(std::abs(added(1) - weights * (frameworkTimes.row - 1 / 93.9e9)) < 1e-9);
    }
    // Three by three, 1,024 channels: 36 MiB are 9,216 fresh pages at each call. Blocks of up to 32 MiB are kept.
    void largeBlocksOfWeightsTakeFreshPages() {
        const auto convolution = [](std::int64_t channels, std::int64_t side) {
            Kernel kernel;
            kernel.kind = KernelKind::Convolution;
            kernel.type = kernel.weightType = DType::F32;
            kernel.convolution = {1, channels, channels, 1, side, side, 3, 3, side, side, 1, 1};
            countWork(kernel);
            return kernel;
        };
        FrameworkTimes times;
        times.page = 1e-6;
        for (const std::int64_t side : {7, 14}) QCOMPARE(freshPageSeconds(times, convolution(1024, side)), 9216e-6);
        QCOMPARE(freshPageSeconds(times, convolution(512, 7)), 0.0);
        QCOMPARE(freshPageSeconds(times, product(1, 4096, 25088)), 0.0);
        const auto place = std::make_shared<const Hardware>(loadHardware("core-i9-10940x")->hardware);
        const CalibrationSet none;
        for (const char* id : {"cpu-roofline", "core-windows"}) {
            const auto* method = findKernelMethod(id);
            const auto engine = method->bind(*firstDevice(place), {none});
            const auto framework = method->bind(*firstDevice(place), {none, {{"library", "framework"}}});
            QVERIFY(engine && framework);
            const auto added = [&](std::int64_t channels) {
                const Kernel kernel = convolution(channels, 7);
                return (*framework)->price(kernel).seconds - (*engine)->price(kernel).seconds;
            };
            QVERIFY(added(1024) > frameworkTimes.page * 9216);
            for (const KernelTerm& term : (*framework)->explain(convolution(1024, 7)).terms) {
                if (term.name != "framework") continue;
                const double packed = id[1] == 'p' ? frameworkTimes.pack * 36 * 1024 * 1024 : 0;
                QVERIFY(std::abs(term.value - frameworkTimes.call - packed - frameworkTimes.page * 9216) < 1e-9);
            }
        }
    }
    void raggedColumnsFillRegisters() {
        const GpuView cpu = twoCores();
        QCOMPARE(coresSeconds(cpu, product(64, 17, 512)).compute, coresSeconds(cpu, product(64, 32, 512)).compute);
    }
    void largeActivationsComeFromMemory() {
        const GpuView cpu = twoCores();
        QCOMPARE(int(coresSeconds(cpu, product(64, 64, 64)).level), 1);
        QCOMPARE(int(coresSeconds(cpu, product(4096, 1024, 64)).level), 0);
    }
    void moreWorkNeverTakesLess() {
        const GpuView cpu = twoCores();
        double before = 0;
        for (std::int64_t m = 1; m < 200; ++m) {
            const CoresTime time = coresSeconds(cpu, product(m, 256, 256));
            QVERIFY(time.compute + time.memory >= before);
            before = time.compute + time.memory;
        }
    }
    void aGpuIsRefused() {
        const auto gpu = cpuView(loadHardware("h100-sxm")->hardware);
        QVERIFY(!gpu);
        QCOMPARE(gpu.error().code, std::string("method.not-applicable"));
    }
    void theFitFindsWhatMadeTheRows() {
        const GpuView cpu = twoCores();
        std::vector<CoresTime> times;
        std::vector<double> measured;
        std::vector<std::size_t> all;
        for (const std::int64_t m : {1, 8, 64, 512}) {
            for (const std::int64_t n : {64, 256, 2048}) {
                times.push_back(coresSeconds(cpu, product(m, n, 512)));
                measured.push_back(2e-6 + 1.25 * times.back().compute + 1.75 * times.back().memory);
                all.push_back(all.size());
            }
        }
        const CoresShares shares = fitShares(times, measured, all, {1e-6, 1, 1});
        QVERIFY(std::abs(shares.constant - 2e-6) < 0.1e-6);
        QVERIFY(std::abs(shares.compute - 1.25) < 0.02);
        QVERIFY(std::abs(shares.memory - 1.75) < 0.02);
    }
    void oneDisturbedRowDoesNotMoveIt() {
        const GpuView cpu = twoCores();
        std::vector<CoresTime> times;
        std::vector<double> measured;
        std::vector<std::size_t> all;
        for (std::int64_t m = 1; m < 1024; m *= 2) {
            times.push_back(coresSeconds(cpu, product(m, 512, 512)));
            measured.push_back(1e-6 + times.back().compute + times.back().memory);
            all.push_back(all.size());
        }
        measured[5] *= 20;
        const CoresShares shares = fitShares(times, measured, all, {1e-6, 1, 1});
        QVERIFY(std::abs(shares(times[2]) / measured[2] - 1) < 0.05);
        QVERIFY(std::abs(shares(times[8]) / measured[8] - 1) < 0.05);
    }
    void aFunctionHasItsOwnShares() {
        SectionParameters parameters;
        keepShares({1e-6, 2, 3}, {}, parameters);
        keepShares({2e-6, 4, 6}, "Gelu", parameters);
        QCOMPARE(sharesOf(parameters, "Gelu", {}).compute, 4.0);
        QCOMPARE(sharesOf(parameters, "Add", {}).compute, 2.0);
        QCOMPARE(sharesOf({}, "Add", {5e-6, 1, 1}).constant, 5e-6);
    }

    // The whole loop on this machine, quickly: measured, written, read, fitted, judged.
    void measuredReadAndFitted() {
        const auto host = describeHost();
        QVERIFY2(host, host ? "" : host.error().message.c_str());
        QTemporaryDir folder;
        const auto file = [&](const char* name) { return folder.filePath(name).toStdString(); };
        const auto write = [&](const char* name, const std::string& text) {
            QFile out(folder.filePath(name));
            QVERIFY(out.open(QIODevice::WriteOnly));
            out.write(text.data(), qint64(text.size()));
        };
        write("here.yaml", hostDesign(*host, "2026-01-01"));
        const auto drawn = readHardwareFile(file("here.yaml"));
        QVERIFY2(drawn, drawn ? "" : drawn.error().message.c_str());
        QVERIFY(cpuView(drawn->hardware));
        std::vector<Kernel> kernels;
        for (const std::int64_t n : {1000, 10000, 100000, 1000000}) {
            Kernel kernel;
            kernel.kind = KernelKind::Elementwise;
            kernel.function = "Add";
            kernel.type = kernel.weightType = kernel.kvType = DType::F32;
            kernel.operands = 2;
            kernel.m = 1, kernel.n = n;
            countWork(kernel);
            kernels.push_back(kernel);
        }
        MeasureOptions options;
        options.secondsPerKernel = 0.01;
        const std::vector<KernelLibraryPtr> libraries{ownKernels()};
        const auto measured = measureKernels(kernels, libraries, options);
        QVERIFY2(measured, measured ? "" : measured.error().message.c_str());
        QCOMPARE(measured->rows.size(), kernels.size());
        for (const auto& row : measured->rows)
            QVERIFY(row.timing.minimum > 0 && row.timing.minimum <= row.timing.median);
        write("rows.yaml", measurementTable(*measured, Statistic::Minimum, "here.yaml", "2026-01-01"));
        const std::vector<std::string> files{file("rows.yaml")};
        const auto tables = readReferences(files);
        QVERIFY2(tables, tables ? "" : tables.error().message.c_str());
        QCOMPARE(tables->front().rows.size(), kernels.size());
        QVERIFY(tables->front().rows.front().kernel == measured->rows.front().kernel);
        const auto executor = makeSerialExecutor();
        CalibrateOptions fit;
        fit.executor = executor.get();
        const auto fitted = calibrate(*findKernelMethod("cpu-roofline"), *tables, selectRows(*tables), fit);
        QVERIFY2(fitted, fitted ? "" : fitted.error().message.c_str());
        QCOMPARE(fitted->calibration.sections.size(), std::size_t(1));
        QCOMPARE(fitted->calibration.sections.front().device->id, std::string("here.yaml"));
    }
    void whatNoLibraryRunsIsNamed() {
        const std::vector<KernelLibraryPtr> libraries{ownKernels()};
        const Kernel kernel = product(8, 8, 8);
        const auto measured = measureKernels(std::span(&kernel, 1), libraries, {});
        QVERIFY(!measured);
        QCOMPARE(measured.error().code, std::string("measure.nothing"));
    }
    void aStoppedMeasurementSaysSo() {
        std::stop_source stop;
        stop.request_stop();
        MeasureOptions options;
        options.stop = stop.get_token();
        const std::vector<KernelLibraryPtr> libraries{ownKernels()};
        const Kernel kernel = product(8, 8, 8);
        const auto measured = measureKernels(std::span(&kernel, 1), libraries, options);
        QVERIFY(!measured);
        QCOMPARE(measured.error().code, std::string("study.cancelled"));
    }
    void spreadComesFromQuartiles() {
        const Timing timing = timingOf({1, 1, 1, 1, 1, 1, 1, 1, 100});
        QCOMPARE(timing.median, 1.0);
        QCOMPARE(timing.spread, 0.0);
        QCOMPARE(timingOf({}).repeats, 0);
    }
    void aBusyMachineIsRefused() {
        QVERIFY(refuseBusy({0.1, "performance"}, 4));
        QCOMPARE(refuseBusy({3, ""}, 4).error().code, std::string("measure.busy"));
        QCOMPARE(refuseBusy({0, "powersave"}, 4).error().code, std::string("measure.busy"));
    }
};

QTEST_GUILESS_MAIN(TestCpuRoofline)
#include "tst_cpu_roofline.moc"
