#include "base/random.h"
#include "store/project.h"
#include "store/serving_file.h"

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
    maybe([&] { s.scenario.router = {"prefix", number(), number(), number(), "vidur"}; });
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
            QVERIFY2(read->warnings.empty(), textOf(read->warnings).c_str());
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
};

QTEST_APPLESS_MAIN(TestStoreServing)
#include "tst_store_serving.moc"
