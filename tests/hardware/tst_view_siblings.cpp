// Drawn as copies or written out, in this order or another: a view must not see the difference. And what is drawn
// between the parts of one device must count.

#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/views/gpu_view.h"
#include "hardware/views/npu_view.h"
#include "hardware/views/spatial_array_view.h"

#include <QtTest/QtTest>

#include <cmath>
#include <functional>
#include <random>

using namespace orrery;

namespace {

Hardware design(const std::string& children) {
    auto loaded = readHardware("orrery: hardware/1\nsystem: {children: [" + children + "]}\n");
    return loaded ? loaded->hardware : Hardware();
}
std::string die(const std::string& name, const std::string& more = {}, const std::string& core = "count: 60") {
    return "{kind: die, name: " + name + ", " + more +
           " children: [{kind: dram, name: hbm, capacity: 40 GiB, bandwidth: 1 TB/s, timing: HBM3}, {kind: cache, "
           "name: l2, capacity: 20 MiB, bandwidth: 2048 B/cycle, latency: 200 cycles}, {kind: core, name: sm, " +
           core +
           ", warps: 64, children: [{kind: buffer, name: smem, capacity: 128 KiB, bandwidth: 128 B/cycle}, {kind: "
           "register_file, name: regs, capacity: 256 KiB}, {kind: tensor_unit, name: t, count: 4, macs: {bf16: "
           "512/cycle}}, {kind: vector_unit, name: v, count: 4, lanes: 32, flops: {fp32: 2/cycle}}]}]}";
}
Hardware package(const std::string& parts) {
    return design("{kind: package, name: gpu, platform: gpu, clock: 1 GHz, children: [" + parts + "]}");
}
QString q(const std::string& text) {
    return QString::fromStdString(text);
}

// All numbers of a view, without names and places.
using Numbers = std::vector<double>;
Numbers numbersOf(const Expected<DeviceView>& view) {
    if (!view) return {};
    Numbers all{view->clock.value,      double(view->cores),        view->powerCap.value, view->idlePower.value,
                view->flopEnergy.value, view->launchOverhead.value, double(view->copies), double(view->levels.size())};
    for (const auto& unit : view->peaks) {
        for (const FlopsPerSecond peak : unit) all.push_back(peak.value);
    }
    for (const MemoryLevel& level : view->levels) {
        for (const double each : {double(level.kind), level.capacity.value, level.bandwidth.value, level.latency.value,
                                  level.energy.value, double(level.instances)}) {
            all.push_back(each);
        }
    }
    return all;
}
Numbers numbersOf(const Expected<GpuView>& view) {
    if (!view) return {};
    Numbers all = numbersOf(view->device);
    for (const double each :
         {view->sms, view->subCores, view->warpsPerSm, view->warpSize, view->tensorUnits, view->vectorLanes,
          view->registerBytes, view->sharedBytes, view->sharedBandwidth, view->l2Bytes, view->l2Slices,
          view->l2Bandwidth, view->dramBytes, view->dramBandwidth, view->linkBandwidth, view->sustained}) {
        all.push_back(each);
    }
    return all;
}
Numbers numbersOf(const Expected<NpuView>& view) {
    if (!view) return {};
    return {view->clock.value,     double(view->cores),       double(view->arrays),     double(view->rows),
            double(view->columns), double(view->dataflow),    view->scratchpad.value,   view->accumulator.value,
            view->vectorOps,       double(view->channels),    view->bandwidth.value,    view->latency.value,
            view->word.value,      double(view->layoutLanes), view->portBandwidth.value};
}
Numbers numbersOf(const Expected<SpatialArrayView>& view) {
    if (!view) return {};
    Numbers all{view->clock.value,    double(view->columns),        double(view->rows),
                double(view->arrays), double(view->macsPerElement), double(view->macBits),
                view->macEnergy.value};
    for (const ArrayLevel& level : view->levels) {
        for (const double each : {double(level.instances), level.capacity.value, level.bandwidth.value,
                                  double(level.keeps), level.energy.value, double(level.wordBits)}) {
            all.push_back(each);
        }
    }
    return all;
}
Numbers everyView(const Hardware& hardware) {
    Numbers all = numbersOf(deviceView(hardware));
    for (const Numbers& more :
         {numbersOf(gpuView(hardware)), numbersOf(npuView(hardware)), numbersOf(spatialArrayView(hardware))}) {
        all.push_back(double(more.size()));
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}
// Empty if they are equal up to rounding, else where they are not.
QByteArray difference(const Numbers& a, const Numbers& b) {
    if (a.size() != b.size())
        return QByteArray("sizes ") + QByteArray::number(int(a.size())) + " and " + QByteArray::number(int(b.size()));
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::abs(a[i] - b[i]) > 1e-12 * std::abs(a[i])) {
            return QByteArray("number ") + QByteArray::number(int(i)) + ": " + QByteArray::number(a[i]) + " and " +
                   QByteArray::number(b[i]);
        }
    }
    return {};
}
bool same(const Numbers& a, const Numbers& b) {
    return difference(a, b).isEmpty();
}

