// The loop, its policies and routers, by cases worked by hand and by what must hold of all of them.

#include "serving/routers/router.h"
#include "serving/serving_simulation.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

// Milliseconds: 1 per iteration, 0.1 per prompt token, 0.5 per decoding sequence; on each stage.
class Law final : public IterationTime {
public:
    explicit Law(int stages = 1, double speed = 1) : stages_(stages), speed_(speed) {}
    IterationPrice price(const IterationWork& work) const override {
        const auto decodes = static_cast<double>(work.decodes.size());
        IterationPrice out;
        out.lastSeconds = out.seconds = (1 + 0.1 * (work.tokens - decodes) + 0.5 * decodes) * 1e-3 / speed_;
        return out;
    }
    int stages() const override { return stages_; }

private:
    int stages_;
    double speed_;
};

struct Run {
    FleetSpec fleet;
    RequestStream stream;
    ServingOptions options;
    Run() {
        options.batches = options.members = options.events = true;
        ReplicaSpec replica;
        replica.time = std::make_shared<Law>();
        replica.scheduler.id = "vllm-v0";
        replica.kvBlocks = 1000;
        fleet.replicas.push_back(replica);
    }
    ReplicaSpec& replica() { return fleet.replicas.front(); }
    void replicas(std::size_t count) { fleet.replicas.resize(count, fleet.replicas.front()); }
    void add(double at, std::int32_t prompt, std::int32_t output) {
        stream.arrival.push_back(toTicks(at));
        stream.prompt.push_back(prompt);
        stream.output.push_back(output);
    }
    // The stream stays alive with the run: results refer to it.
    std::shared_ptr<const RequestStream> kept;
    Expected<ServingResult> go() {
        kept = std::make_shared<const RequestStream>(stream);
        return simulate(std::make_shared<const FleetSpec>(fleet), kept, options);
    }
};

std::vector<std::string> wholePolicies() {
    std::vector<std::string> ids;
    for (const auto& card : schedulers()) ids.emplace_back(card.id);
    return ids;
}

double milliseconds(SimTime ticks) {
    return toSeconds(ticks) * 1e3;
}

}  // namespace

class TestServingLoop : public QObject {
    Q_OBJECT
private slots:
    // Prompt 1 + 0.1 · 100, then 3 decodes of 1.5.
    void aLoneRequestTakesItsIterations() {
        for (const auto& id : wholePolicies()) {
            if (id == "distserve" || id == "splitwise") continue;  // made for pools of their own
            Run run;
            run.replica().scheduler.id = id;
            run.add(0.25, 100, 4);
            const auto result = run.go();
            QVERIFY2(result, result ? "" : toText(result.error()).c_str());
            const auto& r = result->requests;
            QVERIFY2(r.state[0] == RequestState::Done, id.c_str());
            QCOMPARE(milliseconds(r.firstToken[0]), 261.0);
            QCOMPARE(milliseconds(r.ended[0]), 265.5);
            QCOMPARE(result->replicas[0].iterations, std::uint64_t{4});
            QCOMPARE(result->gaps, std::uint64_t{3});
            QCOMPARE(milliseconds(result->replicas[0].busy), 15.5);
        }
    }

    // V0 stalls the one that decodes; Sarathi computes the new prompt beside it.
    void promptsStallDecodesOrNot() {
        for (const bool sarathi : {false, true}) {
            Run run;
            run.replica().scheduler.id = sarathi ? "sarathi" : "vllm-v0";
            run.replica().scheduler.chunk = 40;
            run.add(0, 10, 5);
            run.add(0.0025, 100, 2);
            const auto result = run.go();
            QVERIFY(result);
            const auto& log = result->batches;
            if (sarathi) {
                QCOMPARE(log.promptTokens, (std::vector<std::int32_t>{10, 0, 39, 39, 22, 0}));
                QCOMPARE(log.decodeTokens, (std::vector<std::int32_t>{0, 1, 1, 1, 1, 1}));
            } else {
                QCOMPARE(log.promptTokens, (std::vector<std::int32_t>{10, 0, 100, 0, 0, 0}));
                QCOMPARE(log.decodeTokens, (std::vector<std::int32_t>{0, 1, 0, 2, 1, 1}));
            }
        }
    }

