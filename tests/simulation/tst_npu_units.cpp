#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/npu_view.h"
#include "hardware/views/spatial_array_view.h"
#include "support/npu_fixture.h"

using namespace orrery;
using namespace orrery::npu_fixture;

namespace {

ProductSpec product(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch = 1) {
    ProductSpec s;
    s.batch = batch;
    s.lines = m;
    s.channels = k;
    s.columns = n;
    s.movingBytes = m * k;
    s.keptBytes = k * n;
    s.resultBytes = m * n;
    return s;
}

std::int64_t operandBytes(const ProductSpec& s) {
    return s.batch * (s.movingBytes + s.keptBytes + s.extraBytes);
}

/// Cycles below which the machine's peaks allow nothing: multiply-accumulates, or bytes that must pass at least once.
double roofline(const ProductSpec& s, const NpuMachine& m) {
    const double bytes = static_cast<double>(operandBytes(s) + s.batch * s.resultBytes);
    return std::max(s.macs() / m.macsPerCycle(), bytes / m.memoryBytes);
}

ProductSpec randomProduct(RandomStream& random) {
    const auto size = [&random] { return static_cast<std::int64_t>(1 + random.below(300)); };
    ProductSpec s = product(size(), size(), size(), static_cast<std::int64_t>(1 + random.below(5)));
    if (random.below(2) == 0) {
        s.taps = 9;
        s.lineRows = static_cast<std::int64_t>(1 + random.below(40));
        s.keptBytes *= 9;
        s.resultBytes *= s.lineRows;
        s.movingBytes *= s.lineRows;
        s.haloLines = 2;
    }
    if (random.below(2) == 0) s.epilogueOps = s.rows() * s.columns;
    if (random.below(3) == 0) s.prologueOps = s.rows() * s.channels;
    if (random.below(3) == 0) s.extraBytes = s.resultBytes;
    return s;
}

NpuMachine randomMachine(RandomStream& random) {
    NpuMachine m = small();
    m.height = m.width = std::int64_t{4} << random.below(4);
    m.arrays = static_cast<std::int64_t>(1 + random.below(4));
    m.cores = static_cast<std::int64_t>(1 + random.below(4));
    m.scratchpad = (std::int64_t{1} << 19) << random.below(3);
    m.memoryBytes = 1 + 100 * random.uniform();
    m.portBytes = random.below(2) == 0 ? 0 : 1 + 50 * random.uniform();
    m.memoryLatency = static_cast<std::int64_t>(random.below(300));
    m.dataflow = random.below(4) == 0 ? Dataflow::OutputStationary : Dataflow::WeightStationary;
    return m;
}

Diagnostic refused(std::string_view text) {
    const auto read = readTileMapping(text, {"layer.txt", 3, 0, {}});
    return read ? Diagnostic{} : read.error();
}

}  // namespace

