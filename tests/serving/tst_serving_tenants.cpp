// Tenants and stages, from the words of a scenario to figures per name.

#include "methods/system/planned_fleet.h"
#include "serving/metrics.h"
#include "serving/scenario_tenants.h"
#include "study/serving/capacity.h"
#include "support/disaggregation_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace orrery;
using namespace orrery::testing;

namespace {

// A pool whose iterations are added up by hand: a millisecond, and 10 µs per token.
PoolSpec lawPool(const std::string& name, int replicas = 1) {
    PoolSpec pool;
    pool.name = name;
    pool.replicas = replicas;
    pool.hardware = "h100-sxm";
    pool.time.kind = SlotKind::Law;
    pool.time.law = {.fixed = 1e-3, .perToken = 1e-5};
    pool.scheduler.id = "vllm-v0";
    pool.scheduler.tokenBudget = 8192;
    return pool;
}
TrafficSpec traffic(int requests, double rate) {
    TrafficSpec spec;
    spec.requests = requests;
    spec.arrivals.rate = rate;
    return spec;
}
QString codeOf(const ServingScenario& scenario) {
    const auto good = checkTenants(scenario);
    return good ? QString() : QString::fromStdString(good.error().code + " " + good.error().place.path);
}

struct Run {
    std::shared_ptr<const FleetSpec> fleet;
    std::shared_ptr<const RequestStream> stream;
    ServingResult result;
    ServingMetrics metrics;
};
Run run(const ServingScenario& scenario, const TrafficSpec& spec, std::uint64_t seed = 42) {
    auto planned = fleetOf(scenario, nullptr);
    if (!planned) qFatal("%s", toText(planned.error()).c_str());
    auto stream = requestsOf(scenario, spec, seed);
    if (!stream) qFatal("%s", toText(stream.error()).c_str());
    Run out{planned->fleet, std::make_shared<const RequestStream>(std::move(*stream)), {}, {}};
    ServingOptions options;
    options.batches = options.members = true;
    auto result = simulate(out.fleet, out.stream, options);
    if (!result) qFatal("%s", toText(result.error()).c_str());
    out.result = std::move(*result);
    out.metrics = measure(out.result, *out.fleet);
    return out;
}

}  // namespace

class TestServingTenants : public QObject {
    Q_OBJECT

private slots:
    // Two models behind one door: shares 3 : 1, each tenant only where it is served.
    void tenantsByName() {
        ServingScenario scenario;
        scenario.pools = {lawPool("small", 2), lawPool("large")};
        scenario.pools[0].serves = {"chat"};
        scenario.pools[1].model = "gpt-2";
        scenario.pools[1].serves = {"code"};
        scenario.tenants = {{"chat", 3, 0, 1}, {"code", 1, 0, 1}};
        const Run done = run(scenario, traffic(4000, 50));
        QCOMPARE(QString::fromStdString(broken(done.result, *done.stream)), QString());
        const auto& table = done.result.requests;
        for (RequestIndex r = 0; r < table.size(); ++r) QCOMPARE(table.replica[r] == 2, done.stream->tenant[r] == 1);
        QCOMPARE(done.metrics.tenants.size(), std::size_t{2});
        const GroupMetrics &chat = done.metrics.tenants[0], &code = done.metrics.tenants[1];
        QCOMPARE(QString::fromStdString(chat.name), QString("chat"));
        // 4,000 draws: within four standard deviations of three quarters.
        QVERIFY(std::abs(static_cast<double>(chat.requests) - 3000) < 4 * std::sqrt(4000 * 0.75 * 0.25));
        QCOMPARE(chat.requests + code.requests, done.metrics.requests);
        QCOMPARE(chat.done + code.done, done.metrics.done);
        QVERIFY(std::abs(chat.outputTokensPerSecond + code.outputTokensPerSecond - done.metrics.outputTokensPerSecond) <
                1e-6 * done.metrics.outputTokensPerSecond);
        const double mean = (static_cast<double>(chat.done) * chat.endToEnd.mean +
                             static_cast<double>(code.done) * code.endToEnd.mean) /
                            static_cast<double>(done.metrics.done);
        QVERIFY(std::abs(mean / done.metrics.endToEnd.mean - 1) < 1e-9);
    }

