// A step as a distribution, and weeks of it: Daly's closed forms against drawn runs, extremes against their law, and
// what must grow with what.

#include "base/executor.h"
#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "methods/system/training/goodput.h"
#include "methods/system/training/step_distribution.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

Estimate answered(const char* plan, OptionValues options, Executor& executor, std::uint64_t seed = 0) {
    static const HardwarePtr hardware = [] {
        auto found = loadHardware("dgx-h100-superpod");
        if (!found) qFatal("%s", toText(found.error()).c_str());
        return std::make_shared<const Hardware>(std::move(found->hardware));
    }();
    static const WorkloadPtr workload = [] {
        WorkloadRecipe recipe;
        recipe.source = "llama-3-8b";
        recipe.options.batch = 64;
        recipe.options.sequence = 4096;
        recipe.options.phase = Phase::TrainingForward;
        auto loaded = loadWorkload(recipe);
        if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
        return *loaded;
    }();
    EstimateContext context{executor};
    context.options = std::move(options);
    context.seed = seed;
    context.wantTimeline = false;
    auto answer =
        estimate(*findMethod("step-distribution"), {hardware, workload, *parsePlan(plan), TrainingStep{}}, context);
    if (!answer) qFatal("%s", toText(answer.error()).c_str());
    return std::move(*answer);
}

double figure(const Estimate& answer, std::string_view label) {
    for (const Figure& each : answer.figures)
        if (each.label == label) return each.value;
    return -1;
}

}  // namespace

class TstStepDistribution : public QObject {
    Q_OBJECT
private slots:
    void goodputAsDrawn();
    void bestIntervalLosesLeast();
    void largestOfMany();
    void devicesThatDiffer();
    void failuresCost();
    void sameForAnyThreads();
};

// Daly's closed form is the mean of drawn runs.
void TstStepDistribution::goodputAsDrawn() {
    RandomStream random(7);
    for (int i = 0; i < 40; ++i) {
        Reliability its;
        its.meanBetweenFailures = 3600 * (1 + 20 * random.uniform());
        its.checkpoint = 1 + 120 * random.uniform();
        its.restart = 600 * random.uniform();
        const double interval = 300 + 5000 * random.uniform();
        double sum = 0;
        for (int run = 0; run < 20; ++run) {
            RandomStream one = random.split(static_cast<std::uint64_t>(100 * i + run));
            sum += drawnGoodput(its, interval, 2000 * its.meanBetweenFailures, one) / 20;
        }
        const double form = goodput(its, interval);
        QVERIFY2(std::abs(sum / form - 1) < 0.01, qPrintable(QString("%1 drawn, %2").arg(sum).arg(form)));
    }
    QCOMPARE(goodput({}, 100), 1.0);
    QCOMPARE(goodput({0, 10, 0}, 90), 0.9);
    QCOMPARE(goodput({10, 10, 0}, 1e6), 0.0);
}

// Daly's interval is within 1 % of what the best of all intervals keeps.
void TstStepDistribution::bestIntervalLosesLeast() {
    for (const double between : {600.0, 3600.0, 86400.0}) {
        for (const double checkpoint : {1.0, 30.0, 240.0}) {
            const Reliability its{between, checkpoint, 60};
            const double chosen = goodput(its, bestCheckpointInterval(its));
            double best = 0;
            for (double interval = 1; interval < 10 * between; interval *= 1.02)
                best = std::max(best, goodput(its, interval));
            QVERIFY2(chosen >= 0.99 * best, qPrintable(QString("%1 of %2").arg(chosen).arg(best)));
        }
    }
}

// The median of the largest of n is where Φ(x)^n = 1/2.
void TstStepDistribution::largestOfMany() {
    for (const std::int64_t count : {1, 10, 1000, 1000000}) {
        std::vector<double> drawn;
        RandomStream random(3);
        for (int i = 0; i < 4001; ++i) drawn.push_back(largestOfNormals(count, random.uniform()));
        std::sort(drawn.begin(), drawn.end());
        const double below = 1 - std::erfc(drawn[2000] / std::sqrt(2.0)) / 2;
        QVERIFY(std::abs(std::pow(below, static_cast<double>(count)) - 0.5) < 0.03);
    }
}

// The slowest of more devices is slower, and devices that are alike wait for nobody.
void TstStepDistribution::devicesThatDiffer() {
    auto executor = makeSerialExecutor();
    double before = 0, waited = -1;
    for (const char* spread : {"none", "1%", "2%", "5%"}) {
        const Estimate one = answered("tp=8,dp=8", {{"spread", spread}}, *executor);
        QVERIFY2(one.latency.value > before, spread);
        before = one.latency.value;
        const double its = figure(one, "Waiting for the slowest device");
        QVERIFY2(its > waited, spread);
        if (waited < 0) QCOMPARE(its, 0.0);
        waited = its;
    }
    const Estimate answer = answered("tp=8,dp=8", {}, *executor);
    QVERIFY(answer.interval.low < answer.latency && answer.latency < answer.interval.high);
    QVERIFY(!answer.bound || *answer.bound <= answer.interval.low);
    double sum = 0;
    for (const double seconds : answer.operators.seconds) sum += seconds;
    QVERIFY(std::abs(sum / answer.latency.value - 1) < 1e-6);
}

// More devices fail more often; what is lost is in the goodput.
void TstStepDistribution::failuresCost() {
    auto executor = makeSerialExecutor();
    const Estimate few = answered("tp=8,dp=8", {}, *executor), many = answered("tp=8,dp=64", {}, *executor);
    QVERIFY(figure(few, "Failures a day") > 0);
    QVERIFY(std::abs(figure(many, "Failures a day") / figure(few, "Failures a day") - 8) < 1e-9);
    QVERIFY(figure(many, "Goodput") < figure(few, "Goodput") && figure(few, "Goodput") < 1);
    QVERIFY(figure(answered("tp=8,dp=8", {{"failures", "opt-175b"}}, *executor), "Goodput") < figure(few, "Goodput"));
    QCOMPARE(figure(answered("tp=8,dp=8", {{"failures", "none"}}, *executor), "Goodput"), -1.0);
    // 16,384 devices of that record: 419 failures in 54 days.
    QVERIFY(std::abs(figure(many, "Failures a day") * 16384 / 512 - 419.0 / 54) < 1e-9);
}

void TstStepDistribution::sameForAnyThreads() {
    auto serial = makeSerialExecutor(), threads = makeThreadExecutor(3);
    const Estimate one = answered("tp=4,pp=2,dp=4", {}, *serial, 5),
                   other = answered("tp=4,pp=2,dp=4", {}, *threads, 5);
    QCOMPARE(one.latency.value, other.latency.value);
    QCOMPARE(one.interval.high.value, other.interval.high.value);
    QVERIFY(answered("tp=4,pp=2,dp=4", {}, *serial, 6).latency.value != one.latency.value);
}

QTEST_GUILESS_MAIN(TstStepDistribution)
#include "tst_step_distribution.moc"
