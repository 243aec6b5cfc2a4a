// Intervals of a whole run: exact where a request is alone, around the point everywhere, gone where nothing is stated,
// and counted against a recorded run of vLLM.

#include "base/random.h"
#include "methods/system/cases/llmservingsim_bench.h"
#include "methods/system/planned_fleet.h"
#include "serving/result_interval.h"
#include "serving/traffic/traffic.h"
#include "support/serving_fixture.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>
#include <numeric>

using namespace orrery;

namespace {

struct Unsure final : test::LawTime {
    double low = 0.8, high = 1.25;
    IterationPrice price(const IterationWork& work) const override {
        IterationPrice price = LawTime::price(work);
        price.low = low;
        price.high = high;
        return price;
    }
};

std::shared_ptr<FleetSpec> unsure(double low, double high, const std::string& scheduler = "vllm-v1", int replicas = 1) {
    auto fleet = test::fleetOf(scheduler, replicas, 2000);
    auto time = std::make_shared<Unsure>();
    time->low = low;
    time->high = high;
    for (ReplicaSpec& replica : fleet->replicas) {
        replica.time = time;
        replica.power = {50, 400, 200};
        replica.dollarsPerHour = 3;
    }
    fleet->promise = {.ttft = 0.5, .tpot = 0.01};
    return fleet;
}

std::shared_ptr<const RequestStream> traffic(std::int64_t requests, double rate, std::uint64_t seed = 7) {
    TrafficSpec spec;
    spec.requests = requests;
    spec.arrivals.rate = rate;
    spec.prompt = {.kind = LengthKind::LogNormal, .mean = 300, .cv = 1, .least = 4, .most = 2000};
    spec.output = {.kind = LengthKind::LogNormal, .mean = 40, .cv = 1, .least = 1, .most = 200};
    return std::make_shared<const RequestStream>(std::move(*makeTraffic(spec, seed)));
}

struct Sure {
    ServingMetrics point;
    ServingIntervals interval;
};
Sure sureOf(const std::shared_ptr<const FleetSpec>& fleet, const std::shared_ptr<const RequestStream>& requests) {
    const auto run = simulate(fleet, requests);
    Sure sure{measure(*run, *fleet), {}};
    sure.interval = *intervalsOf(*run, sure.point, *fleet);
    return sure;
}

bool holds(const FigureInterval& interval, double value) {
    return interval.low <= value && value <= interval.high;
}
double width(const FigureInterval& interval, double value) {
    return (interval.high - interval.low) / value;
}

}  // namespace

class TestServingInterval : public QObject {
    Q_OBJECT
private slots:
    // Nothing waits: every duration goes with the iterations, throughput with their inverse, busy joules too.
    void aLoneRequestIsExact() {
        auto stream = std::make_shared<RequestStream>();
        stream->arrival = {0};
        stream->prompt = {500};
        stream->output = {20};
        const Sure sure = sureOf(unsure(0.8, 1.25), stream);
        const auto goes = [](const FigureInterval& interval, double value, double low, double high) {
            return std::fabs(interval.low / (value * low) - 1) < 1e-9 &&
                   std::fabs(interval.high / (value * high) - 1) < 1e-9;
        };
        QVERIFY(sure.interval.known);
        QVERIFY(goes(sure.interval.ttft.mean, sure.point.ttft.mean, 0.8, 1.25));
        QVERIFY(goes(sure.interval.tpot.p99, sure.point.tpot.p99, 0.8, 1.25));
        QVERIFY(goes(sure.interval.endToEnd.max, sure.point.endToEnd.max, 0.8, 1.25));
        QVERIFY(goes(sure.interval.joules, sure.point.joules, 0.8, 1.25));
        QVERIFY(goes(sure.interval.dollarsPerMillionTokens, sure.point.dollarsPerMillionTokens, 0.8, 1.25));
        QVERIFY(goes(sure.interval.outputTokensPerSecond, sure.point.outputTokensPerSecond, 1 / 1.25, 1 / 0.8));
        QCOMPARE(sure.interval.queueing.max, (FigureInterval{0, 0}));
    }