    void sessionsKeepTheirTenantAndAdapter() {
        ServingScenario scenario;
        scenario.tenants = {{"a", 1, 5, 0}, {"b", 1, 3, 2}, {"c", 1, 0, 1}};
        TrafficSpec spec = traffic(3000, 20);
        spec.sessions.turns = 4;
        const auto stream = requestsOf(scenario, spec, 7);
        QVERIFY(stream);
        std::vector<int> asked(8, 0);
        for (RequestIndex r = 0; r < stream->size(); ++r) {
            const std::int32_t tenant = stream->tenant[r], adapter = stream->adapter[r];
            QVERIFY(tenant == 0   ? adapter >= 0 && adapter < 5
                    : tenant == 1 ? adapter >= 5 && adapter < 8
                                  : adapter == -1);
            if (adapter >= 0) ++asked[static_cast<std::size_t>(adapter)];
            if (stream->after[r] == no_request) continue;
            QCOMPARE(tenant, stream->tenant[stream->after[r]]);
            QCOMPARE(adapter, stream->adapter[stream->after[r]]);
        }
        // A skew of 2: the first of three is asked for by 36 of 49.
        QVERIFY(asked[5] > 2 * asked[6] && asked[6] > asked[7]);
        QVERIFY(requestsOf(scenario, spec, 7)->adapter == stream->adapter);
    }

    void namesOfATrace() {
        QTemporaryDir folder;
        const QString path = folder.filePath("t.csv");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("when,in,out,who\n0,10,2,code\n1,20,3,chat\n2,30,4,code\n");
        file.close();
        ServingScenario scenario;
        scenario.tenants = {{"chat", 1, 0, 1}, {"code", 1, 0, 1}};
        TrafficSpec spec;
        spec.requests = 0;
        spec.arrivals.kind = ArrivalKind::Trace;
        spec.prompt.kind = spec.output.kind = LengthKind::Trace;
        spec.trace = {path.toStdString(), "columns", "when", "in", "out", "", "who", "", "s", false, false};
        const auto stream = requestsOf(scenario, spec, 1);
        QVERIFY2(stream, stream ? "" : toText(stream.error()).c_str());
        QCOMPARE(stream->tenant, (std::vector<std::int32_t>{1, 0, 1}));
        scenario.tenants.pop_back();
        QCOMPARE(QString::fromStdString(requestsOf(scenario, spec, 1).error().code), QString("serving.tenants"));
        scenario.tenants.clear();
        QVERIFY(requestsOf(scenario, spec, 1)->tenantNames.empty());
    }

    // Retrieval on two hosts, then a model: 50 ms, or behind one another; a prompt of 400 tokens takes 5 ms, its nine
    // further tokens 1.01 ms each.
    void stagesOfAScenario() {
        ServingScenario scenario;
        scenario.pools = {lawPool("generate")};
        StageSpec retrieve{.name = "retrieve", .seconds = 0.05, .workers = 2};
        StageSpec generate{.name = "generate", .pool = "generate", .added = 300, .output = 0, .pause = 0.001};
        scenario.stages = {retrieve, generate};
        scenario.promise = {.ttft = 0.06};
        TrafficSpec spec = traffic(3, 1);
        spec.arrivals.kind = ArrivalKind::AllAtOnce;
        spec.prompt = {.kind = LengthKind::Fixed, .mean = 100};
        spec.output = {.kind = LengthKind::Fixed, .mean = 10};
        const Run done = run(scenario, spec);
        QCOMPARE(QString::fromStdString(broken(done.result, *done.stream)), QString());
        QCOMPARE(done.fleet->replicas.size(), std::size_t{3});
        QCOMPARE(done.stream->size(), std::size_t{6});
        const ServingMetrics& m = done.metrics;
        QCOMPARE(m.requests, std::size_t{3});
        QCOMPARE(m.done, std::size_t{3});
        QCOMPARE(m.ttft.count, std::size_t{3});
        // Two questions reach the model together at 51 ms: 1 ms + 800 × 10 µs; the third is retrieved from 50 ms on.
        const auto& table = done.result.requests;
        QVERIFY(std::abs(toSeconds(table.firstToken[1]) - (0.051 + 0.009)) < 1e-9);
        QVERIFY(std::abs(toSeconds(table.ended[4]) - 0.1) < 1e-9);
        QVERIFY(std::abs(toSeconds(table.firstToken[5]) - (0.101 + 0.005)) < 1e-9);
        QVERIFY(std::abs(m.ttft.max - 0.106) < 1e-9);
        QVERIFY(std::abs(m.endToEnd.max - (0.106 + 9 * 0.00101)) < 1e-9);
        QVERIFY(std::abs(m.attainment - 2.0 / 3) < 1e-12);  // the third misses 60 ms
        QCOMPARE(m.stages.size(), std::size_t{2});
        QVERIFY(std::abs(m.stages[0].queueing.max - 0.05) < 1e-9);
        QVERIFY(std::abs(m.stages[0].endToEnd.max - 0.1) < 1e-9);
        QVERIFY(std::abs(m.outputTokensPerSecond * m.makespan - 30) < 1e-9);
    }

