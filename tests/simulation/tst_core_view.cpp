#include "hardware/files/catalogue.h"
#include "hardware/views/core_view.h"
#include "simulation/cpu/core/view_machine.h"
#include "simulation/cpu/cores/cores.h"
#include "simulation/cpu/cores/view_chip.h"

#include <QtTest/QtTest>

using namespace orrery;

class TestCoreView : public QObject {
    Q_OBJECT

private slots:
    // What is drawn is what runs.
    void readsADrawnCore() {
        const auto xeon = loadHardware("xeon-8480");
        QVERIFY(xeon.has_value());
        const auto view = coreView(xeon->hardware);
        QVERIFY2(view.has_value(), view ? "" : toText(view.error()).c_str());
        QCOMPARE(view->microarchitecture, std::string("sapphire-rapids"));
        QCOMPARE(view->cores, std::int64_t{56});
        QCOMPARE(view->clock.value, 2e9);
        QCOMPARE(view->caches.size(), std::size_t{3});
        QCOMPARE(view->caches[0].capacity.value, 48.0 * 1024);
        QCOMPARE(view->caches[1].capacity.value, 2048.0 * 1024);
        QCOMPARE(view->caches[2].capacity.value, 105e6);
        QCOMPARE(view->caches[2].sharedBy, 56.0);
        const auto machine = pipeline::machineOf(*view);
        QVERIFY2(machine.has_value(), machine ? "" : toText(machine.error()).c_str());
        QCOMPARE(machine->clock, 2e9);
        QCOMPARE(machine->caches[0].latency, 5);
        QCOMPARE(machine->caches[1].latency, 14);
        QCOMPARE(machine->reorderBuffer, 512);
        QVERIFY(machine->has("amx"));
    }
    void sharesOfClustersArePerCluster() {
        const auto epyc = loadHardware("epyc-9654");
        QVERIFY(epyc.has_value());
        const auto view = coreView(epyc->hardware);
        QVERIFY(view.has_value());
        QCOMPARE(view->cores, std::int64_t{96});
        QCOMPARE(view->caches.back().sharedBy, 8.0);
        QCOMPARE(view->caches.back().capacity.value, 32.0 * 1024 * 1024);
    }
    // Unlike cores: each with its own caches and clock, and with what all share.
    void eachSortOfCoresHasItsOwn() {
        const auto mobile = loadHardware("core-i7-12700h");
        QVERIFY(mobile.has_value());
        const auto views = coreViews(*firstDevice(borrowed(mobile->hardware)));
        QVERIFY2(views.has_value(), views ? "" : toText(views.error()).c_str());
        QCOMPARE(views->size(), std::size_t{2});
        const CoreView &efficient = views->front(), &fast = views->back();
        QCOMPARE(efficient.core, std::string("efficiency"));
        QCOMPARE(efficient.clock.value, 1.7e9);
        QCOMPARE(fast.clock.value, 2.3e9);
        QCOMPARE(efficient.alike, std::int64_t{8});
        QCOMPARE(fast.alike, std::int64_t{6});
        for (const CoreView& view : *views) {
            QCOMPARE(view.cores, std::int64_t{14});
            QCOMPARE(view.caches.size(), std::size_t{3});
            QCOMPARE(view.caches[1].sharedBy, 1.0);
            QCOMPARE(view.caches[2].sharedBy, 14.0);
            QCOMPARE(view.caches[2].capacity.value, 24e6);
        }
        QCOMPARE(efficient.caches[0].capacity.value, 32.0 * 1024);
        QCOMPARE(efficient.caches[1].capacity.value, 512.0 * 1024);
        QCOMPARE(fast.caches[1].capacity.value, 1280.0 * 1024);
        const auto machine = pipeline::machineOf(fast);
        QVERIFY2(machine.has_value(), machine ? "" : toText(machine.error()).c_str());
        QCOMPARE(machine->caches[0].latency, 5);
        QCOMPARE(pipeline::machineOf(efficient)->caches[0].latency, 3);
    }
    // A cache of a cluster belongs to the cores of that cluster alone.
    void clustersOfUnlikeCores() {
        const auto m1 = loadHardware("apple-m1-cpu");
        QVERIFY(m1.has_value());
        const auto views = coreViews(*firstDevice(borrowed(m1->hardware)));
        QVERIFY2(views.has_value(), views ? "" : toText(views.error()).c_str());
        QCOMPARE(views->size(), std::size_t{2});
        for (const CoreView& view : *views) {
            const bool fast = view.core == "firestorm";
            QCOMPARE(view.alike, std::int64_t{4});
            QCOMPARE(view.cores, std::int64_t{8});
            QCOMPARE(view.caches.size(), std::size_t{3});
            QCOMPARE(view.caches[0].capacity.value, (fast ? 128 : 64) * 1024.0);
            QCOMPARE(view.caches[1].capacity.value, fast ? 12e6 : 4e6);
            QCOMPARE(view.caches[1].sharedBy, 4.0);
            QCOMPARE(view.caches[2].capacity.value, 8e6);
            QCOMPARE(view.caches[2].sharedBy, 8.0);
        }
    }
    // Cores around each cache and each memory, as drawn.
    void chipsOfDrawnProcessors() {
        const auto chipOf = [](const char* id) {
            const auto design = loadHardware(id);
            if (!design) qFatal("%s", id);
            const auto view = coreView(design->hardware);
            if (!view) qFatal("%s", toText(view.error()).c_str());
            const auto chip = pipeline::chipOf(*view);
            if (!chip) qFatal("%s", toText(chip.error()).c_str());
            return *chip;
        };
        const pipeline::Chip xeon = chipOf("xeon-8480"), epyc = chipOf("epyc-9654");
        QCOMPARE(xeon.sharedBy, (std::vector<int>{1, 1, 56}));
        QCOMPARE(xeon.nodes, 1);
        QCOMPARE(xeon.nodeBandwidth, 307.2e9);
        QCOMPARE(epyc.sharedBy, (std::vector<int>{1, 1, 8}));
        QCOMPARE(epyc.cores, 96);
        // Of unlike cores one sort runs: four of the eight around the last cache.
        const pipeline::Chip m1 = chipOf("apple-m1-cpu");
        QCOMPARE(m1.cores, 4);
        QCOMPARE(m1.sharedBy, (std::vector<int>{1, 4, 4}));
        // Two sockets: each memory is that of its own socket, and the four links carry one way what they state
        // together.
        const pipeline::Chip two = chipOf("epyc-9654-x2");
        QCOMPARE(two.cores, 192);
        QCOMPARE(two.nodes, 2);
        QCOMPARE(two.sharedBy, (std::vector<int>{1, 1, 8}));
        QCOMPARE(two.nodeBandwidth, 460.8e9);
        QVERIFY(std::abs(two.linkBandwidth - 4 * 64e9) < 1e-3);
        QVERIFY(std::abs(two.linkLatency - 50e-9) < 1e-15);
        QCOMPARE(two.core.memoryLatency, 105e-9);
        QCOMPARE(two.nodeOf(95), 0);
        QCOMPARE(two.nodeOf(96), 1);
    }
    // Sockets that nothing joins, or that differ, are refused by name.
    // Local pages use no link, however slow: a core finds what it finds in one socket alone, to the last cycle.
    void localPagesKnowNoLink() {
        const auto two = loadHardware("epyc-9654-x2"), one = loadHardware("epyc-9654");
        QVERIFY(two && one);
        const auto slow = withAttribute(two->hardware, "xgmi.bandwidth", "2 MB/s");
        QVERIFY(slow);
        const auto chipFrom = [](const Hardware& hardware) {
            const auto view = coreView(hardware);
            if (!view) qFatal("%s", toText(view.error()).c_str());
            auto chip = pipeline::chipOf(*view, pipeline::Pages::Local);
            if (!chip) qFatal("%s", toText(chip.error()).c_str());
            return *chip;
        };
        const auto slowly = chipFrom(*slow), fast = chipFrom(two->hardware);
        auto alone = chipFrom(one->hardware);
        alone.core.memoryLatency = slowly.core.memoryLatency;  // drawn in one of both designs alone
        QCOMPARE(slowly.core.memoryBandwidth, fast.core.memoryBandwidth);
        QCOMPARE(slowly.core.memoryBandwidth, alone.core.memoryBandwidth);
        const auto kernel = pipeline::readKernel("add n=60000 avx2");
        QVERIFY(kernel);
        const auto cyclesOn = [&](const pipeline::Chip& chip) {
            const auto run = pipeline::runSplit(*kernel, chip, 4, pipeline::Binding::Close);
            if (!run) qFatal("%s", toText(run.error()).c_str());
            return run->cycles();
        };
        QCOMPARE(cyclesOn(slowly), cyclesOn(fast));
        QCOMPARE(cyclesOn(slowly), cyclesOn(alone));
    }
    // Three sockets: links between each two of them tell what a way gives; a chain, or unlike links, do not.
    void threeSockets() {
        const auto two = loadHardware("epyc-9654-x2");
        QVERIFY(two);
        const auto set = [](Component& component, const char* name, const Attribute::Value& value) {
            for (Attribute& each : component.attributes)
                if (each.name == name) each.value = value;
        };
        const auto drawnWith = [&](int links, double latency) {
            Hardware three = two->hardware;
            auto& inside = three.root.children.front().children;  // two sockets and their link
            const Component link = inside.back();
            inside.pop_back();
            inside.push_back(inside.back());
            inside.back().name = "socket2";
            for (int i = 0; i < links; ++i) {
                Component& each = inside.emplace_back(link);
                each.name = "xgmi" + std::to_string(i);
                set(each, "from", "socket" + std::to_string(i));
                set(each, "to", "socket" + std::to_string((i + 1) % 3));
                if (i == 0) {
                    auto time = std::get<Measure>(link.find("latency")->value);
                    time.si = latency;
                    set(each, "latency", time);
                }
            }
            return three;
        };
        const auto whole = coreView(drawnWith(3, 50e-9));
        QVERIFY2(whole, whole ? "" : toText(whole.error()).c_str());
        QCOMPARE(whole->memories.nodes, std::int64_t{3});
        QVERIFY(std::abs(whole->memories.linkBandwidth.value / 256e9 - 1) < 1e-9);
        QVERIFY(std::abs(whole->memories.linkLatency.value / 50e-9 - 1) < 1e-9);
        QVERIFY(pipeline::chipOf(*whole, pipeline::Pages::Remote));
        for (const auto& [links, latency] : {std::pair{2, 50e-9}, {3, 90e-9}}) {
            const auto other = coreView(drawnWith(links, latency));
            QVERIFY(other);
            const auto chip = pipeline::chipOf(*other, pipeline::Pages::Remote);
            QVERIFY(!chip && chip.error().code == "cores.unlike-nodes");
        }
    }
    void whatIsNotDrawnBetweenSockets() {
        auto two = loadHardware("epyc-9654-x2");
        QVERIFY(two.has_value());
        auto& server = two->hardware.root.children.front();
        QCOMPARE(server.children.back().kind, ComponentKind::Link);
        auto apart = two->hardware;
        apart.root.children.front().children.pop_back();
        const auto lone = coreView(apart);
        QVERIFY2(lone.has_value(), lone ? "" : toText(lone.error()).c_str());
        QCOMPARE(lone->memories.nodes, std::int64_t{2});
        const auto refused = pipeline::chipOf(*lone);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, std::string("cores.no-link"));
        QVERIFY(refused.error().message.find("socket0") != std::string::npos && !refused.error().hint.empty());
        const auto uneven = withAttribute(two->hardware, "socket1/ccd.count", "6");
        QVERIFY2(uneven.has_value(), uneven ? "" : toText(uneven.error()).c_str());
        const auto view = coreView(*uneven);
        if (view) {
            const auto unlike = pipeline::chipOf(*view);
            QVERIFY(!unlike);
            QCOMPARE(unlike.error().code, std::string("cores.unlike-nodes"));
        }
    }
    void refusesWhatIsNoCpuOrUnknown() {
        const auto gpu = loadHardware("h100-sxm");
        QVERIFY(gpu.has_value());
        const auto view = coreView(gpu->hardware);
        QVERIFY(!view && view.error().code == "method.not-applicable");
        CoreView unnamed;
        unnamed.name = "core";
        unnamed.clock = Hertz(1e9);
        unnamed.core = "efficiency";
        const auto refused = pipeline::machineOf(unnamed);
        QCOMPARE(refused.error().code, std::string("core.unknown"));
        QVERIFY(refused.error().message.find("efficiency") != std::string::npos);
        unnamed.microarchitecture = "zen4";
        unnamed.caches = {{.name = "tiny", .capacity = Bytes(10)}};
        QCOMPARE(pipeline::machineOf(unnamed).error().code, std::string("core.machine"));
    }
};

QTEST_GUILESS_MAIN(TestCoreView)
#include "tst_core_view.moc"
