#include "base/random.h"
#include "methods/system/planned_fleet.h"
#include "serving/metrics.h"
#include "serving/routers/router.h"
#include "serving/traffic/traffic.h"
#include "support/serving_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

// What must hold for every policy on every workload, whoever wrote it.

using namespace orrery;

namespace {

// Policies that start requests in the order in which they arrived, on one replica.
const std::vector<std::string> inOrder{"vllm-v1", "vllm-v0", "sarathi", "orca", "light-llm", "static"};
constexpr int rounds = 12;

TrafficSpec anyTraffic(RandomStream& random) {
    TrafficSpec spec;
    spec.requests = 20 + static_cast<std::int64_t>(random.below(60));
    spec.arrivals.kind = static_cast<ArrivalKind>(random.below(7));
    spec.arrivals.rate = 0.5 + 20 * random.uniform();
    spec.arrivals.cv = 0.3 + 3 * random.uniform();
    spec.arrivals.period = 20;
    spec.arrivals.concurrency = 1 + static_cast<std::int32_t>(random.below(12));
    const auto draw = [&](LengthSpec& length, std::int32_t most) {
        length.kind = static_cast<LengthKind>(random.below(4));
        length.mean = 1 + static_cast<double>(random.below(static_cast<std::uint64_t>(most)));
        length.least = 1 + static_cast<std::int32_t>(random.below(4));
        length.most = length.least + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(most)));
    };
    draw(spec.prompt, 700);
    draw(spec.output, 60);
    if (random.below(4) == 0) {
        spec.sessions.turns = 1 + 3 * random.uniform();
        spec.sessions.think = random.uniform();
        spec.sharedPrompt = static_cast<std::int32_t>(random.below(100));
    }
    if (random.below(4) == 0) {
        spec.agents.calls = 2 * random.uniform();
        spec.agents.samples = 1 + static_cast<std::int32_t>(random.below(4));
        spec.agents.toolTokens = 30;
        spec.agents.reasoning = random.below(2) ? 1.5 : 0;
    }
    return spec;
}

std::shared_ptr<FleetSpec> anyFleet(RandomStream& random, const std::string& scheduler, int replicas) {
    // From hardly enough for one request to plenty: the first preempts all the time.
    const auto blocks = static_cast<std::int64_t>(40 + random.below(random.below(2) ? 100 : 2000));
    auto fleet = test::fleetOf(scheduler, replicas, blocks);
    for (ReplicaSpec& replica : fleet->replicas) {
        replica.scheduler.maxSequences = 1 + static_cast<std::int32_t>(random.below(40));
        replica.scheduler.tokenBudget = 64 + static_cast<std::int32_t>(random.below(4000));
        replica.scheduler.chunk = 64 + static_cast<std::int32_t>(random.below(600));
        replica.scheduler.maxModelLength = 4096;
    }
    for (std::size_t i = 1; i < fleet->replicas.size(); ++i) {
        fleet->replicas[i].scheduler = fleet->replicas[0].scheduler;
    }
    return fleet;
}

struct Run {
    std::shared_ptr<const FleetSpec> fleet;
    std::shared_ptr<const RequestStream> stream;
    ServingResult result;
    std::vector<std::int64_t> left;  ///< blocks still taken at the end, per replica
    double inSystem = 0;             ///< ∫ (waiting + running) dt over all replicas
};

