// What cards state of the cost of an answer: complete, in the right order, and summed as it says. Rates themselves are
// compared with the clock in tests/bench/bench_costs.cpp.

#include "base/executor.h"
#include "hardware/files/catalogue.h"
#include "methods/kernel_method.h"
#include "methods/method.h"
#include "serving/serving_study.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

HardwarePtr costDevice(const char* id) {
    auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return std::make_shared<const Hardware>(std::move(loaded->hardware));
}
WorkloadPtr costModel(const char* source, Phase phase = Phase::Forward) {
    auto loaded =
        loadWorkload({.source = source, .options = {.batch = 1, .sequence = 512, .phase = phase}, .whatIfs = {}});
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return *loaded;
}

}  // namespace

class TstMethodCost : public QObject {
    Q_OBJECT
private slots:
    void everyCardStatesIt();
    void slowOnesCostMore();
    void sumsWhatIsCounted();
    void servingRunsCountRequests();
    void saidInWords();
};

void TstMethodCost::everyCardStatesIt() {
    for (const Method& method : builtinMethods()) {
        const CostModel& cost = method.card.cost;
        const QByteArray id(method.card.id.data(), static_cast<qsizetype>(method.card.id.size()));
        for (const double rate : {cost.fixed, cost.perOperator, cost.perKernel, cost.perCycle, cost.perRequest})
            QVERIFY2(std::isfinite(rate) && rate >= 0 && rate < 60, id);
        QVERIFY2(cost.fixed > 0, id);
        if (findKernelMethod(method.card.id)) {
            QVERIFY2(cost.perKernel > 0, id);
        } else if (method.card.answers(TaskKind::ServingRun) && !asksForFile(method.card)) {  // learned: no requests
            QVERIFY2(cost.perRequest > 0, id);
        } else if (method.card.level != MethodLevel::System && !asksForFile(method.card)) {  // from a file: no operators
            QVERIFY2(cost.perOperator > 0, id);
        }
    }
}

// A method that is too slow for live answers is stated to take longer than any that gives them.
void TstMethodCost::slowOnesCostMore() {
    const Scenario scenario{costDevice("tpu-v3"), costModel("resnet-50")};
    double live = 0, slow = HUGE_VAL;
    for (const Method& method : builtinMethods()) {
        if (!method.card.answers(TaskKind::Pass)) continue;
        const auto cost = expectedCost(method, scenario);
        QVERIFY(cost && cost->value > 0);
        if (method.card.live) live = std::max(live, cost->value);
        if (!method.card.live) slow = std::min(slow, cost->value);
    }
    QVERIFY2(std::isfinite(slow) && live > 0 && slow > 2 * live, qPrintable(QString("%1 %2").arg(slow).arg(live)));
}

void TstMethodCost::sumsWhatIsCounted() {
    const Method& method = *findMethod("systolic-cycle");
    const Scenario pass{costDevice("tpu-v3"), costModel("resnet-50")};
    const CostCounts counts = costCounts(method, pass);
    QCOMPARE(counts.operators, static_cast<double>(pass.workload->costs.size()));
    QVERIFY(counts.kernels > 10 && counts.kernels < counts.operators);  // equal shapes are priced once
    // Distinct kernels are no more than all of them, at the peak of 2·2·128² operations a cycle.
    QVERIFY(counts.cycles > 0 && counts.cycles < pass.workload->totals.flops / (4 * 128 * 128));
    const CostModel& cost = method.card.cost;
    QCOMPARE(expectedCost(method, pass)->value,
             cost.fixed + cost.perKernel * counts.kernels + cost.perCycle * counts.cycles);
    Scenario one = pass;
    one.task = OneOperator{pass.workload->graph.operators.front().name};
    QCOMPARE(costCounts(method, one).operators, 1.0);
    QCOMPARE(costCounts(method, one).kernels, 1.0);
    QVERIFY(*expectedCost(method, one) < *expectedCost(method, pass));
    Scenario step = pass;
    step.task = TrainingStep{};
    QVERIFY(costCounts(method, step).kernels > counts.kernels);
    QCOMPARE(costCounts(*findMethod("roofline"), pass).kernels, 0.0);
    QVERIFY(!expectedCost(*findMethod("roofline"), step));  // which it does not answer
    QVERIFY(!expectedCost(method, {pass.hardware, nullptr}));
}

void TstMethodCost::servingRunsCountRequests() {
    const auto asked = [](std::int64_t requests) {
        auto study = std::make_shared<ServingStudy>();
        study->traffic.requests = requests;
        return Scenario{costDevice("h100-sxm"), costModel("llama-3-8b", Phase::Decode), {}, ServingRun{study}};
    };
    const Method& serving = *findMethod("serving");
    const double few = expectedCost(serving, asked(100))->value, many = expectedCost(serving, asked(1100))->value;
    QVERIFY(std::abs((many - few) / (1000 * serving.card.cost.perRequest) - 1) < 1e-9);
    QCOMPARE(expectedCost(*findMethod("tile-hybrid"), asked(100))->value, few);
    QVERIFY(!expectedCost(*findMethod("loop-nest"), asked(100)));
}

void TstMethodCost::saidInWords() {
    QCOMPARE(toText(CostModel{.fixed = 5e-5, .perOperator = 2e-8, .perKernel = 4e-6}),
             std::string("50 µs + 20 ns per operator + 4 µs per kernel"));
    QCOMPARE(toText(CostModel{.fixed = 1e-3, .perRequest = 3e-5}), std::string("1 ms + 30 µs per request"));
}

QTEST_GUILESS_MAIN(TstMethodCost)
#include "tst_method_cost.moc"
