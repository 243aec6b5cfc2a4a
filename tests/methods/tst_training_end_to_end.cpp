// Published training steps, asked as anybody would ask them: model, cluster, plan, training stack. Errors are told per
// source, of all rows and of the half that nothing was fitted to. Bounds are targets (published_steps_table.h).

#include "base/executor.h"
#include "methods/method.h"
#include "methods/system/training/step_model.h"
#include "methods/system/training/training_stack.h"
#include "support/measured_table.h"
#include "support/published_steps_table.h"
#include "support/training_rows.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

using namespace orrery;
using testing::TrainingRow;

namespace {

const std::string data_folder = std::string(ORRERY_REFERENCE) + "/training/data/";

HardwarePtr hardwareOf(const std::string& name) {
    static std::map<std::string, HardwarePtr> known;
    HardwarePtr& its = known[name];
    if (!its) {
        auto found = loadHardware(name);
        if (!found) qFatal("%s: %s", name.c_str(), toText(found.error()).c_str());
        its = std::make_shared<const Hardware>(std::move(found->hardware));
    }
    return its;
}

WorkloadPtr workloadOf(const TrainingRow& row) {
    static int files = 0;
    static std::map<std::string, std::string> known;
    std::string& path = known[row.config + row.model];
    if (path.empty() && row.config.empty()) path = row.model;
    if (path.empty()) {
        std::filesystem::create_directories(ORRERY_TEST_OUTPUT);
        path = fmt::format("{}/trained-{}.json", ORRERY_TEST_OUTPUT, files++);
        std::ofstream(path) << row.config;
    }
    WorkloadRecipe recipe;
    recipe.source = path;
    recipe.options.batch = row.batch;
    recipe.options.sequence = row.sequence;
    recipe.options.phase = Phase::TrainingForward;
    recipe.options.weights = recipe.options.activations = recipe.options.kv = row.type;
    recipe.options.flashAttention = row.flash;
    auto made = loadWorkload(recipe);
    if (!made) qFatal("%s: %s", row.identity.c_str(), toText(made.error()).c_str());
    return *made;
}

Expected<Estimate> answerOf(const TrainingRow& row) {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.options["fusion"] = row.fusion;
    context.options["launch"] = row.launch;
    context.options["stack"] = row.stack;
    auto plan = parsePlan(row.plan);
    if (!plan) return Unexpected(plan.error());
    return estimate(*findMethod("tile-hybrid"),
                    {hardwareOf(row.preset), workloadOf(row), *plan, TrainingStep{Optimizer::Adam, row.recompute}},
                    context);
}

std::shared_ptr<const StepModel> closedFormOf(const TrainingRow& row) {
    auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.options["fusion"] = row.fusion;
    context.options["launch"] = row.launch;
    context.options["stack"] = row.stack;
    const TrainingStep step{Optimizer::Adam, row.recompute};
    const auto model =
        StepModel::make(*findMethod("tile-hybrid"), {hardwareOf(row.preset), workloadOf(row), {}, step}, context);
    if (!model) qFatal("%s: %s", row.identity.c_str(), toText(model.error()).c_str());
    return *model;
}

/// Every row in a build for speed; in others one in ten, and no bounds.
#ifdef NDEBUG
constexpr std::size_t every = 1;
#else
constexpr std::size_t every = 10;
#endif

testing::MeasuredTable tableOf(const std::vector<TrainingRow>& rows) {
    testing::MeasuredTable table;
    for (std::size_t i = 0; i < rows.size(); i += every) {
        const TrainingRow& row = rows[i];
        const auto answer = answerOf(row);
        if (!answer) {
            qWarning("%s %s: %s", row.identity.c_str(), row.plan.c_str(), toText(answer.error()).c_str());
            continue;
        }
        table.add(row.source, row.identity, answer->latency.value, row.measured, answer->interval.low.value,
                  answer->interval.high.value);
        if (qEnvironmentVariableIsSet("ORRERY_ROWS"))
            qInfo("%s %s %s: %.3f s, %.3f s, %+.1f %%", row.source.c_str(), row.identity.c_str(), row.plan.c_str(),
                  row.measured, answer->latency.value, 100 * (answer->latency.value / row.measured - 1));
    }
    table.print();
    return table;
}

/// Every source within its target.
void within(const testing::MeasuredTable& table) {
    if (every > 1) return;
    for (const std::string& source : table.sources()) {
        const auto seen = table.of(source);
        QVERIFY2(seen.mean < testing::targetOf(source),
                 qPrintable(QString("%1: %2").arg(source.c_str()).arg(seen.mean)));
    }
}

}  // namespace

class TstTrainingEndToEnd : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void dividedByFsdp();
    void megatron();
    void megatronInClosedForm();
    void vendors();
    void sailor();
    void vision();

private:
    testing::Clusters clusters_{std::string(ORRERY_TEST_OUTPUT) + "/clusters"};
};

void TstTrainingEndToEnd::initTestCase() {
    if (testing::tableRows(data_folder + "megatron/e2e_ground_truth.csv").empty()) QSKIP("no reference data");
}

void TstTrainingEndToEnd::dividedByFsdp() {
    const auto table = tableOf(testing::llmFoundryRows(data_folder));
    within(table);
}

void TstTrainingEndToEnd::megatron() {
    const auto table = tableOf(testing::megatronRows(data_folder, clusters_));
    within(table);
}

// The same questions, answered as sums and maxima.
void TstTrainingEndToEnd::megatronInClosedForm() {
    testing::MeasuredTable table;
    for (const TrainingRow& row : testing::megatronRows(data_folder, clusters_)) {
        const auto plan = parsePlan(row.plan);
        QVERIFY(plan.has_value());
        const auto figures = closedFormOf(row)->figures({*plan, row.recompute});
        if (!figures) qFatal("%s: %s", row.identity.c_str(), toText(figures.error()).c_str());
        table.add(row.source, row.identity, figures->seconds, row.measured, figures->low, figures->high);
    }
    table.print();
    within(table);
}

void TstTrainingEndToEnd::vendors() {
    const auto table = tableOf(testing::moreRows(data_folder, clusters_));
    within(table);
}

void TstTrainingEndToEnd::sailor() {
    const auto table = tableOf(testing::sailorRows(data_folder, clusters_));
    within(table);
}

void TstTrainingEndToEnd::vision() {
    const auto table = tableOf(testing::visionRows(data_folder));
    within(table);
}

QTEST_GUILESS_MAIN(TstTrainingEndToEnd)
#include "tst_training_end_to_end.moc"