    // numpy: round(linspace(512, 2048, 4)[::-1] / 32) · 32 = 2048, 1536, 1024, 512; a stage is 8192 ÷ 4 tokens.
    void chunksShrinkAsAPromptProceeds() {
        Run run;
        run.replica().scheduler.id = "sarathi";
        run.replica().scheduler.more = {
            {"chunk-stages", 4}, {"chunk-high", 2048}, {"chunk-low", 512}, {"chunk-schedule-tokens", 8192}};
        run.add(0, 8000, 1);
        const auto result = run.go();
        QVERIFY2(result, result ? "" : toText(result.error()).c_str());
        QCOMPARE(result->batches.promptTokens, (std::vector<std::int32_t>{2048, 1536, 1536, 1024, 512, 512, 512, 320}));
    }

    // Four stages: a batch leaves each after 11 ms, the next one follows a stage behind.
    void stagesOverlap() {
        Run run;
        run.replica().time = std::make_shared<Law>(4);
        run.replica().scheduler.maxSequences = 4;
        for (int i = 0; i < 4; ++i) run.add(0, 100, 1);
        const auto result = run.go();
        QVERIFY(result);
        for (std::size_t i = 0; i < 4; ++i) QCOMPARE(milliseconds(result->requests.ended[i]), 44.0 + 11.0 * double(i));
        QCOMPARE(milliseconds(result->replicas[0].busy), 77.0);
    }

    void swappingLosesNothingAndRestartingDoes() {
        for (const bool swap : {false, true}) {
            Run run;
            run.replica().kvBlocks = 12;
            run.replica().scheduler.swap = swap;
            run.replica().scheduler.watermark = 0;
            run.replica().kvBytesPerToken = 1e6;
            for (int i = 0; i < 3; ++i) run.add(0.001 * i, 48, 60);
            const auto result = run.go();
            QVERIFY(result);
            const auto& r = result->requests;
            int preemptions = 0, restarts = 0;
            for (std::size_t i = 0; i < 3; ++i) {
                QCOMPARE(r.state[i], RequestState::Done);
                QCOMPARE(r.generated[i], 60);
                preemptions += r.preemptions[i];
                restarts += r.restarts[i];
            }
            QVERIFY(preemptions > 0);
            QCOMPARE(restarts, swap ? 0 : preemptions);
            QCOMPARE(r.lostTokens > 0, !swap);
            QCOMPARE(result->replicas[0].promptTokens, 144 + r.lostTokens + (swap ? 0u : lostSteps(*result)));
        }
    }

    void staticBatchesHoldTheirMemoryTogether() {
        Run run;
        run.replica().scheduler.id = "static";
        run.replica().kvBlocks = 8;
        run.add(0, 16, 2);
        run.add(0, 16, 40);
        run.add(0, 16, 2);
        const auto result = run.go();
        QVERIFY(result);
        const auto& r = result->requests;
        // 2 + 4 + 2 blocks fit: all three start together; a fourth would wait for the longest.
        QCOMPARE(r.scheduled[2], r.scheduled[0]);
        run.add(0, 16, 2);
        const auto four = run.go();
        QCOMPARE(four->requests.scheduled[3], four->requests.ended[1]);
        QCOMPARE(four->replicas[0].peakBlocks, 8);
    }

