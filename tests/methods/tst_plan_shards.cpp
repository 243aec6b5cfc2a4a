// Hybrid shards: sets of copies that share by ZeRO, run and in closed form.

#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "methods/system/training/estimate_training.h"
#include "methods/system/training/step_model.h"
#include "methods/system/training/training_program.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>

using namespace orrery;

namespace {

std::shared_ptr<const StepModel> shardModel(const char* preset, const char* model, std::int64_t batch,
                                            EstimateContext& context) {
    auto hardware = loadHardware(preset);
    if (!hardware) qFatal("%s", toText(hardware.error()).c_str());
    WorkloadRecipe recipe;
    recipe.source = model;
    recipe.options.batch = batch;
    recipe.options.sequence = 2048;
    recipe.options.phase = Phase::TrainingForward;
    const auto workload = loadWorkload(recipe);
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    auto made = StepModel::make(
        *findMethod("tile-wave"),
        {std::make_shared<const Hardware>(std::move(hardware->hardware)), *workload, {}, TrainingStep{}}, context);
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return *made;
}

struct Both {
    double run = 0, closed = 0, runBytes = 0, closedBytes = 0;
};

Both answers(const StepModel& model, const std::string& text, EstimateContext& context) {
    const auto plan = parsePlan(text);
    if (!plan) qFatal("%s", toText(plan.error()).c_str());
    Scenario scenario = model.scenario();
    scenario.plan = *plan;
    const auto ran = estimateTrainingStep(model.method(), scenario, context);
    if (!ran) qFatal("%s", toText(ran.error()).c_str());
    const auto figures = model.figures({*plan});
    if (!figures) qFatal("%s", toText(figures.error()).c_str());
    return {ran->latency.value, figures->seconds, ran->memory->total().value, figures->needs};
}

void same(double a, double b, const std::string& what) {
    QVERIFY2(std::abs(a / b - 1) < 1e-7, fmt::format("{}: {} and {}", what, a, b).c_str());
}

}  // namespace

class TstPlanShards : public QObject {
    Q_OBJECT
private slots:
    void ends();
    void asTheRun();
    void groups();
    void refused();
};

// A set of all copies is plain ZeRO; sets of one share nothing and add up their gradients as copies do.
void TstPlanShards::ends() {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.wantTimeline = false;
    const auto model = shardModel("dgx-h100-superpod", "llama-3-8b", 64, context);
    for (const char* shape : {"tp=2,dp=16,mb=2", "pp=2,dp=16,mb=4", "pp=2,dp=8,mb=8,sched=zero-bubble",
                              "pp=2,dp=8,mb=8,sched=dualpipe", "tp=4,pp=2,vp=2,dp=8,mb=4", "dp=16,mb=2,sched=gpipe"}) {
        const Both plain = answers(*model, shape, context);
        for (int zero = 1; zero <= 3; ++zero) {
            const std::string said = fmt::format("{},zero={}", shape, zero);
            const std::int64_t copies = parsePlan(shape)->data;
            const Both shared = answers(*model, said, context),
                       all = answers(*model, fmt::format("{},shard={}", said, copies), context),
                       one = answers(*model, said + ",shard=1", context),
                       half = answers(*model, said + ",shard=4", context);
            same(all.run, shared.run, said);
            same(all.closed, shared.closed, said);
            same(all.runBytes, shared.runBytes, said);
            const bool pairs = parsePlan(shape)->schedule == PipelineSchedule::DualPipe;  // a pair still shares
            if (!pairs) same(one.run, plain.run, said);
            if (!pairs) same(one.closed, plain.closed, said);
            if (!pairs) same(one.runBytes, plain.runBytes, said);
            for (const Both& each : {all, one, half}) same(each.closedBytes, each.runBytes, said);
            QVERIFY2(half.runBytes > shared.runBytes && half.runBytes < one.runBytes, said.c_str());
        }
    }
}

