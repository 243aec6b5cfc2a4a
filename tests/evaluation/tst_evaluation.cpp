#include "base/random.h"
#include "evaluation/csv_file.h"
#include "evaluation/error_measurement.h"
#include "evaluation/error_metrics.h"
#include "evaluation/reference_sets.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <zlib.h>

#include <cmath>

using namespace orrery;

namespace {

// By the definition, pair by pair.
double kendallByPairs(const std::vector<double>& a, const std::vector<double>& b) {
    double score = 0, untiedA = 0, untiedB = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const double x = (a[i] > a[j]) - (a[i] < a[j]);
            const double y = (b[i] > b[j]) - (b[i] < b[j]);
            score += x * y;
            untiedA += x != 0;
            untiedB += y != 0;
        }
    }
    return score / std::sqrt(untiedA * untiedB);
}

std::string write(const QTemporaryDir& dir, const std::string& name, const std::string& text, bool packed = false) {
    const auto path = dir.filePath(QString::fromStdString(name)).toStdString();
    if (packed) {
        auto* file = gzopen(path.c_str(), "wb");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        gzclose(file);
    } else {
        QFile file(QString::fromStdString(path));
        if (file.open(QIODevice::WriteOnly)) file.write(text.data(), static_cast<qint64>(text.size()));
    }
    return path;
}

}  // namespace

