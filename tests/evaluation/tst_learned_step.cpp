// The learned correction of a training step: what is shipped can be made again from the published steps, byte by byte;
// it is better than kernels alone where nothing was fitted, also for publications and generations that it never saw;
// its intervals hold. Errors are printed per source.

#include "base/executor.h"
#include "base/text/read_file.h"
#include "evaluation/published_steps.h"
#include "hardware/files/catalogue.h"
#include "support/published_steps_table.h"

#include <QtTest/QtTest>

#include <functional>
#include <set>

using namespace orrery;
using testing::TrainingRow;

namespace {

const std::string data_folder = std::string(ORRERY_REFERENCE) + "/training/data/";
const std::string table_folder = std::string(ORRERY_TEST_OUTPUT) + "/published-steps";
constexpr const char* fitDate = "2026-11-22";

std::string shippedFile() {
    return presetsFolder() + "/calibrations/learned-step.json";
}

std::string generationOf(const TrainingRow& row) {
    const auto has = [&](const char* word) { return (row.preset + row.source).find(word) != std::string::npos; };
    return has("v100") || has("V100")   ? "Volta"
           : has("a100") || has("A100") ? "Ampere"
           : has("b300")                ? "Blackwell Ultra"
           : has("b200")                ? "Blackwell"
                                        : "Hopper";
}

/// A row with its closed form and features, and what each way of predicting says.
struct Judged {
    TrainingRow row;
    StepCorrectionRow step;
    bool fitted = false;
    SectionPrice kernels, learned, without, older;  ///< `without` its publication; `older`: without its generation
};

struct Errors {
    std::size_t rows = 0, inside = 0;
    double sum = 0, width = 0;
    std::vector<double> halves;
    void add(const SectionPrice& price, double measured) {
        ++rows;
        sum += std::abs(price.seconds / measured - 1);
        if (price.low <= measured && measured <= price.high) ++inside;
        halves.push_back((price.high - price.low) / 2 / price.seconds);
    }
    double mean() const { return rows > 0 ? sum / static_cast<double>(rows) : 0; }
    double coverage() const { return rows > 0 ? static_cast<double>(inside) / static_cast<double>(rows) : 0; }
    double half() const {
        auto sorted = halves;
        std::sort(sorted.begin(), sorted.end());
        return sorted.empty() ? 0 : sorted[sorted.size() / 2];
    }
};

}  // namespace

class TstLearnedStep : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void madeAgain();
    void errorsBySource();
    void strangers();
    void generations();
    void badTables_data();
    void badTables();
    void badQuestions();

private:
    std::vector<Judged> rows_;
    std::string recipe_;
};

void TstLearnedStep::initTestCase() {
    if (testing::tableRows(data_folder + "megatron/e2e_ground_truth.csv").empty()) return;
    const auto all = testing::allTrainingRows(data_folder, table_folder);
    std::vector<TrainingRow> fitted;
    std::copy_if(all.begin(), all.end(), std::back_inserter(fitted), testing::fittedOn);
    recipe_ = testing::writePublishedSteps(fitted, table_folder);
    const auto table = readPublishedSteps(testing::writePublishedSteps(all, table_folder, "every-step.csv"));
    QVERIFY2(table.has_value(), table ? "" : toText(table.error()).c_str());
    QCOMPARE(table->rows.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto step = stepCorrectionRow(table->rows[i], table->path);
        if (!step) qFatal("%s: %s", all[i].identity.c_str(), toText(step.error()).c_str());
        rows_.push_back({all[i], std::move(*step), testing::fittedOn(all[i])});
    }
    const auto shipped = readCalibration(shippedFile());
    QVERIFY2(shipped.has_value(), shipped ? "" : toText(shipped.error()).c_str());
    const auto price = [](const CalibrationSection& section, const StepCorrectionRow& step) {
        return priceStep(section, step.closed, step.features);
    };
    const auto without = [&](const std::function<std::string(const Judged&)>& key, SectionPrice Judged::*answer) {
        std::set<std::string> keys;
        for (const Judged& row : rows_) keys.insert(key(row));
        for (const std::string& left : keys) {
            std::vector<StepCorrectionRow> seen;
            for (const Judged& row : rows_)
                if (row.fitted && key(row) != left) seen.push_back(row.step);
            const auto fit = fitStepCorrection(seen);
            if (!fit) qFatal("%s", toText(fit.error()).c_str());
            for (Judged& row : rows_)
                if (key(row) == left) row.*answer = price(fit->section, row.step);
        }
    };
    for (Judged& row : rows_) {
        row.kernels = {row.step.closed, row.step.closed, row.step.closed};
        row.learned = price(shipped->sections.front(), row.step);
    }
    without([](const Judged& row) { return row.step.publication; }, &Judged::without);
    without([](const Judged& row) { return generationOf(row.row); }, &Judged::older);
}

