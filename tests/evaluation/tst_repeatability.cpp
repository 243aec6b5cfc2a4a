// What repeated measurements of one kernel say about themselves.

#include "base/random.h"
#include "evaluation/evaluation.h"
#include "evaluation/repeatability.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

ReferenceRow rowOf(std::int64_t m, double seconds, double noise = 0) {
    ReferenceRow row;
    row.kernel.kind = KernelKind::Gemm;
    row.kernel.m = m, row.kernel.n = row.kernel.k = 1024;
    countWork(row.kernel);
    row.seconds = seconds;
    row.noise = noise;
    return row;
}

ReferenceTable tableOf(std::vector<ReferenceRow> rows) {
    ReferenceTable table;
    table.devices.push_back({"h100-sxm", "h100-sxm"});
    table.rows = std::move(rows);
    return table;
}

}  // namespace

class TestRepeatability : public QObject {
    Q_OBJECT
private slots:
    void nothingRepeatedIsNothingKnown() {
        const auto table = tableOf({rowOf(1, 1e-5), rowOf(2, 2e-5)});
        QCOMPARE(repeatabilityOf(table).rows, std::size_t(0));
        for (const float floor : floorsOf(table)) QVERIFY(floor < 0);
    }
    void twoRunsLieAroundTheirMean() {
        const auto table = tableOf({rowOf(1, 1e-5), rowOf(2, 5e-5), rowOf(1, 1.1e-5)});
        const auto floors = floorsOf(table);
        const double off = std::expm1(std::sqrt(2.0) * 0.5 * std::log(1.1));
        QVERIFY(std::abs(floors[0] - off) < 1e-6);
        QVERIFY(floors[1] < 0);
        QVERIFY(std::abs(floors[2] - off) < 1e-6);
        const auto all = repeatabilityOf(table);
        QCOMPARE(all.rows, std::size_t(2));
        QCOMPARE(all.repeated, std::size_t(2));
    }
    // Two kernels that a description does not tell apart are no two runs of one.
    void whatDiffersByFactorsIsNoRepeat() {
        const auto table = tableOf({rowOf(1, 1e-5), rowOf(1, 2e-5), rowOf(2, 1e-5), rowOf(2, 3e-5)});
        const auto all = repeatabilityOf(table);
        QCOMPARE(all.rows, std::size_t(0));
        QVERIFY(all.apart > mostRepeatsDiffer);
        for (const float floor : floorsOf(table)) QVERIFY(floor < 0);
    }
    void otherDevicesAreNoRepeats() {
        auto table = tableOf({rowOf(1, 1e-5), rowOf(1, 2e-5)});
        table.devices.push_back({"l40s", "l40s"});
        table.rows[1].device = 1;
        QCOMPARE(repeatabilityOf(table).rows, std::size_t(0));
    }
    void aTransferIsTheSameInBytesAndHalves() {
        auto table = tableOf({rowOf(1, 1e-5), rowOf(2, 1.1e-5)});
        for (auto& row : table.rows) {
            row.kernel = Kernel();
            row.kernel.kind = KernelKind::Collective;
            row.kernel.collective = CollectiveOp::AllGather;
            row.kernel.ranks = 8;
            row.kernel.messageBytes = 1e6;
        }
        table.rows[1].kernel.type = DType::I8;
        QCOMPARE(repeatabilityOf(table).rows, std::size_t(2));
        for (auto& row : table.rows) row.kernel.collective = CollectiveOp::AllReduce;  // that of bytes adds integers
        QCOMPARE(repeatabilityOf(table).rows, std::size_t(0));
    }
    void theNoiseColumnCounts() {
        const auto all = repeatabilityOf(tableOf({rowOf(1, 1e-5, 0.1)}));
        QCOMPARE(all.rows, std::size_t(1));
        QVERIFY(std::abs(all.mean - 0.0797885) < 1e-6);
        QCOMPARE(all.repeated, std::size_t(0));
    }
    // The estimate is what a method that knows the truth is off by.
    void theFloorIsThePerfectMethodsError() {
        for (const int repeats : {2, 3, 8}) {
            RandomStream random(7);
            std::vector<ReferenceRow> rows;
            double off = 0;
            for (int kernel = 1; kernel <= 3000; ++kernel) {
                const double truth = 1e-6 * kernel;
                for (int i = 0; i < repeats; ++i) {
                    double sum = -6;  // nearly normal, σ = 1
                    for (int part = 0; part < 12; ++part) sum += random.uniform();
                    const double measured = truth * std::exp(0.05 * sum);
                    off += std::abs(measured / truth - 1);
                    rows.push_back(rowOf(kernel, measured));
                }
            }
            off /= static_cast<double>(rows.size());
            const double floor = repeatabilityOf(tableOf(std::move(rows))).mean;
            QVERIFY2(std::abs(floor / off - 1) < 0.05, qPrintable(QString("%1 %2").arg(floor).arg(off)));
        }
    }
};

QTEST_GUILESS_MAIN(TestRepeatability)
#include "tst_repeatability.moc"
