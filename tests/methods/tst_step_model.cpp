// The closed form of a training step against the run, plan by plan.

#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "methods/system/training/estimate_training.h"
#include "methods/system/training/pipeline_law.h"
#include "methods/system/training/step_model.h"
#include "methods/system/training/training_program.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

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
    const char* stack = "kernels";
};

std::shared_ptr<const StepModel> modelOf(const Case& asked, EstimateContext& context) {
    context.options["stack"] = asked.stack;
    auto made = StepModel::make(
        *findMethod(asked.method),
        {drawn(asked.preset), trained(asked.model, asked.batch, asked.sequence), {}, TrainingStep{}}, context);
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
    const auto pick = [&](std::initializer_list<std::int64_t> list) { return list.begin()[random.below(list.size())]; };
    for (;;) {
        StepPlan made;
        Plan& plan = made.plan;
        plan.tensor = pick({1, 2, 4, 8});
        plan.pipeline = pick({1, 1, 2, 3, 4, 8});
        plan.context = pick({1, 1, 1, 2});
        plan.data = pick({1, 1, 2, 4, 8, 16});
        plan.interleave = plan.pipeline > 1 ? pick({1, 1, 1, 2, 3, 8}) : 1;
        if (plan.pipeline > 1 && plan.interleave == 1)
            plan.schedule = static_cast<PipelineSchedule>(pick({0, 0, 0, 1, 2, 3}));
        plan.zero = pick({0, 1, 2, 3});
        plan.sequence = plan.tensor > 1 ? pick({0, 1}) : 0;
        if (asked.model == std::string_view("mixtral-8x7b")) plan.expert = pick({1, 2, 4, 8});
        if (plan.tensor % plan.expert != 0 && plan.expert % plan.tensor != 0) continue;
        const std::int64_t size = pick({1, 2, 4});
        if (asked.batch % (plan.data * size) != 0) continue;
        plan.microbatches = asked.batch / plan.data / size;
        if (plan.microbatches > 64 || plan.devices() > drawnDevices) continue;
        if (plan.interleave > 1 && plan.microbatches % plan.pipeline != 0) continue;
        if (!scheduleOf(plan, 0, plan.microbatches) || !checkPlan(plan)) continue;
        made.recompute = static_cast<Recompute>(random.below(3));
        return made;
    }
}

/// When the last turn ends, every turn after those that it waits for.
double turnByTurn(const Plan& plan, std::int64_t m, const std::vector<Sides>& forward,
                  const std::vector<Sides>& backward, const std::vector<Sides>& weights, double message) {
    const std::int64_t stages = plan.pipeline, chunks = stages * plan.interleave;
    std::vector<std::vector<ScheduleStep>> turns;
    for (std::int64_t s = 0; s < stages; ++s) turns.push_back(*scheduleOf(plan, s, m));
    std::map<std::tuple<std::int64_t, int, bool>, double> done;
    std::vector<double> now(static_cast<std::size_t>(stages), 0.0);
    std::vector<std::size_t> next(now.size(), 0);
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t s = 0; s < now.size(); ++s) {
            while (next[s] < turns[s].size()) {
                const ScheduleStep& step = turns[s][next[s]];
                const std::int64_t chunk = step.chunk * stages + static_cast<std::int64_t>(s);
                const std::int64_t from = step.forward ? chunk - 1 : chunk + 1;
                double ready = 0, takes = (step.forward ? forward : backward)[static_cast<std::size_t>(chunk)].likely();
                if (step.gradients == TurnGradients::Weights) {
                    now[s] += weights[static_cast<std::size_t>(chunk)].likely();
                    ++next[s];
                    continue;
                }
                if (step.gradients == TurnGradients::Inputs) takes -= weights[static_cast<std::size_t>(chunk)].likely();
                if (from >= 0 && from < chunks) {
                    const auto at = done.find({from, step.microbatch, step.forward});
                    if (at == done.end()) break;
                    ready = at->second + message;
                }
                now[s] = std::max(now[s], ready) + takes;
                done[{chunk, step.microbatch, step.forward}] = now[s];
                ++next[s];
                moved = true;
            }
        }
    }
    return *std::max_element(now.begin(), now.end());
}

}  // namespace

