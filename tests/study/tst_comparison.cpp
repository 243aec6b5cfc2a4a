// A against B: totals that add up, verdicts that intervals allow, break-evens that are there.

#include "hardware/files/catalogue.h"
#include "study/comparison/break_even.h"
#include "study/comparison/change_effects.h"
#include "study/comparison/time_difference.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

HardwarePtr device(const std::string& id, const std::vector<std::pair<std::string, std::string>>& changes = {}) {
    auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    Hardware hardware = std::move(loaded->hardware);
    for (const auto& [path, value] : changes) {
        auto changed = withAttribute(std::move(hardware), path, value);
        if (!changed) qFatal("%s", toText(changed.error()).c_str());
        hardware = std::move(*changed);
    }
    return std::make_shared<const Hardware>(std::move(hardware));
}

WorkloadPtr model(const std::string& source, std::int64_t batch = 8, Phase phase = Phase::Decode) {
    WorkloadRecipe recipe{source, {}, {}};
    if (const WorkloadInfo* info = builtinWorkload(source)) recipe.options = info->usual;
    recipe.options.batch = batch;
    if (source != "resnet-50") recipe.options.phase = phase;
    if (source != "resnet-50") recipe.options.sequence = 512;
    auto loaded = loadWorkload(recipe);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return *loaded;
}

CaseComparison compared(std::vector<ComparedCase> cases, std::vector<std::string> methods = {"tile-hybrid"},
                        std::size_t baseline = 0, Executor* executor = nullptr) {
    auto made = compareCases(std::move(cases), baseline, methods, {.executor = executor});
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return std::move(*made);
}

void addsUp(const TimeDifference& difference) {
    double before = 0, after = 0, delta = 0;
    for (const DifferenceTerm& term : difference.terms) {
        before += term.before;
        after += term.after;
        delta += term.delta();
    }
    const double scale = std::max(difference.before, difference.after);
    QVERIFY(std::abs(before - difference.before) <= 1e-12 * scale);
    QVERIFY(std::abs(after - difference.after) <= 1e-12 * scale);
    QVERIFY(std::abs(delta - (difference.after - difference.before)) <= 1e-12 * scale);
    QCOMPARE(difference.terms.back().of, DifferenceTerm::Of::Overlap);
}

}  // namespace

