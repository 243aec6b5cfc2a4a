// Who comes next: the line in front of a policy, by hand where it can be, and as laws where it cannot.

#include "methods/system/planned_fleet.h"
#include "serving/metrics.h"
#include "serving/serving_scenario.h"
#include "support/disaggregation_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <map>

using namespace orrery;
using namespace orrery::testing;

namespace {

FleetSpec alone(const AdmissionSpec& rules, const char* policy = "vllm-v0", std::int32_t sequences = 1) {
    FleetSpec fleet;
    fleet.replicas.push_back(paperReplica(ReplicaRole::Whole, 1000, policy));
    fleet.replicas[0].scheduler.maxSequences = sequences;
    fleet.replicas[0].admission = rules;
    return fleet;
}

constexpr AdmissionOrder orders[] = {AdmissionOrder::Arrival, AdmissionOrder::Priority, AdmissionOrder::Shortest,
                                     AdmissionOrder::Fair, AdmissionOrder::Deadline};

}  // namespace

class TestServingAdmission : public QObject {
    Q_OBJECT
private slots:
    // One at a time, 1 ms per token of a prompt: 300 tokens run from 0 to 0.3 s while 200 and 100 tokens wait.
    void ordersByHand() {
        const auto stream = arrivals({{0, 300, 1}, {0.01, 200, 1}, {0.02, 100, 1}});
        stream->priority = {0, 2, 1};
        stream->tenant = {0, 0, 1};
        const auto endsOf = [&](AdmissionSpec rules, std::vector<double> due = {}) {
            FleetSpec fleet = alone(rules);
            fleet.replicas[0].due = std::move(due);
            const ServingResult result = serve(fleet, stream);
            return std::pair{ended(result, 1), ended(result, 2)};
        };
        QCOMPARE(endsOf({}), (std::pair{0.5, 0.6}));
        QCOMPARE(endsOf({.order = AdmissionOrder::Shortest}), (std::pair{0.6, 0.4}));
        QCOMPARE(endsOf({.order = AdmissionOrder::Priority}), (std::pair{0.6, 0.4}));
        // The second tenant is lifted to the 300 tokens of the first, which has had one more written by then.
        QCOMPARE(endsOf({.order = AdmissionOrder::Fair}), (std::pair{0.6, 0.4}));
        QCOMPARE(endsOf({.order = AdmissionOrder::Deadline}, {10, 0.3}), (std::pair{0.6, 0.4}));
        QCOMPARE(endsOf({.order = AdmissionOrder::Deadline}, {0.3, 10}), (std::pair{0.5, 0.6}));
        QCOMPARE(endsOf({.order = AdmissionOrder::Deadline}), (std::pair{0.5, 0.6}));  // nothing promised: by arrival
    }

    void theLateAndTheTooManyAreRefused() {
        const auto stream = arrivals({{0, 300, 1}, {0.01, 200, 1}, {0.02, 100, 1}});
        FleetSpec fleet = alone({.dropLate = true});
        fleet.replicas[0].due = {0.4};
        const ServingResult late = serve(fleet, stream);  // the third is due at 0.42 s, its turn would be at 0.5 s
        QCOMPARE(ended(late, 1), 0.5);
        QCOMPARE(late.requests.state[2], RequestState::Rejected);
        QCOMPARE(late.requests.reason[2], RejectReason::DeadlineMissed);
        QCOMPARE(ended(late, 2), 0.5);
        const ServingResult full = serve(alone({.queue = 1}), stream);
        QCOMPARE(full.requests.reason[2], RejectReason::QueueFull);
        QCOMPARE(ended(full, 1), 0.5);
        QCOMPARE(full.requests.state[1], RequestState::Done);
    }

    // A tenant that sends ten times as much does not push the other one back (Sheng et al., OSDI 2024).
    void sharesAreFair() {
        std::vector<Arrival> list(110, Arrival{0, 100, 1});
        const auto stream = arrivals(list);
        stream->tenant.assign(110, 0);
        std::fill(stream->tenant.begin() + 100, stream->tenant.end(), 1);
        const ServingResult first = serve(alone({}), stream);
        const ServingResult fair = serve(alone({.order = AdmissionOrder::Fair}), stream);
        QCOMPARE(ended(first, 109), 11.0);
        QVERIFY2(ended(fair, 109) <= 2.1, QByteArray::number(ended(fair, 109)));
        QCOMPARE(*std::ranges::max_element(fair.requests.ended), *std::ranges::max_element(first.requests.ended));
        // While both wait, what they were given differs by no more than two requests.
        std::map<SimTime, int> order;
        for (RequestIndex r = 0; r < 110; ++r) order[fair.requests.ended[r]] = stream->tenant[r];
        int difference = 0, seen = 0;
        for (const auto& [time, tenant] : order) {
            if (++seen > 20) break;
            difference += tenant == 0 ? 1 : -1;
            QVERIFY(std::abs(difference) <= 2);
        }
    }

