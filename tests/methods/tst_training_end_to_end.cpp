// Published training steps, asked as anybody would ask them: model, cluster, plan, training stack. Errors are told per
// source, of all rows and of the half that nothing was fitted to. Bounds are what was seen, rounded up.

#include "base/executor.h"
#include "methods/method.h"
#include "methods/system/training/step_model.h"
#include "support/measured_table.h"
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

struct Bound {
    const char* source;
    double mean;
};

void within(const testing::MeasuredTable& table, std::initializer_list<Bound> bounds) {
    if (every > 1) return;
    for (const Bound& bound : bounds) {
        const auto seen = table.of(bound.source);
        QVERIFY2(seen.rows > 0, bound.source);
        QVERIFY2(seen.mean < bound.mean, qPrintable(QString("%1: %2").arg(bound.source).arg(seen.mean)));
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
    within(table, {{"llm-foundry FSDP a100", 0.07}, {"llm-foundry FSDP h100", 0.04}});
}

void TstTrainingEndToEnd::megatron() {
    const auto table = tableOf(testing::megatronRows(data_folder, clusters_));
    within(table, {{"Megatron-LM 2021, A100", 0.04},
                   {"Megatron-LM 2022 table 5, A100", 0.04},
                   {"Megatron-Core 2024 bf16, H100", 0.08},
                   {"DeepSpeed ZeRO-3 2021, A100", 0.12}});
}

// The same questions, answered as sums and maxima.
void TstTrainingEndToEnd::megatronInClosedForm() {
    testing::MeasuredTable table;
    for (const TrainingRow& row : testing::megatronRows(data_folder, clusters_)) {
        auto executor = makeSerialExecutor();
        EstimateContext context{*executor};
        context.options["fusion"] = row.fusion;
        context.options["stack"] = row.stack;
        const auto plan = parsePlan(row.plan);
        QVERIFY(plan.has_value());
        const TrainingStep step{Optimizer::Adam, row.recompute};
        const auto model =
            StepModel::make(*findMethod("tile-hybrid"), {hardwareOf(row.preset), workloadOf(row), {}, step}, context);
        if (!model) qFatal("%s", toText(model.error()).c_str());
        const auto figures = (*model)->figures({*plan, row.recompute});
        if (!figures) qFatal("%s: %s", row.identity.c_str(), toText(figures.error()).c_str());
        table.add(row.source, row.identity, figures->seconds, row.measured, figures->low, figures->high);
    }
    table.print();
    within(table, {{"Megatron-LM 2022 table 5, A100", 0.035}, {"Megatron-LM 2021, A100", 0.08}});
}

void TstTrainingEndToEnd::vendors() {
    const auto table = tableOf(testing::moreRows(data_folder, clusters_));
    within(table, {{"nvidia_dgxc Megatron bf16 h100", 0.06},
                   {"nvidia_dgxc Megatron fp8 h100", 0.06},
                   {"nvidia_dgxc JAX bf16 h100", 0.12},
                   {"nvidia_dgxc JAX fp8 h100", 0.1},
                   {"nvidia_dgxc Megatron bf16 experts h100", 0.1},
                   {"nvidia_dgxc Megatron fp8 experts h100", 0.08},
                   {"nvidia_nemo_2024 Megatron fp8 h100", 0.08},
                   {"nvidia_megatron_bridge Megatron fp8 b200", 0.08},
                   {"nvidia_megatron_bridge Megatron fp8 gb200", 0.08},
                   {"nvidia_megatron_bridge Megatron fp8 gb300", 0.08},
                   {"mlperf_training Megatron fp8 b200", 0.08},
                   {"other_llm_training torchtitan bf16 h100-96", 0.1}});
    // Seen: experts on Blackwell 12 to 47 % (releases of the same software differ up to three times), MLPerf on H100 13
    // %.
}

void TstTrainingEndToEnd::sailor() {
    const auto table = tableOf(testing::sailorRows(data_folder, clusters_));
    within(table, {{"Sailor GH200", 0.08}});
}

void TstTrainingEndToEnd::vision() {
    const auto table = tableOf(testing::visionRows(data_folder));
    within(table, {{"ResNet-50 fp16 V100", 0.12}, {"ResNet-50 fp32 V100", 0.65}});
}

QTEST_GUILESS_MAIN(TstTrainingEndToEnd)
#include "tst_training_end_to_end.moc"