    void holdsThePointEverywhere() {
        RandomStream random(11);
        for (const char* scheduler : {"vllm-v1", "vllm-v0", "sarathi", "orca", "static"}) {
            const double low = 0.6 + 0.39 * random.uniform(), high = 1.01 + random.uniform();
            const auto fleet = unsure(low, high, scheduler, 1 + static_cast<int>(random.below(3)));
            const Sure sure = sureOf(fleet, traffic(120, 3 + 20 * random.uniform(), random.below(1000)));
            const auto& [point, i] = sure;
            QVERIFY(holds(i.ttft.mean, point.ttft.mean) && holds(i.ttft.p99, point.ttft.p99));
            QVERIFY(holds(i.tpot.mean, point.tpot.mean) && holds(i.tpot.p50, point.tpot.p50));
            QVERIFY(holds(i.itl.mean, point.itl.mean) && holds(i.endToEnd.p95, point.endToEnd.p95));
            QVERIFY(holds(i.queueing.max, point.queueing.max) && holds(i.normalised.p90, point.normalised.p90));
            QVERIFY(holds(i.makespan, point.makespan) && holds(i.requestsPerSecond, point.requestsPerSecond));
            QVERIFY(holds(i.goodput, point.goodput) && holds(i.attainment, point.attainment));
            QVERIFY(holds(i.joules, point.joules) && holds(i.joulesPerToken, point.joulesPerToken));
            QVERIFY(i.tpot.mean.low < point.tpot.mean && i.tpot.mean.high > point.tpot.mean);
            QVERIFY(i.attainment.low >= 0 && i.attainment.high <= 1);
            QVERIFY(!i.basis.empty());
        }
    }

    void sameInputsSameIntervals() {
        const auto fleet = unsure(0.9, 1.2, "sarathi", 2);
        QVERIFY(sureOf(fleet, traffic(200, 15)).interval == sureOf(fleet, traffic(200, 15)).interval);
    }

    void nothingStatedNothingClaimed() {
        const Sure sure = sureOf(unsure(1, 1), traffic(100, 5));
        QVERIFY(!sure.interval.known);
        QCOMPARE(sure.interval.ttft.p99, (FigureInterval{sure.point.ttft.p99, sure.point.ttft.p99}));
        QCOMPARE(sure.interval.joules, (FigureInterval{sure.point.joules, sure.point.joules}));
        QVERIFY(QString::fromStdString(sure.interval.basis).contains("not known"));
    }

    void lessSureIterationsMakeLessSureRuns() {
        for (const double rate : {1.0, 4.0, 1000.0}) {
            SpreadInterval before;
            FigureInterval throughput;
            for (const double side : {0.02, 0.05, 0.1, 0.2, 0.4}) {
                const Sure sure = sureOf(unsure(1 - side, 1 + side), traffic(150, rate));
                const SpreadInterval& now = sure.interval.endToEnd;
                if (before.mean.high > 0) {
                    QVERIFY(now.mean.low <= before.mean.low && now.mean.high >= before.mean.high);
                    QVERIFY(now.p99.low <= before.p99.low && now.p99.high >= before.p99.high);
                    QVERIFY(sure.interval.outputTokensPerSecond.low <= throughput.low);
                    QVERIFY(sure.interval.outputTokensPerSecond.high >= throughput.high);
                }
                before = now;
                throughput = sure.interval.outputTokensPerSecond;
            }
        }
    }

