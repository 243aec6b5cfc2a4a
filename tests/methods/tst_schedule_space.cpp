#include "base/executor.h"
#include "base/random.h"
#include "methods/gpu/gpu_kernels.h"
#include "methods/gpu/gpu_sample.h"
#include "methods/model/kernel_bound.h"
#include "methods/schedule/schedule_search.h"
#include "simulation/cpu/core/kernels/scheduled_product.h"
#include "support/devices.h"
#include "workload/kernel_source.h"

#include <QtTest/QtTest>

#include <cmath>
#include <set>

using namespace orrery;

namespace {

ScheduleSpacePtr spaceOf(const char* device, const char* workload, const char* target = "") {
    auto space = scheduleSpace(fixture::device(device), workload, target);
    if (!space) qFatal("%s", space.error().message.c_str());
    return *space;
}
std::string codeOfSpace(const char* device, const char* workload, const char* target = "") {
    const auto space = scheduleSpace(fixture::device(device), workload, target);
    return space ? std::string("there is a space") : space.error().code;
}

// Four schedules whose target runs none of them, or that takes no time.
class NothingRuns final : public ScheduleSpace {
public:
    explicit NothingRuns(bool fails) : fails_(fails) {
        axes_ = {{"tile", "none", {1, 2, 4, 8}, {}}};
        target_ = "core-windows";
        const auto kept = keep([](SchedulePoint) { return true; });
        if (!kept) qFatal("%s", kept.error().message.c_str());
    }
    const std::vector<std::string>& featureNames() const override { return names_; }
    void features(SchedulePoint point, std::span<double> out) const override { out[0] = value(point, 0); }
    double cheapSeconds(SchedulePoint point) const override { return value(point, 0); }
    Expected<double> seconds(SchedulePoint point, const std::stop_token&) const override {
        if (!fails_) return 0.0;
        return fail("gpu.template", "tile " + std::to_string(int(value(point, 0))) + " needs more registers");
    }
    ScheduleNest nest(SchedulePoint) const override { return {}; }

private:
    bool fails_ = false;
    std::vector<std::string> names_{"tile"};
};

// How often each operation of a nest runs: the trips of the loops around it.
void countNode(const pipeline::LoopNest& nest, int at, double times, std::vector<double>& out) {
    const auto& node = nest.nodes[static_cast<std::size_t>(at)];
    if (node.trips == 0) {
        for (std::uint32_t i = node.firstOp; i < node.firstOp + node.ops; ++i) out[i] += times;
        return;
    }
    for (const int child : node.inside) countNode(nest, child, times * static_cast<double>(node.trips), out);
}
double countOf(const pipeline::LoopNest& nest, pipeline::OpKind kind) {
    std::vector<double> times(nest.ops.size(), 0);
    countNode(nest, 0, 1, times);
    double sum = 0;
    for (std::size_t i = 0; i < nest.ops.size(); ++i) sum += nest.ops[i].kind == kind ? times[i] : 0;
    return sum;
}

pipeline::ProductSchedule smallSchedule() {
    pipeline::ProductSchedule s;
    s.m = 12, s.n = 32, s.k = 24, s.rowTasks = 2, s.columnTasks = 2, s.tasks = 4;
    s.rows = 3, s.columns = 8, s.depth = 12, s.unroll = 4, s.instructionSet = "avx2";
    return s;
}

// Bytes that loads and stores touch, from the first number of each array on.
struct Touched {
    std::map<std::uint64_t, std::set<std::uint64_t>> reads, writes;  ///< by array
};
Touched touchedBy(const pipeline::LoopNest& nest) {
    Touched out;
    pipeline::NestStream stream(nest);
    pipeline::OpChunk chunk;
    while (stream.next(chunk)) {
        for (std::size_t i = 0; i < chunk.size; ++i) {
            const auto& op = nest.ops[chunk.op[i]];
            if (op.kind != pipeline::OpKind::Load && op.kind != pipeline::OpKind::Store) continue;
            const std::uint64_t array = *std::prev(std::ranges::upper_bound(nest.arrays, chunk.address[i]));
            auto& into = op.kind == pipeline::OpKind::Load ? out.reads[array] : out.writes[array];
            for (std::uint64_t b = 0; b < op.bytes; ++b) into.insert(chunk.address[i] - array + b);
        }
    }
    return out;
}

}  // namespace

