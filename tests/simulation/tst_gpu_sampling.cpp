// Samples of GPU kernels and lists: with nothing left out they are the run itself; what is left out is estimated within
// the interval that is stated; caches find what passed; the same seed gives the same answer on any number of threads.

#include "simulation/gpu/gpu.h"
#include "simulation/gpu/sampling/sample.h"
#include "simulation/gpu/sampling/wave_plan.h"
#include "simulation/sampling/statistics.h"
#include "support/gpu_traces.h"

#include <QTest>

#include <cmath>

using namespace orrery;
using namespace orrery::gpusim;

// Asks for a stop when it has given so many blocks.
class StoppingSource final : public KernelSource {
public:
    StoppingSource(KernelTrace whole, std::stop_source& stop, int after, int& given)
        : whole_(std::move(whole)), stop_(stop), after_(after), given_(given) {}
    const KernelHeader& header() const override { return whole_.header(); }
    Expected<bool> next(TraceBlock& block, const LocalPlace& local) override {
        if (++given_ == after_) stop_.request_stop();
        return whole_.next(block, local);
    }
    const std::vector<StaticInstruction>& statics() const override { return whole_.statics(); }
    std::string path() const override { return whole_.path(); }
    std::vector<InstructionText> texts() const override { return whole_.texts(); }

private:
    KernelTrace whole_;
    std::stop_source& stop_;
    int after_;
    int& given_;
};

class TestGpuSampling : public QObject {
    Q_OBJECT
    using Shape = orrery::test::GpuTraces::Shape;
    orrery::test::GpuTraces traces_;
    Machine machine_;

    static QString op(const QString& text, int pc) { return orrery::test::traceLine(qPrintable(text), pc); }
    static QString chain(const char* opcode, int n, int pc = 16) {
        QString lines;
        for (int i = 0; i < n; ++i) lines += op(QString("1 R10 %1 1 R10 0 0").arg(opcode), pc);
        return lines;
    }
    static QString load(int address, int pc) {
        return op(QString("1 R12 LDG.E.SYS 1 R2 4 1 0x%1 4 0").arg(address, 0, 16), pc);
    }
    TraceCommand kernel(int blocks, const orrery::test::GpuTraces::Body& body) {
        // 64 KB of shared memory: one block per multiprocessor, so four are a wave.
        const QString path = traces_.write(orrery::test::GpuTraces::trace({blocks, 32, 65536, 32}, body));
        return {TraceCommand::Kind::Kernel, 0, 0, path.toStdString(), {}};
    }
    double cycles(const std::vector<TraceCommand>& list) const {
        const auto got = simulate(machine_, list);
        double all = 0;
        for (const auto& one : *got) all += static_cast<double>(one.cycles);
        return all;
    }
    SampledList sampled(const std::vector<TraceCommand>& list, const SampleOptions& how,
                        const SimulateOptions& options = {}) const {
        auto got = sampleKernels(machine_, list, how, options);
        if (!got) QTest::qFail(toText(got.error()).c_str(), __FILE__, __LINE__);
        return got ? *got : SampledList{};
    }
    static SampleOptions by(SampleKind kind, std::int64_t units, std::uint64_t seed = 1) {
        SampleOptions out;
        out.kind = kind, out.units = units, out.seed = seed;
        return out;
    }

private slots:
    void initTestCase() {
        const auto got = readMachine({ORRERY_TEST_DATA "/gpu/small", {}});
        QVERIFY2(got, got ? "" : toText(got.error()).c_str());
        machine_ = got->machine;
        QCOMPARE(machine_.sms, 4);
    }

    // Of printed tables.
    void studentQuantileIsExact() {
        for (const auto& [degrees, t] :
             {std::pair{1.0, 12.7062}, {2.0, 4.3027}, {3.0, 3.1824}, {9.0, 2.2622}, {60.0, 2.0003}})
            QVERIFY(std::fabs(studentQuantile(0.975, degrees) - t) < 1e-4);
        QVERIFY(std::fabs(studentQuantile(0.05, 4) + 2.1318) < 1e-4);
    }
    // 2 of 6 measured, at 10 and 14: four of weight 1 are left. By hand: 4 × 12; s² = 8; 8 × (16 ÷ 2 + 4) = 96.
    void totalsHaveTheirIntervalByHand() {
        const std::vector<SampleStratum> one{{{10, 14}, 4, 4, 0}};
        const auto total = totalOf(one, 0.95);
        QCOMPARE(total.total, 48.0);
        QVERIFY(std::fabs(total.half - 12.7062 * std::sqrt(96.0)) < 1e-2);
        QCOMPARE(totalOf(std::vector<SampleStratum>{{{10, 14}, 0, 0, 0}}, 0.95).half, 0.0);
    }

