// `orrery-cli serve FILE`: what a person asks of experts, tenants, adapters and stages, and what comes out.

#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

using namespace orrery::test;

namespace {

Json answerOf(const QString& file) {
    const Outcome outcome = cli({"serve", file, "--json"}, {}, 60000);
    if (outcome.exit != 0) qFatal("%s", outcome.text().constData());
    return Json::parse(outcome.out.toStdString());
}

}  // namespace

class TestCliServing : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    QString written(const char* name, const QByteArray& text) {
        QFile file(folder_.filePath(name));
        if (!file.open(QIODevice::WriteOnly)) qFatal("%s cannot be written", name);
        file.write(text);
        return file.fileName();
    }

private slots:
    // What scripts read keeps to resources/schema: a run, a sweep with a point that cannot run, a capacity.
    void resultsKeepToTheirSchemas() {
        const QString file = written("all.yaml",
                                     "orrery: serving/1\nhardware: h100-sxm\nmodel: {source: llama-3-8b}\n"
                                     "tenants: [{name: chat, share: 3}, {name: code, adapters: 5}]\n"
                                     "promise: {ttft: 1 s}\ntraffic: {requests: 40, arrivals: {rate: 5}}\n"
                                     "capacity: {tolerance: 0.5, highest: 20}\n"
                                     "sweep: {pools/plan/tensor: [1, 3], promise/ttft: [500 ms, 2 s]}\n");
        const auto checked = [&](const QStringList& arguments, const std::string& schema) {
            const Outcome outcome = cli(QStringList{"serve", file, "--json"} + arguments, {}, 60000);
            if (outcome.exit != 0) qFatal("%s", outcome.text().constData());
            for (const std::string& error : schemaErrors(outcome.out.toStdString(), schema))
                qWarning("%s", error.c_str());
            return Json::parse(outcome.out.toStdString());
        };
        const auto clean = [](const std::string& text, const std::string& schema) {
            return schemaErrors(text, schema).empty();
        };
        QVERIFY(clean(checked({"--interval"}, "serving").dump(), "serving"));
        const Json sweep = checked({"--sweep"}, "serving-sweep");
        QVERIFY(clean(sweep.dump(), "serving-sweep"));
        QCOMPARE(sweep.at("points").size(), std::size_t{4});
        QCOMPARE(QString::fromStdString(sweep.at("points").at(1).at("promise/ttft")), QString("2 s"));
        QVERIFY(sweep.at("points").at(2).contains("failure"));
        QVERIFY(clean(checked({"--capacity"}, "serving-capacity").dump(), "serving-capacity"));
        const Outcome pipeline =
            cli({"serve", QStringLiteral(ORRERY_SOURCE "/presets/examples/rag-pipeline.yaml"), "--json"}, {}, 60000);
        QVERIFY(clean(pipeline.out.toStdString(), "serving"));
        // The schema is no rubber stamp.
        Json broken = sweep;
        broken["points"][0].erase("devices");
        broken["points"][0]["devices"] = "two";
        QVERIFY(!clean(broken.dump(), "serving-sweep"));
    }

    // Nothing is met that nobody asked for.
    void withoutAnSloNothingIsMet() {
        const auto said = [&](const char* name, const QByteArray& slo) {
            const QString file = written(name, "orrery: serving/1\nhardware: h100-sxm\nmodel: {source: llama-3-8b}\n" +
                                                   slo + "traffic: {requests: 20, arrivals: {rate: 2}}\n");
            const Outcome outcome = cli({"serve", file, "--interval"}, {}, 60000);
            if (outcome.exit != 0) qFatal("%s", outcome.text().constData());
            return outcome.out.count("SLO met by");
        };
        QCOMPARE(said("free.yaml", ""), 0);
        QCOMPARE(said("bound.yaml", "promise: {ttft: 1 s}\n"), 2);
    }

    // A number of requests that leaves out rows of a trace is said, whatever is asked of it.
    void aPartOfATraceIsSaid() {
        QByteArray rows = "arrived_at,num_prefill_tokens,num_decode_tokens\n";
        for (int row = 0; row < 90; ++row) rows += QByteArray::number(0.5 * row) + ",200,5\n";
        const QString trace = written("trace.csv", rows);
        const auto file = [&](const char* requests) {
            return written("part.yaml",
                           "orrery: serving/1\nhardware: h100-sxm\nmodel: {source: llama-3-8b}\n"
                           "promise: {ttft: 1 s}\ntraffic:\n  trace: {file: " +
                               trace.toUtf8() + "}\n  arrivals: {kind: trace}\n" + requests +
                               "capacity: {tolerance: 0.5, highest: 20}\n"
                               "sweep: {promise/ttft: [500 ms, 2 s]}\n");
        };
        for (const QStringList& more : {QStringList(), QStringList{"--sweep"}, QStringList{"--capacity"}}) {
            const Outcome part = cli(QStringList{"serve", file("  requests: 30\n")} + more, {}, 60000);
            QVERIFY2(part.exit == 0 && part.error.contains("30 of the 90 requests of the trace"), part.text());
            const Outcome whole = cli(QStringList{"serve", file("")} + more, {}, 60000);
            QVERIFY2(whole.exit == 0 && !whole.error.contains("requests of the trace"), whole.text());
        }
    }

    void theKeysOfAFileAreListed() {
        const Outcome table = cli({"serve", "--keys"});
        QCOMPARE(table.exit, 0);
        for (const char* part : {"pools/plan/tensor", "Devices that divide every layer (tensor parallelism).",
                                 "traffic/arrivals/kind", "poisson, gamma", "promise/ttft", "more than 0, at most 1"})
            QVERIFY2(table.out.contains(part), part);
        const Outcome schema = cli({"serve", "--keys", "--json"});
        QCOMPARE(schema.exit, 0);
        std::ifstream file(ORRERY_SOURCE "/resources/schema/serving-file.schema.json");
        const Json kept = Json::parse(file, nullptr, false);
        QVERIFY2(kept == Json::parse(schema.out.toStdString()),
                 "take it anew: orrery-cli serve --keys --json > resources/schema/serving-file.schema.json");
    }

    // The gallery's pipeline: a question's time is that of its stages, which follow one another.
    void aPipelineOfModels() {
        const QString file = QStringLiteral(ORRERY_SOURCE "/presets/examples/rag-pipeline.yaml");
        const Json answer = answerOf(file);
        const Json& metrics = answer.at("metrics");
        QCOMPARE(metrics.at("requests").get<int>(), 600);
        QCOMPARE(metrics.at("stages").size(), std::size_t{4});
        QCOMPARE(answer.at("requests").size(), std::size_t{2400});
        double sum = 0, waiting = 0;
        for (const Json& stage : metrics.at("stages")) {
            QCOMPARE(stage.at("done").get<int>(), 600);
            sum += stage.at("end_to_end_s").at("mean").get<double>();
            waiting += stage.at("queueing_s").at("mean").get<double>();
        }
        QVERIFY(std::abs(sum / metrics.at("end_to_end_s").at("mean").get<double>() - 1) < 1e-9);
        QVERIFY(std::abs(waiting - metrics.at("queueing_s").at("mean").get<double>()) < 1e-9);
        QVERIFY(metrics.at("stalled_requests").get<int>() >= 0 && metrics.contains("stalled_s"));
        const Json& second = answer.at("requests").at(1);
        QCOMPARE(QString::fromStdString(second.at("stage")), QString("retrieve"));
        QCOMPARE(second.at("question").get<int>(), 0);
        // Retrieval is 30 ms whatever it holds, of 8 workers with 4 questions each: hardly ever a queue.
        QVERIFY(std::abs(metrics.at("stages").at(1).at("end_to_end_s").at("p50").get<double>() - 0.03) < 1e-9);
        const Outcome text = cli({"serve", file}, {}, 60000);
        QVERIFY2(text.exit == 0 && text.out.contains("questions done") && text.out.contains("requests stalled"),
                 text.text());
        for (const char* stage : {"embed", "retrieve", "rerank", "generate"})
            QVERIFY2(text.out.contains(QString("\n") + stage), text.text());
    }

    void tenantsAndAdapters() {
        const QString file = written("lora.yaml",
                                     "orrery: serving/1\nhardware: h100-sxm\nmodel: {source: llama-3-8b}\n"
                                     "tenants:\n  - {name: chat, share: 3}\n  - {name: code, adapters: 50}\n"
                                     "pools:\n  - {name: small, serves: [chat]}\n"
                                     "  - {name: coder, model: llama-2-7b, serves: [code], adapters: {resident: 4}}\n"
                                     "traffic: {requests: 200, arrivals: {rate: 5}}\n");
        const Json answer = answerOf(file);
        const Json& metrics = answer.at("metrics");
        QCOMPARE(metrics.at("tenants").size(), std::size_t{2});
        int requests = 0;
        for (const Json& tenant : metrics.at("tenants")) requests += tenant.at("requests").get<int>();
        QCOMPARE(requests, 200);
        QVERIFY(metrics.at("adapter_loads").get<int>() >= 5);
        for (const Json& request : answer.at("requests")) {
            QCOMPARE(request.at("tenant") == "code", request.contains("adapter"));
            QCOMPARE(request.at("replica").get<int>(), request.at("tenant") == "code" ? 1 : 0);
        }
        const Outcome text = cli({"serve", file}, {}, 60000);
        QVERIFY2(text.out.contains("adapters loaded") && text.out.contains("\nchat") && text.out.contains("\ncode"),
                 text.text());
    }

    // Long prompts on ranks that go in step: skewed experts take longer than even ones. (Decodes need not: they read
    // fewer experts.)
    void expertsInStep() {
        const auto file = [&](const char* name, const QByteArray& routing) {
            return written(name,
                           "orrery: serving/1\nhardware: h200-sxm\nmodel: {source: qwen3-30b-a3b}\n"
                           "pools:\n  - replicas: 4\n    experts: {waves: true" +
                               routing +
                               "}\n    scheduler: {token_budget: 8192}\n"
                               "traffic:\n  requests: 40\n  arrivals: {kind: all-at-once}\n"
                               "  prompt: {kind: fixed, mean: 8192}\n  output: {kind: fixed, mean: 1}\n");
        };
        const Json even = answerOf(file("even.yaml", "")),
                   skewed = answerOf(file("zipf.yaml", ", routing: zipf, skew: 1.5"));
        QVERIFY(skewed.at("metrics").at("ttft_s").at("mean").get<double>() >
                even.at("metrics").at("ttft_s").at("mean").get<double>());
        std::string said;
        for (const Json& each : skewed.at("pools").at(0).at("assumptions")) said += each.get<std::string>() + "\n";
        QVERIFY2(said.find("zipf") != std::string::npos && said.find("4 data-parallel ranks") != std::string::npos,
                 said.c_str());
    }
};

QTEST_GUILESS_MAIN(TestCliServing)
#include "tst_cli_serving.moc"
