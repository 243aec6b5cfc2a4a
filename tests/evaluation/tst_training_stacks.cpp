// The numbers of training stacks: what is shipped can be made again from the published steps, byte by byte, and the
// handbook's table with it; every source is within its target; intervals hold of what nothing was fitted to.

#include "base/executor.h"
#include "base/text/read_file.h"
#include "evaluation/stack_fit.h"
#include "evaluation/stack_solver.h"
#include "hardware/files/catalogue.h"
#include "methods/system/training/step_model.h"
#include "support/measured_table.h"
#include "support/published_steps_table.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

const std::string data_folder = std::string(ORRERY_REFERENCE) + "/training/data/";
const std::string table_folder = std::string(ORRERY_TEST_OUTPUT) + "/published-steps";

std::string textOf(const std::string& path) {
    return readFile(path, std::size_t{1} << 24).value_or(std::string());
}

}  // namespace

class TstTrainingStacks : public QObject {
    Q_OBJECT
private slots:
    void fitsWhatItIsGiven();
    void drawnToThePrior();
    void numbersSurviveAFile();
    void noStackNamed();
    void whatIsKnown();
    void badTables();
    void tableInAPage();
    void madeAgain();
};

// Three made-up steps of known numbers: kernels and attention of different shares.
void TstTrainingStacks::fitsWhatItIsGiven() {
    struct Made {
        double kernels, attention;
    };
    const std::vector<Made> made{{1, 0.1}, {1, 1}, {1, 0.5}, {2, 0.2}, {0.5, 1}, {3, 1}, {1, 2}, {2, 2}};
    StackProblem problem;
    for (const Made& each : made) {
        problem.measured.push_back(1.2 * each.kernels + 1.5 * each.attention);
        problem.weights.push_back(1);
    }
    problem.answer = [&](const StackOnGeneration& row, std::size_t i) {
        return row.kernels * made[i].kernels + row.attention * made[i].attention;
    };
    const StackSolution solution = solveStack(problem, firstPrior());
    QVERIFY2(std::abs(solution.row.kernels - 1.2) < 0.02, qPrintable(QString::number(solution.row.kernels)));
    QVERIFY2(std::abs(solution.row.attention - 1.5) < 0.06, qPrintable(QString::number(solution.row.attention)));
    QVERIFY(solution.decided > 1.5 && solution.decided <= 2.0001);
    double leverages = 0;
    for (const double each : solution.leverages) leverages += each;
    QVERIFY(std::abs(leverages - solution.decided) < 1e-9);
    // What no step tells apart stays as all stacks have it.
    QCOMPARE(solution.row.hiddenTensor, firstPrior().mean[5]);
}

// One step far off does not move attention, experts and all else to where they explain it alone.
void TstTrainingStacks::drawnToThePrior() {
    StackProblem problem;
    problem.measured = {1.4};
    problem.weights = {1};
    problem.answer = [](const StackOnGeneration& row, std::size_t) { return 0.9 * row.kernels + 0.1 * row.attention; };
    const StackSolution solution = solveStack(problem, firstPrior());
    QVERIFY(solution.row.kernels > 1.25 && solution.row.kernels < 1.4);
    QVERIFY(solution.row.attention / solution.row.kernels < 1.1);
    QVERIFY(solution.decided <= 1);
    const StackPrior common = commonPrior(std::span(&solution, 1));
    QVERIFY(common.mean[0] > firstPrior().mean[0] && common.mean[0] < solution.numbers[0]);
}

