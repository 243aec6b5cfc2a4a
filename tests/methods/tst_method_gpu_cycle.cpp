// gpu-cycle and gpu-interval as methods: what they answer beside measured products, bounds, energy, notes, the same
// answers again.

#include "base/executor.h"
#include "base/text/csv_stream.h"
#include "base/text/words.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/power_limit.h"
#include "methods/gpu/gpu_cycle.h"
#include "methods/gpu/gpu_sample.h"
#include "methods/kernel_method.h"
#include "methods/model/kernel_bound.h"
#include "workload/kernel_source.h"

#include <QCryptographicHash>
#include <QtTest/QtTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <tuple>

using namespace orrery;

namespace {

struct Row {
    QByteArray digest;
    std::array<std::int64_t, 3> shape{};
    double seconds = 0;
    bool large() const { return *std::min_element(shape.begin(), shape.end()) >= 1024; }
};

// Measured bf16 products, in the order of the digests of their shapes: a draw that nobody chose.
std::vector<Row> measuredProducts(const std::string& file) {
    std::vector<Row> out;
    auto table = CsvStream::open(ORRERY_REFERENCE "/gpu/aiconfigurator/" + file);
    if (!table) return out;
    while (true) {
        const auto more = table->next();
        if (!more || !*more) break;
        const auto cells = table->cells();
        if (cells.size() < 5 || cells[0] != "bfloat16") continue;
        Row row;
        const std::string shape = std::string(cells[1]) + "," + std::string(cells[2]) + "," + std::string(cells[3]);
        row.digest = QCryptographicHash::hash(QByteArray::fromStdString(shape), QCryptographicHash::Md5);
        for (std::size_t i = 0; i < 3; ++i) row.shape[i] = wholeIn(cells[i + 1]).value_or(1);
        row.seconds = numberIn(cells[4]).value_or(0) * 1e-3;
        out.push_back(row);
    }
    std::sort(out.begin(), out.end(), [](const Row& a, const Row& b) { return a.digest < b.digest; });
    return out;
}

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::BF16) {
    Kernel kernel;
    kernel.kind = KernelKind::Gemm;
    kernel.m = m, kernel.n = n, kernel.k = k, kernel.type = kernel.weightType = type;
    countWork(kernel);
    return kernel;
}

KernelPricerPtr bound(const char* method, const char* device, OptionValues options = {{"seconds", "1"}}) {
    static const CalibrationSet none;
    auto loaded = loadHardware(device);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    const auto design = std::make_shared<const Hardware>(std::move(loaded->hardware));
    const auto at = firstDevice(design);
    const auto got = at ? findKernelMethod(method)->bind(*at, BindContext{none, std::move(options)})
                        : Expected<KernelPricerPtr>(tl::unexpected(at.error()));
    if (!got) qFatal("%s", toText(got.error()).c_str());
    return *got;
}

}  // namespace

class TestMethodGpuCycle : public QObject {
    Q_OBJECT
private slots:
    // What a simulation takes is known before it: the instructions that it then runs, to a fiftieth where it runs them
    // all, and all of the budget where it does not.
    void instructionsAreKnownBeforeTheSimulation() {
        auto loaded = loadHardware("a100-80-sxm");
        QVERIFY(loaded);
        const auto at = firstDevice(std::make_shared<const Hardware>(std::move(loaded->hardware)));
        QVERIFY(at);
        const auto gpu = gpuView(*at);
        QVERIFY(gpu);
        const auto machine = machineOf(*gpu);
        QVERIFY(machine);
        const double budget = cycleInstructionsOf({{"seconds", "1"}});
        QCOMPARE(budget, cycleBudgetInstructions / 3);
        QCOMPARE(cycleInstructionsOf({}), cycleBudgetInstructions);
        const auto pricer = bound("gpu-cycle", "a100-80-sxm");
        for (const Kernel& kernel : {product(128, 128, 64), product(128, 512, 256), product(64, 768, 512)}) {
            double simulated = 0;
            for (const auto& term : pricer->explain(kernel).terms)
                if (term.name == "warp instructions") simulated = term.value;
            const double told = instructionsToSimulate(kernel, *gpu, *machine, budget);
            QVERIFY2(simulated > 0 && simulated < budget && std::abs(told / simulated - 1) < 0.02,
                     qPrintable(QString("%1 of %2").arg(told).arg(simulated)));
        }
        QCOMPARE(instructionsToSimulate(product(4096, 4096, 4096), *gpu, *machine, budget), budget);
        // Without a template it costs its bytes, at once.
        Kernel sum;
        sum.kind = KernelKind::Collective;
        QCOMPARE(instructionsToSimulate(sum, *gpu, *machine, budget), 0.0);
    }

