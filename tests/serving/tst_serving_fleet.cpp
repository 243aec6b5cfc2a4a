// Routers, failures, drains and the autoscaler.

#include "serving/metrics.h"
#include "serving/routers/prefix_directory.h"
#include "serving/routers/router.h"
#include "support/disaggregation_fixture.h"

#include <QtTest/QtTest>

#include <array>
#include <cmath>
#include <set>

using namespace orrery;
using namespace orrery::testing;

namespace {

FleetSpec whole(int replicas, const char* router, const char* policy = "vllm-v0", std::int64_t blocks = 1000) {
    FleetSpec fleet;
    for (int i = 0; i < replicas; ++i) fleet.replicas.push_back(paperReplica(ReplicaRole::Whole, blocks, policy));
    fleet.router.id = router;
    return fleet;
}
std::vector<int> perReplica(const ServingResult& result, int replicas) {
    std::vector<int> out(static_cast<std::size_t>(replicas));
    for (const std::int32_t i : result.requests.replica) ++out[static_cast<std::size_t>(i)];
    return out;
}
double meanEnd(const ServingResult& result) {
    double sum = 0;
    for (RequestIndex r = 0; r < result.requests.size(); ++r)
        sum += toSeconds(result.requests.ended[r] - result.requests.arrived[r]);
    return sum / static_cast<double>(result.requests.size());
}

}  // namespace

class TestServingFleet : public QObject {
    Q_OBJECT

private slots:
    // A long prompt keeps its replica busy: whoever counts tokens sends both short ones to the other.
    void shortestQueueCountsTokens() {
        const auto stream = arrivals({{0, 2000, 2}, {0, 2000, 2}, {0.001, 2000, 2}, {0.002, 50, 2}, {0.003, 50, 2}});
        const ServingResult result = serve(whole(2, "shortest-queue"), stream);
        const auto& on = result.requests.replica;
        QVERIFY(on[0] != on[1]);
        QVERIFY(on[3] != on[2]);
        QVERIFY(on[4] != on[2]);
    }

    // n balls into n bins: two choices leave far less in the fullest bin than one (Mitzenmacher 2001).
    void twoChoicesAreMoreEven() {
        const auto stream = randomArrivals(5, 600, 100, 200, 100);
        const ServingResult one = serve(whole(20, "random"), stream);
        const ServingResult two = serve(whole(20, "power-of-two"), stream);
        QVERIFY(meanEnd(two) <= meanEnd(one));
        const auto a = perReplica(one, 20);
        const auto b = perReplica(two, 20);
        QVERIFY(*std::max_element(b.begin(), b.end()) < *std::max_element(a.begin(), a.end()));
    }

