// What plans do to answers: proposed where a model does not fit, priced over the drawn links, and said to have used
// them.

#include "base/executor.h"
#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "workload/models/catalogue.h"

#include <QtTest/QtTest>

#include <algorithm>

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

QTEST_GUILESS_MAIN(TstPlanAnswers)
#include "tst_plan_answers.moc"
