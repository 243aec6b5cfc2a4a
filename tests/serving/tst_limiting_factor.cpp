#include "serving/limiting_factor.h"
#include "serving/schedulers/engine_defaults.h"
#include "serving/traffic/trace_part.h"
#include "serving/traffic/traffic.h"
#include "store/project/serving_file.h"
#include "study/serving/sweep.h"
#include "support/serving_fixture.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <algorithm>
#include <set>

// Is what limits a run named, is a trace taken whole or said not to be, and does the best of a sweep keep the SLO?

using namespace orrery;

namespace {

/// `output`: tokens of each; 0: the usual mixture.
LimitingFactor limitOf(std::int32_t sequences, std::int64_t blocks, double rate, const char* policy = "vllm-v1",
                       int output = 0, std::int64_t requests = 300) {
    auto fleet = test::fleetOf(policy, 1, blocks);
    fleet->replicas.front().scheduler.maxSequences = sequences;
    TrafficSpec traffic;
    traffic.requests = requests;
    traffic.arrivals.rate = rate;
    if (output > 0) traffic.output = {.kind = LengthKind::Fixed, .mean = double(output)};
    auto stream = std::make_shared<const RequestStream>(makeTraffic(traffic, 3).value());
    const auto result = simulate(fleet, stream, {}).value();
    return limitingFactor(result, *fleet, measure(result, *fleet));
}

std::string traceOf(const QTemporaryDir& folder, int rows) {
    const QString path = folder.filePath("trace.csv");
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write("arrived_at,num_prefill_tokens,num_decode_tokens\n");
    for (int row = 0; row < rows; ++row)
        file.write(QStringLiteral("%1,%2,%3\n").arg(0.25 * row).arg(2000 + row % 7).arg(5 + row % 3).toUtf8());
    return path.toStdString();
}

std::string fileWith(const std::string& trace, const std::string& more) {
    return "orrery: serving/1\nhardware: h100-sxm\nmodel: {source: llama-2-7b}\npools: [{}]\ntraffic:\n  trace: "
           "{file: " +
           trace + "}\n  arrivals: {kind: trace}\n" + more;
}

}  // namespace

class TestLimitingFactor : public QObject {
    Q_OBJECT
private slots:
    void whatLimitsIsNamed() {
        const LimitingFactor few = limitOf(4, 1 << 16, 50);
        QVERIFY2(few.kind == LimitKind::Sequences, few.text.c_str());
        QVERIFY(QString::fromStdString(few.text).startsWith("limited by 4 sequences"));
        // About one of 128 ends with every iteration, and its place is filled an iteration later: 127 run, or 128.
        const LimitingFactor cap = limitOf(128, 1 << 16, 2000, "vllm-v1", 400, 1000);
        QVERIFY2(cap.kind == LimitKind::Sequences, cap.text.c_str());
        // Tokens bind, not places: every prompt takes an iteration of its own and two end with each.
        const LimitingFactor tokens = limitOf(32, 1 << 16, 2000, "vllm-v1", 1);
        QVERIFY2(tokens.kind == LimitKind::Iterations, tokens.text.c_str());
        const LimitingFactor room = limitOf(1000, 200, 50);
        QVERIFY2(room.kind == LimitKind::KvCache, room.text.c_str());
        const LimitingFactor time = limitOf(1000, 1 << 16, 2000);
        QVERIFY2(time.kind == LimitKind::Iterations, time.text.c_str());
        const LimitingFactor none = limitOf(1000, 1 << 16, 0.5);
        QVERIFY2(none.kind == LimitKind::None, none.text.c_str());
    }

    // A trace that nothing reads is not passed over in silence.
    void anUnusedTraceIsSaid() {
        const std::string head =
            "orrery: serving/1\nhardware: h100-sxm\nmodel: {source: llama-2-7b}\npools: [{}]\ntraffic:\n"
            "  trace: {file: some.csv}\n";
        for (const auto& [more, warned] : std::vector<std::pair<const char*, bool>>{
                 {"  arrivals: {kind: poisson, rate: 2}\n", true},
                 {"", true},
                 {"  arrivals: {kind: trace}\n", false},
                 {"  arrivals: {kind: poisson, rate: 2}\n  prompt: {kind: trace}\n", false}}) {
            const auto loaded = readServing(head + more, "fleet.yaml");
            QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
            const bool said = std::ranges::any_of(
                loaded->warnings, [](const Diagnostic& each) { return each.code == "serving.trace-unused"; });
            QVERIFY2(said == warned, more);
        }
    }

    void theEnginesOwnNumbersDependOnTheDevice() {
        const double gib = 1ull << 30;
        const auto h100 = engineDefaults("vllm-v1", "NVIDIA H100 SXM", 80 * gib).value();
        QCOMPARE(std::pair(h100.maxSequences, h100.tokenBudget), std::pair(1024, 8192));
        const auto a100 = engineDefaults("vllm-v1", "NVIDIA A100 80GB SXM", 80 * gib).value();
        QCOMPARE(std::pair(a100.maxSequences, a100.tokenBudget), std::pair(256, 2048));
        QCOMPARE(engineDefaults("vllm-v1", "NVIDIA L40S", 48 * gib)->maxSequences, 256);
        QVERIFY(!engineDefaults("sarathi", "NVIDIA H100 SXM", 80 * gib));
    }

