#include "base/random.h"
#include "support/vllm_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <numeric>

using namespace orrery;
using orrery::testing::arrivals;
using orrery::testing::LinearTime;
using orrery::testing::replicaOf;

namespace {

SchedulerSpec v1(bool async = false) {
    SchedulerSpec spec;
    spec.id = "vllm-v1";
    spec.watermark = 0;
    spec.more["async"] = async;
    return spec;
}
// Iterations of a second each, so that times are counts.
ServingResult serve(const SchedulerSpec& spec, std::shared_ptr<const RequestStream> stream, std::int64_t blocks = 1000,
                    std::int32_t tokensPerBlock = 16) {
    ReplicaSpec replica = replicaOf(spec, blocks, std::make_shared<LinearTime>(1.0));
    replica.tokensPerBlock = tokensPerBlock;
    auto result = orrery::testing::run(replica, std::move(stream));
    if (!result) qFatal("%s", toText(result.error()).c_str());
    return std::move(*result);
}
double firstToken(const ServingResult& result, RequestIndex r) {
    return toSeconds(result.requests.firstToken[r]);
}
double ended(const ServingResult& result, RequestIndex r) {
    return toSeconds(result.requests.ended[r]);
}
// Tokens that each iteration computed for a request.
std::vector<int> chunksOf(const ServingResult& result, RequestIndex r) {
    std::vector<int> chunks;
    for (std::size_t i = 0; i < result.batches.member.size(); ++i)
        if (result.batches.member[i] == r) chunks.push_back(result.batches.memberTokens[i]);
    return chunks;
}
void checkBooks(const ServingResult& result, const SchedulerSpec& spec, const RequestStream& stream) {
    const RequestTable& table = result.requests;
    for (RequestIndex r = 0; r < table.size(); ++r) {
        QVERIFY2(table.state[r] == RequestState::Done || table.state[r] == RequestState::Rejected,
                 std::string(toText(table.state[r])).c_str());
        QCOMPARE(table.blocks[r], 0);
        if (table.state[r] == RequestState::Rejected) {
            QVERIFY(table.reason[r] != RejectReason::None);
            continue;
        }
        QCOMPARE(table.generated[r], stream.output[r]);
        QVERIFY(table.arrived[r] <= table.scheduled[r]);
        QVERIFY(table.scheduled[r] < table.firstToken[r]);
        QVERIFY(table.firstToken[r] <= table.ended[r]);
    }
    const BatchLog& log = result.batches;
    for (std::size_t i = 0; i < log.size(); ++i) {
        QVERIFY(log.sequences[i] <= spec.maxSequences);
        const auto begin = log.memberTokens.begin() + static_cast<std::ptrdiff_t>(log.memberBegin[i]);
        const auto end = log.memberTokens.begin() + static_cast<std::ptrdiff_t>(log.memberBegin[i + 1]);
        if (spec.chunkedPrefill) QVERIFY(std::accumulate(begin, end, 0) <= spec.tokenBudget);
        QVERIFY(std::all_of(begin, end, [](int tokens) { return tokens > 0; }));
    }
}

}  // namespace

