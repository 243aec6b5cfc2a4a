// Embeddings that the first and the last stage both hold: their gradients are added up between the two, once a step.

#include "hardware/files/catalogue.h"
#include "methods/system/training/estimate_training.h"
#include "methods/system/training/step_model.h"
#include "methods/system/training/training_program.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace orrery;

namespace {

constexpr std::int64_t vocabulary = 51200, hidden = 4096;

std::shared_ptr<const StepModel> tiedModel(bool tied, EstimateContext& context) {
    static HardwarePtr hardware;
    if (!hardware) {
        auto found = loadHardware("dgx-a100-superpod");
        if (!found) qFatal("%s", toText(found.error()).c_str());
        hardware = std::make_shared<const Hardware>(std::move(found->hardware));
    }
    std::filesystem::create_directories(ORRERY_TEST_OUTPUT);
    const std::string path = fmt::format("{}/tied-{}.json", ORRERY_TEST_OUTPUT, tied ? 1 : 0);
    std::ofstream(path) << fmt::format(
        R"({{"model_type": "gpt2", "n_layer": 16, "n_embd": {}, "n_head": 32, "n_inner": {}, "vocab_size": {}, "n_positions": 2048, "torch_dtype": "float16", "tie_word_embeddings": {}}})",
        hidden, 4 * hidden, vocabulary, tied);
    WorkloadRecipe recipe;
    recipe.source = path;
    recipe.options.batch = 32;
    recipe.options.sequence = 2048;
    recipe.options.phase = Phase::TrainingForward;
    const auto workload = loadWorkload(recipe);
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    auto made = StepModel::make(*findMethod("tile-wave"), {hardware, *workload, {}, TrainingStep{}}, context);
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return *made;
}

TrainingAnswer answered(const StepModel& model, const Plan& plan, EstimateContext& context) {
    Scenario scenario = model.scenario();
    scenario.plan = plan;
    auto made = answerTrainingStep(model.method(), scenario, context);
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return std::move(*made);
}

/// Bytes that the devices of each stage add up with the other end.
std::vector<std::int64_t> betweenEnds(const TrainingProgram& program) {
    const auto job = trainingJob(program);
    if (!job) qFatal("%s", toText(job.error()).c_str());
    std::vector<std::int64_t> bytes;
    for (const TracePtr& trace : job->traces) {
        bytes.push_back(0);
        for (const TraceNode& node : trace->nodes)
            if (node.work == TraceWork::Collective &&
                programGroupOf(trace->groups[static_cast<std::size_t>(node.group)]) == ProgramGroup::Ends)
                bytes.back() += node.bytes;
    }
    return bytes;
}

}  // namespace

class TstTiedEmbeddings : public QObject {
    Q_OBJECT
private slots:
    void whoSends();
    void asTheRun();
};

void TstTiedEmbeddings::whoSends() {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.wantTimeline = false;
    const auto tied = tiedModel(true, context), own = tiedModel(false, context);
    const std::int64_t bytes = vocabulary * hidden * 2;
    using Bytes = std::vector<std::int64_t>;
    const auto sent = [&](const StepModel& model, const char* plan) {
        return betweenEnds(answered(model, *parsePlan(plan), context).step.programs.front());
    };
    QCOMPARE(sent(*tied, "tp=2,pp=4,dp=2,mb=4"), (Bytes{bytes / 2, 0, 0, bytes / 2}));
    QCOMPARE(sent(*tied, "pp=2,vp=2,mb=4,dp=2"), (Bytes{bytes, bytes}));
    QCOMPARE(sent(*own, "tp=2,pp=4,dp=2,mb=4"), (Bytes{0, 0, 0, 0}));
    QCOMPARE(sent(*tied, "tp=4,dp=4,mb=4"), (Bytes{0}));
    // One device has both ends.
    QCOMPARE(sent(*tied, "pp=4,mb=16,sched=dualpipe"), (Bytes{0, 0, 0, 0}));
    QCOMPARE(membersOf(ProgramGroup::Ends, *parsePlan("tp=2,pp=4,dp=2"), 13), (std::vector<std::int32_t>{1, 13}));
}

void TstTiedEmbeddings::asTheRun() {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.wantTimeline = false;
    const auto tied = tiedModel(true, context), own = tiedModel(false, context);
    for (const char* text : {"tp=2,pp=4,dp=2,mb=8", "pp=2,dp=4,mb=4,zero=1", "tp=8,pp=4,mb=16,vp=2", "pp=8,mb=16",
                             "pp=4,mb=16,sched=zero-bubble", "tp=4,pp=2,dp=4,zero=3,mb=4"}) {
        const Plan plan = *parsePlan(text);
        const double run = answered(*tied, plan, context).estimate.latency.value,
                     without = answered(*own, plan, context).estimate.latency.value;
        const auto closed = tied->figures({plan}), closedWithout = own->figures({plan});
        QVERIFY(closed && closedWithout);
        qInfo("%s: %.4f s, %.4f s without; closed form %+.2f %%", text, run, without,
              100 * (closed->seconds / run - 1));
        QVERIFY2(run > without && run < 1.1 * without, text);
        QVERIFY2(std::abs(closed->seconds / run - 1) < 0.05, text);
        // What it takes is the same in both.
        QVERIFY2(std::abs((closed->seconds - closedWithout->seconds) / (run - without) - 1) < 0.15, text);
        const double parts = closed->compute + closed->bubble + closed->tensor + closed->context + closed->expert +
                             closed->pipeline + closed->data + closed->optimizer;
        QVERIFY2(std::abs(parts / closed->seconds - 1) < 1e-9, text);
    }
}

QTEST_APPLESS_MAIN(TstTiedEmbeddings)
#include "tst_tied_embeddings.moc"
