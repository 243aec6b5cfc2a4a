#include "methods/interval/interval_analysis.h"
#include "support/kernel_fixture.h"

#include <QtTest/QtTest>

#include <cmath>
#include <random>

using namespace orrery;

namespace {

using fixture::gpu;
Kernel product(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::BF16) {
    return fixture::product(m, n, k, type);
}
Kernel rows(KernelKind kind, std::int64_t m, std::int64_t n, DType type = DType::F32) {
    return fixture::rows(kind, m, n, type);
}
Kernel attention(KernelKind kind, std::int64_t queries, std::int64_t keys) {
    Kernel kernel;
    kernel.kind = kind;
    kernel.type = kernel.kvType = DType::BF16;
    kernel.attention = {.batch = 4,
                        .heads = 32,
                        .kvHeads = 8,
                        .queries = queries,
                        .keys = keys,
                        .headDim = 128,
                        .valueDim = 128,
                        .causal = queries > 1};
    countWork(kernel);
    return kernel;
}
std::vector<Kernel> assorted() {
    return {product(1, 4096, 4096),
            product(128, 4096, 4096),
            product(4096, 4096, 4096),
            product(777, 333, 5000),
            product(2048, 2048, 2048, DType::F32),
            rows(KernelKind::Softmax, 4096, 2048),
            rows(KernelKind::Normalization, 100, 12288),
            rows(KernelKind::Normalization, 30, 100000),
            rows(KernelKind::Elementwise, 8192, 4096),
            attention(KernelKind::PrefillAttention, 2048, 2048),
            attention(KernelKind::DecodeAttention, 1, 4096)};
}
/// A multiprocessor of round numbers.
IntervalMachine simple() {
    IntervalMachine machine;
    machine.sms = 10;
    machine.subCores = 4;
    machine.clock = 1e9;
    machine.network = 1000;
    machine.dram = 100;
    machine.missBytes = 1e9;
    machine.l1Latency = 40;
    machine.l2Latency = 200;
    machine.dramLatency = 300;
    return machine;
}

}  // namespace

