// Do rooflines and methods over kernels speak of the same kernels? Columns are compared with the launches that they
// come from, and with arithmetic on paper.

#include "hardware/files/catalogue.h"
#include "support/method_fixture.h"
#include "methods/method.h"
#include "methods/model/fused_costs.h"
#include "workload/models/builder.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace orrery;

namespace {

/// x → linear → GeLU → linear → + x → norm.
WorkloadPtr feedForward() {
    GraphBuilder g("ff", {});
    const TensorId x = g.input("x", {512, 1024});
    const TensorId up = g.elementwise("GeluTanh", "act", {g.linear("up", x, 4096)});
    const TensorId sum = g.elementwise("Residual", "sum", {x, g.linear("down", up, 1024)});
    g.output(g.layerNorm("norm", sum));
    return fixture::workloadOf(g.finish());
}

WorkloadPtr model(std::string id, Phase phase, bool flash = true) {
    WorkloadOptions options;
    options.phase = phase;
    options.sequence = id == "resnet-50" ? 0 : 512;
    options.flashAttention = flash;
    auto workload = loadWorkload({std::move(id), options});
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    return *workload;
}

double sum(const std::vector<double>& column, const std::vector<double>& repeat) {
    return std::inner_product(column.begin(), column.end(), repeat.begin(), 0.0);
}

Expected<Estimate> ask(std::string_view method, const std::string& device, const WorkloadPtr& workload,
                       OptionValues options = {}) {
    static const auto executor = makeSerialExecutor();
    auto hardware = loadHardware(device);
    if (!hardware) return tl::unexpected(hardware.error());
    EstimateContext context{*executor, {}};
    context.options = std::move(options);
    return estimate(*findMethod(method), {std::make_shared<const Hardware>(std::move(hardware->hardware)), workload},
                    context);
}

const std::vector<Fusion> fusions{Fusion::Epilogue, Fusion::None, Fusion::Compile};

}  // namespace

class TestFusedCosts : public QObject {
    Q_OBJECT
private slots:
    void aFeedForwardBlockIsThreeKernelsOnPaper() {
        const auto workload = feedForward();
        const auto list = launchesOf(*workload, {});
        const CostTable costs = fusedCosts(*workload, list);
        QCOMPARE(costs.size(), workload->costs.size());
        const auto at = [&](const char* name) {
            const auto& ops = workload->graph.operators;
            return static_cast<std::size_t>(
                std::find_if(ops.begin(), ops.end(), [&](const Operator& op) { return op.name == name; }) -
                ops.begin());
        };
        const double x = 512 * 1024 * 2.0, wide = 512 * 4096 * 2.0, weights = (1024 + 1) * 4096 * 2.0;
        const std::size_t up = at("up"), act = at("act");
        // The activation is computed in the product: its tensor is written once and not read again before.
        QCOMPARE(list.leader[act], static_cast<std::int32_t>(up));
        QCOMPARE(costs.bytes(up), x + weights + wide);
        QCOMPARE(costs.bytes(act), 0.0);
        QCOMPARE(costs.flops[act], 0.0);
        QCOMPARE(costs.flops[up], workload->costs.flops[up] + workload->costs.flops[act]);
        // Sum and norm are one kernel: two operands and the norm's parameters in, the norm alone out.
        const std::size_t norm = at("norm"), added = at("sum");
        QCOMPARE(list.leader[norm], static_cast<std::int32_t>(added));
        QCOMPARE(costs.bytes(norm), 0.0);
        QCOMPARE(costs.bytes(added), 3 * x + workload->costs.weightBytes[norm]);
    }
    void workIsConservedAndBytesAreThoseOfTheKernels() {
        for (const auto& workload :
             {feedForward(), model("llama-2-7b", Phase::Prefill), model("resnet-50", Phase::Forward),
              model("llama-2-7b", Phase::Decode), model("bert-large", Phase::Forward, false)}) {
            for (const Fusion fusion : fusions) {
                ModelOptions options;
                options.fusion = fusion;
                const auto list = launchesOf(*workload, options);
                const CostTable costs = fusedCosts(*workload, list);
                const auto& own = workload->costs;
                QVERIFY(std::fabs(sum(costs.flops, own.repeat) / sum(own.flops, own.repeat) - 1) < 1e-9);
                QVERIFY(std::fabs(sum(costs.macs, own.repeat) / sum(own.macs, own.repeat) - 1) < 1e-9);
                double launched = 0, columns = 0;
                for (const Launch& l : list.launches) launched += l.count * (l.kernel.bytes() + l.kernel.epilogue.bytes);
                for (std::size_t i = 0; i < costs.size(); ++i) columns += own.repeat[i] * costs.bytes(i);
                QVERIFY2(
                    std::fabs(columns / launched - 1) < 1e-9,
                    qPrintable(QString("%1: %2 against %3").arg(workload->name.c_str()).arg(columns).arg(launched)));
            }
        }
    }
    void apartGivesTheGraphsOwnColumns() {
        const auto workload = model("bert-large", Phase::Forward, false);
        const auto answer = ask("roofline", "h100-sxm", workload, {{"fusion", "apart"}});
        QVERIFY(answer);
        for (std::size_t i = 0; i < workload->costs.size(); ++i) {
            QCOMPARE(answer->operators.bytes[i], workload->costs.repeat[i] * workload->costs.bytes(i));
        }
        const auto fused = ask("roofline", "h100-sxm", workload);
        QVERIFY(fused && fused->latency < answer->latency);
    }
    void methodsThatFuseAlikeHaveOneBound() {
        for (const char* fusion : {"epilogue", "none", "compile"}) {
            const auto workload = model("bert-large", Phase::Forward, false);
            const OptionValues options{{"fusion", fusion}};
            const auto roof = ask("roofline", "a100-80-sxm", workload, options);
            const auto tiles = ask("tile-hybrid", "a100-80-sxm", workload, options);
            QVERIFY(roof && tiles && roof->bound && tiles->bound);
            QVERIFY2(std::fabs(roof->bound->value / tiles->bound->value - 1) < 1e-9, fusion);
            QVERIFY2(roof->latency >= *roof->bound && tiles->latency >= *tiles->bound, fusion);
            QCOMPARE(roof->interval.low, *roof->bound);
        }
    }
    void aLoweringIsSharedAndForgottenWithItsWorkload() {
        auto workload = feedForward();
        const auto first = loweringOf(workload, Fusion::Epilogue);
        QVERIFY(first == loweringOf(workload, Fusion::Epilogue));
        QVERIFY(first != loweringOf(workload, Fusion::None));
        std::weak_ptr<const Lowering> kept = first;
        workload.reset();
        auto other = feedForward();
        QVERIFY(loweringOf(other, Fusion::Epilogue) != first);
    }
    void costsWithoutAGraphAreLeftAlone() {
        auto workload = std::make_shared<Workload>();
        fixture::addProduct(workload->costs, 64, 64, 64);
        const auto lowering = loweringOf(workload, Fusion::Epilogue);
        QVERIFY(lowering->leader.empty() && lowering->parts.empty());
    }
};

QTEST_GUILESS_MAIN(TestFusedCosts)
#include "tst_fused_costs.moc"
