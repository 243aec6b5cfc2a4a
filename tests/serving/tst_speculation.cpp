#include "serving/fleet/speculation.h"
#include "support/vllm_fixture.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

class TestSpeculation : public QObject {
    Q_OBJECT
    static Expected<ServingResult> serve(const Speculation& speculation, std::int32_t output, IterationTimePtr time,
                                         const char* scheduler = "vllm-v1") {
        SchedulerSpec spec;
        spec.id = scheduler;
        auto replica = orrery::testing::replicaOf(spec, 100000, std::move(time));
        replica.speculation = speculation;
        return orrery::testing::run(replica, orrery::testing::arrivals({{0, 16, output}}));
    }

private slots:
    void tokensPerStepAreWhatTheorySays_data() {
        QTest::addColumn<double>("acceptance");
        QTest::addColumn<int>("drafts");
        for (const double acceptance : {0.0, 0.3, 0.75, 0.95, 1.0})
            for (const int drafts : {1, 4, 7}) QTest::addRow("%g of %d", acceptance, drafts) << acceptance << drafts;
    }
    void tokensPerStepAreWhatTheorySays() {
        QFETCH(double, acceptance);
        QFETCH(int, drafts);
        const double a = acceptance, k = drafts;
        const double theory = a < 1 ? (1 - std::pow(a, k + 1)) / (1 - a) : k + 1;
        QVERIFY(std::abs(expectedTokens({.drafts = drafts, .acceptance = a}) - theory) < 1e-12);
        constexpr std::int32_t output = 60001;
        const auto result =
            serve({.drafts = drafts, .acceptance = a}, output, std::make_shared<orrery::testing::LinearTime>(1));
        QVERIFY(result);
        const double steps = static_cast<double>(result->replicas[0].iterations) - 1;  // the first is the prompt
        // Five standard errors of the mean; a step's tokens lie between 1 and k + 1.
        QVERIFY(std::abs((output - 1) / steps - theory) <= 5 * (k / 2) / std::sqrt(steps) + 1e-3);
        QCOMPARE(result->requests.generated[0], output);
        const ReplicaTotals& totals = result->replicas[0];
        QVERIFY(totals.accepted <= totals.drafted);
    }
    void aTraceIsFollowedAndTheEndCutsIt() {
        // 3, 1, 3, 1, … tokens a step: 100 after the first take 50 steps.
        const Speculation speculation{.drafts = 4, .acceptance = 0.9, .trace = {2, 0}};
        QCOMPARE(expectedTokens(speculation), 2.0);
        const auto result = serve(speculation, 101, std::make_shared<orrery::testing::LinearTime>(1));
        QVERIFY(result);
        QCOMPARE(result->replicas[0].iterations, std::uint64_t(51));
        // Nothing is drafted that could not be used (Frontier's rule).
        QCOMPARE(plannedDrafts(4, 9), 4);
        QCOMPARE(plannedDrafts(4, 3), 2);
        QCOMPARE(plannedDrafts(4, 1), 0);
        RandomStream random(1);
        QCOMPARE(committedTokens({.drafts = 4, .trace = {9}}, 2, 0, random), 3);
    }
    void draftingAndVerifyingTakeTheirTime() {
        // An iteration takes its tokens in seconds; a step verifies three and makes two drafts of 10 s.
        const Speculation speculation{.drafts = 2, .acceptance = 1, .draftSeconds = 10};
        const auto result = serve(speculation, 7, std::make_shared<orrery::testing::LinearTime>(0, 1));
        QVERIFY(result);
        QCOMPARE(toSeconds(result->requests.firstToken[0]), 16.0);
        QCOMPARE(toSeconds(result->requests.ended[0]), 16.0 + 2 * (3 + 2 * 10));
        const auto target = std::make_shared<orrery::testing::LinearTime>(0, 1);
        QVERIFY(withDrafts(target, {}) == target);
        const auto model = std::make_shared<orrery::testing::LinearTime>(0.5);
        const auto priced = withDrafts(target, {.drafts = 2, .acceptance = 1, .draft = model});
        IterationWork work;
        const std::vector<std::int32_t> decodes{5, 5};
        work.decodes = decodes;
        work.decodeContext = 10;
        work.tokensPerDecode = 3;
        work.tokens = 6;
        QCOMPARE(priced->price(work).lastSeconds, 6 + 2 * 0.5);
        work.tokensPerDecode = 1;
        work.tokens = 2;
        QCOMPARE(priced->price(work).lastSeconds, 2.0);
    }
    void presetsSayWhereTheirNumbersAreFrom() {
        for (const DrafterPreset& preset : drafterPresets()) {
            QVERIFY(!preset.source.empty());
            const Speculation speculation = speculationOf(preset, 0.02);
            QVERIFY(speculation.drafts > 0 && speculation.acceptance > 0 && speculation.acceptance < 1);
            QCOMPARE(speculation.draftSeconds, preset.cost * 0.02);
            QVERIFY(expectedTokens(speculation) > 1);
        }
        // Medusa-2 keeps 3.47 tokens a step (Cai et al., 2024, table 2).
        QVERIFY(std::abs(expectedTokens(speculationOf(drafterPresets()[2], 0)) - 3.47) < 0.2);
    }
};

QTEST_GUILESS_MAIN(TestSpeculation)
#include "tst_speculation.moc"