    // Little to do: 10 % of an iteration are 10 % of a first token. Near what the replica bears, queues multiply them.
    void queuesMultiplyDoubt() {
        auto fleet = unsure(0.9, 1.1);
        fleet->replicas[0].scheduler.maxSequences = 8;
        const Sure calm = sureOf(fleet, traffic(400, 0.2)), busy = sureOf(fleet, traffic(400, 30));
        QVERIFY(width(calm.interval.ttft.mean, calm.point.ttft.mean) < 0.25);
        QVERIFY(width(busy.interval.ttft.mean, busy.point.ttft.mean) > 0.3);
    }

    void replicasAndDraftsGoTogether() {
        auto fleet = unsure(0.8, 1.25, "vllm-v1", 3);
        auto draft = std::make_shared<Unsure>();
        fleet->replicas[1].speculation = {.drafts = 2, .acceptance = 0.5, .trace = {}, .draft = draft};
        const FleetSpec high = atEnd(*fleet, PriceEnd::High);
        QCOMPARE(high.replicas[0].time.get(), high.replicas[2].time.get());
        const IterationWork work{.tokens = 10};
        const double seconds = fleet->replicas[0].time->price(work).lastSeconds;
        for (const auto& time : {high.replicas[0].time, high.replicas[1].speculation.draft}) {
            QCOMPARE(time->price(work).lastSeconds, 1.25 * seconds);
            QCOMPARE(time->price(work).high, 1.0);
            QVERIFY(!time->assumptions().empty());
        }
        QVERIFY(!atEnd(nullptr, PriceEnd::Low));
    }

    void canBeStopped() {
        const auto fleet = unsure(0.8, 1.2);
        const auto run = simulate(fleet, traffic(3000, 10));
        ServingOptions options;
        std::stop_source stop;
        options.stop = stop.get_token();
        stop.request_stop();
        const auto interval = intervalsOf(*run, measure(*run, *fleet), *fleet, options);
        QVERIFY(!interval);
        QCOMPARE(QString::fromStdString(interval.error().code), QString("study.cancelled"));
        QVERIFY(!intervalsOf(ServingResult{}, {}, *fleet));
    }

    // Kernels that have seen no measurement of this device, against a recorded run of vLLM.
    void aRecordedRunLiesInside() {
        const std::string folder = std::string(ORRERY_REFERENCE) + "/serving/data/llmservingsim/bench/RTXPRO6000";
        if (!std::filesystem::exists(folder)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        int inside = 0, all = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            const auto bench = readLlmServingSimBench(entry.path().string());
            if (!bench) continue;
            auto fleet = fleetOf(*bench, "rtx-pro-6000-server", "tile-hybrid", "");
            if (!fleet) continue;
            const auto shared = std::make_shared<const FleetSpec>(std::move(*fleet));
            const auto run = simulate(shared, bench->requests);
            QVERIFY(run);
            const auto sure = intervalsOf(*run, measure(*run, *shared), *shared);
            QVERIFY(sure && sure->known);
            double ttft = 0, tpot = 0, endToEnd = 0, steps = 0;
            for (const RecordedRequest& each : bench->recorded) {
                ttft += each.ttft;
                endToEnd += each.endToEnd;
                tpot += each.output > 1 ? each.tpot : 0;
                steps += each.output > 1;
            }
            const auto n = static_cast<double>(bench->recorded.size());
            const std::pair<FigureInterval, double> figures[] = {
                {sure->ttft.mean, ttft / n}, {sure->tpot.mean, tpot / steps}, {sure->endToEnd.mean, endToEnd / n}};
            for (const auto& [interval, recorded] : figures) {
                ++all;
                inside += holds(interval, recorded);
                qInfo("%s: %.4g to %.4g s, recorded %.4g s", entry.path().filename().c_str(), interval.low,
                      interval.high, recorded);
            }
        }
        if (all == 0) QSKIP("no recorded run is here");
        qInfo("%d of %d recorded means lie in their intervals", inside, all);
        QVERIFY(2 * inside >= all);
    }
};

QTEST_GUILESS_MAIN(TestServingInterval)
#include "tst_serving_interval.moc"
