// From priced operators to an answer: energy, ceilings, intervals, timelines at their limits, worked by hand.

#include "hardware/files/catalogue.h"
#include "methods/answer/answer.h"
#include "methods/answer/ceilings.h"
#include "methods/answer/energy.h"
#include "methods/answer/parts_used.h"
#include "methods/answer/timeline.h"
#include "methods/roofline/roofline.h"
#include "support/method_fixture.h"

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
        // Where no bytes of it are counted, those that cross main memory cross it too.
        const double crossing = without.operators.bytes[0];
        QVERIFY(std::fabs(e.energy->value - without.energy->value - (4e6 - crossing) * 1e-12) < 1e-15);
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
        const double bytes = 3 * 3 * 2 * 1024.0 * 1024;
        QVERIFY(std::fabs(e.energy->value / (400 * 0.7 * seconds + bytes * 39.2e-12) - 1) < 1e-12);
        QVERIFY(e.energy->value <= 0.9 * 400 * e.operators.seconds[0]);
        QCOMPARE(e.operators.joules.size(), std::size_t{1});
        // GenZ gives 20 % of the cap to memory: what A100 draws so at its bandwidth.
        QVERIFY(std::fabs(39.2e-12 * 2039e9 / (0.2 * 400) - 1) < 1e-3);
    }
    void whatIsStatedReplacesItsShareOfTheCap() {
        auto device = fixture::device();
        device.powerCap = Watts(400);
        const auto w = product();
        const auto ground = groundOf(device, w);
        const auto energy = [&](const DeviceView& of) {
            auto e = priced(w, of);
            addPowerCapEnergy(e, of, w.costs, ground.rates);
            return e.energy ? e.energy->value : 0;
        };
        const double flops = 3 * 2 * std::pow(1024.0, 3), seconds = flops / 100e12;
        const double bytes = 3 * 3 * 2 * 1024.0 * 1024;
        const double before = energy(device);
        auto stated = device;
        stated.levels[0].energy = JoulesPerByte(392e-12);  // ten times the usual
        QVERIFY(std::fabs(energy(stated) - before - 9 * bytes * 39.2e-12) < 1e-9 * before);
        stated = device;
        stated.levels[1].energy = JoulesPerByte(10e-12);  // an inner level: what crosses main memory crosses it too
        QVERIFY(std::fabs(energy(stated) - before - bytes * 10e-12) < 1e-9 * before);
        stated = device;
        stated.idlePower = Watts(50);
        QVERIFY(std::fabs(energy(stated) - before + 70 * seconds) < 1e-9 * before);
        stated = device;
        stated.flopEnergy = JoulesPerFlop(1e-12);
        QVERIFY(std::fabs(energy(stated) - before - flops * 1e-12 + 0.4 * 400 * seconds) < 1e-9 * before);
        stated.powerCap = {};  // static power is then not known
        QVERIFY(std::fabs(energy(stated) - flops * 1e-12 - bytes * 39.2e-12) < 1e-9 * before);
        stated = device;
        stated.interconnect = Interconnect{.name = "d2d", .energy = JoulesPerByte(5e-12)};
        QVERIFY(std::fabs(energy(stated) - before - bytes * 5e-12) < 1e-9 * before);
    }
    void fasterMemorySavesStaticPowerAlone() {
        // Work that memory bounds, on the same device with ever faster memory.
        Workload w;
        fixture::addProduct(w.costs, 1, 4096, 4096, 5);
        for (const bool states : {false, true}) {
            auto device = fixture::device();
            device.powerCap = Watts(400);
            if (states) device.levels[0].energy = JoulesPerByte(30e-12), device.flopEnergy = JoulesPerFlop(1e-12);
            double energy = 0, seconds = 0;
            for (const double rate : {1.0, 2.0, 4.0, 1000.0}) {
                auto faster = device;
                faster.levels[0].bandwidth = device.levels[0].bandwidth * rate;
                auto e = priced(w, faster);
                addEnergy(e, faster);
                if (!e.energy) addPowerCapEnergy(e, faster, w.costs, groundOf(faster, w).rates);
                const double lasting = e.operators.seconds[0];
                const double staticWatts = states ? 0 : 0.3 * 400;
                if (energy > 0) {
                    QVERIFY(lasting < seconds);
                    QVERIFY(std::fabs(energy - e.energy->value - staticWatts * (seconds - lasting)) < 1e-9 * energy);
                }
                energy = e.energy->value;
                seconds = lasting;
                if (!states) QVERIFY(e.assumptions.back().find("less of it in a shorter time") != std::string::npos);
            }
        }
    }
    void energiesThatAddUpToMoreThanTheCapAreFlagged() {
        auto device = fixture::device();
        device.powerCap = Watts(400);
        const auto w = product();
        auto e = priced(w, device);
        device.flopEnergy = JoulesPerFlop(10e-12);  // a kilowatt at 100 TFLOP/s
        device.levels[0].energy = JoulesPerByte(30e-12);
        addEnergy(e, device);
        QCOMPARE(e.warnings.size(), std::size_t{1});
        QCOMPARE(QString::fromStdString(e.warnings[0].code), QString("energy.above-cap"));
    }
    void whatWasReadAndWhatWasNotStandInTheAnswer() {
        auto loaded = loadHardware("dgx-h100");
        QVERIFY(loaded);
        const auto device = deviceView(loaded->hardware);
        QVERIFY(device);
        Estimate e;
        addParts(e, loaded->hardware, device->used);
        const auto find = [](const std::vector<UsedParts::Part>& parts, std::string_view path) {
            return std::ranges::find(parts, path, &UsedParts::Part::path);
        };
        const auto memory = find(e.parts.used, device->main().path);
        QVERIFY(memory != e.parts.used.end());
        QVERIFY(std::ranges::find(memory->attributes, "bandwidth") != memory->attributes.end());
        QVERIFY(find(e.parts.ignored, device->main().path) == e.parts.ignored.end());
        QVERIFY(!e.parts.ignored.empty());
        for (const auto& each : e.parts.ignored) {
            const auto also = find(e.parts.used, each.path);
            QCOMPARE(also == e.parts.used.end(), each.attributes.empty());  // whole, or attributes of a used part
        }
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
    // The A100's tensor units multiply fp64 as fast as its lanes do fp32; the V100 has no unit for bf16.
    void aRoofNamesTheUnitAndTypeThatRun() {
        CostTable costs;
        fixture::addProduct(costs, 8, 8, 8);
        const auto roof = [&](const char* id, DType type) {
            costs.type[0] = type;
            const auto loaded = loadHardware(id);
            return ceilingsFor(*deviceView(loaded->hardware), costs, 0).front().label;
        };
        QCOMPARE(roof("a100-80-sxm", DType::F32), std::string("fp32 vector 19.5 TFLOP/s"));
        QCOMPARE(roof("a100-80-sxm", DType::BF16), std::string("bf16 tensor 312 TFLOP/s"));
        QCOMPARE(roof("v100", DType::BF16), std::string("bf16 as fp32 vector 15.7 TFLOP/s"));
        QCOMPARE(roof("a100-80-sxm", DType::FP8), std::string("fp8 as fp16 tensor 312 TFLOP/s"));
    }
    void intervalSumsTheErrorsOfItsOperators() {
        const auto w = product();
        const auto device = fixture::device();
        auto e = priced(w, device);
        finishAnswer(e, w, groundOf(device, w), "llm-inference", IntervalKind::StatedError, false);
        const double one = e.latency.value / 3;
        const auto stated = errorBounds(*statedErrors("llm-inference"), OperatorFamily::MatrixProduct, one);
        const double shift = statedShift(groundOf(device, w).device, w.costs, 0);
        QVERIFY(shift > 0);  // no such device was measured
        const auto bounds = moved(stated, one, shift);
        QVERIFY(bounds.low < stated.low && bounds.high > stated.high);
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
        QVERIFY(e.interval.basis.find("No error of this method was measured") != std::string::npos);
    }
    // A hostile file may repeat a block 10^18 times: neither the timeline nor the sum may run away.
    void endlessRepetitionsAreCutShort() {
        auto graph = fixture::chain(2, 1000);
        for (auto& op : graph.operators) op.repeat = 1'000'000'000'000'000'000, op.block = "endless";
        const auto w = fixture::workloadOf(graph);
        const auto e = priced(*w, fixture::device());
        const auto busy = serialTimeline(*w, e.operators, "device", 500);
        QCOMPARE(busy.spans.size(), std::size_t{500});
        QVERIFY(busy.truncated);
        auto idle = e.operators;
        std::fill(idle.seconds.begin(), idle.seconds.end(), 0.0);
        const auto none = serialTimeline(*w, idle, "device", 500);
        QVERIFY(none.spans.empty() && !none.truncated);
    }
    void spansStopWherePicosecondsNoLongerFit() {
        const auto w = fixture::workloadOf(fixture::chain(3, 10));
        OperatorEstimates slow;
        slow.seconds = {1.0, 1e7, 1.0};  // the second ends after 116 days
        const auto t = serialTimeline(*w, slow, "device");
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