// The recipe of presets/calibrations/README.md: this table, then `orrery-cli train --fit-step`.
void TstLearnedStep::madeAgain() {
    if (rows_.empty()) QSKIP("no reference data");
    const auto table = readPublishedSteps(recipe_);
    QVERIFY(table.has_value());
    const auto fit = fitPublishedSteps(*table, fitDate);
    QVERIFY2(fit.has_value(), fit ? "" : toText(fit.error()).c_str());
    qInfo(
        "%zu steps: kernels alone %.1f %%, fitted %.1f %%; left out: rows %.1f %%, publications %.1f %%; ridge "
        "%.0f",
        table->rows.size(), 100 * fit->correction.before, 100 * fit->correction.fitted, 100 * fit->correction.rowsOut,
        100 * fit->correction.publicationsOut, fit->correction.ridge);
    const auto shipped = readFile(shippedFile(), std::size_t{1} << 24);
    QVERIFY(shipped.has_value());
    QVERIFY(writeCalibration(fit->calibration) == *shipped);
}

void TstLearnedStep::errorsBySource() {
    if (rows_.empty()) QSKIP("no reference data");
    std::map<std::string, std::array<Errors, 4>> sources;
    std::array<Errors, 4> all;
    for (const Judged& row : rows_) {
        if (row.fitted) continue;
        const SectionPrice* prices[]{&row.kernels, &row.learned, &row.without, &row.older};
        for (std::size_t k = 0; k < 4; ++k)
            for (Errors* each : {&sources[row.row.source][k], &all[k]}) each->add(*prices[k], row.row.measured);
    }
    const auto line = [](const std::string& name, const std::array<Errors, 4>& its) {
        qInfo(
            "%-50s %3zu judged: kernels %5.1f %%, learned %5.1f %% (%3.0f %% inside), its publication left out %5.1f "
            "%% (%3.0f %%), its generation %5.1f %% (%3.0f %%)",
            name.c_str(), its[0].rows, 100 * its[0].mean(), 100 * its[1].mean(), 100 * its[1].coverage(),
            100 * its[2].mean(), 100 * its[2].coverage(), 100 * its[3].mean(), 100 * its[3].coverage());
    };
    for (const auto& [name, its] : sources) line(name, its);
    line("all", all);
    qInfo("median half interval: learned %.0f %%, publication left out %.0f %%, generation left out %.0f %%",
          100 * all[1].half(), 100 * all[2].half(), 100 * all[3].half());
    QVERIFY(all[1].mean() < 0.7 * all[0].mean());
    QVERIFY(all[1].coverage() >= 0.85 && all[1].coverage() <= 0.95);
}

// What somebody with software that nobody published may expect.
void TstLearnedStep::strangers() {
    if (rows_.empty()) QSKIP("no reference data");
    Errors kernels, without;
    for (const Judged& row : rows_) {
        kernels.add(row.kernels, row.row.measured);
        without.add(row.without, row.row.measured);
    }
    qInfo("all rows: kernels %.1f %%, publication left out %.1f %%, %.0f %% inside", 100 * kernels.mean(),
          100 * without.mean(), 100 * without.coverage());
    QVERIFY(without.mean() < 0.8 * kernels.mean());
}

void TstLearnedStep::generations() {
    if (rows_.empty()) QSKIP("no reference data");
    std::map<std::string, std::array<Errors, 2>> generations;
    std::array<Errors, 2> all;
    for (const Judged& row : rows_) {
        for (auto* its : {&generations[generationOf(row.row)], &all}) {
            (*its)[0].add(row.kernels, row.row.measured);
            (*its)[1].add(row.older, row.row.measured);
        }
    }
    for (const auto& [name, its] : generations)
        qInfo("%-16s %3zu rows: kernels %5.1f %%, generation left out %5.1f %%, %3.0f %% inside", name.c_str(),
              its[0].rows, 100 * its[0].mean(), 100 * its[1].mean(), 100 * its[1].coverage());
    QVERIFY(all[1].mean() < 0.85 * all[0].mean());
}