void TstPlanShards::asTheRun() {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.wantTimeline = false;
    double sum = 0, worst = 0;
    int count = 0;
    for (const char* name : {"llama-3-8b", "mixtral-8x7b"}) {
        const auto model = shardModel("dgx-h100-superpod", name, 64, context);
        RandomStream random(5);
        const auto pick = [&](std::initializer_list<std::int64_t> list) {
            return list.begin()[random.below(list.size())];
        };
        for (int i = 0; i < 24;) {
            Plan plan;
            plan.tensor = pick({1, 2, 4});
            plan.pipeline = pick({1, 1, 2, 4});
            plan.context = pick({1, 1, 2});
            plan.data = pick({4, 8, 16, 32});
            plan.shard = pick({2, 4, 8});
            plan.zero = pick({1, 2, 3});
            plan.microbatches = 64 / plan.data / pick({1, 2});
            if (plan.pipeline > 1) plan.schedule = static_cast<PipelineSchedule>(pick({0, 0, 1, 2}));
            if (name == std::string_view("mixtral-8x7b")) plan.expert = pick({1, 4, 8});
            if (plan.tensor % plan.expert != 0 && plan.expert % plan.tensor != 0) continue;
            if (plan.microbatches < 1 || plan.shard >= plan.data || plan.devices() > 256 || !checkPlan(plan)) continue;
            ++i;
            const std::string said = toText(plan);
            const Both its = answers(*model, said, context);
            const double error = its.closed / its.run - 1;
            if (std::abs(error) > 0.01) qInfo("%s %s: %+.2f %%", name, said.c_str(), 100 * error);
            same(its.closedBytes, its.runBytes, said);
            sum += std::abs(error), worst = std::max(worst, std::abs(error)), ++count;
        }
    }
    qInfo("%d plans, mean %.2f %%, worst %.2f %%", count, 100 * sum / count, 100 * worst);
    QVERIFY(sum / count < 0.01 && worst < 0.1);
}

// Sets stand beside each other: who shares is near, who adds up is far.
void TstPlanShards::groups() {
    const auto plan = parsePlan("tp=2,pp=2,dp=8,zero=3,shard=4");
    QVERIFY(plan);
    QCOMPARE(membersOf(ProgramGroup::Gradients, *plan, 1), (std::vector<std::int32_t>{1, 3, 5, 7}));
    QCOMPARE(membersOf(ProgramGroup::Replicas, *plan, 1), (std::vector<std::int32_t>{1, 9}));
    QCOMPARE(membersOf(ProgramGroup::Replicas, *plan, 19), (std::vector<std::int32_t>{19, 27}));
    const auto experts = parsePlan("tp=2,dp=8,ep=4,zero=3,shard=4");
    QVERIFY(experts);
    QCOMPARE(membersOf(ProgramGroup::ExpertGradients, *experts, 9), (std::vector<std::int32_t>{9, 13}));
    for (const ProgramGroup group : {ProgramGroup::Gradients, ProgramGroup::ExpertGradients, ProgramGroup::Replicas})
        QCOMPARE(programGroupOf(fmt::format("{} 3", toText(group))), group);
}

void TstPlanShards::refused() {
    for (const char* wrong :
         {"dp=8,shard=4", "dp=8,zero=3,shard=3", "dp=8,zero=3,shard=16", "dp=8,ep=8,zero=1,shard=4"}) {
        const auto plan = parsePlan(wrong);
        QVERIFY2(!plan && plan.error().code == "plan.shard" && !plan.error().hint.empty(), wrong);
    }
    const auto sign = parsePlan("dp=8,zero=3,shard=-1");
    QVERIFY(!sign && sign.error().code == "plan.value");
    QCOMPARE(toText(*parsePlan("dp=8,zero=3,shard=4")), std::string("dp=8,zero=3,shard=4"));
}

QTEST_APPLESS_MAIN(TstPlanShards)
#include "tst_plan_shards.moc"