// Runs step by step, so that queues can be added up while time passes.
Expected<Run> runOf(std::shared_ptr<const FleetSpec> fleet, RequestStream stream) {
    Run run{std::move(fleet), std::make_shared<const RequestStream>(std::move(stream)), {}, {}, 0};
    ServingOptions options;
    options.batches = options.members = options.events = true;
    auto made = ServingSimulation::make(run.fleet, run.stream, options);
    if (!made) return tl::unexpected(made.error());
    ServingSimulation& simulation = **made;
    std::int64_t before = 0;
    SimTime last = 0;
    std::uint64_t steps = 0;
    for (bool more = true; more;) {
        more = simulation.step();
        run.inSystem += static_cast<double>(before) * toSeconds(simulation.now() - last);
        last = simulation.now();
        before = 0;
        for (std::size_t i = 0; i < simulation.replicaCount(); ++i) {
            const auto replica = simulation.replica(i);
            if (replica.usedBlocks < 0 || replica.usedBlocks > replica.totalBlocks) {
                return fail("law.blocks", "blocks below none or above all");
            }
            before += replica.waiting + replica.running;
        }
        if (++steps > 2'000'000) return fail("law.endless", "the simulation does not end");
    }
    for (std::size_t i = 0; i < simulation.replicaCount(); ++i) run.left.push_back(simulation.replica(i).usedBlocks);
    run.result = simulation.take();
    return run;
}

#define LAW(condition, what)                                                               \
    do {                                                                                   \
        if (!(condition)) return QString("%1 (request or batch %2)").arg(what).arg(where); \
    } while (false)

// Empty if all laws hold, else the one that is broken.
QString broken(const Run& run) {
    const RequestTable& table = run.result.requests;
    const RequestStream& stream = *run.stream;
    std::size_t where = 0;
    std::vector<std::int64_t> computed(stream.size(), 0);
    const BatchLog& log = run.result.batches;
    std::vector<SimTime> busyUntil(run.fleet->replicas.size(), 0), requestUntil(stream.size(), 0);
    std::vector<std::uint64_t> tokens(run.fleet->replicas.size(), 0);
    LAW(log.size() == 0 || log.memberBegin.size() == log.size() + 1, "batches without members");
    for (where = 0; where < log.size(); ++where) {
        const auto replica = static_cast<std::size_t>(log.replica[where]);
        LAW(replica < busyUntil.size(), "a replica that is not there");
        LAW(log.end[where] > log.begin[where], "an iteration that takes no time");
        LAW(log.begin[where] >= busyUntil[replica], "two iterations of one replica at once");
        busyUntil[replica] = log.end[where];
        LAW(log.usedBlocks[where] >= 0 && log.usedBlocks[where] <= run.fleet->replicas[replica].kvBlocks,
            "blocks below none or above all");
        LAW(log.sequences[where] > 0, "an empty iteration");
        std::int64_t sum = 0;
        for (auto m = log.memberBegin[where]; m < log.memberBegin[where + 1]; ++m) {
            const RequestIndex r = log.member[m];
            LAW(log.memberTokens[m] > 0, "a sequence without tokens");
            LAW(log.begin[where] >= requestUntil[r], "a request in two iterations at once");
            LAW(log.begin[where] >= table.arrived[r], "a request served before it came");
            LAW(table.ended[r] >= log.end[where], "a request served after its end");
            requestUntil[r] = log.end[where];
            computed[r] += log.memberTokens[m];
            sum += log.memberTokens[m];
        }
        LAW(sum == log.promptTokens[where] + log.decodeTokens[where], "prompt and decode tokens are not all tokens");
        tokens[replica] += static_cast<std::uint64_t>(sum);
    }
    std::uint64_t recomputed = 0;
    for (where = 0; where < tokens.size(); ++where) {
        const ReplicaTotals& totals = run.result.replicas[where];
        LAW(totals.promptTokens + totals.decodeTokens == tokens[where], "a replica's tokens are not its batches'");
        LAW(totals.peakBlocks <= run.fleet->replicas[where].kvBlocks, "a peak above all blocks");
        LAW(run.left[where] == 0, QString("%1 blocks leaked").arg(run.left[where]));
        recomputed += totals.recomputedTokens;
    }
    std::int64_t again = 0;
    double sojourn = 0;
    for (where = 0; where < table.size(); ++where) {
        const auto r = static_cast<RequestIndex>(where);
        LAW(table.state[r] == RequestState::Done || table.state[r] == RequestState::Rejected,
            "neither ended nor rejected");
        LAW(table.ended[r] >= table.arrived[r] && table.arrived[r] >= 0, "an end before the arrival");
        if (stream.concurrency == 0) LAW(table.arrived[r] >= stream.arrival[r], "an arrival before its time");
        if (!stream.after.empty() && stream.after[r] != no_request) {
            LAW(table.arrived[r] >= table.ended[stream.after[r]] + stream.think[r],
                "a turn before the one in front of it");
        }
        if (table.state[r] == RequestState::Rejected) {
            LAW(table.reason[r] != RejectReason::None, "rejected without a reason");
            continue;
        }
        sojourn += toSeconds(table.ended[r] - table.arrived[r]);
        LAW(table.reason[r] == RejectReason::None, "done, and a reason for rejection");
        LAW(table.generated[r] == stream.output[r], "tokens lost or made");
        LAW(table.scheduled[r] >= table.arrived[r] && table.firstToken[r] > table.scheduled[r] &&
                table.ended[r] >= table.firstToken[r],
            "times out of order");
        const std::int64_t needed = std::int64_t{stream.prompt[r]} + stream.output[r] - 1 - table.cached[r];
        LAW(computed[r] >= needed, "fewer tokens computed than the text needs");
        if (table.restarts[r] == 0) LAW(computed[r] == needed, "more tokens computed than the text needs");
        LAW(table.preemptions[r] >= table.restarts[r], "more restarts than preemptions");
        again += computed[r] - needed;
    }
    where = 0;
    if (table.size() > 0 && std::count(table.state.begin(), table.state.end(), RequestState::Rejected) == 0) {
        bool cached = false;
        for (const ReplicaSpec& replica : run.fleet->replicas) cached = cached || replica.scheduler.prefixCache;
        // What a preemption threw away may be found again in a prefix cache.
        LAW(static_cast<std::int64_t>(recomputed) == again ||
                (cached && static_cast<std::int64_t>(recomputed) >= again),
            QString("%1 tokens are said to be recomputed, %2 were").arg(recomputed).arg(again));
        // L = λW: what the queues held, added up over time, is what requests waited and ran. A static batch holds its
        // places to its end, and a cache that moves from one replica to another stands in no queue.
        bool more = false, less = false;
        for (const ReplicaSpec& replica : run.fleet->replicas) {
            more = more || replica.scheduler.id == "static";
            less = less || replica.role != ReplicaRole::Whole;
        }
        const double rounding = 1e-6 * (1 + sojourn);
        LAW((more || run.inSystem <= sojourn + rounding) && (less || run.inSystem >= sojourn - rounding),
            QString("Little's law: the queues held %1 request-seconds, requests spent %2")
                .arg(run.inSystem)
                .arg(sojourn));
    }
    return {};
}

}  // namespace

