// Is a workload's cost what its shapes say? Expectations are counted by hand or published, never our own output.

#include "workload/importers.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

WorkloadPtr load(const std::string& id, WorkloadOptions options = {}) {
    auto loaded = loadWorkload({id, options});
    if (!loaded) qWarning("%s", toText(loaded.error()).c_str());
    return loaded ? *loaded : nullptr;
}

double sum(const CostTable& table, const std::vector<double>& column) {
    double total = 0;
    for (std::size_t i = 0; i < table.size(); ++i) total += table.repeat[i] * column[i];
    return total;
}

}  // namespace

class TestWorkload : public QObject {
    Q_OBJECT
private slots:
    void resNetHasItsPublishedSizeAndWork() {
        const auto resnet = load("resnet-50");
        QVERIFY(resnet);
        QCOMPARE(resnet->totals.parameters, 25557032.0);  // torchvision's count
        QCOMPARE(resnet->totals.macs, 4089184256.0);      // the count of the exported file
        QCOMPARE(resnet->totals.unresolved, 0.0);
    }
    void llamaHasItsPublishedSize() {
        const auto llama = load("llama-2-7b", {.sequence = 128, .phase = Phase::Prefill});
        QVERIFY(llama);
        QCOMPARE(llama->totals.parameters, 6738415616.0);  // sum of the published checkpoint's tensors
        QCOMPARE(llama->transformer->kvBytesPerToken, 524288.0);
        QCOMPARE(llama->totals.kvBytes, 128 * 524288.0);
    }
    void decodeReadsWeightsAndCacheOnce() {
        const auto llama = load("llama-2-7b", {.sequence = 1024, .phase = Phase::Decode});
        QVERIFY(llama);
        double moved = 0;
        for (std::size_t i = 0; i < llama->costs.size(); ++i) moved += llama->costs.repeat[i] * llama->costs.bytes(i);
        // All matrices and norms once; of the embedding one row.
        const double expected = 2.0 * (6738415616.0 - 31999.0 * 4096) + 1025 * 524288.0;
        QVERIFY2(std::abs(moved / expected - 1) < 0.01, qPrintable(QString::number(moved / expected, 'f', 6)));
        QCOMPARE(sum(llama->costs, llama->costs.kvReadBytes), 1024 * 524288.0);
        QCOMPARE(sum(llama->costs, llama->costs.kvWriteBytes), 524288.0);
    }
    void unknownSourceIsADiagnosticThatNamesANearOne() {
        const auto wrong = loadWorkload({"lama-2-7b", {}});
        QVERIFY(!wrong);
        QVERIFY(wrong.error().hint.find("llama-2-7b") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestWorkload)
#include "tst_workload.moc"
