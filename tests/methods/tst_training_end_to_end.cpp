// Published training steps, asked as anybody would ask them: model, cluster, plan, training stack. Errors are told per
// source, of all rows and of the half that nothing was fitted to. Bounds are what was seen, rounded up.

#include "base/executor.h"
#include "methods/method.h"
#include "methods/system/training/step_model.h"
#include "methods/system/training/training_stack.h"
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
    void intervalsFollowTheirRule();
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
        const auto plan = parsePlan(row.plan);
        QVERIFY(plan.has_value());
        const auto figures = closedFormOf(row)->figures({*plan, row.recompute});
        if (!figures) qFatal("%s: %s", row.identity.c_str(), toText(figures.error()).c_str());
        table.add(row.source, row.identity, figures->seconds, row.measured, figures->low, figures->high);
    }
    table.print();
    within(table, {{"Megatron-LM 2022 table 5, A100", 0.035}, {"Megatron-LM 2021, A100", 0.08}});
}

// The one rule of training_stack.h, from the halves that were fitted; then what it holds of the others.
void TstTrainingEndToEnd::intervalsFollowTheirRule() {
    struct Answered {
        TrainingRow row;
        GpuGeneration generation;
        bool mixed;
        double residual, low, high;  // ln
    };
    std::vector<Answered> all;
    testing::MeasuredTable table, judgedOnes;
    for (auto& rows : {testing::llmFoundryRows(data_folder), testing::megatronRows(data_folder, clusters_),
                       testing::moreRows(data_folder, clusters_), testing::sailorRows(data_folder, clusters_)}) {
        for (const TrainingRow& row : rows) {
            const StepPlan plan{*parsePlan(row.plan), row.recompute};
            const auto model = closedFormOf(row);
            const auto figures = model->figures(plan);
            if (!figures) qFatal("%s: %s", row.identity.c_str(), toText(figures.error()).c_str());
            const auto device = deviceView(*hardwareOf(row.preset));
            QVERIFY(device.has_value());
            const auto& operators = model->shard(plan)->workload->graph.operators;
            const bool mixed = std::any_of(operators.begin(), operators.end(),
                                           [](const Operator& each) { return each.type == "GroupedMatMul"; });
            all.push_back({row, generationOf(*device), mixed, std::log(row.measured / figures->seconds),
                           std::log(figures->low / figures->seconds), std::log(figures->high / figures->seconds)});
            table.add(row.source, row.identity, figures->seconds, row.measured, figures->low, figures->high);
            if (testing::judged(row.identity))
                judgedOnes.add(row.source, row.identity, figures->seconds, row.measured, figures->low, figures->high);
        }
    }
    table.print();
    qInfo("judged alone:");
    judgedOnes.print();
    const auto rankOf = [](std::vector<double> sizes) {
        std::sort(sizes.begin(), sizes.end());
        const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(sizes.size() + 1)));
        return sizes.empty() ? 0 : sizes[std::min(rank, sizes.size()) - 1];
    };
    const auto sizesOf = [&](std::string_view stack, const StackOnGeneration& row, bool mixed) {
        std::vector<double> sizes;
        for (const Answered& each : all)
            if (each.row.stack == stack && each.generation == row.generation && each.mixed == mixed &&
                !testing::judged(each.row.identity))
                sizes.push_back(std::abs(each.residual));
        const double numbers = mixed ? 1 : row.fitted, count = static_cast<double>(sizes.size());
        for (double& size : sizes) size /= 1 - std::min(numbers / count, 0.5);
        return sizes;
    };
    std::string moved;
    for (const TrainingStack& stack : trainingStacks()) {
        // Stacks that newer ones divide keep what they had.
        if (std::none_of(all.begin(), all.end(), [&](const Answered& each) { return each.row.stack == stack.id; }))
            continue;
        for (const StackOnGeneration& row : stack.generations) {
            for (const bool mixed : {false, true}) {
                std::vector<double> sizes = sizesOf(stack.id, row, mixed);
                if (mixed && row.expertSpread == 0) continue;
                if (sizes.size() < 9) {
                    sizes.clear();
                    for (const TrainingStack& other : trainingStacks())
                        for (const Answered& each : all) {
                            if (each.row.stack != other.id || each.generation != row.generation) continue;
                            StackOnGeneration its = *other.on(row.generation);
                            if (its.generation != row.generation) its.fitted = 1;
                            its.generation = row.generation;
                            for (const double size : sizesOf(other.id, its, mixed)) sizes.push_back(size);
                            break;
                        }
                }
                const double spread = rankOf(sizes), stated = mixed ? row.expertSpread : row.spread;
                qInfo("%-20s %-16s %s: %.3f", stack.id.data(), std::string(toText(row.generation)).c_str(),
                      mixed ? "experts" : "dense  ", spread);
                if (std::abs(spread - stated) >= 0.006) moved += " " + std::string(stack.id);
            }
        }
    }
    QVERIFY2(moved.empty(), moved.c_str());
    std::vector<double> halves;
    for (const Answered& each : all)
        if (testing::judged(each.row.identity)) halves.push_back((std::exp(each.high) - std::exp(each.low)) / 2);
    std::sort(halves.begin(), halves.end());
    const double covered = judgedOnes.all().coverage;
    qInfo("%zu judged steps: %.0f %% inside, half an interval is %.0f %% in the median", halves.size(), 100 * covered,
          100 * halves[halves.size() / 2]);
    QVERIFY(covered >= 0.85 && covered < 0.955);  // 95 %
}

void TstTrainingEndToEnd::vendors() {
    const auto table = tableOf(testing::moreRows(data_folder, clusters_));
    within(table, {{"nvidia_dgxc Megatron bf16 h100", 0.06},
                   {"nvidia_dgxc Megatron fp8 h100", 0.06},
                   {"nvidia_dgxc JAX bf16 h100", 0.03},
                   {"nvidia_dgxc JAX fp8 h100", 0.04},
                   {"nvidia_dgxc Megatron bf16 experts h100", 0.1},
                   {"nvidia_dgxc Megatron fp8 experts h100", 0.08},
                   {"nvidia_nemo_2024 Megatron fp8 h100", 0.08},
                   {"nvidia_megatron_bridge Megatron fp8 b200", 0.12},
                   {"nvidia_megatron_bridge Megatron fp8 gb200", 0.08},
                   {"nvidia_megatron_bridge Megatron fp8 gb300", 0.08},
                   {"mlperf_training Megatron fp8 b200", 0.1},
                   {"other_llm_training torchtitan bf16 h100-96", 0.1}});
    // Seen: experts on Blackwell 12 to 47 % (releases of the same software differ up to three times), MLPerf on H100 13
    // %.
}

void TstTrainingEndToEnd::sailor() {
    const auto table = tableOf(testing::sailorRows(data_folder, clusters_));
    within(table, {{"Sailor GH200", 0.1}});
}

void TstTrainingEndToEnd::vision() {
    const auto table = tableOf(testing::visionRows(data_folder));
    within(table, {{"ResNet-50 fp16 V100", 0.12}, {"ResNet-50 fp32 V100", 0.19}});
}

QTEST_GUILESS_MAIN(TstTrainingEndToEnd)
#include "tst_training_end_to_end.moc"
