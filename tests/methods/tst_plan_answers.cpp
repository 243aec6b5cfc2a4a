// What plans do to answers: proposed where a model does not fit, priced over the drawn links, and said to have used
// them.

#include "base/executor.h"
#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "workload/models/catalogue.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;

namespace {

HardwarePtr design(const char* id) {
    auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return std::make_shared<const Hardware>(std::move(loaded->hardware));
}
WorkloadPtr model(const char* source) {
    auto loaded = loadWorkload(
        {.source = source, .options = {.batch = 1, .sequence = 1024, .phase = Phase::Decode}, .whatIfs = {}});
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return *loaded;
}
Estimate answer(const char* method, const HardwarePtr& hardware, const WorkloadPtr& workload, const Plan& plan) {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    auto made = estimate(*findMethod(method), {hardware, workload, plan, Pass{}}, context);
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return std::move(*made);
}
const Diagnostic* warned(const Estimate& answer, std::string_view code) {
    const auto found = std::find_if(answer.warnings.begin(), answer.warnings.end(),
                                    [&](const Diagnostic& each) { return each.code == code; });
    return found == answer.warnings.end() ? nullptr : &*found;
}
double figureOf(const Estimate& answer, std::string_view label) {
    for (const Figure& figure : answer.figures)
        if (figure.label == label) return figure.value;
    return 0;
}
bool says(const Estimate& answer, std::string_view words) {
    return std::any_of(answer.assumptions.begin(), answer.assumptions.end(),
                       [&](const std::string& said) { return said.find(words) != std::string::npos; });
}
HardwarePtr changed(const HardwarePtr& hardware, const char* path, const char* value) {
    auto made = withAttribute(*hardware, path, value);
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return std::make_shared<const Hardware>(std::move(*made));
}
bool uses(const Estimate& answer, std::string_view name) {
    return std::any_of(answer.parts.used.begin(), answer.parts.used.end(),
                       [&](const UsedParts::Part& part) { return part.path.ends_with(name); });
}

}  // namespace

class TstPlanAnswers : public QObject {
    Q_OBJECT
private slots:
    void proposed();
    void usesWhatItCrosses();
    void drawnLinksArePriced();
    void linksThatStateEnergyCount_data();
    void linksThatStateEnergyCount();
    void gradientsArePriced();
    void ofTrainingAlone();
};

// Llama-2 70B in two bytes is 138 GB: the hint of the warning is a plan, and that plan answers without the warning.
void TstPlanAnswers::proposed() {
    const auto llama = model("llama-2-70b");
    const Estimate one = answer("roofline", design("dgx-h100"), llama, {});
    const Diagnostic* warning = warned(one, "memory.does-not-fit");
    QVERIFY(warning);
    QVERIFY2(warning->hint.find("tp=2") != std::string::npos, warning->hint.c_str());
    QVERIFY(!warned(answer("roofline", design("dgx-h100"), llama, {.tensor = 2}), "memory.does-not-fit"));
    const Estimate single = answer("roofline", design("h100-sxm"), llama, {});
    const std::string& hint = warned(single, "memory.does-not-fit")->hint;
    QVERIFY2(hint.find("Draw 2") != std::string::npos && hint.find("tp=2") != std::string::npos, hint.c_str());
    QVERIFY(!warned(answer("roofline", design("dgx-h100"), model("llama-3-8b"), {}), "memory.does-not-fit"));
}

void TstPlanAnswers::usesWhatItCrosses() {
    const auto llama = model("llama-2-70b");
    const auto two = design("dgx-h100-x2");
    const Estimate inside = answer("roofline", two, llama, {.tensor = 8});
    QVERIFY(uses(inside, "dgx/nvlink"));
    QVERIFY(!uses(inside, "infiniband"));
    const Estimate across = answer("roofline", two, llama, {.tensor = 8, .pipeline = 2});
    QVERIFY(uses(across, "infiniband"));
    for (const UsedParts::Part& part : across.parts.ignored)
        if (part.attributes.empty()) QVERIFY2(!part.path.ends_with("infiniband"), part.path.c_str());
}

// Eight GPUs on the same links, drawn in the device or as a topology, answer alike; slower links answer slower.
void TstPlanAnswers::drawnLinksArePriced() {
    const auto llama = model("llama-2-70b");
    const Plan plan{.tensor = 8};
    const double one = answer("tile-hybrid", design("dgx-h100"), llama, plan).latency.value;
    const double two = answer("tile-hybrid", design("dgx-h100-x2"), llama, plan).latency.value;
    QVERIFY2(std::abs(one / two - 1) < 0.01, qPrintable(QString("%1 %2").arg(one).arg(two)));
    auto slow = withAttribute(*design("dgx-h100-x2"), "nvlink.bandwidth", "1 GB/s");
    QVERIFY(slow);
    const auto slowed = std::make_shared<const Hardware>(std::move(*slow));
    QVERIFY(answer("tile-hybrid", slowed, llama, plan).latency.value > 1.2 * two);
}

