// Does every kernel method, of GPUs, arrays and NPUs, fill the same slot of the same composition on every kind of
// device: the same launches, fused alike, their times added up, stopped when asked, the same at any thread count?

#include "hardware/files/catalogue.h"
#include "methods/kernel_method.h"
#include "methods/model/columns.h"
#include "methods/model/compose.h"
#include "methods/system/planned_fleet.h"
#include "store/project/serving_file.h"
#include "workload/models/builder.h"

#include <QtTest/QtTest>

#include <chrono>
#include <cmath>
#include <set>
#include <thread>

using namespace orrery;

namespace {

HardwarePtr device(std::string_view id) {
    auto hardware = loadHardware(id);
    if (!hardware) qFatal("%s", toText(hardware.error()).c_str());
    return std::make_shared<const Hardware>(std::move(hardware->hardware));
}

/// A convolution with what follows it, a product with bias and residual, a norm, a softmax.
WorkloadPtr small(DType type) {
    WorkloadOptions options;
    options.weights = options.activations = options.kv = type;
    GraphBuilder g("slot", options);
    TensorId x = g.conv("conv", g.input("image", {1, 16, 14, 14}), 32, {.kernel = 3, .padding = 1, .bias = false});
    x = g.elementwise("Relu", "relu", {g.batchNorm("bn", x)});
    x = g.view("rows", x, {32, 196});
    TensorId y = g.elementwise("Gelu", "gelu", {g.linear("up", x, 128)});
    y = g.elementwise("Add", "add", {g.linear("down", y, 196), x});
    y = g.layerNorm("norm", y);
    g.output(g.softmax("softmax", y));
    return finishWorkload("slot", "slot", {}, g.finish(), {});
}

DType typeFor(const HardwarePtr& hardware) {
    const auto view = deviceView(*hardware);
    for (const DType type : {DType::BF16, DType::F16, DType::I16, DType::I8}) {
        if (view && view->peak(true, type).value > 0) return type;
    }
    return DType::F32;
}

Expected<Composition> composed(const KernelMethod& method, const HardwarePtr& hardware, const WorkloadPtr& workload,
                               Executor& executor, std::stop_token stop = {}) {
    EstimateContext context{executor, std::move(stop), nullptr, 1, false};
    return compose({hardware, workload}, method, {}, context);
}

}  // namespace