class TestVllmV1 : public QObject {
    Q_OBJECT
private slots:
    void aLoneRequestTakesAnIterationPerToken() {
        for (const bool async : {false, true}) {
            const auto result = serve(v1(async), arrivals({{0, 10, 3}}));
            QCOMPARE(firstToken(result, 0), 1.0);
            QCOMPARE(ended(result, 0), 3.0);
        }
    }
    void promptsAndDecodingShareTheBudget() {
        SchedulerSpec spec = v1();
        spec.tokenBudget = 8;
        const auto result = serve(spec, arrivals({{0, 4, 9}, {0.5, 20, 2}}));
        QCOMPARE(chunksOf(result, 0), std::vector<int>({4, 1, 1, 1, 1, 1, 1, 1, 1}));
        // One token of every iteration goes to the request that decodes.
        QCOMPARE(chunksOf(result, 1), std::vector<int>({7, 7, 6, 1}));
        QCOMPARE(firstToken(result, 1), 4.0);
    }
    void aLongPromptIsHeldBack() {
        SchedulerSpec spec = v1();
        spec.longPrompt = 6;
        const auto result = serve(spec, arrivals({{0, 20, 1}}));
        QCOMPARE(chunksOf(result, 0), std::vector<int>({6, 6, 6, 2}));
    }
    void withoutChunksAPromptWaitsForTheWholeBudget() {
        SchedulerSpec spec = v1();
        spec.chunkedPrefill = false;
        spec.tokenBudget = 20;
        const auto result = serve(spec, arrivals({{0, 10, 3}, {0, 20, 1}, {0, 21, 1}}));
        // 20 do not fit beside one that decodes, and 21 never do.
        QCOMPARE(firstToken(result, 1), 4.0);
        QCOMPARE(result.requests.reason[2], RejectReason::TooLong);
    }
    void asynchronousSchedulingLooksOneIterationAhead() {
        // The second request comes while the first iteration runs. The second iteration has been planned by then.
        const auto stream = arrivals({{0, 10, 5}, {0.5, 10, 1}});
        QCOMPARE(firstToken(serve(v1(false), stream), 1), 2.0);
        QCOMPARE(firstToken(serve(v1(true), stream), 1), 3.0);
    }
    void aPlaceIsFreeOneIterationLaterAsynchronously() {
        SchedulerSpec spec = v1(false);
        spec.maxSequences = 1;
        const auto stream = arrivals({{0, 4, 2}, {0, 4, 1}});
        QCOMPARE(firstToken(serve(spec, stream), 1), 3.0);
        spec.more["async"] = 1;
        // Nothing could be planned behind the last iteration of the first request, so no time is lost here …
        QCOMPARE(firstToken(serve(spec, stream), 1), 3.0);
        spec.maxSequences = 2;
        // … but with another one running, the iteration behind it had been planned before its place was free.
        const auto three = arrivals({{0, 4, 6}, {0, 4, 2}, {0, 4, 1}});
        QCOMPARE(firstToken(serve(spec, three), 2), 4.0);
        spec.more["async"] = 0;
        QCOMPARE(firstToken(serve(spec, three), 2), 3.0);
    }
    void theNewestIsPreemptedAndStartsAgain() {
        // 6 blocks of 4 tokens; both need 5 in the end.
        SchedulerSpec spec = v1();
        const auto stream = arrivals({{0, 8, 12}, {0, 8, 12}});
        const auto result = serve(spec, stream, 6, 4);
        QCOMPARE(int(result.requests.restarts[0]), 0);
        QCOMPARE(int(result.requests.restarts[1]), 1);
        QCOMPARE(ended(result, 0), 12.0);
        // Blocks run out when both hold three and want a fourth: 12 tokens computed, 5 yielded.
        const auto chunks = chunksOf(result, 1);
        QCOMPARE(chunks.front(), 8);
        QCOMPARE(std::count(chunks.begin(), chunks.begin() + 5, 1), 4);
        QCOMPARE(chunks[5], 13);  // prompt and what it had said
        QCOMPARE(std::accumulate(chunks.begin(), chunks.end(), 0), 12 + 13 + 6);
        checkBooks(result, spec, *stream);
    }
    void nothingIsAdmittedWhereSomethingWasPreempted() {
        SchedulerSpec spec = v1();
        const auto stream = arrivals({{0, 8, 12}, {0, 8, 12}, {4.5, 1, 1}});
        const auto result = serve(spec, stream, 6, 4);
        // At 5 s the second is preempted. Its two blocks would be enough for the third request, which is behind it.
        QCOMPARE(int(result.requests.restarts[1]), 1);
        QVERIFY(result.requests.scheduled[2] >= result.requests.scheduled[1]);
        QVERIFY(toSeconds(result.requests.scheduled[2]) > 5.0);
    }
    void roomForTheWholePromptIsAskedFor() {
        SchedulerSpec spec = v1();
        spec.tokenBudget = 8;
        // The first holds 5 of 9 blocks, the second has 20 tokens of prompt.
        const auto stream = arrivals({{0, 18, 3}, {0.5, 20, 1}});
        const auto careful = serve(spec, stream, 9, 4);
        spec.reserveWholePrompt = false;
        const auto bold = serve(spec, stream, 9, 4);
        QVERIFY(bold.requests.scheduled[1] < careful.requests.scheduled[1]);
        QCOMPARE(toSeconds(careful.requests.scheduled[1]), ended(careful, 0));
        for (const auto* result : {&careful, &bold}) checkBooks(*result, spec, *stream);
    }
    void theWatermarkLeavesBlocksForWhatRuns() {
        SchedulerSpec spec = v1();
        const auto stream = arrivals({{0, 16, 20}, {0.5, 16, 1}});
        QCOMPARE(toSeconds(serve(spec, stream, 10, 4).requests.scheduled[1]), 1.0);
        spec.watermark = 0.5;
        QCOMPARE(toSeconds(serve(spec, stream, 10, 4).requests.scheduled[1]), 20.0);
    }
    void theUrgentGoFirstAndTheLeastUrgentGiveWay() {
        SchedulerSpec spec = v1();
        spec.byPriority = true;
        spec.maxSequences = 1;
        auto stream = arrivals({{0, 4, 3}, {0.5, 4, 1}, {0.6, 4, 1}});
        stream->priority = {0, 2, 1};
        const auto queue = serve(spec, stream);
        QVERIFY(ended(queue, 2) < ended(queue, 1));

        spec.maxSequences = 8;
        auto tight = arrivals({{0, 8, 12}, {0, 8, 12}});
        tight->priority = {1, 0};
        const auto victims = serve(spec, tight, 6, 4);
        QCOMPARE(int(victims.requests.restarts[0]), 1);
        QCOMPARE(int(victims.requests.restarts[1]), 0);
        checkBooks(victims, spec, *tight);
    }
    void whatNeverFitsIsRejected() {
        SchedulerSpec spec = v1();
        spec.maxModelLength = 30;
        const auto stream = arrivals({{0, 30, 1}, {0, 10, 10}, {0, 400, 1}});
        const auto result = serve(spec, stream, 10, 4);
        QCOMPARE(result.requests.reason[0], RejectReason::TooLong);
        QCOMPARE(result.requests.state[1], RequestState::Done);
        QCOMPARE(result.requests.reason[2], RejectReason::TooLong);
    }
    void ranksThatShareExpertsGoInStep() {
        // A second per token. Round robin: requests 0 and 2 on the first rank, 1 on the second.
        FleetSpec fleet;
        for (int i = 0; i < 2; ++i) {
            fleet.replicas.push_back(replicaOf(v1(), 1000, std::make_shared<LinearTime>(0, 1.0)));
            fleet.replicas.back().wave = 0;
        }
        const auto stream = arrivals({{0, 10, 3}, {0, 4, 1}, {30, 6, 1}, {32, 5, 1}});
        const auto result = simulate(std::make_shared<FleetSpec>(fleet), stream);
        QVERIFY(result);
        // Four tokens run as ten, and wait for the others.
        QCOMPARE(firstToken(*result, 0), 10.0);
        QCOMPARE(firstToken(*result, 1), 10.0);
        QCOMPARE(ended(*result, 0), 12.0);
        // The second rank is idle at 32, but a wave is under way until 36.
        QCOMPARE(firstToken(*result, 2), 36.0);
        QCOMPARE(toSeconds(result->requests.scheduled[3]), 36.0);
        QCOMPARE(firstToken(*result, 3), 41.0);
        for (ReplicaSpec& replica : fleet.replicas) replica.wave = -1;
        const auto apart = simulate(std::make_shared<FleetSpec>(fleet), stream);
        QCOMPARE(firstToken(*apart, 1), 4.0);
        QCOMPARE(firstToken(*apart, 3), 37.0);
    }
    void booksBalanceWhateverHappens_data() {
        QTest::addColumn<int>("seed");
        for (int seed = 0; seed < 60; ++seed) QTest::addRow("seed %d", seed) << seed;
    }
    void booksBalanceWhateverHappens() {
        QFETCH(int, seed);
        RandomStream random(static_cast<std::uint64_t>(seed), 7);
        SchedulerSpec spec = v1(random.below(2) == 0);
        spec.id = random.below(4) == 0 ? "sglang" : "vllm-v1";
        if (spec.id == "sglang") spec.more.clear();
        spec.maxSequences = 1 + static_cast<std::int32_t>(random.below(12));
        spec.tokenBudget = 16 + static_cast<std::int32_t>(random.below(200));
        spec.longPrompt = random.below(3) == 0 ? 11 : 0;
        spec.byPriority = random.below(3) == 0;
        spec.reserveWholePrompt = random.below(2) == 0;
        spec.prefixCache = random.below(2) == 0;
        spec.watermark = random.below(2) == 0 ? 0.05 : 0;
        spec.lookahead = random.below(3) == 0 ? 3 : 0;
        auto stream = std::make_shared<RequestStream>();
        double at = 0;
        stream->hashTokens = 8;
        stream->hashBegin.push_back(0);
        for (int i = 0; i < 120; ++i) {
            at += random.uniform() * 3;
            stream->arrival.push_back(toTicks(at));
            stream->prompt.push_back(1 + static_cast<std::int32_t>(random.below(90)));
            stream->output.push_back(1 + static_cast<std::int32_t>(random.below(40)));
            stream->priority.push_back(static_cast<std::int32_t>(random.below(3)));
            // A tree of texts: each token of a chunk's number depends on those before it.
            std::uint64_t hash = 1;
            const int chunks = (stream->prompt.back() + stream->output.back()) / 8;
            for (int c = 0; c < chunks; ++c)
                stream->hashes.push_back(hash = hash * 31 + random.below(c < 3 ? 2 : 1000));
            stream->hashBegin.push_back(static_cast<std::uint32_t>(stream->hashes.size()));
        }
        ReplicaSpec replica =
            replicaOf(spec, 40 + static_cast<std::int64_t>(random.below(60)), std::make_shared<LinearTime>(0.1, 0.002));
        replica.tokensPerBlock = 4;
        if (spec.lookahead > 0) replica.speculation = {.drafts = 3, .acceptance = 0.6};
        const auto result = orrery::testing::run(replica, stream, static_cast<std::uint64_t>(seed));
        QVERIFY(result);
        checkBooks(*result, spec, *stream);
        const auto again = orrery::testing::run(replica, stream, static_cast<std::uint64_t>(seed));
        QVERIFY(again->requests.ended == result->requests.ended);
    }
};

QTEST_GUILESS_MAIN(TestVllmV1)
#include "tst_vllm_v1.moc"
