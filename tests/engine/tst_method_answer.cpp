// From priced operators to an answer: energy, ceilings, intervals, timelines at their limits, worked by hand.

#include "engine/method_fixture.h"
#include "methods/answer/answer.h"
#include "methods/answer/ceilings.h"
#include "methods/answer/energy.h"
#include "methods/roofline/roofline.h"
#include "methods/answer/timeline.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

Estimate priced(const Workload& workload, const DeviceView& device) {
    Estimate e;
    e.levels = {device.main().name};
    priceRoofline(workload.costs, computeRates(device, workload.costs)->rates, device.main().bandwidth.value,
                  e.operators);
    return e;
}

Workload product() {
    Workload w;
    fixture::addProduct(w.costs, 1024, 1024, 1024, 3);
    return w;
}

Ground groundOf(const DeviceView& device, const Workload& workload) {
    return {device, computeRates(device, workload.costs)->rates, Platform::Gpu, {}};
}

}  // namespace

class TestMethodAnswer : public QObject {
    Q_OBJECT
private slots:
    void energyAddsArithmeticBytesAndIdleTime() {
        auto device = fixture::device();
        const auto w = product();
        auto e = priced(w, device);
        addEnergy(e, device);
        QVERIFY(!e.energy);  // nothing is stated, so nothing is predicted
        device.flopEnergy = JoulesPerFlop(1e-12);
        device.levels[0].energy = JoulesPerByte(30e-12);
        device.idlePower = Watts(50);
        addEnergy(e, device);
        QVERIFY(e.energy);
        const double flops = 3 * 2 * std::pow(1024.0, 3);
        const double bytes = 3 * 3 * 2 * 1024.0 * 1024;
        const double seconds = flops / 100e12;
        QVERIFY(std::fabs(e.energy->value / (flops * 1e-12 + bytes * 30e-12 + seconds * 50) - 1) < 1e-12);
        QCOMPARE(e.operators.joules.size(), std::size_t{1});
    }
    void energyOfInnerLevelsIsCountedWhereTheyStateIt() {
        auto device = fixture::device();
        device.flopEnergy = JoulesPerFlop(1e-12);
        device.levels[0].energy = JoulesPerByte(30e-12);
        device.levels[2].energy = JoulesPerByte(1e-12);
        const auto w = product();
        auto e = priced(w, device);
        e.operators.levelBytes = {{1e6}, {2e6}, {4e6}};
        auto without = e;
        without.operators.levelBytes.clear();
        addEnergy(e, device);
        addEnergy(without, device);
        QVERIFY(std::fabs(e.energy->value - without.energy->value - 4e6 * 1e-12) < 1e-15);
        QVERIFY(e.assumptions.back().find("hbm, smem") != std::string::npos);
    }
    void aPowerCapGivesEnergyWhereNothingElseIsStated() {
        auto device = fixture::device();
        const auto w = product();
        const auto ground = groundOf(device, w);
        auto e = priced(w, device);
        addPowerCapEnergy(e, device, w.costs, ground.rates);
        QVERIFY(!e.energy);
        device.powerCap = Watts(400);
        addPowerCapEnergy(e, device, w.costs, ground.rates);
        QVERIFY(e.energy);
        const double seconds = 3 * 2 * std::pow(1024.0, 3) / 100e12;  // bound by arithmetic: units are full all along
        const double moving = 3 * 3 * 2 * 1024.0 * 1024 / device.main().bandwidth.value;
        QVERIFY(std::fabs(e.energy->value / (400 * (0.7 * seconds + 0.2 * moving)) - 1) < 1e-12);
        QVERIFY(e.energy->value <= 0.9 * 400 * e.operators.seconds[0]);
        QCOMPARE(e.operators.joules.size(), std::size_t{1});
    }
    void ceilingsAreThoseThatTheWorkloadUsesFastestFirst() {
        const auto device = fixture::device();
        CostTable costs;
        fixture::addProduct(costs, 8, 8, 8);
        fixture::addRow(costs, OperatorKind::Softmax, DType::F32, 0, 100, 0, 8, 8);
        const auto all = ceilingsFor(device, costs, 3);
        std::vector<std::string> labels;
        for (const auto& c : all) labels.push_back(c.label);
        const std::vector<std::string> expected{"fp16 tensor 100 TFLOP/s", "fp32 vector 10 TFLOP/s", "smem 16 TB/s",
                                                "l2 4 TB/s", "hbm 1 TB/s"};
        QVERIFY(labels == expected);
        QVERIFY(!all[1].memory && all[2].memory && all[2].level == 2);
        auto silent = device;
        silent.levels[1].bandwidth = {};
        QCOMPARE(ceilingsFor(silent, costs, 3).size(), std::size_t{4});
    }
    void intervalSumsTheErrorsOfItsOperators() {
        const auto w = product();
        const auto device = fixture::device();
        auto e = priced(w, device);
        finishAnswer(e, w, groundOf(device, w), "llm-inference", IntervalKind::StatedError, false);
        const double one = e.latency.value / 3;
        const auto bounds = errorBounds(*statedErrors("llm-inference"), OperatorFamily::MatrixProduct, one);
        QVERIFY(std::fabs(e.interval.low.value / (3 * bounds.low) - 1) < 1e-12);
        QVERIFY(std::fabs(e.interval.high.value / (3 * bounds.high) - 1) < 1e-12);
        QVERIFY(e.interval.basis.find("held out") != std::string::npos);
    }
    void anUnknownPlatformWidensAndWarns() {
        const auto w = product();
        const auto device = fixture::device();
        auto gpu = priced(w, device);
        auto other = gpu;
        auto ground = groundOf(device, w);
        finishAnswer(gpu, w, ground, "llm-inference", IntervalKind::StatedError, false);
        ground.platform = Platform::Other;
        finishAnswer(other, w, ground, "llm-inference", IntervalKind::StatedError, false);
        QVERIFY(std::fabs(other.interval.high.value / gpu.interval.high.value - 2) < 1e-12);
        QVERIFY(gpu.warnings.empty());
        QCOMPARE(other.warnings.front().code, std::string("method.no-reference"));
        QVERIFY(other.interval.basis.starts_with("No reference for this platform"));
    }
    void aMethodWithoutMeasuredErrorsSaysSo() {
        const auto w = product();
        const auto device = fixture::device();
        auto e = priced(w, device);
        finishAnswer(e, w, groundOf(device, w), "nonesuch", IntervalKind::StatedError, false);
        QVERIFY(e.interval.basis.find("No errors have been measured") != std::string::npos);
    }
    // A hostile file may repeat a block 10^18 times: neither the timeline nor the sum may run away.
    void endlessRepetitionsAreCutShort() {
        auto graph = fixture::chain(2, 1000);
        for (auto& op : graph.operators) op.repeat = 1'000'000'000'000'000'000, op.block = "endless";
        const auto w = fixture::workloadOf(graph);
        const auto e = priced(*w, fixture::device());
        const auto busy = serialTimeline(w->graph, e.operators, "device", 500);
        QCOMPARE(busy.spans.size(), std::size_t{500});
        QVERIFY(busy.truncated);
        auto idle = e.operators;
        std::fill(idle.seconds.begin(), idle.seconds.end(), 0.0);
        const auto none = serialTimeline(w->graph, idle, "device", 500);
        QVERIFY(none.spans.empty() && !none.truncated);
    }
    void spansStopWherePicosecondsNoLongerFit() {
        const auto w = fixture::workloadOf(fixture::chain(3, 10));
        OperatorEstimates slow;
        slow.seconds = {1.0, 1e7, 1.0};  // the second ends after 116 days
        const auto t = serialTimeline(w->graph, slow, "device");
        QCOMPARE(t.spans.size(), std::size_t{1});
        QVERIFY(t.truncated);
        QCOMPARE(t.spans[0].endPs, std::int64_t{1'000'000'000'000});
    }
    void anAnswerThatIsNotFiniteIsRefused() {
        auto hardware = std::make_shared<Hardware>();
        const auto workload = fixture::workloadOf(fixture::chain(1, 10));
        const Method endless{{.id = "endless", .version = "1"},
                             [](const Scenario& s, EstimateContext&) -> Expected<Estimate> {
                                 Estimate e;
                                 e.operators.seconds.assign(s.workload->costs.size(), HUGE_VAL);
                                 resizeColumns(e.operators, s.workload->costs.size());
                                 e.latency = Seconds(HUGE_VAL);
                                 e.interval = {e.latency, e.latency, IntervalKind::Bound, "test"};
                                 return e;
                             }};
        const auto executor = makeSerialExecutor();
        EstimateContext context{*executor};
        const auto answer = estimate(endless, {hardware, workload}, context);
        QVERIFY(!answer);
        QCOMPARE(answer.error().code, std::string("method.not-finite"));
    }
};

QTEST_GUILESS_MAIN(TestMethodAnswer)
#include "tst_method_answer.moc"
