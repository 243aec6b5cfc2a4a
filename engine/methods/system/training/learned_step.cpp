#include "methods/system/training/learned_step.h"

#include "methods/system/training/closed_form_step.h"
#include "methods/system/training/figure_intervals.h"
#include "methods/system/training/step_correction.h"
#include "methods/system/training/step_features.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

void scaleTo(Estimate& answer, double seconds) {
    const double factor = answer.latency.value > 0 ? seconds / answer.latency.value : 1;
    OperatorEstimates& ops = answer.operators;
    for (auto* column : {&ops.seconds, &ops.lowSeconds, &ops.highSeconds, &ops.forwardSeconds, &ops.updateSeconds})
        for (double& each : *column) each *= factor;
    answer.latency = Seconds(seconds);
}

// Rates follow the time; shares of the step are the closed form's, and stay out where they are seconds of another sum.
void setFigures(Estimate& answer, double factor) {
    for (Figure& figure : answer.figures) {
        if (figure.label == "Time of one step") {
            figure.value = answer.latency.value;
            figure.interval = {answer.interval.low.value, answer.interval.high.value};
            figure.basis = answer.interval.basis;
        }
        if (figure.label == "Throughput" || figure.label == "Model FLOP utilisation") figure.value /= factor;
    }
    setRateIntervals(answer.figures, answer.latency.value, answer.interval);
}

Expected<Estimate> estimateLearned(const MethodCard& card, const Scenario& scenario, EstimateContext& context) {
    const auto choice = methodChoice(optionOf(card, context, "compute"), builtinMethods());
    if (!choice) return Unexpected(choice.error());
    EstimateContext kernels = context;
    kernels.options = choice->options;
    const Method& compute = *findMethod(choice->id);
    const std::string_view stack = optionOf(compute.card, kernels, "stack");
    if (!stack.empty() && stack != "kernels")
        return fail("method.stack", fmt::format("the stack `{}` corrects the kernels already", stack),
                    "stack=kernels, or none", "Ask closed-form-step for this stack");
    const CalibrationSet& calibrations = context.calibrations ? *context.calibrations : shippedCalibrations().set;
    const CalibrationSection* section = findStepCorrection(calibrations);
    if (!section)
        return fail("calibration.missing", "nothing was fitted to published steps", "a calibration of learned-step",
                    "orrery-cli train --fit-step TABLE --out FILE makes one");
    const auto& known = stepFeatureNames();
    if (!std::equal(section->features.begin(), section->features.end(), known.begin(), known.end()))
        return fail("calibration.features", "the correction of the step was fitted to other features",
                    "those of this version", "Fit it again: orrery-cli train --fit-step TABLE --out FILE");

    auto closed = answerClosedForm(compute, scenario, kernels);
    if (!closed) return Unexpected(std::move(closed.error()));
    const bool fused = optionOf(compute.card, kernels, "fusion") != "none";
    const auto features = stepFeatures(*closed->model, closed->plan, closed->figures, closed->shard, fused);
    if (!features) return Unexpected(features.error());
    const SectionPrice price = priceStep(*section, closed->figures.seconds, *features);

    Estimate answer = std::move(closed->estimate);
    const double least = answer.bound ? answer.bound->value : 0;
    const double before = answer.latency.value, seconds = std::max(price.seconds, least);
    scaleTo(answer, seconds);
    answer.interval = {
        Seconds(std::clamp(price.low, least, seconds)), Seconds(std::max(price.high, seconds)), IntervalKind::Residuals,
        price.domain == DomainVerdict::Outside ? "90 % of published steps, each with its publication held out"
                                               : "90 % of held-out published steps"};
    setFigures(answer, before > 0 ? seconds / before : 1);
    answer.figures.push_back({"Closed form of kernels alone", closed->figures.seconds, Dimension::Time});
    answer.assumptions.push_back(fmt::format(
        "Published steps correct the closed form by {:+.0f} %; memory, energy and shares of the step are its own",
        100 * (before > 0 ? seconds / before - 1 : 0)));
    if (price.domain != DomainVerdict::Inside)
        answer.warnings.push_back(
            warning("learned.outside",
                    fmt::format("the step is {} the range of published steps: the interval is wider",
                                price.domain == DomainVerdict::Edge ? "at the edge of" : "outside"),
                    "Compare with the run of the step"));
    if (compute.card.id != "tile-hybrid")
        answer.warnings.push_back(
            warning("learned.compute", "the correction was fitted over kernels of tile-hybrid", "compute=tile-hybrid"));
    return answer;
}

}  // namespace

Method learnedStepMethod() {
    MethodCard card{
        .id = "learned-step",
        .title = "Learned step",
        .methodology = Methodology::Hybrid,
        .level = MethodLevel::System,
        .summary =
            "The closed form of a training step, corrected by what published steps of a dozen stacks took: for "
            "training software without a stack here. Its features are shares and ratios of the step, not devices or "
            "models.",
        .platforms = {"GPU"},
        .evidence = {{"training steps", "GPU",
                      "mean 13.9 % on 215 published steps of 12 publications that nothing was fitted to (kernels alone "
                      "21.1 %); "
                      "93 % of them inside the interval, half of which is 45 % in the median"},
                     {"training steps of software never seen", "GPU",
                      "mean 14.1 % on 435 published steps, each with its publication held out (kernels alone 20.8 %); "
                      "mean 16.1 % on the judged ones with their generation of GPUs held out"}},
        .needs = {"A training step with a plan", "What the kernel method in its slot needs", "A calibration"},
        .failureMode =
            "It uses no stack: if the stack is known, closed-form-step with this stack is more accurate. For "
            "unpublished software and new generations of devices only the features count.",
        .lineage = {"Isaev et al.: Calculon, SC 2023",
                    "Lei et al.: Distribution-free predictive inference for regression, JASA 113, 2018",
                    "Hoerl and Kennard: Ridge regression, Technometrics 12, 1970"},
        .cost = {.fixed = 0.014},
        .version = "1",
        .live = true,
        .options = {{.key = "compute",
                     .title = "Kernels",
                     .choices = {"tile-hybrid", "tile-hybrid(fusion=none)", "tile-hybrid(fusion=compile)"},
                     .fallback = "tile-hybrid",
                     .meaning = "The kernel method for computing; with stack=kernels.",
                     .slot = MethodLevel::Kernel}},
        .tasks = {TaskKind::TrainingStep}};
    return {card, [card](const Scenario& scenario, EstimateContext& context) {
                return estimateLearned(card, scenario, context);
            }};
}

}  // namespace orrery
