// Budgets, ladders and advice: never below a bound, with enough time the slow method's own answer, narrower with every
// kernel that is asked but for surprises that are said, the same bytes twice.

#include "base/random.h"
#include "evaluation/error_growth.h"
#include "evaluation/side_by_side.h"
#include "evaluation/width_shares.h"
#include "hardware/files/catalogue.h"
#include "methods/gpu/interval_for_cycles.h"
#include "methods/model/model_methods.h"
#include "store/export/fidelity_exports.h"
#include "study/fidelity/advice.h"
#include "study/fidelity/budget.h"
#include "study/fidelity/ladder_answer.h"
#include "study/fidelity/ratio_belief.h"
#include "study/fidelity/savings.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

using namespace orrery;

namespace {

Scenario question(const char* hardware, const char* model, std::int64_t sequence = 0) {
    auto loaded = loadHardware(hardware);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    WorkloadRecipe recipe{.source = model, .options = builtinWorkload(model)->usual};
    if (sequence > 0) recipe.options.sequence = sequence;
    auto workload = loadWorkload(recipe);
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    return {std::make_shared<const Hardware>(std::move(loaded->hardware)), *workload};
}

BudgetAnswer spend(const Scenario& scenario, BudgetOptions options) {
    static const auto executor = makeSerialExecutor();
    options.executor = executor.get();
    auto answer = answerWithin(scenario, options);
    if (!answer) qFatal("%s", toText(answer.error()).c_str());
    return std::move(*answer);
}

double half(const BudgetStep& step) {
    return (step.high - step.low) / 2 / step.latency;
}

}  // namespace

class TestFidelity : public QObject {
    Q_OBJECT
private slots:
    void studentsTIsThatOfTables() {
        QCOMPARE(studentT95(1), 6.3138);
        QCOMPARE(studentT95(10), 1.8125);
        // R: qt(0.95, c(20, 30, 100)).
        QVERIFY(std::abs(studentT95(20) - 1.7247) < 4e-3);
        QVERIFY(std::abs(studentT95(30) - 1.6973) < 2e-3);
        QVERIFY(std::abs(studentT95(100) - 1.6602) < 1e-3);
    }

    // Before anything is asked a belief is what the cheap method states; then it goes to the line that it learned, and
    // holds nine of ten of what comes next, also where only large kernels were asked and a small one comes.
    void beliefsHoldWhatTheySay() {
        const RatioBelief prior(-0.4, 1.0);
        QVERIFY(std::abs(prior.mean() - 0.3) < 1e-12);
        QVERIFY(std::abs(prior.half() - 0.7) < 1e-9);
        QVERIFY(prior.half(2) > prior.half());
        RandomStream random(7);
        int inside = 0, asked = 0;
        for (int run = 0; run < 400; ++run) {
            const double mean = 0.3 + 0.25 * random.normal(), change = 0.1 * random.normal();
            RatioBelief belief(-0.4, 1.0);
            for (int k = 0; k < 6; ++k) {
                const double z = random.normal() + (k < 4 ? 1 : -2);
                const double x = mean + change * z + 0.15 * random.normal();
                if (k > 0) ++asked, inside += std::abs(x - belief.mean(z)) <= belief.half(z) ? 1 : 0;
                const double before = belief.after(z).line(z);
                belief.learn(z, x);
                QVERIFY(before > 0);
            }
        }
        const double share = double(inside) / asked;
        QVERIFY2(share > 0.88, qPrintable(QString::number(share)));
        // Least squares in the end: fifty points on a line are the line.
        RatioBelief belief(-0.4, 1.0);
        for (int k = 0; k < 50; ++k) belief.learn(0.1 * (k - 25), 0.2 + 0.3 * 0.1 * (k - 25));
        QVERIFY(std::abs(belief.mean(1) - 0.5) < 0.01);
    }

