#include "evaluation/stack_fit.h"

#include "base/executor.h"
#include "base/hash.h"
#include "evaluation/stack_solver.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/device_view.h"
#include "methods/system/training/step_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace orrery {

namespace {

constexpr std::size_t enoughForInterval = 9;
constexpr int rounds = 3;  // of what stacks have in common

/// A row whose kernels and exchanges are priced.
struct PricedStep {
    const PublishedStep* step = nullptr;
    const TrainingStack* stack = nullptr;
    std::shared_ptr<const StepModel> model;
    StepPlan plan;
    GpuGeneration generation = GpuGeneration::Ampere;
    bool experts = false;
    StepFigures answer;
    double alone = 0;  ///< s by kernels alone, with nothing that the stack adds
};

/// Rows that share numbers.
struct StackGroup {
    const TrainingStack* stack = nullptr;
    GpuGeneration generation = GpuGeneration::Ampere;
    std::vector<std::size_t> fitted;
    StackSolution solution;
    StackOnGeneration row;
    std::vector<double> dense, experts;  ///< sizes of ln, as if left out
};

Diagnostic placed(Diagnostic error, const PublishedSteps& steps, const PublishedStep& step) {
    if (error.place.file.empty()) error.place = Place{steps.path, step.line, 0, {}};
    return error;
}

Expected<PricedStep> priceStep(const PublishedSteps& steps, const PublishedStep& step, const std::stop_token& stop) {
    const auto failed = [&](Diagnostic error) { return Unexpected(placed(std::move(error), steps, step)); };
    PricedStep priced;
    priced.step = &step;
    priced.stack = findTrainingStack(step.stack);
    if (!priced.stack || step.source.empty())
        return failed(fail("steps.stack", fmt::format("`{}` is no training stack", step.stack),
                           "columns `source`, `stack` (as the option of methods names them) and `half`",
                           "kernels where none stands for it")
                          .value());
    auto hardware = loadHardware(step.hardware);
    if (!hardware) return failed(std::move(hardware.error()));
    const auto workload = loadWorkload(step.recipe);
    if (!workload) return failed(workload.error());
    const auto device = deviceView(hardware->hardware);
    if (!device) return failed(device.error());
    priced.generation = generationOf(*device);
    const Scenario scenario{std::make_shared<const Hardware>(std::move(hardware->hardware)),
                            *workload,
                            {},
                            TrainingStep{Optimizer::Adam, step.recompute}};
    const auto executor = makeSerialExecutor();
    const auto modelWith = [&](const std::string& stack) {
        EstimateContext context{*executor, stop};
        context.options["fusion"] = step.fusion;
        context.options["launch"] = step.launch;
        context.options["stack"] = stack;
        return StepModel::make(*findMethod("tile-hybrid"), scenario, context);
    };
    auto model = modelWith(step.stack);
    if (!model) return failed(std::move(model.error()));
    priced.model = std::move(*model);
    priced.plan = {step.plan, step.recompute};
    const auto bare = modelWith(std::string(trainingStacks().front().id));
    if (!bare) return failed(bare.error());
    const auto alone = (*bare)->figures(priced.plan, stop);
    if (!alone) return failed(alone.error());
    priced.alone = alone->seconds;
    const auto shard = priced.model->shard(priced.plan, stop);
    if (!shard) return failed(shard.error());
    priced.experts = hasExperts(shard->workload->graph);
    auto answer = priced.model->figures(priced.plan, stop);
    if (!answer) return failed(std::move(answer.error()));
    priced.answer = std::move(*answer);
    return priced;
}

std::vector<StackGroup> groupsOf(const std::vector<PricedStep>& rows) {
    std::vector<StackGroup> groups;
    for (const TrainingStack& stack : trainingStacks().subspan(1)) {
        std::map<GpuGeneration, std::vector<std::size_t>> byGeneration;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const bool own = stack.of.empty()
                                 ? rows[i].stack == &stack
                                 : std::find(stack.of.begin(), stack.of.end(), rows[i].stack->id) != stack.of.end();
            if (own && !rows[i].step->judged) byGeneration[rows[i].generation].push_back(i);
        }
        for (auto& [generation, fitted] : byGeneration) {
            StackGroup& made = groups.emplace_back();
            made.stack = &stack;
            made.generation = generation;
            made.fitted = std::move(fitted);
        }
    }
    return groups;
}

StackProblem problemOf(const std::vector<PricedStep>& rows, const StackGroup& group, const std::stop_token& stop) {
    StackProblem problem;
    std::map<std::string, double> ofSource;
    for (const std::size_t i : group.fitted) ++ofSource[rows[i].step->source];
    for (const std::size_t i : group.fitted) {
        problem.measured.push_back(rows[i].step->seconds);
        problem.weights.push_back(1 / std::sqrt(ofSource[rows[i].step->source]));
        problem.eager |= rows[i].step->launch == "eager";
        problem.experts |= rows[i].experts;
    }
    const double sum = [&] {
        double all = 0;
        for (const double each : problem.weights) all += each;
        return all;
    }();
    for (double& each : problem.weights) each *= static_cast<double>(problem.weights.size()) / sum;
    problem.answer = [&rows, &group, stop](const StackOnGeneration& row, std::size_t i) {
        const PricedStep& its = rows[group.fitted[i]];
        const auto figures = its.model->figures(its.plan, row, stop);
        return figures ? figures->seconds : 0;
    };
    return problem;
}

