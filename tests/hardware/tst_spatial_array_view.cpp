// Is the chain of memories read from the drawing, and what is missing named?

#include "hardware/files/catalogue.h"
#include "hardware/views/spatial_array_view.h"
#include "mapping/mapspace_dataflow.h"
#include "mapping/problem_of_operator.h"
#include "workload/costs.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

Hardware device(std::string_view id) {
    auto hardware = loadHardware(id);
    if (!hardware) qFatal("%s", toText(hardware.error()).c_str());
    return std::move(hardware->hardware);
}

Hardware with(const Hardware& base, std::string_view path, std::string_view value) {
    auto changed = withAttribute(base, path, value);
    if (!changed) qFatal("%s", toText(changed.error()).c_str());
    return std::move(*changed);
}

SpatialArrayView viewOf(const Hardware& hardware) {
    auto view = spatialArrayView(hardware);
    if (!view) qFatal("%s", toText(view.error()).c_str());
    return std::move(*view);
}

std::string names(const SpatialArrayView& view) {
    std::string text;
    for (const ArrayLevel& level : view.levels) text += level.name + " ";
    return text;
}

}  // namespace

class TestSpatialArrayView : public QObject {
    Q_OBJECT
private slots:
    void eyerissIsReadAsItsPaperSaysIt() {
        const auto view = viewOf(device("eyeriss-like"));
        QCOMPARE(view.columns, std::int64_t{14});
        QCOMPARE(view.rows, std::int64_t{12});
        QCOMPARE(view.macs(), std::int64_t{168});
        QCOMPARE(view.macBits, std::int64_t{16});
        QCOMPARE(view.clock.value, 200e6);
        QVERIFY(view.dataflow == Dataflow::RowStationary);
        QCOMPARE(names(view), std::string("dram global ifmap_spad filter_spad psum_spad "));
        QCOMPARE(view.levels[1].capacity.value, 108.0 * 1024);
        QCOMPARE(view.levels[1].keeps, keepsInputs | keepsOutputs);
        QCOMPARE(view.levels[1].block, std::int64_t{4});
        QCOMPARE(view.levels[3].instances, std::int64_t{168});
        QCOMPARE(view.levels[3].relativeEnergy, 1.0);
        // 8 B per cycle of a 60 MHz link.
        QCOMPARE(view.levels[0].bandwidth.value, 480e6);

        const auto nest = nestHardware(view);
        QVERIFY(nest.energies);
        QCOMPARE(nest.hardware.levels.front().name, std::string("psum_spad"));
        QCOMPARE(nest.hardware.levels[1].capacityWords, 224.0);
        QCOMPARE(nest.hardware.levels.back().sharedBandwidth, 480e6 / 200e6 / 2);
        QCOMPARE(fanOut(nest.hardware, 3).x, std::int64_t{14});
        QCOMPARE(fanOut(nest.hardware, 3).y, std::int64_t{12});
        // Relative energies: DRAM 200 multiply-accumulates a word, the buffer 6.
        QCOMPARE(nest.hardware.levels.back().energy.vectorRead / nest.hardware.arithmetic.energy, 200.0);
        QCOMPARE(nest.hardware.levels[3].energy.vectorRead / 4 / nest.hardware.arithmetic.energy, 6.0);
    }
    void systolicArraysHoldOneWordPerElement() {
        const auto view = viewOf(device("tpu-v1-like"));
        QCOMPARE(names(view), std::string("ddr3 unified_buffer accumulators element "));
        QCOMPARE(view.levels.back().instances, std::int64_t{65536});
        QCOMPARE(view.levels.back().keeps, keepsWeights);
        QVERIFY(view.levels.back().implied);
        QCOMPARE(nestHardware(view).hardware.levels.front().capacityWords, 1.0);
        const auto outputs = viewOf(with(device("tpu-v1-like"), "matrix.dataflow", "output-stationary"));
        QCOMPARE(outputs.levels.back().keeps, keepsOutputs);
    }
    void tensorUnitsAreSquaresOfTheirRate() {
        const auto view = viewOf(device("tpu-v3"));
        QCOMPARE(view.columns, std::int64_t{128});
        QCOMPARE(view.rows, std::int64_t{128});
        QCOMPARE(view.arrays, std::int64_t{4});
        QCOMPARE(view.macs(), std::int64_t{4 * 16384});
        QCOMPARE(names(view), std::string("hbm vmem element "));
        QCOMPARE(view.levels[1].instances, std::int64_t{2});
        const auto nest = nestHardware(view).hardware;
        QCOMPARE(fanOut(nest, 1).x * fanOut(nest, 1).y, std::int64_t{2 * 16384});
        QCOMPARE(fanOut(nest, 2).x, std::int64_t{2});
    }
    void everyDesignIsReadOrRefusedByName() {
        int read = 0;
        for (const auto& entry : hardwareCatalogue()) {
            const auto view = spatialArrayView(device(entry.id));
            if (view) {
                ++read;
                QVERIFY2(view->macs() > 0 && view->clock.value > 0 && view->levels.front().bandwidth.value > 0,
                         entry.id.c_str());
                const auto nest = nestHardware(*view).hardware;
                for (std::size_t l = 1; l < nest.levels.size(); ++l)
                    QVERIFY2(nest.levels[l].instances <= nest.levels[l - 1].instances, entry.id.c_str());
                continue;
            }
            QVERIFY2(view.error().code.starts_with("hardware."), entry.id.c_str());
            QVERIFY2(!view.error().place.path.empty() && !view.error().hint.empty(), entry.id.c_str());
        }
        QVERIFY(read >= 3);
    }
    void whatIsMissingIsNamed() {
        const auto refusal = [](const Hardware& hardware) {
            const auto view = spatialArrayView(hardware);
            return view ? std::string() : view.error().code + " " + view.error().place.path;
        };
        const auto eyeriss = device("eyeriss-like");
        QCOMPARE(refusal(with(eyeriss, "global.capacity", "")),
                 std::string("hardware.missing-attribute system/chip/global.capacity"));
        QCOMPARE(refusal(with(eyeriss, "dram.bandwidth", "")),
                 std::string("hardware.missing-attribute system/dram.bandwidth"));
        QCOMPARE(refusal(with(device("tpu-v1-like"), "matrix.dataflow", "")),
                 std::string("hardware.missing-attribute system/tpu/matrix.dataflow"));
        QCOMPARE(refusal(with(device("tpu-v1-like"), "matrix.dataflow", "row-stationary")),
                 std::string("hardware.missing-component system/tpu/matrix"));
        QCOMPARE(refusal(with(device("tpu-v1-like"), "tpu.clock", "")),
                 std::string("hardware.no-clock system/tpu/matrix.clock"));
        QVERIFY(refusal(device("xeon-8480")).starts_with("hardware."));
    }
    void operatorsBecomeNestsWithTheWorkOfTheirCosts() {
        for (const char* model : {"resnet-50", "bert-base", "llama-2-7b", "mobilenet-v2", "mixtral-8x7b"}) {
            if (!builtinWorkload(model)) continue;
            WorkloadOptions options;
            options.sequence = 64;
            const auto workload = loadWorkload({model, options, {}});
            QVERIFY2(workload, model);
            const auto& graph = (*workload)->graph;
            const auto& costs = (*workload)->costs;
            int mapped = 0;
            for (std::size_t i = 0; i < graph.operators.size(); ++i) {
                const auto& op = graph.operators[i];
                const auto nests = nestsOf(op, graph);
                QCOMPARE(nests.empty(), costs.macs[i] == 0 || op.kind == OperatorKind::Scan);
                double macs = 0;
                for (const auto& nest : nests) macs += nest.times * nest.problem.operations();
                if (nests.empty()) continue;
                ++mapped;
                const bool masked = op.attention && op.attention->causal;
                const double most = op.type == "GroupedMatMul" ? 1.5 : masked ? 2.1 : 1;
                const auto what = std::string(model) + " " + op.name;
                QVERIFY2(macs >= costs.macs[i] * (1 - 1e-9) && macs <= costs.macs[i] * most * (1 + 1e-9), what.c_str());
            }
            QVERIFY(mapped > 5);
        }
    }
    void convolutionsCarryStrideDilationAndGroups() {
        Graph graph;
        const auto tensor = [&](Shape shape) {
            Tensor made;
            made.shape = std::move(shape);
            return graph.addTensor(made);
        };
        Operator op;
        op.kind = OperatorKind::Conv;
        op.type = "Conv";
        op.inputs = {tensor({2, 8, 31, 31}), tensor({12, 4, 3, 5})};
        op.outputs = {tensor({2, 12, 15, 12})};
        op.attributes["group"] = std::int64_t{2};
        op.attributes["strides"] = std::vector<std::int64_t>{2, 2};
        op.attributes["dilations"] = std::vector<std::int64_t>{1, 2};
        const auto nests = nestsOf(op, graph);
        QCOMPARE(nests.size(), std::size_t{1});
        const auto& problem = nests.front().problem;
        QCOMPARE(problem.operations(), 2.0 * 12 * 15 * 12 * 4 * 3 * 5);
        QCOMPARE(problem.size(1), 12.0 * 4 * 3 * 5);
        QCOMPARE(problem.size(2), 2.0 * 12 * 15 * 12);
        // Rows (15-1)·2 + (3-1) + 1, columns (12-1)·2 + (5-1)·2 + 1.
        QCOMPARE(problem.size(0), 2.0 * 8 * 31 * 31);
    }
};

QTEST_GUILESS_MAIN(TestSpatialArrayView)
#include "tst_spatial_array_view.moc"