    // Six kernels of one model that err alike by 6 %, and each by 6.5 % more: a little worse than products and
    // convolutions of six models on H100 and L40S by the interval model (4 and 6 %). Sides that were measured on nine
    // cases hold the rest after two or three of them were asked. As stated sides they would not: two or three kernels
    // that happen to agree would narrow them (86 %). Kernels of one model that agree never narrow measured sides, and
    // those that do not widen them.
    void measuredSidesOutliveLuck() {
        RatioBelief measured(-0.2, 0.2, 8, false);
        const double own = measured.own();
        for (int k = 0; k < 40; ++k) {
            const double line = measured.line(0);
            measured.learn(0, 0.05);
            QVERIFY(measured.line(0) < line);
        }
        QVERIFY(measured.own() > own * studentT95(48) / studentT95(8) - 1e-12);
        QVERIFY(std::abs(measured.mean() - 0.05) < 2e-3);
        for (int k = 0; k < 40; ++k) measured.learn(0, k % 2 ? 0.5 : -0.5);
        QVERIFY(measured.own() > 2 * own);
        RandomStream random(11);
        const auto part = [&] { return 0.065 * random.normal(); };
        for (const auto& [degrees, least, most] :
             {std::tuple{intervalForCyclesDegrees, 0.90, 0.97}, std::tuple{2.0, 0.80, 0.88}}) {
            int inside = 0, all = 0;
            for (int run = 0; run < 3000; ++run) {
                const double shared = 0.06 * random.normal();
                RatioBelief belief(-intervalForCycles, intervalForCycles, degrees, degrees < 3);
                const int asked = 2 + run % 2;
                for (int k = 0; k < asked; ++k) belief.learn(0, shared + part());
                const int left = 6 - asked;
                double full = 0;
                for (int k = 0; k < left; ++k) full += std::exp(shared + part());
                const double each = std::exp(belief.mean()), line = left * each * std::expm1(belief.lineOfSum({1, 0}));
                const double half = std::hypot(std::sqrt(left) * each * std::expm1(belief.own()), line);
                ++all, inside += std::abs(full - left * each) <= half ? 1 : 0;
            }
            const double share = double(inside) / all;
            QVERIFY2(share > least && share < most, qPrintable(QString("%1: %2").arg(degrees).arg(share)));
        }
    }

    void withoutEndItIsTheSlowMethod_data() {
        QTest::addColumn<QString>("hardware");
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("sequence");
        QTest::addColumn<QString>("full");
        QTest::newRow("convolutions on NPU tiles") << "gemmini-like"
                                                   << "mobilenet-v2" << 0 << "npu-tile";
        QTest::newRow("an encoder, per cycle") << "tpu-v3-core"
                                               << "bert-base" << 32 << "systolic-cycle";
        QTest::newRow("a decoder on a GPU") << "h100-sxm"
                                            << "gpt-2" << 256 << "mapping-search";
    }
    void withoutEndItIsTheSlowMethod() {
        QFETCH(QString, hardware);
        QFETCH(QString, model);
        QFETCH(int, sequence);
        QFETCH(QString, full);
        const Scenario scenario = question(qPrintable(hardware), qPrintable(model), sequence);
        BudgetOptions options;
        options.full = full.toStdString();
        const BudgetAnswer answer = spend(scenario, options);
        QVERIFY(answer.complete);
        const auto executor = makeSerialExecutor();
        EstimateContext context{*executor};
        const auto alone = estimate(*findMethod(full.toStdString()), scenario, context);
        QVERIFY(alone);
        QCOMPARE(answer.estimate.latency.value, alone->latency.value);
        QCOMPARE(answer.estimate.interval.low.value, alone->interval.low.value);
        QCOMPARE(answer.estimate.interval.high.value, alone->interval.high.value);
        QCOMPARE(answer.estimate.operators.seconds, alone->operators.seconds);
        QCOMPARE(answer.fullLow, answer.estimate.latency.value);
        QCOMPARE(answer.fullHigh, answer.estimate.latency.value);
    }

