// What caches hold when a kernel begins: reuse distances of a pass by hand, the rule that makes them places, and what
// both core methods make of it.

#include "hardware/files/catalogue.h"
#include "hardware/views/core_view.h"
#include "methods/kernel_method.h"
#include "methods/model/compose.h"
#include "methods/model/kernel_bound.h"
#include "methods/model/reuse_distances.h"
#include "methods/reuse_pricer.h"
#include "simulation/cpu/core/kernel_start.h"
#include "simulation/cpu/core/kernels/kernel.h"
#include "simulation/cpu/core/pipeline.h"
#include "simulation/cpu/core/windows/reuse.h"
#include "simulation/cpu/core/windows/windows.h"
#include "simulation/cpu/cores/fork_join.h"
#include "workload/importers.h"
#include "workload/models/builder.h"

#include <QtTest/QtTest>

#include <array>
#include <cmath>

using namespace orrery;

namespace {

WorkloadOptions inFloats() {
    WorkloadOptions options;
    options.weights = options.activations = options.kv = DType::F32;
    return options;
}

std::vector<ReuseDistances> distancesOf(const WorkloadPtr& workload) {
    ModelOptions options;
    options.fusion = Fusion::Apart;
    return reuseDistances(*workload, launchesOf(*workload, options));
}

HardwarePtr drawn(const char* id, std::vector<std::pair<const char*, const char*>> changes = {}) {
    Hardware hardware = loadHardware(id)->hardware;
    for (const auto& [path, value] : changes) {
        auto changed = withAttribute(hardware, path, value);
        if (!changed) qFatal("%s", changed.error().message.c_str());
        hardware = *changed;
    }
    return std::make_shared<const Hardware>(std::move(hardware));
}
// One performance core, with a last cache of this size.
HardwarePtr oneCore(const char* last) {
    return drawn("core-i9-13900k", {{"performance.count", "1"}, {"l3.capacity", last}});
}

WorkloadPtr network(const char* name, std::int64_t image) {
    WorkloadRecipe recipe{name, {}};
    recipe.options.weights = recipe.options.activations = DType::F32;
    recipe.options.image = image;
    const auto loaded = loadWorkload(recipe);
    if (!loaded) qFatal("%s", name);
    return *loaded;
}

Composition composed(const char* method, const HardwarePtr& hardware, const WorkloadPtr& workload,
                     const OptionValues& options) {
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}};
    context.options = options;
    auto made = compose({hardware, workload}, *findKernelMethod(method), {}, context);
    if (!made) qFatal("%s", made.error().message.c_str());
    return std::move(*made);
}
double secondsOf(const Composition& c) {
    double sum = 0;
    for (std::size_t i = 0; i < c.prices.size(); ++i) sum += c.list().launches[i].count * c.prices[i].seconds;
    return sum;
}

}  // namespace