class TestComparison : public QObject {
    Q_OBJECT
private slots:
    void termsAddUpToTheDifference_data() {
        QTest::addColumn<QString>("before");
        QTest::addColumn<QString>("after");
        QTest::addColumn<QString>("workload");
        QTest::addColumn<QString>("otherWorkload");
        QTest::addColumn<QString>("method");
        QTest::addColumn<QString>("plan");
        QTest::newRow("two devices") << "a100-80-sxm"
                                     << "h100-sxm"
                                     << "llama-2-7b"
                                     << "llama-2-7b"
                                     << "tile-hybrid"
                                     << "";
        QTest::newRow("overlap") << "a100-80-sxm"
                                 << "h100-sxm"
                                 << "resnet-50"
                                 << "resnet-50"
                                 << "tile-wave(streams=on)"
                                 << "";
        QTest::newRow("eager launches") << "a100-80-sxm"
                                        << "h100-sxm"
                                        << "llama-2-7b"
                                        << "llama-2-7b"
                                        << "tile-hybrid(launch=eager)"
                                        << "";
        QTest::newRow("two models") << "h100-sxm"
                                    << "h100-sxm"
                                    << "resnet-50"
                                    << "llama-2-7b"
                                    << "tile-hybrid"
                                    << "";
        QTest::newRow("tensor parallel") << "dgx-h100"
                                         << "dgx-h100"
                                         << "llama-2-7b"
                                         << "llama-2-7b"
                                         << "tile-hybrid"
                                         << "tp=4";
        QTest::newRow("roofline") << "a100-80-sxm"
                                  << "h100-sxm"
                                  << "llama-2-7b"
                                  << "llama-2-7b"
                                  << "roofline"
                                  << "";
    }
    void termsAddUpToTheDifference() {
        QFETCH(QString, before);
        QFETCH(QString, after);
        QFETCH(QString, workload);
        QFETCH(QString, otherWorkload);
        QFETCH(QString, method);
        QFETCH(QString, plan);
        Scenario a{device(before.toStdString()), model(workload.toStdString()), {}};
        Scenario b{device(after.toStdString()), model(otherWorkload.toStdString()), {}};
        if (!plan.isEmpty()) b.plan = *parsePlan(plan.toStdString());
        const CaseComparison both = compared({{"A", a, {}}, {"B", b, {}}}, {method.toStdString()});
        QVERIFY(both.cases[0].estimate && both.cases[1].estimate);
        for (const DifferenceBy by :
             {DifferenceBy::Operators, DifferenceBy::Kinds, DifferenceBy::Blocks, DifferenceBy::Causes}) {
            for (const std::size_t most : {0u, 3u}) {
                const auto difference = timeDifference(both.cases[0], both.cases[1], by, most);
                QVERIFY(difference);
                QCOMPARE(difference->before, both.cases[0].estimate->latency.value);
                QCOMPARE(difference->after, both.cases[1].estimate->latency.value);
                addsUp(*difference);
                if (most > 0) QVERIFY(difference->terms.size() <= most + 2);
            }
        }
    }
    // What is counted needs no interval; what states none is not sure.
    void countedNumbersAreSure() {
        const CaseComparison both = compared({{"A", {device("h100-sxm"), model("llama-2-7b", 8), {}}, {}},
                                              {"B", {device("h100-sxm"), model("llama-2-7b", 1), {}}, {}}});
        const auto says = [&](const char* name) {
            return againstBaseline(both.cases[0], both.cases[1], *caseQuantity(name))->says;
        };
        QCOMPARE(says("memory"), Against::Says::Better);  // smaller caches
        QCOMPARE(says("energy"), Against::Says::NoInterval);
        QCOMPARE(says("perf_per_watt"), Against::Says::NoInterval);
    }
    void operatorsAreMatchedByName() {
        const CaseComparison both = compared({{"A", {device("a100-80-sxm"), model("llama-2-7b"), {}}, {}},
                                              {"B", {device("h100-sxm"), model("llama-2-7b"), {}}, {}}});
        const auto difference = timeDifference(both.cases[0], both.cases[1], DifferenceBy::Operators);
        QVERIFY(difference);
        QCOMPARE(difference->by, DifferenceBy::Operators);
        for (const DifferenceTerm& term : difference->terms) {
            if (term.of != DifferenceTerm::Of::Work) continue;
            QVERIFY(term.inBefore && term.inAfter);
            const auto at = static_cast<std::size_t>(term.operatorsAfter.front());
            QCOMPARE(both.cases[1].asked.scenario.workload->graph.operators[at].name, term.label);
            QCOMPARE(term.after, both.cases[1].estimate->operators.seconds[at]);
        }
        // Largest first.
        for (std::size_t i = 0; i + 2 < difference->terms.size(); ++i)
            QVERIFY(std::abs(difference->terms[i].delta()) >= std::abs(difference->terms[i + 1].delta()));
        const OperatorPairs pairs = operatorPairs(both.cases[0], both.cases[1]);
        QCOMPARE(pairs.after.size(), both.cases[1].estimate->operators.size());
        QCOMPARE(pairs.before, both.cases[0].estimate->operators.seconds);
    }
    void otherGraphsAreMatchedByKind() {
        const CaseComparison both = compared({{"A", {device("h100-sxm"), model("resnet-50"), {}}, {}},
                                              {"B", {device("h100-sxm"), model("llama-2-7b"), {}}, {}}});
        const auto difference = timeDifference(both.cases[0], both.cases[1], DifferenceBy::Operators);
        QVERIFY(difference);
        QCOMPARE(difference->by, DifferenceBy::Kinds);
        QVERIFY(!difference->notes.empty());
        bool conv = false;
        for (const DifferenceTerm& term : difference->terms) {
            if (term.label != "Conv") continue;
            conv = true;
            QVERIFY(term.inBefore && !term.inAfter);
            QCOMPARE(term.after, 0.0);
        }
        QVERIFY(conv);
    }
    void communicationIsACauseOfItsOwn() {
        Scenario alone{device("dgx-h100"), model("llama-2-7b"), {}}, spread = alone;
        spread.plan = *parsePlan("tp=4");
        const CaseComparison both = compared({{"one", alone, {}}, {"four", spread, {}}});
        const auto difference = timeDifference(both.cases[0], both.cases[1], DifferenceBy::Causes);
        QVERIFY(difference);
        double sent = 0;
        for (const Figure& figure : both.cases[1].estimate->figures)
            if (figure.label == "Communication") sent = figure.value;
        QVERIFY(sent > 0);
        const auto term = std::find_if(difference->terms.begin(), difference->terms.end(),
                                       [](const DifferenceTerm& each) { return each.label == "communication"; });
        QVERIFY(term != difference->terms.end());
        QCOMPARE(term->before, 0.0);
        QCOMPARE(term->after, sent);
    }
    void verdictsSayWhatIntervalsAllow() {
        using Says = Against::Says;
        const auto of = [](double value, double low, double high) { return std::optional(Ranged{value, low, high}); };
        QCOMPARE(against(of(10, 9, 11), of(5, 4, 6), false)->says, Says::Better);
        QCOMPARE(against(of(10, 9, 11), of(5, 4, 6), true)->says, Says::Worse);
        QCOMPARE(against(of(10, 9, 11), of(8, 7, 9.5), false)->says, Says::Overlap);
        QCOMPARE(against(of(10, 9, 11), of(10, 9, 11), false)->says, Says::Same);
        QCOMPARE(against(of(10, 10, 10), of(8, 8, 8), false)->says, Says::NoInterval);
        QVERIFY(!against(of(0, 0, 0), of(8, 8, 8), false));
        QVERIFY(!against(std::nullopt, of(8, 8, 8), false));
        const auto found = against(of(10, 8, 16), of(5, 4, 8), false);
        QCOMPARE(found->ratio, 0.5);
        QCOMPARE(found->low, 0.25);
        QCOMPARE(found->high, 1.0);
    }
    void columnsFollowFromEachOther() {
        const CaseComparison one =
            compared({{"A", {device("h100-sxm"), model("llama-2-7b", 16), {}}, 3.6}}, {"tile-hybrid"});
        const AnsweredCase& a = one.base();
        const auto at = [&](std::string_view name) { return a.values[*caseQuantity(name)]; };
        QCOMPARE(a.rateUnit, std::string("token/s"));
        const double seconds = at("time")->value;
        QVERIFY(std::abs(at("throughput")->value * seconds / 16 - 1) < 1e-12);
        QVERIFY(std::abs(at("throughput")->low * at("time")->high / 16 - 1) < 1e-12);
        QVERIFY(std::abs(at("cost")->value - seconds * 1e-3) < 1e-12);
        QVERIFY(std::abs(at("per_dollar")->value * at("cost")->value / 16 - 1) < 1e-12);
        QVERIFY(std::abs(at("perf_per_watt")->value / (at("throughput")->value / at("power")->value) - 1) < 1e-12);
        QVERIFY(std::abs(at("perf_per_mm2")->value / (at("throughput")->value / (at("area")->value * 1e6)) - 1) <
                1e-12);
        // Nothing is known of dollars without a price.
        const CaseComparison free = compared({{"A", {device("h100-sxm"), model("llama-2-7b", 16), {}}, {}}});
        QVERIFY(!free.base().values[*caseQuantity("cost")]);
        QVERIFY(!free.base().values[*caseQuantity("per_dollar")]);
        QVERIFY(!caseQuantity("speed"));
    }
    // The silicon of one design is the same in both cases, however unsure.
    void whatIsSharedCancels() {
        const Scenario a{device("dgx-h100"), model("llama-2-7b"), {}};
        Scenario b = a;
        b.plan = *parsePlan("tp=2");
        const CaseComparison both = compared({{"one", a, {}}, {"two", b, {}}});
        const std::size_t rate = *caseQuantity("throughput"), dense = *caseQuantity("perf_per_mm2");
        QVERIFY(both.cases[0].values[dense]->low / both.cases[0].values[dense]->high <
                0.9 * both.cases[0].values[rate]->low / both.cases[0].values[rate]->high);
        const auto x = againstBaseline(both.cases[0], both.cases[1], rate);
        const auto y = againstBaseline(both.cases[0], both.cases[1], dense);
        QCOMPARE(x->low, y->low);
        QCOMPARE(x->says, y->says);
    }
    // A die that says its area grows by what is added to it, also where it is compared.
    void moreCoresTakeMoreSilicon() {
        const Scenario a{device("h100-sxm"), model("llama-2-7b"), {}};
        const Scenario b{device("h100-sxm", {{"sm.count", "264"}}), a.workload, {}};
        const CaseComparison both = compared({{"A", a, {}}, {"B", b, {}}});
        const auto area = [&](std::size_t i) { return both.cases[i].values[*caseQuantity("area")]->value; };
        QVERIFY(area(1) > 1.3 * area(0));
        // Whoever is the baseline keeps what its own die says.
        const CaseComparison other = compared({{"A", {device("a100-80-sxm"), a.workload, {}}, {}}, {"B", a, {}}});
        QCOMPARE(other.cases[1].values[*caseQuantity("area")]->value, area(0));
    }
    void oneMethodAnswersAll() {
        const Scenario a{device("h100-sxm"), model("llama-2-7b"), {}}, b{device("tpu-v3"), a.workload, {}};
        const CaseComparison both = compared({{"A", a, {}}, {"B", b, {}}}, {"tile-hybrid", "roofline"});
        QVERIFY(both.oneMethod);
        QCOMPARE(both.cases[0].method, both.cases[1].method);
        const auto executor = makeThreadExecutor(4);
        const CaseComparison again =
            compared({{"A", a, {}}, {"B", b, {}}}, {"tile-hybrid", "roofline"}, 0, executor.get());
        for (std::size_t i = 0; i < 2; ++i)
            QCOMPARE(both.cases[i].estimate->latency.value, again.cases[i].estimate->latency.value);
        QCOMPARE(compareCases({}, 0, {"roofline"}, {}).error().code, std::string("compare.empty"));
        QCOMPARE(compareCases({{"A", a, {}}}, 1, {"roofline"}, {}).error().code, std::string("compare.baseline"));
    }
    // At the value that was found both take the same time, and on either side of it one is faster.
    void breakEvenIsWhereBothAreAlike() {
        const Scenario fast{device("h100-sxm"), model("llama-2-7b"), {}},
            slow{device("a100-80-sxm"), fast.workload, {}};
        const CaseComparison both = compared({{"H100", fast, {}}, {"A100", slow, {}}});
        const BreakEvenQuestion question{.subject = slow,
                                         .path = "hbm2e.bandwidth",
                                         .method = both.cases[1].method,
                                         .goal = *both.cases[0].values[0]};
        const auto found = breakEven(question, {});
        QVERIFY2(found.has_value(), found ? "" : toText(found.error()).c_str());
        QVERIFY2(found->crossings.size() == 1, toText(*found).c_str());
        const Crossing& crossing = found->crossings.front();
        QVERIFY(!crossing.rising);
        QVERIFY(crossing.at > 2.039e12);
        const auto timeAt = [&](double bandwidth) {
            const Scenario moved{
                device("a100-80-sxm", {{"hbm2e.bandwidth", formatMeasure(bandwidth, Dimension::DataRate, 12)}}),
                slow.workload,
                {}};
            return compared({{"x", moved, {}}}).base().estimate->latency.value;
        };
        const double goal = question.goal.value;
        QVERIFY(std::abs(timeAt(crossing.at) / goal - 1) < 2e-3);
        QVERIFY(timeAt(crossing.at * 0.98) > goal);
        QVERIFY(timeAt(crossing.at * 1.02) < goal);
        QVERIFY(crossing.low <= crossing.at && crossing.at <= crossing.high);
        // Surely slower below the interval's low end, surely faster above its high end, unless the range ends there.
        QVERIFY(crossing.openLow || crossing.low > found->from);
        // The same with any executor.
        const auto executor = makeThreadExecutor(3);
        QCOMPARE(breakEven(question, {.executor = executor.get()})->crossings.front().at, crossing.at);
    }
    void breakEvenOfACountIsWhole() {
        const WorkloadPtr prefill = model("llama-2-7b", 4, Phase::Prefill);
        const Scenario fast{device("h100-sxm"), prefill, {}},
            slow{device("h100-sxm", {{"sm.count", "60"}}), prefill, {}};
        const CaseComparison both = compared({{"A", fast, {}}, {"B", slow, {}}}, {"roofline"});
        const auto found = breakEven(
            {.subject = slow, .path = "sm.count", .method = "roofline", .goal = *both.cases[0].values[0]}, {});
        QVERIFY(found);
        QVERIFY2(found->crossings.size() == 1, toText(*found).c_str());
        const double at = found->crossings.front().at;
        QCOMPARE(at, std::round(at));
        QVERIFY(at > 60 && at <= 132);
    }
    void breakEvenSaysWhyThereIsNone() {
        const Scenario a{device("h100-sxm"), model("llama-2-7b"), {}};
        Ranged goal{1e-9, 0.9e-9, 1.1e-9};
        const auto none = breakEven({.subject = a, .path = "hbm3.bandwidth", .method = "roofline", .goal = goal}, {});
        QVERIFY(none);
        QVERIFY(none->crossings.empty());
        QVERIFY2(none->none.find("above") != std::string::npos, none->none.c_str());
        const auto words = breakEven({.subject = a, .path = "weights", .method = "roofline", .goal = goal}, {});
        QVERIFY(!words);
        QCOMPARE(words.error().code, std::string("compare.attribute"));
        const auto nowhere = breakEven({.subject = a, .path = "warp.drive", .method = "roofline", .goal = goal}, {});
        QVERIFY(!nowhere);
        QCOMPARE(nowhere.error().code, std::string("search.knob"));
        const auto column =
            breakEven({.subject = a, .path = "batch", .quantity = "joy", .method = "roofline", .goal = goal}, {});
        QCOMPARE(column.error().code, std::string("compare.quantity"));
        const auto range = breakEven(
            {.subject = a, .path = "hbm3.bandwidth", .method = "roofline", .goal = goal, .from = 5e12, .to = 1e12}, {});
        QCOMPARE(range.error().code, std::string("compare.range"));
    }
    // Old → new, and what each does alone.
    void changesInTheirOrder() {
        const Scenario a{device("h100-sxm"), model("llama-2-7b"), {}};
        const Scenario b{device("h100-sxm", {{"hbm3.bandwidth", "6.7 TB/s"}, {"sm.count", "264"}}), a.workload, {}};
        const CaseComparison both = compared({{"A", a, {}}, {"B", b, {}}});
        const auto effects = changeEffects(both.cases[0], both.cases[1], {});
        QVERIFY(effects);
        QCOMPARE(effects->changes.size(), std::size_t{2});
        QCOMPARE(effects->before.value, both.cases[0].estimate->latency.value);
        bool bandwidth = false;
        for (const ChangeEffect& each : effects->changes) {
            QVERIFY(each.alone);
            if (each.difference.attribute != "bandwidth") continue;
            bandwidth = true;
            QCOMPARE(each.text, std::string("hbm3 bandwidth 3.35 → 6.7 TB/s"));
            const Scenario alone{device("h100-sxm", {{"hbm3.bandwidth", "6.7 TB/s"}}), a.workload, {}};
            QCOMPARE(each.alone->value, compared({{"x", alone, {}}}).base().estimate->latency.value);
            QVERIFY(each.alone->value < 0.8 * effects->before.value);
        }
        QVERIFY(bandwidth);
    }
};

QTEST_GUILESS_MAIN(TestComparison)
#include "tst_comparison.moc"