    void everyStepKeepsItsBoundsAndNarrows() {
        for (const char* model : {"resnet-50", "mobilenet-v2", "bert-base"}) {
            const Scenario scenario = question("gemmini-like", model, 64);
            BudgetOptions options;
            options.full = "npu-tile";
            const BudgetAnswer answer = spend(scenario, options);
            QVERIFY(answer.estimate.bound.has_value());
            QVERIFY(answer.steps.size() > 2);
            for (std::size_t i = 0; i < answer.steps.size(); ++i) {
                const BudgetStep& step = answer.steps[i];
                QVERIFY(step.low <= step.latency && step.latency <= step.high);
                QVERIFY(step.fullLow <= step.latency && step.latency <= step.fullHigh);
                QVERIFY2(step.latency >= answer.estimate.bound->value * (1 - 1e-9), model);
                if (i == 0) continue;
                const BudgetStep& before = answer.steps[i - 1];
                QVERIFY(step.kernels == before.kernels + 1);
                QVERIFY(step.stated >= before.stated && step.seconds >= before.seconds);
                QVERIFY2(step.surprise || half(step) <= half(before) * (1 + 1e-9),
                         qPrintable(QString("%1 step %2").arg(model).arg(i)));
            }
            QVERIFY(half(answer.steps.back()) < half(answer.steps.front()));
        }
    }

    // Full fidelity's answer should lie inside nine of ten intervals that say where it will be. Measured over every
    // step of every model on two arrays: 86 % (the handbook's table has the widths that people ask for).
    void intervalsHoldFullFidelity() {
        std::size_t inside = 0, all = 0;
        for (const char* hardware : {"gemmini-like", "tpu-v3-core"}) {
            const auto questions = savingsQuestions(hardware);
            QVERIFY(questions);
            for (const Scenario& scenario : *questions) {
                BudgetOptions options;
                options.full = "npu-tile";
                const BudgetAnswer answer = spend(scenario, options);
                const double full = answer.estimate.latency.value;
                for (const BudgetStep& step : answer.steps) {
                    if (step.kernels == answer.kernels) continue;
                    ++all;
                    if (step.fullLow <= full * (1 + 1e-12) && full <= step.fullHigh * (1 + 1e-12)) ++inside;
                }
            }
        }
        qInfo("%zu of %zu steps of five models on two arrays hold", inside, all);
        QVERIFY2(double(inside) >= 0.85 * double(all), qPrintable(QString("%1 of %2").arg(inside).arg(all)));
    }

    // A sampled simulation speaks for the whole one: what is asked for is reached with hardly a kernel simulated whole,
    // and holds, on models that nothing was tuned on.
    void samplesHoldOnOtherModels() {
        std::size_t inside = 0, all = 0;
        for (const auto& [model, sequence] : std::vector<std::pair<const char*, std::int64_t>>{{"vgg-16", 0},
                                                                                               {"wide-resnet-50-2", 0},
                                                                                               {"resnext-50-32x4d", 0},
                                                                                               {"vit-b-16", 0},
                                                                                               {"bert-large", 384},
                                                                                               {"llama-3-8b", 64},
                                                                                               {"gemma-2-9b", 128},
                                                                                               {"dit-xl-2", 0}}) {
            const Scenario scenario = question("gemmini-like", model, sequence);
            BudgetOptions options;
            options.full = "npu-tile";
            const BudgetAnswer answer = spend(scenario, options);
            const double full = answer.estimate.latency.value;
            for (const BudgetStep& step : answer.steps) {
                if (step.kernels == answer.kernels) continue;
                ++all;
                if (step.fullLow <= full * (1 + 1e-12) && full <= step.fullHigh * (1 + 1e-12)) ++inside;
            }
            const BudgetStep& first = answer.steps.front();
            QCOMPARE(first.kernels, std::size_t(0));
            QVERIFY2((first.fullHigh - first.fullLow) / 2 / first.latency <= 0.02, model);
            QVERIFY2(std::abs(first.latency / full - 1) <= 0.005, model);
            // What full fidelity says of itself stays in the interval of measured values.
            QVERIFY(first.low <= first.fullLow * (1 + 1e-12) && first.high >= first.fullHigh * (1 - 1e-12));
        }
        qInfo("%zu of %zu steps of other models hold", inside, all);
        QVERIFY2(double(inside) >= 0.85 * double(all), qPrintable(QString("%1 of %2").arg(inside).arg(all)));
    }