    // Ten rows of the draw of which the handbook (gpu-cycles) states forty, held to what others are at, not to what
    // this was found at: each answer stays above the roofline, nearer to what was measured than that on the whole, and
    // no further off than Accel-Sim is published to be on six Ampere cards (Huerta et al., MICRO 2025: 34.0 % at most).
    void productsAreNearWhatWasMeasured_data() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<QString>("device");
        QTest::addColumn<QString>("file");
        const QString a100 = "a100_sxm__trtllm-1.0.0__gemm.csv.gz", h100 = "h100_sxm__trtllm-1.3.0rc20__gemm.csv.gz";
        QTest::newRow("cycle") << "gpu-cycle"
                               << "a100-80-sxm" << a100;
        QTest::newRow("interval") << "gpu-interval"
                                  << "a100-80-sxm" << a100;
        QTest::newRow("cycle, H100") << "gpu-cycle"
                                     << "h100-sxm" << h100;
        QTest::newRow("interval, H100") << "gpu-interval"
                                        << "h100-sxm" << h100;
        QTest::newRow("cycle, B200") << "gpu-cycle"
                                     << "b200-sxm"
                                     << "b200_sxm__trtllm-1.3.0rc20__gemm.csv.gz";
        QTest::newRow("cycle, L40S") << "gpu-cycle"
                                     << "l40s"
                                     << "l40s__trtllm-1.3.0rc20__gemm.csv.gz";
    }
    void productsAreNearWhatWasMeasured() {
        QFETCH(QString, method);
        QFETCH(QString, device);
        QFETCH(QString, file);
        const auto rows = measuredProducts(file.toStdString());
        if (rows.empty()) QSKIP("the measured products are not here");
        // As they were measured: over five copies of the weights (the table's SOURCE.txt).
        const auto pricer = bound(qPrintable(method), qPrintable(device), {{"seconds", "1"}, {"copies", "5"}});
        const auto gpu = gpuView(loadHardware(device.toStdString())->hardware);
        double simulated = 0, roofline = 0;
        int count[2] = {};
        for (const Row& row : rows) {
            const std::size_t kind = row.large() ? 0 : 1;
            if (count[kind] == 5) continue;
            const Kernel kernel = product(row.shape[0], row.shape[1], row.shape[2]);
            const KernelPrice price = pricer->price(kernel);
            QVERIFY(price.priced && price.seconds > 0);
            const double least = leastSeconds(gpu->device, kernel) + gpu->device.launchOverhead.value;
            QVERIFY(price.seconds >= leastSeconds(gpu->device, kernel));
            const double off = 100 * (price.seconds / row.seconds - 1);
            qInfo("%lld x %lld x %lld: measured %.2f us, %+.1f %%", static_cast<long long>(row.shape[0]),
                  static_cast<long long>(row.shape[1]), static_cast<long long>(row.shape[2]), row.seconds * 1e6, off);
            simulated += std::abs(off) / 10, roofline += 10 * std::abs(least / row.seconds - 1);
            if (++count[kind] == 5 && count[1 - kind] == 5) break;
        }
        QCOMPARE(count[0] + count[1], 10);
        const auto said = QString("%1 %, the roofline with a launch %2 %").arg(simulated).arg(roofline);
        qInfo("%s", qPrintable(said));
        QVERIFY2(simulated < roofline, qPrintable(said));
        QVERIFY2(simulated < 34, qPrintable(said));
    }
    // 350 W do not hold 2,520 MHz while the tensor units are busy; a product that waits for memory keeps its clock. The
    // energies are of other devices and other kernels (gpu-generations).
    void aPowerCapHoldsTheClock() {
        const auto gpu = gpuView(loadHardware("l40s")->hardware);
        QVERIFY(gpu && gpusim::generationOf("ada") && gpusim::generationOf("ada")->tensorPower);
        const auto& power = *gpusim::generationOf("ada")->tensorPower;
        const double operations = 2e12, seconds = operations / (0.85 * gpu->peak(true, DType::BF16));
        const double share = clockShareOf(power, *gpu, DType::BF16, operations, 1e9, seconds);
        // At that clock the board draws what it may: what is always drawn, and the operations at their lower rate and
        // voltage.
        const double volts = voltageAt(share * gpu->clock / power.clock);
        const double watts = power.wattsPerSm * gpu->sms + power.joulesPerByte * 1e9 / seconds +
                             power.joulesPerOperation * volts * volts * share * operations / seconds;
        QVERIFY2(share < 1 && std::abs(watts / gpu->powerCap - 1) < 0.02, qPrintable(QString::number(watts)));
        QCOMPARE(clockShareOf(power, *gpu, DType::BF16, operations / 20, 1e9, seconds), 1.0);
        QVERIFY(clockShareOf(power, *gpu, DType::BF16, operations, 1e9, 2 * seconds) > share);
        auto free = *gpu;
        free.powerCap = 0;
        QCOMPARE(clockShareOf(power, free, DType::BF16, operations, 1e9, seconds), 1.0);
        // What the design guarantees stays.
        free.powerCap = 100, free.sustained = 0.5;
        QCOMPARE(clockShareOf(power, free, DType::BF16, operations, 1e9, seconds), 0.5);
        QVERIFY(!gpusim::generationOf("hopper")->tensorPower);
    }
    // What a tuner would find, by running each of the programs: none is faster than the answer's, and the first is not
    // always it.
    void theTileIsThatOfLeastTime() {
        int others = 0;
        for (const char* device : {"l40s", "h100-sxm"}) {
            const auto gpu = gpuView(loadHardware(device)->hardware);
            const auto drawn = machineOf(*gpu);
            QVERIFY(drawn);
            const double clock = drawn->machine.coreMhz * 1e6;
            const auto pricer = bound("gpu-interval", device, {{"copies", "5"}});
            for (const Kernel& kernel : {product(3073, 128, 7168), product(96, 1536, 3584), product(2, 2560, 1536)}) {
                const auto programs = programsOf(kernel, *gpu, *drawn);
                QVERIFY(programs && programs->size() > 2);
                double least = std::numeric_limits<double>::infinity(), first = 0;
                for (const KernelProgram& one : *programs) {
                    SampleOptions options{.intervals = true};
                    options.resident = residentOperands(*one.build(0), gpu->l2Bytes, 5);
                    const auto run = sampleKernel(one, drawn->machine, options);
                    if (!run) continue;
                    const double seconds = run->cycles / clock + one.afterSeconds;
                    if (first == 0) first = seconds;
                    least = std::min(least, seconds);
                }
                double got = 0;
                for (const auto& term : pricer->explain(kernel).terms)
                    got += term.name == "cycles" || term.name == "reduction kernel" ? term.value : 0;
                QVERIFY2(std::abs(got / least - 1) < 1e-9,
                         qPrintable(QString("%1: %2 of %3 us").arg(device).arg(got * 1e6).arg(least * 1e6)));
                others += first > 1.05 * least;
            }
        }
        QVERIFY(others > 0);
    }
    // Parts of a reduction meet in a second kernel: at least as long as the least that was measured of a kernel with
    // next to nothing to do in a graph (gpu-benches: 0.94 us on L40), and each part's sums are read once more.
    void partsOfAReductionTakeASecondKernel() {
        const auto gpu = gpuView(loadHardware("a100-80-sxm")->hardware);
        const auto drawn = machineOf(*gpu);
        QVERIFY(drawn);
        const Kernel kernel = product(2, 2560, 1536);
        const auto programs = programsOf(kernel, *gpu, *drawn);
        QVERIFY(programs);
        std::map<int, double> after;
        for (const KernelProgram& one : *programs) {
            const std::size_t at = one.name.find(" parts");
            const int parts = at == std::string::npos ? 1 : std::atoi(one.name.c_str() + one.name.find(", ") + 2);
            after[parts] = one.afterSeconds;
        }
        QVERIFY(after.size() > 2 && after.count(1));
        QCOMPARE(after[1], 0.0);
        double before = 0;
        int fewer = 0;
        for (const auto& [parts, seconds] : after) {
            if (parts < 2) continue;
            QVERIFY(seconds > 0.94e-6 && seconds < 3e-6);
            if (fewer > 0) {
                const double bytes = 4.0 * 2 * 2560 * (parts - fewer);
                QVERIFY(std::abs((seconds - before) * gpu->l2Bandwidth / bytes - 1) < 1e-6);
            }
            before = seconds, fewer = parts;
        }
        // The terms are the whole answer.
        const auto pricer = bound("gpu-interval", "a100-80-sxm", {{"copies", "5"}});
        double sum = 0;
        bool second = false;
        for (const auto& term : pricer->explain(kernel).terms) {
            if (term.dimension == Dimension::Time) sum += term.value;
            second |= term.name == "reduction kernel";
        }
        QVERIFY2(second && std::abs(sum / pricer->price(kernel).seconds - 1) < 1e-9, qPrintable(QString::number(sum)));
        // Where the largest tile fills the GPU nothing is tried, and no other kind of kernel is cut so.
        QCOMPARE(programsOf(product(2048, 2048, 2048), *gpu, *drawn)->size(), std::size_t{1});
        QCOMPARE(programsOf(*kernelFromSource("softmax m=64 n=256 fp16"), *gpu, *drawn)->size(), std::size_t{1});
    }
    // Libraries keep their largest tile where it fills the device once: on A100 products of 2,048 rows and 2,048, 2,560
    // and 3,072 columns took 108.5, 109.0 and 109.4 us, all two waves, and one of 1,536 columns 55.6 us
    // (aiconfigurator).
    void aWaveThatIsHalfEmptyIsPaidWhole() {
        const auto gpu = gpuView(loadHardware("a100-80-sxm")->hardware);
        const auto drawn = machineOf(*gpu);
        QVERIFY(drawn);
        const auto pricer = bound("gpu-interval", "a100-80-sxm", {{"copies", "5"}});
        const std::pair<std::int64_t, double> measured[] = {
            {1536, 55.6e-6}, {2048, 108.5e-6}, {2560, 109.0e-6}, {3072, 109.4e-6}};
        for (const auto& [n, seconds] : measured) {
            const double got = pricer->price(product(2048, n, 2048)).seconds;
            QVERIFY2(std::abs(got / seconds - 1) < 0.15, qPrintable(QString("%1: %2 us").arg(n).arg(got * 1e6)));
        }
        const auto program = programOf(product(2048, 2048, 2048), *gpu, *drawn);
        QVERIFY(program);
        QCOMPARE(program->tileM * program->tileN, 128.0 * 256);
        // Deep reductions are split, products of few tiles get smaller ones, and 100 KB hold no three stages.
        QVERIFY(programOf(product(1024, 1024, 4096), *gpu, *drawn)->tileM < 256);
        const auto small = gpuView(loadHardware("l40s")->hardware);
        const auto ada = machineOf(*small);
        QVERIFY(ada);
        QVERIFY(programOf(product(1536, 4096, 2048), *small, *ada)->tileM *
                    programOf(product(1536, 4096, 2048), *small, *ada)->tileN <
                128.0 * 256);
    }
    // A tile of products would be all but empty: one weight of nine in a row of 128. Between what the bytes of a
    // depthwise convolution take and ten times that, where the product takes a hundred.
    void convolutionsInGroupsAreComputedDirectly() {
        const auto gpu = gpuView(loadHardware("a100-80-sxm")->hardware);
        const auto drawn = machineOf(*gpu);
        QVERIFY(drawn);
        Kernel depthwise;
        depthwise.kind = KernelKind::Convolution;
        depthwise.type = depthwise.weightType = DType::F16;
        depthwise.convolution = {.batch = 64,
                                 .inChannels = 144,
                                 .outChannels = 144,
                                 .groups = 144,
                                 .height = 56,
                                 .width = 56,
                                 .kernelHeight = 3,
                                 .kernelWidth = 3,
                                 .outHeight = 56,
                                 .outWidth = 56};
        countWork(depthwise);
        const auto program = programOf(depthwise, *gpu, *drawn);
        QVERIFY(program);
        QVERIFY2(program->name.starts_with("direct"), program->name.c_str());
        const double bytes = 2 * 64.0 * 144 * 56 * 56 * 2;
        for (const char* id : {"gpu-interval", "interval-analysis", "wave-scaling", "tile-wave"}) {
            const KernelPrice price = bound(id, "a100-80-sxm", {})->price(depthwise);
            const double least = bytes / gpu->dramBandwidth;
            QVERIFY2(price.seconds >= 0.99 * least && price.seconds < 10 * least,
                     qPrintable(QString("%1: %2 of %3 us").arg(id).arg(price.seconds * 1e6).arg(least * 1e6)));
        }
        Kernel whole = depthwise;
        whole.convolution.groups = 1;
        countWork(whole);
        QVERIFY(!programOf(whole, *gpu, *drawn)->name.starts_with("direct"));
    }
    // An instruction of 128 rows reads the columns once for all of them: that of 64 waits for shared memory at
    // Blackwell's rate, 80 cycles for 64.
    void blackwellsInstructionsAreBoundByTheirUnits() {
        const auto drawn = machineOf(*gpuView(loadHardware("b200-sxm")->hardware));
        QVERIFY(drawn);
        const auto* timing = drawn->machine.timingOf("HGMMA.64x256x16.F32.BF16");
        QVERIFY(timing);
        QCOMPARE(timing->initiation, 64);
    }
    // A drawn cache keeps its generation's ways and distance; what is smaller than the code costs cycles, what is
    // larger none.
    void drawnCachesOfInstructionsStandBeforeTheGenerations() {
        auto gpu = *gpuView(loadHardware("h100-sxm")->hardware);
        const auto usual = machineOf(gpu);
        QVERIFY(usual);
        const auto* hopper = gpusim::generationOf("hopper");
        QVERIFY(usual->machine.generation.code == hopper->code);
        const auto cycles = [&] {
            const auto drawn = machineOf(gpu);
            const auto program = programOf(product(512, 512, 256), gpu, *drawn);
            const auto got = sampleKernel(*program, drawn->machine, {.instructions = 1e9});
            return got ? got->cycles : 0;
        };
        const double fits = cycles();
        gpu.instructionL0 = 1 << 20;
        QCOMPARE(cycles(), fits);
        gpu.instructionL0 = 1024, gpu.instructionL1 = 2048, gpu.constantCache = 4096, gpu.gpcCores = 8;
        const auto small = machineOf(gpu);
        QVERIFY(small);
        QCOMPARE(small->machine.generation.code.l0.bytes, 1024);
        QCOMPARE(small->machine.generation.code.l0.ways, 8);
        QCOMPARE(small->machine.generation.code.l1.latency, hopper->code.l1.latency);
        QCOMPARE(small->machine.generation.constants.loads.bytes, 4096);
        QCOMPARE(small->machine.generation.clusters.sms, 8.0);
        // The loop of this product takes 416 bytes: one line of 128 holds a part of it.
        gpu.instructionL0 = 128;
        QVERIFY2(cycles() > fits, qPrintable(QString("%1 after %2").arg(cycles()).arg(fits)));
    }
    // The causes that the schedulers' cycles are told apart by are all of them, those of small caches too.
    void partsAddUpToTheCycles() {
        QFile preset(ORRERY_SOURCE "/presets/hardware/h100-sxm.yaml");
        QVERIFY(preset.open(QIODevice::ReadOnly));
        QByteArray text = preset.readAll();
        QVERIFY(text.contains("          name: sm\n"));
        text.replace("          name: sm\n", "          name: sm\n          instruction_l0: 1 KiB\n");
        auto loaded = readHardware(text.toStdString());
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        const auto design = std::make_shared<const Hardware>(std::move(loaded->hardware));
        const auto at = firstDevice(design);
        QVERIFY(at);
        static const CalibrationSet none;
        const auto pricer = findKernelMethod("gpu-cycle")->bind(*at, BindContext{none, {{"seconds", "1"}}});
        QVERIFY(pricer);
        const auto story = (*pricer)->explain(product(2048, 2048, 256));
        const double clock = machineOf(*gpuView(*design))->machine.coreMhz * 1e6;
        double cycles = 0, parts = 0, code = -1;
        for (const auto& term : story.terms) cycles += term.name == "cycles" ? term.value * clock : 0;
        for (const auto& part : story.stack) {
            parts += part.cycles;
            if (part.name == "instruction cache") code = part.cycles;
        }
        QVERIFY(cycles > 0 && code >= 0);
        QVERIFY2(std::abs(parts / cycles - 1) < 1e-3, qPrintable(QString("%1 of %2").arg(parts).arg(cycles)));
    }
    // What each card says that it leaves out is left out by it.
    void theCardsSayWhatIsMissing() {
        const auto says = [](const char* method, const char* what) {
            return findKernelMethod(method)->card.failureMode.find(what) != std::string_view::npos;
        };
        for (const char* method : {"gpu-cycle", "gpu-interval"}) QVERIFY(says(method, "TLBs"));
        QVERIFY(!says("gpu-cycle", "nstruction") && !says("gpu-cycle", "clusters"));
        QVERIFY(says("gpu-interval", "instructions and constants") && says("gpu-interval", "clusters"));
    }
    // In a loop over copies of the weights an input comes again after one copy, a copy after all of them. The least
    // recently used line goes first, so that each is there or is not.
    void aLoopFindsWhatFitsTheCache() {
        const auto gpu = gpuView(loadHardware("a100-80-sxm")->hardware);
        const auto drawn = machineOf(*gpu);
        QVERIFY(drawn);
        const auto program = programOf(product(512, 1024, 256), *gpu, *drawn);
        QVERIFY(program);
        const auto kernel = program->build(0);
        const double a = 2.0 * 512 * 256, b = 2.0 * 1024 * 256, c = 2.0 * 512 * 1024;
        const auto found = [&](double cache, int copies) {
            double bytes = 0;
            for (const auto& range : residentOperands(*kernel, cache, copies))
                bytes += static_cast<double>(range.bytes);
            return bytes;
        };
        QCOMPARE(found(1e9, 0), 0.0);
        QCOMPARE(found(a + b + c - 1, 1), 0.0);
        QCOMPARE(found(a + b + c, 1), a + b);
        QCOMPARE(found(a + b + c, 5), a);
        QCOMPARE(found(a + 5 * b + c - 1, 5), a);
        QCOMPARE(found(a + 5 * b + c, 5), a + b);
        // The same of a shorter main loop: it has the rows of the whole one.
        QCOMPARE(residentOperands(*program->build(program->fewest), 1e9, 1).front().first,
                 residentOperands(*kernel, 1e9, 1).front().first);
    }
    // What stands in L2 does not come from main memory, nothing else changes its way, and waiting less takes no longer.
    void residentOperandsComeFromL2() {
        const auto gpu = gpuView(loadHardware("a100-80-sxm")->hardware);
        const auto drawn = machineOf(*gpu);
        QVERIFY(drawn);
        const auto program = programOf(product(512, 1024, 256), *gpu, *drawn);
        QVERIFY(program);
        for (const bool intervals : {false, true}) {
            SampleOptions options{.instructions = 1e9, .intervals = intervals};
            const auto cold = sampleKernel(*program, drawn->machine, options);
            options.resident = residentOperands(*program->build(0), gpu->l2Bytes, 5);
            const auto warm = sampleKernel(*program, drawn->machine, options);
            QVERIFY(cold && warm && cold->whole == !intervals && warm->whole == !intervals);
            QVERIFY2(cold->dramBytes >= 2 * 256 * (512 + 1024), qPrintable(QString::number(cold->dramBytes)));
            QCOMPARE(warm->counts.dramReads, std::uint64_t{0});
            QCOMPARE(warm->counts.l2.reads + warm->counts.l2.writes, cold->counts.l2.reads + cold->counts.l2.writes);
            QCOMPARE(warm->counts.warpInstructions, cold->counts.warpInstructions);
            QVERIFY2(warm->cycles < cold->cycles, qPrintable(QString("%1 of %2").arg(warm->cycles).arg(cold->cycles)));
        }
        const auto empty = bound("gpu-cycle", "a100-80-sxm"),
                   loop = bound("gpu-cycle", "a100-80-sxm", {{"copies", "5"}});
        const Kernel small = product(64, 512, 1024);
        QVERIFY(loop->price(small).seconds < empty->price(small).seconds);
        QVERIFY(loop->price(small).seconds >= leastSeconds(gpu->device, small));
    }
    // A part of the machine must stand for the whole: the same product with all blocks and with an eighth of them.
    void aSampleIsLikeTheWhole() {
        const auto loaded = loadHardware("a100-80-sxm");
        QVERIFY(loaded);
        const auto gpu = gpuView(loaded->hardware);
        const auto drawn = machineOf(*gpu);
        QVERIFY(drawn);
        const auto program = programOf(product(768, 1024, 512), *gpu, *drawn);
        QVERIFY(program);
        const auto whole = sampleKernel(*program, drawn->machine, {.instructions = 1e9});
        const auto part = sampleKernel(*program, drawn->machine, {.instructions = 6e4});
        QVERIFY(whole && part && whole->whole && !part->whole && part->part > 1);
        QVERIFY2(std::abs(part->cycles / whole->cycles - 1) < 0.2,
                 qPrintable(QString("%1 for %2").arg(part->cycles).arg(whole->cycles)));
    }
    // 320 blocks on 108 multiprocessors are 2.96 waves, and so are they on the 13 of an eighth. Measured on A100: a
    // wave more of columns (12,288 for 10,240) costs a fourth to a third more (aiconfigurator), and a quarter of the
    // reduction a quarter of the time.
    void aPartHasAsFullWavesAsTheWhole() {
        const auto pricer = bound("gpu-cycle", "a100-80-sxm", {{"seconds", "1"}, {"copies", "5"}});
        const std::tuple<std::int64_t, std::int64_t, double> measured[] = {
            {10240, 6144, 457.5e-6}, {10240, 1024, 91.8e-6}, {12288, 6144, 609.2e-6}};
        for (const auto& [n, k, seconds] : measured) {
            const double got = pricer->price(product(1024, n, k)).seconds;
            QVERIFY2(std::abs(got / seconds - 1) < 0.15, qPrintable(QString("%1: %2 us").arg(n).arg(got * 1e6)));
        }
    }
    void pricesRespectTheRooflineAndRepeat() {
        for (const char* method : {"gpu-cycle", "gpu-interval"}) {
            const auto pricer = bound(method, "a100-80-sxm", {{"seconds", "0.2"}});
            const auto again = bound(method, "a100-80-sxm", {{"seconds", "0.2"}});
            const auto gpu = gpuView(loadHardware("a100-80-sxm")->hardware);
            for (const Kernel& kernel : {product(64, 256, 128), product(2048, 2048, 2048), product(1, 4096, 512)}) {
                const KernelPrice price = pricer->price(kernel);
                QVERIFY(price.seconds >= leastSeconds(gpu->device, kernel));
                QVERIFY(price.low <= price.seconds && price.seconds <= price.high);
                QCOMPARE(again->price(kernel).seconds, price.seconds);
                QCOMPARE(pricer->levels().size(), std::size_t{2});
                QVERIFY(price.levelBytes[0] > 0 && price.levelBytes[1] >= price.levelBytes[0] * 0.5f);
            }
        }
    }
    // Joules where energies of events are known: a Volta under load draws more than its board idle and less than twice
    // its 300 W; of other generations the method does not speak.
    void energyIsSaidOfTheGenerationThatHasEnergies() {
        const Kernel kernel = product(1024, 1024, 512, DType::F16);
        const KernelPrice volta = bound("gpu-cycle", "v100")->price(kernel);
        QVERIFY(volta.joules > 0);
        const double watts = volta.joules / volta.seconds;
        QVERIFY2(watts > 32 && watts < 600, qPrintable(QString::number(watts)));
        QVERIFY(bound("gpu-cycle", "a100-80-sxm", {{"seconds", "0.2"}})->price(product(64, 64, 64)).joules < 0);
    }
    // One pricer for all threads, as a comparison uses it: whoever comes first simulates, the others find it.
    void aPricerIsSharedByThreads() {
        std::vector<Kernel> kernels;
        for (const int again : {0, 1, 2}) {
            for (const std::int64_t m : {64, 128, 192, 256}) kernels.push_back(product(m, 256, 256 + 64 * (again % 2)));
        }
        for (const char* method : {"gpu-cycle", "gpu-interval"}) {
            std::vector<KernelPrice> alone(kernels.size()), shared(kernels.size());
            const auto serial = bound(method, "a100-80-sxm", {{"seconds", "0.1"}});
            for (std::size_t i = 0; i < kernels.size(); ++i) alone[i] = serial->price(kernels[i]);
            const auto pricer = bound(method, "a100-80-sxm", {{"seconds", "0.1"}});
            const auto executor = makeThreadExecutor(4);
            QCOMPARE(executor->threads(), 4);
            executor->forEach(kernels.size(), [&](std::size_t i) { shared[i] = pricer->price(kernels[i]); });
            for (std::size_t i = 0; i < kernels.size(); ++i) {
                QVERIFY(shared[i].priced);
                QCOMPARE(shared[i].seconds, alone[i].seconds);
                QCOMPARE(shared[i].levelBytes[0], alone[i].levelBytes[0]);
                QCOMPARE(shared[i].levelBytes[1], alone[i].levelBytes[1]);
                QCOMPARE(shared[i].note, alone[i].note);
            }
        }
    }
    // A long kernel of 16 waves by some of them: near all of it, with an interval that is wider by what the draw
    // leaves.
    void longKernelsByDrawnWaves() {
        const auto kernel = kernelFromSource("elementwise m=4096 n=2048 fp16");
        QVERIFY(kernel);
        auto loaded = loadHardware("jetson-agx-orin");
        QVERIFY(loaded);
        const auto device = firstDevice(std::make_shared<const Hardware>(std::move(loaded->hardware)));
        QVERIFY(device);
        const auto view = gpuView(*device);
        const auto drawn = machineOf(*view);
        const auto program = programOf(*kernel, *view, *drawn);
        QVERIFY(program);
        const auto all = sampleKernel(*program, drawn->machine, {.instructions = 1e9});
        QVERIFY(all && all->whole && all->high == 0);
        const auto first = bound("gpu-cycle", "jetson-agx-orin", {{"seconds", "1.6"}})->price(*kernel);
        for (const auto kind : {gpusim::SampleKind::Smarts, gpusim::SampleKind::SimPoint}) {
            const auto some = sampleKernel(*program, drawn->machine, {.instructions = 2.4e5, .waves = kind});
            QVERIFY(some && !some->whole && some->part == 1);
            QVERIFY(some->simulatedInstructions < 0.8 * all->instructions);
            QCOMPARE(some->instructions, all->simulatedInstructions);
            QVERIFY2(some->low <= all->cycles && all->cycles <= some->high,
                     qPrintable(QString("%1 … %2, %3").arg(some->low).arg(some->high).arg(all->cycles)));
        }
        const auto price =
            bound("gpu-cycle", "jetson-agx-orin", {{"seconds", "1.6"}, {"sample", "smarts"}})->price(*kernel);
        QVERIFY(price.high / price.seconds > first.high / first.seconds);
        QVERIFY(price.low / price.seconds <= first.low / first.seconds);
        // Where the budget has no room for a sample it is as without.
        QCOMPARE(bound("gpu-cycle", "jetson-agx-orin", {{"seconds", "0.1"}, {"sample", "smarts"}})->price(*kernel).high,
                 bound("gpu-cycle", "jetson-agx-orin", {{"seconds", "0.1"}})->price(*kernel).high);
        static const CalibrationSet none;
        const auto wrong = findKernelMethod("gpu-cycle")->bind(*device, BindContext{none, {{"sample", "guess"}}});
        QVERIFY(!wrong && wrong.error().expected.find("simpoint") != std::string::npos);
    }
    void whatCouldNotBeSimulatedSaysWhy() {
        const auto pricer = bound("gpu-cycle", "a100-80-sxm", {{"seconds", "0.05"}, {"cycles", "10"}});
        const KernelPrice price = pricer->price(product(512, 512, 512));
        QVERIFY(!price.priced);
        QVERIFY(price.note >= 0);
        QCOMPARE(pricer->notes()[static_cast<std::size_t>(price.note)].code, std::string("gpu-cycle.not-simulated"));
    }
};

QTEST_GUILESS_MAIN(TestMethodGpuCycle)
#include "tst_method_gpu_cycle.moc"