class TestServingLaws : public QObject {
    Q_OBJECT
private slots:
    void everyPolicyKeepsThem_data() {
        QTest::addColumn<QString>("scheduler");
        QTest::addColumn<int>("replicas");
        for (const SchedulerCard& card : schedulers()) {
            if (card.id == "splitwise" || card.id == "distserve") continue;  // of pools: below
            for (const int replicas : {1, 3}) {
                QTest::addRow("%s on %d", std::string(card.id).c_str(), replicas)
                    << QString::fromUtf8(card.id.data(), static_cast<qsizetype>(card.id.size())) << replicas;
            }
        }
    }
    void everyPolicyKeepsThem() {
        QFETCH(QString, scheduler);
        QFETCH(int, replicas);
        for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
            RandomStream random(seed, 77);
            const TrafficSpec spec = anyTraffic(random);
            const auto stream = makeTraffic(spec, seed);
            QVERIFY2(stream.has_value(), stream ? "" : toText(stream.error()).c_str());
            auto fleet = anyFleet(random, scheduler.toStdString(), replicas);
            const auto run = runOf(fleet, *stream);
            QVERIFY2(run.has_value(),
                     qPrintable(QString("seed %1: %2").arg(seed).arg(run ? "" : toText(run.error()).c_str())));
            const QString law = broken(*run);
            QVERIFY2(law.isEmpty(), qPrintable(QString("seed %1: %2").arg(seed).arg(law)));
            if (replicas > 1 || std::find(inOrder.begin(), inOrder.end(), scheduler.toStdString()) == inOrder.end())
                continue;
            // First come, first served: a later arrival never starts before an earlier one.
            const RequestTable& table = run->result.requests;
            std::vector<RequestIndex> order;
            for (RequestIndex r = 0; r < table.size(); ++r) {
                if (table.state[r] == RequestState::Done) order.push_back(r);
            }
            std::stable_sort(order.begin(), order.end(),
                             [&](auto a, auto b) { return table.arrived[a] < table.arrived[b]; });
            for (std::size_t i = 1; i < order.size(); ++i) {
                QVERIFY2(table.arrived[order[i]] == table.arrived[order[i - 1]] ||
                             table.scheduled[order[i]] >= table.scheduled[order[i - 1]],
                         qPrintable(QString("seed %1: request %2 overtakes").arg(seed).arg(order[i])));
            }
        }
    }
    void prefixCachesKeepThem() {
        for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
            RandomStream random(seed, 78);
            TrafficSpec spec = anyTraffic(random);
            spec.sessions.turns = 3;
            spec.sharedPrompt = 64;
            const auto stream = makeTraffic(spec, seed);
            QVERIFY(stream.has_value());
            auto fleet = anyFleet(random, "vllm-v1", 1);
            fleet->replicas[0].scheduler.prefixCache = true;
            const auto run = runOf(fleet, *stream);
            QVERIFY2(run.has_value(), run ? "" : toText(run.error()).c_str());
            const QString law = broken(*run);
            QVERIFY2(law.isEmpty(), qPrintable(QString("seed %1: %2").arg(seed).arg(law)));
        }
    }
    void everyRouterKeepsThem() {
        for (const RouterCard& card : routers()) {
            for (std::uint64_t seed = 1; seed <= 4; ++seed) {
                RandomStream random(seed, 79);
                const auto stream = makeTraffic(anyTraffic(random), seed);
                QVERIFY(stream.has_value());
                auto fleet = anyFleet(random, "vllm-v1", 3);
                fleet->router.id = std::string(card.id);
                const auto run = runOf(fleet, *stream);
                if (!run) {  // a router of pools may refuse a fleet without them, in words
                    QVERIFY2(!run.error().message.empty() && run.error().code.rfind("law.", 0) != 0,
                             qPrintable(QString::fromStdString(fleet->router.id + ": " + toText(run.error()))));
                    continue;
                }
                const QString law = broken(*run);
                QVERIFY2(law.isEmpty(),
                         qPrintable(QString("%1, seed %2: %3").arg(fleet->router.id.c_str()).arg(seed).arg(law)));
            }
        }
    }
    // Prompts on one pool, tokens on another, caches on their way between them.
    void disaggregatedFleetsKeepThem_data() {
        QTest::addColumn<QString>("scheduler");
        for (const char* scheduler : {"vllm-v1", "vllm-v0", "sarathi", "distserve", "splitwise"}) {
            QTest::newRow(scheduler) << scheduler;
        }
    }
    void disaggregatedFleetsKeepThem() {
        QFETCH(QString, scheduler);
        for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
            RandomStream random(seed, 81);
            const auto stream = makeTraffic(anyTraffic(random), seed);
            QVERIFY(stream.has_value());
            auto fleet = anyFleet(random, scheduler.toStdString(), 3);
            // A cache needs a place at its destination while it still has one at its source.
            for (ReplicaSpec& replica : fleet->replicas) replica.kvBlocks += 100;
            fleet->replicas[0].role = ReplicaRole::Prefill;
            fleet->replicas[1].role = fleet->replicas[2].role = ReplicaRole::Decode;
            fleet->replicas[0].pool = "prompts";
            fleet->transfer.bytesPerSecond = random.below(3) ? 1e9 + 1e11 * random.uniform() : 0;
            fleet->transfer.latency = random.below(2) ? 1e-3 : 0;
            fleet->transfer.hidden = random.below(2) ? 0.9 : 0;
            fleet->transfer.sharing = static_cast<LinkSharing>(random.below(3));
            const auto run = runOf(fleet, *stream);
            QVERIFY2(run.has_value(),
                     qPrintable(QString("seed %1: %2").arg(seed).arg(run ? "" : toText(run.error()).c_str())));
            const QString law = broken(*run);
            QVERIFY2(law.isEmpty(), qPrintable(QString("seed %1: %2").arg(seed).arg(law)));
        }
    }
    // One request alone: the prompt's iteration, and one for each further token. Added up here by hand.
    void aLoneRequestTakesWhatItsIterationsTake() {
        for (const std::string& scheduler : inOrder) {
            RequestStream stream;
            stream.arrival = {toTicks(1.5)};
            stream.prompt = {300};
            stream.output = {7};
            auto fleet = test::fleetOf(scheduler, 1, 1000);
            fleet->replicas[0].scheduler.maxModelLength = 4096;
            fleet->replicas[0].scheduler.chunk = 512;
            const auto run = runOf(fleet, stream);
            QVERIFY2(run.has_value(), run ? "" : (scheduler + toText(run.error())).c_str());
            const test::LawTime law;
            double seconds = law.fixed + law.perToken * 300;
            const double first = seconds;
            for (int k = 1; k < 7; ++k) seconds += law.fixed + law.perToken + law.perContext * (300 + k - 1);
            const RequestTable& table = run->result.requests;
            QVERIFY2(std::abs(toSeconds(table.firstToken[0]) - 1.5 - first) < 1e-9, scheduler.c_str());
            QVERIFY2(std::abs(toSeconds(table.ended[0]) - 1.5 - seconds) < 1e-9, scheduler.c_str());
        }
    }
    void aFasterDeviceNeverHurtsALoneRequest() {
        RandomStream random(5);
        for (int round = 0; round < 40; ++round) {
            RequestStream stream;
            stream.arrival = {0};
            stream.prompt = {1 + static_cast<std::int32_t>(random.below(3000))};
            stream.output = {1 + static_cast<std::int32_t>(random.below(50))};
            for (const std::string& scheduler : inOrder) {
                double last = 0;
                for (const double scale : {0.25, 0.5, 0.9, 1.0, 2.0}) {
                    auto fleet = test::fleetOf(scheduler, 1, 1000);
                    fleet->replicas[0] = test::replicaOf(scheduler, 1000, scale);
                    fleet->replicas[0].scheduler.maxModelLength = 4096;
                    const auto result = simulate(fleet, std::make_shared<const RequestStream>(stream));
                    QVERIFY(result.has_value());
                    const double seconds = toSeconds(result->requests.ended[0]);
                    QVERIFY2(seconds >= last, scheduler.c_str());
                    last = seconds;
                }
            }
        }
    }
    void closedLoopsHoldTheirNumber() {
        for (const std::string& scheduler : inOrder) {
            TrafficSpec spec;
            spec.requests = 60;
            spec.arrivals.kind = ArrivalKind::ClosedLoop;
            spec.arrivals.concurrency = 7;
            spec.prompt = {.kind = LengthKind::Uniform, .mean = 1, .cv = 1, .theta = 0, .least = 10, .most = 400};
            auto fleet = test::fleetOf(scheduler, 1, 3000);
            fleet->replicas[0].scheduler.maxModelLength = 4096;
            const auto run = runOf(fleet, *makeTraffic(spec, 3));
            QVERIFY(run.has_value());
            std::vector<std::pair<SimTime, int>> changes;
            const RequestTable& table = run->result.requests;
            for (std::size_t r = 0; r < table.size(); ++r) {
                changes.emplace_back(table.arrived[r], 1);
                changes.emplace_back(table.ended[r], -1);
            }
            std::sort(changes.begin(), changes.end());
            int flying = 0, most = 0;
            for (const auto& [time, change] : changes) most = std::max(most, flying += change);
            QVERIFY2(most == 7, qPrintable(QString("%1: %2").arg(scheduler.c_str()).arg(most)));
        }
    }
    void whatCanNeverFitIsRejectedInWords() {
        for (const std::string& scheduler : inOrder) {
            RequestStream stream;
            stream.arrival = {0, 0, 0};
            stream.prompt = {100, 5000, 100};
            stream.output = {10, 10, 10};
            auto fleet = test::fleetOf(scheduler, 1, 50);
            fleet->replicas[0].scheduler.maxModelLength = 700;
            const auto run = runOf(fleet, stream);
            QVERIFY2(run.has_value(), scheduler.c_str());
            const RequestTable& table = run->result.requests;
            QVERIFY2(table.state[1] == RequestState::Rejected && table.reason[1] == RejectReason::TooLong,
                     scheduler.c_str());
            QVERIFY2(table.state[0] == RequestState::Done && table.state[2] == RequestState::Done, scheduler.c_str());
        }
    }
    void theSameSeedGivesTheSameRun() {
        for (const SchedulerCard& card : schedulers()) {
            if (card.id == "splitwise" || card.id == "distserve") continue;
            RandomStream random(11, 80);
            const TrafficSpec spec = anyTraffic(random);
            auto fleet = anyFleet(random, std::string(card.id), 2);
            fleet->router.id = "random";
            const auto a = runOf(fleet, *makeTraffic(spec, 4)), b = runOf(fleet, *makeTraffic(spec, 4));
            QVERIFY(a && b);
            QVERIFY(a->result.requests.ended == b->result.requests.ended);
            QVERIFY(a->result.requests.replica == b->result.requests.replica);
            QVERIFY(a->result.batches.end == b->result.batches.end);
            QVERIFY(a->result.batches.memberTokens == b->result.batches.memberTokens);
            QVERIFY(a->result.gapHistogram == b->result.gapHistogram);
            QVERIFY(measure(a->result, *fleet) == measure(b->result, *fleet));
            QVERIFY(makeTraffic(spec, 4)->arrival == a->stream->arrival);
        }
    }
    void impossibleFleetsAreRefusedInWords() {
        TrafficSpec spec;
        spec.requests = 3;
        const auto stream = std::make_shared<const RequestStream>(*makeTraffic(spec, 1));
        const auto refused = [&](auto change) {
            auto fleet = test::fleetOf("vllm-v1", 1, 100);
            change(*fleet);
            const auto result = simulate(fleet, stream);
            return !result && !result.error().message.empty() && !result.error().code.empty();
        };
        QVERIFY(refused([](FleetSpec& f) { f.replicas.clear(); }));
        QVERIFY(refused([](FleetSpec& f) { f.replicas[0].kvBlocks = 0; }));
        QVERIFY(refused([](FleetSpec& f) { f.replicas[0].tokensPerBlock = 0; }));
        QVERIFY(refused([](FleetSpec& f) { f.replicas[0].time = nullptr; }));
        QVERIFY(refused([](FleetSpec& f) { f.replicas[0].scheduler.id = "none such"; }));
        QVERIFY(refused([](FleetSpec& f) { f.replicas[0].scheduler.maxSequences = 0; }));
        QVERIFY(refused([](FleetSpec& f) { f.replicas[0].scheduler.tokenBudget = 0; }));
        QVERIFY(refused([](FleetSpec& f) { f.replicas[0].scheduler.watermark = std::nan(""); }));
        QVERIFY(refused([](FleetSpec& f) { f.router.id = "none such"; }));
        QVERIFY(refused([](FleetSpec& f) { f.replicas[0].role = ReplicaRole::Prefill; }));
        QVERIFY(refused([](FleetSpec& f) { f.replicas[0].role = ReplicaRole::Decode; }));
    }
};

QTEST_APPLESS_MAIN(TestServingLaws)
#include "tst_serving_laws.moc"
