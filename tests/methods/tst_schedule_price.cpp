#include "evaluation/error_metrics.h"
#include "learning/schedules/schedule_loops.h"
#include "methods/schedule/schedule_price.h"
#include "methods/tile/tile_wave_simt.h"
#include "support/devices.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

using namespace orrery;

namespace {

ScheduleDevice deviceOf(const char* id) {
    auto device = scheduleDevice(*fixture::device(id));
    if (!device) qFatal("%s", device.error().message.c_str());
    return *device;
}

TunedRow product(const char* task, int m, int n, int k, const std::string& config) {
    TunedRow row;
    row.task = task;
    row.workload = fmt::format("{}x{}:float32;{}x{}:float32;None;float32", m, k, n, k);
    row.work = *readTensorWork(row.task, row.workload);
    row.knobs = readKnobs(config);
    return row;
}
// Of one thread y × x results, of a block 16 × 16 threads.
TunedRow onGpu(int m, int n, int k, int y, int x, int step, int threads = 16) {
    return product("dense_large_batch.cuda", m, n, k,
                   fmt::format("tile_x=-1,1,{0},{1};tile_y=-1,1,{0},{2};tile_k=-1,{3},1", threads, y, x, step));
}
TunedRow onCpu(int m, int n, int k, int y, int x, int step) {
    return product("dense_pack.x86", m, n, k,
                   fmt::format("tile_y=-1,{0},{0};tile_x=-1,1,{1};tile_k=-1,{2}", y, x, step));
}
double secondsOf(const TunedRow& row, const ScheduleDevice& device) {
    const auto price = priceSchedule(row, device);
    return price ? price->seconds : -1;
}

}  // namespace

