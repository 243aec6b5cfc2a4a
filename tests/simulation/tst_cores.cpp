// Cores of a chip in one clock: a core alone is what the simulator of one core says, nobody gets more bandwidth than is
// drawn, lines are counted once, and what lies behind a link costs the link.

#include "simulation/cpu/cores/cores.h"

#include <QtTest/QtTest>

#include <numeric>
#include <set>

using namespace orrery;
using namespace orrery::pipeline;

namespace {

Machine machineOf(const char* id) {
    auto machine = loadMachine(id);
    if (!machine) qFatal("%s", toText(machine.error()).c_str());
    return std::move(*machine);
}

// So many cores of a machine around its last cache, and a memory that all share.
Chip chipWith(Machine core, int cores, double bandwidth, int nodes = 1) {
    Chip chip = chipOf(std::move(core));
    chip.cores = cores;
    chip.nodes = nodes;
    chip.sharedBy.back() = cores / nodes;
    chip.nodeBandwidth = bandwidth;
    chip.linkBandwidth = bandwidth / 4;
    chip.linkLatency = 70e-9;
    return chip;
}

KernelSpec kernelOf(const std::string& text) {
    auto spec = readKernel(text);
    if (!spec) qFatal("%s", toText(spec.error()).c_str());
    return std::move(*spec);
}

SplitRun runOn(const Chip& chip, const std::string& kernel, int cores, Binding binding = Binding::Close) {
    auto run = runSplit(kernelOf(kernel), chip, cores, binding);
    if (!run) qFatal("%s", toText(run.error()).c_str());
    return std::move(*run);
}

Counters aloneOn(const Machine& machine, const std::string& kernel) {
    const auto nest = nestOf(kernelOf(kernel), machine);
    if (!nest) qFatal("%s", toText(nest.error()).c_str());
    const auto ops = boundOps(machine, nest->ops);
    Pipeline core(machine, ops);
    NestStream stream(*nest);
    OpChunk chunk;
    while (stream.next(chunk)) core.run(chunk);
    return core.counters();
}

bool same(const Counters& a, const Counters& b) {
    return a.cycles == b.cycles && a.instructions == b.instructions && a.slotsBy == b.slotsBy &&
           a.portCycles == b.portCycles && a.loads == b.loads && a.forwarded == b.forwarded &&
           a.memory.hits == b.memory.hits && a.memory.misses == b.memory.misses &&
           a.memory.prefetches == b.memory.prefetches && a.memory.memoryReads == b.memory.memoryReads &&
           a.memory.memoryWrites == b.memory.memoryWrites;
}

std::uint64_t linesMoved(const SplitRun& run) {
    std::uint64_t lines = 0;
    for (const CoreResult& core : run.cores) lines += core.use.reads + core.use.writes;
    return lines;
}

// Bytes a second that went to memory while the slowest core ran.
double bandwidthOf(const SplitRun& run, const Machine& machine) {
    return 64.0 * double(linesMoved(run)) / (double(run.cycles()) / machine.clock);
}

// `add` of so many elements for each core: three streams that no cache holds.
std::string streamFor(int cores) {
    return "add n=" + std::to_string(40000 * cores) + " scalar";
}

}  // namespace

