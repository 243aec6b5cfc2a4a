#include "base/random.h"
#include "methods/system/planned_fleet.h"
#include "serving/traffic/traffic.h"
#include "store/project/project.h"
#include "store/project/serving_file.h"
#include "study/serving/sweep.h"

#include <QtTest/QtTest>

#include <string>

using namespace orrery;

namespace {

std::string textOf(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& each : diagnostics) text += toText(each) + "\n";
    return text;
}

// A study in which random fields, in every struct, differ from their defaults.
ServingStudy anyStudy(std::uint64_t seed) {
    RandomStream random(seed);
    const auto maybe = [&](auto change) {
        if (random.below(2)) change();
    };
    const auto number = [&] { return 0.001 + random.uniform() * 100; };
    const auto whole = [&] { return static_cast<std::int32_t>(1 + random.below(5000)); };
    ServingStudy s;
    maybe([&] { s.name = "a: \"b\" # c"; });
    maybe([&] { s.description = "Two lines?\nYes, 100 %."; });
    maybe([&] { s.hardware = "NVIDIA H100 SXM"; });
    maybe([&] { s.seed = random.below(1000000); });
    maybe([&] { s.scenario.model = {"mixtral-8x7b", DType::FP8, DType::BF16, DType::FP8}; });
    maybe([&] { s.traffic.arrivals.kind = static_cast<ArrivalKind>(random.below(8)); });
    maybe([&] { s.traffic.arrivals.rate = number(); });
    maybe([&] { s.traffic.arrivals.period = number(); });
    maybe([&] { s.traffic.prompt.kind = static_cast<LengthKind>(random.below(5)); });
    maybe([&] { s.traffic.prompt.least = whole(); });
    maybe([&] { s.traffic.output = LengthSpec{}; });
    maybe([&] { s.traffic.ratio = number(); });
    maybe([&] { s.traffic.trace = {"a b.csv", "columns", "x", "y: z", "on", "", "", "", "ms", true, true}; });
    maybe([&] { s.traffic.sessions.think = 1e-7 * number(); });
    maybe([&] { s.traffic.agents.samples = whole(); });
    maybe([&] { s.traffic.edit.mostText = whole(); });
    maybe([&] { s.traffic.requests = std::int64_t{1} << 40; });
    maybe([&] { s.scenario.router = {"prefix", number(), number(), "vidur"}; });
    maybe([&] { s.scenario.transfer = TransferSpec{}; });
    maybe([&] {
        s.scenario.transfer = TransferSpec{};
        s.scenario.transfer->bytesPerSecond = 1e9 * number();
    });
    maybe([&] { s.scenario.failures = {{3, number(), number(), true}, {}}; });
    maybe([&] { s.scenario.promise = {number(), number(), 0}; });
    maybe([&] { s.scenario.autoscale.most = whole(); });
    maybe([&] { s.compareWith = SchedulerSpec{}; });
    maybe([&] {
        s.compareWith = SchedulerSpec{};
        s.compareWith->id = "sarathi";
        s.compareWith->more["odd: key"] = number();
    });
    maybe([&] { s.capacity.tolerance = number(); });
    maybe([&] { s.sweep = {{"scheduler", {"vllm-v1", "sarathi, too", "yes"}}, {"tensor", {"1", "2"}}}; });
    maybe([&] { s.scenario.tenants = {{"chat, too", number(), whole(), number()}, {"yes", 1, 0, 1}}; });
    maybe([&] {
        s.scenario.stages = {{"a: b", "", number(), whole(), whole(), number(), number(), number(), 3, 4}, {}};
    });
    const auto pools = random.below(3);
    for (std::uint64_t i = 0; i < pools; ++i) {
        PoolSpec pool;
        maybe([&] { pool.name = "decode"; });
        maybe([&] { pool.role = ReplicaRole::Decode; });
        maybe([&] { pool.plan.tensor = whole(); });
        maybe([&] { pool.scheduler.watermark = number(); });
        maybe([&] { pool.scheduler.prefixCache = true; });
        maybe([&] { pool.time.kind = SlotKind::Law; });
        maybe([&] { pool.time.law.perToken = 1e-6 * number(); });
        maybe([&] { pool.kvBlocks = whole(); });
        maybe([&] { pool.powerCap = number(); });
        maybe([&] { pool.speculation.drafts = whole(); });
        maybe([&] { pool.experts = {RoutingKind::Zipf, number(), "", true}; });
        maybe([&] { pool.experts.trace = "a b.csv"; });
        maybe([&] { pool.adapters = {whole(), whole(), AdapterTargets::All, 1e9 * number(), number()}; });
        maybe([&] { pool.serves = {"chat, too", "yes", "12"}; });
        s.scenario.pools.push_back(pool);
    }
    return s;
}

}  // namespace