// Energy is conserved: what devices take, as without, and the stated energy of every byte on every link of its way.
void TstPlanAnswers::linksThatStateEnergyCount_data() {
    QTest::addColumn<QString>("design");
    QTest::addColumn<QString>("plan");
    for (const char* plan : {"tp=8", "tp=4,dp=2", "tp=2,cp=4", "tp=4,pp=2,mb=4"})
        for (const char* design : {"dgx-h100", "dgx-h100-x2"}) QTest::addRow("%s %s", design, plan) << design << plan;
    QTest::addRow("two tiers") << "dgx-h100-x2"
                               << "tp=8,pp=2,mb=2";
}
void TstPlanAnswers::linksThatStateEnergyCount() {
    QFETCH(QString, design);
    QFETCH(QString, plan);
    const auto options = WorkloadOptions{.batch = 8, .sequence = 1024, .phase = Phase::Prefill};
    const auto llama = loadWorkload({.source = "llama-3-8b", .options = options, .whatIfs = {}});
    QVERIFY(llama);
    const auto spread = *parsePlan(plan.toStdString());
    const auto plain = ::design(design.toUtf8().constData());
    const auto stated = changed(plain, "nvlink.energy", "10 pJ/B");
    const auto without = answer("tile-hybrid", plain, *llama, spread);
    const auto with = answer("tile-hybrid", stated, *llama, spread);
    QCOMPARE(with.latency.value, without.latency.value);
    QVERIFY(says(without, "the links of nvlink") || says(without, "nvlink state no energy"));
    QVERIFY(says(with, "bytes that they send over nvlink"));
    const bool beyond = plan.startsWith("tp=8,pp=2");
    QCOMPARE(says(with, "state no energy"), beyond);  // InfiniBand still states none
    QCOMPARE(figureOf(without, "Energy of the network"), 0.0);
    // Into the switch and out of it: two links. Every device of a stage sends what the figure says of all stages.
    const double sent = figureOf(with, "Sent over nvlink by a device");
    const double senders = static_cast<double>(spread.devices() / spread.pipeline);
    const double network = figureOf(with, "Energy of the network");
    QVERIFY2(std::abs(network / (sent * senders * 20e-12) - 1) < 1e-9, qPrintable(QString::number(network)));
    QVERIFY(std::abs((with.energy->value - without.energy->value) / network - 1) < 1e-6);
    double sum = 0;
    for (const double joules : with.operators.joules) sum += joules;
    QVERIFY2(std::abs(sum / with.energy->value - 1) < 1e-9, qPrintable(QString::number(sum / with.energy->value)));
    // One device sends nothing over them.
    QCOMPARE(answer("tile-hybrid", stated, *llama, {}).energy->value,
             answer("tile-hybrid", plain, *llama, {}).energy->value);
}

// What belongs to training changes no pass, and the answer says so.
void TstPlanAnswers::ofTrainingAlone() {
    const auto node = design("dgx-h100");
    const auto llama = model("llama-3-8b");
    const Estimate plain = answer("tile-hybrid", node, llama, {.tensor = 8});
    const Estimate more = answer("tile-hybrid", node, llama, {.tensor = 8, .interleave = 2, .zero = 1, .sequence = 1});
    QCOMPARE(more.latency.value, plain.latency.value);
    QVERIFY(warned(more, "plan.training-only") && !warned(plain, "plan.training-only"));
}

// A step of eight copies reduces the gradients of all weights once, beside the backward pass; what is left is waited
// for.
void TstPlanAnswers::gradientsArePriced() {
    const auto step = [](std::int64_t batch, const Plan& plan, const HardwarePtr& hardware) {
        auto workload = loadWorkload({.source = "resnet-50", .options = {.batch = batch}, .whatIfs = {}});
        if (!workload) qFatal("%s", toText(workload.error()).c_str());
        auto executor = makeSerialExecutor();
        EstimateContext context{*executor};
        auto made = estimate(*findMethod("tile-hybrid"), {hardware, *workload, plan, TrainingStep{}}, context);
        if (!made) qFatal("%s", toText(made.error()).c_str());
        return std::move(*made);
    };
    const auto node = design("dgx-h100");
    const Estimate one = step(16, {}, node), eight = step(128, {.data = 8}, node);
    const double exposed = figureOf(eight, "Exposed communication");
    QVERIFY(exposed > 0);
    // Adding gradients up in fp32 takes its time, too.
    QVERIFY(eight.latency.value >= one.latency.value + (1 - 1e-9) * exposed);
    QVERIFY(eight.latency.value < 1.2 * (one.latency.value + exposed));
    const auto loaded = loadWorkload({.source = "resnet-50", .options = {.batch = 16}, .whatIfs = {}});
    // ResNet-50 has 25,557,032 parameters; the running statistics of its norms have no gradient.
    const double sent = 2 * 7.0 / 8 * 25557032 * bits((*loaded)->recipe.options.weights) / 8.0;
    QVERIFY2(std::abs(figureOf(eight, "Sent over nvlink by a device") / sent - 1) < 1e-9,
             qPrintable(QString::number(figureOf(eight, "Sent over nvlink by a device") / sent)));
    QVERIFY(says(eight, "gradients go beside the backward pass"));
    // At best they hide behind the work: the low side of the interval is no more than the step of one device.
    QVERIFY(eight.interval.low <= one.latency);
    QVERIFY(step(128, {.data = 8}, changed(node, "nvlink.bandwidth", "1 GB/s")).latency > eight.latency);
}

QTEST_GUILESS_MAIN(TstPlanAnswers)
#include "tst_plan_answers.moc"