    void conversationsStayTogether() {
        auto stream = std::make_shared<RequestStream>();
        stream->hashTokens = 64;
        stream->hashBegin.push_back(0);
        for (int turn = 0; turn < 5; ++turn)
            for (std::uint64_t who = 0; who < 6; ++who) {
                stream->arrival.push_back(toTicks(turn * 10 + static_cast<double>(who) * (turn == 0 ? 0.01 : 0.5)));
                stream->prompt.push_back(64 * (4 + turn));
                stream->output.push_back(4);
                for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(4 + turn); ++i)
                    stream->hashes.push_back(who * 1000 + i);
                stream->hashBegin.push_back(static_cast<std::uint32_t>(stream->hashes.size()));
            }
        const ServingResult result = serve(whole(3, "prefix-affinity"), stream);
        for (RequestIndex r = 6; r < stream->size(); ++r)
            QCOMPARE(result.requests.replica[r], result.requests.replica[r - 6]);
        std::set<std::int32_t> used(result.requests.replica.begin(), result.requests.replica.end());
        QVERIFY(used.size() > 1);
    }

    void directoryKnowsBeginnings() {
        RequestStream stream;
        stream.prompt = {100, 100, 33};
        stream.hashTokens = 16;
        stream.hashes = {1, 2, 3, 4, 5, 6, 1, 2, 9, 4, 1, 2};
        stream.hashBegin = {0, 6, 10, 12};
        PrefixDirectory directory(3, 64);
        directory.sent(stream, 0, 1);
        std::vector<std::int32_t> hits;
        directory.hits(stream, 1, hits);
        QCOMPARE(hits, (std::vector<std::int32_t>{0, 32, 0}));  // a difference in the middle ends it
        directory.hits(stream, 0, hits);
        QCOMPARE(hits[1], 96);
        directory.hits(stream, 2, hits);
        QCOMPARE(hits[1], 32);  // never the whole prompt
        directory.forget(1);
        directory.hits(stream, 0, hits);
        QCOMPARE(hits[1], 0);
    }
    void directoryIsBounded() {
        RequestStream stream;
        stream.hashTokens = 16;
        stream.hashBegin = {0};
        for (std::uint64_t i = 0; i < 1000; ++i) {
            stream.prompt.push_back(16);
            stream.hashes.push_back(i);
            stream.hashBegin.push_back(static_cast<std::uint32_t>(i + 1));
        }
        PrefixDirectory directory(2, 100);
        for (RequestIndex r = 0; r < 1000; ++r) directory.sent(stream, r, 0);
        QVERIFY(directory.size() <= 100);
    }

    // 1 s of prompt is promised in 1.5 s: the second that comes at once would take 2 s.
    void refusesWhatWouldMiss() {
        FleetSpec fleet = whole(1, "predicted-latency");
        fleet.promise.ttft = 1.5;
        const auto stream = arrivals({{0, 1000, 3}, {0.001, 1000, 3}, {0.002, 100, 3}, {5, 1000, 3}});
        const ServingResult result = serve(fleet, stream);
        QCOMPARE(result.requests.state[0], RequestState::Done);
        QCOMPARE(result.requests.state[1], RequestState::Rejected);
        QCOMPARE(result.requests.reason[1], RejectReason::PredictedMiss);
        QCOMPARE(result.requests.state[2], RequestState::Done);
        QCOMPARE(result.requests.state[3], RequestState::Done);
        fleet.promise = {};
        QCOMPARE(serve(fleet, stream).requests.state[1], RequestState::Done);
    }

    // A fleet of a fast and a slow device: predictions send more to the fast one than taking turns does.
    void unlikeDevices() {
        const auto fleetWith = [](const char* router) {
            FleetSpec fleet;
            fleet.replicas.push_back(paperReplica(ReplicaRole::Whole, 1000, "vllm-v0", 4));
            fleet.replicas.push_back(paperReplica(ReplicaRole::Whole, 1000, "vllm-v0", 1));
            fleet.router.id = router;
            return fleet;
        };
        const auto stream = randomArrivals(3, 200, 8);
        const ServingResult turns = serve(fleetWith("round-robin"), stream);
        const ServingResult predicted = serve(fleetWith("predicted-latency"), stream);
        QVERIFY(meanEnd(predicted) < meanEnd(turns));
        const auto on = perReplica(predicted, 2);
        QVERIFY(on[0] > on[1]);
    }

    void failureLosesNobody_data() {
        QTest::addColumn<QString>("policy");
        QTest::addColumn<QString>("router");
        QTest::addColumn<bool>("apart");
        QTest::addColumn<bool>("drain");
        for (const char* policy : {"vllm-v0", "distserve", "splitwise"})
            for (const char* router :
                 {"round-robin", "least-outstanding", "shortest-queue", "splitwise-pools", "mooncake"})
                for (const bool apart : {false, true})
                    for (const bool drain : {false, true})
                        QTest::addRow("%s, %s, %s, %s", policy, router, apart ? "apart" : "whole",
                                      drain ? "drain" : "fail")
                            << policy << router << apart << drain;
    }
    void failureLosesNobody() {
        QFETCH(QString, policy);
        QFETCH(QString, router);
        QFETCH(bool, apart);
        QFETCH(bool, drain);
        const std::string name = policy.toStdString();
        FleetSpec fleet = whole(4, "round-robin", name.c_str(), 300);
        fleet.router.id = router.toStdString();
        if (apart)
            for (std::size_t i = 0; i < 4; ++i)
                fleet.replicas[i].role = i < 2 ? ReplicaRole::Prefill : ReplicaRole::Decode;
        fleet.transfer.bytesPerSecond = 1e6;
        for (const std::int32_t replica : {0, 2, 3, 1}) {
            const double at = 0.7 + 1.3 * replica;
            fleet.failures.push_back({replica, at, 2.5, drain});
        }
        for (unsigned seed = 11; seed < 14; ++seed) {
            const auto stream = randomArrivals(seed, 120, 15);
            const ServingResult result = serve(fleet, stream);
            QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
            for (const RequestState state : result.requests.state) QCOMPARE(state, RequestState::Done);
            QCOMPARE(serve(fleet, stream).requests.ended, result.requests.ended);
            if (!drain) QVERIFY(count(result, ServingEvent::Kind::Fail) > 0);
        }
    }

    // The only replica fails half-way through a prompt of a second and comes back at 3 s: all over again from there.
    void failureOnPaper() {
        FleetSpec fleet = whole(1, "round-robin");
        fleet.failures.push_back({0, 0.5, 2.5, false});
        ServingResult result = serve(fleet, arrivals({{0, 1000, 2}}));
        QVERIFY(std::abs(firstToken(result, 0) - 4.0) < 1e-9);
        QCOMPARE(result.replicas[0].off, toTicks(2.5));
        // While it drains it finishes what runs, and what waits waits for its return.
        fleet.failures = {{0, 0.5, 2.5, true}};
        result = serve(fleet, arrivals({{0, 1000, 2}, {0.1, 100, 1}}));
        QVERIFY(std::abs(ended(result, 0) - 1.01) < 1e-9);
        QVERIFY(std::abs(ended(result, 1) - 3.1) < 1e-9);
    }

    // Idle watts while it is there, those of its phases while it computes, none while it is off; dollars likewise.
    void whatIsOffDrawsAndCostsNothing() {
        FleetSpec fleet = whole(1, "round-robin");
        fleet.replicas[0].power = {100, 700, 400};
        fleet.replicas[0].dollarsPerHour = 3.6;
        fleet.failures.push_back({0, 0.5, 2.5, false});
        // The prompt begins at 0, is lost at 0.5 s, and takes from 3 to 4 s; its second token 10 ms.
        const ServingResult result = serve(fleet, arrivals({{0, 1000, 2}}));
        const double end = toSeconds(result.end), decode = end - 4.0;
        QCOMPARE(result.replicas[0].busy, result.end - result.replicas[0].off);
        QVERIFY(std::abs(result.replicas[0].joules - (1.5 * 700 + decode * 400)) < 1e-6);
        const ServingMetrics metrics = measure(result, fleet);
        QVERIFY(std::abs(metrics.dollarsPerMillionTokens - 1e-3 * (end - 2.5) / 2 * 1e6) < 1e-6);
        // One that never comes back: until the end it is off.
        fleet.replicas.push_back(fleet.replicas[0]);
        fleet.failures = {{1, 0.25, 0, false}};
        const ServingResult gone = serve(fleet, arrivals({{0, 1000, 2}}));
        QCOMPARE(gone.replicas[1].off, gone.end - toTicks(0.25));
        QVERIFY(std::abs(gone.replicas[1].joules - 0.25 * 100) < 1e-9);
    }

    // Every second of every replica is computing, idle or off, and energy is what these draw.
    void energyIsConserved() {
        FleetSpec fleet = whole(4, "least-outstanding");
        for (ReplicaSpec& replica : fleet.replicas) {
            replica.scheduler.maxSequences = 8;
            replica.power = {100, 300, 300};
            replica.dollarsPerHour = 2;
        }
        std::vector<Arrival> list;
        for (int i = 0; i < 300; ++i) list.push_back({i * 0.05, 100, 40});
        for (int i = 0; i < 40; ++i) list.push_back({40 + i * 1.0, 100, 4});
        const auto stream = arrivals(list);
        const ServingResult always = serve(fleet, stream);
        fleet.autoscale = {.interval = 1, .spinUp = 2};
        const ServingResult scaled = serve(fleet, stream);
        for (const ServingResult* result : {&always, &scaled}) {
            for (const ReplicaTotals& totals : result->replicas) {
                QVERIFY(totals.busy >= 0 && totals.off >= 0 && totals.busy + totals.off <= result->end);
                const double idle = toSeconds(result->end - totals.busy - totals.off);
                QVERIFY(std::abs(totals.joules - (300 * toSeconds(totals.busy) + 100 * idle)) < 1e-6);
            }
        }
        const ServingMetrics before = measure(always, fleet), after = measure(scaled, fleet);
        QVERIFY(after.joules < before.joules);
        QVERIFY(after.dollarsPerMillionTokens < before.dollarsPerMillionTokens);
        SimTime off = 0;
        for (const ReplicaTotals& totals : scaled.replicas) off += totals.off;
        const double hours = (4 * toSeconds(scaled.end) - toSeconds(off)) / 3600;
        const double dollars = after.dollarsPerMillionTokens * after.outputTokensPerSecond * after.makespan / 1e6;
        QVERIFY(std::abs(dollars / (2 * hours) - 1) < 1e-9);
    }

    void nobodyLeft() {
        FleetSpec fleet = whole(1, "round-robin");
        fleet.failures.push_back({0, 0.5, 0, false});
        const auto stream = arrivals({{0, 1000, 2}, {2, 10, 2}});
        const ServingResult result = serve(fleet, stream);
        for (RequestIndex r = 0; r < 2; ++r) {
            QCOMPARE(result.requests.state[r], RequestState::Rejected);
            QCOMPARE(result.requests.reason[r], RejectReason::NoReplica);
        }
    }

    void growsAndShrinks() {
        FleetSpec fleet = whole(4, "least-outstanding");
        for (ReplicaSpec& replica : fleet.replicas) replica.scheduler.maxSequences = 8;
        fleet.autoscale.interval = 1;
        fleet.autoscale.spinUp = 2;
        fleet.autoscale.least = 1;
        std::vector<Arrival> list;
        for (int i = 0; i < 400; ++i) list.push_back({i * 0.05, 100, 40});    // a burst of 20 s …
        for (int i = 0; i < 40; ++i) list.push_back({40 + i * 1.0, 100, 4});  // … then hardly anything
        const auto stream = arrivals(list);
        const ServingResult result = serve(fleet, stream);
        QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
        QVERIFY(count(result, ServingEvent::Kind::ScaleUp) >= 2);
        QVERIFY(count(result, ServingEvent::Kind::ScaleDown) >= 2);
        for (const ServingEvent& event : result.events)
            if (event.kind == ServingEvent::Kind::ScaleUp) {
                // Nothing runs there before it is up.
                for (const ServingEvent& other : result.events)
                    if (other.kind == ServingEvent::Kind::Route && other.replica == event.replica)
                        QVERIFY(other.at < event.at || other.at >= event.at + toTicks(2) || other.at < toTicks(1));
                break;
            }
        FleetSpec fixed = fleet;
        fixed.autoscale = {};
        fixed.replicas.resize(1);
        QVERIFY(meanEnd(result) < meanEnd(serve(fixed, stream)));
        QVERIFY(result.replicas[0].off == 0);
        QVERIFY(result.replicas[3].off > 0);
    }

    void oneCardPerRouter() {
        std::set<std::string_view> ids;
        for (const RouterCard& card : routers()) {
            QVERIFY(ids.insert(card.id).second);
            QVERIFY(!card.title.empty() && !card.summary.empty());
            QVERIFY(findRouter(card.id) == &card);
        }
    }
};

QTEST_GUILESS_MAIN(TestServingFleet)
#include "tst_serving_fleet.moc"