// Random designs of nested parts, whose siblings of one kind differ now and then.
class Maker {
public:
    explicit Maker(unsigned seed) : random_(seed) {}
    int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

    Hardware make() {
        Hardware hardware;
        Component package = part(ComponentKind::Package, "p");
        set(package, "clock", "1 GHz");
        set(package, "platform", below(3) ? "gpu" : "npu");
        const bool inside = below(4) > 0;
        memory(inside ? package : hardware.root, ComponentKind::Dram, "hbm", "16 GiB", "400 GB/s");
        if (below(3) == 0) memory(package, ComponentKind::Cache, "llc", "64 MiB", "4 TB/s");
        for (int i = 0, n = 1 + below(2); i < n; ++i) {
            Component die = part(ComponentKind::Die, "d" + std::to_string(i));
            if (below(3) == 0) memory(die, ComponentKind::Dram, "stack", i ? "8 GiB" : "16 GiB", "200 GB/s");
            if (below(3)) memory(die, ComponentKind::Cache, "l2", i && below(2) ? "8 MiB" : "4 MiB", "2 TB/s");
            const int cores = 1 + below(2);
            for (int k = 0; k < cores; ++k) die.children.push_back(core(k));
            package.children.push_back(std::move(die));
        }
        hardware.root.children.push_back(std::move(package));
        return hardware;
    }
    // One component with copies becomes that many, in random places among its siblings.
    bool writeOut(Hardware& hardware) {
        std::vector<ComponentPath> places;
        const std::function<void(const Component&, ComponentPath)> walk = [&](const Component& at, ComponentPath path) {
            for (std::size_t i = 0; i < at.children.size(); ++i) {
                path.push_back(static_cast<int>(i));
                if (at.children[i].count > 1 && at.children[i].count < 9) places.push_back(path);
                walk(at.children[i], path);
                path.pop_back();
            }
        };
        walk(hardware.root, {});
        if (places.empty()) return false;
        ComponentPath path = places[static_cast<std::size_t>(below(static_cast<int>(places.size())))];
        const int index = path.back();
        path.pop_back();
        auto& siblings = componentAt(hardware.root, path)->children;
        const Component old = siblings[static_cast<std::size_t>(index)];
        siblings.erase(siblings.begin() + index);
        for (std::int64_t copies = old.count; copies > 0;) {
            Component one = old;
            one.count = 1 + below(static_cast<int>(copies));
            one.name += std::to_string(copies);
            copies -= one.count;
            siblings.insert(siblings.begin() + below(static_cast<int>(siblings.size()) + 1), std::move(one));
        }
        return true;
    }
    void shuffle(Component& component) {
        std::shuffle(component.children.begin(), component.children.end(), random_);
        for (Component& child : component.children) shuffle(child);
    }

private:
    static void set(Component& component, std::string_view attribute, std::string_view value) {
        QVERIFY2(setAttribute(component, attribute, value), std::string(value).c_str());
    }
    Component part(ComponentKind kind, std::string name) {
        Component made{kind, std::move(name)};
        made.count = kind == ComponentKind::Package ? 1 : 1 + below(4);
        return made;
    }
    void memory(Component& parent, ComponentKind kind, std::string name, const char* capacity, const char* bandwidth) {
        Component made = part(kind, std::move(name));
        set(made, "capacity", capacity);
        set(made, "bandwidth", bandwidth);
        if (below(2)) set(made, "energy", "1 pJ/B");
        parent.children.push_back(std::move(made));
    }
    Component core(int number) {
        Component made = part(ComponentKind::Core, "c" + std::to_string(number));
        memory(made, ComponentKind::Buffer, "smem", number ? "64 KiB" : "128 KiB", "128 GB/s");
        if (below(2)) memory(made, ComponentKind::Cache, "l1", "32 KiB", "64 GB/s");
        Component vector = part(ComponentKind::VectorUnit, "v");
        set(vector, "lanes", "16");
        set(vector, "flops", "fp32: 2/cycle");
        Component tensor = part(ComponentKind::TensorUnit, "t");
        set(tensor, "macs", number ? "bf16: 256/cycle" : "bf16: 1024/cycle");
        if (below(2)) set(tensor, "dataflow", "weight-stationary");
        made.children.push_back(std::move(vector));
        made.children.push_back(std::move(tensor));
        return made;
    }
    std::mt19937 random_;
};

}  // namespace

