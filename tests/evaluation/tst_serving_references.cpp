// Published offline runs as rows: is what a file says what is asked, is a run judged by its makespan, and are methods
// passed over that would take hours?

#include "base/executor.h"
#include "evaluation/row_facets.h"
#include "evaluation/shipped_references.h"
#include "serving/serving_study.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cmath>
#include <fstream>

using namespace orrery;

namespace {

std::string item(const std::string& lines) {
    return "orrery: model-references/1\nname: Made\nreferences:\n  - workload: llama-2-7b\n    options: {weights: "
           "fp16, "
           "activations: fp16, kv: fp16}\n    device: a100-80-sxm\n    source: made\n" +
           lines;
}

Expected<std::vector<ModelReference>> readText(const QTemporaryDir& folder, const std::string& text) {
    const std::string path = folder.filePath("made.yaml").toStdString();
    std::ofstream(path) << text;
    return readModelReferences(path);
}

}  // namespace

class TestServingReferences : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

private slots:
    void whatShipsIsRead() {
        const std::vector<std::string> files{std::string(ORRERY_SOURCE) + "/presets/serving/published-offline.yaml"};
        const auto tables = readReferences(files);
        QVERIFY2(tables, tables ? "" : toText(tables.error()).c_str());
        const auto rows = selectRows(*tables);
        QCOMPARE(rows.size(), std::size_t(21));
        for (const RowRef ref : rows) {
            QCOMPARE(facetOf(Facet::Level, *tables, ref), std::string("system"));
            QCOMPARE(facetOf(Facet::WorkloadClass, *tables, ref), std::string("serving runs"));
            const ReferenceTable& table = (*tables)[static_cast<std::size_t>(ref.table)];
            const auto& model = table.models[static_cast<std::size_t>(ref.row)];
            const auto& study = *std::get<ServingRun>(model.task).study;
            QCOMPARE(study.scenario.pools.front().plan.devices(), model.plan.devices());
            QVERIFY(study.traffic.arrivals.kind == ArrivalKind::AllAtOnce);
            // Tokens per second of the whole run, as published; between the slowest and the fastest of the tables.
            const double rate = double(study.traffic.requests) * study.traffic.output.mean /
                                table.rows[static_cast<std::size_t>(ref.row)].seconds;
            QVERIFY(rate > 400 && rate < 20000);
        }
        QCOMPARE(parseFilter("class=serving runs").has_value(), true);
    }
    void mistakesAreRefused() {
        const std::string good =
            "    task: serving-run\n    serving: {requests: 4, prompt: 64, output: 8, batching: "
            "static}\n    output_tokens_per_s: 100\n";
        const auto read = readText(folder_, item(good));
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QCOMPARE(read->front().reference.value.value, 0.32);
        for (const char* bad :
             {"    task: serving-run\n    output_tokens_per_s: 100\n",
              "    task: pass\n    serving: {requests: 4}\n    output_tokens_per_s: 100\n",
              "    serving: {requests: 4, batching: sometimes}\n    output_tokens_per_s: 100\n",
              "    serving: {requests: 4, prompts: 64}\n    output_tokens_per_s: 100\n",
              "    serving: {requests: 0}\n    output_tokens_per_s: 100\n",
              "    serving: [4]\n    output_tokens_per_s: 100\n", "    serving: {requests: 4}\n",
              "    serving: {requests: 4}\n    output_tokens_per_s: 0\n", "    output_tokens_per_s: 100\n"}) {
            const auto refused = readText(folder_, item(bad));
            QVERIFY2(!refused, bad);
            QCOMPARE(refused.error().code, std::string("reference.description"));
        }
    }
    void aRunIsJudgedByItsMakespan() {
        const auto read =
            readText(folder_, item("    serving: {requests: 16, prompt: 512, output: 32, batching: static}\n"
                                   "    time: 1 s\n"));
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        const auto tables = modelTables(*read, "made.yaml");
        const auto rows = selectRows(tables);
        const auto one = makeThreadExecutor(1), two = makeThreadExecutor(2);
        EvaluateOptions options;
        options.executor = one.get();
        const auto judged = evaluate(*findMethod("tile-hybrid"), tables, rows, options);
        QVERIFY2(judged, judged ? "" : toText(judged.error()).c_str());
        QCOMPARE(judged->rows.size(), std::size_t(1));
        // 8,192 prompt tokens at 312 TFLOP/s and 32 readings of 13.5 GB at 2 TB/s are the least.
        const double least = 8192 * 2 * 6.6e9 / 312e12 + 32 * 13.2e9 / 2.04e12;
        QVERIFY2(judged->rows.predicted[0] > least && judged->rows.predicted[0] < 3 * least,
                 std::to_string(judged->rows.predicted[0]).c_str());
        QVERIFY(judged->rows.low[0] < judged->rows.predicted[0] && judged->rows.high[0] > judged->rows.predicted[0]);
        options.executor = two.get();
        const auto again = evaluate(*findMethod("tile-hybrid"), tables, rows, options);
        QVERIFY(again);
        QCOMPARE(again->rows.predicted[0], judged->rows.predicted[0]);
        // A kernel simulator is not asked for thousands of iterations.
        const auto slow = evaluate(*findMethod("systolic-cycle"), tables, rows, options);
        QVERIFY(!slow || slow->rows.size() == 0);
    }
};

QTEST_GUILESS_MAIN(TestServingReferences)
#include "tst_serving_references.moc"