void TstLearnedStep::badTables_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("code");
    QTest::newRow("column") << "plan"
                            << "planned"
                            << "reference.no-column";
    QTest::newRow("publication") << "mine"
                                 << ""
                                 << "steps.value";
    QTest::newRow("plan") << "tp=8"
                          << "tp=eight"
                          << "steps.value";
    QTest::newRow("recompute") << "selective"
                               << "sometimes"
                               << "steps.value";
    QTest::newRow("fusion") << "compile"
                            << "glued"
                            << "steps.value";
    QTest::newRow("flash") << "yes"
                           << "perhaps"
                           << "steps.value";
    QTest::newRow("type") << "bf16"
                          << "bf15"
                          << "steps.value";
    QTest::newRow("batch") << "64"
                           << "6.4"
                           << "steps.value";
    QTest::newRow("seconds") << "2.5"
                             << "-2.5"
                             << "steps.value";
    QTest::newRow("word") << "2.5"
                          << "long"
                          << "reference.not-a-number";
}

void TstLearnedStep::badTables() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, code);
    QString text =
        "publication,software,licence,workload,hardware,plan,recompute,fusion,launch,flash,type,batch,sequence,"
        "seconds\n"
        "mine,own,MIT,llama-2-7b,dgx-h100,tp=8,selective,compile,graph,yes,bf16,64,2048,2.5\n";
    const std::string path = std::string(ORRERY_TEST_OUTPUT) + "/steps.csv";
    const auto written = [&] {
        std::filesystem::create_directories(ORRERY_TEST_OUTPUT);
        std::ofstream(path) << text.toStdString();
        return readPublishedSteps(path);
    };
    const auto good = written();
    QVERIFY2(good.has_value(), good ? "" : toText(good.error()).c_str());
    text.replace(from, to);
    const auto bad = written();
    QVERIFY(!bad.has_value());
    QCOMPARE(QString::fromStdString(bad.error().code), code);
    QCOMPARE(QString::fromStdString(bad.error().place.file), QString::fromStdString(path));
    // Three publications at least say what a stranger may expect.
    const auto few = fitPublishedSteps(*good, fitDate);
    QVERIFY(!few.has_value());
    QCOMPARE(few.error().code, std::string("learning.no-rows"));
}

void TstLearnedStep::badQuestions() {
    auto hardware = loadHardware("dgx-h100");
    QVERIFY(hardware.has_value());
    WorkloadRecipe recipe;
    recipe.source = "llama-2-7b";
    recipe.options.batch = 64;
    recipe.options.sequence = 2048;
    recipe.options.phase = Phase::TrainingForward;
    const Scenario scenario{std::make_shared<const Hardware>(std::move(hardware->hardware)), *loadWorkload(recipe),
                            *parsePlan("tp=8,mb=8"), TrainingStep{}};
    const auto asked = [&](const char* compute, const CalibrationSet* calibrations = nullptr) {
        const auto executor = makeSerialExecutor();
        EstimateContext context{*executor};
        context.options["compute"] = compute;
        context.calibrations = calibrations;
        return estimate(*findMethod("learned-step"), scenario, context);
    };
    const auto stacked = asked("tile-hybrid(stack=megatron-core)");
    QVERIFY(!stacked.has_value());
    QCOMPARE(stacked.error().code, std::string("method.stack"));
    const CalibrationSet none;
    const auto bare = asked("tile-hybrid", &none);
    QVERIFY(!bare.has_value());
    QCOMPARE(bare.error().code, std::string("calibration.missing"));

    const auto answer = asked("tile-hybrid");
    QVERIFY2(answer.has_value(), answer ? "" : toText(answer.error()).c_str());
    double sum = 0;
    for (const double each : answer->operators.seconds) sum += each;
    QVERIFY(std::abs(sum / answer->latency.value - 1) < 1e-9);
    QVERIFY(answer->interval.low < answer->latency && answer->latency < answer->interval.high);
    const auto figure = [&](const char* label) {
        for (const Figure& each : answer->figures)
            if (each.label == label) return each.value;
        return 0.0;
    };
    const double tokens = 64 * 2048;
    QVERIFY(std::abs(figure("Throughput") * answer->latency.value / tokens - 1) < 1e-6);
    QVERIFY(figure("Closed form of kernels alone") > 0);
}

QTEST_GUILESS_MAIN(TstLearnedStep)
#include "tst_learned_step.moc"