// Schedules that a product may have on a drawn device, what they cost, and how a search finds the best.
class TestScheduleSpace : public QObject {
    Q_OBJECT

private slots:
    // Whatever the order of its loops, a schedule multiplies each pair once, and touches the matrices and nothing else.
    void everyScheduleIsTheProduct() {
        const auto machine = pipeline::loadMachine("skylake-server");
        QVERIFY2(machine, machine ? "" : machine.error().message.c_str());
        using pipeline::TileLoop;
        std::array<TileLoop, 3> order{TileLoop::Rows, TileLoop::Columns, TileLoop::Reduction};
        do {
            for (const bool packed : {false, true}) {
                auto s = smallSchedule();
                s.order = order, s.packed = packed;
                QVERIFY(s.divides() && s.fitsRegisters(*machine));
                const auto nest = nestOf(s, *machine);
                QCOMPARE(countOf(nest, pipeline::OpKind::FpFma), 12.0 * 32 * 24 / 8);
                const Touched touched = touchedBy(nest);
                QCOMPARE(nest.arrays.size(), std::size_t{3});
                QCOMPARE(touched.reads.at(nest.arrays[0]).size(), std::size_t{4 * 12 * 24});
                QCOMPARE(touched.reads.at(nest.arrays[1]).size(), std::size_t{4 * 24 * 32});
                QCOMPARE(*touched.reads.at(nest.arrays[1]).rbegin(), std::uint64_t{4 * 24 * 32 - 1});
                QCOMPARE(touched.writes.at(nest.arrays[2]).size(), std::size_t{4 * 12 * 32});
                QVERIFY(!touched.writes.contains(nest.arrays[0]) && !touched.writes.contains(nest.arrays[1]));
            }
        } while (std::ranges::next_permutation(order).found);
    }

    // Tasks of one core, one after another, are shares of the whole; those of a batch have matrices of their own.
    void tasksAreSharesOfTheWhole() {
        const auto machine = pipeline::loadMachine("skylake-server");
        QVERIFY(machine);
        for (std::int64_t tasks = 1; tasks <= 12; ++tasks) {
            auto s = smallSchedule();
            s.batch = 3, s.tasks = tasks;
            QCOMPARE(countOf(nestOf(s, *machine), pipeline::OpKind::FpFma), 12.0 * 32 * 24 / 8 / 4 * double(tasks));
        }
        auto s = smallSchedule();
        s.batch = 3, s.tasks = 12;
        const auto nest = nestOf(s, *machine);
        QCOMPARE(touchedBy(nest).writes.at(nest.arrays[2]).size(), std::size_t{3 * 4 * 12 * 32});
    }

    // A tile that the usual program has is that program.
    void theUsualTileIsTheUsualProgram() {
        for (const char* id : {"a100-80-sxm", "h100-sxm", "v100"}) {
            const auto gpu = gpuView(*fixture::device(id));
            const auto drawn = machineOf(*gpu);
            QVERIFY(gpu && drawn);
            const Kernel kernel = *kernelFromSource("gemm m=512 n=1024 k=1024 fp16");
            const auto usual = programOf(kernel, *gpu, *drawn);
            QVERIFY(usual);
            const auto whole = usual->build(0);
            const auto& header = whole->header();
            bool found = false;
            for (int stages = 1; stages <= 4 && !found; ++stages) {
                ProductTile tile{
                    int(usual->tileM), int(usual->tileN), int(usual->tileK), int(header.warps()), 1, stages};
                const auto given = programOf(kernel, *gpu, *drawn, tile);
                if (!given || given->build(0)->header().sharedBytes != header.sharedBytes) continue;
                found = true;
                QCOMPARE(given->build(0)->header().registers, header.registers);
                QCOMPARE(given->steps, usual->steps);
                SampleOptions options;
                options.intervals = true;
                QCOMPARE(sampleKernel(*given, drawn->machine, options)->cycles,
                         sampleKernel(*usual, drawn->machine, options)->cycles);
            }
            QVERIFY2(found, id);
        }
    }

