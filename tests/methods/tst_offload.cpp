// State, weights and activations of a training step in the memory of a drawn host: run, in closed form, and refused
// where no host is drawn.

#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/cluster_view.h"
#include "hardware/views/host_view.h"
#include "methods/system/training/estimate_training.h"
#include "methods/system/training/step_model.h"
#include "methods/system/training/training_program.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace orrery;

namespace {

/// A preset whose nodes have two processors with DRAM, each device a link to them.
HardwarePtr withHosts(const char* link, const char* memory, const char* preset = "dgx-h100-superpod",
                      const char* before = "- kind: topology\n          name: nvlink") {
    std::ifstream file(fmt::format("{}/presets/hardware/{}.yaml", ORRERY_SOURCE, preset));
    std::stringstream text;
    text << file.rdbuf();
    std::string drawn = text.str();
    const std::size_t at = drawn.find(before);
    if (at == std::string::npos) qFatal("the preset has changed");
    const std::size_t line = drawn.rfind('\n', at) + 1;
    const std::string indent(at - line, ' ');
    drawn.insert(line, fmt::format("{0}- {{kind: link, name: host-link, from: host, to: h100, bandwidth: {1}}}\n"
                                   "{0}- kind: package\n{0}  name: host\n{0}  count: 2\n{0}  children:\n"
                                   "{0}    - {{kind: dram, name: ddr5, capacity: {2}, bandwidth: 307.2 GB/s}}\n",
                                   indent, link, memory));
    std::filesystem::create_directories(ORRERY_TEST_OUTPUT);
    const std::string path = fmt::format("{}/hosts.yaml", ORRERY_TEST_OUTPUT);
    std::ofstream(path) << drawn;
    auto made = loadHardware(path);
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return std::make_shared<const Hardware>(std::move(made->hardware));
}

std::shared_ptr<const StepModel> offloadModel(HardwarePtr hardware, std::int64_t batch, EstimateContext& context) {
    WorkloadRecipe recipe;
    recipe.source = "llama-3-8b";
    recipe.options.batch = batch;
    recipe.options.sequence = 4096;
    recipe.options.phase = Phase::TrainingForward;
    const auto workload = loadWorkload(recipe);
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    auto made =
        StepModel::make(*findMethod("tile-wave"), {std::move(hardware), *workload, {}, TrainingStep{}}, context);
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return *made;
}

Expected<Estimate> offloadRun(const StepModel& model, const StepPlan& plan, EstimateContext& context) {
    Scenario scenario = model.scenario();
    scenario.plan = plan.plan;
    scenario.task = TrainingStep{Optimizer::Adam, plan.recompute};
    return estimateTrainingStep(model.method(), scenario, context);
}

StepPlan planned(const std::string& text) {
    const auto plan = parsePlan(text);
    if (!plan) qFatal("%s", toText(plan.error()).c_str());
    return {*plan};
}

}  // namespace

class TstOffload : public QObject {
    Q_OBJECT
private slots:
    void hosts();
    void oneDevice();
    void rowOfTheOptimizer();
    void asTheRun();
    void refused();
};

// The drawing says what a device has of its host, and the network among devices stays theirs.
void TstOffload::hosts() {
    const HardwarePtr design = withHosts("64 GB/s", "1 TB");
    const auto view = clusterView(*design);
    QVERIFY(view.has_value());
    const auto bare = loadHardware("dgx-h100-superpod");
    const auto plain = clusterView(bare->hardware);
    QCOMPARE(view->groups.size(), plain->groups.size());
    for (std::size_t t = 0; t < plain->groups[0].tiers.size(); ++t)
        QCOMPARE(view->groups[0].tiers[t].bandwidth.value, plain->groups[0].tiers[t].bandwidth.value);
    // Also where devices meet in switches by links of their own.
    const HardwarePtr node = withHosts("64 GB/s", "1 TB", "dgx-h100", "- {kind: switch, name: nvswitch");
    const auto own = clusterView(*node), alone = clusterView(loadHardware("dgx-h100")->hardware);
    QVERIFY(own && alone);
    QCOMPARE(own->groups.size(), alone->groups.size());
    QCOMPARE(own->groups[0].tiers[0].bandwidth.value, alone->groups[0].tiers[0].bandwidth.value);
    QVERIFY(hostView(*node, own->groups[0]).has_value());
    const auto host = hostView(*design, view->groups[0]);
    if (!host) QFAIL(toText(host.error()).c_str());
    QCOMPARE(host->link.value, 64e9);
    QCOMPARE(host->memory.value, 2e12 / 8);
    QVERIFY(std::abs(host->memoryBandwidth.value / (2 * 307.2e9 / 8) - 1) < 1e-12);
    const auto none = hostView(bare->hardware, plain->groups[0]);
    QVERIFY(!none && none.error().code == "hardware.no-host" && !none.error().hint.empty());
}