class TestViewSiblings : public QObject {
    Q_OBJECT
private slots:
    void twoChipletsSideBySideAreOneTwice() {
        const auto twice = everyView(package(die("d", "count: 2,")));
        const Hardware both = package(die("left") + "," + die("right"));
        QVERIFY(twice.size() > 40);
        QVERIFY(same(everyView(both), twice));
        QCOMPARE(deviceView(both)->main().bandwidth.value, 2e12);
        QCOMPARE(deviceView(both)->levels.size(), 4u);
        QCOMPARE(gpuView(both)->sms, 120.0);
    }
    void chipletsThatDifferStandBesideEachOtherToo() {
        // The second has fewer cores and so a part of its own everywhere; its memories add to the same levels.
        const auto view = deviceView(package(die("left") + "," + die("right", "", "count: 40")));
        QVERIFY(view);
        QCOMPARE(view->cores, 100);
        QCOMPARE(view->levels.size(), 4u);
        QCOMPARE(view->main().bandwidth.value, 2e12);
        QCOMPARE(view->main().capacity.value, 80 * 1073741824.0);
        QCOMPARE(view->levels[1].capacity.value, 40 * 1048576.0);
        QCOMPARE(view->levels[1].latency.value, 200e-9);
        QCOMPARE(view->levels[2].instances, 100);
        QCOMPARE(view->levels[2].bandwidth.value, 100 * 128e9);
        const auto other = deviceView(package(die("right", "", "count: 40") + "," + die("left")));
        QVERIFY(same(numbersOf(view), numbersOf(other)));
    }
    void stacksOfMemorySideBySideAdd() {
        const std::string core =
            "{kind: core, name: c, children: [{kind: tensor_unit, name: t, macs: {bf16: 1/cycle}}]}";
        const std::string hbm = "capacity: 16 GiB, bandwidth: 400 GB/s, timing: HBM2, energy: 4 pJ/B}";
        const auto two =
            deviceView(package("{kind: dram, name: a, " + hbm + ", {kind: dram, name: b, " + hbm + "," + core));
        QCOMPARE(two->levels.size(), 1u);
        QCOMPARE(two->main().bandwidth.value, 800e9);
        QCOMPARE(two->main().energy.value, 4e-12);
        // One of another size and rate is still memory of the same kind; energy goes by the bytes that each moves.
        const auto uneven = deviceView(package("{kind: dram, name: a, " + hbm +
                                               ", {kind: dram, name: b, capacity: 8 GiB, bandwidth: 1200 GB/s, timing: "
                                               "HBM2, energy: 8 pJ/B}," +
                                               core));
        QCOMPARE(uneven->levels.size(), 1u);
        QCOMPARE(uneven->main().bandwidth.value, 1600e9);
        QCOMPARE(uneven->main().capacity.value, 24 * 1073741824.0);
        QCOMPARE(uneven->main().energy.value, 7e-12);
        // A standard of its own is a tier of its own.
        const auto tiers = deviceView(package("{kind: dram, name: a, " + hbm +
                                              ", {kind: dram, name: far, capacity: 512 GiB, bandwidth: 100 GB/s, "
                                              "timing: DDR5}," +
                                              core));
        QCOMPARE(tiers->levels.size(), 2u);
        QCOMPARE(q(tiers->main().name), QString("far"));
    }
    void onlyNestingAndSizeMakeLevels() {
        // The caches of one core, of different sizes, are a hierarchy although they are drawn beside each other.
        const auto view = deviceView(package(
            "{kind: dram, name: d, capacity: 1 GiB, bandwidth: 1 GB/s}, {kind: core, name: c, count: 8, children: "
            "[{kind: cache, name: l1, capacity: 32 KiB, bandwidth: 64 B/cycle}, {kind: cache, name: l2, capacity: 1 "
            "MiB, bandwidth: 32 B/cycle}, {kind: vector_unit, name: v, flops: {fp32: 1/cycle}}]}"));
        QCOMPARE(view->levels.size(), 3u);
        QCOMPARE(q(view->levels[1].name), QString("l2"));
        QCOMPARE(q(view->levels[2].name), QString("l1"));
        QCOMPARE(view->levels[2].instances, 8);
    }
    void copiesWrittenOutChangeNoView() {
        int changed = 0;
        for (unsigned seed = 0; seed < 200; ++seed) {
            Maker maker(seed);
            Hardware hardware = maker.make();
            const Numbers before = everyView(hardware);
            QVERIFY2(before.size() > 30, qPrintable(QString::number(seed)));
            for (int step = 0; step < 3 && maker.writeOut(hardware); ++step) {
                ++changed;
                const QByteArray differs = difference(before, everyView(hardware));
                QVERIFY2(differs.isEmpty(), QByteArray::number(seed) + ", " + differs);
            }
        }
        QVERIFY(changed > 200);
    }
    void theOrderOfSiblingsChangesNoView() {
        for (unsigned seed = 0; seed < 200; ++seed) {
            Maker maker(seed);
            Hardware hardware = maker.make();
            const Numbers before = everyView(hardware);
            maker.shuffle(hardware.root);
            const QByteArray differs = difference(before, everyView(hardware));
            QVERIFY2(differs.isEmpty(), QByteArray::number(seed) + ", " + differs);
        }
    }

