#include "evaluation/published_steps.h"

#include "base/executor.h"
#include "base/hash.h"
#include "evaluation/csv_file.h"
#include "hardware/files/catalogue.h"
#include "methods/system/training/step_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

namespace orrery {

namespace {

enum Column : std::size_t {
    Publication,
    Software,
    Licence,
    Model,
    Drawing,
    PlanOf,
    Again,
    FusionOf,
    LaunchOf,
    Flash,
    Type,
    Batch,
    Sequence,
    Time,
    Source,
    Stack,
    Half
};
constexpr std::size_t needed = Time + 1, npos = static_cast<std::size_t>(-1);
constexpr std::array<std::string_view, 17> columns{
    "publication", "software", "licence", "workload", "hardware", "plan",   "recompute", "fusion", "launch",
    "flash",       "type",     "batch",   "sequence", "seconds",  "source", "stack",     "half"};

/// A row's cells by the table's columns, and what is wrong with them.
class StepCells {
public:
    StepCells(const CsvFile& file, const std::array<std::size_t, columns.size()>& at, std::size_t row)
        : file_(file), at_(at), row_(row) {}

    std::string text(Column column) const {
        const auto& cells = file_.rows[row_];
        return at_[column] < cells.size() ? cells[at_[column]] : std::string();
    }
    int line() const { return file_.lines[row_]; }
    Diagnostic wrong(Column column, std::string expected) const {
        return Diagnostic{Severity::Error,
                          "steps.value",
                          fmt::format("`{}` is no {}", text(column), columns[column]),
                          std::move(expected),
                          {},
                          Place{file_.path, line(), 0, {}}};
    }
    Expected<std::int64_t> whole(Column column, std::int64_t least) const {
        const auto value = file_.number(row_, at_[column]);
        if (!value) return Unexpected(value.error());
        if (!(*value >= static_cast<double>(least) && *value <= 1e12) || *value != std::floor(*value))
            return Unexpected(wrong(column, fmt::format("a whole number, {} or more", least)));
        return static_cast<std::int64_t>(*value);
    }
    Expected<double> seconds() const {
        const auto value = file_.number(row_, at_[Time]);
        if (!value) return Unexpected(value.error());
        if (!(*value > 0 && *value < 1e9)) return Unexpected(wrong(Time, "above 0"));
        return *value;
    }
    /// A file beside the table, if there is one of that name.
    std::string found(Column column) const {
        const std::string name = text(column);
        const auto beside = std::filesystem::path(file_.path).parent_path() / name;
        std::error_code error;
        return std::filesystem::is_regular_file(beside, error) ? beside.string() : name;
    }

private:
    const CsvFile& file_;
    const std::array<std::size_t, columns.size()>& at_;
    std::size_t row_;
};

Expected<PublishedStep> stepOf(const StepCells& cells) {
    PublishedStep step;
    step.line = cells.line();
    step.publication = cells.text(Publication);
    step.software = cells.text(Software);
    step.licence = cells.text(Licence);
    if (step.publication.empty()) return Unexpected(cells.wrong(Publication, "a name"));
    step.hardware = cells.found(Drawing);
    step.recipe.source = cells.found(Model);
    const auto plan = parsePlan(cells.text(PlanOf));
    if (!plan) return Unexpected(cells.wrong(PlanOf, toText(plan.error())));
    step.plan = *plan;
    const auto task = parseTask(fmt::format("training-step(recompute={})", cells.text(Again)));
    if (!task) return Unexpected(cells.wrong(Again, "none, selective or full"));
    step.recompute = std::get<TrainingStep>(*task).recompute;
    step.fusion = cells.text(FusionOf);
    step.launch = cells.text(LaunchOf);
    const auto kernels =
        methodChoice(fmt::format("tile-hybrid(fusion={}, launch={})", step.fusion, step.launch), builtinMethods());
    if (!kernels) return Unexpected(cells.wrong(FusionOf, toText(kernels.error())));
    const std::string flash = cells.text(Flash);
    if (flash != "yes" && flash != "no") return Unexpected(cells.wrong(Flash, "yes or no"));
    const auto type = dtype(cells.text(Type));
    if (!type) return Unexpected(cells.wrong(Type, "bf16, fp8, fp16, tf32, fp32"));
    const auto batch = cells.whole(Batch, 1), sequence = cells.whole(Sequence, 0);
    const auto seconds = cells.seconds();
    if (!batch || !sequence) return Unexpected((batch ? sequence : batch).error());
    if (!seconds) return Unexpected(seconds.error());
    WorkloadOptions& options = step.recipe.options;
    options.batch = *batch;
    options.sequence = *sequence;
    options.phase = Phase::TrainingForward;
    options.weights = options.activations = options.kv = *type;
    options.flashAttention = flash == "yes";
    step.seconds = *seconds;
    step.source = cells.text(Source);
    step.stack = cells.text(Stack);
    const std::string half = cells.text(Half);
    if (!half.empty() && half != "fitted" && half != "judged") return Unexpected(cells.wrong(Half, "fitted or judged"));
    step.judged = half == "judged";
    return step;
}

}  // namespace

Expected<PublishedSteps> readPublishedSteps(const std::string& path) {
    const auto file = readCsv(path);
    if (!file) return Unexpected(file.error());
    std::array<std::size_t, columns.size()> at{};
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto column = file->column(columns[c]);
        if (!column && c < needed) return Unexpected(column.error());
        at[c] = column ? *column : npos;
    }
    PublishedSteps steps;
    steps.path = path;
    Hash hash;
    for (std::size_t r = 0; r < file->rows.size(); ++r) {
        auto step = stepOf(StepCells(*file, at, r));
        if (!step) return Unexpected(std::move(step.error()));
        for (const std::string& cell : file->rows[r]) hash.add(cell);
        steps.rows.push_back(std::move(*step));
    }
    steps.hash = hash.hex();
    return steps;
}