    void tilesThatCannotRunAreRefused() {
        const auto gpu = gpuView(*fixture::device("a100-80-sxm"));
        const auto drawn = machineOf(*gpu);
        const Kernel kernel = *kernelFromSource("gemm m=512 n=512 k=512 fp16");
        const auto refused = [&](ProductTile tile) {
            const auto program = programOf(kernel, *gpu, *drawn, tile);
            return !program && program.error().code == "gpu.template";
        };
        QVERIFY(!refused({128, 128, 32, 8, 1, 3}));
        QVERIFY(refused({128, 128, 32, 64, 1, 3}));   // 2,048 threads
        QVERIFY(refused({256, 256, 32, 2, 1, 2}));    // a thread has 255 registers
        QVERIFY(refused({256, 256, 128, 8, 1, 6}));   // 786 KB of shared memory
        QVERIFY(refused({128, 128, 24, 8, 1, 3}));    // one and a half instructions
        QVERIFY(refused({16, 16, 32, 16, 1, 2}));     // less than an instruction for a warp
        QVERIFY(refused({128, 128, 128, 8, 16, 2}));  // four steps in sixteen parts
        QVERIFY(refused({128, 128, 32, 8, 1, 1}));    // copies need two
        // Five steps in four parts are two each, and the fourth has none; three parts have two, two and one.
        const Kernel five = *kernelFromSource("gemm m=512 n=512 k=160 fp16");
        QVERIFY(!programOf(five, *gpu, *drawn, {128, 128, 32, 8, 4, 3}));
        QVERIFY(programOf(five, *gpu, *drawn, {128, 128, 32, 8, 3, 3}));
    }

    // Points are numbers for choices and back; all that are legal have prices, none below the roofline.
    void pointsRunAndHavePrices_data() {
        QTest::addColumn<QString>("device");
        QTest::addColumn<QString>("workload");
        QTest::newRow("CPU") << "core-i9-10940x"
                             << "gemm m=96 n=128 k=64";
        QTest::newRow("CPU, batch") << "ryzen-9-7950x"
                                    << "gemm batch=12 m=64 n=64 k=64";
        QTest::newRow("CPU, a prime") << "grace"
                                      << "gemm:m=17,n=31,k=13";
        QTest::newRow("GPU") << "a100-80-sxm"
                             << "gemm m=256 n=256 k=512";
        QTest::newRow("GPU, vector units") << "t4"
                                           << "gemm m=256 n=256 k=256 fp32";
        QTest::newRow("GPU, convolution") << "v100"
                                          << "convolution batch=1 in_channels=64 out_channels=64 height=28 "
                                             "width=28 kernel_height=3 kernel_width=3 pad=1";
    }
    void pointsRunAndHavePrices() {
        QFETCH(QString, device);
        QFETCH(QString, workload);
        const auto space = spaceOf(qPrintable(device), qPrintable(workload));
        const auto legal = space->legal();
        QVERIFY(legal.size() > 20);
        RandomStream random(7);
        std::vector<double> features(space->featureNames().size());
        for (int i = 0; i < 12; ++i) {
            const SchedulePoint point = legal[random.below(legal.size())];
            QCOMPARE(space->pointOf(space->choicesOf(point)), point);
            QVERIFY(space->isLegal(point));
            QVERIFY(space->cheapSeconds(point) > 0);
            space->features(point, features);
            for (const double each : features) QVERIFY(std::isfinite(each));
            const auto seconds = space->seconds(point, {});
            QVERIFY2(seconds, seconds ? "" : (space->textOf(point) + ": " + seconds.error().message).c_str());
            QCOMPARE(*space->seconds(point, {}), *seconds);
            const auto view = deviceView(*firstDevice(fixture::device(qPrintable(device))));
            QVERIFY(view && *seconds >= leastSeconds(*view, space->kernel()) * (1 - 1e-12));
            // The loops around the multiply-add make at least the product.
            double steps = 1;
            const ScheduleNest nest = space->nest(point);
            for (const NestLine& line : nest.lines) steps *= line.loop ? line.extent : 1;
            const Kernel& k = space->kernel();
            QVERIFY(steps >= 0.999 * k.flops / 2);
            // The outermost one touches the matrices, whole tiles of them; a convolution laid out, up to nine times.
            QVERIFY(nest.lines.front().flops >= 0.999 * k.flops);
            QVERIFY2(nest.lines.front().bytes >= 0.5 * k.bytes() && nest.lines.front().bytes <= 18 * k.bytes(),
                     qPrintable(QString::number(nest.lines.front().bytes / k.bytes())));
        }
    }

