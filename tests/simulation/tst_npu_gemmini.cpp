// Cycles of Gemmini's RTL for layers of BERT, GPT-2 and ResNet-18, as ONNXim was validated with (8 x 8
// weight-stationary int8, 64 KB scratchpad, 16 KB accumulator). Each layer is run twice: with the mapping that stands
// beside it, and with the tiling that Gemmini's library makes by itself.

#include "base/random.h"
#include "simulation/npu/lower.h"
#include "support/npu_fixture.h"

using namespace orrery;
using namespace orrery::npu_fixture;

class TestNpuGemmini : public QObject {
    Q_OBJECT
private slots:
    void everyLayerIsWithinTenPercent() {
        const auto rows = rowsOf(std::string(ORRERY_REFERENCE) + "/accelerators/onnxim/gemmini_ground_truth.csv");
        if (rows.empty()) QSKIP("no reference data: accelerators/onnxim/gemmini_ground_truth.csv");
        const NpuMachine machine = gemmini();
        double worst = 0, sum = 0;
        for (const auto& row : rows) {
            QVERIFY(row.size() >= 5);
            const std::string& name = row[1];
            const bool convolution = row[0].rfind("Conv", 0) == 0;
            const auto given = readTileMapping(row[2]);
            QVERIFY2(given, given ? "" : toText(given.error()).c_str());
            // Strides stand in no mapping: those of ResNet-18.
            const bool first = given->total.r == 7;
            const bool downsample = name.find("downsample") != std::string::npos;
            const bool entry = name.find("_0_Conv1") != std::string::npos && name.find("layer1") == std::string::npos;
            const std::int64_t stride = first || downsample || entry ? 2 : 1;
            const auto& t = given->total;
            const TileMapping own =
                convolution ? gemminiTiling(t, stride, 1, machine) : gemminiTiling(t.n, t.c, t.m, 1, machine);
            const double measured = std::stod(row[4]);
            for (const TileMapping& mapping : {*given, own}) {
                const NpuRun run = simulate(MappedSpec{mapping, {1, stride, convolution}, 1}, machine);
                const double error = static_cast<double>(run.cycles) / measured - 1;
                worst = std::max(worst, std::fabs(error));
                sum += std::fabs(error);
                qInfo("%-34s RTL %9.0f simulated %9lld  %+.2f %%", name.c_str(), measured,
                      static_cast<long long>(run.cycles), 100 * error);
                QVERIFY2(std::fabs(error) <= 0.10, name.c_str());
                QVERIFY(run.peakScratchpad <= machine.scratchpad && run.peakAccumulator <= machine.accumulator);
            }
        }
        qInfo("mean %.2f %%, worst %.2f %%", 100 * sum / static_cast<double>(2 * rows.size()), 100 * worst);
    }
    void tilesAreThoseThatGemminiChooses() {
        // The mappings beside the reference, where they are Gemmini's own.
        const NpuMachine machine = gemmini();
        const auto tile = [&](const TileLoops& layer, std::int64_t stride) {
            return gemminiTiling(layer, stride, 1, machine).inner;
        };
        QCOMPARE(tile({1, 64, 64, 56, 56, 3, 3}, 1), (TileLoops{1, 64, 8, 15, 17, 3, 3}));
        QCOMPARE(tile({1, 64, 128, 28, 28, 3, 3}, 2), (TileLoops{1, 24, 8, 15, 17, 3, 3}));
        QCOMPARE(tile({1, 256, 256, 14, 14, 3, 3}, 1), (TileLoops{1, 96, 8, 14, 14, 3, 3}));
        QCOMPARE(tile({1, 128, 256, 14, 14, 1, 1}, 2), (TileLoops{1, 128, 8, 14, 14, 1, 1}));
        QCOMPARE(tile({1, 256, 512, 7, 7, 1, 1}, 2), (TileLoops{1, 256, 40, 7, 7, 1, 1}));
        QCOMPARE(gemminiTiling(1, 512, 1000, 1, machine).inner, (TileLoops{1, 448, 64, 1, 1, 1, 1}));
        QCOMPARE(gemminiTiling(512, 1024, 4096, 1, machine).inner.n, std::int64_t{40});
        QCOMPARE(gemminiTiling(512, 1024, 4096, 1, machine).inner.m, std::int64_t{40});
    }
    // Of an array that is not square: inputs lie in rows of its height, weights and results in rows of its width. Half
    // the scratchpad has 8192 elements of 2 bytes, half the accumulator 4096 of 4 bytes.
    void tilesOfOblongArraysByHand() {
        NpuMachine m = oblong(32, 8);
        // Depth goes by 32, columns by 8. Four blocks each way fill the accumulator; then 8 columns more until 64 x 64
        // results are there, and depth until 64 x (64 + 64) operands are.
        QCOMPARE(gemminiTiling(64, 4096, 1000, 2, m).inner, (TileLoops{64, 64, 64, 1, 1, 1, 1}));
        // 64 x 10 x 10 inputs and 16 x 9 x 64 weights are too many; of 32 channels they are 3200 and 4608.
        const TileLoops layer{1, 64, 16, 8, 8, 3, 3};
        QCOMPARE(gemminiTiling(layer, 1, 2, m).inner, (TileLoops{1, 32, 16, 8, 8, 3, 3}));
        // Inputs of 32 channels fill the array's height, whatever the pixels: never a tile of fewer.
        for (const std::int64_t side : {7, 14, 28, 56}) {
            const TileLoops inner = gemminiTiling({1, 256, 256, side, side, 3, 3}, 1, 2, m).inner;
            QVERIFY2(inner.c % 32 == 0 && inner.m % 8 == 0, qPrintable(QString::number(side)));
        }
        // The same array on its side: 32 x 32 x 128 results, depth of 6 x 8 for 48 x (32 + 128) operands.
        m = oblong(8, 32);
        QCOMPARE(gemminiTiling(64, 4096, 1000, 2, m).inner, (TileLoops{32, 48, 128, 1, 1, 1, 1}));
        // 16 output channels fill rows of 32: 24 x 100 inputs and 32 x 9 x 20 weights are 8160.
        QCOMPARE(gemminiTiling(layer, 1, 2, m).inner, (TileLoops{1, 20, 16, 8, 8, 3, 3}));
        // A full array does height x width products a cycle, whichever side is longer: 32 x 64 x 64 in 512 cycles.
        for (const NpuMachine& machine : {oblong(32, 8), oblong(8, 32)}) {
            GemmBlock block;
            block.weightTiles = (64 / machine.height) * (64 / machine.width);
            block.runRows = 32;
            QCOMPARE(coreTiming(block, machine).occupied(), std::int64_t{512});
        }
    }
    // What is chosen is what the lowering takes, twice over, whichever side of the array is longer.
    void oblongTilesFitWhereTheyAreLowered() {
        RandomStream random(7);
        const auto upTo = [&](std::uint64_t most) { return static_cast<std::int64_t>(1 + random.below(most)); };
        for (int i = 0; i < 400; ++i) {
            const NpuMachine machine = oblong(std::int64_t{4} << random.below(5), std::int64_t{4} << random.below(5));
            const bool convolution = i % 2 == 0;
            const std::int64_t side = upTo(5), stride = upTo(2);
            const TileLoops layer = convolution
                                        ? TileLoops{upTo(2), upTo(300), upTo(300), upTo(30), upTo(30), side, side}
                                        : TileLoops{upTo(300), upTo(2000), upTo(2000), 1, 1, 1, 1};
            const TileMapping tiles = convolution ? gemminiTiling(layer, stride, 2, machine)
                                                  : gemminiTiling(layer.n, layer.c, layer.m, 2, machine);
            NpuMachine half = machine;
            half.scratchpad /= 2, half.accumulator /= 2;
            NpuProgram program;
            const auto lowered = lowerMapped(tiles, {2, stride, convolution}, half, program);
            QVERIFY2(lowered, lowered ? "" : (toText(tiles) + ": " + toText(lowered.error())).c_str());
        }
    }

private:
    // 16-bit elements, 32 KiB of operands and 32 KiB of results, as NVDLA's 8 engines of 32 multipliers are drawn.
    static NpuMachine oblong(std::int64_t height, std::int64_t width) {
        NpuMachine m;
        m.height = height, m.width = width;
        m.scratchpad = m.accumulator = 32 * 1024;
        m.memoryBytes = 16;
        return m;
    }
};

QTEST_APPLESS_MAIN(TestNpuGemmini)
#include "tst_npu_gemmini.moc"