class TstStepModel : public QObject {
    Q_OBJECT
private slots:
    void asTheRun();
    void turnsOfAPipeline();
    void asAMethod();
    void publishedSteps();
};

void TstStepModel::asTheRun() {
    const Case cases[] = {{"dgx-a100-superpod", "gpt-3-175b", 64, 2048},
                          {"dgx-h100-superpod", "llama-3-8b", 32, 4096},
                          {"dgx-h100-superpod", "llama-3-70b", 64, 4096},
                          {"dgx-h100-superpod", "mixtral-8x7b", 32, 4096},
                          {"dgx-h100-superpod", "llama-3-8b", 32, 4096, "tile-wave", "llm-foundry"},
                          {"dgx-h100-superpod", "llama-3-8b", 32, 4096, "tile-wave", "megatron-core"}};
    const int many =
        qEnvironmentVariableIntValue("ORRERY_PLANS") > 0 ? qEnvironmentVariableIntValue("ORRERY_PLANS") : 12;
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.wantTimeline = false;
    double sum = 0, worst = 0, worstUneven = 0;
    int count = 0;
    for (const Case& asked : cases) {
        const auto model = modelOf(asked, context);
        const auto layers = asked.model == std::string_view("gpt-3-175b") ? 96 : asked.batch == 32 ? 32 : 80;
        RandomStream random(7, static_cast<std::uint64_t>(layers));
        for (int i = 0; i < many; ++i) {
            const StepPlan plan = randomPlan(random, asked, 512);
            const auto closed = model->figures(plan);
            const auto run = ran(*model, plan, context);
            const std::string said = toText(plan);
            if (closed.has_value() != run.has_value())
                QFAIL(fmt::format("{}: {}", said, toText(closed ? run.error() : closed.error())).c_str());
            if (!closed) {
                QCOMPARE(QString::fromStdString(closed.error().code), QString::fromStdString(run.error().code));
                continue;
            }
            const double error = std::abs(closed->seconds / run->latency.value - 1);
            const bool uneven =
                (plan.plan.interleave > 1 && layers % (plan.plan.pipeline * plan.plan.interleave) != 0) ||
                plan.plan.schedule == PipelineSchedule::DualPipe;
            (uneven ? worstUneven : worst) = std::max(uneven ? worstUneven : worst, error);
            sum += error;
            ++count;
            if (error > 0.01)
                qInfo("%s %s: %.4f s run, %.4f s, %+.2f %%", asked.model, said.c_str(), run->latency.value,
                      closed->seconds, 100 * (closed->seconds / run->latency.value - 1));
            QVERIFY2(std::abs(closed->needs / run->memory->total().value - 1) < 1e-6, said.c_str());
            // One stage whose gradients nobody shares has neither bubbles nor anything to hide.
            const bool plain = plan.plan.pipeline == 1 && plan.plan.data * plan.plan.context == 1;
            if (plain) QVERIFY2(error < 1e-6, said.c_str());
            if (plain) QVERIFY2(std::abs(closed->low / run->interval.low.value - 1) < 1e-6, said.c_str());
            QVERIFY2(closed->bound <= closed->seconds && closed->low <= closed->seconds, said.c_str());
            QVERIFY2(closed->seconds >= closed->compute && closed->seconds <= closed->high, said.c_str());
            const double parts = closed->compute + closed->bubble + closed->tensor + closed->context + closed->expert +
                                 closed->pipeline + closed->data + closed->optimizer;
            QVERIFY2(std::abs(parts / closed->seconds - 1) < 1e-6, fmt::format("{}: {}", said, parts).c_str());
            for (const double part : {closed->bubble, closed->tensor, closed->pipeline, closed->data})
                QVERIFY2(part >= 0, said.c_str());
        }
    }
    qInfo("%d plans, mean %.2f %%, worst %.2f %%, of uneven chunks and from both ends %.2f %%", count,
          100 * sum / count, 100 * worst, 100 * worstUneven);
    QVERIFY(sum / count < 0.01);
    QVERIFY(worst < 0.05);
    QVERIFY(worstUneven < 0.1);
}