    // The interval model is as near to the simulation of its machine as is stated, and with it a fifth either way is
    // had for a tenth of the stated cost.
    void theIntervalModelStandsForCycles() {
        const Scenario scenario = question("h100-sxm", "vit-b-16");
        BudgetOptions options;
        options.full = std::string(gpuCycleChoice);
        options.methods = {std::string(gpuIntervalChoice)};
        const BudgetAnswer whole = spend(scenario, options);
        QVERIFY(whole.complete);
        const double full = whole.steps.back().latency;
        const auto holds = [&](const BudgetStep& step) {
            return step.fullLow <= full * (1 + 1e-9) && full <= step.fullHigh * (1 + 1e-9);
        };
        const auto inside = std::ranges::count_if(whole.steps, holds);
        qInfo("%td of %zu steps hold", inside, whole.steps.size());
        QVERIFY(double(inside) >= 0.85 * double(whole.steps.size()));
        const BudgetStep& first = whole.steps.front();
        QVERIFY(holds(first));
        QCOMPARE(first.kernels, std::size_t{0});
        QVERIFY2((first.fullHigh - first.fullLow) / 2 / first.latency < 0.2,
                 qPrintable(QString::number((first.fullHigh - first.fullLow) / 2 / first.latency)));
        QVERIFY2(std::abs(std::log(full / first.latency)) < intervalForCycles, qPrintable(QString::number(full)));
        QVERIFY(10 * first.stated < whole.statedOnce);
        // Kernel by kernel, as both say by themselves.
        static const auto executor = makeSerialExecutor();
        std::vector<std::vector<double>> seconds;
        for (const std::string_view choice : {gpuCycleChoice, gpuIntervalChoice}) {
            EstimateContext context{*executor};
            context.wantTimeline = false;
            const auto answer = estimate(*findMethod(choice), scenario, context);
            QVERIFY(answer);
            seconds.push_back(answer->operators.seconds);
        }
        std::vector<double> apart;
        for (std::size_t i = 0; i < seconds[0].size(); ++i)
            if (seconds[0][i] > 0 && seconds[1][i] > 0)
                apart.push_back(std::abs(std::log(seconds[0][i] / seconds[1][i])));
        std::sort(apart.begin(), apart.end());
        QVERIFY(apart.size() > 5);
        QVERIFY(apart[apart.size() * 9 / 10] <= intervalForCycles);
    }

    // A kernel that is simulated in a moment is paid as one, not as a whole budget; and where small kernels make full
    // fidelity cheap, the interval model is still worth its cost.
    void simulationsArePaidByTheirLength() {
        BudgetOptions options;
        options.full = std::string(gpuCycleChoice);
        options.to = 10;  // what cheap methods say is enough
        const BudgetAnswer small = spend(question("a100-80-sxm", "mobilenet-v2"), options);
        const double whole = findKernelMethod(gpuCycleChoice)->card.cost.perKernel;
        QVERIFY2(small.statedOnce < 0.5 * whole * double(small.kernels), qPrintable(QString::number(small.statedOnce)));
        QVERIFY(std::ranges::any_of(small.asked, [&](const BudgetAsked& each) {
            return each.method == gpuIntervalChoice && each.kernels == small.kernels;
        }));
        // A longer budget costs more, of the kernels that it does not hold whole alone.
        const Scenario large = question("a100-80-sxm", "llama-2-7b", 128);
        const double usual = spend(large, options).statedOnce;
        options.full = "gpu-cycle(seconds=6)";
        const double longer = spend(large, options).statedOnce;
        QVERIFY2(longer > 1.2 * usual && longer < 2 * usual, qPrintable(QString("%1 %2").arg(longer).arg(usual)));
    }

    void equalKernelsAreAskedOnce() {
        const Scenario scenario = question("gemmini-like", "bert-base", 64);
        BudgetOptions options;
        options.full = "npu-tile";
        const BudgetAnswer answer = spend(scenario, options);
        for (const BudgetAsked& each : answer.asked) QVERIFY(each.kernels <= answer.kernels);
        QVERIFY(answer.launches > 5 * double(answer.kernels));  // twelve equal layers
        QVERIFY(answer.statedEach > 5 * answer.statedOnce);
    }

    // Also a method that is too slow to stand among those that are asked unless told.
    void whoIsNamedIsAsked() {
        const Scenario scenario = question("a100-80-sxm", "llama-2-7b", 128);
        for (const char* full : {"gpu-cycle", "gpu-cycle(seconds=1)"}) {
            BudgetOptions options;
            options.full = full;
            options.to = 10;  // what cheap methods say is enough
            const BudgetAnswer answer = spend(scenario, options);
            QVERIFY2(answer.estimate.method == fmt::format("budget({})", full), answer.estimate.method.c_str());
        }
    }