    // Packed weights, wider vectors and more cores must not be slower than a schedule that lacks all three.
    void theWorstChoicesAreWorse() {
        const auto space = spaceOf("core-i9-10940x", "gemm m=128 n=256 k=256");
        double slowest = 0, fastest = 1e9;
        for (const SchedulePoint point : space->legal()) {
            const auto choices = space->choicesOf(point);
            const auto& axes = space->axes();
            const bool one = axes[0].values[choices[0]] * axes[1].values[choices[1]] == 1;
            if (axes[7].words[choices[7]] == "scalar" && one && slowest == 0) slowest = *space->seconds(point, {});
            if (axes[7].words[choices[7]] == "avx512" && axes[0].values[choices[0]] == 4 &&
                axes[2].values[choices[2]] == 8 && axes[3].values[choices[3]] == 32 && fastest == 1e9)
                fastest = *space->seconds(point, {});
        }
        QVERIFY(slowest > 0 && fastest < 1);
        QVERIFY2(fastest < slowest / 8, qPrintable(QString("%1 %2").arg(fastest).arg(slowest)));
    }

    // The same seed tries the same, on any number of threads; nothing is asked twice.
    void aSeedSaysAll() {
        const auto space = spaceOf("a100-80-sxm", "gemm m=128 n=256 k=256");
        const auto threads = makeDefaultExecutor(3);
        for (const ScheduleGuide guide :
             {ScheduleGuide::Trees, ScheduleGuide::Analytic, ScheduleGuide::Both, ScheduleGuide::Random}) {
            SchedulePrices one(space), other(space);
            ScheduleSearchOptions options;
            options.guide = guide, options.trials = 30, options.seed = 5;
            const auto a = searchSchedules(one, options);
            options.executor = threads.get();
            const auto b = searchSchedules(other, options);
            QVERIFY(a && b);
            QCOMPARE(a->trials.size(), std::size_t{30});
            std::set<SchedulePoint> points;
            double best = 1e9;
            for (std::size_t i = 0; i < 30; ++i) {
                QCOMPARE(a->trials[i].point, b->trials[i].point);
                QCOMPARE(a->trials[i].seconds, b->trials[i].seconds);
                points.insert(a->trials[i].point);
                best = std::min(best, a->trials[i].seconds);
                QCOMPARE(a->trials[i].best, best);
            }
            QCOMPARE(points.size(), std::size_t{30});
        }
    }

