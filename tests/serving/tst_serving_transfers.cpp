// Caches on their way: times worked out on paper, links that are shared, memory that is full.

#include "serving/fleet/transfers.h"
#include "support/disaggregation_fixture.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;
using namespace orrery::testing;

namespace {

bool near(double a, double b, double by = 1e-9) {
    return std::abs(a - b) < by;
}

FleetSpec split(int prompts, int decodes, std::int64_t decodeBlocks = 1000, const char* policy = "vllm-v0") {
    FleetSpec fleet;
    for (int i = 0; i < prompts; ++i) fleet.replicas.push_back(paperReplica(ReplicaRole::Prefill, 1000, policy));
    for (int i = 0; i < decodes; ++i) fleet.replicas.push_back(paperReplica(ReplicaRole::Decode, decodeBlocks, policy));
    return fleet;
}

/// When each move arrives, in the order of asking; all asked at time 0 with room for everybody.
std::vector<double> arrivalsOf(const TransferSpec& spec, const std::vector<Move>& moves, std::size_t replicas) {
    Transfers transfers(spec, replicas);
    for (const Move& move : moves) transfers.ask(move, 0);
    transfers.begin(0, [](const Move&) { return true; });
    std::vector<double> out(moves.size(), -1);
    std::vector<Move> done;
    for (int guard = 0; guard < 1000 && transfers.next() != Transfers::never; ++guard) {
        const SimTime now = transfers.next();
        done.clear();
        transfers.arrivals(now, done);
        for (const Move& move : done) out[move.request] = toSeconds(now);
    }
    return out;
}

}  // namespace

class TestServingTransfers : public QObject {
    Q_OBJECT

private slots:
    // 100 tokens of prompt: 0.1 s. Its cache of 100 kB at 1 MB/s: 0.1 s. Then three decode steps of 10 ms.
    void oneRequestOnPaper() {
        FleetSpec fleet = split(1, 1);
        fleet.transfer.bytesPerSecond = 1e6;
        fleet.transfer.latency = 0.005;
        const auto stream = arrivals({{1.0, 100, 4}});
        ServingResult result = serve(fleet, stream);
        QVERIFY(near(firstToken(result, 0), 1.1));  // without the transfer
        QVERIFY(near(ended(result, 0), 1.1 + 0.1 + 0.005 + 0.03));
        QCOMPARE(count(result, ServingEvent::Kind::TransferBegin), 1);
        QCOMPARE(result.requests.replica[0], 1);
        fleet.transfer.hidden = 0.9;
        result = serve(fleet, stream);
        QVERIFY(near(ended(result, 0), 1.1 + 0.01 + 0.005 + 0.03));
        fleet.transfer = {};
        result = serve(fleet, stream);
        QVERIFY(near(ended(result, 0), 1.13));
        QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
    }

    // A request of one token has nothing to decode and goes nowhere.
    void oneTokenStays() {
        FleetSpec fleet = split(1, 1);
        fleet.transfer.bytesPerSecond = 1e6;
        const ServingResult result = serve(fleet, arrivals({{0, 100, 1}}));
        QVERIFY(near(ended(result, 0), 0.1));
        QCOMPARE(count(result, ServingEvent::Kind::TransferBegin), 0);
    }

    void linksAreShared() {
        TransferSpec spec;
        spec.bytesPerSecond = 100;
        // Two out of replica 0 to 1 and 2, one from 3 to 2.
        const std::vector<Move> moves{{0, 0, 1, 1, 100}, {1, 0, 2, 1, 100}, {2, 3, 2, 1, 100}};
        spec.sharing = LinkSharing::None;
        auto at = arrivalsOf(spec, moves, 4);
        QVERIFY(near(at[0], 1) && near(at[1], 1) && near(at[2], 1));
        spec.sharing = LinkSharing::Fifo;  // 0→1, then 0→2; 3→2 has its ends free at once
        at = arrivalsOf(spec, moves, 4);
        QVERIFY2(near(at[0], 1) && near(at[1], 2) && near(at[2], 1),
                 qPrintable(QString("%1 %2 %3").arg(at[0]).arg(at[1]).arg(at[2])));
        spec.sharing = LinkSharing::Fair;  // all three at half
        at = arrivalsOf(spec, moves, 4);
        QVERIFY(near(at[0], 2) && near(at[1], 2) && near(at[2], 2));
        // Max-min: three share 0's way out, so that 4→1 gets what is left of the way in to 1.
        at = arrivalsOf(spec, {{0, 0, 1, 1, 100}, {1, 0, 2, 1, 100}, {2, 0, 3, 1, 100}, {3, 4, 1, 1, 100}}, 5);
        QVERIFY(near(at[3], 1.5) && near(at[0], 3, 1e-6));
    }

