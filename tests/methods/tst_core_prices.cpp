// Kernels by the instructions of a processor's cores: shares cover the work, bounds hold, windows follow the pipeline,
// the drawing decides.

#include "base/random.h"
#include "base/thread_clock.h"
#include "evaluation/csv_file.h"
#include "hardware/files/catalogue.h"
#include "methods/cpu/core_share.h"
#include "methods/cpu/cpu_framework.h"
#include "methods/cpu/cpu_view.h"
#include "methods/kernel_method.h"
#include "methods/model/kernel_bound.h"
#include "methods/model/launches.h"
#include "simulation/cpu/core/machine.h"
#include "support/kernel_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;

namespace {
HardwarePtr drawn(const char* id) {
    auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s", id);
    return std::make_shared<const Hardware>(std::move(loaded->hardware));
}

Expected<KernelPricerPtr> bindTo(const char* method, const HardwarePtr& hardware, OptionValues options = {}) {
    static const CalibrationSet none;
    return findKernelMethod(method)->bind(*firstDevice(hardware), BindContext{none, std::move(options)});
}

KernelPrice priceOf(const char* method, const HardwarePtr& hardware, const Kernel& kernel) {
    const auto pricer = bindTo(method, hardware);
    if (!pricer) qFatal("%s", pricer.error().message.c_str());
    return (*pricer)->price(kernel);
}

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::F32) {
    return fixture::product(m, n, k, type);
}

Kernel convolution(std::int64_t channels, std::int64_t side, std::int64_t window, std::int64_t groups = 1) {
    Kernel kernel;
    kernel.kind = KernelKind::Convolution;
    kernel.type = kernel.weightType = DType::F32;
    kernel.convolution = {1, channels, channels, groups, side, side, window, window, side, side, 1, 1};
    countWork(kernel);
    return kernel;
}

Kernel rows(KernelKind kind, const char* function, std::int64_t m, std::int64_t n) {
    Kernel kernel;
    kernel.kind = kind;
    kernel.type = kernel.weightType = DType::F32;
    kernel.function = function;
    kernel.m = m, kernel.n = n;
    countWork(kernel);
    return kernel;
}

std::vector<Kernel> kernels() {
    return {product(256, 512, 384),
            product(1024, 1024, 512),
            convolution(128, 28, 3),
            convolution(256, 14, 1),
            convolution(144, 56, 3, 144),
            product(1, 4096, 1024),
            product(3, 1000, 1280),
            rows(KernelKind::Softmax, "Softmax", 512, 512),
            rows(KernelKind::Normalization, "LayerNormalization", 512, 768),
            rows(KernelKind::Elementwise, "Relu", 512, 3072)};
}

}  // namespace