class TestStoreServing : public QObject {
    Q_OBJECT
private slots:
    void defaultsAreNotWritten() {
        QCOMPARE(QString::fromStdString(writeServing({})), QString("orrery: serving/1\n"));
        const auto read = readServing("orrery: serving/1\n");
        QVERIFY(read.has_value());
        QVERIFY(read->study == ServingStudy{});
    }
    void anyStudyComesBack() {
        for (std::uint64_t seed = 0; seed < 300; ++seed) {
            const ServingStudy study = anyStudy(seed);
            const std::string once = writeServing(study);
            const auto read = readServing(once, "s.yaml");
            QVERIFY2(read.has_value(), read ? "" : (toText(read.error()) + "\n" + once).c_str());
            const bool unused = !study.traffic.trace.file.empty() && !needsTrace(study.traffic);
            QVERIFY2(read->warnings.size() == (unused ? 1 : 0), textOf(read->warnings).c_str());
            QVERIFY2(read->study == study, once.c_str());
            QCOMPARE(QString::fromStdString(writeServing(read->study)), QString::fromStdString(once));
        }
    }
    void aProjectCarriesIt() {
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            Project project;
            project.name = "P";
            project.serving = anyStudy(seed);
            project.unknown = {{"view", "zoom: 2"}};
            const std::string once = writeProject(project);
            const auto read = readProject(once);
            QVERIFY2(read.has_value(), read ? "" : (toText(read.error()) + "\n" + once).c_str());
            QVERIFY2(read->project.serving == project.serving, once.c_str());
            QCOMPARE(QString::fromStdString(writeProject(read->project)), QString::fromStdString(once));
        }
        Project bare;
        bare.serving.emplace();
        QVERIFY(readProject(writeProject(bare))->project.serving.has_value());
    }
    void unknownKeysStay() {
        const std::string text =
            "orrery: serving/1\npools:\n  - name: a\n    scheduler:\n      id: orca\n      colour: red\n    shape: "
            "round\ntraffic:\n  arrivals:\n    rate: 3\n    mood: [calm, wild]\nfuture: {x: 1}\n";
        const auto read = readServing(text, "s.yaml");
        QVERIFY2(read.has_value(), read ? "" : toText(read.error()).c_str());
        QCOMPARE(read->warnings.size(), std::size_t{4});
        const std::string once = writeServing(read->study);
        for (const char* key : {"colour", "shape", "mood", "future"})
            QVERIFY2(once.find(key) != std::string::npos, once.c_str());
        const auto again = readServing(once);
        QVERIFY2(again.has_value(), again ? "" : (toText(again.error()) + "\n" + once).c_str());
        QCOMPARE(again->study.unknown.size(), std::size_t{4});
        QCOMPARE(QString::fromStdString(writeServing(again->study)), QString::fromStdString(once));
    }
    // `router/interval` was read by nobody; files that state it open, and keep it.
    void aKeyThatMeantNothingIsKept() {
        const auto read = readServing("orrery: serving/1\nrouter: {id: round-robin, interval: 2}\n", "s.yaml");
        QVERIFY2(read.has_value(), read ? "" : toText(read.error()).c_str());
        QCOMPARE(read->warnings.size(), std::size_t(1));
        QCOMPARE(read->warnings.front().code, std::string("yaml.unknown-key"));
        const std::string once = writeServing(read->study);
        QVERIFY2(once.find("interval: 2") != std::string::npos, once.c_str());
        QVERIFY(readServing(once).has_value());
    }
    void unitsAreRead() {
        const auto read = readServing(
            "orrery: serving/1\npromise: {ttft: 250 ms, tpot: 0.05}\ntransfer: {bandwidth: 50 GB/s, latency: 5 us}\n");
        QVERIFY2(read.has_value(), read ? "" : toText(read.error()).c_str());
        QCOMPARE(read->study.scenario.promise.ttft, 0.25);
        QCOMPARE(read->study.scenario.promise.tpot, 0.05);
        QCOMPARE(read->study.scenario.transfer->bytesPerSecond, 5e10);
        QCOMPARE(read->study.scenario.transfer->latency, 5e-6);
    }
    void pathsMoveWithTheFolder() {
        ServingStudy study;
        study.traffic.trace.file = "/a/b/traces/t.csv";
        study.scenario.pools[0].time.path = "/a/tables";
        const ServingStudy relative = withPathsRelativeTo(study, "/a/b");
        QCOMPARE(QString::fromStdString(relative.traffic.trace.file), QString("traces/t.csv"));
        QVERIFY(withPathsResolved(relative, "/a/b") == study);
        QVERIFY(withPathsResolved(relative, "/c/b").traffic.trace.file == "/c/b/traces/t.csv");
    }
    void badFiles_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const QByteArray head = "orrery: serving/1\n";
        QTest::newRow("empty") << QByteArray() << "" << 0;
        QTest::newRow("another kind") << QByteArray("orrery: study/1\n") << "" << 1;
        QTest::newRow("newer") << QByteArray("orrery: serving/9\n") << "" << 1;
        QTest::newRow("no pools") << head + "pools: []\n"
                                  << "serving.no-pools" << 2;
        QTest::newRow("word") << head + "traffic:\n  arrivals: {kind: poison}\n"
                              << "serving.word" << 3;
        QTest::newRow("type") << head + "model: {weights: fp17}\n"
                              << "serving.type" << 2;
        QTest::newRow("number") << head + "traffic:\n  ratio: many\n"
                                << "" << 3;
        QTest::newRow("NaN") << head + "traffic: {ratio: nan}\n"
                             << "" << 2;
        QTest::newRow("unit") << head + "promise: {ttft: 3 GB}\n"
                              << "" << 2;
        QTest::newRow("cycles") << head + "promise: {ttft: 3 cycles}\n"
                                << "" << 2;
        QTest::newRow("whole") << head + "pools:\n  - replicas: 1.5\n"
                               << "yaml.whole" << 3;
        QTest::newRow("huge") << head + "pools:\n  - replicas: 99999999999\n"
                              << "yaml.range" << 3;
        QTest::newRow("list for map") << head + "traffic: [1]\n"
                                      << "" << 2;
        QTest::newRow("map for list") << head + "pools: {a: 1}\n"
                                      << "yaml.type" << 2;
        QTest::newRow("twice") << head + "seed: 1\nseed: 2\n"
                               << "" << 0;
        QTest::newRow("routing") << head + "pools:\n  - experts: {routing: lottery}\n"
                                 << "serving.word" << 3;
        QTest::newRow("targets") << head + "pools:\n  - name: a\n    adapters: {targets: some}\n"
                                 << "serving.word" << 4;
        QTest::newRow("serves") << head + "pools:\n  - serves: {a: 1}\n"
                                << "yaml.type" << 3;
        QTest::newRow("tenants") << head + "tenants: 3\n"
                                 << "yaml.type" << 2;
        QTest::newRow("stage") << head + "stages:\n  - {name: a, seconds: 3 GB}\n"
                               << "" << 3;
        QTest::newRow("alias") << head + "traffic: &a {ratio: 1}\nmodel: *a\n"
                               << "" << 0;
    }
    void badFiles() {
        QFETCH(QByteArray, text);
        QFETCH(QString, code);
        QFETCH(int, line);
        const auto read = readServing({text.data(), static_cast<std::size_t>(text.size())}, "bad.yaml");
        QVERIFY(!read.has_value());
        if (!code.isEmpty()) QCOMPARE(QString::fromStdString(read.error().code), code);
        QCOMPARE(QString::fromStdString(read.error().place.file), QString("bad.yaml"));
        if (line > 0) QCOMPARE(read.error().place.line, line);
        QVERIFY(!read.error().message.empty());
    }

    // What can be read and not be meant is refused later, with the line all the same.
    void refusedLater_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const QByteArray head = "orrery: serving/1\nhardware: h100-sxm\n";
        const auto row = [&](const char* name, const char* text, const char* code, int line) {
            QTest::newRow(name) << head + text << code << line;
        };
        row("replicas", "pools:\n  - name: a\n  - name: b\n    replicas: -2\n", "serving.bad-pool", 6);
        row("plan", "pools:\n  - name: a/b\n    plan: {tensor: 3}\n", "plan.does-not-divide", 5);
        row("scheduler", "pools:\n  - scheduler:\n      id: nobody\n", "serving.unknown-scheduler", 5);
        row("sequences", "pools:\n  - scheduler:\n      id: orca\n      max_sequences: 0\n", "serving.bad-scheduler",
            6);
        row("option", "pools:\n  - scheduler:\n      id: orca\n      more: {colour: 3}\n", "serving.unknown-option", 6);
        row("block", "pools:\n  - plan: {tensor: 1}\n    tokens_per_block: 0\n", "serving.bad-capacity", 5);
        row("share", "pools:\n  - memory_share: 1.5\n", "serving.bad-capacity", 4);
        row("model", "model: {source: nothing}\n", "workload.unknown", 3);
        row("model of a pool", "pools:\n  - name: a\n    model: nothing\n", "workload.unknown", 5);
        row("method", "pools:\n  - time: {method: nothing}\n", "method.unknown", 4);
        row("law", "pools:\n  - time:\n      kind: law\n", "serving.bad-law", 5);
        row("device", "pools:\n  - name: a\n    device: nowhere\n", "serving.no-device", 5);
        row("design", "pools:\n  - name: a\n    hardware: nothing\n", "hardware.not-found", 5);
        row("does not fit", "model: {source: llama-3-405b}\npools:\n  - name: a\n    plan: {tensor: 2}\n",
            "serving.does-not-fit", 6);
        row("speculation", "pools:\n  - speculation: {drafts: 99}\n", "serving.speculation", 4);
        row("router", "router:\n  id: nobody\n", "serving.unknown-router", 4);
        row("transfer", "transfer: {hidden: 2}\n", "serving.transfer", 3);
        row("failure", "failures:\n  - {replica: 0}\n  - {replica: 7}\n", "serving.failure", 5);
        row("tenant", "tenants:\n  - name: a\n  - name: b\n    share: -1\n", "serving.tenants", 6);
        row("nobody serves", "pools:\n  - serves: [a]\ntenants:\n  - name: a\n  - name: b\n", "serving.tenants", 7);
        row("stage", "stages:\n  - {name: a, seconds: 1, workers: 0}\n", "serving.stages", 4);
        row("adapters", "pools:\n  - adapters:\n      rank: 0\n", "serving.adapters", 5);
        row("experts", "model: {source: mixtral-8x7b, weights: int4}\npools:\n  - experts: {routing: zipf, skew: -1}\n",
            "routing.skew", 5);
        row("rate", "traffic:\n  arrivals:\n    rate: -1\n", "traffic.value", 5);
        row("length", "traffic:\n  prompt: {kind: fixed, mean: 0}\n", "traffic.value", 4);
        row("trace", "traffic:\n  arrivals: {kind: trace}\n", "traffic.value", 4);
        row("samples", "traffic:\n  requests: 5\n  agents:\n    samples: 0\n", "traffic.value", 6);
    }
    void refusedLater() {
        QFETCH(QByteArray, text);
        QFETCH(QString, code);
        QFETCH(int, line);
        const auto read = readServing({text.data(), static_cast<std::size_t>(text.size())}, "late.yaml");
        QVERIFY2(read.has_value(), read ? "" : toText(read.error()).c_str());
        const ServingStudy& study = read->study;
        const auto drawing = hardwareOf(study);
        QVERIFY(drawing);
        Diagnostic problem;
        if (auto fleet = fleetOf(study.scenario, *drawing); !fleet) {
            problem = fleet.error();
        } else if (auto stream = requestsOf(study.scenario, study.traffic, study.seed); !stream) {
            problem = stream.error();
        }
        problem = located(problem, study, read->places);
        QCOMPARE(QString::fromStdString(problem.code), code);
        QCOMPARE(QString::fromStdString(problem.place.file), QString("late.yaml"));
        QVERIFY2(problem.place.line == line, toText(problem).c_str());
        QVERIFY(!problem.expected.empty());
    }
    // In a project the lines are the project's.
    void refusedLaterInAProject() {
        const auto read = readProject("orrery: project/1\nname: P\nserving:\n  pools:\n    - replicas: -1\n", "p.yaml");
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        const auto fleet = fleetOf(read->project.serving->scenario, nullptr);
        QVERIFY(!fleet);
        const Diagnostic problem = located(fleet.error(), *read->project.serving, read->servingPlaces);
        QCOMPARE(QString::fromStdString(problem.place.file), QString("p.yaml"));
        QCOMPARE(problem.place.line, 5);
    }
};

QTEST_APPLESS_MAIN(TestStoreServing)
#include "tst_store_serving.moc"