    void everyPolicyKeepsItsBooks() {
        for (const auto& id : wholePolicies()) {
            if (id == "distserve" || id == "splitwise") continue;
            Run run;
            run.replica().scheduler.id = id;
            run.replica().scheduler.maxSequences = 8;
            run.replica().kvBlocks = 40;
            std::uint32_t seed = 7;
            const auto draw = [&](std::uint32_t n) {
                return static_cast<std::int32_t>((seed = seed * 1664525u + 1013904223u) >> 16) %
                       static_cast<std::int32_t>(n);
            };
            for (int i = 0; i < 200; ++i) run.add(0.004 * i, 1 + draw(200), 1 + draw(80));
            run.add(1, 5000, 3);  // never fits
            const auto result = run.go();
            QVERIFY2(result, result ? "" : toText(result.error()).c_str());
            const auto& r = result->requests;
            std::uint64_t needed = 0;
            for (std::size_t i = 0; i < 200; ++i) {
                QVERIFY2(r.state[i] == RequestState::Done, (id + " " + std::to_string(i)).c_str());
                QCOMPARE(r.generated[i], run.stream.output[i]);
                QCOMPARE(r.blocks[i], 0);
                QVERIFY(r.arrived[i] <= r.scheduled[i] && r.scheduled[i] < r.firstToken[i] &&
                        r.firstToken[i] <= r.ended[i]);
                needed += static_cast<std::uint64_t>(run.stream.prompt[i] + run.stream.output[i] - 1);
            }
            QCOMPARE(r.state[200], RequestState::Rejected);
            QCOMPARE(r.reason[200], RejectReason::TooLong);
            const auto& totals = result->replicas[0];
            QCOMPARE(totals.promptTokens + totals.decodeTokens, needed + r.lostTokens);
            QVERIFY(totals.peakBlocks <= 40);
            QVERIFY(result->warnings.empty());
            const auto again = run.go();
            QCOMPARE(again->requests.ended, r.ended);
        }
    }

    void steppingIsRunning() {
        Run run;
        for (int i = 0; i < 50; ++i) run.add(0.003 * i, 30 + i, 10 + i % 7);
        const auto whole = run.go();
        auto simulation = ServingSimulation::make(std::make_shared<const FleetSpec>(run.fleet), run.kept, run.options);
        QVERIFY(simulation);
        SimTime until = 0;
        while ((*simulation)->advance(until)) {
            QVERIFY((*simulation)->now() <= until);
            until += toTicks(0.0007);
        }
        QCOMPARE((*simulation)->take().requests.ended, whole->requests.ended);
    }

    void routersChoose() {
        Run run;
        run.replicas(4);
        for (int i = 0; i < 16; ++i) run.add(0.001 * i, 100, 50);
        auto result = run.go();
        for (int i = 0; i < 16; ++i) QCOMPARE(result->requests.replica[std::size_t(i)], i % 4);
        // Python: random.seed(42); [randint(1, 4) − 1 …]
        run.fleet.router = {.id = "random", .weight = 0, .compatibility = "vidur"};
        result = run.go();
        QCOMPARE(result->requests.replica, (std::vector<std::int32_t>{0, 0, 2, 1, 1, 1, 0, 0, 3, 0, 0, 0, 1, 1, 0, 1}));
        // A queue that empties at once hides that the first replica is busy; what runs counts, too.
        run.fleet.router = {.id = "least-outstanding"};
        result = run.go();
        std::vector<int> load(4);
        for (const std::int32_t replica : result->requests.replica) ++load[static_cast<std::size_t>(replica)];
        QCOMPARE(load, (std::vector<int>{4, 4, 4, 4}));
        run.fleet.router.compatibility = "vidur";
        result = run.go();
        QVERIFY(std::count(result->requests.replica.begin(), result->requests.replica.end(), 0) > 4);
    }