void TstTrainingStacks::numbersSurviveAFile() {
    StackOnGeneration row;
    row.generation = GpuGeneration::Ampere;
    row.kernels = 1.125, row.attention = 1.5, row.experts = 2, row.overlap = 0.25, row.exchanges = 3;
    row.hiddenTensor = 0.5, row.hiddenGather = 0.75, row.hostLayer = 0.002, row.hostExperts = 0.008, row.spread = 0.125,
    row.expertSpread = 0.25;
    Calibration file;
    file.method = std::string(stackCalibration);
    file.methodVersion = "1";
    file.date = "2026-11-22";
    file.sections.push_back(stackSection("sailor", row));
    const auto read = parseCalibration(writeCalibration(file), "mine.json");
    QVERIFY2(read.has_value(), read ? "" : toText(read.error()).c_str());
    CalibrationSet set;
    set.add(std::make_shared<const Calibration>(*read));
    const TrainingStack& sailor = *findTrainingStack("sailor");
    const auto own = stackOn(sailor, GpuGeneration::Ampere, set);
    QVERIFY(own.has_value());
    for (const auto number :
         {&StackOnGeneration::kernels, &StackOnGeneration::attention, &StackOnGeneration::experts,
          &StackOnGeneration::overlap, &StackOnGeneration::exchanges, &StackOnGeneration::hiddenTensor,
          &StackOnGeneration::hiddenGather, &StackOnGeneration::hostLayer, &StackOnGeneration::hostExperts,
          &StackOnGeneration::spread, &StackOnGeneration::expertSpread})
        QCOMPARE((*own).*number, row.*number);
    // Of the nearest generation, with twice the interval.
    const auto other = stackOn(sailor, GpuGeneration::Blackwell, set);
    QVERIFY(other.has_value() && other->generation == GpuGeneration::Ampere);
    QCOMPARE(other->spreadOf(Graph{}, GpuGeneration::Blackwell).high, 0.25);
    QCOMPARE(other->spreadOf(Graph{}, GpuGeneration::Blackwell).low, -0.25);
    QVERIFY(!stackOn(*findTrainingStack("paxml"), GpuGeneration::Hopper, set).has_value());
    // Every stack has numbers.
    for (const TrainingStack& stack : trainingStacks())
        QCOMPARE(stackOn(stack, GpuGeneration::Hopper, shippedCalibrations().set).has_value(), stack.id != "kernels");
}

// Where nobody says what trains, the interval holds what software of any kind adds; naming one does without.
void TstTrainingStacks::noStackNamed() {
    AnySoftware any;
    any.generation = GpuGeneration::Hopper;
    any.dense = {-0.125, 0.5}, any.experts = {0, 0.25};
    Calibration file;
    file.method = std::string(stackCalibration);
    file.methodVersion = "1";
    file.date = "2026-11-30";
    file.sections.push_back(softwareSection(any));
    const auto read = parseCalibration(writeCalibration(file), "mine.json");
    QVERIFY2(read.has_value(), read ? "" : toText(read.error()).c_str());
    CalibrationSet set;
    set.add(std::make_shared<const Calibration>(*read));
    const auto own = softwareOn(GpuGeneration::Hopper, set), other = softwareOn(GpuGeneration::Volta, set);
    QVERIFY(own && other);
    QCOMPARE(own->dense.low, -0.125);
    QCOMPARE(own->dense.high, 0.5);
    QCOMPARE(own->experts.high, 0.25);
    QCOMPARE(other->spreadOf(Graph{}, GpuGeneration::Volta).high, 1.0);
    // It is no stack that could be asked for.
    for (const TrainingStack& stack : trainingStacks()) QVERIFY(!stackOn(stack, GpuGeneration::Hopper, set));

    const auto asked = [&](const char* device, const char* method, const char* stack) {
        const auto found = loadHardware(device);
        WorkloadRecipe recipe;
        recipe.source = "llama-2-7b";
        recipe.options.batch = 8;
        recipe.options.sequence = 2048;
        recipe.options.phase = Phase::TrainingForward;
        const auto executor = makeSerialExecutor();
        EstimateContext context{*executor};
        context.options["stack"] = stack;
        context.calibrations = &set;
        auto answer = estimate(*findMethod(method),
                               {std::make_shared<const Hardware>(found->hardware),
                                *loadWorkload(recipe),
                                {},
                                TrainingStep{Optimizer::Adam, Recompute::None}},
                               context);
        if (!answer) qFatal("%s", toText(answer.error()).c_str());
        return *answer;
    };
    for (const char* method : {"tile-wave", "closed-form-step"}) {
        const Estimate without = asked("h100-sxm", method, "kernels");
        QVERIFY(without.interval.high / without.latency >= std::exp(0.5) * (1 - 1e-9));
        QVERIFY(without.interval.low / without.latency <= std::exp(-0.125) * (1 + 1e-9));
        QVERIFY(without.interval.basis.find("none is named") != std::string::npos);
    }
    // One device has software, too: a stack that is named counts there as in a plan.
    set = shippedCalibrations().set;
    const double alone = asked("h100-sxm", "tile-hybrid", "kernels").latency.value,
                 named = asked("h100-sxm", "tile-hybrid", "llm-foundry").latency.value;
    const double factor = stackOn(*findTrainingStack("llm-foundry"), GpuGeneration::Hopper, set)->kernels;
    QVERIFY2(named > std::min(factor, 1.02) * alone, qPrintable(QString::number(named / alone)));
    const Estimate sure = asked("h100-sxm", "tile-hybrid", "llm-foundry");
    QVERIFY(sure.interval.basis.find("none is named") == std::string::npos);
}