    // What a link carries never exceeds it, and sharing fairly never makes the last arrive later than one by one.
    void sharingLosesNothing() {
        std::mt19937 random(7);
        for (int round = 0; round < 30; ++round) {
            std::vector<Move> moves;
            double total = 0;
            for (RequestIndex i = 0; i < 12; ++i) {
                const double bytes = 1 + random() % 500;
                total += bytes;
                moves.push_back({i, 0, 1 + static_cast<std::int32_t>(random() % 3), 1, bytes});
            }
            TransferSpec spec;
            spec.bytesPerSecond = 100;
            for (const LinkSharing sharing : {LinkSharing::Fifo, LinkSharing::Fair}) {
                spec.sharing = sharing;
                const auto at = arrivalsOf(spec, moves, 4);
                // All leave by one way out, which is never idle before the last has left.
                QVERIFY(near(*std::max_element(at.begin(), at.end()), total / 100, 1e-6));
                for (std::size_t i = 0; i < at.size(); ++i) QVERIFY(at[i] + 1e-9 >= moves[i].bytes / 100);
            }
        }
    }

    // Room for two caches at a time: the third stays where it was computed until one has ended.
    void fullMemoryHoldsBack() {
        FleetSpec fleet = split(1, 1, 16);  // 16 blocks of 16 tokens; each of them needs 7
        const auto stream = arrivals({{0, 100, 8}, {0, 100, 8}, {0, 100, 8}});
        const ServingResult result = serve(fleet, stream);
        QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
        std::vector<double> begins;
        for (const ServingEvent& event : result.events)
            if (event.kind == ServingEvent::Kind::TransferBegin) begins.push_back(toSeconds(event.at));
        QCOMPARE(begins.size(), std::size_t{3});
        QVERIFY(near(begins[1], firstToken(result, 1)));
        QVERIFY(begins[2] > firstToken(result, 2) + 0.05);
        QVERIFY(near(begins[2], std::min(ended(result, 0), ended(result, 1))));
        QVERIFY(result.replicas[1].peakBlocks <= 16);
    }

    void looksAgainEverySecond() {
        FleetSpec fleet = split(1, 1, 16);
        fleet.transfer.retry = 1;
        const ServingResult result = serve(fleet, arrivals({{0, 100, 8}, {0, 100, 8}, {0, 100, 8}}));
        SimTime last = 0;
        for (const ServingEvent& event : result.events)
            if (event.kind == ServingEvent::Kind::TransferBegin) last = event.at;
        QVERIFY(near(toSeconds(last), firstToken(result, 2) + 1));
    }

    void tooLongForTheDecodePool() {
        FleetSpec fleet = split(1, 1, 4);
        const auto stream = arrivals({{0, 100, 8}, {0, 20, 3}});
        const ServingResult result = serve(fleet, stream);
        QCOMPARE(result.requests.state[0], RequestState::Rejected);
        QCOMPARE(result.requests.reason[0], RejectReason::TooLong);
        QCOMPARE(result.requests.state[1], RequestState::Done);
        QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
    }

    void nothingIsLost_data() {
        QTest::addColumn<QString>("policy");
        QTest::addColumn<QString>("router");
        for (const char* policy : {"vllm-v0", "vllm-v1", "sarathi", "orca", "distserve", "splitwise"})
            for (const char* router : {"round-robin", "shortest-queue", "power-of-two", "predicted-latency", "mooncake",
                                       "prefix-affinity", "splitwise-pools"})
                QTest::addRow("%s, %s", policy, router) << policy << router;
    }
    void nothingIsLost() {
        QFETCH(QString, policy);
        QFETCH(QString, router);
        for (unsigned seed = 1; seed <= 4; ++seed) {
            const std::int64_t blocks = seed % 2 ? 60 : 400;
            FleetSpec fleet = split(2, 2, blocks, policy.toUtf8().constData());
            fleet.router.id = router.toStdString();
            fleet.transfer.bytesPerSecond = 2e6;
            fleet.transfer.latency = 1e-4;
            fleet.transfer.sharing = seed % 3 ? LinkSharing::Fair : LinkSharing::Fifo;
            const auto stream = randomArrivals(seed, 150, 20);
            const ServingResult result = serve(fleet, stream);
            QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
            for (const ReplicaTotals& totals : result.replicas) QVERIFY(totals.peakBlocks <= 1000);
            const ServingResult again = serve(fleet, stream);
            QCOMPARE(again.requests.ended, result.requests.ended);
        }
    }

    // A faster link never makes a lone request slower.
    void fasterLinkNeverHurtsOne() {
        double before = 1e9;
        for (const double bandwidth : {1e4, 1e5, 1e6, 1e9}) {
            FleetSpec fleet = split(1, 1);
            fleet.transfer.bytesPerSecond = bandwidth;
            const double end = ended(serve(fleet, arrivals({{0, 300, 20}})), 0);
            QVERIFY(end <= before);
            before = end;
        }
    }
};

QTEST_GUILESS_MAIN(TestServingTransfers)
#include "tst_serving_transfers.moc"
