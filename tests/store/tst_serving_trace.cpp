// Is the trace of a serving run what happened: every iteration once and in its place, requests from arrival to end with
// their parts inside, whole numbers of picoseconds, and two runs apart?

#include "serving/metrics.h"
#include "serving/traffic/traffic.h"
#include "store/export/serving_trace.h"

#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

#include <array>
#include <map>

using namespace orrery;

namespace {

class PlainLaw final : public IterationTime {
public:
    IterationPrice price(const IterationWork& work) const override {
        IterationPrice price;
        price.seconds = price.lastSeconds = 5e-3 + 20e-6 * work.tokens;
        return price;
    }
};

std::shared_ptr<const FleetSpec> twoReplicas() {
    auto fleet = std::make_shared<FleetSpec>();
    for (const char* pool : {"first", "second"}) {
        ReplicaSpec replica;
        replica.name = replica.pool = pool;
        replica.time = std::make_shared<PlainLaw>();
        replica.scheduler.id = "vllm-v1";
        replica.kvBlocks = 400;
        fleet->replicas.push_back(std::move(replica));
    }
    return fleet;
}

ServingResult run(const std::shared_ptr<const FleetSpec>& fleet) {
    TrafficSpec traffic;
    traffic.requests = 60;
    traffic.arrivals.rate = 12;
    ServingOptions how;
    how.batches = true;
    return simulate(fleet, std::make_shared<const RequestStream>(makeTraffic(traffic, 7).value()), how).value();
}

}  // namespace

class TestServingTrace : public QObject {
    Q_OBJECT
    using Json = nlohmann::json;

private slots:
    void everyIterationAndEveryRequestIsThereOnce() {
        const auto fleet = twoReplicas();
        const ServingResult result = run(fleet);
        const Json trace = Json::parse(servingTrace(std::array{TracedRun{result, *fleet, "run"}}));
        std::size_t iterations = 0;
        double busy = 0;
        std::map<int, std::string> processes;
        std::map<std::string, std::vector<std::pair<double, char>>> requests;
        std::map<std::pair<int, int>, double> until;
        for (const Json& event : trace.at("traceEvents")) {
            const std::string phase = event.at("ph");
            if (phase == "M" && event.at("name") == "process_name")
                processes[event.at("pid")] = event.at("args").at("name");
            if (phase == "X") {
                ++iterations;
                busy += event.at("dur").get<double>();
                // One thing at a time on a replica.
                double& end = until[{event.at("pid"), event.at("tid")}];
                QVERIFY(event.at("ts").get<double>() >= end - 1e-6);
                end = event.at("ts").get<double>() + event.at("dur").get<double>();
            }
            if (phase == "b" || phase == "e") requests[event.at("id")].emplace_back(event.at("ts"), phase[0]);
        }
        QCOMPARE(iterations, result.batches.size());
        double owed = 0;
        for (const ReplicaTotals& replica : result.replicas) owed += toSeconds(replica.busy);
        QVERIFY(std::abs(busy * 1e-6 / owed - 1) < 1e-6);
        QCOMPARE(processes.size(), std::size_t{3});
        QCOMPARE(processes.at(1), std::string("requests"));
        QVERIFY(requests.size() == result.requests.size());
        for (const auto& [id, sides] : requests) {
            int open = 0;
            for (std::size_t i = 0; i < sides.size(); ++i) {
                open += sides[i].second == 'b' ? 1 : -1;
                QVERIFY2(open >= 0 && open <= 2, id.c_str());
                if (i > 0 && i + 1 < sides.size()) QVERIFY2(sides[i].first >= sides[i - 1].first, id.c_str());
            }
            QCOMPARE(open, 0);
            QVERIFY2(sides.front().first <= sides.back().first, id.c_str());
        }
    }
    void twoRunsStandApart() {
        const auto fleet = twoReplicas();
        const ServingResult result = run(fleet);
        const Json trace =
            Json::parse(servingTrace(std::array{TracedRun{result, *fleet, "a"}, TracedRun{result, *fleet, "b"}}));
        std::map<int, std::string> processes;
        for (const Json& event : trace.at("traceEvents"))
            if (event.at("name") == "process_name") processes[event.at("pid")] = event.at("args").at("name");
        QCOMPARE(processes.size(), std::size_t{6});
        QCOMPARE(processes.at(1), std::string("a: requests"));
        QCOMPARE(processes.at(4), std::string("b: requests"));
        QVERIFY(Json::parse(servingTrace({})).at("traceEvents").empty());
    }
};

QTEST_GUILESS_MAIN(TestServingTrace)
#include "tst_serving_trace.moc"
