#include "hardware/files/catalogue.h"
#include "hardware/views/device_view.h"
#include "hardware/files/hardware_yaml.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

Hardware load(const char* idOrFile) {
    auto loaded = loadHardware(idOrFile);
    return loaded ? loaded->hardware : Hardware();
}
Hardware testDesign(const char* name) {
    return load((std::string(ORRERY_TEST_DATA) + "/hardware/" + name + ".yaml").c_str());
}
Hardware inlineDesign(const std::string& children) {
    auto loaded = readHardware("orrery: hardware/1\nsystem: {children: [" + children + "]}\n");
    return loaded ? loaded->hardware : Hardware();
}
QString q(const std::string& text) {
    return QString::fromStdString(text);
}
QStringList names(const DeviceView& view) {
    QStringList out;
    for (const MemoryLevel& level : view.levels) out << q(level.name);
    return out;
}

}  // namespace

class TestHardwareView : public QObject {
    Q_OBJECT
private slots:
    void aGpuIsSummedFromItsStructure() {
        const auto view = deviceView(testDesign("pod"));
        QVERIFY(view);
        QCOMPARE(q(view->path), QString("system/dgx/h100"));
        QCOMPARE(view->copies, 16);
        QCOMPARE(view->cores, 132);
        QCOMPARE(view->clock.value, 1.83e9);
        QCOMPARE(view->powerCap.value, 700.0);
        // 132 SMs × 4 units × 512 MACs × 2 × 1.83 GHz = 989 TFLOP/s, as the maker publishes.
        QCOMPARE(view->peak(true, DType::BF16).value, 132.0 * 4 * 512 * 2 * 1.83e9);
        QCOMPARE(view->peak(false, DType::F32).value, 132.0 * 4 * 32 * 2 * 1.83e9);
        QCOMPARE(names(*view), QStringList({"hbm3", "l2", "smem", "register_file"}));
        QCOMPARE(view->levels[3].bandwidth.value, 0.0);  // not given: it limits nothing, and its capacity counts
        QCOMPARE(view->levels[3].capacity.value, 132 * 256 * 1024.0);
        QCOMPARE(view->main().bandwidth.value, 3.35e12);
        QCOMPARE(view->main().energy.value, 3.9e-12 * 8);
        QCOMPARE(view->levels[1].latency.value, 273 / 1.83e9);
        QCOMPARE(view->levels[2].bandwidth.value, 132 * 128 * 1.83e9);
        QCOMPARE(view->levels[2].capacity.value, 132 * 228 * 1024.0);
        QCOMPARE(view->levels[2].instances, 132);
        const auto said = [&view](const char* word) {
            return std::any_of(view->assumptions.begin(), view->assumptions.end(),
                               [word](const std::string& a) { return a.find(word) != std::string::npos; });
        };
        QVERIFY(said("register_file"));
        QVERIFY(said("launch overhead"));
        QVERIFY(said("92 %"));
        QCOMPARE(view->launchOverhead.value, 3e-6);
    }
    void anArrayOfMacsIsATensorUnit() {
        const auto view = deviceView(load("eyeriss-like"));
        QVERIFY(view);
        QCOMPARE(view->peak(true, DType::I16).value, 168 * 2 * 200e6);
        // The narrower type runs on the wider unit; there is none for floating point.
        QCOMPARE(view->peak(true, DType::I8).value, 168 * 2 * 200e6);
        QCOMPARE(view->peak(true, DType::F32).value, 0.0);
        QCOMPARE(view->peak(false, DType::I16).value, 168 * 200e6);
        QCOMPARE(view->main().bandwidth.value, 8 * 60e6);
        QCOMPARE(view->cores, 1);
        QCOMPARE(q(view->platform), QString("array"));
        // Input, weight and output scratchpads hold different operands, so together they are the innermost level.
        QCOMPARE(view->levels.back().capacity.value, 168 * (24.0 + 448 + 48));
        QCOMPARE(view->levels.back().bandwidth.value, 168 * (2 + 2 + 4) * 200e6);
        const auto tpu = deviceView(load("tpu-v1-like"));
        QVERIFY(tpu);
        // 92 TOP/s, as the paper says.
        QCOMPARE(tpu->peak(true, DType::I8).value, 65536 * 2 * 700e6);
    }
    void diesOfOnePackageAreSummed() {
        const auto view = deviceView(load("mi250x"));
        QVERIFY(view);
        QCOMPARE(view->copies, 1);
        QCOMPARE(view->cores, 220);
        QCOMPARE(view->main().capacity.value, 128e9);
        QCOMPARE(view->main().instances, 2);
        const auto cpu = deviceView(load("epyc-9654"));
        QVERIFY(cpu);
        QCOMPARE(cpu->cores, 96);
    }
    void everyDeviceOfASystemHasAView() {
        Hardware hardware = load("xeon-8480");
        const Hardware gpu = load("h100-sxm");
        Component die = gpu.root.children.front();
        die.count = 8;
        hardware.root.children.push_back(die);
        const auto views = deviceViews(hardware);
        QVERIFY(views);
        QCOMPARE(views->size(), std::size_t(2));
        QCOMPARE(views->at(0).copies, 1);
        QCOMPARE(views->at(1).copies, 8);
        QCOMPARE(views->at(1).cores, 132);
        const auto first = deviceView(hardware);
        QVERIFY(first);
        QCOMPARE(q(first->name), q(views->at(0).name));
    }
    void computeInsideADramIsADeviceOfItsOwn() {
        const auto views = deviceViews(testDesign("pim"));
        QVERIFY(views);
        QCOMPARE(views->size(), std::size_t(2));
        QCOMPARE(q(views->at(0).name), QString("host"));
        QCOMPARE(q(views->at(0).main().name), QString("dimm"));
        const DeviceView& pim = views->at(1);
        QCOMPARE(pim.cores, 128);
        QCOMPARE(pim.peak(false, DType::I32).value, 128 * 350e6);
        QCOMPARE(names(pim), QStringList({"dimm", "wram"}));
        QCOMPARE(pim.levels[1].bandwidth.value, 128 * 8 * 350e6);
    }
    void levelsStandOutermostFirstWhateverTheFileSays() {
        const auto view = deviceView(
            inlineDesign("{kind: die, name: d, clock: 1 GHz, children: ["
                         "{kind: core, name: c, count: 4, children: [{kind: vector_unit, flops: {fp32: 2/cycle}},"
                         "{kind: register_file, name: rf, capacity: 64 KiB, bandwidth: 64 B/cycle},"
                         "{kind: cache, name: l1, capacity: 32 KiB, bandwidth: 64 B/cycle},"
                         "{kind: cache, name: l2, capacity: 1 MiB, bandwidth: 32 B/cycle}]},"
                         "{kind: cache, name: l3, capacity: 2 MiB, bandwidth: 64 B/cycle},"
                         "{kind: dram, name: ddr, capacity: 8 GB, bandwidth: 50 GB/s}]}"));
        QVERIFY(view);
        QCOMPARE(names(*view), QStringList({"ddr", "l3", "l2", "l1", "rf"}));
    }
    void aBufferAloneNeedsABandwidth() {
        const std::string vector = "{kind: vector_unit, name: v, flops: {fp32: 2/cycle}}";
        const std::string die = "{kind: die, name: d, clock: 1 GHz, children: [" + vector;
        QVERIFY(!deviceView(inlineDesign(die + ", {kind: buffer, name: b, capacity: 1 MiB}]}")));
        const auto view =
            deviceView(inlineDesign(die + ", {kind: buffer, name: b, capacity: 1 MiB, bandwidth: 1 TB/s}]}"));
        QVERIFY(view);
        QCOMPARE(names(*view), QStringList({"b"}));
        // What holds only instructions, or says neither size nor rate, is no level.
        const auto bare =
            deviceView(inlineDesign(
                die + ", {kind: buffer, name: b, capacity: 1 MiB, bandwidth: 1 TB/s}, {kind: register_file, name: rf},"
                      "{kind: buffer, name: i, capacity: 1 KiB, bandwidth: 1 GB/s, keeps: [instructions]}]}"));
        QVERIFY(bare);
        QCOMPARE(names(*bare), QStringList({"b"}));
    }
    void aSharedDramOutsideIsSaidToBeShared() {
        const auto view = deviceView(
            inlineDesign("{kind: node, name: n, children: [{kind: dram, name: ddr, capacity: 8 GB, bandwidth: 50 GB/s},"
                         "{kind: die, name: d, count: 2, clock: 1 GHz, children: [{kind: core, children: "
                         "[{kind: vector_unit, flops: {fp32: 2/cycle}}]}]}]}"));
        QVERIFY(view);
        QCOMPARE(names(*view), QStringList({"ddr"}));
        QVERIFY(std::any_of(view->assumptions.begin(), view->assumptions.end(),
                            [](const std::string& a) { return a.find("shared by 2") != std::string::npos; }));
    }
    void typesRunOnTheNextWiderUnit_data() {
        QTest::addColumn<QString>("device");
        QTest::addColumn<bool>("matrix");
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("runsAs");
        QTest::addColumn<bool>("onTensor");
        const auto row = [](const char* device, bool matrix, DType type, DType as, bool tensor) {
            QTest::addRow("%s %s %s", device, matrix ? "matrix" : "vector", std::string(toText(type)).c_str())
                << device << matrix << static_cast<int>(type) << static_cast<int>(as) << tensor;
        };
        row("h100-sxm", true, DType::BF16, DType::BF16, true);
        row("h100-sxm", false, DType::BF16, DType::BF16, false);
        row("h100-sxm", true, DType::F32, DType::F32, false);  // never as tf32 without being asked
        row("h100-sxm", true, DType::FP4, DType::FP8, true);
        row("h100-sxm", true, DType::I4, DType::I8, true);
        row("a100-80-sxm", true, DType::FP8, DType::F16, true);
        row("a100-80-sxm", true, DType::F64, DType::F64, true);
        row("a100-80-sxm", false, DType::FP8, DType::F16, false);
        row("v100", true, DType::BF16, DType::F32, false);
        row("v100", true, DType::I8, DType::I8, false);
        row("v100", false, DType::Bool, DType::I8, false);
        row("t4", true, DType::I4, DType::I4, true);
        row("b200-sxm", true, DType::FP4, DType::FP4, true);
        row("tpu-v4", true, DType::F32, DType::BF16, true);  // the default precision of XLA
        row("tpu-v3", true, DType::I8, DType::BF16, true);
    }
    void typesRunOnTheNextWiderUnit() {
        QFETCH(QString, device);
        QFETCH(bool, matrix);
        QFETCH(int, type);
        QFETCH(int, runsAs);
        QFETCH(bool, onTensor);
        const auto view = deviceView(load(device.toStdString().c_str()));
        QVERIFY(view);
        const double expected = view->peaks[onTensor ? 1 : 0][static_cast<std::size_t>(runsAs)].value;
        QVERIFY(expected > 0);
        QCOMPARE(view->peak(matrix, static_cast<DType>(type)).value, expected);
    }
    void textHasNoPeakAndLongIntegersHalfOfShortOnes() {
        const auto view = deviceView(load("h100-sxm"));
        QVERIFY(view);
        QCOMPARE(view->peak(true, DType::String).value, 0.0);
        QCOMPARE(view->peak(false, DType::I64).value, view->peak(false, DType::I32).value / 2);
    }
    void whatIsMissingIsNamed_data() {
        QTest::addColumn<QString>("children");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("place");
        const QString vector = "{kind: vector_unit, name: v, flops: {fp32: 2/cycle}}";
        const QString dram = "{kind: dram, name: m, capacity: 8 GB, bandwidth: 50 GB/s}";
        QTest::newRow("nothing") << ""
                                 << "hardware.no-device"
                                 << "system";
        QTest::newRow("only memory") << dram << "hardware.no-device"
                                     << "system";
        QTest::newRow("no memory") << "{kind: die, name: d, clock: 1 GHz, children: [" + vector + "]}"
                                   << "hardware.missing-component"
                                   << "system/d";
        QTest::newRow("no rate") << "{kind: die, name: d, clock: 1 GHz, children: [{kind: core, name: c}," + dram + "]}"
                                 << "hardware.missing-attribute"
                                 << "system/d";
        QTest::newRow("no clock") << "{kind: die, name: d, children: [" + vector + "," + dram + "]}"
                                  << "hardware.no-clock"
                                  << "system/d/v.flops";
        QTest::newRow("no bandwidth") << "{kind: die, name: d, clock: 1 GHz, children: [" + vector +
                                             ",{kind: dram, name: m, capacity: 8 GB}]}"
                                      << "hardware.missing-attribute"
                                      << "system/d/m.bandwidth";
        QTest::newRow("a MAC of no type")
            << "{kind: die, name: d, clock: 1 GHz, children: [{kind: mac, name: x}," + dram + "]}"
            << "hardware.missing-attribute"
            << "system/d/x.macs";
    }
    void whatIsMissingIsNamed() {
        QFETCH(QString, children);
        QFETCH(QString, code);
        QFETCH(QString, place);
        const auto view = deviceView(inlineDesign(children.toStdString()));
        QVERIFY(!view);
        const std::string text = toText(view.error());
        QVERIFY2(q(view.error().code) == code, text.c_str());
        QVERIFY2(q(view.error().place.path) == place, text.c_str());
        QVERIFY2(!view.error().hint.empty() && !view.error().expected.empty(), text.c_str());
    }
    /// What-if edits reach the view: the chain that the studio runs on every change.
    void anEditChangesTheView() {
        const Hardware before = load("h100-sxm");
        const auto edited = withAttribute(before, "hbm3.bandwidth", "6.7 TB/s");
        QVERIFY(edited);
        QCOMPARE(deviceView(*edited)->main().bandwidth.value, 2 * deviceView(before)->main().bandwidth.value);
        const auto half = withAttribute(before, "sm.count", "66");
        QVERIFY(half);
        QCOMPARE(deviceView(*half)->peak(true, DType::BF16).value,
                 deviceView(before)->peak(true, DType::BF16).value / 2);
    }
};

QTEST_GUILESS_MAIN(TestHardwareView)
#include "tst_hardware_view.moc"
