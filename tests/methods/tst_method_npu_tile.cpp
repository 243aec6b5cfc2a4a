#include "hardware/files/catalogue.h"
#include "support/method_fixture.h"
#include "methods/method.h"
#include "methods/model/launches.h"
#include "support/npu_fixture.h"
#include "support/npu_rows.h"

#include <algorithm>

using namespace orrery;

namespace {

HardwarePtr device(const char* id, std::string_view path = {}, std::string_view value = {}) {
    auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s", id);
    Hardware hardware = std::move(loaded->hardware);
    if (!path.empty()) {
        auto changed = withAttribute(std::move(hardware), path, value);
        if (!changed) qFatal("%s", toText(changed.error()).c_str());
        hardware = std::move(*changed);
    }
    return std::make_shared<const Hardware>(std::move(hardware));
}

Expected<Estimate> ask(const HardwarePtr& hardware, const WorkloadPtr& workload, const char* method = "npu-tile") {
    static const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}, nullptr, 1, true};
    return estimate(*findMethod(method), {hardware, workload}, context);
}

WorkloadPtr model(const char* id) {
    WorkloadRecipe recipe{id, builtinWorkload(id)->usual, {}};
    auto loaded = loadWorkload(recipe);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return *loaded;
}

/// No padding, no accumulators: bytes are elements.
NpuMachine plain() {
    NpuMachine m = npu_fixture::small();
    m.scratchpad = 8 << 20;
    return m;
}

/// Of the launches that a model method asks for.
std::vector<NpuKernel> kernelsOf(GraphBuilder& g, const NpuMachine& machine) {
    std::vector<NpuKernel> all;
    for (const Launch& launch : launchesOf(*fixture::workloadOf(g.finish()), {}).launches) {
        for (NpuKernel& kernel : npuKernels(launch.kernel, machine).kernels) all.push_back(std::move(kernel));
    }
    return all;
}

}  // namespace