    void wavesCoverTheGrid() {
        for (const std::int64_t blocks : {1, 7, 8, 11, 12, 13, 100, 2000}) {
            auto waves = wavesOf(blocks, 4);
            const auto drawnFrom =
                std::count_if(waves.begin(), waves.end(), [](const Wave& one) { return one.stratum >= 0; });
            // Of 500 waves the first sixteen and the last are kept, of 25 the first two.
            QCOMPARE(drawnFrom, blocks == 2000 ? 483 : blocks == 100 ? 22 : blocks / 4 > 2 ? blocks / 4 - 2 : 0);
            RandomStream random(3);
            drawRandom(waves, 3, random);
            std::int64_t all = 0, measured = 0;
            for (std::size_t i = 0; i < waves.size(); ++i) {
                all += waves[i].blocks, measured += waves[i].use == WaveUse::Measured;
                // Nothing that counts stands beside a wave that passed.
                const bool counts = waves[i].use == WaveUse::Measured || waves[i].use == WaveUse::Kept;
                if (i > 0 && counts) QVERIFY(waves[i - 1].use != WaveUse::Passed);
                if (i + 1 < waves.size() && counts) QVERIFY(waves[i + 1].use != WaveUse::Passed);
            }
            QCOMPARE(all, blocks);
            QVERIFY(waves.front().use == WaveUse::Kept && waves.back().use == WaveUse::Kept);
            QVERIFY(waves.size() == 1 || waves.back().blocks >= 4);
            QCOMPARE(measured, std::min<std::int64_t>(drawnFrom, 3));
        }
    }

    // What a budget is asked for beforehand: no draw simulates less, and some draw no more.
    void noSampleIsShorterThanTheLeast() {
        for (const std::int64_t places : {1, 4, 108}) {
            for (std::int64_t blocks = 1; blocks < 40 * places; blocks += 1 + blocks / 9) {
                std::int64_t fewest = blocks;
                for (std::uint64_t seed = 0; seed < 200; ++seed) {
                    auto waves = wavesOf(blocks, places);
                    RandomStream random(seed);
                    drawRandom(waves, 1, random);
                    std::int64_t simulated = 0;
                    for (const Wave& one : waves) simulated += one.use == WaveUse::Passed ? 0 : one.blocks;
                    fewest = std::min(fewest, simulated);
                }
                QCOMPARE(leastBlocks(blocks, places), fewest);
            }
        }
    }