    void aLinkBetweenTheDiesBoundsWhatCrossesIt() {
        const auto linked = [](const std::string& rate, const std::string& more = {}) {
            return package(die("left") + "," + die("right") +
                           ", {kind: link, name: d2d, from: left, to: right, bandwidth: " + rate + more + "}");
        };
        const auto free = gpuView(package(die("left") + "," + die("right")));
        QVERIFY(!free->device.interconnect);
        // Half of the bytes cross, a quarter each way: 1 TB/s each way carries 4 TB/s of them, more than the 2 there
        // are.
        const auto fast = gpuView(linked("1 TB/s"));
        QVERIFY(fast->device.interconnect);
        QCOMPARE(fast->device.interconnect->crossing, 0.5);
        QCOMPARE(fast->device.interconnect->bandwidth.value, 4e12);
        QCOMPARE(q(fast->device.interconnect->path), QString("system/gpu/d2d"));
        QVERIFY(same(numbersOf(fast), numbersOf(free)));
        const auto slow = gpuView(linked("1 MB/s"));
        QCOMPARE(slow->dramBandwidth, 4e6);
        QCOMPARE(slow->device.main().bandwidth.value, 4e6);
        QCOMPARE(q(slow->device.main().name), QString("hbm over d2d"));
        QCOMPARE(gpuView(linked("1 MB/s", ", count: 3"))->dramBandwidth, 12e6);
        // Links that stay inside are no way to other devices; others still are.
        QCOMPARE(slow->linkBandwidth, 0.0);
        const auto outer = gpuView(package(die("left") + ", {kind: link, name: nv, count: 2, bandwidth: 50 GB/s}"));
        QCOMPARE(outer->linkBandwidth, 100e9);
        // Latency is there and back, over the half that crosses.
        const auto late = deviceView(package(die("left") + "," + die("right") +
                                             ", {kind: link, name: d2d, from: left, to: right, latency: 100 ns}"));
        QCOMPARE(late->interconnect->latency.value, 100e-9);
        QCOMPARE(late->interconnect->bandwidth.value, 0.0);
    }
    void memoryBehindALinkCrossesItWhole() {
        // All memory hangs on one die of two alike: half of the bytes go to the other, over one direction.
        const std::string bare =
            "{kind: die, name: right, children: [{kind: core, name: sm, count: 60, children: [{kind: tensor_unit, "
            "name: "
            "t, count: 4, macs: {bf16: 512/cycle}}]}]}";
        const std::string link = "{kind: link, name: d2d, from: left, to: right, bandwidth: 100 GB/s}";
        QCOMPARE(deviceView(package(die("left") + "," + bare + "," + link))->main().bandwidth.value, 200e9);
        // Dies of cores around one of memory: each link carries its die's third.
        const auto star = deviceView(package(
            "{kind: die, name: io, children: [{kind: dram, name: ddr, capacity: 1 GiB, bandwidth: 1 TB/s}]}, {kind: "
            "die, name: ccd, count: 3, children: [{kind: core, name: c, count: 8, children: [{kind: vector_unit, name: "
            "v, flops: {fp32: 16/cycle}}]}]}, {kind: link, name: gmi, from: io, to: ccd, bandwidth: 50 GB/s}"));
        QCOMPARE(star->interconnect->crossing, 1.0);
        QCOMPARE(star->main().bandwidth.value, 150e9);
    }
    void aNetworkAmongTheDiesBoundsToo() {
        const auto joined = [](const std::string& shape) {
            return deviceView(package(die("d", "count: 4,") + ", {kind: topology, name: net, " + shape + "}"));
        };
        // Each of 12 ordered pairs carries 1/16 on a link of its own.
        QCOMPARE(joined("shape: fully-connected, bandwidth: 10 GB/s")->main().bandwidth.value, 160e9);
        // Each die takes in 3/16 from the switch over its one link.
        QCOMPARE(joined("shape: switch, bandwidth: 10 GB/s")->main().bandwidth.value, 10e9 * 16 / 3);
        // In a ring of four each direction of each link carries 1/16 of neighbours and 2 · 1/2 · 1/16 of opposites.
        QCOMPARE(joined("shape: ring, bandwidth: 10 GB/s")->main().bandwidth.value, 80e9);
        QVERIFY(joined("shape: ring, bandwidth: 10 PB/s")->main().bandwidth.value == 4e12);
    }

