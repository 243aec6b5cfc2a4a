// A watched kernel: which part is simulated, and that a design that is changed for the better is not slower.

#include "hardware/files/catalogue.h"
#include "methods/gpu/gpu_watch.h"
#include "methods/gpu/gpu_what_if.h"
#include "workload/kernel_source.h"

#include <QTest>

using namespace orrery;

class TestGpuWatch : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        gpu_ = gpuView(loadHardware("a100-80-sxm").value().hardware).value();
        drawn_ = machineOf(gpu_).value();
    }

    void aSmallKernelIsWhole() {
        const auto program = programFor("gemm m=256 n=256 k=256 fp16");
        const auto part = watchedPart(program, drawn_.machine, 1e6).value();
        QVERIFY(part.whole());
        const auto seen = watchKernel(program, drawn_.machine, part).value();
        const double share = static_cast<double>(seen.result.counts.warpInstructions) / part.instructions;
        QVERIFY2(share > 0.9 && share < 1.1, qPrintable(QString::number(share)));
        QVERIFY(seen.recording->recorded > 0);
    }

    // What is announced is what is simulated, and the budget holds as far as a wave on an eighth allows.
    void aLargeKernelIsCut() {
        const auto program = programFor("gemm m=4096 n=4096 k=4096 fp16");
        const auto part = watchedPart(program, drawn_.machine, 1e5).value();
        QVERIFY(!part.whole());
        QVERIFY2(part.instructions < 4e5, qPrintable(QString::number(part.instructions)));
        Progress progress;
        const auto seen = watchKernel(program, drawn_.machine, part, {.progress = &progress}).value();
        const double share = static_cast<double>(seen.result.counts.warpInstructions) / part.instructions;
        QVERIFY2(share > 0.7 && share < 1.3, qPrintable(QString::number(share)));
        QVERIFY(progress.done() > 0);
        QVERIFY(part.text().find(" of ") != std::string::npos);
    }

    void aStopIsObeyed() {
        const auto program = programFor("gemm m=2048 n=2048 k=2048 fp16");
        std::stop_source stop;
        stop.request_stop();
        const auto seen = watchKernel(program, drawn_.machine, watchedPart(program, drawn_.machine, 1e6).value(),
                                      {.stop = stop.get_token()});
        QVERIFY(!seen);
        QCOMPARE(seen.error().code, std::string("study.cancelled"));
    }

    void betterDesignsAreNotSlower_data() {
        QTest::addColumn<QString>("change");
        QTest::addColumn<QString>("kernel");
        QTest::addColumn<double>("factor");
        const char* stream = "elementwise m=1024 n=1024 fp32";
        QTest::newRow("DRAM clock") << "dram-clock" << stream << 2.0;
        QTest::newRow("L2 slices") << "l2-slices" << stream << 2.0;
        QTest::newRow("L2 latency") << "l2-latency" << stream << 0.5;
        QTest::newRow("DRAM latency") << "dram-latency" << stream << 0.5;
        QTest::newRow("tensor rate") << "tensor-rate"
                                     << "gemm m=512 n=512 k=512 fp16" << 2.0;
    }
    void betterDesignsAreNotSlower() {
        QFETCH(QString, change);
        QFETCH(QString, kernel);
        QFETCH(double, factor);
        const auto program = programFor(kernel.toStdString());
        const MachineChange* what = machineChange(change.toStdString());
        QVERIFY(what);
        const auto other = changedMachine(drawn_.machine, *what, factor).value();
        const auto part = watchedPart(program, drawn_.machine, 1e5).value();
        const auto before = watchKernel(program, drawn_.machine, part).value();
        const auto after = watchKernel(program, other, part).value();
        QCOMPARE(after.result.counts.warpInstructions, before.result.counts.warpInstructions);
        // Reordering alone moves cycles by a little.
        QVERIFY2(static_cast<double>(after.result.cycles) <= 1.01 * static_cast<double>(before.result.cycles),
                 qPrintable(QString("%1 after %2").arg(after.result.cycles).arg(before.result.cycles)));
    }

    void moreRegistersHoldMoreBlocks() {
        const auto other = changedMachine(drawn_.machine, *machineChange("registers"), 2).value();
        QCOMPARE(other.registers, 2 * drawn_.machine.registers);
    }

    void aChangeThatChangesNothingIsRefused() {
        gpusim::Machine machine = drawn_.machine;
        machine.slicesPerChannel = 1;
        const auto half = changedMachine(machine, *machineChange("l2-slices"), 0.5);
        QVERIFY(!half);
        QCOMPARE(half.error().code, std::string("gpu.what-if"));
    }

    void slicesKeepTheCapacity() {
        const auto twice = changedMachine(drawn_.machine, *machineChange("l2-slices"), 2).value();
        QCOMPARE(twice.slices(), 2 * drawn_.machine.slices());
        QCOMPARE(twice.slices() * twice.l2.sets * twice.l2.ways,
                 drawn_.machine.slices() * drawn_.machine.l2.sets * drawn_.machine.l2.ways);
    }

private:
    KernelProgram programFor(const std::string& text) const {
        const auto kernel = kernelFromSource(text);
        if (!kernel) qFatal("%s", toText(kernel.error()).c_str());
        auto program = programOf(*kernel, gpu_, drawn_);
        if (!program) qFatal("%s", toText(program.error()).c_str());
        return *program;
    }
    GpuView gpu_;
    DrawnMachine drawn_;
};

QTEST_GUILESS_MAIN(TestGpuWatch)
#include "tst_gpu_watch.moc"