    void aTraceIsTakenWhole() {
        const QTemporaryDir folder;
        const std::string trace = traceOf(folder, 2500);
        const auto silent = readServing(fileWith(trace, ""), "f.yaml");
        QVERIFY2(silent, silent ? "" : toText(silent.error()).c_str());
        const TrafficSpec& traffic = silent->study.traffic;
        QCOMPARE(traffic.requests, 0);
        QVERIFY(traffic.prompt.kind == LengthKind::Trace && traffic.output.kind == LengthKind::Trace);
        const auto stream = makeTraffic(traffic, 1).value();
        QCOMPARE(stream.size(), std::size_t{2500});
        QVERIFY2(stream.prompt.front() >= 2000, "lengths are the trace's");
        QVERIFY(!partOfTrace(traffic, stream.size()));
        // What is said counts, and what it leaves out is said.
        const auto part =
            readServing(fileWith(trace, "  requests: 1200\n  prompt: {kind: fixed, mean: 10}\n"), "f.yaml");
        QCOMPARE(part->study.traffic.requests, 1200);
        QVERIFY(part->study.traffic.prompt.kind == LengthKind::Fixed);
        QVERIFY(part->study.traffic.output.kind == LengthKind::Uniform);
        const auto warned = partOfTrace(part->study.traffic, makeTraffic(part->study.traffic, 1)->size());
        QVERIFY(warned);
        QVERIFY2(warned->message.find("1200 of the 2500") != std::string::npos, warned->message.c_str());
    }

    void whatIsWrittenIsReadAgain() {
        const QTemporaryDir folder;
        ServingStudy study = readServing(fileWith(traceOf(folder, 20), ""), "f.yaml")->study;
        for (const bool described : {false, true}) {
            for (const std::int64_t requests : {0, 7, 1000}) {
                study.traffic.requests = requests;
                const TrafficSpec usual;
                study.traffic.prompt = usual.prompt;
                study.traffic.output = usual.output;
                if (!described) study.traffic.prompt.kind = study.traffic.output.kind = LengthKind::Trace;
                const auto again = readServing(writeServing(study), "f.yaml");
                QVERIFY2(again, again ? "" : toText(again.error()).c_str());
                QVERIFY2(again->study == study, writeServing(study).c_str());
            }
        }
    }

    // Each device with what vLLM would take there; numbers that somebody chose stay.
    void aSweepOverDevicesFollowsTheEngine() {
        const auto studyOf = [](const char* device, int sequences, int tokens) {
            ServingStudy study;
            study.hardware = device;
            study.scenario.model.source = "llama-2-7b";
            study.scenario.pools.emplace_back();
            study.scenario.pools.front().hardware = device;
            study.scenario.pools.front().scheduler.maxSequences = sequences;
            study.scenario.pools.front().scheduler.tokenBudget = tokens;
            study.traffic.requests = 400;
            study.traffic.arrivals.rate = 60;
            return study;
        };
        const auto tokensOf = [](ServingStudy study, const char* device) {
            study.sweep = {{"hardware", {device}}};
            const auto points = runSweep(study, {});
            if (!points || points->front().failure) qFatal("no answer");
            return points->front().metrics.ttft.p99;
        };
        const double own = tokensOf(studyOf("a100-80-sxm", 256, 2048), "a100-80-sxm");
        QCOMPARE(tokensOf(studyOf("h100-sxm", 1024, 8192), "a100-80-sxm"), own);
        const double chosen = tokensOf(studyOf("a100-80-sxm", 16, 1024), "a100-80-sxm");
        QVERIFY2(chosen != own, "the numbers matter here, or this tests nothing");
        QCOMPARE(tokensOf(studyOf("h100-sxm", 16, 1024), "a100-80-sxm"), chosen);
    }

    void theBestOfASweepKeepsTheSlo() {
        ServingStudy study;
        study.hardware = "h100-sxm";
        study.scenario.model.source = "llama-2-7b";
        study.scenario.pools.emplace_back();
        study.scenario.promise = {.ttft = 0.3, .tpot = 0.05};
        study.traffic.requests = 250;
        study.sweep = {{"max_sequences", {"1", "64"}}, {"rate", {"4", "8"}}};
        const auto points = runSweep(study, {});
        QVERIFY2(points, points ? "" : toText(points.error()).c_str());
        std::set<std::string> withFront;
        bool broken = false;
        for (const SweepAnswer& point : *points) {
            QVERIFY2(!point.failure, point.failure ? toText(*point.failure).c_str() : "");
            if (point.pareto) QVERIFY(point.metrics.attainment >= study.capacity.attainment);
            broken = broken || point.metrics.attainment < study.capacity.attainment;
            if (point.pareto) withFront.insert(point.values[1]);
        }
        QVERIFY2(broken, "one sequence at a time breaks it, or this tests nothing");
        QCOMPARE(withFront.size(), std::size_t{2});  // a load does not hide another one's best
    }
};

QTEST_GUILESS_MAIN(TestLimitingFactor)
#include "tst_limiting_factor.moc"