    // Stages and tenants together: every tenant's last stage on its own pool; questions are conserved.
    void stagesOfTenants() {
        ServingScenario scenario;
        scenario.pools = {lawPool("rerank"), lawPool("chat"), lawPool("code")};
        scenario.pools[1].serves = {"chat"};
        scenario.pools[2].serves = {"code"};
        scenario.tenants = {{"chat", 1, 4, 1}, {"code", 1, 0, 1}};
        StageSpec search{.name = "search", .seconds = 0.01, .perToken = 1e-6, .workers = 1, .together = 8};
        StageSpec rerank{.name = "rerank", .pool = "rerank", .added = 50};
        StageSpec first{.name = "draft", .pool = "chat", .output = 4};
        scenario.stages = {search, rerank, first};
        // `code` runs on a pool that no stage names, and nobody drafts for it.
        QCOMPARE(codeOf(scenario), QString("serving.stages pools[3]/name"));
        scenario.pools[2].name = "chat";
        const Run done = run(scenario, traffic(200, 30), 5);
        QCOMPARE(QString::fromStdString(broken(done.result, *done.stream)), QString());
        const auto& table = done.result.requests;
        for (RequestIndex r = 0; r < table.size(); ++r) {
            const std::int32_t tenant = done.stream->tenant[r] % 2, stage = done.stream->tenant[r] / 2;
            QCOMPARE(stage, static_cast<std::int32_t>(r % 3));
            QCOMPARE(table.replica[r], stage == 0 ? 3 : stage == 1 ? 0 : 1 + tenant);
            QCOMPARE(done.stream->adapter[r] >= 0, stage == 2 && tenant == 0);
            if (stage > 0) QVERIFY(table.arrived[r] >= table.ended[r - 1]);
        }
        QCOMPARE(done.metrics.tenants[0].requests + done.metrics.tenants[1].requests, std::size_t{200});
        for (const GroupMetrics& stage : done.metrics.stages) QCOMPARE(stage.done, std::size_t{200});
        // The time of a question is that of its stages and what lies between them.
        double sum = 0;
        for (const GroupMetrics& stage : done.metrics.stages) sum += stage.endToEnd.mean;
        QVERIFY(std::abs(sum / done.metrics.endToEnd.mean - 1) < 1e-9);
    }

    // A pipeline of one stage on a pool is the pool alone.
    void oneStageIsNone() {
        ServingScenario scenario;
        scenario.pools = {lawPool("p", 2)};
        const Run alone = run(scenario, traffic(300, 60));
        scenario.stages = {StageSpec{.name = "only", .pool = "p", .output = 0}};
        const Run staged = run(scenario, traffic(300, 60));
        QCOMPARE(staged.result.requests.ended, alone.result.requests.ended);
        QCOMPARE(staged.metrics.endToEnd, alone.metrics.endToEnd);
    }