class TestMethodNpuTile : public QObject {
    Q_OBJECT
private slots:
    void elementwiseOperatorsRunInTheProductThatMakesTheirOperand() {
        GraphBuilder g("chain", npu_rows::singlePrecision());
        const auto x = g.input("x", {64, 32});
        auto y = g.linear("fc", x, 48, {.bias = false});
        y = g.elementwise("Gelu", "gelu", {y});
        g.output(g.elementwise("Add", "add", {y, g.input("z", {64, 48})}));
        const auto kernels = kernelsOf(g, plain());
        QCOMPARE(kernels.size(), std::size_t{1});
        const auto& p = std::get<ProductSpec>(kernels[0].work);
        QCOMPARE(p.epilogueOps, std::int64_t{6 * 64 * 48});  // Gelu 5, Add 1
        QCOMPARE(p.extraBytes, std::int64_t{4 * 64 * 48});
        QCOMPARE(p.resultBytes, std::int64_t{4 * 64 * 48});
    }
    void accumulatorsTakeASecondOperandInASweepOfItsOwn() {
        Kernel kernel = productKernel(DType::I8, 1, 64, 48, 32);
        NpuMachine machine = npu_fixture::gemmini();
        kernel.epilogue = {64 * 48, 48};  // a vector of parameters
        QCOMPARE(npuKernels(kernel, machine).kernels.size(), std::size_t{1});
        kernel.epilogue = {64 * 48, 64 * 48};
        const auto two = npuKernels(kernel, machine).kernels;
        QCOMPARE(two.size(), std::size_t{2});
        const auto& sweep = std::get<VectorSpec>(two[1].work);
        QCOMPARE(sweep.readBytes - sweep.writeBytes, std::int64_t{64 * 48});
    }
    void whatTwoReadIsWritten() {
        GraphBuilder g("fork", npu_rows::singlePrecision());
        const auto y = g.linear("fc", g.input("x", {64, 32}), 48, {.bias = false});
        g.output(g.elementwise("Relu", "a", {y}));
        g.output(g.elementwise("Tanh", "b", {y}));
        QCOMPARE(kernelsOf(g, plain()).size(), std::size_t{3});
    }
    void softmaxAloneIsThreeSweeps() {
        GraphBuilder alone("softmax", npu_rows::singlePrecision());
        alone.output(alone.softmax("softmax", alone.input("x", {64, 64})));
        std::int64_t moved = 0;
        for (const auto& kernel : kernelsOf(alone, plain())) {
            const auto& s = std::get<VectorSpec>(kernel.work);
            moved += s.readBytes + s.writeBytes;
        }
        QCOMPARE(moved, std::int64_t{4 * 4 * 64 * 64});  // four accesses per element
    }
    void depthwiseConvolutionsRunWhereTheyAreFaster() {
        GraphBuilder g("depthwise", npu_rows::singlePrecision());
        g.output(g.conv("dw", g.input("x", {1, 256, 28, 28}), 256,
                        {.kernel = 3, .padding = 1, .groups = 256, .bias = false}));
        NpuMachine machine = plain();
        machine.height = machine.width = 128;
        machine.vectorOps = 1024;
        const auto workload = fixture::workloadOf(g.finish());
        const Kernel kernel = launchesOf(*workload, {}).launches.front().kernel;
        QVERIFY(std::holds_alternative<VectorSpec>(npuKernels(kernel, machine).kernels[0].work));
        machine.vectorOps = 1;
        QVERIFY(std::holds_alternative<ProductSpec>(npuKernels(kernel, machine).kernels[0].work));
    }
    void storedTensorsArePaddedInTheDimensionThatWastesLeast() {
        NpuMachine m = plain();
        const std::vector<std::int64_t> image{64, 56, 56, 64}, heads{12, 512, 64};
        QCOMPARE(storedBytes(image, 4, m), std::int64_t{4 * 64 * 56 * 56 * 64});
        m.layoutLanes = 128;
        QCOMPARE(storedBytes(image, 4, m), std::int64_t{2 * 4 * 64 * 56 * 56 * 64});
        QCOMPARE(storedBytes(heads, 4, m), std::int64_t{4 * 12 * 512 * 64});
    }
    void wholeModelsAreAnsweredConsistently() {
        for (const char* id : {"tpu-v3", "tpu-v4", "tpu-v3-core", "tpu-v1-like"}) {
            const auto hardware = device(id);
            for (const char* name : {"resnet-50", "bert-base"}) {
                const auto answer = ask(hardware, model(name));
                QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
                double sum = 0;
                for (const double s : answer->operators.seconds) sum += s;
                QVERIFY(std::fabs(sum - answer->latency.value) <= 1e-9 * sum && sum > 0);
                QVERIFY(answer->interval.low < answer->latency && answer->latency < answer->interval.high);
                QVERIFY(!answer->assumptions.empty() && !answer->timeline.spans.empty());
                QVERIFY(std::is_sorted(answer->timeline.spans.begin(), answer->timeline.spans.end(),
                                       [](const TimelineSpan& a, const TimelineSpan& b) {
                                           return a.row != b.row ? a.row < b.row : a.startPs < b.startPs;
                                       }));
                for (const auto& span : answer->timeline.spans) {
                    QVERIFY(span.startPs >= 0 && span.startPs <= span.endPs);
                    QVERIFY(static_cast<double>(span.endPs) <= answer->latency.value * 1e12 + 1);
                    QVERIFY(static_cast<std::size_t>(span.row) < answer->timeline.rows.size());
                }
                qInfo("%s on %s: %.3f ms, computed in %.0f ms", name, id, 1e3 * answer->latency.value,
                      1e3 * answer->cost.value);
            }
        }
    }
    // NVDLA's 8 engines of 32 multipliers are no square: what is tiled by one side must not be charged by the other.
    void arraysThatAreNotSquareAnswer() {
        for (const char* mesh : {"8 x 32", "32 x 8"}) {
            const auto hardware = device("nvdla-soc", "nvdla/engines.mesh", mesh);
            for (const char* name : {"resnet-18", "alexnet"}) {
                const auto answer = ask(hardware, model(name));
                QVERIFY2(answer, answer ? "" : (mesh + (": " + toText(answer.error()))).c_str());
                QVERIFY(answer->latency.value > 0);
            }
        }
    }
    void productsAreNeverFasterThanTheirRoofline() {
        for (const char* row : {"gemm_256x256x256", "gemm_2048x2048x2048", "gemm_1x4096x4096", "gemm_512x65536x512",
                                "gemm_300x70x5000", "conv_8x28x28x128x128x3x1x1", "conv_1x7x7x512x512x3x1x1"}) {
            const auto workload = npu_rows::workloadOf(row);
            const auto answer = ask(device("tpu-v3-core"), workload);
            QVERIFY(answer);
            const double compute = workload->totals.macs / (2 * 16384 * 940e6);
            const double memory = workload->costs.bytes(0) / 450e9;
            QVERIFY2(answer->latency.value >= std::max(compute, memory), row);
        }
    }
    void aFasterPartNeverMakesAModelSlower() {
        const auto workload = npu_rows::workloadOf("bert_base");
        const auto latency = [&](std::string_view path, std::string_view value) {
            return ask(device("tpu-v3-core", path, value), workload)->latency.value;
        };
        const double base = latency({}, {});
        QVERIFY(latency("hbm.bandwidth", "900 GB/s") < base);
        QVERIFY(latency("hbm.bandwidth", "100 GB/s") > base);
        QVERIFY(latency("mxu.count", "4") < base);
        QVERIFY(latency("launch_overhead", "50 us") > base);
        QVERIFY(latency("vpu.lanes", "8") > base);
    }
    void everyRepetitionIsDrawnWhereThereIsRoom() {
        const auto answer = ask(device("tpu-v3-core"), model("bert-base"));
        QVERIFY(answer);
        std::int32_t last = 0;
        for (const auto& span : answer->timeline.spans) last = std::max(last, span.repetition);
        QVERIFY(answer->timeline.truncated || last == 11);
        const auto& rows = answer->timeline.rows;
        QVERIFY(std::find(rows.begin(), rows.end(), "arrays") != rows.end());
    }
    void unknownOperatorsCostTheirBytesAndAreNamed() {
        GraphBuilder g("other", npu_rows::singlePrecision());
        const auto x = g.input("x", {1024, 1024});
        Operator op;
        op.name = "mystery", op.type = "Mystery", op.kind = OperatorKind::Other;
        op.inputs = {x};
        op.outputs = {g.activation({1024, 1024})};
        g.output(g.add(op).outputs[0]);
        const auto workload = finishWorkload("other", "other", {}, g.finish(), {});
        const auto answer = ask(device("tpu-v3-core"), workload);
        QVERIFY(answer);
        QVERIFY(answer->latency.value >= 2 * 4 * 1024 * 1024 / 450e9);
        QVERIFY(std::any_of(answer->warnings.begin(), answer->warnings.end(), [](const Diagnostic& d) {
            return d.code == "npu.by-bytes" && d.message.find("mystery") != std::string::npos;
        }));
    }
    void otherDevicesAreRefusedByName() {
        for (const char* id : {"h100-sxm", "epyc-9654", "eyeriss-like"}) {
            const auto answer = ask(device(id), model("resnet-50"));
            QVERIFY(!answer);
            QCOMPARE(answer.error().code, std::string("method.not-applicable"));
            QVERIFY(!answer.error().hint.empty() && !answer.error().place.path.empty());
        }
    }
};

QTEST_APPLESS_MAIN(TestMethodNpuTile)
#include "tst_method_npu_tile.moc"
