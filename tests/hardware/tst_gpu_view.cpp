#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/views/gpu_view.h"
#include "support/near.h"

#include <QtTest/QtTest>

#include <algorithm>

using namespace orrery;
using orrery::test::near;

namespace {

Hardware preset(const char* id) {
    auto loaded = loadHardware(id);
    return loaded ? loaded->hardware : Hardware();
}
Hardware inlineDesign(const std::string& children) {
    auto loaded = readHardware("orrery: hardware/1\nsystem: {children: [" + children + "]}\n");
    return loaded ? loaded->hardware : Hardware();
}
QString why(const Expected<GpuView>& view) {
    return view ? QString() : QString::fromStdString(toText(view.error()));
}
}  // namespace

class TestGpuView : public QObject {
    Q_OBJECT
private slots:
    void everyGpuOfTheLibraryHasSaneNumbers_data() {
        QTest::addColumn<QString>("id");
        int count = 0;
        for (const CatalogueEntry& entry : hardwareCatalogue()) {
            const auto loaded = loadHardware(entry.id);
            QVERIFY2(loaded, entry.id.c_str());
            const auto device = deviceView(loaded->hardware);
            if (!device || device->platform != "gpu") continue;
            QTest::newRow(entry.id.c_str()) << QString::fromStdString(entry.id);
            ++count;
        }
        QVERIFY(count >= 20);
    }
    void everyGpuOfTheLibraryHasSaneNumbers() {
        QFETCH(QString, id);
        const auto view = gpuView(preset(qPrintable(id)));
        QVERIFY2(view, qPrintable(why(view)));
        const GpuView& gpu = *view;
        QVERIFY(gpu.sms >= 8 && gpu.sms <= 400);
        QVERIFY(gpu.subCores >= 1 && gpu.subCores <= 8);
        QVERIFY(gpu.warpsPerSm >= 32 && gpu.warpsPerSm <= 96);
        QVERIFY(gpu.warpSize == 32 || gpu.warpSize == 64);
        QVERIFY(gpu.vectorLanes >= 64 && gpu.vectorLanes <= 128);
        QVERIFY(gpu.registerBytes >= 208 * 1024 && gpu.registerBytes <= 512 * 1024);
        QVERIFY(gpu.sharedBytes >= 48 * 1024 && gpu.sharedBytes <= 256 * 1024);
        // CDNA 4 reads twice as much a clock.
        QVERIFY(near(gpu.sharedBandwidth, (id == "mi355x" ? 256 : 128) * gpu.clock, 0.01));
        QVERIFY(gpu.clock >= 0.9e9 && gpu.clock <= 3e9);
        QVERIFY(gpu.sustained > 0.2 && gpu.sustained <= 1);
        QVERIFY(gpu.l2Bytes >= 2e6 && gpu.l2Bytes <= 260e6);
        QVERIFY(gpu.l2Slices >= 1 && gpu.l2Slices <= 8);
        if (gpu.l2Bandwidth > 0) QVERIFY(gpu.l2Bandwidth > gpu.dramBandwidth && gpu.l2Bandwidth < 30e12);
        QVERIFY(gpu.dramBytes >= 8e9 && gpu.dramBytes <= 300e9);
        QVERIFY(gpu.dramBandwidth >= 60e9 && gpu.dramBandwidth <= 9e12);
        QVERIFY(!gpu.dramTiming.empty());
        QVERIFY(gpu.dramLatency < 1e-6 && gpu.l2Latency < 1e-6 && gpu.sharedLatency < 1e-7);
        // A lane does at least one fused multiply-add of fp32 in a cycle.
        QVERIFY(gpu.vectorOpsPerCycle(DType::F32) >= 2 * gpu.vectorLanes * 0.99);
        if (gpu.tensorUnits > 0) QVERIFY(gpu.tensorPeak(DType::F16) >= 2 * gpu.vectorPeak(DType::F32));
        if (gpu.powerCap > 0) QVERIFY(gpu.idlePower < gpu.powerCap);
    }
    // Caches of instructions and constants, and GPCs: nothing where a design says nothing, else what it says.
    void cachesOfInstructionsAreReadWhereTheyAreDrawn() {
        const auto unsaid = gpuView(preset("h100-sxm"));
        QVERIFY2(unsaid, qPrintable(why(unsaid)));
        QCOMPARE(unsaid->instructionL0 + unsaid->instructionL1 + unsaid->constantCache + unsaid->gpcCores, 0.0);
        const auto drawn = gpuView(inlineDesign(
            "{kind: die, name: d, clock: 1 GHz, platform: gpu, children: [{kind: dram, name: m, capacity: 8 GB, "
            "bandwidth: 1 TB/s}, {kind: core, name: sm, count: 8, instruction_l0: 16 KiB, instruction_l1: 64 KiB, "
            "constant_cache: 2 KiB, gpc_cores: 4, children: [{kind: vector_unit, name: v, lanes: 64, flops: {fp32: "
            "2/cycle}}]}]}"));
        QVERIFY2(drawn, qPrintable(why(drawn)));
        QCOMPARE(drawn->instructionL0, 16.0 * 1024);
        QCOMPARE(drawn->instructionL1, 64.0 * 1024);
        QCOMPARE(drawn->constantCache, 2.0 * 1024);
        QCOMPARE(drawn->gpcCores, 4.0);
        const auto odd =
            readHardware("orrery: hardware/1\nsystem: {children: [{kind: dram, name: m, instruction_l0: 16 KiB}]}\n");
        QVERIFY(odd && std::any_of(odd->warnings.begin(), odd->warnings.end(), [](const Diagnostic& warning) {
                    return warning.code == "hardware.unknown-key";
                }));
    }
    void structureIsReadPerMultiprocessor() {
        const auto view = gpuView(preset("a100-80-sxm"));
        QVERIFY2(view, qPrintable(why(view)));
        QCOMPARE(view->sms, 108.0);
        QCOMPARE(view->tensorUnits, 4.0);
        QCOMPARE(view->vectorLanes, 64.0);
        QVERIFY(near(view->tensorOpsPerCycle(DType::BF16), 2 * 4 * 256));
        QVERIFY(near(view->vectorOpsPerCycle(DType::F32), 2 * 64));
        QCOMPARE(view->tensorPeak(DType::F32), 0.0);  // tf32 is not assumed for fp32
        QCOMPARE(view->sharedBytes, 164 * 1024.0);
        QVERIFY(near(view->l2Bandwidth, 5120 * 1.41e9));
        QCOMPARE(view->l2Slices, 1.0);
        QCOMPARE(view->linkBandwidth, 300e9);
        QCOMPARE(QString::fromStdString(view->dramTiming), QString("HBM2e"));
        QVERIFY(near(view->l2Latency * view->clock, 200));
    }
    void aGpuOfSeveralDiesKnowsWhatTheyShare() {
        const auto two = gpuView(preset("mi250x"));
        QVERIFY2(two, qPrintable(why(two)));
        QCOMPARE(two->sms, 220.0);
        QCOMPARE(two->warpSize, 64.0);
        QCOMPARE(two->l2Bytes, 16e6);
        QCOMPARE(two->l2Slices, 2.0);
        QVERIFY(near(two->dramBandwidth, 2 * 1638.4e9));
        QVERIFY(near(two->tensorOpsPerCycle(DType::F16), 2 * 4 * 128));
        const auto eight = gpuView(preset("mi300x"));
        QVERIFY2(eight, qPrintable(why(eight)));
        QCOMPARE(eight->l2Bytes, 256e6);  // of the infinity cache, which all dies reach
        QCOMPARE(eight->l2Slices, 1.0);
        QCOMPARE(eight->sms, 304.0);
    }
    void theFirstGpuOfASystemIsTaken() {
        const auto one = gpuView(preset("h100-sxm"));
        const auto many = gpuView(preset("dgx-h100"));
        QVERIFY(one && many);
        QCOMPARE(many->device.copies, 8);
        QCOMPARE(many->sms, one->sms);
        QCOMPARE(many->dramBandwidth, one->dramBandwidth);
        QCOMPARE(many->linkBandwidth, one->linkBandwidth);
    }
    void otherDevicesAreRefused_data() {
        QTest::addColumn<QString>("id");
        for (const char* id : {"tpu-v4", "eyeriss-like", "gaudi3", "epyc-9654", "exynos-9820-npu"}) {
            QTest::newRow(id) << QString(id);
        }
    }
    void otherDevicesAreRefused() {
        QFETCH(QString, id);
        const auto view = gpuView(preset(qPrintable(id)));
        QVERIFY(!view);
        QCOMPARE(QString::fromStdString(view.error().code), QString("method.not-applicable"));
        QVERIFY(!view.error().expected.empty() && !view.error().hint.empty());
        QVERIFY(!view.error().place.path.empty());
    }
    void whatIsMissingIsNamed() {
        const std::string dram = "{kind: dram, name: hbm, capacity: 16 GB, bandwidth: 1 TB/s}";
        const std::string core =
            "{kind: core, name: sm, count: 10, children: [{kind: vector_unit, name: v, lanes: 64, flops: {fp32: "
            "2/cycle}}]}";
        const auto noClock =
            gpuView(inlineDesign("{kind: die, name: g, platform: gpu, children: [" + dram + ", " + core + "]}"));
        QVERIFY(!noClock);
        QCOMPARE(QString::fromStdString(noClock.error().code), QString("hardware.no-clock"));
        const auto noCores =
            gpuView(inlineDesign("{kind: die, name: g, platform: gpu, clock: 1 GHz, children: [" + dram +
                                 ", {kind: vector_unit, name: v, lanes: 64, flops: {fp32: 2/cycle}}]}"));
        QVERIFY(!noCores);
        const auto bare = gpuView(
            inlineDesign("{kind: die, name: g, platform: gpu, clock: 1 GHz, children: [" + dram + ", " + core + "]}"));
        QVERIFY2(bare, qPrintable(why(bare)));
        QCOMPARE(bare->warpsPerSm, 64.0);
        QCOMPARE(bare->l2Bytes, 0.0);
        QCOMPARE(bare->tensorUnits, 0.0);
        QVERIFY(std::any_of(bare->assumptions.begin(), bare->assumptions.end(),
                            [](const std::string& a) { return a.find("64 per multiprocessor") != std::string::npos; }));
    }
    void anEmptyDesignFails() { QVERIFY(!gpuView(Hardware{})); }
};

QTEST_GUILESS_MAIN(TestGpuView)
#include "tst_gpu_view.moc"