// By hand: the step reads gradients (4 B), reads and writes moments and a copy in fp32 (24 B), and writes weights (2 B)
// at the host's memory; 4 B a parameter go down before, and the last eighth of the weights comes up after it.
void TstOffload::oneDevice() {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.wantTimeline = false;
    const auto model = offloadModel(withHosts("64 GB/s", "1 TB"), 4, context);
    const auto here = offloadRun(*model, planned("mb=4"), context),
               away = offloadRun(*model, planned("mb=4,offload=optimizer"), context);
    QVERIFY(here && away);
    const double parameters = model->scenario().workload->totals.parameters;
    QVERIFY(std::abs((here->memory->total().value - away->memory->total().value) / (12 * parameters) - 1) < 0.01);
    const auto updates = [](const Estimate& answer) {
        double sum = 0;
        for (const double each : answer.operators.updateSeconds) sum += each;
        return sum;
    };
    const double step = 30 * parameters / (2 * 307.2e9 / 8), up = 2 * parameters / 64e9;
    // Buckets go down beside the backward pass as far as it lasts; the last one and what the link cannot do are seen.
    const double more = away->latency.value - here->latency.value, least = step + up / 8 - updates(*here);
    QVERIFY2(more > 0.999 * least && more < least + 4 * parameters / 64e9,
             fmt::format("{} more, {} at least", more, least).c_str());
    // Twice the link halves what passes over it, never the step.
    const auto wide = offloadModel(withHosts("450 GB/s", "1 TB"), 4, context);
    const auto fast = offloadRun(*wide, planned("mb=4,offload=optimizer"), context);
    QVERIFY(fast && fast->latency < away->latency);
    QVERIFY(fast->latency.value - here->latency.value > 0.999 * (step - updates(*here)));
    // Activations and weights: two layers of 32 stay.
    const auto less = offloadRun(*wide, planned("mb=4,offload=optimizer+weights+activations"), context);
    QVERIFY(less.has_value());
    QVERIFY(less->memory->activations.value < 0.1 * here->memory->activations.value);
    QVERIFY(less->memory->weights.value < 0.6 * away->memory->weights.value);
    QVERIFY(less->latency >= fast->latency);
}

// The optimizer has a row of its own in the timeline, on the device or on the host, and ends the step.
void TstOffload::rowOfTheOptimizer() {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    const auto model = offloadModel(withHosts("64 GB/s", "1 TB"), 8, context);
    for (const char* text : {"pp=2,dp=2,mb=4", "pp=2,dp=2,mb=4,offload=optimizer"}) {
        const auto answer = offloadRun(*model, planned(text), context);
        QVERIFY(answer.has_value());
        QCOMPARE(answer->timeline.rows.size(), std::size_t{8});
        int updates = 0;
        std::int64_t exchanged = 0, begins = 0;
        for (const TimelineSpan& span : answer->timeline.spans) {
            const std::string& row = answer->timeline.rows[static_cast<std::size_t>(span.row)];
            QCOMPARE(span.op == SpanUpdate, row.ends_with("optimizer"));
            QCOMPARE(span.op == SpanExchange, row.ends_with("gradients"));
            updates += span.op == SpanUpdate ? 1 : 0;
            if (row == "stage 0 gradients") exchanged = std::max(exchanged, span.endPs);
            if (row == "stage 0 optimizer") begins = span.startPs;
        }
        QCOMPARE(updates, 2);
        QVERIFY(begins >= exchanged && exchanged > 0);
        double sum = 0;
        for (const double each : answer->operators.seconds) sum += each;
        QVERIFY(std::abs(sum / answer->latency.value - 1) < 1e-9);
    }
}

