// Calibrations that start from what is known: a few own rows never make it worse, five are refused, and what is written
// prices as what was fitted.

#include "evaluation/calibrate.h"
#include "hardware/files/catalogue.h"
#include "learning/calibration.h"
#include "methods/kernel_method.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>

using namespace orrery;

namespace {

const std::string folder = std::string(ORRERY_REFERENCE) + "/gpu/aiconfigurator/";

// H100 as its shipped calibration has it, but for a library that is slower where products are long: what a sibling or
// another engine is to a calibration.
std::vector<KernelRows> otherEngine(int count) {
    const auto loaded = loadHardware("h100-sxm");
    std::vector<KernelRows> rows(1);
    rows[0].gpu = *gpuView(loaded->hardware);
    rows[0].deviceId = "h100-sxm";
    rows[0].source.name = "made here";
    const auto pricer = *findKernelMethod("tile-hybrid")->bind(rows[0].gpu, shippedCalibrations().set);
    for (int i = 0; i < count; ++i) {
        Kernel kernel;
        kernel.kind = KernelKind::Gemm;
        kernel.type = kernel.weightType = DType::BF16;
        kernel.m = 16 << i % 9, kernel.n = 256 * (1 + i * 7 % 23), kernel.k = 512 * (1 + i * 5 % 13);
        countWork(kernel);
        const double seconds = pricer->price(kernel).seconds;
        rows[0].kernels.push_back(kernel);
        rows[0].seconds.push_back(seconds * 1.2 * std::pow(seconds / 1e-4, 0.05));
    }
    return rows;
}

std::vector<KernelRows> part(const std::vector<KernelRows>& all, std::size_t from, std::size_t to) {
    std::vector<KernelRows> some = all;
    some[0].kernels.assign(all[0].kernels.begin() + std::ptrdiff_t(from), all[0].kernels.begin() + std::ptrdiff_t(to));
    some[0].seconds.assign(all[0].seconds.begin() + std::ptrdiff_t(from), all[0].seconds.begin() + std::ptrdiff_t(to));
    return some;
}

double errorOf(const CalibrationSet& set, const KernelRows& rows) {
    const auto pricer = *findKernelMethod("tile-hybrid")->bind(rows.gpu, set);
    double sum = 0;
    for (std::size_t i = 0; i < rows.kernels.size(); ++i) {
        sum += std::abs(pricer->price(rows.kernels[i]).seconds / rows.seconds[i] - 1);
    }
    return sum / double(rows.kernels.size());
}

}  // namespace

