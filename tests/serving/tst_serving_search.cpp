#include "methods/system/planned_fleet.h"
#include "store/project/project.h"
#include "study/serving/pareto.h"
#include "study/serving/sweep.h"
#include "support/serving_fixture.h"

#include <QtTest/QtTest>

#include <cmath>
#include <set>

using namespace orrery;

namespace {

std::shared_ptr<const FleetSpec> promised(double ttft, int replicas = 1) {
    auto fleet = test::fleetOf("vllm-v1", replicas, 4000);
    for (ReplicaSpec& replica : fleet->replicas) replica.scheduler.maxModelLength = 4096;
    fleet->promise.ttft = ttft;
    return fleet;
}

TrafficSpec traffic() {
    TrafficSpec spec;
    spec.requests = 300;
    spec.prompt = {.kind = LengthKind::Uniform, .mean = 1, .cv = 0, .theta = 0, .least = 100, .most = 900};
    return spec;
}

// A study whose iterations follow a law, so that it needs no calibration.
ServingStudy lawStudy() {
    ServingStudy study;
    study.hardware = "a100-80-sxm";
    study.scenario.model.source = "llama-2-7b";
    study.scenario.promise.ttft = 0.5;
    PoolSpec& pool = study.scenario.pools[0];
    pool.time.kind = SlotKind::Law;
    pool.time.law.fixed = 0.01;
    pool.time.law.perToken = 5e-5;
    study.traffic = traffic();
    study.traffic.requests = 100;
    return study;
}

}  // namespace