    // Who was away has saved nothing up: the tenant that was served alone for five seconds is not shut out.
    void nobodySavesUp() {
        std::vector<Arrival> list(100, Arrival{0, 100, 1});
        for (int i = 0; i < 40; ++i) list.push_back({5, 100, 1});
        const auto stream = arrivals(list);
        stream->tenant.assign(140, 0);
        std::fill(stream->tenant.begin() + 100, stream->tenant.end(), 1);
        const ServingResult fair = serve(alone({.order = AdmissionOrder::Fair}), stream);
        int first = 0, second = 0;
        for (RequestIndex r = 0; r < 140; ++r) {
            if (ended(fair, r) > 5.05 && ended(fair, r) < 9.05) ++(stream->tenant[r] == 0 ? first : second);
        }
        QVERIFY2(std::abs(first - second) <= 2, QByteArray::number(first) + " " + QByteArray::number(second));
    }

    void everyOrderConserves_data() {
        QTest::addColumn<QString>("policy");
        for (const SchedulerCard& card : schedulers()) QTest::addRow("%s", card.id.data()) << QString(card.id.data());
    }
    void everyOrderConserves() {
        QFETCH(QString, policy);
        for (unsigned seed = 1; seed <= 10; ++seed) {
            FleetSpec fleet;
            const AdmissionSpec rules{.order = orders[seed % 5],
                                      .queue = seed % 3 == 0 ? static_cast<std::int32_t>(seed) : 0,
                                      .dropLate = seed % 4 == 0};
            for (int i = 0; i < 2; ++i) {
                fleet.replicas.push_back(paperReplica(ReplicaRole::Whole, 100, policy.toStdString().c_str()));
                fleet.replicas.back().admission = rules;
                fleet.replicas.back().due = {0.5, 5};
            }
            if (seed % 3 == 1) fleet.failures.push_back({0, 1.0, 2.0, false});
            if (seed % 3 == 2) fleet.failures.push_back({1, 1.0, 2.0, true});
            const auto stream = randomArrivals(seed, 150, 20, 300, 30);
            for (RequestIndex r = 0; r < stream->size(); ++r) {
                stream->tenant.push_back(static_cast<std::int32_t>(r % 3));
                stream->priority.push_back(static_cast<std::int32_t>((r * 5) % 4));
            }
            const ServingResult result = serve(fleet, stream);
            QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
            for (RequestIndex r = 0; r < stream->size(); ++r) {
                QVERIFY(result.requests.ended[r] >= 0);
                if (rules.queue == 0 && !rules.dropLate) QCOMPARE(result.requests.reason[r], RejectReason::None);
            }
            QCOMPARE(serve(fleet, stream).requests.ended, result.requests.ended);
        }
    }

    // A line by arrival that never fills is no line: the same end of every request as without it.
    void aPlainLineChangesNothing_data() {
        QTest::addColumn<QString>("policy");
        for (const char* policy : {"vllm-v1", "vllm-v0", "sarathi", "orca"}) QTest::newRow(policy) << QString(policy);
    }
    void aPlainLineChangesNothing() {
        QFETCH(QString, policy);
        for (unsigned seed = 1; seed <= 5; ++seed) {
            const auto stream = randomArrivals(seed, 200, 20, 300, 30);
            FleetSpec fleet;
            fleet.replicas.push_back(paperReplica(ReplicaRole::Whole, 200, policy.toStdString().c_str()));
            const ServingResult without = serve(fleet, stream);
            fleet.replicas[0].admission.queue = 1'000'000;
            QCOMPARE(serve(fleet, stream).requests.ended, without.requests.ended);
        }
    }

    void deadlinesOfAScenario() {
        ServingScenario scenario;
        PoolSpec pool;
        pool.hardware = "h100-sxm";
        pool.time.method = "tile-wave";
        pool.admission = {.order = AdmissionOrder::Deadline, .queue = 100, .dropLate = true};
        scenario.pools = {pool};
        scenario.promise.ttft = 2;
        scenario.tenants = {{.name = "chat", .ttft = 0.3}, {.name = "batch"}};
        const auto planned = fleetOf(scenario, nullptr);
        QVERIFY2(planned, planned ? "" : toText(planned.error()).c_str());
        QCOMPARE(planned->fleet->replicas[0].due, (std::vector<double>{0.3, 2}));
        QCOMPARE(promiseTo(*planned->fleet, 0).ttft, 0.3);
        QCOMPARE(promiseTo(*planned->fleet, 1).ttft, 2.0);
        scenario.tenants[0].ttft = -1;
        QCOMPARE(fleetOf(scenario, nullptr).error().code, std::string("serving.tenants"));
        scenario.tenants[0].ttft = 0;
        scenario.pools[0].admission.queue = -1;
        QCOMPARE(fleetOf(scenario, nullptr).error().code, std::string("serving.bad-pool"));
    }
};

QTEST_APPLESS_MAIN(TestServingAdmission)
#include "tst_serving_admission.moc"