class TestCalibrateFrom : public QObject {
    Q_OBJECT
private slots:
    void fiveRowsAreRefused() {
        Diagnostics warnings;
        const auto rows = otherEngine(5);
        const auto fitted =
            calibrateFrom(*findKernelMethod("tile-hybrid"), shippedCalibrations().set, rows, {}, warnings);
        QVERIFY(!fitted.has_value());
        QCOMPARE(fitted.error().code, std::string("calibration.few-rows"));
        QVERIFY(!fitted.error().hint.empty());
    }
    void aFamilyOfFewRowsKeepsWhatItHad() {
        auto rows = otherEngine(25);
        for (int i = 0; i < 5; ++i) {
            Kernel& kernel = rows[0].kernels[std::size_t(i)];
            kernel.type = kernel.weightType = DType::FP8;
            countWork(kernel);
        }
        Diagnostics warnings;
        const auto fitted =
            calibrateFrom(*findKernelMethod("tile-hybrid"), shippedCalibrations().set, rows, {}, warnings);
        QVERIFY2(fitted, fitted ? "" : toText(fitted.error()).c_str());
        QCOMPARE(fitted->sections.size(), std::size_t(2));
        for (const SectionOutcome& one : fitted->sections) {
            QCOMPARE(one.kept == "as it was", one.variant == "fp8");
        }
        QCOMPARE(warnings.size(), std::size_t(1));
        QCOMPARE(warnings[0].code, std::string("calibration.few-rows"));
    }
    void twentyRowsFindWhatAnotherEngineChanges() {
        const auto all = otherEngine(300), few = part(all, 0, 20), others = part(all, 20, 300);
        Diagnostics warnings;
        const auto fitted =
            calibrateFrom(*findKernelMethod("tile-hybrid"), shippedCalibrations().set, few, {}, warnings);
        QVERIFY2(fitted, fitted ? "" : toText(fitted.error()).c_str());
        const SectionOutcome& outcome = fitted->sections.front();
        QCOMPARE(outcome.start, std::string("h100-sxm"));
        QVERIFY(outcome.kept != "as it was" && outcome.after < outcome.before);
        CalibrationSet set;
        set.add(std::make_shared<const Calibration>(fitted->calibration));
        const double before = errorOf(shippedCalibrations().set, others[0]), after = errorOf(set, others[0]);
        QVERIFY2(before > 0.07 && after < 0.02, qPrintable(QStringLiteral("%1 %2").arg(before).arg(after)));
        // The file keeps all of it.
        const auto read = parseCalibration(writeCalibration(fitted->calibration), "written");
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        CalibrationSet again;
        again.add(std::make_shared<const Calibration>(*read));
        QVERIFY(std::abs(errorOf(again, others[0]) - after) < 1e-3);
        // And is started from again: the parts of a sum do not nest.
        const auto second = calibrateFrom(*findKernelMethod("tile-hybrid"), set, few, {}, warnings);
        QVERIFY2(second, second ? "" : toText(second.error()).c_str());
        CalibrationSet third;
        third.add(std::make_shared<const Calibration>(second->calibration));
        QVERIFY(errorOf(third, others[0]) < after + 0.01);
    }
    // Rows of another engine on the same device, of which the shipped sections have none.
    void fewMeasuredRowsDoNotMakeItWorse_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("where");
        QTest::newRow("products") << "h100_sxm__vllm-0.24.0__gemm.csv.gz"
                                  << "dtype=bf16,kind=gemm";
        QTest::newRow("decode") << "h100_sxm__vllm-0.24.0__generation_attention.csv.gz"
                                << "dtype=bf16";
    }
    void fewMeasuredRowsDoNotMakeItWorse() {
        QFETCH(QString, file);
        QFETCH(QString, where);
        const std::string path = folder + "other_engines/" + file.toStdString();
        if (!std::filesystem::exists(path)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const auto tables = readReferences(std::vector<std::string>{path});
        QVERIFY2(tables, tables ? "" : toText(tables.error()).c_str());
        const auto all = selectRows(*tables, *parseFilter(where.toStdString()));
        std::vector<RowRef> rows;
        for (std::size_t i = 0; i < all.size(); i += 1 + all.size() / 1000) rows.push_back(all[i]);
        const auto executor = makeSerialExecutor();
        for (const char* split : {"rows=20", "rows=50"}) {
            CalibrateOptions options;
            options.holdout = *parseHoldout(split, 1);
            options.executor = executor.get();
            options.start = &shippedCalibrations().set;
            const auto result = calibrate(*findKernelMethod("tile-hybrid"), *tables, rows, options);
            QVERIFY2(result, result ? "" : toText(result.error()).c_str());
            QVERIFY(result->before && result->heldOut && !result->sections.empty());
            const double before = result->before->figures.errors.mape, after = result->heldOut->figures.errors.mape;
            qInfo("%s: %.2f %% before, %.2f %% after", split, 100 * before, 100 * after);
            // Twenty rows cannot tell a point of error.
            QVERIFY(after <= before + (options.holdout.trainingRows < 50 ? 0.01 : 0.002));
        }
    }
};

QTEST_APPLESS_MAIN(TestCalibrateFrom)
#include "tst_calibrate_from.moc"