// The law of schedules against their turns, for stages that are not alike and messages that take their time.
void TstStepModel::turnsOfAPipeline() {
    RandomStream random(11);
    double worst[4] = {0, 0, 0, 0};
    for (int i = 0; i < 800; ++i) {
        Plan plan;
        plan.pipeline = 2 + static_cast<std::int64_t>(random.below(7));
        plan.interleave = i % 4 == 1 ? 2 + static_cast<std::int64_t>(random.below(3)) : 1;
        if (i % 4 == 2) plan.schedule = PipelineSchedule::GPipe;
        if (i % 4 == 3) plan.schedule = PipelineSchedule::ZeroBubble;
        const std::int64_t m = plan.pipeline * (1 + static_cast<std::int64_t>(random.below(6))) +
                               (plan.interleave > 1 ? 0 : static_cast<std::int64_t>(random.below(5)));
        const auto chunks = static_cast<std::size_t>(plan.pipeline * plan.interleave);
        const double layers = 1 + static_cast<double>(random.below(4)), message = 0.2 * random.uniform();
        std::vector<Sides> forward(chunks), backward(chunks), weights(chunks);
        for (std::size_t c = 0; c < chunks; ++c) {
            const double extra = c == 0 ? 0.1 * random.uniform() : c + 1 == chunks ? random.uniform() : 0;
            forward[c].at.fill(layers + extra);
            backward[c].at.fill(2 * (layers + extra));
            weights[c].at.fill(0.9 * (layers + extra));
        }
        Sides sent;
        sent.at.fill(message);
        const double law = pipelineSeconds({.forward = forward,
                                            .backward = backward,
                                            .weights = weights,
                                            .messages = std::span(&sent, 1),
                                            .stages = plan.pipeline,
                                            .microbatches = m},
                                           plan)
                               .likely();
        const double turns = turnByTurn(plan, m, forward, backward, weights, message);
        double& its = worst[i % 4];
        its = std::max(its, std::abs(law / turns - 1));
        QVERIFY2(std::abs(law / turns - 1) < (plan.interleave > 1 ? 0.04 : 0.03),
                 fmt::format("{}, {} micro-batches: {} for {}", toText(plan), m, law, turns).c_str());
        std::int64_t kept = 0, most = 0;
        const std::int64_t stage = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(plan.pipeline)));
        const auto steps = scheduleOf(plan, stage, m);
        for (const ScheduleStep& step : *steps) most = std::max(most, kept += step.kept());
        QCOMPARE(mostInFlight(plan, stage, m), most);
    }
    qInfo("worst %.2f %%, interleaved %.2f %%, GPipe %.2f %%, ZB-H1 %.2f %%", 100 * worst[0], 100 * worst[1],
          100 * worst[2], 100 * worst[3]);
}

// The card composes any kernel method, and says what the run says of a plan without bubbles.
void TstStepModel::asAMethod() {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.options["compute"] = "tile-wave";
    const Method* closed = findMethod("closed-form-step");
    QVERIFY(closed != nullptr);
    Scenario scenario{drawn("dgx-h100-superpod"), trained("llama-3-8b", 16, 2048), *parsePlan("tp=4,mb=4"),
                      TrainingStep{}};
    const auto answer = estimate(*closed, scenario, context);
    if (!answer) QFAIL(toText(answer.error()).c_str());
    context.options.clear();
    const auto run = estimate(*findMethod("tile-wave"), scenario, context);
    QVERIFY(run.has_value());
    QVERIFY(std::abs(answer->latency / run->latency - 1) < 1e-6);
    QVERIFY(std::abs(answer->interval.high / run->interval.high - 1) < 1e-6);
    QVERIFY(std::abs(*answer->energy / *run->energy - 1) < 1e-6);
    QCOMPARE(answer->memory->total().value, run->memory->total().value);
    QCOMPARE(answer->operators.seconds.size(), run->operators.seconds.size());
    for (const char* label : {"Throughput", "Model FLOP utilisation", "Computing share"}) {
        const auto its = [&](const Estimate& of) {
            for (const Figure& figure : of.figures)
                if (figure.label == label) return figure.value;
            return 0.0;
        };
        QVERIFY2(std::abs(its(*answer) / its(*run) - 1) < 1e-6, label);
    }
    scenario.task = Pass{};
    QVERIFY(!estimate(*closed, scenario, context));
}