class TestEvaluation : public QObject {
    Q_OBJECT
private slots:
    void kendallAgreesWithItsDefinitionWithTiesToo() {
        RandomStream random(11);
        for (int round = 0; round < 40; ++round) {
            std::vector<double> a;
            std::vector<double> b;
            for (int i = 0; i < 60; ++i) {
                a.push_back(static_cast<double>(random.below(12)));
                b.push_back(static_cast<double>(random.below(9)) + 0.3 * a.back());
            }
            QVERIFY(std::fabs(kendallTau(a, b) - kendallByPairs(a, b)) < 1e-12);
        }
        const std::vector<double> up{1, 2, 3, 4};
        const std::vector<double> down{9, 5, 2, 1};
        QCOMPARE(kendallTau(up, up), 1.0);
        QCOMPARE(kendallTau(up, down), -1.0);
        QCOMPARE(kendallTau(up, std::vector<double>(4, 1.0)), 0.0);
    }
    // IQ and hours of television of ten people, the textbook's example: ρ = −29/165.
    void spearmanGivesTheTextbooksFigure() {
        const std::vector<double> iq{106, 86, 100, 101, 99, 103, 97, 113, 112, 110};
        const std::vector<double> hours{7, 0, 27, 50, 28, 29, 20, 12, 6, 17};
        QVERIFY(std::fabs(spearmanRho(iq, hours) + 29.0 / 165) < 1e-12);
    }
    void summaryIsWorkedByHand() {
        const std::vector<double> predicted{1, 3, 4};
        const std::vector<double> measured{2, 2, 4};
        const auto s = summarise(predicted, measured);
        QCOMPARE(s.rows, std::size_t{3});
        QVERIFY(std::fabs(s.mape - 1.0 / 3) < 1e-12);
        QVERIFY(std::fabs(s.bias) < 1e-12);
        QCOMPARE(s.medianError, 0.5);
        QVERIFY(std::fabs(s.rmse - std::sqrt(2.0 / 3)) < 1e-12);
        QCOMPARE(summarise({}, {}).rows, std::size_t{0});
    }
    void tablesAreReadPlainAndPacked() {
        const QTemporaryDir dir;
        for (const bool packed : {false, true}) {
            const auto file =
                readCsv(write(dir, packed ? "a.csv.gz" : "a.csv", "m, k,ms\r\n1,2,0.5ms\n\n3,4,1e-3\n", packed));
            QVERIFY(file);
            QCOMPARE(file->rows.size(), std::size_t{2});
            QCOMPARE(*file->column("k"), std::size_t{1});
            QCOMPARE(*file->number(0, 2), 0.5);
            QCOMPARE(*file->number(1, 2), 1e-3);
        }
    }
    void badTablesAreRefusedWithTheirPlace() {
        const QTemporaryDir dir;
        QCOMPARE(readCsv(dir.filePath("absent.csv").toStdString()).error().code, std::string("reference.unreadable"));
        const auto good = write(dir, "b.csv.gz", "m,k\n1,2\n", true);
        QFile packed(QString::fromStdString(good));
        QVERIFY(packed.open(QIODevice::ReadOnly));
        const auto half = packed.readAll().left(14).toStdString();
        QCOMPARE(readCsv(write(dir, "half.csv.gz", half)).error().code, std::string("reference.unreadable"));
        const auto file = readCsv(write(dir, "c.csv", "m,k\n1,2\nx\n"));
        QVERIFY(file);
        QCOMPARE(file->column("n").error().code, std::string("reference.no-column"));
        QCOMPARE(file->number(1, 0).error().code, std::string("reference.not-a-number"));
        QCOMPARE(file->number(1, 0).error().place.line, 3);
        QCOMPARE(file->number(1, 1).error().code, std::string("reference.short-row"));
        QCOMPARE(readAiconfiguratorGemm(dir.path().toStdString(), "a100_sxm", "x").error().code,
                 std::string("reference.absent"));
    }
    void gemmRowsBecomeOperatorsOfTheSameWork() {
        const QTemporaryDir dir;
        write(dir, "a100_sxm__old__gemm.csv.gz", "gemm_dtype,m,n,k,latency\nbfloat16,1,1,1,1\n", true);
        write(dir, "a100_sxm__stack-2__gemm.csv.gz", "gemm_dtype,m,n,k,latency\nbfloat16,3,5,7,0.25\nint8_wo,1,1,1,1\n",
              true);
        const auto set = readAiconfiguratorGemm(dir.path().toStdString(), "a100_sxm", "a100-80-sxm");
        QVERIFY(set);
        QCOMPARE(set->size(), std::size_t{1});
        QCOMPARE(set->software, std::string("stack-2"));
        QCOMPARE(set->at(0).value.value, 0.25e-3);
        const auto workload = set->workload();
        QCOMPARE(workload->costs.macs[0], 3.0 * 5 * 7);
        QCOMPARE(workload->costs.weightBytes[0], 2.0 * 5 * 7);
        QCOMPARE(workload->costs.inputBytes[0], 2.0 * 3 * 7);
    }
    void envelopeHoldsEveryDevicesMiddle() {
        ClassQuantiles a{};
        ClassQuantiles b{};
        a[3] = {1.1, 1.2, 1.5, 100};
        b[3] = {1.0, 1.4, 1.3, 900};
        a[1] = {0.9, 1.5, 2.0, 50};
        const std::vector<ClassQuantiles> devices{a, b};
        const auto all = envelope(devices);
        QCOMPARE(all[3].p5, 1.0);
        QCOMPARE(all[3].p50, 1.3);
        QCOMPARE(all[3].p95, 1.5);
        QCOMPARE(all[3].rows, 1000);
        QCOMPARE(all[1], (ErrorQuantiles{0.9, 1.5, 2.0, 50}));
        QCOMPARE(all[2].p95, 1.5);  // nobody has it: the next longer class stands in
        QCOMPARE(all[2].rows, 0);
    }
    void coverageCountsRowsInsideTheBounds() {
        StatedErrors errors{};
        for (auto& family : errors.quantiles) family.fill({0.5, 1, 2, 10});
        errors.quantiles[0][0] = {0, 1e-6, 5e-6, 10};
        Comparison rows;
        rows.predicted = {1e-3, 1e-3, 1e-3, 1e-6, 1e-6};
        rows.measured = {0.4e-3, 1.9e-3, 2.1e-3, 5.9e-6, 6.1e-6};
        const auto c = coverage(errors, std::vector{rows});
        QCOMPARE(c.inside, 0.4);
        QCOMPARE(c.below, 0.2);
        QCOMPARE(c.rows, std::size_t{5});
    }
};

QTEST_GUILESS_MAIN(TestEvaluation)
#include "tst_evaluation.moc"