    void sameQuestionSameBytes() {
        const Scenario scenario = question("gemmini-like", "resnet-50");
        const auto bytes = [&] {
            BudgetOptions options;
            options.to = 0.05;
            options.clock = [now = 0.0]() mutable { return now += 1e-3; };
            return budgetJson(scenario, spend(scenario, options));
        };
        const std::string once = bytes();
        QCOMPARE(bytes(), once);
    }

    void aBudgetIsKept() {
        const Scenario scenario = question("gemmini-like", "resnet-50");
        // A clock that takes a second for each answer: after the cheap answers hardly any time is left.
        BudgetOptions options;
        options.full = "npu-tile";
        options.methods = {"data-centric", "npu-tile"};
        options.within = 40;
        options.clock = [now = 0.0]() mutable { return now += 0.5; };
        const BudgetAnswer answer = spend(scenario, options);
        QVERIFY(!answer.complete);
        QVERIFY(answer.seconds <= 42);
        QVERIFY(!answer.ended.empty());
        options.within.reset();
        options.to = 0.2;
        const BudgetAnswer narrow = spend(scenario, options);
        const auto& e = narrow.estimate;
        QVERIFY((e.interval.high.value - e.interval.low.value) / 2 / e.latency.value <= 0.2 + 1e-12);
        QVERIFY(narrow.steps.back().kernels < narrow.kernels);
    }

    // Where there is time for it many times over, nobody else is asked about every kernel first: the answer costs what
    // its cards state of choosing it and of full fidelity, and the sampled form is spared.
    void whatFitsWellIsAskedAtOnce() {
        const Scenario scenario = question("gemmini-like", "resnet-50");
        BudgetOptions options;
        options.full = "npu-tile";
        options.within = 10;
        const BudgetAnswer named = spend(scenario, options);
        QVERIFY(named.complete);
        QVERIFY2(named.stated < 1.1 * named.statedOnce, qPrintable(QString::number(named.stated / named.statedOnce)));
        options.within = 0.015;  // full fidelity states 9 ms: no margin, so its samples come first
        options.clock = [now = 0.0]() mutable { return now += 1e-6; };  // stated costs decide, not a busy machine
        const BudgetAnswer hasty = spend(scenario, options);
        QVERIFY(std::ranges::any_of(hasty.asked, [](const BudgetAsked& each) {
            return each.method == "npu-tile(sample=tiles)" && each.kernels == 30;
        }));
    }
    // A word that is as sure as was asked for is not tried against others whose trials cost more than its whole answer.
    void trialsCostLessThanTheAnswer() {
        const Scenario scenario = question("gemmini-like", "resnet-50");
        BudgetOptions options;
        options.to = 0.05;
        const BudgetAnswer answer = spend(scenario, options);
        QVERIFY(half(answer.steps.back()) <= 0.05);
        QVERIFY2(answer.stated < answer.statedOnce, qPrintable(QString::number(answer.stated / answer.statedOnce)));
    }
    void oneAnswerCountsOnce() {
        std::vector<SavingsCase> cases(4);
        for (auto& each : cases) each.question = "a", each.asked = 3, each.inside = true;
        cases.push_back({.question = "a", .asked = 5, .inside = false});
        cases.push_back({.question = "b", .asked = 3, .inside = true});
        const SavingsCount count = differentAnswers(cases);
        QCOMPARE(count.answers, std::size_t{3});
        QCOMPARE(count.inside, std::size_t{2});
    }

    void whatCannotBeDoneIsSaid() {
        const auto executor = makeSerialExecutor();
        BudgetOptions options;
        options.executor = executor.get();
        const Scenario scenario = question("gemmini-like", "bert-base", 32);
        options.full = "roofline";  // prices operators, not kernels
        auto answer = answerWithin(scenario, options);
        QVERIFY(!answer);
        QCOMPARE(QString::fromStdString(answer.error().code), QString("budget.no-method"));
        options.full.clear();
        options.within = -1;
        answer = answerWithin(scenario, options);
        QVERIFY(!answer && answer.error().code == "budget.bad-limit");
        options.within.reset();
        Scenario one = scenario;
        one.task = OneOperator{"layers.o_proj"};
        answer = answerWithin(one, options);
        QVERIFY(!answer && answer.error().code == "budget.system");
        std::stop_source stop;
        stop.request_stop();
        options.stop = stop.get_token();
        answer = answerWithin(scenario, options);
        QVERIFY(!answer && answer.error().code == "study.cancelled");
    }

