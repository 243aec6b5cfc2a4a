// From samples to rates, and from a method to samples. No time is compared with another one here.

#include "evaluation/cost_measurement.h"
#include "evaluation/fit_cost.h"
#include "hardware/files/catalogue.h"
#include "learning/calibration.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

class TstCostMeasurement : public QObject {
    Q_OBJECT
private slots:
    void findsRatesAgain();
    void leavesOutRates();
    void measuresWhatIsAnswered();
    void findsRatesOfFits();
    void measuresFits();
    void everyShippedFitHasARate();
};

void TstCostMeasurement::findsRatesAgain() {
    const CostModel made{.fixed = 2e-5, .perOperator = 3e-8, .perKernel = 1e-6};
    std::vector<CostSample> samples;
    for (const auto& [operators, kernels] : {std::pair{1.0, 1.0}, {20, 12}, {400, 12}, {200, 70}, {5000, 40}}) {
        CostSample sample{"", {operators, kernels, 0, 0}, 0, 0};
        sample.seconds = costOf(made, sample.counts).value;
        samples.push_back(sample);
    }
    const CostModel found = fitCost(samples, CostModel{1, 1, 1, 0, 0});
    QVERIFY2(std::abs(found.fixed / made.fixed - 1) < 0.1, qPrintable(QString::number(found.fixed)));
    QVERIFY2(std::abs(found.perOperator / made.perOperator - 1) < 0.1, qPrintable(QString::number(found.perOperator)));
    QVERIFY2(std::abs(found.perKernel / made.perKernel - 1) < 0.1, qPrintable(QString::number(found.perKernel)));
}

void TstCostMeasurement::leavesOutRates() {
    const std::vector<CostSample> samples{{"", {10, 5, 0, 0}, 5e-3, 0}, {"", {1000, 10, 0, 0}, 1e-2, 0}};
    const CostModel found = fitCost(samples, CostModel{.perKernel = 1});
    QCOMPARE(found.perOperator, 0.0);
    QCOMPARE(found.fixed, 0.0);
    QVERIFY(std::abs(found.perKernel / 1e-3 - 1) < 0.02);
}

void TstCostMeasurement::measuresWhatIsAnswered() {
    const auto questions = costQuestions();
    QVERIFY2(questions, questions ? "" : toText(questions.error()).c_str());
    QVERIFY(questions->size() > 10);
    std::vector<Scenario> few;  // one of each kind of device, and one that no roofline answers
    for (const Scenario& each : *questions)
        if (kindOf(each.task) != TaskKind::Pass) few.push_back(each);
    const auto measured = measureCost(*findMethod("roofline"), few);
    QVERIFY(measured);
    QCOMPARE(measured->samples.size(), std::size_t{3});  // one operator on each of three devices
    for (const CostSample& each : measured->samples) {
        QVERIFY(each.seconds > 0 && each.stated > 0);
        QCOMPARE(each.counts.operators, 1.0);
    }
    QVERIFY(measured->medianFactor >= 1 && measured->worstFactor >= measured->medianFactor);
    std::stop_source stopped;
    stopped.request_stop();
    const auto none = measureCost(*findMethod("roofline"), few, stopped.get_token());
    QVERIFY(!none && none.error().code == "study.cancelled");
}

void TstCostMeasurement::findsRatesOfFits() {
    const FitRate made{0.2, 1e-3};
    std::vector<FitSample> samples;
    for (const std::int64_t rows : {64, 128, 1024, 8192}) samples.push_back({"", rows, made.seconds(double(rows))});
    const FitRate found = fitRateOf(samples);
    QVERIFY2(std::abs(found.fixed / made.fixed - 1) < 0.05, qPrintable(QString::number(found.fixed)));
    QVERIFY2(std::abs(found.perRow / made.perRow - 1) < 0.05, qPrintable(QString::number(found.perRow)));
}

void TstCostMeasurement::measuresFits() {
    const auto tables = readReferences(std::vector<std::string>{presetsFolder() + "/versions"});
    QVERIFY2(tables, tables ? "" : toText(tables.error()).c_str());
    const auto rows = selectRows(*tables, *parseFilter("kind=gemm,dtype=bf16"));
    const auto fit = measureFit(*findKernelMethod("tile-wave"), *tables, rows);
    QVERIFY2(fit, fit ? "" : toText(fit.error()).c_str());
    QCOMPARE(fit->samples.front().rows, std::int64_t{16});
    for (std::size_t i = 1; i < fit->samples.size(); ++i) {
        QCOMPARE(fit->samples[i].rows, 2 * fit->samples[i - 1].rows);
        QCOMPARE(fit->samples[i].family, std::string("h100-sxm gemm bf16"));
    }
    QVERIFY(fit->fitted.seconds(128) > 0);
    const auto few = measureFit(*findKernelMethod("tile-wave"), *tables, std::span(rows).first(10));
    QVERIFY(!few && few.error().code == "calibration.few-rows");
    const auto none = measureFit(*findKernelMethod("loop-nest"), *tables, rows);
    QVERIFY(!none && none.error().code == "calibration.nothing-to-fit");
}

// Set-up is told of every method that ships with something fitted.
void TstCostMeasurement::everyShippedFitHasARate() {
    for (const auto& calibration : shippedCalibrations().set.all()) {
        const KernelMethod* method = findKernelMethod(calibration->method);
        if (method && method->fit) QVERIFY2(statedFitRate(calibration->method), calibration->method.c_str());
    }
}

QTEST_GUILESS_MAIN(TstCostMeasurement)
#include "tst_cost_measurement.moc"
