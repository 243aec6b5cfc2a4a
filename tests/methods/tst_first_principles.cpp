// How far the two methods from first principles are from measured kernels: as they stand, and with the few numbers that
// `fit` adds, fitted to a fifth of the rows and asked about the others. The cards quote what this test prints.

#include "evaluation/reference_table.h"
#include "learning/training.h"
#include "methods/answer/affine_calibration.h"
#include "methods/interval/interval_analysis.h"
#include "methods/search/mapping_search.h"

#include <QtTest/QtTest>

#include <cmath>
#include <cstdlib>

using namespace orrery;

namespace {

double meanError(const KernelMethod& method, const KernelRows& rows, const CalibrationSet& calibrations,
                 std::span<const std::size_t> which) {
    const auto pricer = method.bind(rows.gpu, calibrations);
    if (!pricer) return -1;
    double sum = 0;
    for (const std::size_t i : which) {
        sum += std::abs((*pricer)->price(rows.kernels[i]).seconds / rows.seconds[i] - 1);
    }
    return sum / static_cast<double>(which.size());
}

KernelRows part(const KernelRows& rows, std::span<const std::size_t> which) {
    KernelRows out;
    out.gpu = rows.gpu;
    out.deviceId = rows.deviceId;
    out.source = rows.source;
    for (const std::size_t i : which) {
        out.kernels.push_back(rows.kernels[i]);
        out.seconds.push_back(rows.seconds[i]);
    }
    return out;
}

}  // namespace

class TestFirstPrinciples : public QObject {
    Q_OBJECT
private slots:
    void measuredKernels_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("filter");
        QTest::addColumn<QString>("method");
        QTest::addColumn<int>("stride");
        QTest::addColumn<double>("most");        // of any device, unfitted
        QTest::addColumn<double>("mostFitted");  // of any device, on rows that were not fitted
        const auto row = [](const char* name, const char* file, const char* filter, const char* method, int stride,
                            double most, double mostFitted) {
            QTest::newRow(name) << file << filter << method << stride << most << mostFitted;
        };
        const char* a100 = "aiconfigurator/a100_sxm__trtllm-1.0.0__gemm.csv.gz";
        row("intervals, A100 bf16", a100, "dtype=bf16", "interval-analysis", 20, 0.25, 0.22);
        row("intervals, fp32 products", "neusight/nv_fp32_linear_test.csv.gz", "", "interval-analysis", 20, 0.60, 0.30);
        row("intervals, vector operators", "neusight/nv_fp32_vector_ops_test.csv.gz", "", "interval-analysis", 10, 0.40,
            0.25);
        row("mapping, A100 bf16", a100, "dtype=bf16", "mapping-search", 100, 0.40, 0.40);
        row("mapping, A100 LLMCompass", "llmcompass/ae_figure5_ab_real_hardware_matmul_A100.csv", "", "mapping-search",
            1, 1.0, 0.10);
    }
    void measuredKernels() {
        QFETCH(QString, file);
        QFETCH(QString, filter);
        QFETCH(QString, method);
        QFETCH(int, stride);
        QFETCH(double, most);
        QFETCH(double, mostFitted);
        const QString path = QString(ORRERY_REFERENCE) + "/gpu/" + file;
        if (!QFile::exists(path)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const std::vector<std::string> files{path.toStdString()};
        const auto tables = readReferences(files);
        QVERIFY2(tables, tables ? "" : toText(tables.error()).c_str());
        const auto accepted = parseFilter(filter.toStdString());
        QVERIFY(accepted);
        Diagnostics warnings;
        const auto devices = kernelRows(*tables, *accepted, warnings);
        QVERIFY2(devices && !devices->empty(), devices ? "no rows" : toText(devices.error()).c_str());
        const KernelMethod asked = method == "interval-analysis" ? intervalAnalysisMethod() : mappingSearchMethod();
        const KernelMethod* priced = &asked;
        QVERIFY(priced->fit);
        for (const KernelRows& all : *devices) {
            std::vector<std::size_t> thinned;
            for (std::size_t i = 0; i < all.kernels.size(); i += static_cast<std::size_t>(stride)) thinned.push_back(i);
            if (thinned.size() < 10) continue;
            const KernelRows rows = part(all, thinned);
            const Split split = splitFraction(rows.kernels.size(), 0.2, 1);
            const KernelRows few = part(rows, split.training);
            const auto fitted = priced->fit(std::span(&few, 1), {});
            QVERIFY2(fitted, fitted ? "" : toText(fitted.error()).c_str());
            CalibrationSet set;
            set.add(std::make_shared<const Calibration>(*fitted));
            std::vector<std::size_t> every(rows.kernels.size());
            for (std::size_t i = 0; i < every.size(); ++i) every[i] = i;
            const double plain = meanError(*priced, rows, CalibrationSet(), every);
            const double held = meanError(*priced, rows, set, split.test);
            qInfo("%s on %s: %.1f %% unfitted, %.1f %% on %zu rows after a fit to %zu others", qPrintable(method),
                  rows.deviceId.c_str(), plain * 100, held * 100, split.test.size(), split.training.size());
            QVERIFY2(plain >= 0 && plain < most, rows.deviceId.c_str());
            QVERIFY2(held >= 0 && held < mostFitted, rows.deviceId.c_str());
            const auto again = priced->fit(std::span(&few, 1), {});
            QVERIFY(again && writeCalibration(*again) == writeCalibration(*fitted));
        }
    }
    void aFitFindsWhatMadeTheRows() {
        std::vector<double> nominal, measured;
        for (int i = 0; i < 60; ++i) {
            nominal.push_back(1e-6 * std::pow(1.15, i));
            measured.push_back(7e-6 + 1.25 * nominal.back());
        }
        std::vector<std::size_t> rows(nominal.size());
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
        const Affine both = fitAffine(nominal, measured, rows, true);
        QVERIFY(std::abs(both.constant / 7e-6 - 1) < 0.02);
        QVERIFY(std::abs(both.stretch / 1.25 - 1) < 0.02);
        for (double& each : measured) each *= 1 / 1.25;
        const Affine one = fitAffine(nominal, measured, rows, false);
        QVERIFY(std::abs(one.constant / 5.6e-6 - 1) < 0.02);
        QCOMPARE(one.stretch, 1.0);
    }
    void noRowsAreRefused() {
        KernelRows none;
        const auto refused = intervalAnalysisMethod().fit(std::span(&none, 1), {});
        QVERIFY(!refused);
        QVERIFY(!refused.error().hint.empty());
    }
};

QTEST_GUILESS_MAIN(TestFirstPrinciples)
#include "tst_first_principles.moc"