class TestServingSearch : public QObject {
    Q_OBJECT
private slots:
    void theCapacityKeepsAndALittleMoreBreaks() {
        const auto fleet = promised(0.3);
        const auto found = capacityOf(fleet, traffic(), {});
        QVERIFY2(found.has_value(), found ? "" : toText(found.error()).c_str());
        QVERIFY(found->rate > 0 && found->above > found->rate);
        QVERIFY(found->above <= found->rate * 1.0201);
        QVERIFY(found->metrics.attainment >= 0.9);
        // Asked again at both rates, from scratch.
        for (const auto& [rate, keeps] : {std::pair{found->rate, true}, std::pair{found->above, false}}) {
            TrafficSpec spec = traffic();
            spec.arrivals.rate = rate;
            const auto run = simulate(fleet, std::make_shared<const RequestStream>(*makeTraffic(spec, 42)));
            QCOMPARE(measure(*run, *fleet).attainment >= 0.9, keeps);
        }
        // Where the search begins does not matter beyond the bracket.
        for (const double guess : {0.01, 3.0, 500.0}) {
            CapacitySpec spec;
            spec.guess = guess;
            const auto other = capacityOf(fleet, traffic(), spec);
            QVERIFY(other && std::abs(other->rate / found->rate - 1) < 0.05);
        }
    }
    void moreIsBorneByMore() {
        const double one = capacityOf(promised(0.3), traffic(), {})->rate;
        QVERIFY(capacityOf(promised(0.3, 2), traffic(), {})->rate > 1.5 * one);
        QVERIFY(capacityOf(promised(1.0), traffic(), {})->rate >= one);
        QVERIFY(capacityOf(promised(0.1), traffic(), {})->rate <= one);
        // A prompt alone takes longer than is promised: no load keeps it.
        QCOMPARE(capacityOf(promised(0.001), traffic(), {})->rate, 0.0);
    }
    // Iterations within ×0.8 and ×1.25: the capacities of fleets that are so much faster and slower.
    void aCapacityIsAsSureAsItsIterations() {
        class Unsure final : public orrery::test::LawTime {
        public:
            IterationPrice price(const IterationWork& work) const override {
                IterationPrice price = LawTime::price(work);
                price.low = 0.8;
                price.high = 1.25;
                return price;
            }
        };
        const auto sure = promised(0.3);
        const double rate = capacityOf(sure, traffic(), {})->rate;
        const auto closed = capacityInterval(*sure, traffic(), {}, rate);
        QVERIFY(closed && closed->low == rate && closed->high == rate);
        FleetSpec unsure = *sure;
        for (ReplicaSpec& replica : unsure.replicas) replica.time = std::make_shared<Unsure>();
        const auto interval = capacityInterval(unsure, traffic(), {}, rate);
        QVERIFY(interval);
        const auto scaled = [&](double scale) {
            FleetSpec fleet = *sure;
            auto time = std::make_shared<orrery::test::LawTime>();
            time->scale = scale;
            for (ReplicaSpec& replica : fleet.replicas) replica.time = time;
            return capacityOf(std::make_shared<const FleetSpec>(fleet), traffic(), {})->rate;
        };
        QVERIFY(interval->low < rate && rate < interval->high);
        QVERIFY(std::abs(interval->high / scaled(0.8) - 1) < 1e-9);
        QVERIFY(std::abs(interval->low / scaled(1.25) - 1) < 1e-9);
    }
    void impossibleQuestionsAreRefused() {
        const auto code = [](const auto& result) {
            return result ? QString() : QString::fromStdString(result.error().code);
        };
        QCOMPARE(code(capacityOf(promised(0), traffic(), {})), QString("capacity.no-promise"));
        TrafficSpec closed = traffic();
        closed.arrivals.kind = ArrivalKind::ClosedLoop;
        QCOMPARE(code(capacityOf(promised(1), closed, {})), QString("capacity.no-rate"));
        CapacitySpec spec;
        spec.tolerance = 0;
        QCOMPARE(code(capacityOf(promised(1), traffic(), spec)), QString("capacity.value"));
        std::stop_source stop;
        stop.request_stop();
        CapacityOptions options;
        options.stop = stop.get_token();
        QCOMPARE(code(capacityOf(promised(1), traffic(), {}, options)), QString("study.cancelled"));
        ServingStudy study;
        study.sweep = {{"colour", {"red"}}};
        QCOMPARE(code(runSweep(study, {})), QString("sweep.key"));
        study.sweep = {{"tensor", {"many"}}};
        QCOMPARE(code(runSweep(study, {})), QString("sweep.value"));
        study.sweep = {{"ratio", {"0"}}};
        QCOMPARE(code(runSweep(study, {})), QString("sweep.value"));
        study.sweep = {{"tensor", {}}};
        QCOMPARE(code(runSweep(study, {})), QString("sweep.empty"));
        study.sweep.assign(5, {"tensor", std::vector<std::string>(100, "1")});
        QCOMPARE(code(runSweep(study, {})), QString("sweep.too-many"));
    }
    void theFrontIsWhatNobodyBeats() {
        const auto front = paretoFront({{1, 5}, {2, 4}, {3, 4}, {5, 1}, {5, 1}, {std::nan(""), 0}});
        QCOMPARE(front, (std::vector<bool>{true, true, false, true, true, false}));
    }
    // 24 configurations: the same answers on one thread and on many, in the order of the axes, all counted.
    void aSweepIsTheSameOnAllThreads() {
        ServingStudy study = lawStudy();
        study.sweep = {{"scheduler", {"vllm-v1", "sarathi", "orca"}},
                       {"chunk", {"256", "512"}},
                       {"ratio", {"2", "8"}},
                       {"tensor", {"1", "3"}}};
        const auto threads = makeThreadExecutor(4);
        Progress progress;
        SweepOptions options;
        options.executor = threads.get();
        options.progress = &progress;
        std::set<std::size_t> told;
        options.onPoint = [&](std::size_t i, const SweepAnswer&) { told.insert(i); };
        const auto many = runSweep(study, options);
        QVERIFY2(many.has_value(), many ? "" : toText(many.error()).c_str());
        QCOMPARE(many->size(), std::size_t{24});
        // Only Sarathi reads the chunk: of the 24, 16 differ.
        QCOMPARE(progress.done(), std::uint64_t{16});
        QCOMPARE(told.size(), std::size_t{16});
        const auto one = runSweep(study, {});
        std::size_t front = 0;
        for (std::size_t i = 0; i < 24; ++i) {
            QCOMPARE((*many)[i].values, (*one)[i].values);
            QCOMPARE((*many)[i].failure.has_value(), (*one)[i].failure.has_value());
            QVERIFY((*many)[i].metrics == (*one)[i].metrics);
            QCOMPARE((*many)[i].pareto, (*one)[i].pareto);
            // 32 heads cannot be split over 3 devices: the point says so and keeps its place.
            QCOMPARE((*many)[i].failure.has_value(), (*many)[i].values[3] == "3");
            front += (*many)[i].pareto;
            const SweepAnswer& point = (*many)[i];
            QCOMPARE(point.sameAs >= 0, point.values[0] != "sarathi" && point.values[1] == "512");
            if (point.sameAs < 0) continue;
            // What was not computed is what it would have been.
            ServingStudy alone = study;
            alone.sweep.clear();
            for (std::size_t a = 0; a < point.values.size(); ++a)
                QVERIFY(setSweepValue(alone, study.sweep[a].key, point.values[a]).has_value());
            QVERIFY(runSweep(alone, {})->front().metrics == point.metrics);
        }
        QVERIFY(front > 0);
        QCOMPARE((*many)[1].values, (std::vector<std::string>{"vllm-v1", "256", "2", "3"}));
    }
    // One axis goes from replicas that do both to two pools and back; a price stays with its device.
    void poolsAndPricesAreSet() {
        const auto code = [](const Expected<void>& result) {
            return QString::fromStdString(result ? std::string("accepted") : result.error().code);
        };
        ServingStudy study = lawStudy();
        QVERIFY(setSweepValue(study, "pools", "1:3").has_value());
        QCOMPARE(study.scenario.pools.size(), std::size_t{2});
        QCOMPARE(study.scenario.pools[0].role, ReplicaRole::Prefill);
        QCOMPARE(study.scenario.pools[0].replicas, 1);
        QCOMPARE(study.scenario.pools[1].role, ReplicaRole::Decode);
        QCOMPARE(study.scenario.pools[1].replicas, 3);
        QVERIFY(setSweepValue(study, "pools", "2:1").has_value());
        QCOMPARE(study.scenario.pools[0].replicas, 2);
        QVERIFY(setSweepValue(study, "pools", "4").has_value());
        QCOMPARE(study.scenario.pools.size(), std::size_t{1});
        QCOMPARE(study.scenario.pools[0].role, ReplicaRole::Whole);
        QCOMPARE(study.scenario.pools[0].replicas, 4);
        for (const char* wrong : {"", "0", "1:0", "a", "1:2:3", "-1:2"})
            QCOMPARE(code(setSweepValue(study, "pools", wrong)), QString("sweep.value"));
        QVERIFY(setSweepValue(study, "hardware", "h100-sxm@2.5").has_value());
        QCOMPARE(study.scenario.pools[0].dollarsPerHour, 2.5);
        QVERIFY(setSweepValue(study, "hardware", "h100-sxm").has_value());
        QCOMPARE(study.scenario.pools[0].dollarsPerHour, 2.5);
        QVERIFY(setSweepValue(study, "hardware", "a100-80-sxm").has_value());
        QCOMPARE(study.scenario.pools[0].dollarsPerHour, 0.0);
        QCOMPARE(code(setSweepValue(study, "hardware", "h100-sxm@cheap")), QString("sweep.value"));
        // A policy that is left takes what only it knows with it.
        study.scenario.pools[0].scheduler.id = "sglang";
        study.scenario.pools[0].scheduler.more["conservativeness"] = 2;
        QVERIFY(setSweepValue(study, "scheduler", "sarathi").has_value());
        QVERIFY(check(study.scenario.pools[0].scheduler).has_value());
    }
    // Table 5 of the survey, from the gallery's file and the tables that ship with it: every time within 3 %.
    void tableFiveOfTheSurvey() {
        const auto loaded = readProjectFile(ORRERY_SOURCE "/presets/examples/vllm-against-sarathi.yaml");
        QVERIFY2(loaded.has_value(), loaded ? "" : toText(loaded.error()).c_str());
        QVERIFY(loaded->project.serving.has_value());
        const auto drawing = std::make_shared<const Hardware>(loaded->project.hardware.front());
        struct Row {
            bool other;
            int requests;
            double endToEnd, p99, ttft, tpot;
            std::int64_t stalled;
        };
        for (const Row& row :
             {Row{false, 200, .177, .320, .027, .0093, 53}, Row{true, 50, .158, .270, .025, .0090, 0}}) {
            ServingStudy study = *loaded->project.serving;
            study.traffic.requests = row.requests;
            if (row.other) study.scenario.pools[0].scheduler = *study.compareWith;
            const auto planned = fleetOf(study.scenario, drawing);
            QVERIFY2(planned.has_value(), planned ? "" : toText(planned.error()).c_str());
            ServingOptions options;
            options.batches = options.members = true;
            const auto stream = std::make_shared<const RequestStream>(*makeTraffic(study.traffic, study.seed));
            const auto run = simulate(planned->fleet, stream, options);
            QVERIFY(run.has_value());
            const ServingMetrics metrics = measure(*run, *planned->fleet);
            // The survey's time per token is VIDUR's: ÷ all tokens of the output.
            double tpot = 0;
            for (std::size_t r = 0; r < stream->size(); ++r) {
                tpot +=
                    toSeconds(run->requests.ended[r] - run->requests.firstToken[r]) / stream->output[r] / row.requests;
            }
            for (const auto& [here, published] : {std::pair{metrics.endToEnd.mean, row.endToEnd},
                                                  {metrics.endToEnd.p99, row.p99},
                                                  {metrics.ttft.mean, row.ttft},
                                                  {tpot, row.tpot}}) {
                QVERIFY2(std::abs(here / published - 1) < 0.03,
                         qPrintable(QString("%1, published %2").arg(here).arg(published)));
            }
            // 55 where the survey has 53: two requests whose decoding met a prompt by some milliseconds.
            QVERIFY2(std::abs(metrics.stalled - row.stalled) <= 2, qPrintable(QString::number(metrics.stalled)));
            QCOMPARE(metrics.restarts, std::uint64_t{0});
        }
    }
    void theOtherExamplesRun() {
        for (const char* name : {"disaggregated-serving", "how-many-requests", "rag-pipeline"}) {
            const auto loaded = readProjectFile(std::string(ORRERY_SOURCE "/presets/examples/") + name + ".yaml");
            QVERIFY2(loaded.has_value(), loaded ? "" : toText(loaded.error()).c_str());
            QVERIFY(loaded->warnings.empty());
            const ServingStudy& study = *loaded->project.serving;
            const auto drawing = std::make_shared<const Hardware>(loaded->project.hardware.front());
            const auto planned = fleetOf(study.scenario, drawing);
            QVERIFY2(planned.has_value(), planned ? "" : toText(planned.error()).c_str());
            const auto stream = requestsOf(study.scenario, study.traffic, study.seed);
            QVERIFY2(stream.has_value(), stream ? "" : toText(stream.error()).c_str());
            QCOMPARE(stream->stages, std::string(name) == "rag-pipeline" ? 4 : 1);
            for (const SweepAxis& axis : study.sweep) {
                ServingStudy copy = study;
                for (const std::string& value : axis.values) QVERIFY(setSweepValue(copy, axis.key, value).has_value());
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestServingSearch)
#include "tst_serving_search.moc"
