// The closed form of a training step against the run, plan by plan.

#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "methods/system/training/estimate_training.h"
#include "methods/system/training/step_model.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <chrono>
#include <map>

using namespace orrery;

namespace {

HardwarePtr drawn(const char* preset) {
    static std::map<std::string, HardwarePtr, std::less<>> known;
    HardwarePtr& its = known[preset];
    if (!its) {
        auto found = loadHardware(preset);
        if (!found) qFatal("%s", toText(found.error()).c_str());
        its = std::make_shared<const Hardware>(std::move(found->hardware));
    }
    return its;
}

WorkloadPtr trained(const char* model, std::int64_t batch, std::int64_t sequence) {
    WorkloadRecipe recipe;
    recipe.source = model;
    recipe.options.batch = batch;
    recipe.options.sequence = sequence;
    recipe.options.phase = Phase::TrainingForward;
    auto workload = loadWorkload(recipe);
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    return *workload;
}

struct Case {
    const char *preset, *model;
    std::int64_t batch, sequence;
    const char* method = "tile-wave";
};

std::shared_ptr<const StepModel> modelOf(const Case& asked, EstimateContext& context) {
    auto made = StepModel::make(*findMethod(asked.method),
                                {drawn(asked.preset), trained(asked.model, asked.batch, asked.sequence), {},
                                 TrainingStep{}},
                                context);
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return *made;
}

Expected<Estimate> ran(const StepModel& model, const StepPlan& plan, EstimateContext& context) {
    Scenario scenario = model.scenario();
    scenario.plan = plan.plan;
    scenario.task = TrainingStep{Optimizer::Adam, plan.recompute};
    return estimateTrainingStep(model.method(), scenario, context);
}

StepPlan randomPlan(RandomStream& random, const Case& asked, std::int64_t drawnDevices) {
    const auto pick = [&](std::initializer_list<std::int64_t> list) {
        return list.begin()[random.below(list.size())];
    };
    for (;;) {
        StepPlan made;
        Plan& plan = made.plan;
        plan.tensor = pick({1, 2, 4, 8});
        plan.pipeline = pick({1, 1, 2, 3, 4, 8});
        plan.context = pick({1, 1, 1, 2});
        plan.data = pick({1, 1, 2, 4, 8, 16});
        plan.interleave = plan.pipeline > 1 ? pick({1, 1, 1, 2, 3}) : 1;
        plan.zero = pick({0, 1, 2, 3});
        plan.sequence = plan.tensor > 1 ? pick({0, 1}) : 0;
        const std::int64_t size = pick({1, 2, 4});
        if (asked.batch % (plan.data * size) != 0) continue;
        plan.microbatches = asked.batch / plan.data / size;
        if (plan.microbatches > 64 || plan.devices() > drawnDevices) continue;
        if (plan.interleave > 1 && plan.microbatches % plan.pipeline != 0) continue;
        made.recompute = static_cast<Recompute>(random.below(3));
        return made;
    }
}

}  // namespace

class TstStepModel : public QObject {
    Q_OBJECT
private slots:
    void asTheRun();
};

void TstStepModel::asTheRun() {
    const Case cases[] = {{"dgx-a100-superpod", "gpt-3-175b", 64, 2048},
                          {"dgx-h100-superpod", "llama-3-8b", 32, 4096},
                          {"dgx-h100-superpod", "llama-3-70b", 64, 4096}};
    const int many = qEnvironmentVariableIntValue("ORRERY_PLANS") > 0 ? qEnvironmentVariableIntValue("ORRERY_PLANS") : 8;
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.wantTimeline = false;
    double sum = 0, worst = 0;
    int count = 0;
    for (const Case& asked : cases) {
        const auto model = modelOf(asked, context);
        RandomStream random(7, static_cast<std::uint64_t>(asked.batch));
        for (int i = 0; i < many; ++i) {
            const StepPlan plan = randomPlan(random, asked, 512);
            const auto closed = model->figures(plan);
            const auto run = ran(*model, plan, context);
            if (closed.has_value() != run.has_value())
                QFAIL(fmt::format("{}: {}", toText(plan), toText(closed ? run.error() : closed.error())).c_str());
            if (!closed) {
                QCOMPARE(QString::fromStdString(closed.error().code), QString::fromStdString(run.error().code));
                continue;
            }
            const double error = closed->seconds / run->latency.value - 1;
            sum += std::abs(error);
            worst = std::max(worst, std::abs(error));
            ++count;
            qInfo("%s %s: %.4f s run, %.4f s, %+.2f %%; low %+.2f high %+.2f bound %+.2f", asked.model, toText(plan).c_str(), run->latency.value,
                  closed->seconds, 100 * error, 100*(closed->low/run->interval.low.value-1), 100*(closed->high/run->interval.high.value-1), 100*(closed->bound/run->bound->value-1));
            const double held = run->memory->total().value;
            QVERIFY2(std::abs(closed->needs / held - 1) < 1e-6,
                     fmt::format("{}: {} B, {} B", toText(plan), closed->needs, held).c_str());
        }
    }
    qInfo("%d plans, mean %.2f %%, worst %.2f %%", count, 100 * sum / count, 100 * worst);
}

QTEST_APPLESS_MAIN(TstStepModel)
#include "tst_step_model.moc"