    // One answer stays itself; of two alike the middle; a bound weighs nothing and nothing lies below it.
    void answersCombine() {
        Estimate a;
        a.latency = Seconds(1.0);
        a.interval = {Seconds(0.8), Seconds(1.25), IntervalKind::StatedError, "made"};
        Estimate b = a;
        b.latency = Seconds(1.21), b.interval.low = Seconds(0.968), b.interval.high = Seconds(1.5125);
        Estimate bound = a;
        bound.latency = Seconds(0.5), bound.bound = Seconds(0.5);
        bound.interval = {Seconds(0.5), Seconds(9.0), IntervalKind::Bound, "made"};
        const Estimate* one[] = {&a};
        auto made = combineAnswers(one);
        QVERIFY(made && std::abs(made->latency - 1.0) < 1e-12);
        QVERIFY(std::abs(made->low - 0.8) < 1e-12 && std::abs(made->high - 1.25) < 1e-12);
        const Estimate* three[] = {&bound, &a, &b};
        made = combineAnswers(three);
        QVERIFY(made && std::abs(made->latency - 1.1) < 1e-9);
        QCOMPARE(made->weights[0], 0.0);
        QVERIFY(std::abs(made->weights[1] + made->weights[2] - 1) < 1e-12);
        QCOMPARE(made->spread, 0.0);  // 21 % apart, and each says 25 %: their own intervals explain that
        // By hand: each is ln 1.1 from the middle, 0.04 of which it states.
        Estimate sure = a, other = b;
        sure.interval.low = Seconds(std::exp(-0.04)), sure.interval.high = Seconds(std::exp(0.04));
        other.interval.low = Seconds(1.21 * std::exp(-0.04)), other.interval.high = Seconds(1.21 * std::exp(0.04));
        const Estimate* contradict[] = {&sure, &other};
        made = combineAnswers(contradict);
        QVERIFY(std::abs(made->spread - 1.644854 * (std::log(1.1) - 0.04)) < 1e-6);
        // Who states a factor of twenty either way contradicts nobody.
        Estimate vague = a;
        vague.latency = Seconds(6), vague.interval.low = Seconds(0.3), vague.interval.high = Seconds(120);
        const Estimate* unsure[] = {&sure, &vague};
        made = combineAnswers(unsure);
        QVERIFY(made->low > 0.95 && made->high < 1.06);
        bound.bound = Seconds(1.3);
        made = combineAnswers(three);
        QVERIFY(made->latency >= 1.3);
        const Estimate* none[] = {nullptr, &bound};
        QVERIFY(!combineAnswers(none));
        // Far apart: the sides say so.
        b.latency = Seconds(3.0), b.interval.low = Seconds(2.4), b.interval.high = Seconds(3.75);
        const Estimate* apart[] = {&a, &b};
        made = combineAnswers(apart);
        QVERIFY(made->spread > 0.5 && made->low < 1.0 && made->high > 3.0);
    }

    void ladderGoesFromCheapToDear() {
        const Scenario scenario = question("gemmini-like", "bert-base", 32);
        const auto executor = makeSerialExecutor();
        LadderOptions options;
        options.executor = executor.get();
        int seen = 0;
        options.onStep = [&](const LadderStep&) { ++seen; };
        const LadderAnswer ladder = climbLadder(scenario, options);
        QCOMPARE(std::size_t(seen), ladder.steps.size());
        double before = 0;
        int answers = 0;
        for (const LadderStep& step : ladder.steps) {
            if (step.stated) {
                QVERIFY(*step.stated >= before);
                before = *step.stated;
            }
            if (!step.estimate) continue;
            ++answers;
            if (step.soFar) QVERIFY(step.soFar->low <= step.soFar->latency && step.soFar->latency <= step.soFar->high);
        }
        QVERIFY(answers >= 4);
        QVERIFY(ladder.last() && ladder.last()->soFar);
        double weight = 0;
        for (const double w : ladder.last()->soFar->weights) weight += w;
        QVERIFY(std::abs(weight - 1) < 1e-9);
        options.within = 1e-9;
        const LadderAnswer none = climbLadder(scenario, options);
        QVERIFY(!none.notAsked.empty());
    }