Expected<StepCorrectionRow> stepCorrectionRow(const PublishedStep& step, const std::string& table,
                                              const std::stop_token& stop) {
    const auto placed = [&](Diagnostic error) {
        if (error.place.file.empty()) error.place = Place{table, step.line, 0, {}};
        return Unexpected(std::move(error));
    };
    auto hardware = loadHardware(step.hardware);
    if (!hardware) return placed(std::move(hardware.error()));
    const auto workload = loadWorkload(step.recipe);
    if (!workload) return placed(workload.error());
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, stop};
    context.options["fusion"] = step.fusion;
    context.options["launch"] = step.launch;
    const Scenario scenario{std::make_shared<const Hardware>(std::move(hardware->hardware)),
                            *workload,
                            {},
                            TrainingStep{Optimizer::Adam, step.recompute}};
    const auto model = StepModel::make(*findMethod("tile-hybrid"), scenario, context);
    if (!model) return placed(model.error());
    const StepPlan plan{step.plan, step.recompute};
    const auto figures = (*model)->figures(plan, stop);
    if (!figures) return placed(figures.error());
    const auto shard = (*model)->shard(plan, stop);
    if (!shard) return placed(shard.error());
    auto features = stepFeatures(**model, plan, *figures, *shard, step.fusion != "none");
    if (!features) return placed(std::move(features.error()));
    return StepCorrectionRow{step.publication, std::move(*features), figures->seconds, step.seconds};
}

Expected<PublishedStepFit> fitPublishedSteps(const PublishedSteps& steps, const std::string& date,
                                             const std::stop_token& stop,
                                             const std::function<void(std::size_t)>& progress) {
    std::vector<StepCorrectionRow> rows;
    std::map<std::string, CalibrationSource> sources;
    std::map<std::string, Hash> hashes;
    for (const PublishedStep& step : steps.rows) {
        auto row = stepCorrectionRow(step, steps.path, stop);
        if (!row) return Unexpected(std::move(row.error()));
        rows.push_back(std::move(*row));
        CalibrationSource& source = sources[step.publication];
        source.name = step.publication;
        source.software = step.software;
        source.licence = step.licence;
        ++source.rows;
        hashes[step.publication].add(toText(step.plan)).add(step.seconds);
        if (progress) progress(rows.size());
    }
    auto correction = fitStepCorrection(rows, stop);
    if (!correction) return Unexpected(std::move(correction.error()));
    for (auto& [name, source] : sources) {
        source.hash = hashes[name].hex();
        correction->section.sources.push_back(source);
    }
    correction->section.split =
        "all rows of the table; one publication after the other left out for the strength "
        "of the ridge and the interval outside, rows by ten folds for the interval inside";
    PublishedStepFit fit;
    fit.calibration.method = "learned-step";
    fit.calibration.methodVersion = findMethod("learned-step")->card.version;
    fit.calibration.date = date;
    fit.calibration.sections.push_back(correction->section);
    fit.correction = std::move(*correction);
    return fit;
}

}  // namespace orrery