class TestIntervalAnalysis : public QObject {
    Q_OBJECT
private slots:
    void oneIntervalIsWorkedByHand() {
        // Eight warps, two on each sub-core: 10 instructions each issue in 20 cycles; the vector units are held for 15
        // cycles per warp, 30 in all, 10 of them beyond issuing. A wait of 50 cycles is hidden by the other warp for
        // half of these 30: 35 are left.
        WarpProgram program;
        program.warpsPerBlock = 8;
        WarpInterval interval;
        interval.instructions = 10;
        interval.of(WarpUnit::Vector) = 15;
        interval.wait = 50;
        program.add(interval);
        const CycleStack stack = roundStack(simple(), program, 1, 10);
        QCOMPARE(stack.base, 20.0);
        QCOMPARE(stack.mathPipe, 10.0);
        QCOMPARE(stack.dependency, 35.0);
        QCOMPARE(stack.memoryData, 0.0);
        QCOMPARE(stack.total(), 65.0);
    }
    void aLoadWaitsForLatencyOrBandwidth() {
        // One warp: latency 40 + 200 + 0.5·300 = 390 cycles, nothing hides them.
        WarpProgram program;
        WarpInterval load;
        load.instructions = 4;
        load.loadBytes = 32;
        load.dramShare = 0.5;
        load.waitsForLoad = true;
        program.add(load);
        CycleStack stack = roundStack(simple(), program, 1, 1);
        QCOMPARE(stack.base, 4.0);
        QCOMPARE(stack.memoryData, 390.0);
        QCOMPARE(stack.memoryQueue, 0.0);
        // A hundred times as much from ten multiprocessors: 10·3200·100 / 2 / 100 … at DRAM, of which 394 are passed.
        program.intervals[0].loadBytes = 32000;
        stack = roundStack(simple(), program, 1, 10);
        QCOMPARE(stack.memoryData + stack.memoryQueue + stack.base, 10 * 32000 * 0.5 / 100);
        // What may be outstanding bounds it too: 32000 B in turns of 1000 B take 32 latencies.
        IntervalMachine machine = simple();
        machine.missBytes = 1000;
        stack = roundStack(machine, program, 1, 1);
        QCOMPARE(stack.total(), 32 * 390.0);
    }
    void loadingAheadHidesLatency() {
        WarpProgram program;
        program.warpsPerBlock = 4;
        WarpInterval step;
        step.count = 100;
        step.instructions = 50;
        step.of(WarpUnit::Tensor) = 100;
        step.loadBytes = 1;
        step.waitsForLoad = true;
        program.add(step);
        const auto total = [&](double ahead) {
            program.intervals[0].ahead = ahead;
            return roundStack(simple(), program, 1, 1).total();
        };
        // Latency 540 (all from main memory) over one, two and six rounds of 100 cycles.
        QCOMPARE(total(1), 100 * 270.0);
        QCOMPARE(total(2), 100 * 180.0);
        QCOMPARE(total(5), 100 * 100.0);
    }
    void multiprocessorsThatWaitAreIdle() {
        WarpProgram program;
        WarpInterval work;
        work.instructions = 100;
        program.add(work);
        program.blocks = 15;  // on ten: five run two blocks of 100 cycles together on two sub-cores, five run one
        program.registersPerThread = 32;
        IntervalMachine machine = simple();
        machine.warpsPerSm = 1;  // so that they run one after another
        const CycleStack stack = kernelStack(machine, program);
        QCOMPARE(stack.base, 150.0);
        QCOMPARE(stack.idle, 50.0);
        QCOMPARE(stack.launch, 10 * blockLaunchCycles(1));
        program.blocks = 5;
        const CycleStack few = kernelStack(machine, program);
        QCOMPARE(few.base, 50.0);
        QCOMPARE(few.idle, 50.0);
    }
    void blocksAreLimitedByEveryResource() {
        IntervalMachine machine = simple();
        machine.warpsPerSm = 64;
        machine.registers = 65536;
        machine.sharedBytes = 100000;
        WarpProgram program;
        program.warpsPerBlock = 8;
        program.registersPerThread = 32;
        QCOMPARE(residentBlocks(machine, program), 8.0);
        program.registersPerThread = 128;
        QCOMPARE(residentBlocks(machine, program), 2.0);
        program.sharedBytesPerBlock = 60000;
        QCOMPARE(residentBlocks(machine, program), 1.0);
        program.sharedBytesPerBlock = 200000;
        QCOMPARE(residentBlocks(machine, program), 1.0);
    }
    void launchingFollowsTheLaw() {
        // AMALI states s = 0.0036·BS² + 0.0366·BS + 1.1891 for A100, BS in warps.
        QVERIFY(std::abs(blockLaunchCycles(8) - 1.7123) < 1e-4);
    }
    void theStackSumsToTheCycles() {
        for (const char* id : {"a100-80-sxm", "h100-sxm", "b200-sxm", "l40s", "t4", "v100", "mi300x"}) {
            const GpuView view = gpu(id);
            const auto bound = intervalAnalysisMethod().bind(view, CalibrationSet());
            QVERIFY(bound);
            for (const Kernel& kernel : assorted()) {
                const KernelPrice price = (*bound)->price(kernel);
                QVERIFY2(price.priced, toText(kernel).c_str());
                const KernelStory story = (*bound)->explain(kernel);
                QVERIFY(story.stack.size() >= 5);
                double sum = 0;
                for (const StackPart& part : story.stack) {
                    QVERIFY2(part.cycles >= 0, part.name.c_str());
                    sum += part.cycles;
                }
                const double cycles = (price.seconds - view.device.launchOverhead.value) * view.clock * view.sustained;
                QVERIFY2(std::abs(sum - cycles) <= 1e-9 * cycles, toText(kernel).c_str());
            }
        }
    }
    void noPriceBeatsTheRoofline() {
        std::mt19937 random(3);
        std::uniform_real_distribution<double> exponent(0, 13);
        for (const char* id : {"a100-80-sxm", "h100-sxm", "l40s", "t4", "mi210"}) {
            const GpuView view = gpu(id);
            const IntervalMachine machine = intervalMachine(view);
            const auto check = [&](const Kernel& kernel, bool matrix) {
                const IntervalPlan plan = planIntervals(machine, kernel);
                QVERIFY(plan.covered);
                // Results may stay in L2; everything that is read comes from main memory.
                const double bound = std::max(kernel.readBytes / view.dramBandwidth,
                                              matrix ? kernel.flops / view.peak(true, kernel.type) : 0.0);
                QVERIFY2(plan.stack.total() / machine.clock >= bound * (1 - 1e-9),
                         qPrintable(QString("%1 on %2").arg(QString::fromStdString(toText(kernel)), id)));
            };
            for (int i = 0; i < 60; ++i) {
                const auto extent = [&] { return static_cast<std::int64_t>(std::exp2(exponent(random))); };
                check(product(extent(), extent(), extent(), i % 2 ? DType::F16 : DType::F32), true);
            }
            for (const KernelKind kind : {KernelKind::Softmax, KernelKind::Normalization, KernelKind::Elementwise}) {
                for (int i = 0; i < 10; ++i) check(rows(kind, 1 + random() % 9000, 1 + random() % 9000), false);
            }
        }
    }
    void moreOfAnythingIsNeverSlower() {
        const GpuView base = gpu("h100-sxm");
        for (const Kernel& kernel : assorted()) {
            const double before = planIntervals(intervalMachine(base), kernel).stack.total();
            GpuView better = base;
            better.dramBandwidth *= 1.5;
            QVERIFY2(planIntervals(intervalMachine(better), kernel).stack.total() <= before, toText(kernel).c_str());
            better = base;
            better.l2Bandwidth *= 1.5;
            QVERIFY2(planIntervals(intervalMachine(better), kernel).stack.total() <= before, toText(kernel).c_str());
            better = base;
            better.l2Latency *= 0.5;
            QVERIFY2(planIntervals(intervalMachine(better), kernel).stack.total() <= before, toText(kernel).c_str());
        }
    }
    void theSameQuestionHasTheSameAnswer() {
        const IntervalMachine machine = intervalMachine(gpu("a100-80-sxm"));
        for (const Kernel& kernel : assorted()) {
            QCOMPARE(planIntervals(machine, kernel).stack.total(), planIntervals(machine, kernel).stack.total());
        }
    }
    void boundsSayWhatLimits() {
        const auto bound = intervalAnalysisMethod().bind(gpu("h100-sxm"), CalibrationSet());
        QVERIFY(bound);
        QVERIFY((*bound)->price(product(8192, 8192, 8192)).bound.kind == BoundKind::Compute);
        QVERIFY((*bound)->price(product(8, 16384, 16384)).bound.kind == BoundKind::Memory);
        QVERIFY((*bound)->price(attention(KernelKind::DecodeAttention, 1, 16384)).bound.kind == BoundKind::Memory);
        Kernel collective;
        collective.kind = KernelKind::Collective;
        collective.messageBytes = 1e8;
        QVERIFY(!(*bound)->price(collective).priced);
        QVERIFY(!(*bound)->assumptions().empty());
    }
    void aDeviceWithoutVectorUnitsIsRefused() {
        GpuView view = gpu("h100-sxm");
        for (FlopsPerSecond& peak : view.device.peaks[0]) peak = FlopsPerSecond();
        const auto bound = intervalAnalysisMethod().bind(view, CalibrationSet());
        QVERIFY(!bound);
        QCOMPARE(QString::fromStdString(bound.error().code), QString("hardware.missing-attribute"));
        QVERIFY(!bound.error().hint.empty());
    }
};

QTEST_GUILESS_MAIN(TestIntervalAnalysis)
#include "tst_interval_analysis.moc"