    // Shares are of one whole; the operator that is widest comes first; √N ≤ what is stated.
    void widthsAreShared() {
        const Scenario scenario = question("h100-sxm", "gpt-2", 256);
        const auto executor = makeSerialExecutor();
        EstimateContext context{*executor};
        const auto answer = estimate(*findMethod("tile-hybrid"), scenario, context);
        QVERIFY(answer);
        const WidthShares shares = widthShares(*answer);
        QVERIFY(!shares.operators.empty());
        double sum = 0, before = 1;
        for (const WidthShare& each : shares.operators) {
            QVERIFY(each.share <= before + 1e-12 && each.half <= shares.half * (1 + 0.05));
            before = each.share;
            sum += each.share;
        }
        QVERIFY(std::abs(sum - 1) < 1e-9);
        QVERIFY(shares.independent <= shares.common);
        // By hand: two operators, sides 3 and 4 of 10, errors by themselves.
        Estimate two;
        two.latency = Seconds(10);
        two.interval = {Seconds(7.5), Seconds(12.5), IntervalKind::StatedError, "made"};
        two.operators.seconds = {5, 5};
        two.operators.lowSeconds = {3.5, 3};
        two.operators.highSeconds = {6.5, 7};
        const WidthShares hand = widthShares(two);
        QVERIFY(std::abs(hand.correlation) < 1e-9);
        QCOMPARE(hand.operators.front().op, 1);
        QVERIFY(std::abs(hand.operators.front().share - 4.0 / 6.25) < 1e-9);
        QVERIFY(std::abs(hand.operators.front().half - 0.15) < 1e-9);
    }

    // What the handbook says of sums, passes, steps and runs is what `orrery-cli fidelity --growth` finds on the rows
    // that ship.
    void theHandbookSaysHowErrorsGrow() {
        QFile file(ORRERY_SOURCE "/resources/handbook/fidelity.md");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString page = QString::fromUtf8(file.readAll());
        static const QRegularExpression sentence(
            "the errors of `roofline` are common by ([\\d.]+) .*, those of `tile-hybrid` by ([\\d.]+) ");
        const auto said = sentence.match(page.simplified());
        QVERIFY(said.hasMatch());
        const std::map<std::string, double> common{{"roofline", said.captured(1).toDouble()},
                                                   {"tile-hybrid", said.captured(2).toDouble()}};
        const auto executor = makeDefaultExecutor();
        EvaluateOptions options;
        options.executor = executor.get();
        std::vector<ReferenceTable> tables = shippedReferences();
        auto serving = readReferences(std::vector{presetsFolder() + "/serving/published-offline.yaml"});
        QVERIFY2(serving, serving ? "" : toText(serving.error()).c_str());
        std::move(serving->begin(), serving->end(), std::back_inserter(tables));
        const auto rows = selectRows(tables);
        const auto percent = [](double share) { return QString("%1 %").arg(100 * share, 0, 'f', 1); };
        std::size_t checked = 0;
        for (const char* method :
             {"tile-hybrid", "tile-wave", "interval-analysis", "hierarchical-roofline", "roofline"}) {
            const auto judged = evaluate(*findMethod(method), tables, rows, options);
            QVERIFY2(judged, judged ? "" : toText(judged.error()).c_str());
            const ErrorGrowth found = errorGrowth(*judged, tables, 0.5);
            if (const auto known = common.find(method); known != common.end())
                QVERIFY2(std::abs(found.correlation - known->second) < 0.006,
                         qPrintable(QString("%1: %2").arg(method).arg(found.correlation)));
            const auto sum = std::ranges::find(found.points, std::size_t{32}, &GrowthPoint::kernels);
            QVERIFY(sum != found.points.end());
            QStringList cells{QString("`%1`").arg(method), percent(found.points.front().measured),
                              percent(sum->measured), percent(sum->independent), percent(sum->common)};
            for (const TaskKind task : {TaskKind::Pass, TaskKind::TrainingStep, TaskKind::ServingRun}) {
                const auto level = std::ranges::find(found.levels, task, &LevelPoint::task);
                cells << (level == found.levels.end() ? QStringLiteral("–") : percent(level->measured));
            }
            const QString line = "| " + cells.join(" | ") + " |";
            QVERIFY2(page.contains(line), qPrintable(line));
            ++checked;
        }
        QCOMPARE(checked, std::size_t{5});
    }

