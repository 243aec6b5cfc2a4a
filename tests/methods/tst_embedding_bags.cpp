// Tables of recommendation models: a training step changes the rows that it looked up, and no others.

#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;

namespace {

double figure(const Estimate& answer, std::string_view label) {
    const auto found = std::ranges::find(answer.figures, label, &Figure::label);
    return found == answer.figures.end() ? std::nan("") : found->value;
}

Estimate trained(const WorkloadPtr& workload) {
    const auto serial = makeSerialExecutor();
    EstimateContext context{*serial};
    context.wantTimeline = false;
    const auto hardware = std::make_shared<const Hardware>(loadHardware("h100-sxm")->hardware);
    const auto answer = estimate(*findMethod("tile-hybrid"), {hardware, workload, {}, TrainingStep{}}, context);
    if (!answer) qFatal("%s", toText(answer.error()).c_str());
    return *answer;
}

WorkloadPtr dlrm(std::int64_t batch) {
    WorkloadOptions options;
    options.batch = batch;
    const auto workload = loadWorkload({"dlrm", options});
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    return *workload;
}

}  // namespace

class TestEmbeddingBags : public QObject {
    Q_OBJECT
private slots:
    // The 26 tables of Criteo are 24 G parameters of 128 features; a sample looks up a row of each.
    void aStepChangesWhatItLookedUp() {
        double before = 0;
        for (const std::int64_t batch : {1, 512, 65536}) {
            const WorkloadPtr workload = dlrm(batch);
            double tables = 0, looked = 0;
            for (const Operator& op : workload->graph.operators) {
                if (op.type != "EmbeddingBag") continue;
                const Tensor* table = workload->graph.tensor(op.inputs[0]);
                tables += table->elements();
                looked += std::min(table->elements(), 128.0 * static_cast<double>(batch));
            }
            QVERIFY(tables > 0.99 * workload->totals.parameters);
            const double changed = workload->totals.parameters - tables + looked;
            const double bytes = workload->totals.weightBytes / workload->totals.parameters;
            const Estimate answer = trained(workload);
            QVERIFY2(std::abs(figure(answer, "Gradients") / (bytes * changed) - 1) < 1e-6,
                     qPrintable(QString::number(figure(answer, "Gradients"))));
            // At most 34 bytes of each changed parameter: gradient, moments, weight and its copy, read and written.
            const double optimizer = figure(answer, "Optimizer");
            QVERIFY2(optimizer < 1e-4 + 34 * changed / 3.35e12 * 2, qPrintable(QString::number(optimizer)));
            QVERIFY(optimizer >= before);
            before = optimizer;
            // The state is kept of every row.
            QVERIFY(figure(answer, "Optimizer state") >= 12 * tables);
        }
    }
};

QTEST_GUILESS_MAIN(TestEmbeddingBags)
#include "tst_embedding_bags.moc"