    // A space that is searched wholly knows its best; learned guides are there well before chance, both by the
    // geometric mean over seeds. Of 40 seeds chance itself would be so much sooner in one of twenty cases.
    void learnedGuidesAreSoonerThanChance() {
        const auto space = spaceOf("t4", "gemm m=64 n=128 k=512 fp32");
        SchedulePrices prices(space);
        double best = 1e9;
        std::vector<double> all;
        for (const SchedulePoint point : space->legal()) all.push_back(*prices.of(point, {}));
        for (const double each : all) best = each > 0 ? std::min(best, each) : best;
        const auto good = std::ranges::count_if(all, [&](double each) { return each > 0 && best >= 0.95 * each; });
        std::vector<ScheduleSearch> searches;
        for (const ScheduleGuide guide : {ScheduleGuide::Trees, ScheduleGuide::Random}) {
            const std::uint64_t seeds = guide == ScheduleGuide::Random ? 400 : 40;  // chance is cheap to draw
            for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                std::stop_source near;
                ScheduleSearchOptions options;
                options.guide = guide, options.seed = seed, options.trials = all.size();
                options.stop = near.get_token();
                options.onTrials = [&](const ScheduleSearch& so) {
                    if (so.trialsUntil(best) > 0) near.request_stop();
                };
                const auto found = searchSchedules(prices, options);
                QVERIFY(found);
                searches.push_back(*found);
            }
        }
        const auto figures = figuresOf(searches, best);
        QCOMPARE(figures.size(), std::size_t{2});
        QVERIFY(figures[0].reached == 40 && figures[1].reached == 400);
        qInfo("%zu schedules, %td near the best: %.1f trials learned, %.1f by chance", all.size(), good,
              figures[0].trials, figures[1].trials);
        QVERIFY(figures[0].trials < 0.7 * figures[1].trials);
    }

    // Where no schedule runs the search says what the target said of the first.
    void nothingThatRunsIsAFailure() {
        for (const bool fails : {true, false}) {
            SchedulePrices prices(std::make_shared<const NothingRuns>(fails));
            ScheduleSearchOptions options;
            options.guide = ScheduleGuide::Analytic;
            const auto found = searchSchedules(prices, options);
            QVERIFY(!found);
            QCOMPARE(found.error().code, std::string(fails ? "gpu.template" : "schedules.no-time"));
            QVERIFY(!fails || found.error().message == "tile 1 needs more registers");
        }
    }

    // Divisors as a loop over all numbers finds them, and those of a long reduction at once.
    void divisorsAreAllThatDivide() {
        for (std::int64_t extent = 1; extent <= 500; ++extent) {
            for (const std::int64_t largest : {1, 7, 30, 1000}) {
                std::vector<double> all;
                for (std::int64_t i = 1; i <= std::min(extent, largest); ++i)
                    if (extent % i == 0) all.push_back(double(i));
                QCOMPARE(someDivisors(extent, 1000, largest), all);
            }
        }
        const std::int64_t prime = 1'099'511'627'689;  // just below 2⁴⁰
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(someDivisors(prime, 8, prime), (std::vector<double>{1, double(prime)}));
        QVERIFY(timer.elapsed() < 1000);
    }

    void aStopKeepsWhatWasFound() {
        SchedulePrices prices(spaceOf("a100-80-sxm", "gemm m=128 n=256 k=256"));
        std::stop_source stop;
        ScheduleSearchOptions options;
        options.stop = stop.get_token();
        options.onTrials = [&](const ScheduleSearch& so) {
            if (so.trials.size() >= 16) stop.request_stop();
        };
        const auto found = searchSchedules(prices, options);
        QVERIFY(found);
        QCOMPARE(found->trials.size(), std::size_t{16});
        const auto none = searchSchedules(prices, options);
        QVERIFY(!none && none.error().code == "study.cancelled");
        // Nothing is put in order after a stop either, and what was not put in order then is so later.
        const auto order = prices.cheapOrder(options.stop);
        QVERIFY(!order && order.error().code == "study.cancelled");
        const auto later = prices.cheapOrder({});
        QVERIFY(later && later->size() == prices.space().legal().size());
    }

    void whatHasNoSpaceIsRefused() {
        QCOMPARE(codeOfSpace("core-i9-10940x", "softmax m=4 n=4"), std::string("schedules.workload"));
        QCOMPARE(codeOfSpace("core-i9-10940x", "gemm m=4 n=4 k=4 int8"), std::string("schedules.workload"));
        QCOMPARE(codeOfSpace("core-i9-10940x", "gemm m=4 n=4 k=4", "gpu-cycle"), std::string("schedules.target"));
        QCOMPARE(codeOfSpace("a100-80-sxm", "gemm m=64 n=64 k=64", "core-cycle"), std::string("schedules.target"));
        QCOMPARE(codeOfSpace("core-i9-10940x", "gemm m=x"), std::string("kernel.source"));
        // A word that nobody wrote is in no message.
        for (const char* empty : {"", " ", ":::", "kernel:", ","}) {
            const auto space = scheduleSpace(fixture::device("core-i9-10940x"), empty);
            QVERIFY(!space && space.error().code == "kernel.source");
            QVERIFY2(space.error().message.find("fp32") == std::string::npos, space.error().message.c_str());
        }
        QCOMPARE(codeOfSpace("tpu-v4", "gemm m=64 n=64 k=64"), std::string("method.not-applicable"));
    }
};

QTEST_GUILESS_MAIN(TestScheduleSpace)
#include "tst_schedule_space.moc"