    void whatWasReadIsNotedAndTheRestIsIgnored() {
        const Hardware both = package(die("left") + "," + die("right") +
                                      ", {kind: link, name: d2d, from: left, to: right, bandwidth: 1 TB/s, width: 64}");
        const auto view = gpuView(both);
        const PartsRead& used = view->device.used;
        QVERIFY(std::ranges::is_sorted(used.parts, {}, &PartRead::path));
        const auto at = [&](const char* names) { return findComponent(both.root, names).value_or(ComponentPath{9}); };
        for (const char* name : {"left/hbm", "right/hbm", "left/l2", "right/l2"}) {
            QVERIFY2(used.uses(at(name), "bandwidth"), name);
            QVERIFY2(used.uses(at(name), "capacity"), name);
        }
        QVERIFY(used.uses(at("gpu"), "clock"));
        QVERIFY(used.uses(at("d2d"), "bandwidth"));
        QVERIFY(used.uses(at("right/sm"), "warps"));
        QVERIFY(used.uses(at("right/sm/t"), "macs"));
        QVERIFY(used.find({}) && used.find(at("right")));
        const PartsIgnored ignored = ignoredParts(both, used);
        QVERIFY(ignored.components.empty());
        QCOMPARE(ignored.attributes.size(), 1u);
        QCOMPARE(ignored.attributes[0].path, at("d2d"));
        QCOMPARE(ignored.attributes[0].attributes, std::vector<std::string>{"width"});
        // A device view does not ask how many warps a core holds.
        const PartsIgnored plain = ignoredParts(both, deviceView(both)->used);
        QVERIFY(
            std::ranges::any_of(plain.attributes, [&](const PartRead& each) { return each.path == at("left/sm"); }));
    }
    void otherDevicesAreIgnored() {
        auto loaded = loadHardware("dgx-h100");
        QVERIFY(loaded);
        const auto view = deviceView(loaded->hardware);
        const PartsIgnored ignored = ignoredParts(loaded->hardware, view->used);
        QVERIFY(!ignored.components.empty());
        for (const ComponentPath& path : ignored.components) {
            QVERIFY(!view->used.find(path));
            QVERIFY(view->used.find(ComponentPath(path.begin(), path.end() - 1)));  // the outermost one
        }
        PartsRead twice = view->used;
        twice.add(view->used);
        QVERIFY(twice == view->used);
        twice.add(PartsRead{{{ignored.components.front(), {"bandwidth"}}}});
        QVERIFY(twice.uses(ignored.components.front(), "bandwidth"));
        QCOMPARE(twice.parts.size(), view->used.parts.size() + 1);
    }
};

QTEST_GUILESS_MAIN(TestViewSiblings)
#include "tst_view_siblings.moc"