    void whatLeavesNothingOutIsTheRun_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("smarts") << static_cast<int>(SampleKind::Smarts);
        QTest::newRow("simpoint") << static_cast<int>(SampleKind::SimPoint);
    }
    void whatLeavesNothingOutIsTheRun() {
        QFETCH(int, kind);
        const std::vector<TraceCommand> list{
            {TraceCommand::Kind::Copy, 0x40000000, 4096, {}, {}}, kernel(37, [](int b, int) {
                return chain("FADD", 5 + b % 7) + load(0x40000000 + b % 5 * 4096 + b * 128, 32);
            })};
        const auto run = simulate(machine_, list);
        QVERIFY(run);
        const auto all = sampled(list, by(static_cast<SampleKind>(kind), 1000));
        QCOMPARE(all.kernels.size(), std::size_t{1});
        const auto& one = all.kernels.front();
        QVERIFY(one.whole());
        QCOMPARE(one.cycles, run->front().cycles);
        QCOMPARE(all.low, static_cast<double>(run->front().cycles));
        QCOMPARE(all.high, all.low);
        QCOMPARE(one.counts.l2.reads, run->front().counts.l2.reads);
        QCOMPARE(one.counts.dramReads, run->front().counts.dramReads);
        // So is a kernel that has no waves between its first and its last.
        const std::vector<TraceCommand> few{kernel(9, [](int, int) { return chain("FADD", 20); })};
        QCOMPARE(sampled(few, by(static_cast<SampleKind>(kind), 1)).estimate, cycles(few));
    }

    void aUniformKernelNeedsOneWave() {
        const std::vector<TraceCommand> list{kernel(400, [](int, int) { return chain("MUFU.RCP", 40); })};
        const double full = cycles(list);
        for (const std::uint64_t seed : {1, 2, 3}) {
            const auto all = sampled(list, by(SampleKind::SimPoint, 1, seed));
            const auto& one = all.kernels.front();
            QCOMPARE(one.waves, std::int64_t{100});
            QCOMPARE(one.measuredWaves, std::int64_t{1});
            QCOMPARE(one.clusters, 1);
            QVERIFY2(all.simulated < 0.2 * all.instructions, qPrintable(QString::number(one.share())));
            QVERIFY2(std::fabs(all.estimate / full - 1) < 0.002, qPrintable(QString::number(all.estimate / full)));
        }
    }

    // The second half takes 2.6 times as long per instruction; the beginning alone would miss it.
    void alikeIsWhatRunsTheSame() {
        const std::vector<TraceCommand> list{
            kernel(240, [](int b, int) { return b < 120 ? chain("FADD", 60) : chain("MUFU.RCP", 60, 48); })};
        const double full = cycles(list);
        const auto alike = sampled(list, by(SampleKind::SimPoint, 4));
        QVERIFY(alike.kernels.front().clusters >= 2 && alike.kernels.front().clusters <= 3);
        QVERIFY2(std::fabs(alike.estimate / full - 1) < 0.02, qPrintable(QString::number(alike.estimate / full)));
        QVERIFY(alike.low <= full && full <= alike.high);
        QVERIFY(alike.simulated < 0.4 * alike.instructions);
        // At random from equal stretches: wider, and it holds.
        const auto random = sampled(list, by(SampleKind::Smarts, 4));
        QVERIFY(random.low <= full && full <= random.high);
        QVERIFY(random.high - random.low > alike.high - alike.low);
    }

    // Memory, and blocks of different length: over seeds as many intervals hold as they say, within four deviations.
    void intervalsHoldOverSeeds_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("longest");
        QTest::newRow("smarts") << static_cast<int>(SampleKind::Smarts) << 50;
        QTest::newRow("simpoint") << static_cast<int>(SampleKind::SimPoint) << 50;
        QTest::newRow("smarts, uneven") << static_cast<int>(SampleKind::Smarts) << 400;
    }
    void intervalsHoldOverSeeds() {
        QFETCH(int, kind);
        QFETCH(int, longest);
        RandomStream random(11);
        std::vector<int> lengths, places;
        for (int b = 0; b < 240; ++b)
            lengths.push_back(10 + static_cast<int>(random.below(static_cast<std::size_t>(longest) - 10))),
                places.push_back(static_cast<int>(random.below(512)));
        const std::vector<TraceCommand> list{kernel(240, [&](int b, int) {
            QString lines = chain("FADD", lengths[static_cast<std::size_t>(b)]);
            for (int i = 0; i < 4; ++i)
                lines += load(0x40000000 + (places[static_cast<std::size_t>(b)] + 37 * i) % 512 * 2048, 64 + 16 * i);
            return lines;
        })};
        const double full = cycles(list);
        constexpr int draws = 60;
        int held = 0, heldByFloor = 0;
        double off = 0, half = 0;
        for (int seed = 1; seed <= draws; ++seed) {
            const auto all = sampled(list, by(static_cast<SampleKind>(kind), 8, static_cast<std::uint64_t>(seed)));
            held += all.low <= full && full <= all.high;
            heldByFloor += std::fabs(all.estimate - full) <= 0.03 * all.estimate;
            off += std::fabs(all.estimate / full - 1) / draws, half += (all.high - all.low) / 2 / full / draws;
        }
        qInfo("%d of %d intervals hold, %d would by 3 %% alone, mean error %.2f %%, half an interval %.2f %%", held,
              draws, heldByFloor, 100 * off, 100 * half);
        const double fewest = std::floor(draws * 0.95 - 4 * std::sqrt(draws * 0.95 * 0.05));
        QVERIFY(held >= fewest);
        QVERIFY(off < 0.05);
        // Of a normal error half a 95 % interval is 2.5 mean errors. Student's of eight draws is 3; drift and the share
        // for waves out of step make it 3 to 5.5 here. Ten times as wide would say nothing.
        QVERIFY(half < 7 * off);
        if (longest > 100) QVERIFY(heldByFloor < fewest);
    }

    void sameSeedSameAnswerOnAnyThreads() {
        const std::vector<TraceCommand> list{
            kernel(160, [](int b, int) { return chain("FADD", 10 + b % 9) + load(0x40000000 + b * 512, 32); })};
        SimulateOptions two;
        two.threads = 2, two.sharesAlways = true;
        for (const SampleKind kind : {SampleKind::Smarts, SampleKind::SimPoint}) {
            const auto a = sampled(list, by(kind, 5, 9)), b = sampled(list, by(kind, 5, 9), two);
            QCOMPARE(a.estimate, b.estimate);
            QCOMPARE(a.high, b.high);
            QCOMPARE(a.kernels.front().counts.l2.readHits, b.kernels.front().counts.l2.readHits);
            QVERIFY(sampled(list, by(kind, 5, 10)).estimate != a.estimate);
        }
    }

    // A kernel that passes leaves in L2 what it would have left: another of the same addresses reads no DRAM.
    void whatPassesWarmsL2() {
        const auto reading = [&] {
            return kernel(8, [](int b, int) {
                QString lines;
                for (int i = 0; i < 4; ++i) lines += load(0x40000000 + b * 4096 + i * 512, 16 + 16 * i);
                return lines;
            });
        };
        const auto first = reading(), second = reading();
        for (const bool passes : {false, true}) {
            const SimulateOptions options;
            Gpu gpu(machine_, options);
            auto one = KernelTrace::open(first.file, machine_), two = KernelTrace::open(second.file, machine_);
            QVERIFY(one && two);
            if (passes) QVERIFY(gpu.pass(*one));
            const auto at = gpu.launch(*two);
            QVERIFY(at && gpu.untilOneEnds());
            const auto counts = gpu.resultOf(*at).counts;
            QCOMPARE(counts.l2.reads, quint64{8 * 4 * 4});
            QCOMPARE(counts.dramReads, passes ? quint64{0} : quint64{8 * 4 * 4});
        }
    }

    // The kernel is gone when its recording is taken; that knows its instructions all the same.
    void aSampleCanBeRecorded() {
        const auto list = kernel(120, [](int, int) { return chain("FADD", 20); });
        Recorder recorder;
        SimulateOptions options;
        options.recorder = &recorder;
        const auto all = sampled({list}, by(SampleKind::Smarts, 2), options);
        const Recording seen = recorder.take();
        QVERIFY(!all.kernels.front().whole());
        QVERIFY(seen.cycles > 0 && static_cast<double>(seen.cycles) < all.estimate);
        QCOMPARE(seen.instructions.size(), std::size_t{2});
        QCOMPARE(seen.instructions.front().text.text, std::string("FADD R10, R10"));
    }

    // Two kinds of kernels in turn, twelve of each: three stand for each kind, and the first for itself.
    void someKernelsOfAListStandForOthers() {
        std::vector<TraceCommand> list;
        for (int i = 0; i < 12; ++i) {
            list.push_back(kernel(10, [](int, int) { return chain("FADD", 200); }));
            list.push_back(kernel(20, [](int, int) { return chain("MUFU.RCP", 90, 48); }));
        }
        const double full = cycles(list);
        const auto all = sampled(list, by(SampleKind::SimPoint, 8));
        QCOMPARE(all.kernels.size(), list.size());
        QCOMPARE(all.clusters, 2);
        QCOMPARE(all.simulatedKernels, std::int64_t{7});
        QVERIFY2(std::fabs(all.estimate / full - 1) < 0.005, qPrintable(QString::number(all.estimate / full)));
        double sum = 0;
        for (const auto& one : all.kernels) {
            sum += one.estimate;
            QVERIFY(one.low <= one.estimate && one.estimate <= one.high && one.counts.warpInstructions > 0);
            // Three that took the same do not make the others sure.
            QCOMPARE(one.low < one.high, one.stoodFor());
        }
        QVERIFY(all.low < full && full < all.high);
        QVERIFY(std::fabs(sum - all.estimate) < 1e-6 * sum);
        // All kernels are run where none stands for others.
        QCOMPARE(sampled(list, by(SampleKind::Smarts, 8)).estimate, full);
    }

    void streamsSideBySideAreRefused() {
        Machine several = machine_;
        several.concurrentKernels = 8;
        const auto text = [&](int stream) {
            Shape shape{40, 32, 0, 32, stream};
            const QString path =
                traces_.write(orrery::test::GpuTraces::trace(shape, [](int, int) { return chain("FADD", 9); }));
            return TraceCommand{TraceCommand::Kind::Kernel, 0, 0, path.toStdString(), {}};
        };
        const auto got = sampleKernels(several, {text(1), text(2)}, {});
        QVERIFY(!got && got.error().code == "gpu.sample" && !got.error().hint.empty());
        QVERIFY(sampleKernels(several, {text(1), text(1)}, {}));
    }
    void tracesThatEndEarlySayWhere() {
        QString text = orrery::test::GpuTraces::trace({40, 32, 65536, 32}, [](int, int) { return chain("FADD", 9); });
        text.replace("-grid dim = (40", "-grid dim = (60");
        const std::string file = traces_.write(text).toStdString();
        for (const SampleKind kind : {SampleKind::Smarts, SampleKind::SimPoint}) {
            const auto got = sampleKernels(machine_, {{TraceCommand::Kind::Kernel, 0, 0, file, {}}}, by(kind, 2));
            QVERIFY(!got && toText(got.error()).find(file) != std::string::npos);
        }
    }

    // A header alone asks for no memory: such a grid is refused before a plan of it is laid.
    void gridsBeyondAnySampleAreRefused() {
        const QString text =
            orrery::test::GpuTraces::trace({40, 32, 65536, 32}, [](int, int) { return chain("FADD", 9); });
        for (const char* grid :
             {"(2147483647,65535,65535)", "(2147483647,1,1)", "(65535,65535,1)", "(2147483647,2,1)"}) {
            const std::string file = traces_.write(QString(text).replace("(40,1,1)", grid)).toStdString();
            for (const SampleKind kind : {SampleKind::Smarts, SampleKind::SimPoint}) {
                const auto got = sampleKernels(machine_, {{TraceCommand::Kind::Kernel, 0, 0, file, {}}}, by(kind, 2));
                QVERIFY2(!got && got.error().code == "gpu.sample", grid);
                QVERIFY(!got.error().hint.empty() && toText(got.error()).find(file) != std::string::npos);
            }
        }
    }
    // Blocks that pass are not read to the next one that runs once a stop is asked for.
    void aStopEndsWhatPassesAtOnce() {
        const auto list = kernel(400, [](int, int) { return chain("FADD", 20); });
        for (const bool keeps : {false, true}) {
            std::stop_source stop;
            int given = 0;
            SimulateOptions options;
            options.stop = stop.get_token(), options.keepsStopped = keeps;
            const auto open = [&]() -> Expected<std::unique_ptr<KernelSource>> {
                auto trace = KernelTrace::open(list.file, machine_);
                if (!trace) return tl::unexpected(trace.error());
                return std::make_unique<StoppingSource>(std::move(*trace), stop, 60, given);
            };
            const auto got = sampleKernel(machine_, open, by(SampleKind::Smarts, 1), options);
            QCOMPARE(given, 60);
            QCOMPARE(got.has_value(), keeps);
            if (keeps)
                QVERIFY(got->stopped && got->finishedBlocks <= 60);
            else
                QCOMPARE(got.error().code, std::string("gpu.stopped"));
        }
    }

    // Recorded kernels on one multiprocessor, where they have 16 to 48 waves.
    void intervalsHoldOnRecordedKernels() {
        const QString root = ORRERY_REFERENCE "/gpu/accelsim/";
        const auto one = readMachine({(root + "configs/SM75_RTX2060").toStdString(), {"-gpgpu_n_clusters", "1"}});
        if (!one) QSKIP("the recorded kernels are not here");
        int held = 0, draws = 0;
        for (const char* name : {"occ_free", "vecadd_cold", "memset32"}) {
            const auto list = readKernelList((root + "traces/" + name + "/kernelslist.g").toStdString());
            QVERIFY(list);
            const auto run = simulate(one->machine, *list);
            QVERIFY(run);
            const auto full = static_cast<double>(run->front().cycles);
            for (const SampleKind kind : {SampleKind::Smarts, SampleKind::SimPoint}) {
                for (std::uint64_t seed = 1; seed <= 5; ++seed, ++draws) {
                    const auto got = sampleKernels(one->machine, *list, by(kind, 4, seed));
                    QVERIFY(got && got->simulated < 0.65 * got->instructions);
                    held += got->low <= full && full <= got->high;
                    QVERIFY2(std::fabs(got->estimate / full - 1) < 0.06, name);
                }
            }
        }
        qInfo("%d of %d intervals hold", held, draws);
        QVERIFY(held >= std::floor(draws * 0.95 - 4 * std::sqrt(draws * 0.95 * 0.05)));
    }
};

QTEST_GUILESS_MAIN(TestGpuSampling)
#include "tst_gpu_sampling.moc"