    // One host that takes 50 ms lets 20 questions a second through, whatever stands behind it.
    void capacityOfAPipeline() {
        ServingScenario scenario;
        scenario.pools = {lawPool("p", 4)};
        scenario.stages = {StageSpec{.name = "search", .seconds = 0.05},
                           StageSpec{.name = "write", .pool = "p", .output = 0}};
        scenario.promise = {.ttft = 0.5};
        const auto planned = fleetOf(scenario, nullptr);
        QVERIFY(planned);
        CapacityOptions options;
        options.scenario = &scenario;
        const auto found = capacityOf(planned->fleet, traffic(1500, 1), {.attainment = 0.9, .guess = 5}, options);
        QVERIFY2(found, found ? "" : toText(found.error()).c_str());
        // M/D/1: the wait is beyond 0.45 s for one of ten at about 91 % of its load; 1,500 draws are near that.
        QVERIFY2(found->rate > 14 && found->rate < 20.5, qPrintable(QString::number(found->rate)));
        QCOMPARE(found->metrics.stages.size(), std::size_t{2});
    }

    // Workers on hosts are not scaled, and a pool's fleet shrinks to what the rules leave.
    void autoscaledStages() {
        ServingScenario scenario;
        scenario.pools = {lawPool("p", 3)};
        scenario.stages = {StageSpec{.name = "p", .seconds = 0.2, .workers = 8},
                           StageSpec{.name = "write", .pool = "p", .output = 0}};
        scenario.autoscale = {.interval = 1, .spinUp = 0.5, .least = 1};
        const Run done = run(scenario, traffic(200, 20));
        QCOMPARE(QString::fromStdString(broken(done.result, *done.stream)), QString());
        QCOMPARE(done.metrics.done, std::size_t{200});
        for (std::size_t i = 3; i < done.fleet->replicas.size(); ++i) QCOMPARE(done.result.replicas[i].off, SimTime{0});
        TrafficSpec loop = traffic(20, 1);
        loop.arrivals.kind = ArrivalKind::ClosedLoop;
        QCOMPARE(QString::fromStdString(requestsOf(scenario, loop, 1).error().place.path),
                 QString("traffic/arrivals/kind"));
    }

    // Decode pools take over what prefill pools of a stage began.
    void disaggregatedStage() {
        ServingScenario scenario;
        scenario.pools = {lawPool("prompts"), lawPool("tokens")};
        for (PoolSpec& pool : scenario.pools) pool.scheduler.id = "vllm-v1";
        scenario.pools[0].role = ReplicaRole::Prefill;
        scenario.pools[1].role = ReplicaRole::Decode;
        scenario.stages = {StageSpec{.name = "search", .seconds = 0.01},
                           StageSpec{.name = "generate", .pool = "prompts", .output = 0}};
        const Run done = run(scenario, traffic(50, 20));
        QCOMPARE(QString::fromStdString(broken(done.result, *done.stream)), QString());
        for (RequestIndex r = 1; r < done.stream->size(); r += 2) QCOMPARE(done.result.requests.replica[r], 1);
    }

    // Stalls are counted as they happen; the log of iterations counts them a second time.
    void stallsAgreeWithTheLog() {
        for (const char* policy : {"vllm-v0", "vllm-v1", "sarathi", "orca"}) {
            ServingScenario scenario;
            scenario.pools = {lawPool("p")};
            scenario.pools[0].scheduler.id = policy;
            scenario.pools[0].scheduler.tokenBudget = 1024;
            scenario.pools[0].kvBlocks = 300;
            const Run done = run(scenario, traffic(400, 80));
            const BatchLog& log = done.result.batches;
            std::vector<SimTime> until(done.stream->size(), -1);
            std::vector<int> stalls(done.stream->size(), 0);
            double seconds = 0;
            for (std::size_t i = 0; i < log.size(); ++i)
                for (auto m = log.memberBegin[i]; m < log.memberBegin[i + 1]; ++m) {
                    const RequestIndex r = log.member[m];
                    if (until[r] >= 0 && log.begin[i] > until[r]) {
                        ++stalls[r];
                        seconds += toSeconds(log.begin[i] - until[r]);
                    }
                    until[r] = log.end[i];
                }
            const auto stalled = static_cast<std::int64_t>(
                std::count_if(stalls.begin(), stalls.end(), [](int count) { return count > 0; }));
            QCOMPARE(done.metrics.stalled, stalled);
            if (done.metrics.restarts > 0) continue;  // recomputing chunks stand between other times
            QCOMPARE(done.metrics.stalls, std::accumulate(stalls.begin(), stalls.end(), std::uint64_t{0}));
            QVERIFY(std::abs(done.metrics.stallSeconds - seconds) < 1e-6);
        }
    }