// Korthikanti et al. 2022, table 5: batch times on A100, six of them fitted to by the stack (training_stack.cpp).
// Calculon is 3.65 % off on the mean of the same eight, 8.9 % at most.
void TstStepModel::publishedSteps() {
    const struct {
        int layers, hidden, heads;
        std::int64_t batch;
        const char* plan;
        Recompute recompute;
        double measured;
    } rows[] = {{48, 6144, 64, 4, "tp=8,mb=1", Recompute::Full, 1.42},
                {48, 6144, 64, 4, "tp=8,mb=1,sp=1", Recompute::Selective, 1.10},
                {96, 12288, 96, 64, "tp=8,pp=8,vp=3,mb=64", Recompute::Full, 18.13},
                {96, 12288, 96, 64, "tp=8,pp=8,vp=3,mb=64,sp=1", Recompute::Selective, 13.75},
                {105, 20480, 128, 280, "tp=8,pp=35,vp=3,mb=280", Recompute::Full, 49.05},
                {105, 20480, 128, 280, "tp=8,pp=35,vp=3,mb=280,sp=1", Recompute::Selective, 37.83},
                {128, 25600, 160, 512, "tp=8,pp=64,mb=512", Recompute::Full, 94.42},
                {128, 25600, 160, 512, "tp=8,pp=64,mb=512,sp=1", Recompute::Selective, 71.49}};
    std::filesystem::create_directories(ORRERY_TEST_OUTPUT);
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.options["compute"] = "tile-hybrid(fusion=compile, stack=megatron-lm-2022)";
    double sum = 0, worst = 0;
    for (const auto& row : rows) {
        const std::string path = fmt::format("{}/closed-{}.json", ORRERY_TEST_OUTPUT, row.layers);
        std::ofstream(path) << fmt::format(
            R"({{"model_type": "gpt2", "n_layer": {}, "n_embd": {}, "n_head": {}, "n_inner": {}, "vocab_size": 51200, "n_positions": 2048, "torch_dtype": "float16"}})",
            row.layers, row.hidden, row.heads, 4 * row.hidden);
        WorkloadRecipe recipe;
        recipe.source = path;
        recipe.options.batch = row.batch;
        recipe.options.sequence = 2048;
        recipe.options.phase = Phase::TrainingForward;
        recipe.options.flashAttention = false;
        const auto workload = loadWorkload(recipe);
        QVERIFY(workload.has_value());
        const auto answer = estimate(
            *findMethod("closed-form-step"),
            {drawn("dgx-a100-superpod"), *workload, *parsePlan(row.plan), TrainingStep{Optimizer::Adam, row.recompute}},
            context);
        if (!answer) QFAIL(toText(answer.error()).c_str());
        const double error = answer->latency.value / row.measured - 1;
        qInfo("%s: measured %.2f s, %.2f s, %+.1f %%", row.plan, row.measured, answer->latency.value, 100 * error);
        sum += std::abs(error);
        worst = std::max(worst, std::abs(error));
    }
    qInfo("mean %.2f %%, worst %.2f %%", 100 * sum / 8, 100 * worst);
    QVERIFY(sum / 8 < 0.035 && worst < 0.089);
}

QTEST_APPLESS_MAIN(TstStepModel)
#include "tst_step_model.moc"
