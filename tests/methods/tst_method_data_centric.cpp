// Does a model on an array keep to its bounds under stock dataflows, choose what the array can run, and how far is it
// from machines?

#include "hardware/files/catalogue.h"
#include "methods/array/data_centric.h"
#include "methods/method.h"
#include "support/devices.h"
#include "support/method_fixture.h"
#include "support/npu_fixture.h"
#include "support/npu_rows.h"
#include "workload/models/builder.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

using namespace orrery;
using orrery::fixture::device;

namespace {

WorkloadOptions in(DType type) {
    WorkloadOptions options;
    options.weights = options.activations = options.kv = type;
    return options;
}

WorkloadPtr load(std::string source, WorkloadOptions options) {
    auto workload = loadWorkload({std::move(source), options, {}});
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    return *workload;
}

Expected<Estimate> ask(std::string_view method, const HardwarePtr& hardware, const WorkloadPtr& workload) {
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}, nullptr, 1, false};
    return estimate(*findMethod(method), {hardware, workload}, context);
}

struct Spread {
    double low = 1e9, high = 0, sum = 0;
    int rows = 0;
    void add(double measured, double predicted) {
        low = std::min(low, measured / predicted);
        high = std::max(high, measured / predicted);
        sum += std::fabs(predicted / measured - 1);
        ++rows;
    }
};

}  // namespace