    void adviceQuotesWhatIsThere() {
        const auto executor = makeSerialExecutor();
        AdviceOptions options;
        options.executor = executor.get();
        options.trial = 0.05;
        AdviceQuestion asked{question("a100-80-sxm", "llama-2-7b", 512)};
        auto advice = adviseOn(asked, options);
        QVERIFY(advice);
        QCOMPARE(advice->methods.size(), builtinMethods().size());
        bool any = false, quoted = false;
        for (const Advice& each : advice->methods) {
            QVERIFY2(!each.reasons.empty(), each.method.c_str());
            if (each.verdict == AdviceVerdict::Recommended) {
                any = true;
                QVERIFY(each.answer && !each.failureMode.empty());
            }
            if (each.verdict == AdviceVerdict::Recommended && !each.evidence.empty()) {
                quoted = true;
                QVERIFY(each.evidence.front().rows > 0 && each.evidence.front().rows <= advice->rows);
            }
        }
        QVERIFY(any && quoted);
        // Ranked on the same rows for all, and nobody who was never compared stands before one who was.
        QVERIFY(advice->commonRows >= 8 && advice->comparable >= 2);
        double least = 1e300;
        for (const Advice& each : advice->methods)
            if (each.comparedError) least = std::min(least, *each.comparedError);
        std::size_t ranked = 0;
        for (const Advice& each : advice->methods) {
            const bool recommended = each.verdict == AdviceVerdict::Recommended;
            QVERIFY2(!recommended || each.comparedError, each.method.c_str());
            if (!each.comparedError) continue;
            ++ranked;
            QVERIFY(each.evidence.front().rows >= advice->commonRows);
            QCOMPARE(recommended, *each.comparedError <= 1.25 * least);
        }
        QCOMPARE(ranked, advice->comparable);
        // The same by hand: each of them on the rows that all price.
        std::vector<Contestant> named;
        for (const Advice& each : advice->methods)
            if (each.comparedError) named.push_back({each.method, *findMethod(each.method), {}});
        std::vector<RowRef> ours;
        const auto& tables = shippedReferences();
        for (const RowRef ref : selectRows(tables, *parseFilter("device=a100-80-sxm"))) {
            const auto& row = tables[std::size_t(ref.table)].rows[std::size_t(ref.row)];
            if (std::ranges::find(advice->kinds, std::string(toText(row.kernel.kind))) != advice->kinds.end())
                ours.push_back(ref);
        }
        EvaluateOptions evaluating;
        evaluating.executor = executor.get();
        const auto together = judgeSideBySide(named, tables, ours, evaluating);
        QVERIFY2(together, together ? "" : toText(together.error()).c_str());
        QCOMPARE(together->common.size(), advice->commonRows);
        for (const JudgedMethod& method : together->methods)
            for (const Advice& each : advice->methods)
                if (each.method == method.asked)
                    QVERIFY(std::abs(*each.comparedError - method.common.figures.errors.mape) < 1e-12);
        // Files and traces only with data at hand.
        const auto verdictOf = [&](const char* id) {
            for (const Advice& each : advice->methods)
                if (each.method == id) return each.verdict;
            return AdviceVerdict::Refuses;
        };
        QCOMPARE(verdictOf("systolic-cycle"), AdviceVerdict::Refuses);
        asked.within = 1e-6;
        advice = adviseOn(asked, options);
        QVERIFY(advice);
        QCOMPARE(verdictOf("tile-hybrid"), AdviceVerdict::TooSlow);
        // A latency that nobody's interval reaches is decided by all.
        asked.within.reset();
        asked.latency = 1e6;
        advice = adviseOn(asked, options);
        for (const Advice& each : advice->methods)
            if (each.verdict == AdviceVerdict::Recommended) QCOMPARE(each.decides, std::string("below"));
    }
};

QTEST_GUILESS_MAIN(TestFidelity)
#include "tst_fidelity.moc"
