#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/network/joining.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/gpu_view.h"
#include "hardware/views/npu_view.h"
#include "hardware/views/spatial_array_view.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

HardwarePtr preset(const char* id) {
    auto loaded = loadHardware(id);
    return loaded ? std::make_shared<const Hardware>(std::move(loaded->hardware)) : nullptr;
}
HardwarePtr design(const std::string& children) {
    auto loaded = readHardware("orrery: hardware/1\nsystem: {children: [" + children + "]}\n");
    return loaded ? std::make_shared<const Hardware>(std::move(loaded->hardware)) : nullptr;
}
std::string gpu(const std::string& name, const std::string& bandwidth, const std::string& more = {}) {
    return "{kind: die, name: " + name + ", platform: gpu, clock: 1 GHz, " + more +
           "children: [{kind: dram, name: hbm, capacity: 80 GiB, bandwidth: " + bandwidth +
           "}, {kind: core, name: sm, count: 10, children: [{kind: tensor_unit, name: t, macs: {bf16: 512/cycle}}]}]}";
}
QString q(const std::string& text) {
    return QString::fromStdString(text);
}

}  // namespace

class TestDeviceRef : public QObject {
    Q_OBJECT
private slots:
    void everyDeviceOfADesignIsListedOnceWithItsCopies() {
        const auto node = design("{kind: node, name: node, count: 3, children: [" + gpu("a", "1 TB/s") + "," +
                                 gpu("b", "2 TB/s", "count: 4, ") + "]}");
        const auto devices = devicesOf(node);
        QVERIFY(devices);
        QCOMPARE(devices->size(), 2u);
        QCOMPARE(q(pathText(devices->at(0))), QString("system/node/a"));
        QCOMPARE(copiesOf(devices->at(0)), 3);
        QCOMPARE(q(pathText(devices->at(1))), QString("system/node/b"));
        QCOMPARE(copiesOf(devices->at(1)), 12);
        QVERIFY(*firstDevice(node) == devices->front());
        QVERIFY(!(devices->at(0) == devices->at(1)));
    }
    void aViewIsOfTheDeviceThatIsAskedFor() {
        const auto node = design("{kind: node, name: node, children: [" + gpu("a", "1 TB/s") + "," +
                                 gpu("b", "2 TB/s", "count: 4, ") + "]}");
        const DeviceRef second{node, {0, 1}};
        const auto view = deviceView(second);
        QVERIFY(view);
        QCOMPARE(q(view->path), QString("system/node/b"));
        QCOMPARE(view->place, second.path);
        QCOMPARE(view->copies, 4);
        QCOMPARE(view->main().bandwidth.value, 2e12);
        QCOMPARE(gpuView(second)->dramBandwidth, 2e12);
        QCOMPARE(gpuView(*node)->dramBandwidth, 1e12);  // of the design: the first
    }
    void aDieOfAPackageCanBeAskedAboutAlone() {
        const auto whole = preset("mi250x");
        const auto devices = devicesOf(whole);
        QCOMPARE(devices->size(), 1u);
        const Component& package = *devices->front().component();
        for (int i = 0; i < static_cast<int>(package.children.size()); ++i) {
            if (package.children[static_cast<std::size_t>(i)].kind != ComponentKind::Die) continue;
            ComponentPath path = devices->front().path;
            path.push_back(i);
            const auto half = gpuView(DeviceRef{whole, path});
            const auto both = gpuView(devices->front());
            QVERIFY2(half, half ? "" : half.error().message.c_str());
            QCOMPARE(half->device.copies, 2);
            QCOMPARE(2 * half->sms, both->sms);
            QCOMPARE(2 * half->peak(true, DType::F16), both->peak(true, DType::F16));
        }
    }
    void anyPartLeadsToItsDevice() {
        const auto dgx = preset("dgx-h100");
        const auto devices = devicesOf(dgx);
        const auto sm = findComponent(dgx->root, "sm");
        QVERIFY(sm);
        const auto found = deviceAt(dgx, *sm);
        QVERIFY(found);
        QCOMPARE(q(pathText(*found)), QString("system/dgx/h100"));
        QVERIFY(*deviceAt(dgx, {}) == devices->front());
        const auto apart = design(gpu("a", "1 TB/s") + ", {kind: node, name: empty}");
        QCOMPARE(q(deviceAt(apart, {1}).error().code), QString("hardware.no-device"));
        QCOMPARE(q(deviceAt(apart, {7}).error().code), QString("hardware.no-device"));
    }
    void aDesignWithoutChipsIsItsOutermostComputingParts() {
        const auto bare = design(
            "{kind: dram, name: d, capacity: 1 GiB, bandwidth: 1 GB/s}, {kind: cluster, name: c, clock: 1 GHz, "
            "children: [{kind: array, name: pe, mesh: [2, 2], dataflow: weight-stationary, children: [{kind: mac, "
            "name: m, width: 8 bit}]}]}");
        const auto devices = devicesOf(bare);
        QCOMPARE(devices->size(), 1u);
        QCOMPARE(q(pathText(devices->front())), QString("system/c"));
        QCOMPARE(q(pathText(*firstArrayDevice(bare))), QString("system/c/pe"));
        QCOMPARE(spatialArrayView(devices->front())->elements(), 4);
    }
    void nothingToAskIsADiagnostic() {
        QCOMPARE(q(devicesOf(nullptr).error().code), QString("hardware.no-device"));
        QCOMPARE(q(devicesOf(std::make_shared<const Hardware>()).error().code), QString("hardware.no-device"));
        const auto one = design(gpu("a", "1 TB/s"));
        const DeviceRef nowhere{one, {3, 1}};
        QCOMPARE(copiesOf(nowhere), 0);
        QVERIFY(pathText(nowhere).empty());
        QCOMPARE(q(deviceView(nowhere).error().code), QString("hardware.no-device"));
        QCOMPARE(q(gpuView(nowhere).error().code), QString("hardware.no-device"));
        QCOMPARE(q(npuView(nowhere).error().code), QString("hardware.no-device"));
        QCOMPARE(q(spatialArrayView(nowhere).error().code), QString("hardware.no-device"));
        QCOMPARE(q(spatialArrayView(DeviceRef{one, {0}}).error().code), QString("hardware.no-array"));
    }
    void whatJoinsTwoPlacesStandsAboveBoth() {
        const auto pods = design(
            "{kind: topology, name: outer}, {kind: switch, name: s}, {kind: node, name: n0, children: [{kind: "
            "topology, name: inner}, {kind: die, name: a}, {kind: die, name: b}]}, {kind: node, name: n1, children: "
            "[{kind: die, name: c}]}");
        const Component& root = pods->root;
        const auto near = joining(root, {2, 1}, {2, 2}, ComponentKind::Topology);
        QCOMPARE(near, (std::vector<ComponentPath>{{0}, {2, 0}}));
        QCOMPARE(joining(root, {2, 1}, {3, 0}, ComponentKind::Topology), (std::vector<ComponentPath>{{0}}));
        QCOMPARE(*nearestJoining(root, {2, 1}, {2, 2}, ComponentKind::Topology), (ComponentPath{2, 0}));
        QCOMPARE(*nearestJoining(root, {2, 1}, {2, 2}, ComponentKind::Switch), (ComponentPath{1}));
        QVERIFY(!nearestJoining(root, {2, 1}, {2, 2}, ComponentKind::Link));
    }
};

QTEST_GUILESS_MAIN(TestDeviceRef)
#include "tst_device_ref.moc"