class TestNpuUnits : public QObject {
    Q_OBJECT
private slots:
    void matrixInstructionsTakeTheCyclesOfOnnxim() {
        const NpuMachine m = gemmini();
        const BlockTiming one = blockTiming({.runRows = 8}, m);
        NpuProgram program;
        program.gemm(0, one, noBuffer, noBuffer, program.buffer(0, 0, true));
        QCOMPARE(simulate(program, m)->cycles, std::int64_t{39});
        program.gemm(0, one, noBuffer, noBuffer, program.buffer(0, 0, true));
        QCOMPARE(simulate(program, m)->cycles, std::int64_t{47});
        // Two weight tiles in one block are two such instructions.
        program.clear();
        program.gemm(0, blockTiming({.weightTiles = 2, .runRows = 8}, m), noBuffer, noBuffer,
                     program.buffer(0, 0, true));
        QCOMPARE(simulate(program, m)->cycles, std::int64_t{47});
        // H + W - 2 + max(size, 4), 2 H - 1 before it, 2 around it.
        for (const std::int64_t rows : {1, 3, 4, 5, 8}) {
            program.clear();
            program.gemm(0, blockTiming({.runRows = rows}, m), noBuffer, noBuffer, program.buffer(0, 0, true));
            QCOMPARE(simulate(program, m)->cycles, 2 + 15 + 14 + std::max<std::int64_t>(rows, 4));
        }
        NpuMachine os = m;
        os.dataflow = Dataflow::OutputStationary;
        program.clear();
        program.gemm(0, blockTiming({.runRows = 8, .depth = 100}, os), noBuffer, noBuffer, program.buffer(0, 0, true));
        QCOMPARE(simulate(program, os)->cycles, std::int64_t{2 + 14 + 100});
    }
    void rowsOfAnImageAreSplitWhereTheyEnd() {
        const NpuMachine m = gemmini();
        // 17 rows are 8 + 8 + 1, of which the last takes 4: 20 to the next; the very last counts in the tail.
        const BlockTiming t = blockTiming({.runs = 3, .runRows = 17}, m);
        QCOMPARE(t.instructions, std::int64_t{9});
        QCOMPARE(t.span, std::int64_t{3 * 20 - 4});
        QCOMPARE(t.handover, std::int64_t{8});
        QCOMPARE(t.tail, std::int64_t{14 + 4});
        QCOMPARE(blockTiming({.weightTiles = 5, .runs = 3, .runRows = 17}, m).span, std::int64_t{5 * 56 + 4 * 8});
        // Weights loaded behind the ones in use cost only what rows do not cover.
        QCOMPARE(blockTiming({.weightTiles = 5, .runRows = 3, .background = true}, m).span, std::int64_t{4 * 8});
        QCOMPARE(blockTiming({.weightTiles = 5, .runRows = 17, .background = true}, m).span, std::int64_t{4 * 20 + 16});
    }
    void everyByteOfTheTensorsMovesOnce() {
        // One block of weights and one core: each operand is loaded once, the result stored once.
        NpuMachine m = small();
        const auto s = product(1000, 300, 100);
        const NpuRun run = simulate(s, m);
        QCOMPARE(run.loaded, operandBytes(s));
        QCOMPARE(run.stored, s.resultBytes);
        const NpuRun sweep = simulate(VectorSpec{1'000'003, 500'001, 10}, m);
        QCOMPARE(sweep.loaded, std::int64_t{1'000'003});
        QCOMPARE(sweep.stored, std::int64_t{500'001});
        FlashSpec f{.batch = 3, .group = 2, .queries = 70, .keys = 90, .headDim = 32, .valueDim = 16};
        f.queryBytes = 2 * 70 * 32, f.keyBytes = 90 * 32, f.valueBytes = 90 * 16, f.resultBytes = 2 * 70 * 16;
        const NpuRun attention = simulate(f, m);
        QCOMPARE(attention.loaded, 3 * (f.queryBytes + f.keyBytes + f.valueBytes));
        QCOMPARE(attention.stored, 3 * f.resultBytes);
        // By explicit mapping: operands once per tile that reads them, results once.
        NpuMachine g = gemmini();
        g.word = 1;
        const auto mapping = readTileMapping("[T] N20 C60 M40 - [O] N2 C3 M5 - [I] N10 C20 M8");
        const NpuRun tiles = simulate(MappedSpec{*mapping, {}, 1}, g);
        QCOMPARE(tiles.loaded, std::int64_t{5 * 20 * 60 + 2 * 60 * 40});
        QCOMPARE(tiles.stored, std::int64_t{20 * 40});
        const auto conv =
            readTileMapping("[T] N1 C8 M16 P10 Q10 S3 R3 - [O] N1 C1 M2 P1 Q1 S1 R1 - [I] N1 C8 M8 P10 Q10 S3 R3");
        const NpuRun image = simulate(MappedSpec{*conv, {1, 1, true}, 1}, g);
        QCOMPARE(image.loaded, std::int64_t{2 * 10 * 10 * 8 + 9 * 8 * 16});
        QCOMPARE(image.stored, std::int64_t{16 * 100});
    }
    void randomProductsKeepTheLaws() {
        RandomStream random(4);
        for (int round = 0; round < 120; ++round) {
            const NpuMachine m = randomMachine(random);
            const ProductSpec s = randomProduct(random);
            const NpuRun run = simulate(s, m);
            QVERIFY(run.loaded >= operandBytes(s));
            QCOMPARE(run.stored, s.batch * s.resultBytes);
            QVERIFY(run.peakScratchpad <= m.scratchpad && run.peakAccumulator <= m.accumulator);
            QVERIFY2(static_cast<double>(run.cycles) >= roofline(s, m), qPrintable(QString::number(round)));
            const NpuRun again = simulate(s, m);
            QCOMPARE(again.cycles, run.cycles);
            QCOMPARE(again.events, run.events);
        }
    }
    void moreBandwidthIsNeverSlower() {
        RandomStream random(5);
        for (int round = 0; round < 30; ++round) {
            NpuMachine m = randomMachine(random);
            m.cores = 1;
            const ProductSpec s = randomProduct(random);
            std::int64_t last = std::numeric_limits<std::int64_t>::max();
            for (double bytes = 1; bytes < 2000; bytes *= 3) {
                m.memoryBytes = bytes;
                const std::int64_t cycles = simulate(s, m).cycles;
                // Bursts grow with the bandwidth; a pipeline of few of them may lose a fraction of one.
                QVERIFY2(static_cast<double>(cycles) <= 1.02 * static_cast<double>(last) + 2 * 64,
                         qPrintable(QString::number(round)));
                last = std::min(last, cycles);
            }
        }
    }
    void coresShareWorkAndBandwidth() {
        NpuMachine m = small();
        const auto bound = product(4096, 512, 64);
        const auto alone = simulate(bound, m).cycles;
        m.cores = 4;
        const auto shared = simulate(bound, m).cycles;
        QVERIFY(shared < alone);
        // Bytes bound four cores as they do one.
        QVERIFY(static_cast<double>(shared) >= static_cast<double>(operandBytes(bound)) / m.memoryBytes);
        m.portBytes = 1;  // a narrow way to each core
        QVERIFY(simulate(bound, m).cycles > shared);
        QVERIFY(static_cast<double>(simulate(bound, m).cycles) >= static_cast<double>(operandBytes(bound)) / 4);
    }
    void causalMasksSaveWorkOfWholeTiles() {
        FlashSpec f{.batch = 8, .queries = 1024, .keys = 1024, .headDim = 64, .valueDim = 64};
        f.queryBytes = f.keyBytes = f.valueBytes = f.resultBytes = 1024 * 64;
        const auto full = simulate(f, small()).busy[1];
        f.causal = true;
        const auto masked = simulate(f, small()).busy[1];
        QVERIFY(masked < 0.6 * static_cast<double>(full) && masked > 0.45 * static_cast<double>(full));
    }
    void whatCannotFitIsRefusedAndNeverWaitsForEver() {
        NpuProgram program;
        const auto a = program.buffer(0, 60 * 1024), b = program.buffer(0, 60 * 1024);
        program.load(0, a, 60 * 1024);
        program.load(0, b, 60 * 1024);
        program.vector(0, 1, a, noBuffer, b);
        const auto run = simulate(program, gemmini());
        QVERIFY(!run);
        QCOMPARE(run.error().code, std::string("npu.does-not-fit"));
        const auto mapping = readTileMapping("[T] N512 C512 M512 - [O] N1 C1 M1 - [I] N512 C512 M512");
        const auto lowered = lowerMapped(*mapping, {}, gemmini(), program);
        QVERIFY(!lowered);
        QCOMPARE(lowered.error().code, std::string("mapping.capacity"));
    }
    void aStopEndsTheRun() {
        NpuProgram program;
        lowerProduct(product(20000, 512, 512), small(), program);
        std::stop_source source;
        source.request_stop();
        const NpuMachine m = small();
        const auto memory = pipeMemory(m.memoryBytes, m.memoryLatency);
        NpuSimulation simulation(m, *memory);
        const auto run = simulation.run(program, {false, 16, source.get_token()});
        QVERIFY(!run);
        QCOMPARE(run.error().code, std::string("study.cancelled"));
    }
    void spansOfAnEngineDoNotOverlap() {
        NpuProgram program;
        const auto s = product(3000, 256, 256);
        lowerProduct(s, small(), program);
        const auto run = simulate(program, small(), true);
        QVERIFY(run && run->spans.size() > 4);
        for (int engine = 0; engine < npuEngineCount; ++engine) {
            std::int64_t last = 0;
            for (const NpuSpan& span : run->spans) {
                if (static_cast<int>(span.engine) != engine) continue;
                QVERIFY(span.start >= last && span.end >= span.start);
                last = span.end;
            }
            QVERIFY(last <= run->cycles);
        }
    }
    void mappingsAreReadAsOnnximWritesThem() {
        const auto read =
            readTileMapping("[T] N1 C64 M64 P56 Q56 S3 R3 - [O] N1 C1 M8 P4 Q4 S1 R1 - [I] N1 C64 M8 P15 Q17 S3 R3");
        QVERIFY(read);
        QCOMPARE(read->total, (TileLoops{1, 64, 64, 56, 56, 3, 3}));
        QCOMPARE(read->outer, (TileLoops{1, 1, 8, 4, 4, 1, 1}));
        QCOMPARE(read->inner, (TileLoops{1, 64, 8, 15, 17, 3, 3}));
        QCOMPARE(*readTileMapping(toText(*read)), *read);
    }
    void badMappingsAreRefusedWithTheirPlace_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("column");
        QTest::newRow("empty") << ""
                               << "mapping.section" << 1;
        QTest::newRow("no header") << "N1 C2"
                                   << "mapping.section" << 1;
        QTest::newRow("order") << "[T] N1 - [I] N1 - [O] N1"
                               << "mapping.section" << 10;
        QTest::newRow("two sections") << "[T] N1 - [O] N1"
                                      << "mapping.section" << 16;
        QTest::newRow("letter") << "[T] N1 X3 - [O] N1 - [I] N1"
                                << "mapping.loop" << 8;
        QTest::newRow("count") << "[T] N1 C - [O] N1 - [I] N1"
                               << "mapping.loop" << 8;
        QTest::newRow("negative") << "[T] N-1 - [O] N1 - [I] N1"
                                  << "mapping.loop" << 5;
        QTest::newRow("zero") << "[T] N0 - [O] N1 - [I] N1"
                              << "mapping.loop" << 5;
        QTest::newRow("huge") << "[T] N99999999999999999999 - [O] N1 - [I] N1"
                              << "mapping.loop" << 5;
        QTest::newRow("twice") << "[T] N1 N1 - [O] N1 - [I] N1"
                               << "mapping.loop" << 8;
        QTest::newRow("too few tiles") << "[T] N9 - [O] N2 - [I] N4"
                                       << "mapping.cover" << 0;
        QTest::newRow("an empty tile") << "[T] N8 - [O] N3 - [I] N4"
                                       << "mapping.cover" << 0;
        QTest::newRow("more") << "[T] N8 - [O] N2 - [I] N4 - [X]"
                              << "mapping.section" << 26;
    }
    void badMappingsAreRefusedWithTheirPlace() {
        QFETCH(QString, text);
        QFETCH(QString, code);
        QFETCH(int, column);
        const auto diagnostic = refused(text.toStdString());
        QCOMPARE(QString::fromStdString(diagnostic.code), code);
        QCOMPARE(diagnostic.place.file, std::string("layer.txt"));
        QCOMPARE(diagnostic.place.line, 3);
        if (column > 0) QCOMPARE(diagnostic.place.column, column);
        QVERIFY(!diagnostic.expected.empty() && !diagnostic.hint.empty());
    }
    void presetsHaveTheViewThatTheyDescribe() {
        const auto view = [](const char* id) {
            auto loaded = loadHardware(id);
            if (!loaded) qFatal("%s", id);
            return npuView(loaded->hardware);
        };
        const auto core = view("tpu-v3-core");
        QVERIFY2(core, core ? "" : toText(core.error()).c_str());
        QCOMPARE(core->cores, std::int64_t{1});
        QCOMPARE(core->arrays, std::int64_t{2});
        QCOMPARE(core->rows * core->columns, std::int64_t{128 * 128});
        QCOMPARE(core->scratchpad.value, 16.0 * 1024 * 1024);
        QCOMPARE(core->accumulator.value, 0.0);
        QCOMPARE(core->layoutLanes, std::int64_t{128});
        QCOMPARE(core->vectorOps, 2048.0);
        const auto chip = view("tpu-v3");
        QVERIFY(chip);
        QCOMPARE(chip->cores, std::int64_t{2});
        QCOMPARE(chip->bandwidth.value, 2 * core->bandwidth.value);
        QCOMPARE(view("tpu-v4")->arrays, std::int64_t{4});
        const auto small = view("gemmini-like");
        QVERIFY2(small, small ? "" : toText(small.error()).c_str());
        const NpuMachine m = machineOf(*small);
        QCOMPARE(m.height, std::int64_t{8});
        QCOMPARE(m.scratchpad, std::int64_t{64 * 1024});
        QCOMPARE(m.accumulator, std::int64_t{16 * 1024});
        QCOMPARE(m.memoryBytes, 16.0);
        QCOMPARE(m.word, std::int64_t{16});
        QCOMPARE(view("h100-sxm").error().code, std::string("hardware.not-an-npu"));
        QCOMPARE(view("eyeriss-like").error().code, std::string("hardware.dataflow"));
    }
    // A mesh is columns × rows, as it is drawn and as loop nests read it. Weights stand still along the rows, by which
    // sums run; each column is one output channel: NVDLA's 8 engines of 32 multipliers are 8 columns.
    void aMeshHasColumnsFirst() {
        auto nvdla = loadHardware("nvdla-soc");
        QVERIFY(nvdla);
        const auto array = spatialArrayView(nvdla->hardware);
        QVERIFY2(array, array ? "" : toText(array.error()).c_str());
        QCOMPARE(array->columns, std::int64_t{8});
        QCOMPARE(array->rows, std::int64_t{32});
        auto small = loadHardware("gemmini-like");
        QVERIFY(small);
        const std::string path = spatialArrayView(small->hardware)->path;
        for (const auto& [mesh, columns, rows] : {std::tuple{"4 x 16", 4, 16}, {"16 x 4", 16, 4}}) {
            const auto edited = withAttribute(small->hardware, path + ".mesh", mesh);
            QVERIFY2(edited, edited ? "" : toText(edited.error()).c_str());
            const auto npu = npuView(*edited);
            const auto nest = spatialArrayView(*edited);
            QVERIFY2(npu && nest, mesh);
            QCOMPARE(npu->columns, std::int64_t{columns});
            QCOMPARE(npu->rows, std::int64_t{rows});
            QCOMPARE(nest->columns, npu->columns);
            QCOMPARE(nest->rows, npu->rows);
            QCOMPARE(machineOf(*npu).width, std::int64_t{columns});
            QCOMPARE(machineOf(*npu).height, std::int64_t{rows});
        }
    }
    void aViewSaysWhatIsMissing_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("code");
        QTest::newRow("dataflow") << "mxu.dataflow"
                                  << ""
                                  << "hardware.not-an-npu";
        QTest::newRow("other dataflow") << "mxu.dataflow"
                                        << "row-stationary"
                                        << "hardware.dataflow";
        QTest::newRow("no square") << "mxu.macs"
                                   << ""
                                   << "hardware.missing-mesh";
        QTest::newRow("scratchpad") << "vmem.capacity"
                                    << ""
                                    << "hardware.no-scratchpad";
        QTest::newRow("vector unit") << "vpu.flops"
                                     << ""
                                     << "hardware.no-vector-unit";
    }
    void aViewSaysWhatIsMissing() {
        QFETCH(QString, path);
        QFETCH(QString, value);
        QFETCH(QString, code);
        auto loaded = loadHardware("tpu-v3-core");
        QVERIFY(loaded);
        auto changed = withAttribute(std::move(loaded->hardware), path.toStdString(), value.toStdString());
        QVERIFY2(changed, changed ? "" : toText(changed.error()).c_str());
        const auto view = npuView(*changed);
        QVERIFY(!view);
        QCOMPARE(QString::fromStdString(view.error().code), code);
        QVERIFY(!view.error().place.path.empty() && !view.error().hint.empty());
    }
};

QTEST_APPLESS_MAIN(TestNpuUnits)
#include "tst_npu_units.moc"