/// Of sizes, the least that 90 % of further ones do not pass.
double conformal(std::vector<double> sizes) {
    if (sizes.empty()) return 0;
    std::sort(sizes.begin(), sizes.end());
    const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(sizes.size() + 1)));
    return std::round(1000 * sizes[std::min(rank, sizes.size()) - 1]) / 1000;
}

void setIntervals(std::vector<StackGroup>& groups) {
    for (StackGroup& group : groups) {
        const auto spread = [&](std::vector<double> StackGroup::*sizes) {
            if ((group.*sizes).size() >= enoughForInterval) return conformal(group.*sizes);
            std::vector<double> all;
            for (const StackGroup& other : groups)
                if (other.generation == group.generation && other.stack->of.empty())
                    all.insert(all.end(), (other.*sizes).begin(), (other.*sizes).end());
            return conformal(all);
        };
        group.row.spread = spread(&StackGroup::dense);
        if (!group.experts.empty()) group.row.expertSpread = spread(&StackGroup::experts);
    }
}

/// The shortest stretch that holds 90 % of further ones, as of conformal(); with nothing added inside it.
StepSpread shortestSpread(std::vector<double> sizes) {
    if (sizes.empty()) return {};
    std::sort(sizes.begin(), sizes.end());
    const auto wanted = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(sizes.size() + 1)));
    const std::size_t held = std::min(wanted, sizes.size());
    std::size_t best = 0;
    for (std::size_t i = 1; i + held <= sizes.size(); ++i)
        if (sizes[i + held - 1] - sizes[i] < sizes[best + held - 1] - sizes[best]) best = i;
    const auto rounded = [](double size) { return std::round(1000 * size) / 1000; };
    return {rounded(std::min(0.0, sizes[best])), rounded(std::max(0.0, sizes[best + held - 1]))};
}

/// By generation, where it has steps enough, else those of all; nothing of a row's own answer was fitted, so that no
/// leverage counts.
std::vector<AnySoftware> anySoftware(const std::vector<PricedStep>& rows) {
    std::map<GpuGeneration, std::array<std::vector<double>, 2>> sizes;
    for (const PricedStep& row : rows)
        if (!row.step->judged && row.alone > 0)
            sizes[row.generation][row.experts ? 1 : 0].push_back(std::log(row.step->seconds / row.alone));
    std::array<std::vector<double>, 2> all;
    for (const auto& [generation, of] : sizes)
        for (std::size_t k = 0; k < all.size(); ++k) all[k].insert(all[k].end(), of[k].begin(), of[k].end());
    std::vector<AnySoftware> made;
    for (const auto& [generation, of] : sizes) {
        const auto spread = [&](std::size_t k) {
            return shortestSpread(of[k].size() < enoughForInterval ? all[k] : of[k]);
        };
        made.push_back({generation, spread(0), spread(1)});
    }
    return made;
}

constexpr const char* fitted_half = "the rows of the table that its column `half` leaves for fitting";

std::vector<CalibrationSource> sourcesOf(const std::vector<PricedStep>& rows, const std::vector<std::size_t>& fitted) {
    std::map<std::string, CalibrationSource> sources;
    std::map<std::string, Hash> hashes;
    for (const std::size_t i : fitted) {
        const PublishedStep& step = *rows[i].step;
        CalibrationSource& source = sources[step.publication];
        source.name = step.publication;
        source.software = step.software;
        source.licence = step.licence;
        ++source.rows;
        hashes[step.publication].add(toText(step.plan)).add(step.seconds);
    }
    std::vector<CalibrationSource> all;
    for (auto& [name, source] : sources) {
        source.hash = hashes[name].hex();
        all.push_back(source);
    }
    return all;
}

/// Sections of one calibration, with where their steps come from.
CalibrationSection sectionOf(const StackGroup& group, const std::vector<PricedStep>& rows) {
    CalibrationSection section = stackSection(group.stack->id, group.row);
    section.sources = sourcesOf(rows, group.fitted);
    section.parameters.emplace("decided by steps", std::round(10 * group.solution.decided) / 10);
    section.split = fitted_half;
    return section;
}

}  // namespace