// What a drawn device is said to take for a schedule: bounds, what makes it slower, and how it orders published trials.
class TestSchedulePrice : public QObject {
    Q_OBJECT

private slots:
    // No schedule is faster than peak rates allow.
    void noneIsFasterThanTheRoofline() {
        const ScheduleDevice t4 = deviceOf("t4"), cpu = deviceOf("core-i9-10940x");
        for (const int m : {128, 512, 2048}) {
            for (const int y : {1, 2, 4, 8}) {
                for (const int x : {1, 4, 16}) {
                    const double flops = 2.0 * m * 768 * 768;
                    const double gpu = secondsOf(onGpu(m, 768, 768, y, x, 8), t4);
                    const double core = secondsOf(onCpu(m, 768, 768, y, 16 * x, 16), cpu);
                    if (gpu > 0) QVERIFY(gpu >= flops / t4.view.peak(false, DType::F32));
                    QVERIFY(core >= flops / cpu.view.peak(false, DType::F32));
                }
            }
        }
    }
    // The best tiles of a large product come near the peak, the worst are far from it.
    void goodTilesAreNearThePeak() {
        const ScheduleDevice t4 = deviceOf("t4"), cpu = deviceOf("core-i9-10940x");
        const double flops = 2.0 * 4096 * 4096 * 4096;
        const auto share = [&](const TunedRow& row, const ScheduleDevice& device) {
            return flops / device.view.peak(false, DType::F32) / secondsOf(row, device);
        };
        const TunedRow tile = onGpu(4096, 4096, 4096, 8, 8, 8);  // 128 × 128, as a library has it
        const double gpu = share(tile, t4), core = share(onCpu(4096, 4096, 4096, 14, 32, 64), cpu);
        QVERIFY2(core > 0.5, qPrintable(QString::number(core)));
        // What tile-wave says of the best tile of a library.
        Kernel kernel;
        kernel.kind = KernelKind::Gemm;
        kernel.type = kernel.weightType = DType::F32;
        kernel.m = kernel.n = kernel.k = 4096;
        countWork(kernel);
        const double library = simtPhysics(kernel, t4.view, nominalParameters(simtFamily())).seconds;
        const double ratio = secondsOf(tile, t4) / library;
        QVERIFY2(ratio > 0.95 && ratio < 1.25, qPrintable(QString::number(ratio)));
        QVERIFY(share(onGpu(4096, 4096, 4096, 1, 1, 8), t4) < 0.5 * gpu);
        QVERIFY(share(onCpu(4096, 4096, 4096, 1, 3, 64), cpu) < 0.3 * core);
    }
    void whatABlockMayNotHaveCannotRun() {
        const ScheduleDevice t4 = deviceOf("t4");
        QVERIFY(secondsOf(onGpu(4096, 4096, 512, 1, 1, 8, 32), t4) > 0);    // 1,024 threads
        QCOMPARE(secondsOf(onGpu(4096, 4096, 512, 1, 1, 8, 64), t4), 0.0);  // 4,096
        QVERIFY(secondsOf(onGpu(4096, 4096, 512, 8, 8, 32), t4) > 0);       // 32 KiB of shared memory
        QCOMPARE(secondsOf(onGpu(4096, 4096, 512, 8, 8, 64), t4), 0.0);     // 64 KiB
    }
    void moreOfTheDeviceIsNeverSlower() {
        const ScheduleDevice t4 = deviceOf("t4"), cpu = deviceOf("core-i9-10940x");
        for (const int y : {1, 4, 8}) {
            const TunedRow gpu = onGpu(1024, 1024, 1024, y, y, 8), core = onCpu(1024, 1024, 1024, y, 32, 32);
            ScheduleDevice more = t4;
            more.view.dramBandwidth *= 2;
            QVERIFY(secondsOf(gpu, more) <= secondsOf(gpu, t4) * (1 + 1e-12));
            more = t4;
            more.view.sharedBandwidth *= 2;
            QVERIFY(secondsOf(gpu, more) <= secondsOf(gpu, t4) * (1 + 1e-12));
            more = t4;
            more.view.l2Latency *= 4;
            QVERIFY(secondsOf(gpu, more) >= secondsOf(gpu, t4) * (1 - 1e-12));
            more = cpu;
            for (MemoryLevel& level : more.view.device.levels)
                level.bandwidth = BytesPerSecond(2 * level.bandwidth.value);
            QVERIFY(secondsOf(core, more) <= secondsOf(core, cpu) * (1 + 1e-12));
            more = cpu;
            for (MemoryLevel& level : more.view.device.levels) level.capacity = Bytes(4 * level.capacity.value);
            QVERIFY(secondsOf(core, more) <= secondsOf(core, cpu) * (1 + 1e-12));
        }
    }
    // Fourteen cores take fourteen tasks in one turn and fifteen in two.
    void theLastTurnCountsAsAWhole() {
        const ScheduleDevice cpu = deviceOf("core-i9-10940x");
        const auto compute = [&](int tasks) {
            return priceSchedule(product("dense_pack.x86", tasks, 64, 256, "tile_y=-1,1,1;tile_x=-1,1,64;tile_k=-1,16"),
                                 cpu)
                ->compute;
        };
        QCOMPARE(compute(14), compute(1));
        QVERIFY(std::abs(compute(15) / compute(14) - 2) < 1e-9);
    }
    // A register's worth of outputs and one more take twice the multiply-adds of a register.
    void raggedVectorsAreWhole() {
        const ScheduleDevice cpu = deviceOf("core-i9-10940x");
        const auto compute = [&](int x) {
            const TunedRow row =
                product("dense_pack.x86", 14, x, 4096, fmt::format("tile_y=-1,1,14;tile_x=-1,1,{};tile_k=-1,16", x));
            return priceSchedule(row, cpu)->compute;
        };
        QVERIFY(std::abs(compute(17) / compute(32) - 1) < 1e-9);
        QVERIFY(compute(16) < 0.7 * compute(17));
    }
    void whatIsNotPricedIsLeftOut() {
        const ScheduleDevice t4 = deviceOf("t4"), cpu = deviceOf("core-i9-10940x");
        QVERIFY(!priceSchedule(onGpu(128, 128, 128, 1, 1, 8), cpu));
        QVERIFY(!priceSchedule(onCpu(128, 128, 128, 1, 16, 8), t4));
        TunedRow row = onGpu(128, 128, 128, 1, 1, 8);
        row.work.depthwise = true;
        QVERIFY(!priceSchedule(row, t4));
        row = onGpu(128, 128, 128, 1, 1, 8);
        row.knobs.clear();
        QVERIFY(!priceSchedule(row, t4));
        QCOMPARE(scheduleDevice(*fixture::device("eyeriss-like")).error().code, std::string("method.not-applicable"));
    }
    // x86 convolutions of more than one tap split no rows of the image: TVM's template takes one at a time, and so the
    // same schedule with one row as its tile costs the same. 56 vectors of sums fit no 32 registers, 28
    // do.
    void rowsThatAreNotSplitAreTakenOneByOne() {
        const ScheduleDevice cpu = deviceOf("core-i9-10940x");
        const auto convolution = [](const std::string& config) {
            TunedRow row;
            row.task = "conv2d_NCHWc.x86";
            row.workload = "1x64x56x56:float32;64x64x3x3:float32;(1 1);(1 1 1 1);(1 1);NCHW;NCHW;float32";
            row.work = *readTensorWork(row.task, row.workload);
            row.knobs = readKnobs(config);
            return row;
        };
        const std::string rest = "tile_ic=-1,16;tile_oc=-1,16;";
        const auto own = priceSchedule(convolution(rest + "tile_ow=-1,28"), cpu);
        const auto stated = priceSchedule(convolution(rest + "tile_oh=-1,1;tile_ow=-1,28"), cpu);
        const auto knob = priceSchedule(convolution(rest + "tile_oh=1;tile_ow=-1,28"), cpu);
        const auto wide = priceSchedule(convolution(rest + "tile_ow=-1,56"), cpu);
        QVERIFY(own && stated && knob && wide);
        QCOMPARE(own->seconds, stated->seconds);
        QCOMPARE(knob->seconds, stated->seconds);
        // Two of a tile's rows are as many sums as twice the columns: `tile_oh=2` of the 1 × 1 template.
        QCOMPARE(priceSchedule(convolution(rest + "tile_oh=2;tile_ow=-1,28"), cpu)->compute,
                 priceSchedule(convolution(rest + "tile_oh=-1,2;tile_ow=-1,28"), cpu)->compute);
        QVERIFY2(wide->compute > 1.2 * own->compute,
                 qPrintable(QString("%1 of %2").arg(wide->compute).arg(own->compute)));
        const double flops = 2.0 * 56 * 56 * 64 * 64 * 9;
        QVERIFY(own->seconds >= flops / cpu.view.peak(false, DType::F32));
    }
    // Ansor's programs mark the outputs as vectors, so they cost what a packed product of the same loops costs, and a
    // reduction in steps of one is no waste of lanes.
    void ansorsVectorsRunAlongOutputs() {
        const ScheduleDevice cpu = deviceOf("core-i9-10940x");
        TunedRow packed = onCpu(512, 512, 512, 4, 32, 1), ansor = packed, plain = packed;
        ansor.task = "ansor_matmul.x86";
        ansor.steps = {TuningStep{"AN", {}, {}, {}, {2, 9, 2}}};
        plain.task = "dense_nopack.x86";
        QCOMPARE(secondsOf(ansor, cpu), secondsOf(packed, cpu));
        QVERIFY(secondsOf(ansor, cpu) < 0.5 * secondsOf(plain, cpu));
    }
    // Elements whose rate is another than that of the type that is priced, and extents that are no operator.
    void elementsAndExtentsThatAreNotPricedAreLeftOut() {
        const ScheduleDevice t4 = deviceOf("t4"), cpu = deviceOf("core-i9-10940x");
        TunedRow gpu = onGpu(128, 128, 128, 1, 1, 8), core = onCpu(128, 128, 128, 1, 16, 8);
        for (const double bytes : {1.0, 2.0, 4.0, 8.0}) {
            gpu.work.elementBytes = core.work.elementBytes = bytes;
            QCOMPARE(priceSchedule(gpu, t4).has_value(), bytes == 2 || bytes == 4);
            QCOMPARE(priceSchedule(core, cpu).has_value(), bytes == 4);
        }
        gpu.work.elementBytes = core.work.elementBytes = 4;
        for (const double extent : {1e10, 1e18, 1e300, std::numeric_limits<double>::infinity()}) {
            gpu.work.rows = core.work.rows = gpu.work.columns = core.work.columns = extent;
            QVERIFY(!priceSchedule(gpu, t4) && !priceSchedule(core, cpu));
        }
    }
    // On published trials that nothing here was fitted to: better than no order at all, on most operators of both.
    void publishedTrialsAreOrdered() {
        const char* path = ORRERY_REFERENCE "/compiler/tlcbench/autotvm_trials.csv";
        if (!std::filesystem::exists(path)) QSKIP("the trials are not here");
        const auto log = readTuningLog(path);
        QVERIFY(log);
        const std::map<std::string, ScheduleDevice> devices{{"t4", deviceOf("t4")},
                                                            {"platinum-8124m", deviceOf("core-i9-10940x")}};
        std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> operators;
        for (const TunedRow& row : log->rows) {
            const auto price = priceSchedule(row, devices.at(row.device));
            QVERIFY(price);
            if (!(row.seconds > 0)) continue;
            auto& [said, measured] = operators[row.device + " " + row.task + " " + row.workload];
            said.push_back(price->seconds > 0 ? price->seconds : 1);
            measured.push_back(row.seconds);
        }
        std::size_t ordered = 0, many = 0;
        for (const auto& [name, both] : operators) {
            if (both.first.size() < 50) continue;
            const double rho = spearmanRho(both.first, both.second);
            qInfo("%s: %.3f", name.c_str(), rho);
            ++many;
            ordered += rho > 0.3;
        }
        QVERIFY(many >= 10);
        QVERIFY2(3 * ordered >= 2 * many, qPrintable(QString("%1 of %2").arg(ordered).arg(many)));
    }
};

QTEST_GUILESS_MAIN(TestSchedulePrice)
#include "tst_schedule_price.moc"