class TestKernelSlot : public QObject {
    Q_OBJECT
private slots:
    void everyMethodFillsIt_data() {
        QTest::addColumn<QString>("hardware");
        QTest::addColumn<QStringList>("answering");
        const QStringList gpu{"tile-wave",         "tile-hybrid",    "wave-scaling", "forest",      "booster",
                              "interval-analysis", "mapping-search", "gpu-cycle",    "gpu-interval"};
        const QStringList array{"loop-nest", "data-centric"};
        const QStringList systolic{"loop-nest", "data-centric", "npu-tile", "systolic-cycle", "systolic-closed-form"};
        QTest::newRow("GPU") << "h100-sxm" << gpu;
        QTest::newRow("TPU") << "tpu-v3" << systolic;
        QTest::newRow("NPU") << "gemmini-like" << systolic;
        QTest::newRow("array") << "eyeriss-like" << array;
        QTest::newRow("CPU") << "epyc-9654" << QStringList{"cpu-roofline", "core-windows", "core-cycle"};
    }
    void everyMethodFillsIt() {
        QFETCH(QString, hardware);
        QFETCH(QStringList, answering);
        const auto on = device(hardware.toStdString());
        const auto workload = small(typeFor(on));
        const auto one = makeSerialExecutor(), three = makeThreadExecutor(3);
        std::set<QString> answered;
        std::vector<std::int32_t> groups;
        std::size_t launches = 0;
        for (const KernelMethod& method : kernelMethods()) {
            const std::string id(method.id);
            const auto c = composed(method, on, workload, *one);
            if (!c) {
                const bool file = asksForFile(findMethod(id)->card);
                QCOMPARE(c.error().code, std::string(file ? "recorded.no-trace" : "method.not-applicable"));
                continue;
            }
            answered.insert(QString::fromStdString(id));
            if (groups.empty()) groups = c->list().leader, launches = c->list().launches.size();
            QVERIFY2(groups == c->list().leader && launches == c->list().launches.size(), id.c_str());
            double sum = c->graphLaunch;
            for (std::size_t i = 0; i < c->prices.size(); ++i) {
                QVERIFY2(c->prices[i].seconds > 0 && c->prices[i].seconds >= c->prices[i].least, id.c_str());
                QVERIFY2(c->prices[i].low < c->prices[i].high, id.c_str());
                sum += c->prices[i].seconds;
            }
            QVERIFY2(std::fabs(latencyOf(*c) - sum) <= 1e-9 * sum, id.c_str());
            const auto again = composed(method, on, workload, *three);
            QVERIFY(again);
            for (std::size_t i = 0; i < c->prices.size(); ++i) {
                QCOMPARE(again->prices[i].seconds, c->prices[i].seconds);
                QCOMPARE(again->prices[i].price.joules, c->prices[i].price.joules);
                QVERIFY(again->prices[i].price.levelBytes == c->prices[i].price.levelBytes);
            }
        }
        const std::set<QString> wanted(answering.begin(), answering.end());
        for (const QString& id : wanted) QVERIFY2(answered.contains(id), qPrintable(id + " did not answer"));
        for (const QString& id : answered) QVERIFY2(wanted.contains(id), qPrintable(id + " answered"));
    }
    void epiloguesArePricedByThoseWhoTakeThem() {
        const auto on = device("tpu-v3");
        const auto places = devicesOf(on);
        QVERIFY(places);
        Kernel plain = productKernel(DType::BF16, 1, 2048, 1024, 1024);
        Kernel fused = plain;
        fused.epilogue = {2048.0 * 1024, 2 * 2048.0 * 1024};
        const auto serial = makeSerialExecutor();
        for (const char* id : {"npu-tile", "loop-nest"}) {
            const auto pricer = findKernelMethod(id)->bind(places->front(), {shippedCalibrations().set});
            QVERIFY(pricer);
            PriceContext context{*serial};
            const auto without = (*pricer)->price(plain, context), with = (*pricer)->price(fused, context);
            QVERIFY(without && with);
            QCOMPARE(with->seconds > without->seconds, (*pricer)->takesEpilogue());
        }
    }
    void slowOnesStopWithinTheirTime() {
        WorkloadOptions options;
        options.weights = options.activations = options.kv = DType::BF16;
        auto workload = loadWorkload({"resnet-50", options, {}});
        QVERIFY(workload);
        const auto on = device("tpu-v3");
        const auto executor = makeThreadExecutor(2);
        for (const char* id : {"loop-nest", "systolic-cycle"}) {
            std::stop_source source;
            std::chrono::steady_clock::time_point asked;
            std::jthread stopper([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                asked = std::chrono::steady_clock::now();
                source.request_stop();
            });
            const auto c = composed(*findKernelMethod(id), on, *workload, *executor, source.get_token());
            const auto ended = std::chrono::steady_clock::now();
            stopper.join();
            if (c && ended < asked) continue;  // done before it could be stopped
            QVERIFY2(c || c.error().code == "study.cancelled", id);
            const auto late = std::chrono::duration_cast<std::chrono::milliseconds>(ended - asked).count();
            QVERIFY2(late < 200, qPrintable(QString("%1 went on for %2 ms").arg(id).arg(late)));
        }
    }
    void anArrayOfIntegersAnswersInItsOwnType() {
        const auto on = device("tpu-v1-like");
        const auto executor = makeSerialExecutor();
        const auto asked = small(DType::BF16), own = small(DType::I8);
        for (const char* id : {"roofline", "loop-nest", "data-centric", "systolic-closed-form", "npu-tile"}) {
            EstimateContext context{*executor, {}, nullptr, 1, false};
            const auto said = estimate(*findMethod(id), {on, asked}, context);
            QVERIFY2(said, said ? "" : toText(said.error()).c_str());
            // The model built in int8 keeps a few vectors of parameters wider.
            const double built = estimate(*findMethod(id), {on, own}, context)->latency.value;
            QVERIFY2(std::fabs(said->latency.value / built - 1) < 0.05, id);
            const auto& first = said->warnings.front();
            QCOMPARE(first.code, std::string("precision.own-type"));
            QVERIFY(first.hint.find("int8") != std::string::npos);
        }
    }
    void aDesignOfArraysIsServed() {
        auto loaded = readServing(R"(orrery: serving/1
name: Llama on a TPU
hardware: tpu-v3
model: {source: llama-2-7b, weights: bf16, activations: bf16, kv: bf16}
pools:
  - name: replicas
    time: {kind: kernels, method: npu-tile}
traffic:
  requests: 4
  arrivals: {kind: poisson, rate: 1}
  prompt: {kind: fixed, least: 64}
  output: {kind: fixed, least: 4}
)",
                                  "tpu.yaml");
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        const auto on = device("tpu-v3");
        auto fleet = fleetOf(loaded->study.scenario, on);
        QVERIFY2(fleet, fleet ? "" : toText(fleet.error()).c_str());
        // A token reads all weights, a prompt multiplies with all of them.
        const auto view = deviceView(*on);
        const PlannedPool& pool = fleet->pools.front();
        QVERIFY(pool.decodeSeconds >= pool.weightBytesPerDevice / view->main().bandwidth.value);
        QVERIFY(pool.decodeSeconds < 4 * pool.weightBytesPerDevice / view->main().bandwidth.value);
        QVERIFY(pool.promptSeconds >= 1024 * 2 * 6.4e9 / view->peak(true, DType::BF16).value);
        // No collectives are priced: a replica over two devices is refused where it stands.
        loaded->study.scenario.pools.front().plan.tensor = 2;
        const auto two = fleetOf(loaded->study.scenario, on);
        QVERIFY(!two && two.error().code == "serving.no-collectives");
        // Methods of GPUs say that this is none.
        loaded->study.scenario.pools.front().plan.tensor = 1;
        loaded->study.scenario.pools.front().time.method = "tile-wave";
        QCOMPARE(fleetOf(loaded->study.scenario, on).error().code, std::string("method.not-applicable"));
        // The default is nobody's choice: what answers here does.
        loaded->study.scenario.pools.front().time.method = TimeSlot{}.method;
        QVERIFY(fleetOf(loaded->study.scenario, on));
    }
};

QTEST_GUILESS_MAIN(TestKernelSlot)
#include "tst_kernel_slot.moc"
