// Cycles of Gemmini's RTL for layers of BERT, GPT-2 and ResNet-18, as ONNXim was validated with (8 x 8
// weight-stationary int8, 64 KB scratchpad, 16 KB accumulator). Each layer is run twice: with the mapping that stands
// beside it, and with the tiling that Gemmini's library makes by itself.

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
};

QTEST_APPLESS_MAIN(TestNpuGemmini)
#include "tst_npu_gemmini.moc"