Expected<StackFit> fitStacks(const PublishedSteps& steps, const std::string& date, const std::stop_token& stop) {
    std::vector<PricedStep> rows;
    for (const PublishedStep& step : steps.rows) {
        auto row = priceStep(steps, step, stop);
        if (!row) return Unexpected(std::move(row.error()));
        rows.push_back(std::move(*row));
    }
    std::vector<StackGroup> groups = groupsOf(rows);
    StackPrior prior = firstPrior();
    for (int round = 0; round < rounds; ++round) {
        std::vector<StackSolution> each;
        for (StackGroup& group : groups) {
            if (stop.stop_requested()) return fail("stopped", "the fit was stopped", "", "");
            const StackNumbers before = group.solution.numbers;
            group.solution = solveStack(problemOf(rows, group, stop), prior, round > 0 ? &before : nullptr);
            if (group.stack->of.empty()) each.push_back(group.solution);
        }
        if (round + 1 < rounds) prior = commonPrior(each);
    }
    for (StackGroup& group : groups) {
        group.row = group.solution.row;
        group.row.generation = group.generation;
        for (std::size_t i = 0; i < group.fitted.size(); ++i) {
            const double size = std::abs(group.solution.residuals[i]) / (1 - group.solution.leverages[i]);
            (rows[group.fitted[i]].experts ? group.experts : group.dense).push_back(size);
        }
    }
    setIntervals(groups);

    StackFit fit;
    fit.calibration.method = std::string(stackCalibration);
    fit.calibration.methodVersion = "1";
    fit.calibration.date = date;
    for (const StackGroup& group : groups) fit.calibration.sections.push_back(sectionOf(group, rows));
    for (const AnySoftware& any : anySoftware(rows)) {
        CalibrationSection& section = fit.calibration.sections.emplace_back(softwareSection(any));
        std::vector<std::size_t> fitted;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (!rows[i].step->judged && rows[i].generation == any.generation) fitted.push_back(i);
        section.sources = sourcesOf(rows, fitted);
        section.split = fitted_half;
    }
    CalibrationSet set;
    set.add(std::make_shared<const Calibration>(fit.calibration));
    for (PricedStep& row : rows) {
        StackStep& step = fit.steps.emplace_back();
        step = {row.step->source, row.step->stack, row.step->judged, row.step->seconds};
        if (const auto numbers = stackOn(*row.stack, row.generation, set)) {
            auto answer = row.model->figures(row.plan, *numbers, stop);
            if (!answer) return Unexpected(placed(std::move(answer.error()), steps, *row.step));
            row.answer = std::move(*answer);
        }
        step.alone = step.aloneLow = step.aloneHigh = row.alone;
        if (const auto any = softwareOn(row.generation, set)) {
            const StepSpread spread = row.experts && any->experts.known() ? any->experts : any->dense;
            step.aloneLow *= std::exp(spread.low), step.aloneHigh *= std::exp(spread.high);
        }
        step.seconds = row.answer.seconds;
        step.low = row.answer.low;
        step.high = row.answer.high;
    }
    return fit;
}

std::string stackErrorTable(const StackFit& fit) {
    struct Sums {
        std::set<std::string> stacks;
        double rows = 0, error = 0, judged = 0, judgedError = 0, inside = 0, bias = 0;
    };
    std::map<std::string, Sums> sources;
    Sums all;
    for (const StackStep& step : fit.steps) {
        const double error = step.seconds / step.measured - 1;
        for (Sums* its : {&sources[step.source], &all}) {
            its->stacks.insert(step.stack);
            ++its->rows;
            its->error += std::abs(error);
            its->bias += error;
            its->inside += step.low <= step.measured && step.measured <= step.high ? 1 : 0;
            if (!step.judged) continue;
            ++its->judged;
            its->judgedError += std::abs(error);
        }
    }
    std::string text =
        "| source | stack | rows | mean error | bias | judged half | inside the interval "
        "|\n|---|---|---|---|---|---|---|\n";
    const auto line = [&](const std::string& name, const Sums& its, const std::string& stacks) {
        const std::string judged =
            its.judged > 0 ? fmt::format("{:.1f} % of {}", 100 * its.judgedError / its.judged, its.judged) : "none";
        text += fmt::format("| {} | {} | {} | {:.1f} % | {:+.1f} % | {} | {:.0f} % |\n", name, stacks, its.rows,
                            100 * its.error / its.rows, 100 * its.bias / its.rows, judged, 100 * its.inside / its.rows);
    };
    for (const auto& [name, its] : sources) {
        std::string stacks;
        for (const std::string& stack : its.stacks) stacks += fmt::format("{}`{}`", stacks.empty() ? "" : ", ", stack);
        line(name, its, stacks);
    }
    if (all.rows > 0) line("all", all, "");
    return text;
}

std::string withErrorTable(std::string page, const std::string& table) {
    const std::string header = table.substr(0, table.find('\n') + 1);
    const auto begin = page.find(header);
    if (begin == std::string::npos) return table;
    auto end = begin;
    while (end < page.size() && page[end] == '|') end = std::min(page.find('\n', end), page.size() - 1) + 1;
    return page.replace(begin, end - begin, table);
}

}  // namespace orrery