class TestCoreStarts : public QObject {
    Q_OBJECT
private slots:
    // Two products with a function between, then a sum with what came in.
    void distancesByHand() {
        GraphBuilder g("chain", inFloats());
        const TensorId x = g.input("x", {256, 128});
        const TensorId y = g.linear("up", x, 512, {.bias = false});
        const TensorId z = g.elementwise("Relu", "relu", {y});
        const TensorId w = g.linear("down", z, 128, {.bias = false});
        g.output(g.elementwise("Add", "add", {w, x}));
        const auto workload = finishWorkload("chain", "chain", {}, g.finish(), {});
        const auto distances = distancesOf(workload);
        QCOMPARE(distances.size(), std::size_t{4});
        const double narrow = 4.0 * 256 * 128, wide = 4.0 * 256 * 512, weights = 4.0 * 128 * 512;
        // Most memory is live while the function runs: its operands, and x, which the sum still wants.
        const double pass = 2 * weights + narrow + 2 * wide;
        for (const ReuseDistances& each : distances) QCOMPARE(each.pass, pass);
        QCOMPARE(distances[0].inputs, pass);                         // x came in
        QCOMPARE(distances[1].inputs, narrow + weights + 2 * wide);  // y: the product that made it, and its reader
        QCOMPARE(distances[2].inputs, 2 * wide + weights + narrow);  // z
        QCOMPARE(distances[3].inputs, pass);                         // x again: all of the pass lies between
    }
    // A tensor that nobody else touches, inside of a fused group, counts nowhere; nothing is further away than a pass.
    void distancesOfNetworks() {
        for (const char* name : {"mobilenet-v2", "resnet-18", "vit-ti-16", "bert-base"}) {
            const auto workload = network(name, 224);
            for (const Fusion fusion : {Fusion::Epilogue, Fusion::Compile, Fusion::Apart, Fusion::None}) {
                ModelOptions options;
                options.fusion = fusion;
                const LaunchList list = launchesOf(*workload, options);
                const auto distances = reuseDistances(*workload, list);
                QCOMPARE(distances.size(), list.launches.size());
                for (std::size_t i = 0; i < distances.size(); ++i) {
                    QVERIFY(distances[i].inputs > 0 && distances[i].inputs <= distances[i].pass);
                    QVERIFY(distances[i].pass >= workload->totals.weightBytes);
                    QCOMPARE(distances[i].pass, distances[0].pass);
                }
            }
        }
    }
    // Arrays that stand in a cache are never asked of what lies outside, in the arithmetic and in the simulator alike,
    // and those that stand in none are, line for line.
    void standingArraysAreFound() {
        const auto machine = pipeline::loadMachine("golden-cove");
        QVERIFY(machine);
        for (const char* text : {"gemm m=96 n=96 k=96 avx2", "conv c=32 k=64 h=12 w=12 avx2", "add n=40000 avx2",
                                 "norm rows=64 columns=768 avx2", "depthwise c=64 h=20 w=20 avx2"}) {
            const auto nest = nestOf(*pipeline::readKernel(text), *machine);
            QVERIFY(nest);
            const auto readsOf = [&](const pipeline::KernelStart& start) {
                const auto ops = pipeline::boundOps(*machine, nest->ops);
                pipeline::Pipeline core(*machine, ops);
                pipeline::standIn(core.memory(), *nest, start);
                pipeline::NestStream stream(*nest);
                pipeline::OpChunk chunk;
                while (stream.next(chunk)) core.run(chunk);
                return std::pair(core.counters().memory.memoryReads, core.counters().cycles);
            };
            const auto cold = readsOf({}), inputs = readsOf({2, pipeline::mostCaches}), all = readsOf({2, 2}),
                       near = readsOf({1, 1});
            // Prefetchers may ask beyond the end of an array.
            QVERIFY2(all.first <= 64, text);
            QVERIFY2(inputs.first < cold.first && all.first < inputs.first, text);
            QVERIFY2(near.second <= all.second && all.second < inputs.second && inputs.second < cold.second, text);
            QCOMPARE(reuseOf(*nest, *machine, {2, 2}).fromMemory, 0.0);
            const double between = reuseOf(*nest, *machine, {2, pipeline::mostCaches}).fromMemory;
            QVERIFY2(between > 0 && between < reuseOf(*nest, *machine).fromMemory, text);
            // Windows follow.
            const auto windowed = [&](const pipeline::KernelStart& start) {
                pipeline::WindowOptions options;
                options.start = start, options.bounds = false;
                const auto ops = pipeline::boundOps(*machine, nest->ops);
                double cycles = 0;
                for (const auto& each : windowsOf(*nest, *machine, ops, options).classes)
                    cycles += each.together * each.operations;
                return cycles;
            };
            QVERIFY2(std::abs(windowed({2, 2}) / double(all.second) - 1) < 0.1, text);
            QVERIFY2(windowed({2, 2}) < windowed({}), text);
        }
    }
    // A larger last cache makes no network slower, and one that holds all of it makes it faster than empty caches do;
    // no price is below what rates allow.
    void largerCachesAreNoSlower_data() {
        QTest::addColumn<QString>("method");
        QTest::newRow("windows") << "core-windows";
        QTest::newRow("cycles") << "core-cycle";
    }
    void largerCachesAreNoSlower() {
        QFETCH(QString, method);
        const auto workload = network("mobilenet-v2", 96);
        double before = INFINITY, first = 0;
        for (const char* last : {"2.5 MB", "5 MB", "10 MB", "20 MB", "40 MB", "80 MB"}) {
            const auto made = composed(qPrintable(method), oneCore(last), workload, {{"cores", "fastest"}});
            const double seconds = secondsOf(made);
            qInfo("%s: %.3f ms", last, 1e3 * seconds);
            // Blocks of products follow the cache too, and units are drawn.
            QVERIFY2(seconds <= before * 1.02, last);
            for (std::size_t i = 0; i < made.prices.size(); ++i)
                QVERIFY(made.prices[i].seconds >= leastSeconds(made.device, made.list().launches[i]) * (1 - 1e-9));
            before = std::min(before, seconds);
            if (first == 0) first = seconds;
        }
        QVERIFY(before < 0.75 * first);
    }
    // The same kernel begins with what it finds: near in a network that fits, far in one that does not, and with empty
    // caches where nobody says what ran before.
    void whereOperandsAre() {
        const auto made =
            composed("core-windows", oneCore("36 MB"), network("mobilenet-v2", 96), {{"cores", "fastest"}});
        const auto* told = dynamic_cast<const ReusePricer*>(made.pricer.get());
        QVERIFY(told);
        const Kernel& kernel = made.list().launches[10].kernel;
        const auto after = [&](ReuseDistances reuse) {
            const auto serial = makeSerialExecutor();
            PriceContext context{*serial};
            return told->priceAfter(kernel, reuse, context)->seconds;
        };
        const double cold = after({}), far = after({1e9, 1e9}), inputs = after({1e6, 1e9}), near = after({1e6, 1e7});
        QCOMPARE(cold, far);
        QCOMPARE(cold, told->price(kernel).seconds);
        QVERIFY(inputs < far && near < inputs);
        QVERIFY(told->startOf(kernel, {}) == told->startOf(kernel, {1e9, 1e9}));
        QVERIFY(told->startOf(kernel, {1e6, 1e7}) != told->startOf(kernel, {1e6, 1e9}));
        // The story says the same seconds as the price, and where operands are.
        bool said = false;
        const auto cyclesAfter = [&](ReuseDistances reuse) {
            for (const KernelTerm& term : told->explainAfter(kernel, reuse).terms) {
                said |= term.meaning.find("they are in l3") != std::string::npos;
                if (term.name == "cycles") return term.value;
            }
            return 0.0;
        };
        QVERIFY(std::abs((cyclesAfter({}) - cyclesAfter({1e6, 1e7})) / (cold - near) - 1) < 1e-6);
        QVERIFY(said);
        QVERIFY(std::ranges::any_of(made.pricer->assumptions(), [](const std::string& each) {
            return each.find("Passes follow one another") != std::string::npos && each.find("l3") != std::string::npos;
        }));
    }
    // No cache of an EPYC is near to all its cores: what one of them left is far from the others.
    void cachesOfSomeCoresKeepNothing() {
        const auto made = composed("core-windows", drawn("epyc-9654"), network("mobilenet-v2", 96), {});
        for (std::size_t i = 0; i < made.prices.size(); ++i)
            QCOMPARE(made.prices[i].price.seconds, made.pricer->price(made.list().launches[i].kernel).seconds);
        QVERIFY(std::ranges::any_of(made.pricer->assumptions(), [](const std::string& each) {
            return each.find("Caches are empty when a kernel begins: none is shared by all") != std::string::npos;
        }));
    }
    // Lines from core to core along a tree, there and back: by hand.
    void threadsBeginAndAreWaitedFor() {
        pipeline::Machine machine = *pipeline::loadMachine("zen4");
        machine.clock = 4.5e9;
        const std::array<double, 3> sharedBy{1, 1, 8};
        const double near = 2 * 50 / 4.5e9, far = 90e-9;
        const std::tuple<std::int64_t, double> cases[] = {
            {1, 0}, {2, 2 * near}, {8, 6 * near}, {7, 6 * near}, {16, 6 * near + 2 * far}, {96, 6 * near + 8 * far}};
        for (const auto& [cores, seconds] : cases)
            QVERIFY(std::abs(pipeline::forkJoinSeconds(machine, sharedBy, cores) - seconds) < 1e-15);
        // Of those that ran, cores of one last cache or of two.
        pipeline::Chip chip = pipeline::chipOf(machine);
        chip.cores = 16, chip.sharedBy = {1, 1, 8};
        const auto ran = [&](int from, int to) {
            std::vector<pipeline::CoreResult> all(2);
            all[0].core = from, all[1].core = to;
            return pipeline::forkJoinSeconds(chip, all);
        };
        QVERIFY(std::abs(ran(0, 7) - 2 * near) < 1e-15 && std::abs(ran(7, 8) - 2 * far) < 1e-15);
        // AnandTech measured 15 to 19 ns within the cache of a Ryzen 9 7950X and 79.5 ns beyond.
        QVERIFY(near / 17e-9 > 0.7 && near / 17e-9 < 1.4);
        QVERIFY(far / 79.5e-9 > 0.7 && far / 79.5e-9 < 1.4);
        // It is a term of the answer of several cores, and of none that works alone.
        const auto threads = [](const char* id, const OptionValues& options) {
            const auto made = composed("core-windows", drawn(id), network("mobilenet-v2", 96), options);
            double sum = 0;
            for (const KernelTerm& term : made.pricer->explain(made.list().launches[10].kernel).terms)
                if (term.name == "threads") sum += term.value;
            return sum;
        };
        QVERIFY(threads("core-i9-10940x", {}) > 0);
        QCOMPARE(threads("core-i9-10940x", {{"library", "framework"}}), 0.0);
    }
};

QTEST_GUILESS_MAIN(TestCoreStarts)
#include "tst_core_starts.moc"