class TestCores : public QObject {
    Q_OBJECT
private slots:
    // Whatever cores could share, one that runs alone takes the cycles of the simulator of one core, and does the same.
    void aloneItIsTheSingleCore_data() {
        QTest::addColumn<QString>("machine");
        QTest::addColumn<QString>("kernel");
        QTest::addColumn<int>("levels");  // that are shared
        for (const char* machine : {"skylake-server", "zen4", "firestorm", "neoverse-v2"}) {
            const bool arm = QByteArray(machine).startsWith("fire") || QByteArray(machine).startsWith("neo");
            for (const char* kernel : {"gemm m=72 n=96 k=200", "add n=150000", "softmax rows=40 columns=700",
                                       "norm rows=64 columns=768", "attention heads=2 q=40 kv=96 d=64",
                                       "conv c=16 k=32 h=20 w=20 r=3 stride=1", "matvec m=1 n=300 k=2000 bytes=4"}) {
                for (const int levels : {1, 2}) {
                    QTest::addRow("%s %s, %d shared", machine, kernel, levels)
                        << machine << QString(kernel) + (arm ? " neon" : " avx2") << levels;
                }
            }
        }
    }
    void aloneItIsTheSingleCore() {
        QFETCH(QString, machine);
        QFETCH(QString, kernel);
        QFETCH(int, levels);
        const Machine core = machineOf(machine.toUtf8());
        const std::string text = kernel.toStdString();
        const Counters alone = aloneOn(core, text);
        Chip chip = chipWith(core, 8, 3.7 * core.memoryBandwidth);
        for (int level = 0; level < levels; ++level) chip.sharedBy[chip.sharedBy.size() - 1 - std::size_t(level)] = 8;
        if (chip.sharedBy.front() > 1) QSKIP("its first cache is its own");
        QVERIFY(check(chip));
        // As the third of eight, for no place is special.
        const auto run = runSplit(kernelOf(text), chip, {3});
        QVERIFY(run && run->cores.size() == 1);
        QCOMPARE(run->cycles(), alone.cycles);
        QVERIFY(same(run->cores.front().counters, alone));
        // The same where memory is as wide as the core's own way to it.
        const auto narrow = runSplit(kernelOf(text), chipWith(core, 8, core.memoryBandwidth), {0});
        QVERIFY(narrow && same(narrow->cores.front().counters, alone));
    }
    // In their own caches cores know nothing of each other.
    void whatFitsTheirOwnCachesIsUndisturbed() {
        const Machine core = machineOf("zen4");
        const auto nest = nestOf(kernelOf("gemm m=48 n=48 k=48 avx2"), core);
        QVERIFY(nest);
        const auto ops = boundOps(core, nest->ops);
        const auto everyChunk = [&](auto&& use) {
            NestStream stream(*nest);
            OpChunk chunk;
            while (stream.next(chunk)) use(chunk);
        };
        Pipeline alone(core, ops);
        everyChunk([&](const OpChunk& chunk) { alone.warm(chunk); });
        everyChunk([&](const OpChunk& chunk) { alone.run(chunk); });
        const Chip chip = chipWith(core, 6, core.memoryBandwidth);
        Cores cores(chip, placesOf(chip, 6, Binding::Close), {6, &ops});
        const std::uint64_t apart = copyBytes({&*nest});
        std::vector<std::vector<std::uint64_t>> shifts;
        for (std::int64_t i = 0; i < 6; ++i)
            shifts.push_back(shiftsOf(*nest, std::vector<std::int64_t>(nest->arrays.size(), i), apart));
        everyChunk([&](const OpChunk& chunk) { cores.warm(chunk, shifts); });
        everyChunk([&](const OpChunk& chunk) { cores.run(chunk, shifts, nullptr); });
        for (std::size_t i = 0; i < cores.size(); ++i) {
            const Counters counts = cores.result(i).counters;
            QCOMPARE(counts.cycles, alone.counters().cycles);
            QVERIFY(counts.slotsBy == alone.counters().slotsBy);
        }
    }
    // Each core gets the same stream: together they fill the memory and never pass it, and none gets faster.
    void streamsFillTheMemoryAndNoMore() {
        const Machine core = machineOf("skylake-server");
        const double bandwidth = 4 * core.memoryBandwidth;
        const Chip chip = chipWith(core, 16, bandwidth);
        std::uint64_t before = 0;
        double reached = 0;
        for (const int cores : {1, 2, 4, 8, 16}) {
            const SplitRun run = runOn(chip, streamFor(cores), cores);
            QCOMPARE(run.cores.size(), std::size_t(cores));
            reached = bandwidthOf(run, core);
            QVERIFY2(reached <= bandwidth, qPrintable(QString::number(reached / bandwidth)));
            QVERIFY2(run.cycles() >= before, qPrintable(QString::number(cores)));
            before = run.cycles();
        }
        QVERIFY2(reached > 0.9 * bandwidth, qPrintable(QString::number(reached / bandwidth)));
    }
    // The same in chunks that all cores run one after another, as samples do: none takes a time that others have yet to
    // reach, so that the memory is full and no more, and ends when it does in one run.
    void chunkByChunkTheMemoryHoldsToo() {
        const Machine core = machineOf("cortex-a76");
        const double bandwidth = 1.4 * core.memoryBandwidth;
        const Chip chip = chipWith(core, 4, bandwidth);
        const auto nest = nestOf(kernelOf("relu n=120000 neon"), core);
        QVERIFY(nest);
        const auto ops = boundOps(core, nest->ops);
        const std::uint64_t apart = copyBytes({&*nest});
        std::vector<std::vector<std::uint64_t>> shifts;
        std::vector<LoopNest> nests;
        for (std::int64_t i = 0; i < 4; ++i) {
            const std::vector<std::int64_t> copies(nest->arrays.size(), i);
            shifts.push_back(shiftsOf(*nest, copies, apart));
            nests.push_back(shifted(*nest, copies, apart));
        }
        Cores inChunks(chip, {0, 1, 2, 3}, {4, &ops}), inOneRun(chip, {0, 1, 2, 3}, {4, &ops});
        NestStream stream(*nest);
        OpChunk chunk;
        while (stream.next(chunk)) inChunks.run(chunk, shifts, nullptr);
        std::vector<NestStream> streams;
        for (const LoopNest& each : nests) streams.emplace_back(each);
        inOneRun.run(streams);
        std::array<double, 2> ended{}, lines{};
        for (std::size_t i = 0; i < 4; ++i) {
            for (const auto& [at, cores] : {std::pair{0u, &inChunks}, {1u, &inOneRun}}) {
                const CoreResult result = cores->result(i);
                ended[at] = std::max(ended[at], double(result.counters.cycles));
                lines[at] += double(result.use.reads + result.use.writes);
            }
        }
        for (const unsigned at : {0u, 1u}) {
            // But for lines that are written when the last operation has retired.
            const double under = 64 * (lines[at] - 4 * core.storeQueue) / (ended[at] / core.clock);
            QVERIFY2(under <= bandwidth, qPrintable(QString::number(under / bandwidth)));
            QVERIFY2(under > 0.9 * bandwidth, qPrintable(QString::number(under / bandwidth)));
        }
        QVERIFY2(std::abs(ended[0] / ended[1] - 1) < 0.03, qPrintable(QString::number(ended[0] / ended[1])));
    }
    // A whole kernel over more cores: never slower than work alone allows, never faster than an equal share of it.
    void moreCoresShareTheWork() {
        const Machine core = machineOf("zen4");
        const Chip chip = chipWith(core, 8, 8 * core.memoryBandwidth);
        const double alone = double(runOn(chip, "gemm m=192 n=192 k=192 avx2", 1).cycles());
        double before = alone;
        for (const int cores : {2, 4, 8}) {
            const double cycles = double(runOn(chip, "gemm m=192 n=192 k=192 avx2", cores).cycles());
            QVERIFY(cycles < before);
            QVERIFY(cycles * cores > 0.95 * alone);
            before = cycles;
        }
    }
    // What leaves the cores' own caches arrives at the shared one, and what misses there at the memories.
    void linesAreConserved() {
        const Machine core = machineOf("skylake-server");
        for (const char* kernel :
             {"add n=300000 avx2", "gemm m=120 n=160 k=240 avx2", "softmax rows=100 columns=900 avx2"}) {
            const SplitRun run = runOn(chipWith(core, 8, 3 * core.memoryBandwidth), kernel, 6);
            std::uint64_t asked = 0, arrived = 0, missed = 0, read = 0;
            for (const CoreResult& each : run.cores) {
                const MemoryCounts& counts = each.counters.memory;
                asked += counts.misses[1] + counts.prefetches[1];
                arrived += each.shared[2].hits + each.shared[2].misses;
                missed += each.shared[2].misses + each.shared[2].prefetches;
                read += each.use.reads;
                QCOMPARE(std::accumulate(each.counters.slotsBy.begin(), each.counters.slotsBy.end(), std::uint64_t{0}),
                         each.counters.cycles * std::uint64_t(core.retireWidth));
            }
            QCOMPARE(arrived, asked);
            QCOMPARE(read, missed);
        }
    }
    // Two cores read the same arrays: each line comes from memory once, and one of them finds what the other brought.
    void aLineOfAnotherIsAHit() {
        const Machine core = machineOf("zen4");
        const Chip chip = chipWith(core, 2, 4 * core.memoryBandwidth);
        const auto nest = nestOf(kernelOf("relu n=40000 avx2"), core);
        QVERIFY(nest);
        const auto ops = boundOps(core, nest->ops);
        Cores cores(chip, {0, 1}, {&ops, &ops});
        std::vector<NestStream> streams(2, NestStream(*nest));
        cores.run(streams);
        Cores lone(chip, {0}, {&ops});
        std::vector<NestStream> stream(1, NestStream(*nest));
        lone.run(stream);
        const CoreResult a = cores.result(0), b = cores.result(1), one = lone.result(0);
        QCOMPARE(a.use.reads + b.use.reads, one.use.reads);
        QVERIFY(a.shared[2].fromOthers + b.shared[2].fromOthers >= one.use.reads / 2);
        QCOMPARE(one.shared[2].fromOthers, std::uint64_t{0});
    }
    // Operands of a product that cores of one row or column read are one copy: less is read than each of them alone
    // reads.
    void sharedOperandsAreReadOnce() {
        const Machine core = machineOf("zen4");
        const SplitRun run = runOn(chipWith(core, 4, 4 * core.memoryBandwidth), "gemm m=128 n=128 k=512 avx2", 4);
        QCOMPARE(run.cores.size(), std::size_t{4});
        std::uint64_t read = 0, alone = 0, others = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            read += run.cores[i].use.reads;
            others += run.cores[i].shared[2].fromOthers;
            alone += aloneOn(core, toText(run.parts[i].spec)).memory.memoryReads;
        }
        // Each core of the 2 × 2 grid reads half of both operands of 256 KiB, all together twice: half of that is
        // spared.
        const std::uint64_t spared = 2 * 128 * 512 * 4 / 64;
        QVERIFY(others >= spared * 9 / 10);
        QVERIFY2(alone - read >= spared * 9 / 10, qPrintable(QString::number(alone - read)));
    }
    // A single load: behind the link it takes the link there and back longer, to the cycle.
    void oneLoadBehindALink() {
        const Machine core = machineOf("zen4");
        const std::vector<StaticOp> program{{.kind = OpKind::Load, .bytes = 8, .to = 1}};
        const auto ops = boundOps(core, program);
        const auto cyclesWith = [&](Pages pages) {
            Chip chip = chipWith(core, 8, 8 * core.memoryBandwidth, 2);
            chip.pages = pages;
            Cores cores(chip, {0}, {&ops});
            OpChunk chunk;
            chunk.add(0, 1 << 20);
            cores.at(0).run(chunk);
            return cores.result(0).counters.cycles;
        };
        QCOMPARE(cyclesWith(Pages::Remote) - cyclesWith(Pages::Local),
                 2 * std::uint64_t(std::llround(70e-9 * core.clock)));
        QCOMPARE(cyclesWith(Pages::FirstNode), cyclesWith(Pages::Local));
    }
    // Streams of two nodes: the closed form says what they reach, whatever their pages; all remote is bound by the
    // link.
    void pagesOfTwoNodes() {
        const Machine core = machineOf("skylake-server");
        const double bandwidth = 2.5 * core.memoryBandwidth;
        std::uint64_t local = 0, remote = 0;
        for (std::size_t p = 0; p < pagesCount; ++p) {
            Chip chip = chipWith(core, 16, bandwidth, 2);
            chip.linkBandwidth = bandwidth / 3;
            chip.linkLatency = 60e-9;
            chip.pages = static_cast<Pages>(p);
            const SplitRun run = runOn(chip, streamFor(16), 16);
            const MemoryReach reach =
                reachOf(2, bandwidth, core.memoryLatency, chip.linkBandwidth, chip.linkLatency, chip.pages);
            // What is written stays in the caches, so nearly all that moves is read.
            const double reached = bandwidthOf(run, core), of = reached / reach.bandwidth;
            const char* name = toText(chip.pages).data();
            qInfo("%s: %.1f %% of the closed form", name, 100 * of);
            QVERIFY2(of <= 1 + 1e-9 && of >= 0.96, qPrintable(QString("%1 %2").arg(name).arg(of)));
            QVERIFY(reached <= 2 * bandwidth);
            std::uint64_t crossed = 0;
            for (const CoreResult& each : run.cores) crossed += each.use.remote;
            QVERIFY2(std::abs(double(crossed) / double(linesMoved(run)) - reach.crossing) < 0.02, name);
            if (chip.pages == Pages::Local) local = run.cycles();
            if (chip.pages == Pages::Remote) {
                remote = run.cycles();
                double reads = 0;
                for (const CoreResult& each : run.cores) reads += double(each.use.reads);
                QVERIFY(64 * reads / (double(remote) / core.clock) <= 2 * chip.linkBandwidth);
            }
        }
        QVERIFY(remote > local);
    }
    // Lines that are written as well as read, which cross a link in opposite directions: more than the closed form of
    // reads says, and never more than what no mix passes.
    void bothDirectionsOfALink() {
        const Machine core = machineOf("skylake-server");
        const double bandwidth = 2.5 * core.memoryBandwidth;
        for (const auto& [nodes, pages] : {std::pair{2, Pages::FirstNode}, {3, Pages::FirstNode}, {3, Pages::Remote}}) {
            Chip chip = chipWith(core, 12, bandwidth, nodes);
            chip.core.caches[1].bytes = chip.core.caches[2].bytes = 64 * 1024;  // so that written lines leave them
            chip.linkBandwidth = bandwidth / 12;
            chip.pages = pages;
            const SplitRun run = runOn(chip, "relu n=480000 scalar", 12);
            QCOMPARE(run.cores.size(), std::size_t{12});
            const MemoryReach reach =
                reachOf(nodes, bandwidth, core.memoryLatency, chip.linkBandwidth, chip.linkLatency, pages);
            const double reached = bandwidthOf(run, core);
            const QString seen = QString("%1 nodes, %2: %3 of %4")
                                     .arg(nodes)
                                     .arg(toText(pages).data())
                                     .arg(reached / reach.bandwidth)
                                     .arg(reach.most / reach.bandwidth);
            QCOMPARE(reach.most, 2 * reach.bandwidth);
            QVERIFY2(reached > 1.2 * reach.bandwidth, qPrintable(seen));
            QVERIFY2(reached <= reach.most * (1 + 1e-9), qPrintable(seen));
        }
    }
    // Three nodes: the closed form counts each way of the link once.
    void theClosedFormOfThreeNodes() {
        const auto of = [](Pages pages) { return reachOf(3, 100, 1e-7, 10, 5e-8, pages); };
        QCOMPARE(of(Pages::Local).bandwidth, 300.0);
        QCOMPARE(of(Pages::Local).most, 300.0);
        QCOMPARE(of(Pages::Interleaved).bandwidth, 90.0);
        QCOMPARE(of(Pages::Interleaved).most, 90.0);
        QCOMPARE(of(Pages::FirstNode).bandwidth, 30.0);
        QCOMPARE(of(Pages::FirstNode).most, 60.0);
        QCOMPARE(of(Pages::Remote).bandwidth, 30.0);
        QCOMPARE(of(Pages::Remote).most, 60.0);
        QCOMPARE(reachOf(2, 100, 1e-7, 10, 5e-8, Pages::Remote).most, 20.0);
    }
    // Fewer parts than cores: they lie as far apart as so many cores do, and it is said that not all run.
    void fewerPartsAreSpreadToo() {
        const Chip chip = chipWith(machineOf("zen4"), 16, 1e11, 2);
        const SplitRun run = runOn(chip, "softmax rows=4 columns=64 avx2", 8, Binding::Spread);
        std::vector<int> cores;
        for (const CoreResult& each : run.cores) cores.push_back(each.core);
        QCOMPARE(cores, (std::vector<int>{0, 4, 8, 12}));
        QCOMPARE(chip.nodeOf(cores.back()), 1);
        QVERIFY(fewerCores(kernelOf("softmax rows=4 columns=64 avx2"), 8, 4).starts_with("4 of 8 cores run"));
    }
    // What two parts are said to share lies at the same lines, what they write apart.
    void sharedOperandsAreThoseThatAreRead() {
        const Machine core = machineOf("zen4");
        struct Case {
            const char* kernel;
            std::int64_t row, column;  // of the second part, beside the first at 0, 0
            bool shares;               // a line that is read and written by neither
        };
        for (const Case& each : {Case{"gemm m=48 n=64 k=32 avx2", 0, 1, true},
                                 {"gemm m=48 n=64 k=32 avx2", 1, 0, true},
                                 {"conv c=8 k=16 h=10 w=10 r=3 stride=1 avx2", 0, 1, true},
                                 {"conv c=8 k=16 h=10 w=10 r=3 stride=1 avx2", 1, 0, true},
                                 {"depthwise c=16 h=11 w=11 r=3 stride=1 avx2", 1, 0, true},
                                 {"attention heads=1 q=16 kv=64 d=32 avx2", 0, 1, true},
                                 {"norm rows=16 columns=128 avx2", 1, 0, true},
                                 {"matvec m=1 n=64 k=64 bytes=4 avx2", 0, 1, true},
                                 {"softmax rows=8 columns=64 avx2", 1, 0, false},
                                 {"relu n=2048 avx2", 1, 0, false}}) {
            const KernelSpec spec = kernelOf(each.kernel);
            const auto nest = nestOf(spec, core);
            QVERIFY(nest);
            const std::uint64_t apart = copyBytes({&*nest});
            std::array<std::set<std::uint64_t>, 2> read, written;
            for (const std::int64_t self : {0, 1}) {
                const auto at = static_cast<std::size_t>(self);
                const LoopNest part =
                    shifted(*nest, copiesOf(*nest, spec.kernel, self * each.row, self * each.column, self), apart);
                NestStream stream(part);
                OpChunk chunk;
                while (stream.next(chunk)) {
                    for (std::size_t i = 0; i < chunk.size; ++i) {
                        const OpKind kind = part.ops[chunk.op[i]].kind;
                        if (kind == OpKind::Load) read[at].insert(chunk.address[i] / 64);
                        if (kind == OpKind::Store) written[at].insert(chunk.address[i] / 64);
                    }
                }
            }
            const auto common = [](const std::set<std::uint64_t>& a, const std::set<std::uint64_t>& b) {
                return std::ranges::count_if(a, [&](std::uint64_t line) { return b.contains(line); });
            };
            QCOMPARE(common(written[0], written[1]), std::ptrdiff_t{0});
            QCOMPARE(common(written[0], read[1]), std::ptrdiff_t{0});
            QCOMPARE(common(written[1], read[0]), std::ptrdiff_t{0});
            QVERIFY2((common(read[0], read[1]) > 0) == each.shares, each.kernel);
        }
    }
    void theSameInEveryRun() {
        const Machine core = machineOf("zen4");
        const Chip chip = chipWith(core, 8, 2 * core.memoryBandwidth, 2);
        const SplitRun a = runOn(chip, "gemm m=96 n=160 k=300 avx2", 7, Binding::Spread),
                       b = runOn(chip, "gemm m=96 n=160 k=300 avx2", 7, Binding::Spread);
        QCOMPARE(a.cores.size(), b.cores.size());
        for (std::size_t i = 0; i < a.cores.size(); ++i) {
            QVERIFY(same(a.cores[i].counters, b.cores[i].counters));
            QCOMPARE(a.cores[i].use.waitedChannel, b.cores[i].use.waitedChannel);
        }
    }
    void partsAreTheWholeKernel() {
        const Machine core = machineOf("zen4");
        for (const char* text :
             {"gemm m=100 n=333 k=64 avx2", "matvec m=2 n=1000 k=64 bytes=4 avx2", "softmax rows=37 columns=64 avx2",
              "norm rows=64 columns=100 avx2", "silu n=100000 avx2", "attention heads=3 q=50 kv=64 d=32 avx2",
              "conv c=8 k=40 h=30 w=30 r=3 stride=1 avx2", "depthwise c=40 h=31 w=31 r=3 stride=2 avx2"}) {
            const KernelSpec whole = kernelOf(text);
            for (const int cores : {1, 2, 3, 7, 12, 64}) {
                const auto parts = partsOf(whole, core, cores);
                QVERIFY(!parts.empty() && parts.size() <= std::size_t(cores));
                double flops = 0;
                for (const KernelPart& part : parts) flops += flopsOf(part.spec);
                QVERIFY2(std::abs(flops / flopsOf(whole) - 1) < 1e-9, text);
            }
        }
    }
    void placesOfThreads() {
        const Chip chip = chipWith(machineOf("zen4"), 16, 1e11, 2);
        QCOMPARE(placesOf(chip, 4, Binding::Close), (std::vector<int>{0, 1, 2, 3}));
        QCOMPARE(placesOf(chip, 4, Binding::Spread), (std::vector<int>{0, 4, 8, 12}));
        QCOMPARE(placesOf(chip, 99, Binding::Close).size(), std::size_t{16});
        QCOMPARE(chip.nodeOf(7), 0);
        QCOMPARE(chip.nodeOf(8), 1);
    }
    void refusesWhatCannotBe() {
        const Chip good = chipWith(machineOf("zen4"), 8, 1e11, 2);
        QVERIFY(check(good));
        const auto codeWith = [&](auto&& change) {
            Chip chip = good;
            change(chip);
            const auto sound = check(chip);
            return sound ? std::string() : sound.error().code;
        };
        QCOMPARE(codeWith([](Chip& c) { c.cores = 0; }), std::string("cores.number"));
        QCOMPARE(codeWith([](Chip& c) { c.cores = 100000; }), std::string("cores.number"));
        QCOMPARE(codeWith([](Chip& c) { c.nodes = 3; }), std::string("cores.nodes"));
        QCOMPARE(codeWith([](Chip& c) { c.sharedBy.back() = 3; }), std::string("cores.shared"));
        QCOMPARE(codeWith([](Chip& c) { c.sharedBy = {1, 4, 2}; }), std::string("cores.shared"));
        QCOMPARE(codeWith([](Chip& c) { c.sharedBy = {2, 2, 2}; }), std::string("cores.first-cache"));
        QCOMPARE(codeWith([](Chip& c) { c.sharedBy.clear(); }), std::string("cores.shared"));
        QCOMPARE(codeWith([](Chip& c) { c.nodeBandwidth = 0; }), std::string("cores.bandwidth"));
        QCOMPARE(codeWith([](Chip& c) { c.linkBandwidth = 0; }), std::string("cores.link"));
        QCOMPARE(codeWith([](Chip& c) { c.linkLatency = -1; }), std::string("cores.link"));
        QCOMPARE(codeWith([](Chip& c) { c.core.clock = 0; }), std::string("core.machine"));
        const auto refused = runSplit(kernelOf("add n=1000 neon"), good, {0});
        QVERIFY(!refused && refused.error().code == "kernel.instruction-set");
    }
};

QTEST_GUILESS_MAIN(TestCores)
#include "tst_cores.moc"