void TstOffload::asTheRun() {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.wantTimeline = false;
    double sum = 0, worst = 0;
    int count = 0;
    for (const char* link : {"64 GB/s", "450 GB/s", "16 GB/s"}) {
        const auto model = offloadModel(withHosts(link, "1 TB"), 32, context);
        RandomStream random(9);
        const auto pick = [&](std::initializer_list<std::int64_t> list) {
            return list.begin()[random.below(list.size())];
        };
        for (int i = 0; i < 20;) {
            StepPlan made;
            Plan& plan = made.plan;
            plan.tensor = pick({1, 2, 4});
            plan.pipeline = pick({1, 1, 2, 4});
            plan.data = pick({1, 2, 4, 8});
            plan.zero = pick({0, 1, 2, 3, 3});
            plan.offload = static_cast<std::uint8_t>(pick({1, 1, 2, 3, 4, 5, 7}));
            plan.microbatches = 32 / plan.data / pick({1, 2});
            made.recompute = static_cast<Recompute>(random.below(3));
            if (plan.microbatches < 1 || !checkPlan(plan)) continue;
            ++i;
            const std::string said = toText(made);
            const auto ran = offloadRun(*model, made, context);
            const auto closed = model->figures(made);
            if (!ran || !closed) QFAIL(toText(ran ? closed.error() : ran.error()).c_str());
            const double error = closed->seconds / ran->latency.value - 1;
            if (std::abs(error) > 0.02)
                qInfo("%s, %s: %.4f s run, %.4f s, %+.2f %%", link, said.c_str(), ran->latency.value, closed->seconds,
                      100 * error);
            QVERIFY2(std::abs(closed->needs / ran->memory->total().value - 1) < 1e-6, said.c_str());
            sum += std::abs(error), worst = std::max(worst, std::abs(error)), ++count;
        }
    }
    qInfo("%d plans, mean %.2f %%, worst %.2f %%", count, 100 * sum / count, 100 * worst);
    QVERIFY(sum / count < 0.03 && worst < 0.12);
}

void TstOffload::refused() {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.wantTimeline = false;
    const auto word = parsePlan("offload=gradients");
    QVERIFY(!word && word.error().code == "plan.value");
    const auto copies = parsePlan("dp=4,zero=1,offload=weights");
    QVERIFY(!copies && copies.error().code == "plan.offload");
    QCOMPARE(toText(*parsePlan("offload=activations+optimizer")), std::string("offload=optimizer+activations"));
    auto bare = loadHardware("dgx-h100-superpod");
    const auto model = offloadModel(std::make_shared<const Hardware>(std::move(bare->hardware)), 8, context);
    const auto plan = planned("tp=8,offload=optimizer");
    const auto ran = offloadRun(*model, plan, context);
    const auto closed = model->figures(plan);
    QVERIFY(!ran && ran.error().code == "hardware.no-host");
    QVERIFY(!closed && closed.error().code == "hardware.no-host");
    // Too little memory in the host: said, by how much.
    const auto small = offloadModel(withHosts("64 GB/s", "16 GB"), 8, context);
    const auto tight = offloadRun(*small, plan, context);
    QVERIFY(tight.has_value());
    QVERIFY(std::any_of(tight->warnings.begin(), tight->warnings.end(),
                        [](const Diagnostic& one) { return one.code == "memory.host-does-not-fit"; }));
    const auto figures = small->figures(plan);
    QVERIFY(figures && !figures->hostFits() && !figures->fits() && figures->missing() == 0);
}

QTEST_APPLESS_MAIN(TstOffload)
#include "tst_offload.moc"