    void aClosedLoopKeepsItsSeats() {
        Run run;
        run.stream.concurrency = 3;
        for (int i = 0; i < 20; ++i) run.add(0, 20 + i, 1 + i % 5);
        const auto result = run.go();
        QVERIFY(result);
        const auto& r = result->requests;
        std::vector<std::pair<SimTime, int>> steps;
        for (std::size_t i = 0; i < 20; ++i) {
            steps.push_back({r.arrived[i], 1});
            steps.push_back({r.ended[i], -1});
        }
        std::sort(steps.begin(), steps.end());
        int flying = 0;
        for (const auto& [time, step] : steps) {
            flying += step;
            QVERIFY(flying <= 3 && flying >= 0);
        }
        QCOMPARE(std::count(r.arrived.begin(), r.arrived.end(), 0), 3);
        QVERIFY(std::all_of(r.state.begin(), r.state.end(), [](auto s) { return s == RequestState::Done; }));
    }

    void turnsWaitForTheOneBefore() {
        Run run;
        run.add(0, 100, 5);
        run.add(0, 100, 5);
        run.add(5, 100, 5);
        run.stream.after = {no_request, 0, 1};
        run.stream.think = {0, toTicks(2), toTicks(1)};
        const auto result = run.go();
        QVERIFY2(result, result ? "" : toText(result.error()).c_str());
        const auto& r = result->requests;
        QCOMPARE(r.arrived[1], r.ended[0] + toTicks(2));
        QCOMPARE(r.arrived[2], toTicks(5));  // not before its own time
    }

    void impossibleFleetsAreRefused() {
        const auto code = [](auto change) {
            Run run;
            run.add(0, 10, 2);
            change(run);
            const auto result = run.go();
            return result ? std::string() : result.error().code;
        };
        QCOMPARE(code([](Run&) {}), std::string());
        QCOMPARE(code([](Run& r) { r.fleet.replicas.clear(); }), std::string("serving.no-replica"));
        QCOMPARE(code([](Run& r) { r.replica().kvBlocks = 0; }), std::string("serving.no-memory"));
        QCOMPARE(code([](Run& r) { r.replica().tokensPerBlock = 0; }), std::string("serving.block-size"));
        QCOMPARE(code([](Run& r) { r.replica().time = nullptr; }), std::string("serving.no-time"));
        QCOMPARE(code([](Run& r) { r.replica().scheduler.id = "x"; }), std::string("serving.unknown-scheduler"));
        QCOMPARE(code([](Run& r) { r.replica().scheduler.maxSequences = 0; }), std::string("serving.bad-scheduler"));
        QCOMPARE(code([](Run& r) { r.replica().scheduler.tokenBudget = -5; }), std::string("serving.bad-scheduler"));
        QCOMPARE(code([](Run& r) { r.replica().scheduler.watermark = std::nan(""); }),
                 std::string("serving.bad-scheduler"));
        QCOMPARE(code([](Run& r) { r.replica().scheduler.compatibility = "x"; }),
                 std::string("serving.unknown-compatibility"));
        QCOMPARE(code([](Run& r) { r.replica().scheduler.more["x"] = 1; }), std::string("serving.unknown-option"));
        QCOMPARE(code([](Run& r) { r.replica().role = ReplicaRole::Prefill; }), std::string("serving.roles"));
        QCOMPARE(code([](Run& r) { r.replica().role = ReplicaRole::Decode; }), std::string("serving.roles"));
        QCOMPARE(code([](Run& r) { r.fleet.router.id = "x"; }), std::string("serving.unknown-router"));
    }

    void stoppingStops() {
        Run run;
        for (int i = 0; i < 2000; ++i) run.add(0.001 * i, 30, 10);
        std::stop_source stop;
        stop.request_stop();
        run.options.stop = stop.get_token();
        const auto result = run.go();
        QVERIFY(result && result->cancelled);
    }

private:
    // A sequence that starts again computes its generated tokens as prompt: they were decode steps before.
    static std::uint64_t lostSteps(const ServingResult& result) {
        std::uint64_t decodes = 0;
        for (std::size_t i = 0; i < result.requests.size(); ++i)
            decodes += std::uint64_t(result.requests.generated[i] - 1);
        return decodes - result.replicas[0].decodeTokens;
    }
};

QTEST_GUILESS_MAIN(TestServingLoop)
#include "tst_serving_loop.moc"