// What stacks do by themselves: the busiest part of a sequence, operators dropped one by one, hosts of many kernels.
void TstTrainingStacks::whatIsKnown() {
    StackOnGeneration row;
    row.attention = 2;
    QCOMPARE(onBusiest(*findTrainingStack("torchtitan"), row, 1).attention, 2.0);
    QCOMPARE(onBusiest(*findTrainingStack("torchtitan"), row, 4).attention, 3.5);
    QCOMPARE(onBusiest(*findTrainingStack("megatron-core"), row, 4).attention, 2.0);

    auto found = loadHardware("dgx-h100");
    QVERIFY(found.has_value());
    const auto hardware = std::make_shared<const Hardware>(std::move(found->hardware));
    const auto executor = makeSerialExecutor();
    const auto asked = [&](const char* model, const char* stack, Recompute recompute) {
        WorkloadRecipe recipe;
        recipe.source = model;
        recipe.options.batch = 16;
        recipe.options.sequence = 4096;
        recipe.options.phase = Phase::TrainingForward;
        EstimateContext context{*executor};
        context.options["stack"] = stack;
        const auto made =
            StepModel::make(*findMethod("tile-hybrid"),
                            {hardware, *loadWorkload(recipe), {}, TrainingStep{Optimizer::Adam, recompute}}, context);
        if (!made) qFatal("%s", toText(made.error()).c_str());
        return *made;
    };
    const Plan plan = *parsePlan("dp=8,zero=3,mb=1");
    const auto seconds = [&](const char* stack, Recompute recompute) {
        return asked("llama-3-8b", stack, recompute)->figures({plan, recompute})->compute;
    };
    const double none = seconds("torchtitan", Recompute::None), one = seconds("torchtitan", Recompute::Selective),
                 all = seconds("torchtitan", Recompute::Full);
    QVERIFY(none < one && one < all);
    // Not half of the products' forward passes alone: vector operators come again too.
    QVERIFY2((one - none) / (all - none) > 0.3 && (one - none) / (all - none) < 0.9,
             qPrintable(QString::number((one - none) / (all - none))));
    // A layer of experts takes what its host takes; one without does not.
    StackOnGeneration slow;
    slow.hostExperts = 0.5;
    const auto hosted = [&](const char* model, const char* how) {
        const auto its = asked(model, "megatron-core", Recompute::None);
        return its->figures({*parsePlan(how), Recompute::None}, slow)->compute;
    };
    QVERIFY(hosted("mixtral-8x7b", "dp=8,ep=8,mb=1") > 32 * 0.5);
    QVERIFY(hosted("llama-3-8b", "dp=8,mb=1") < 32 * 0.5);
}

void TstTrainingStacks::badTables() {
    const std::string path = std::string(ORRERY_TEST_OUTPUT) + "/bad-stacks.csv";
    const auto tried = [&](const std::string& header, const std::string& cells) {
        std::filesystem::create_directories(ORRERY_TEST_OUTPUT);
        std::ofstream(path) << "publication,software,licence,workload,hardware,plan,recompute,fusion,launch,flash,type,"
                               "batch,sequence,seconds"
                            << header
                            << "\nmine,own,MIT,llama-2-7b,dgx-h100,tp=8,selective,compile,graph,yes,bf16,64,2048,2.5"
                            << cells << "\n";
        const auto steps = readPublishedSteps(path);
        if (!steps) return steps.error().code;
        const auto fit = fitStacks(*steps, "2026-11-22");
        return fit ? std::string() : fit.error().code;
    };
    QCOMPARE(tried("", ""), std::string("steps.stack"));
    QCOMPARE(tried(",source,stack,half", ",mine,megatron-core,both"), std::string("steps.value"));
    QCOMPARE(tried(",source,stack,half", ",mine,megatron,fitted"), std::string("steps.stack"));
    QCOMPARE(tried(",source,stack,half", ",,megatron-core,fitted"), std::string("steps.stack"));
    QCOMPARE(tried(",source,stack,half", ",mine,megatron-core,fitted"), std::string());
}