class TestCorePrices : public QObject {
    Q_OBJECT
private slots:
    void sharesCoverTheWork() {
        const auto machine = pipeline::loadMachine("skylake-server");
        QVERIFY(machine);
        RandomStream random(7);
        for (int i = 0; i < 2000; ++i) {
            const auto upTo = [&](std::uint64_t most) { return 1 + static_cast<std::int64_t>(random.below(most)); };
            Kernel kernel = product(upTo(i % 2 ? 3000 : 8), upTo(3000), upTo(2000));
            kernel.batch = random.below(3) == 0 ? upTo(40) : 1;
            countWork(kernel);
            const std::int64_t cores = upTo(128);
            const auto share = coreShareOf(kernel, *machine, cores);
            QVERIFY(share);
            QVERIFY(share->active >= 1 && share->active <= cores);
            const double piece = share->rounds * pipeline::flopsOf(share->spec);
            // The busiest core has at least its part, and all together at least the whole.
            QVERIFY(piece * double(share->active) >= kernel.flops * (1 - 1e-12));
            QVERIFY(piece <= kernel.flops * (1 + 1e-12));
        }
    }
    void moreCoresNeverHaveMoreToDo() {
        const auto machine = pipeline::loadMachine("zen4");
        for (const Kernel& kernel : kernels()) {
            double before = INFINITY;
            for (const std::int64_t cores : {1, 2, 4, 8, 16, 32, 64, 128}) {
                const auto share = coreShareOf(kernel, *machine, cores);
                QVERIFY(share);
                const double piece = share->rounds * pipeline::flopsOf(share->spec);
                QVERIFY(piece <= before * (1 + 1e-12));
                before = piece;
            }
        }
    }
    void whatHasNoForm() {
        const auto machine = pipeline::loadMachine("zen4");
        QVERIFY(coreShareOf(convolution(64, 28, 3, 64), *machine, 8));
        Kernel gaps = convolution(64, 28, 3, 64);
        gaps.convolution.dilation = 2;
        QVERIFY(!coreShareOf(gaps, *machine, 8));
        Kernel quarter = product(1, 4096, 4096);
        QVERIFY(coreShareOf(quarter, *machine, 8));
        quarter.weightType = DType::I4;
        QVERIFY(!coreShareOf(quarter, *machine, 8));
        const auto price = priceOf("core-windows", drawn("epyc-9654"), gaps);
        QVERIFY(!price.priced && price.note == 0);
        const auto xeon = pipeline::loadMachine("sapphire-rapids");
        QCOMPARE(coreShareOf(product(64, 64, 64, DType::BF16), *xeon, 1)->spec.instructionSet, std::string("amx"));
        // Sapphire Rapids has no tiles of fp16, Granite Rapids has.
        QCOMPARE(coreShareOf(product(64, 64, 64, DType::F16), *xeon, 1)->spec.instructionSet, std::string("avx512"));
        const auto granite = pipeline::loadMachine("granite-rapids");
        QVERIFY(granite);
        QCOMPARE(coreShareOf(product(64, 64, 64, DType::F16), *granite, 1)->spec.instructionSet, std::string("amx"));
        const auto wide = coreShareOf(product(64, 64, 64, DType::BF16), *machine, 1);
        QVERIFY(wide->widened && wide->spec.instructionSet != "amx");
    }
    void noPriceBeatsItsRoofline() {
        for (const char* id : {"epyc-9654", "xeon-8480", "core-i9-10940x", "core-i9-13900k", "apple-m1-cpu",
                               "raspberry-pi-5", "raspberry-pi-4"}) {
            const auto hardware = drawn(id);
            const GpuView cpu = *cpuView(*hardware);
            for (const Kernel& kernel : kernels()) {
                for (const char* method : {"core-windows", "core-cycle"})
                    QVERIFY(priceOf(method, hardware, kernel).seconds >= leastSeconds(cpu.device, kernel));
            }
        }
    }
    // The fast method against the slow one, on a core that did not teach it and on one that did.
    void windowsFollowThePipeline() {
        double sum = 0;
        int count = 0;
        for (const char* id : {"epyc-9654", "xeon-8480"}) {
            const auto hardware = drawn(id);
            const auto slow = bindTo("core-cycle", hardware, {{"units", "200"}});
            for (const Kernel& kernel : kernels()) {
                const double ratio = priceOf("core-windows", hardware, kernel).seconds / (*slow)->price(kernel).seconds;
                qInfo("%s %s: %.3f", id, toText(kernel).c_str(), ratio);
                QVERIFY(ratio > 0.85 && ratio < 1.2);
                sum += std::abs(std::log(ratio)), ++count;
            }
        }
        QVERIFY(sum / count < 0.06);
    }
    // Each kernel of a model, shared out to the drawn number of cores: the fast method against the pipeline that runs
    // it from end to end (so many units are the whole), and the sampled one against both.
    void kernelsOfAModelFollowThePipeline() {
        const auto hardware = drawn("core-i9-10940x");
        WorkloadRecipe recipe{"bert-base", {}};
        recipe.options.weights = recipe.options.activations = DType::F32;
        recipe.options.sequence = 512;
        const auto workload = loadWorkload(recipe);
        QVERIFY(workload);
        const auto whole = bindTo("core-cycle", hardware, {{"units", "100000"}}),
                   windows = bindTo("core-windows", hardware), sample = bindTo("core-cycle", hardware);
        QVERIFY(whole && windows && sample);
        std::array<double, 3> sum{};
        int count = 0;
        for (const Launch& launch : launchesOf(**workload, {}).launches) {
            const double times = launch.count * launch.scale;
            const double slow = (*whole)->price(launch.kernel).seconds;
            const double fast = (*windows)->price(launch.kernel).seconds;
            const double drawnUnits = (*sample)->price(launch.kernel).seconds;
            sum[0] += times * slow, sum[1] += times * fast, sum[2] += times * drawnUnits;
            if (++count <= 40)
                qInfo("%s: %.0f us, windows %+.1f %%, units %+.1f %%", toText(launch.kernel).c_str(), 1e6 * slow,
                      100 * (fast / slow - 1), 100 * (drawnUnits / slow - 1));
            QVERIFY(std::fabs(fast / slow - 1) < 0.15);
            QVERIFY(std::fabs(drawnUnits / slow - 1) < 0.25);
        }
        QVERIFY(count > 0);
        qInfo("whole model: %.1f ms, windows %+.1f %%, units %+.1f %%", 1e3 * sum[0], 100 * (sum[1] / sum[0] - 1),
              100 * (sum[2] / sum[0] - 1));
        QVERIFY(std::fabs(sum[1] / sum[0] - 1) < 0.08);
        QVERIFY(std::fabs(sum[2] / sum[0] - 1) < 0.08);
    }
    // A core is edited and all operators of a model are answered anew, by the first order. A processor that is busy
    // with other things has less cache for this one: three times what it takes when nothing else runs.
    void anEditIsAnsweredWhileOneWaits_data() {
        QTest::addColumn<QString>("model");
        for (const char* model : {"llama-3-70b", "resnet-152"}) QTest::newRow(model) << model;
    }
    void anEditIsAnsweredWhileOneWaits() {
        QFETCH(QString, model);
        const auto hardware = drawn("core-i9-10940x");
        WorkloadRecipe recipe{model.toStdString(), {}};
        recipe.options.weights = recipe.options.activations = DType::F32;
        recipe.options.image = 224;
        if (model.startsWith("llama")) recipe.options.phase = Phase::Prefill, recipe.options.sequence = 512;
        const auto workload = loadWorkload(recipe);
        QVERIFY(workload);
        std::map<std::uint64_t, Kernel> kernels;
        double operators = 0;
        for (const Launch& launch : launchesOf(**workload, {}).launches) {
            kernels.emplace(kernelIdentity(launch.kernel), launch.kernel);
            operators += launch.count * launch.scale;
        }
        double least = INFINITY;
        for (const char* width : {"3", "4", "6", "8"}) {
            const auto edited = withAttribute(*hardware, "core.issue_width", width);
            QVERIFY(edited);
            const double begun = threadSeconds();
            const auto pricer = bindTo("core-windows", std::make_shared<const Hardware>(*edited), {{"pass", "flow"}});
            QVERIFY(pricer);
            for (const auto& [identity, kernel] : kernels) QVERIFY((*pricer)->price(kernel).seconds > 0);
            least = std::min(least, threadSeconds() - begun);
        }
        qInfo("%.0f operators, %zu different: %.1f ms", operators, kernels.size(), 1e3 * least);
        QVERIFY(operators >= 150);
        QVERIFY(least < 0.06);
    }
    // The first order against the pipeline, from end to end.
    void theFirstOrderIsNear() {
        const auto hardware = drawn("core-i9-10940x");
        const auto whole = bindTo("core-cycle", hardware, {{"units", "100000"}}),
                   first = bindTo("core-windows", hardware, {{"pass", "flow"}});
        QVERIFY(whole && first);
        double sum = 0;
        for (const Kernel& kernel : kernels()) {
            const double off = (*first)->price(kernel).seconds / (*whole)->price(kernel).seconds - 1;
            qInfo("%s: %+.1f %%", toText(kernel).c_str(), 100 * off);
            QVERIFY(std::fabs(off) < 0.55);
            sum += std::fabs(off);
        }
        QVERIFY(sum / double(kernels().size()) < 0.2);
    }
    // Whole networks whose convolutions and products all have instructions, at what the narrowest of peaks allows.
    void networksAreAllInstructions_data() {
        QTest::addColumn<QString>("hardware");
        for (const char* id : {"epyc-9654", "xeon-8480", "grace", "core-i7-12700h", "core-i9-13900k", "apple-m1-cpu",
                               "raspberry-pi-5", "raspberry-pi-4"})
            QTest::newRow(id) << id;
    }
    void networksAreAllInstructions() {
        QFETCH(QString, hardware);
        const auto pricer = bindTo("core-windows", drawn(hardware.toUtf8()));
        QVERIFY2(pricer, pricer ? "" : pricer.error().message.c_str());
        for (const char* model : {"mobilenet-v2", "llama-3-8b"}) {
            WorkloadRecipe recipe{model, {}};
            recipe.options.weights = recipe.options.activations = DType::F32;
            recipe.options.image = 224;
            if (model[0] == 'l') {
                recipe.options.weights = recipe.options.activations = DType::BF16;
                recipe.options.phase = Phase::Decode;
                recipe.options.sequence = 512;
            }
            const auto workload = loadWorkload(recipe);
            QVERIFY(workload);
            int few = 0, deep = 0;
            for (const Launch& launch : launchesOf(**workload, {}).launches) {
                const Kernel& kernel = launch.kernel;
                if (kernel.kind != KernelKind::Gemm && kernel.kind != KernelKind::Convolution) continue;
                const auto price = (*pricer)->price(kernel);
                QVERIFY2(price.priced && price.note != 0, toText(kernel).c_str());
                few += kernel.kind == KernelKind::Gemm && kernel.m < 4 ? static_cast<int>(launch.count) : 0;
                deep += kernel.convolution.groups > 1;
            }
            QVERIFY(model[0] == 'm' ? deep == 17 : few > 100);
        }
    }
    // Weights of one row are read once, in as many bytes as they have, and memory is what it waits for.
    void oneRowWaitsForMemory() {
        for (const char* id : {"epyc-9654", "core-i9-10940x"}) {
            const auto hardware = drawn(id);
            const double bandwidth = cpuView(*hardware)->device.main().bandwidth.value;
            for (const DType type : {DType::F32, DType::BF16}) {
                const Kernel kernel = product(1, 14336, 4096, type);
                const double ratio = priceOf("core-windows", hardware, kernel).seconds * bandwidth / kernel.bytes();
                qInfo("%s %s: %.2f of its bytes by the bandwidth", id, toText(kernel).c_str(), ratio);
                QVERIFY(ratio > 0.95 && ratio < 1.3);
            }
        }
    }
    // What several cores of one last cache read comes from memory once: quicker than if each fetched its piece alone.
    void sharedOperandsAreReadOnce() {
        const auto hardware = drawn("core-i9-10940x");
        const double bandwidth = cpuView(*hardware)->device.main().bandwidth.value;
        const Kernel kernel = convolution(512, 7, 3);  // of each core a row, of half of the channels
        const auto share = coreShareOf(kernel, *pipeline::loadMachine("skylake-server"), 14);
        QVERIFY(share);
        QCOMPARE(share->active, std::int64_t{14});
        const double taps = 512.0 * 9, whole = 512 * 9 * 9 + 512 * taps + 512 * 49;
        QCOMPARE(share->readers, (14 * (512 * 3 * 9 + 256 * taps) + 512 * 49) / whole);
        const double alone = 14 * 4 * 256 * taps / bandwidth;
        const double seconds = priceOf("core-windows", hardware, kernel).seconds;
        qInfo("%.0f us, alone %.0f us", 1e6 * seconds, 1e6 * alone);
        QVERIFY(seconds < 0.9 * alone);
        // A last cache of its own for each core leaves nothing to share.
        const auto apart = withAttribute(*hardware, "l3.count", "14");
        QVERIFY(apart);
        QVERIFY(priceOf("core-windows", std::make_shared<const Hardware>(*apart), kernel).seconds > alone);
    }
    // Heads first; what is left of the cores divides the queries.
    void fewHeadsUseAllCores() {
        Kernel kernel;
        kernel.kind = KernelKind::PrefillAttention;
        kernel.type = kernel.kvType = DType::F32;
        kernel.attention = {1, 3, 3, 577, 577, 64, false};
        countWork(kernel);
        const auto machine = pipeline::loadMachine("skylake-server");
        const auto share = coreShareOf(kernel, *machine, 14);
        QVERIFY(share);
        QCOMPARE(share->active, std::int64_t{12});
        QCOMPARE(share->spec.size("q"), std::int64_t{(577 + 3) / 4});
        QVERIFY(double(share->active) * pipeline::flopsOf(share->spec) >=
                pipeline::flopsOf(coreShareOf(kernel, *machine, 1)->spec));
    }
    // Equal work goes to unlike cores: those that are slow decide.
    void unlikeCoresWaitForTheSlowest() {
        const auto hardware = drawn("core-i7-12700h");
        const Kernel dense = product(2048, 2048, 2048);
        const auto with = [&](const char* path, const char* value) {
            const auto edited = withAttribute(*hardware, path, value);
            if (!edited) qFatal("%s", edited.error().message.c_str());
            return priceOf("core-windows", std::make_shared<const Hardware>(*edited), dense).seconds;
        };
        const double before = priceOf("core-windows", hardware, dense).seconds;
        QVERIFY(with("efficiency.clock", "0.85 GHz") > 1.5 * before);
        QCOMPARE(with("i7.clock", "4.6 GHz"), before);
        const auto nobodys = withAttribute(*hardware, "efficiency.microarchitecture", "nobodys");
        QVERIFY(nobodys);
        const auto refused = bindTo("core-windows", std::make_shared<const Hardware>(*nobodys));
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, std::string("core.unknown"));
        QVERIFY(refused.error().place.path.find("efficiency") != std::string::npos);
    }
    // The fastest sort alone: what is drawn of the other changes nothing, and its own number of cores decides.
    void theFastestSortAlone() {
        for (const auto& [id, slow, fast, few] :
             {std::tuple{"core-i7-12700h", "efficiency.clock", "performance.count", "3"},
              {"apple-m1-cpu", "icestorm.clock", "firestorm.count", "2"}}) {
            const auto hardware = drawn(id);
            const Kernel dense = product(2048, 2048, 2048);
            const auto with = [&](const char* path, const char* value) {
                const auto edited = withAttribute(*hardware, path, value);
                if (!edited) qFatal("%s", edited.error().message.c_str());
                const auto pricer =
                    bindTo("core-windows", std::make_shared<const Hardware>(*edited), {{"cores", "fastest"}});
                if (!pricer) qFatal("%s", pricer.error().message.c_str());
                return (*pricer)->price(dense).seconds;
            };
            const double before = with(slow, "1.5 GHz");
            QCOMPARE(with(slow, "0.5 GHz"), before);
            const double half = with(fast, few) / before;
            QVERIFY2(half > 1.85 && half < 2.15, id);
            // Products of equal shares wait for slow cores: there alone is quicker than with them.
            QVERIFY(before < priceOf("core-windows", hardware, dense).seconds);
        }
    }
    // Armv8.2-A computes fp16 in registers of eight numbers, twice as many as of fp32; Cortex-A72 is older and widens.
    void halvesTakeHalfTheTime() {
        const auto ratio = [](const char* id, const Kernel& single) {
            Kernel half = single;
            half.type = half.weightType = DType::F16;
            countWork(half);
            const auto hardware = drawn(id);
            return priceOf("core-windows", hardware, half).seconds / priceOf("core-windows", hardware, single).seconds;
        };
        for (const Kernel& single : {product(2304, 3072, 768), convolution(512, 56, 3), convolution(512, 56, 1),
                                     rows(KernelKind::Elementwise, "Relu", 4096, 4096)}) {
            for (const char* id : {"raspberry-pi-5", "apple-m1-cpu", "grace"}) {
                const double it = ratio(id, single);
                QVERIFY2(it > 0.4 && it < 0.65,
                         qPrintable(QString("%1 %2: %3").arg(id, QString::fromStdString(toText(single))).arg(it)));
            }
        }
        QVERIFY(ratio("raspberry-pi-4", product(512, 768, 768)) > 0.95);
        const auto machine = pipeline::loadMachine("cortex-a76");
        QVERIFY(machine);
        Kernel sums = rows(KernelKind::Softmax, "Softmax", 512, 512);
        sums.type = DType::F16;
        const auto share = coreShareOf(sums, *machine, 4);
        QVERIFY(share && share->widened && share->spec.instructionSet == "neon");
        QVERIFY(!coreShareOf(product(64, 64, 64, DType::F16), *machine, 4)->widened);
        QVERIFY(coreShareOf(product(64, 64, 64, DType::BF16), *machine, 4)->widened);
    }
    void theDrawingDecides() {
        const auto hardware = drawn("epyc-9654");
        const Kernel stream = rows(KernelKind::Elementwise, "Relu", 8192, 8192), dense = product(4096, 4096, 512);
        const auto with = [&](const char* path, const char* value) {
            const auto edited = withAttribute(*hardware, path, value);
            if (!edited) qFatal("%s", edited.error().message.c_str());
            return std::make_shared<const Hardware>(*edited);
        };
        for (const char* method : {"core-windows", "core-cycle"}) {
            const double streams = priceOf(method, hardware, stream).seconds;
            QVERIFY(priceOf(method, with("ddr5.bandwidth", "115 GB/s"), stream).seconds > 1.5 * streams);
            const double computes = priceOf(method, hardware, dense).seconds;
            QVERIFY(priceOf(method, with("epyc.clock", "1.2 GHz"), dense).seconds > 1.5 * computes);
            QVERIFY(priceOf(method, with("ccd.count", "6"), dense).seconds > 1.5 * computes);
            // Again, the same to the last bit.
            QCOMPARE(priceOf(method, hardware, dense).seconds, computes);
        }
    }
    // Cores in one clock: a stream takes what an equal share of the memory takes, whoever shares it, and a product
    // whose operands cores share never less than its roofline.
    void coresInOneClock() {
        for (const char* id : {"raspberry-pi-5", "epyc-9654", "xeon-8480"}) {
            const auto hardware = drawn(id);
            const auto alone = bindTo("core-cycle", hardware),
                       four = bindTo("core-cycle", hardware, {{"together", "4"}}),
                       again = bindTo("core-cycle", hardware, {{"together", "4"}});
            QVERIFY(alone && four && again);
            const Kernel stream = rows(KernelKind::Elementwise, "Relu", 8192, 8192);
            const double ratio = (*four)->price(stream).seconds / (*alone)->price(stream).seconds;
            QVERIFY2(ratio > 0.9 && ratio < 1.2, qPrintable(QString("%1 %2").arg(id).arg(ratio)));
            const Kernel dense = product(512, 512, 512);
            const double seconds = (*four)->price(dense).seconds;
            QCOMPARE((*again)->price(dense).seconds, seconds);
            QVERIFY(seconds >= leastSeconds(cpuView(*hardware)->device, dense));
            const auto terms = (*four)->explain(dense).terms;
            QVERIFY(std::ranges::any_of(
                terms, [](const auto& term) { return term.name == "in one clock" && term.value == 4; }));
        }
        for (const char* wrong : {"0", "1000", "two"}) {
            const auto refused = bindTo("core-cycle", drawn("raspberry-pi-5"), {{"together", wrong}});
            QVERIFY(!refused && refused.error().code == "method.bad-option");
        }
    }
    // Cores of such a chip are a part of all: they have their part of memory and caches, and copies of what they share.
    void someCoresAreAPartOfAll() {
        const auto views = coreViews(*firstDevice(drawn("epyc-9654")));
        QVERIFY(views);
        const auto machine = pipeline::loadMachine("zen4");
        CoreShare share;
        share.spec = *pipeline::readKernel("gemm m=64 n=64 k=64 avx512");
        share.active = 96, share.down = 8, share.across = 12;
        // Where 12 are asked, 8 are what is said to run.
        const auto twelve = bindTo("core-cycle", drawn("epyc-9654"), {{"together", "12"}});
        QVERIFY(twelve);
        QVERIFY(std::ranges::any_of((*twelve)->assumptions(), [](const std::string& each) {
            return each.starts_with("Up to 8 cores run in one clock") && each.find("not 12") != std::string::npos;
        }));
        for (const auto& [together, cores, shared] : {std::tuple{16, 16, 8}, {4, 4, 4}, {12, 8, 8}, {1, 1, 1}}) {
            const auto chip = chipAmong(*machine, views->front(), 460.8e9, share, together);
            QCOMPARE(chip.cores, cores);
            QCOMPARE(chip.sharedBy.back(), shared);
            QVERIFY(std::abs(chip.nodeBandwidth - 460.8e9 * cores / 96) < 1);
            QCOMPARE(chip.core.caches.back().bytes, machine->caches.back().bytes * shared / 8);
            QVERIFY(check(chip));
        }
        const auto nest = nestOf(share.spec, *machine);
        QVERIFY(nest);
        const auto copies = copiesAmong(*nest, share, 16);
        // The thirteenth core begins the second row: another part of A, the first part of B, a result of its own.
        QCOMPARE(copies[0][0], copies[11][0]);
        QVERIFY(copies[12][0] != copies[0][0]);
        QCOMPARE(copies[12][1], copies[0][1]);
        QVERIFY(copies[1][1] != copies[0][1]);
        QVERIFY(copies[12][2] != copies[0][2]);
    }
    // Two sockets: a stream of remote pages is as slow as the link, of local ones as fast as the memories.
    void pagesOfTwoSockets() {
        const auto two = drawn("epyc-9654-x2");
        const Kernel stream = rows(KernelKind::Elementwise, "Relu", 32768, 16384);
        for (const char* method : {"cpu-roofline", "core-windows", "core-cycle"}) {
            const auto with = [&](const char* pages) {
                const auto pricer = bindTo(method, two, {{"pages", pages}});
                if (!pricer) qFatal("%s", pricer.error().message.c_str());
                return (*pricer)->price(stream).seconds;
            };
            const double local = with("local"), remote = with("remote");
            QCOMPARE(with("interleave"), priceOf(method, two, stream).seconds);
            QVERIFY(local <= with("interleave") * 1.001 && with("interleave") <= remote);
            QVERIFY(with("first-node") > 1.5 * local);
            const double links = 460.8 / 256;
            QVERIFY2(std::abs(remote / local / links - 1) < 0.1,
                     qPrintable(QString("%1 %2").arg(method).arg(remote / local)));
            // One socket has nothing to choose.
            const auto one = drawn("epyc-9654");
            QCOMPARE((*bindTo(method, one, {{"pages", "remote"}}))->price(stream).seconds,
                     priceOf(method, one, stream).seconds);
            const auto refused = bindTo(method, two, {{"pages", "far"}});
            QVERIFY(!refused && refused.error().code == "method.bad-option");
        }
        Hardware apart = *two;
        apart.root.children.front().children.pop_back();
        const auto unjoined = bindTo("core-windows", std::make_shared<const Hardware>(apart), {{"pages", "remote"}});
        QVERIFY(!unjoined && unjoined.error().code == "cores.no-link");
    }
    // Whole models: with a link that is full first, local pages do without it, and each answer says one thing of pages.
    void pagesOfAWholeModel() {
        const auto slow = withAttribute(*drawn("epyc-9654-x2"), "xgmi.bandwidth", "2 GB/s");
        QVERIFY(slow);
        const auto two = std::make_shared<const Hardware>(*slow);
        WorkloadRecipe recipe{"vgg-16", {}};
        recipe.options.weights = recipe.options.activations = DType::F32;
        recipe.options.image = 224;
        const auto workload = loadWorkload(recipe);
        QVERIFY(workload);
        for (const char* method : {"cpu-roofline", "core-windows"}) {
            std::map<std::string, double> seconds;
            for (const char* pages : {"local", "interleave", "first-node", "remote"}) {
                const auto executor = makeSerialExecutor();
                EstimateContext context{*executor, {}};
                context.options = {{"pages", pages}};
                const auto answer = estimate(*findMethod(method), {two, *workload}, context);
                QVERIFY2(answer, answer ? "" : answer.error().message.c_str());
                seconds[pages] = answer->latency.value;
                QCOMPARE(std::ranges::count_if(answer->assumptions,
                                               [](const std::string& each) {
                                                   return each.find("ages are ") != std::string::npos ||
                                                          each.find("pages interleaved") != std::string::npos;
                                               }),
                         std::ptrdiff_t{1});
            }
            // 8 GB/s in each direction: 32 GB/s in turn, 16 to the next node, 921.6 beside the cores.
            QVERIFY2(seconds["local"] < 0.5 * seconds["interleave"], method);
            QVERIFY2(seconds["interleave"] < seconds["remote"], method);
            QVERIFY2(seconds["interleave"] < seconds["first-node"], method);
        }
    }
    // A memory whose own name has the words that a link adds keeps it.
    void aMemoryNamedAsIfOverALink() {
        Hardware named = *withAttribute(*drawn("epyc-9654-x2"), "xgmi.bandwidth", "2 GB/s");
        for (Component& socket : named.root.children.front().children) {
            for (Component& each : socket.children)
                if (each.kind == ComponentKind::Dram) each.name = "HBM over interposer";
        }
        const auto two = std::make_shared<const Hardware>(named);
        const auto pricer = bindTo("cpu-roofline", two, {{"pages", "local"}});
        QVERIFY(pricer);
        QCOMPARE((*pricer)->levels().front(), std::string("HBM over interposer"));
        const auto remote = bindTo("cpu-roofline", two, {{"pages", "remote"}});
        QVERIFY(remote);
        QCOMPARE((*remote)->levels().front(), std::string("HBM over interposer over xgmi"));
    }
    // Cores in one clock are the same whoever else asks.
    void togetherTheSameAtAnyThreadCount() {
        const auto hardware = drawn("raspberry-pi-5");
        const auto one = makeSerialExecutor(), four = makeThreadExecutor(4);
        std::vector<std::vector<double>> seconds;
        for (Executor* executor : {one.get(), four.get()}) {
            const auto pricer = bindTo("core-cycle", hardware, {{"together", "4"}});
            QVERIFY(pricer);
            const auto all = kernels();
            std::vector<double> each(all.size());
            executor->forEach(all.size(), [&](std::size_t i) { each[i] = (*pricer)->price(all[i]).seconds; });
            seconds.push_back(std::move(each));
        }
        QCOMPARE(seconds[0], seconds[1]);
    }
    void whatItCannotAnswer() {
        const auto unnamed = withAttribute(*drawn("raspberry-pi-5"), "core.microarchitecture", "nobodys");
        QVERIFY(unnamed);
        const auto unknown = bindTo("core-windows", std::make_shared<const Hardware>(*unnamed));
        QVERIFY(!unknown);
        QCOMPARE(unknown.error().code, std::string("core.unknown"));
        const auto gpu = bindTo("core-cycle", drawn("h100-sxm"));
        QVERIFY(!gpu);
        QCOMPARE(gpu.error().code, std::string("method.not-applicable"));
        for (const char* units : {"3", "many", "1e9", "-5"}) {
            const auto refused = bindTo("core-cycle", drawn("epyc-9654"), {{"units", units}});
            QVERIFY(!refused);
            QCOMPARE(refused.error().code, std::string("method.bad-option"));
        }
        const auto pricer = bindTo("core-cycle", drawn("epyc-9654"));
        std::stop_source stop;
        stop.request_stop();
        const auto serial = makeSerialExecutor();
        PriceContext context{*serial, stop.get_token()};
        const auto stopped = (*pricer)->price(product(512, 512, 512), context);
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().code, std::string("study.cancelled"));
    }
    // What is packed as a product lays no weights out anew, however many bytes they have: a call is all it adds. Direct
    // convolutions also wait for the pages of their block, and the story says the same seconds.
    void freshPagesAreOfDirectConvolutions() {
        const auto hardware = drawn("core-i9-10940x");
        const auto machine = pipeline::loadMachine("skylake-server");
        const auto framework = bindTo("core-windows", hardware, {{"library", "framework"}});
        QVERIFY(machine && framework);
        const Kernel packed = convolution(3072, 7, 1), direct = convolution(1024, 7, 3);  // of 36 MiB both
        QCOMPARE(coreShareOf(packed, *machine, 14, true)->spec.kernel, std::string("gemm"));
        QVERIFY(coreShareOf(direct, *machine, 14, true)->spec.kernel != "gemm");
        const auto added = [&](const Kernel& kernel) {
            return (*framework)->price(kernel).seconds - priceOf("core-windows", hardware, kernel).seconds;
        };
        const auto told = [&](const Kernel& kernel) {
            for (const auto& term : (*framework)->explain(kernel).terms)
                if (term.name == "framework") return term.value;
            return 0.0;
        };
        // Threads are in the measured time of a call already.
        const auto engine = bindTo("core-windows", hardware);
        double threads = 0;
        for (const auto& term : (*engine)->explain(packed).terms)
            if (term.name == "threads") threads = term.value;
        QVERIFY(threads > 0);
        QVERIFY(std::abs(added(packed) - frameworkTimes.call + threads) < 1e-9);
        QVERIFY(std::abs(told(packed) - frameworkTimes.call) < 1e-9);
        QVERIFY(std::abs(told(direct) - frameworkTimes.call - 9216 * 575e-9) < 1e-9);
        QVERIFY(added(direct) > told(direct));
    }
};

QTEST_GUILESS_MAIN(TestCorePrices)
#include "tst_core_prices.moc"