    void refusals() {
        ServingScenario good;
        good.pools = {lawPool("a"), lawPool("b")};
        good.tenants = {{"x", 1, 0, 1}, {"y", 1, 0, 1}};
        QCOMPARE(codeOf(good), QString());
        auto bad = good;
        bad.tenants[1].name = "x";
        QCOMPARE(codeOf(bad), QString("serving.tenants tenants[2]/name"));
        bad = good;
        bad.tenants[0].name.clear();
        QCOMPARE(codeOf(bad), QString("serving.tenants tenants[1]/name"));
        bad = good;
        bad.tenants[1].share = std::nan("");
        QCOMPARE(codeOf(bad), QString("serving.tenants tenants[2]/share"));
        bad = good;
        bad.tenants[0].share = bad.tenants[1].share = 0;
        QCOMPARE(codeOf(bad), QString("serving.tenants tenants"));
        bad = good;
        bad.tenants[1].adapters = -1;
        QCOMPARE(codeOf(bad), QString("serving.tenants tenants[2]/adapters"));
        bad = good;
        bad.tenants[1].adapterSkew = -1;
        QCOMPARE(codeOf(bad), QString("serving.tenants tenants[2]/adapter_skew"));
        bad = good;
        bad.pools[1].serves = {"z"};
        QCOMPARE(codeOf(bad), QString("serving.tenants pools[2]/serves"));
        bad = good;
        bad.pools[0].serves = bad.pools[1].serves = {"x"};
        QCOMPARE(codeOf(bad), QString("serving.tenants tenants[2]/name"));
        // Prompts of both, tokens of one.
        bad = good;
        bad.pools[0].role = ReplicaRole::Prefill;
        bad.pools[1].role = ReplicaRole::Decode;
        QCOMPARE(codeOf(bad), QString());
        bad.pools[1].serves = {"x"};
        QCOMPARE(codeOf(bad), QString("serving.tenants tenants[2]/name"));
        bad = good;
        bad.stages = {StageSpec{.name = "s", .pool = "nowhere"}};
        QCOMPARE(codeOf(bad), QString("serving.stages stages[1]/pool"));
        bad.stages = {StageSpec{.name = "s"}};
        QCOMPARE(codeOf(bad), QString("serving.stages stages[1]/name"));
        bad.stages = {StageSpec{.name = "s", .ofPrompt = -1, .seconds = 1}};
        QCOMPARE(codeOf(bad), QString("serving.stages stages[1]/of_prompt"));
        bad.stages = {StageSpec{.name = "s", .seconds = 1, .workers = 0}};
        QCOMPARE(codeOf(bad), QString("serving.stages stages[1]/workers"));
        bad.stages = {StageSpec{.name = "s", .pool = "a"}};
        QCOMPARE(codeOf(bad), QString("serving.stages pools[2]/name"));
        bad = good;
        bad.stages.assign(65, StageSpec{.name = "s", .seconds = 1});
        QCOMPARE(codeOf(bad), QString("serving.stages stages"));
        for (auto change : {+[](AdapterChoice& a) { a.rank = 0; }, +[](AdapterChoice& a) { a.resident = 0; },
                            +[](AdapterChoice& a) { a.hidden = 2; }, +[](AdapterChoice& a) { a.hostBandwidth = -1; }}) {
            bad = good;
            change(bad.pools[0].adapters);
            QCOMPARE(QString::fromStdString(fleetOf(bad, nullptr).error().code), QString("serving.adapters"));
        }
        TrafficSpec twice = traffic(10, 1);
        twice.tenants = 3;
        QCOMPARE(QString::fromStdString(requestsOf(good, twice, 1).error().place.path), QString("traffic/tenants"));
    }
};

QTEST_GUILESS_MAIN(TestServingTenants)
#include "tst_serving_tenants.moc"