void TstTrainingStacks::tableInAPage() {
    StackFit fit;
    fit.steps = {{"a", "kernels", false, 1, 1.1, 0.9, 1.2}, {"a", "sailor", true, 2, 1.8, 1.7, 1.9}};
    const std::string table = stackErrorTable(fit);
    QVERIFY(table.find("| a | `kernels`, `sailor` | 2 | 10.0 % | +0.0 % | 10.0 % of 1 | 50 % |\n") !=
            std::string::npos);
    fit.steps.pop_back();
    const std::string newer = stackErrorTable(fit);
    QCOMPARE(withErrorTable("before\n\n" + table + "\nafter\n", newer), "before\n\n" + newer + "\nafter\n");
    QCOMPARE(withErrorTable(table, newer), newer);
    QCOMPARE(withErrorTable("", newer), newer);
}

// The recipe of presets/calibrations/README.md: this table, then `orrery-cli train --fit-stacks`.
void TstTrainingStacks::madeAgain() {
    if (testing::tableRows(data_folder + "megatron/e2e_ground_truth.csv").empty()) QSKIP("no reference data");
    const auto all = testing::allTrainingRows(data_folder, table_folder);
    const auto steps = readPublishedSteps(testing::writePublishedSteps(all, table_folder, "stacks.csv", true));
    QVERIFY2(steps.has_value(), steps ? "" : toText(steps.error()).c_str());
#ifndef NDEBUG
    if (!qEnvironmentVariableIsSet("ORRERY_FIT")) QSKIP("a minute without optimisation: set ORRERY_FIT");
#endif
    const auto fit = fitStacks(*steps, "2026-11-22");
    QVERIFY2(fit.has_value(), fit ? "" : toText(fit.error()).c_str());
    const std::string table = stackErrorTable(*fit);
    qInfo("%s", table.c_str());
    QCOMPARE(fit->steps.size(), all.size());
    testing::MeasuredTable errors, judged, alone;
    std::vector<double> halves;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const StackStep& step = fit->steps[i];
        errors.add(step.source, all[i].identity, step.seconds, step.measured, step.low, step.high);
        if (!step.judged || step.stack == "kernels") continue;
        judged.add(step.source, all[i].identity, step.seconds, step.measured, step.low, step.high);
        alone.add(step.source, all[i].identity, step.alone, step.measured, step.aloneLow, step.aloneHigh);
        halves.push_back((step.high - step.low) / 2 / step.seconds);
    }
    std::sort(halves.begin(), halves.end());
    const auto seen = judged.all();
    qInfo("%zu judged steps: mean error %.1f %%, %.0f %% inside, half an interval is %.0f %% in the median", seen.rows,
          100 * seen.mean, 100 * seen.coverage, 100 * halves[halves.size() / 2]);
    const auto unnamed = alone.all();
    qInfo("no stack named: mean error %.1f %%, %.0f %% inside", 100 * unnamed.mean, 100 * unnamed.coverage);
    QVERIFY(textOf(presetsFolder() + "/calibrations/training-stacks.json") == writeCalibration(fit->calibration));
    QVERIFY(textOf(std::string(ORRERY_SOURCE) + "/resources/handbook/training.md").find(table) != std::string::npos);
    for (const std::string& source : errors.sources())
        QVERIFY2(errors.of(source).mean < testing::targetOf(source), source.c_str());
    QVERIFY(seen.coverage >= 0.85 && seen.coverage < 0.97);
    QVERIFY(unnamed.coverage >= 0.85 && unnamed.mean > seen.mean);
}

QTEST_GUILESS_MAIN(TstTrainingStacks)
#include "tst_training_stacks.moc"
