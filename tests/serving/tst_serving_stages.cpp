// Pipelines of models, and models that share a fleet.

#include "serving/fleet/stages.h"
#include "support/disaggregation_fixture.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;
using namespace orrery::testing;

namespace {

const std::vector<PipelineStage> rag{{"encode", 1, 1, 0, 1, 0},
                                     {"retrieve", 2, 0, 1, 1, 0.001},
                                     {"rerank", 3, 1, 200, 1, 0},
                                     {"generate", 0, 1, 300, 0, 0}};

FleetSpec ragFleet() {
    FleetSpec fleet;
    const auto add = [&](std::int32_t tenant, IterationTimePtr time) {
        ReplicaSpec replica = paperReplica(ReplicaRole::Whole);
        replica.time = std::move(time);
        replica.tenants = {tenant};
        fleet.replicas.push_back(std::move(replica));
    };
    add(1, affineTime(0.002, 1e-5, 0));
    add(2, affineTime(0.050, 0, 0));
    add(3, affineTime(0.004, 1e-5, 0));
    add(0, std::make_shared<PaperTime>());
    return fleet;
}

}  // namespace

class TestServingStages : public QObject {
    Q_OBJECT

private slots:
    // 100 tokens: encoded in 3 ms, searched in 50 ms after 1 ms, 300 tokens reranked in 7 ms, 400 prompted in 400 ms,
    // then 9 steps of 10 ms.
    void oneQuestionOnPaper() {
        const auto pipeline = inStages(*arrivals({{2.0, 100, 10}}), rag);
        QVERIFY(pipeline);
        QCOMPARE(pipeline->stream.size(), std::size_t{4});
        const ServingResult result = serve(ragFleet(), std::make_shared<RequestStream>(pipeline->stream));
        const auto seen = outcomes(*pipeline, result.requests);
        QCOMPARE(seen.size(), std::size_t{1});
        QVERIFY(seen[0].done);
        QVERIFY(std::abs(seen[0].arrived - 2.0) < 1e-9);
        QVERIFY(std::abs(seen[0].firstToken - (0.003 + 0.001 + 0.050 + 0.007 + 0.400)) < 1e-9);
        QVERIFY(std::abs(seen[0].endToEnd - (0.003 + 0.001 + 0.050 + 0.007 + 0.400 + 0.090)) < 1e-9);
        QCOMPARE(result.requests.replica, (std::vector<std::int32_t>{0, 1, 2, 3}));
    }

    void everyStageOnItsReplicas() {
        const auto pipeline = inStages(*randomArrivals(9, 100, 4, 200, 20), rag);
        QVERIFY(pipeline);
        const auto stream = std::make_shared<RequestStream>(pipeline->stream);
        const ServingResult result = serve(ragFleet(), stream);
        QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
        const RequestTable& table = result.requests;
        for (RequestIndex r = 0; r < table.size(); ++r) {
            QCOMPARE(table.replica[r], static_cast<std::int32_t>(r % 4));
            if (r % 4 > 0) QVERIFY(table.arrived[r] >= table.ended[r - 1]);
        }
        for (const PipelineOutcome& one : outcomes(*pipeline, table))
            QVERIFY(one.done && one.firstToken <= one.endToEnd);
    }

    // A second question of a session waits for the answer to the first.
    void sessionsGoOn() {
        auto questions = arrivals({{0, 100, 5}, {0, 50, 5}});
        questions->after = {no_request, 0};
        questions->think = {0, toTicks(3)};
        const auto pipeline = inStages(*questions, rag);
        QVERIFY(pipeline);
        const ServingResult result = serve(ragFleet(), std::make_shared<RequestStream>(pipeline->stream));
        QVERIFY(std::abs(toSeconds(result.requests.arrived[4] - result.requests.ended[3]) - 3) < 1e-9);
    }

    // A stage that fails comes back on the replica that is left for it; nobody else may run it.
    void failureOfAStage() {
        FleetSpec fleet = ragFleet();
        fleet.failures.push_back({2, 1.0, 4.0, false});
        const auto pipeline = inStages(*randomArrivals(4, 40, 8, 100, 10), rag);
        const auto stream = std::make_shared<RequestStream>(pipeline->stream);
        const ServingResult result = serve(fleet, stream);
        QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
        for (RequestIndex r = 2; r < stream->size(); r += 4) {
            QCOMPARE(result.requests.replica[r], 2);
            const double end = toSeconds(result.requests.ended[r]);
            QVERIFY(end <= 1.0 || end >= 5.0);
        }
    }

    void tenantsOfASharedFleet_data() {
        QTest::addColumn<QString>("router");
        for (const char* router : {"round-robin", "random", "least-outstanding", "shortest-queue", "power-of-two",
                                   "prefix-affinity", "predicted-latency", "mooncake", "splitwise-pools"})
            QTest::addRow("%s", router) << router;
    }
    void tenantsOfASharedFleet() {
        QFETCH(QString, router);
        FleetSpec fleet;
        for (int i = 0; i < 4; ++i) fleet.replicas.push_back(paperReplica(ReplicaRole::Whole));
        fleet.replicas[0].tenants = {0};
        fleet.replicas[1].tenants = {1};
        fleet.replicas[2].tenants = {0, 1};  // holds both models
        fleet.router.id = router.toStdString();
        const auto stream = randomArrivals(2, 120, 10);
        for (RequestIndex r = 0; r < stream->size(); ++r) stream->tenant.push_back(static_cast<std::int32_t>(r % 3));
        const ServingResult result = serve(fleet, stream);
        QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
        for (RequestIndex r = 0; r < stream->size(); ++r)
            QVERIFY(serves(fleet.replicas[static_cast<std::size_t>(result.requests.replica[r])], *stream, r));
    }
    void aTenantThatNobodyServes() {
        FleetSpec fleet;
        fleet.replicas.push_back(paperReplica(ReplicaRole::Whole));
        fleet.replicas[0].tenants = {7};
        const ServingResult result = serve(fleet, arrivals({{0, 10, 2}}));
        QCOMPARE(result.requests.state[0], RequestState::Rejected);
        QCOMPARE(result.requests.reason[0], RejectReason::NoReplica);
    }

    void refusals() {
        const auto questions = arrivals({{0, 100, 5}});
        QCOMPARE(QString::fromStdString(inStages(*questions, {}).error().code), QString("serving.stages"));
        for (const PipelineStage& bad :
             {PipelineStage{"a", 0, -1, 0, 1, 0}, PipelineStage{"b", 0, std::nan(""), 0, 1, 0},
              PipelineStage{"c", 0, 1, -5, 1, 0}, PipelineStage{"d", 0, 1, 0, 1, -1}}) {
            const auto read = inStages(*questions, {{bad}});
            QVERIFY(!read);
            QCOMPARE(QString::fromStdString(read.error().place.path), QString("stages[1]"));
        }
        auto loop = arrivals({{0, 100, 5}});
        loop->concurrency = 4;
        QVERIFY(!inStages(*loop, rag));
    }
};

QTEST_GUILESS_MAIN(TestServingStages)
#include "tst_serving_stages.moc"