class TestMethodDataCentric : public QObject {
    Q_OBJECT
private slots:
    void neverBelowTheRoofline_data() {
        QTest::addColumn<QString>("hardware");
        QTest::addColumn<int>("type");
        QTest::newRow("Eyeriss-like") << "eyeriss-like" << int(DType::I16);
        QTest::newRow("TPU v1-like") << "tpu-v1-like" << int(DType::I8);
        QTest::newRow("TPU v3") << "tpu-v3" << int(DType::BF16);
    }
    void neverBelowTheRoofline() {
        QFETCH(QString, hardware);
        QFETCH(int, type);
        const auto on = device(hardware.toStdString());
        const auto workload = load("resnet-50", in(static_cast<DType>(type)));
        const auto roof = ask("roofline", on, workload);
        const auto answer = ask("data-centric", on, workload);
        QVERIFY(roof);
        QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
        const auto view = spatialArrayView(*on);
        QVERIFY(view);
        for (std::size_t i = 0; i < roof->operators.size(); ++i) {
            QVERIFY2(answer->operators.seconds[i] >= roof->operators.seconds[i] * (1 - 1e-9),
                     workload->graph.operators[i].name.c_str());
            const double macs = workload->costs.macs[i] * workload->costs.repeat[i];
            QVERIFY(answer->operators.seconds[i] * view->clock.value * static_cast<double>(view->macs()) >=
                    macs * (1 - 1e-9));
        }
        QVERIFY(answer->interval.low < answer->latency && answer->latency < answer->interval.high);
        QVERIFY(answer->latency.value < 20 * roof->latency.value);
        QVERIFY(ask("data-centric", on, workload)->operators.seconds == answer->operators.seconds);
    }
    void theArraysDataflowDecides() {
        const auto view = spatialArrayView(*device("eyeriss-like"));
        QVERIFY(view);
        const auto allowed = dataflowsOf(*view);
        QCOMPARE(allowed.size(), std::size_t{1});
        QCOMPARE(allowed[0]->id, std::string_view("yrp-rs"));
        auto open = *view;
        open.dataflow.reset();
        QCOMPARE(dataflowsOf(open).size(), stockDataflows().size());
    }
    void theArrayIsReadFromTheDrawing() {
        const auto view = spatialArrayView(*device("eyeriss-like"));
        const auto hardware = flowHardware(*view, 2);
        QCOMPARE(hardware.pes, std::int64_t{168});
        QCOMPARE(hardware.l2Words, 108.0 * 1024 / 2);
        QCOMPARE(hardware.l1Words, 448.0 / 2);
        QVERIFY(std::fabs(hardware.l2Energy / hardware.macEnergy - 6) < 1e-9);
    }
    void nestsBecomeLayersWithTheSameWork() {
        for (const auto* source : {"resnet-50", "mobilenet-v2", "bert-base"}) {
            if (!builtinWorkload(source)) continue;
            const auto workload = load(source, in(DType::I8));
            int layers = 0;
            for (const auto& op : workload->graph.operators) {
                for (const auto& nest : nestsOf(op, workload->graph)) {
                    const auto layer = flowLayer(nest.problem);
                    QVERIFY2(layer, op.name.c_str());
                    QCOMPARE(macs(*layer), nest.problem.operations());
                    ++layers;
                }
            }
            QVERIFY(layers >= 5);
        }
    }
    void devicesWithoutAnArrayAreRefused() {
        const auto answer = ask("data-centric", device("h100-sxm"), load("resnet-50", in(DType::F16)));
        QVERIFY(!answer);
        QCOMPARE(answer.error().code, std::string("method.not-applicable"));
    }
    void errorsAgainstMachines() {
        const std::string folder = std::string(ORRERY_REFERENCE) + "/accelerators/";
        const auto gemmini = npu_fixture::rowsOf(folder + "onnxim/gemmini_ground_truth.csv");
        const auto tpu = npu_fixture::rowsOf(folder + "pytorchsim/baseline_cycle.csv");
        if (gemmini.empty() || tpu.empty()) QSKIP("no reference data: accelerators/onnxim and pytorchsim");
        Spread all;
        const auto small = device("gemmini-like");
        const double clock = spatialArrayView(*small)->clock.value;
        for (const auto& row : gemmini) {
            const auto given = readTileMapping(row[2]);
            QVERIFY(given);
            const auto& t = given->total;
            const bool entry =
                row[1].find("_0_Conv1") != std::string::npos && row[1].find("layer1") == std::string::npos;
            const bool half = t.r == 7 || row[1].find("downsample") != std::string::npos || entry;
            GraphBuilder g(row[1], in(DType::I8));
            if (row[0].rfind("Conv", 0) == 0) {
                const std::int64_t stride = half ? 2 : 1;
                const TensorId x = g.input("x", {t.n, t.c, t.p * stride, t.q * stride});
                g.output(g.conv("conv", x, t.m, {.kernel = t.r, .stride = stride, .padding = t.r / 2, .bias = false}));
            } else {
                g.output(g.matmul("gemm", g.input("a", {t.n, t.c}), g.input("b", {t.c, t.m})));
            }
            const auto answer = ask("data-centric", small, finishWorkload(row[1], row[1], {}, g.finish(), {}));
            QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
            const double measured = std::stod(row[4]);
            all.add(measured, answer->latency.value * clock);
            qInfo("%-34s RTL %9.0f predicted %9.0f  %+.1f %%", row[1].c_str(), measured, answer->latency.value * clock,
                  100 * (answer->latency.value * clock / measured - 1));
        }
        // Products of fp32 tensors are one pass of bf16 multiplications on a TPU.
        const auto big = device("tpu-v3-core");
        for (const auto& row : tpu) {
            const auto n =
                npu_rows::numbers(std::string_view(row[0]).substr(std::min(row[0].find('_') + 1, row[0].size())));
            const bool product = row[0].rfind("gemm", 0) == 0;
            if (row[1].empty() || (!product && row[0].rfind("conv", 0) != 0)) continue;
            GraphBuilder g(row[0], in(DType::BF16));
            if (product) {
                g.output(g.matmul("gemm", g.input("a", {n[0], n[1]}), g.input("b", {n[1], n[2]})));
            } else {
                const TensorId x = g.input("x", {n[0], n[3], n[1], n[2]});
                g.output(g.conv("conv", x, n[4], {.kernel = n[5], .stride = n[6], .padding = n[7], .bias = false}));
            }
            const auto answer = ask("data-centric", big, finishWorkload(row[0], row[0], {}, g.finish(), {}));
            QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
            const double measured = std::stod(row[1]);
            all.add(measured, answer->latency.value * 940e6);
            qInfo("%-34s TPU %9.0f predicted %9.0f  %+.1f %%", row[0].c_str(), measured, answer->latency.value * 940e6,
                  100 * (answer->latency.value * 940e6 / measured - 1));
        }
        qInfo("mean error %.1f %% over %d rows, measured / predicted %.2f to %.2f", 100 * all.sum / all.rows, all.rows,
              all.low, all.high);
        const auto answer = ask("data-centric", small, load("resnet-50", in(DType::I8)));
        QVERIFY(answer);
        // As low as has been measured, but for kernels whose bound is higher.
        QVERIFY(answer->interval.low.value >= all.low * answer->latency.value * 0.9999);
        QVERIFY(answer->interval.low.value >= answer->bound->value * 0.9999);
        QVERIFY(answer->interval.low < answer->latency);
        QVERIFY(answer->interval.high.value >= all.high * answer->latency.value);
        QVERIFY2(all.sum / all.rows < 0.21, "what has been measured");
    }
};

QTEST_GUILESS_MAIN(TestMethodDataCentric)
#include "tst_method_data_centric.moc"
