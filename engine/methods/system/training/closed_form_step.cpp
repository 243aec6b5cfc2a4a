#include "methods/system/training/closed_form_step.h"

#include "base/unit.h"
#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"
#include "mapping/plan_kinds.h"
#include "methods/answer/parts_used.h"
#include "methods/system/training/figure_intervals.h"
#include "methods/system/training/offload.h"
#include "methods/system/training/step_columns.h"
#include "methods/system/training/step_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

std::vector<Figure> figuresOf(const StepFigures& f, const Plan& plan, const Interval& interval) {
    std::vector<Figure> figures;
    const auto add = [&](std::string_view label, double value, Dimension dimension, std::string unit = {}) {
        figures.push_back({std::string(label), value, dimension, std::move(unit)});
    };
    figures.push_back({"Time of one step",
                       f.seconds,
                       Dimension::Time,
                       {},
                       std::pair{interval.low.value, interval.high.value},
                       interval.basis});
    add("Throughput", f.rate, Dimension::Number, f.tokens ? "token/s" : "sample/s");
    if (f.mfu > 0) add("Model FLOP utilisation", f.mfu, Dimension::Fraction);
    add("Computing share",
        f.seconds > 0 ? (f.compute + ((plan.offload & OffloadOptimizer) != 0 ? 0 : f.optimizer)) / f.seconds : 0,
        Dimension::Fraction);
    add("Exposed communication", f.tensor + f.context + f.expert + f.pipeline + f.data, Dimension::Time);
    if (plan.tensor > 1) add("Exposed tensor exchanges", f.tensor, Dimension::Time);
    if (plan.context > 1) add("Exposed context exchanges", f.context, Dimension::Time);
    if (f.expert > 0) add("Exposed expert exchanges", f.expert, Dimension::Time);
    if (plan.pipeline > 1) add("Exposed hand-overs", f.pipeline, Dimension::Time);
    if (plan.data * plan.context > 1) add("Exposed gradients and weights", f.data, Dimension::Time);
    if (plan.pipeline > 1) add("Waiting for other stages", f.bubble, Dimension::Time);
    add("Optimizer", f.optimizer, Dimension::Time);
    add("Devices at work", static_cast<double>(f.devices), Dimension::Count);
    add("Micro-batches", static_cast<double>(f.microbatches), Dimension::Count);
    return figures;
}

void setMemory(Estimate& answer, const StepFigures& f) {
    if (!answer.memory) return;
    std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "memory.does-not-fit"; });
    const auto most =
        std::max_element(f.stages.begin(), f.stages.end(),
                         [](const StageMemory& a, const StageMemory& b) { return a.total() < b.total(); });
    answer.memory->weights = most->parameters + most->gradients + most->optimizer;
    answer.memory->activations = most->activations;
    if (!f.hostFits()) answer.warnings.push_back(hostTooSmall(f.hostNeeds, f.hostCapacity));
    if (f.missing() > 0)
        answer.warnings.push_back(
            warning("memory.does-not-fit",
                    fmt::format("a device needs {} of {}: the time is that of devices with enough memory",
                                format(Bytes(f.needs)), format(Bytes(f.capacity))),
                    "Raise tp, pp or zero, take more micro-batches, or recompute=full"));
}

/// What a plan on several kinds of device rests on.
Expected<void> setMixedGrounds(Estimate& answer, const StepModel& model, const StepPlan& plan) {
    const auto placement = mixedPlacement(*model.scenario().hardware, model.cluster(), plan.plan);
    if (!placement) return Unexpected(placement.error());
    for (const std::size_t kind : placement->kinds.kinds)
        for (const NetworkTier& tier : model.cluster().groups[kind].tiers)
            addMoreParts(answer, *model.scenario().hardware, tier.read);
    for (const NetworkTier& tier : placement->joined.tiers) addMoreParts(answer, *model.scenario().hardware, tier.read);
    std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "plan.one-device"; });
    for (const Diagnostics* more : {&model.cluster().warnings, &placement->warnings})
        answer.warnings.insert(answer.warnings.end(), more->begin(), more->end());
    answer.assumptions.insert(answer.assumptions.begin(), fmt::format("{} devices `{}` work as {}", plan.plan.devices(),
                                                                      placement->joined.name, toText(plan)));
    return {};
}

Expected<void> setGrounds(Estimate& answer, const StepModel& model, const StepPlan& plan,
                          const std::vector<std::string>& assumptions) {
    const auto kinds = planKinds(model.cluster(), plan.plan);
    if (kinds && kinds->several()) {
        if (auto set = setMixedGrounds(answer, model, plan); !set) return set;
        answer.assumptions.insert(answer.assumptions.end(), assumptions.begin(), assumptions.end());
        return {};
    }
    const auto group = groupFor(model.cluster(), plan.plan);
    if (!group) return Unexpected(group.error());
    const auto placement = placementOf(**group, plan.plan);
    if (!placement) return Unexpected(placement.error());
    int outermost = -1;
    for (const Communicator* each : {&placement->tensor, &placement->context, &placement->data, &placement->pipeline,
                                     &placement->expert, &placement->gradients})
        outermost = std::max(outermost, each->outermost());
    for (int tier = 0; tier <= outermost; ++tier)
        addMoreParts(answer, *model.scenario().hardware, (*group)->tiers[static_cast<std::size_t>(tier)].read);
    std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "plan.one-device"; });
    for (const Diagnostics* more : {&model.cluster().warnings, &placement->warnings})
        answer.warnings.insert(answer.warnings.end(), more->begin(), more->end());
    std::erase_if(answer.assumptions, [](const std::string& said) { return said.starts_with("Backward: "); });
    answer.assumptions.insert(answer.assumptions.begin(),
                              fmt::format("{} of {} devices `{}` work as {}", plan.plan.devices(), placement->drawn,
                                          (*group)->name, toText(plan)));
    answer.assumptions.insert(answer.assumptions.end(), assumptions.begin(), assumptions.end());
    if (plan.plan.offload != 0)
        if (const auto host = hostView(*model.scenario().hardware, **group)) {
            addMoreParts(answer, *model.scenario().hardware, host->used);
            answer.assumptions.push_back(offloadSaid(plan.plan.offload, *host));
        }
    answer.assumptions.push_back(
        "Closed form: the longest path of the schedule, gradients beside the last backward pass; links carry every "
        "exchange alone");
    return {};
}

Expected<Estimate> estimateClosedForm(const MethodCard& card, const Scenario& scenario, EstimateContext& context) {
    const auto choice = methodChoice(optionOf(card, context, "compute"), builtinMethods());
    if (!choice) return Unexpected(choice.error());
    EstimateContext kernels = context;
    kernels.options = choice->options;
    auto answered = answerClosedForm(*findMethod(choice->id), scenario, kernels);
    if (!answered) return Unexpected(std::move(answered.error()));
    return std::move(answered->estimate);
}

}  // namespace

Expected<ClosedFormAnswer> answerClosedForm(const Method& kernels, const Scenario& scenario,
                                            const EstimateContext& context) {
    const auto model = StepModel::make(kernels, scenario, context);
    if (!model) return Unexpected(model.error());
    const StepPlan plan{scenario.plan, std::get<TrainingStep>(scenario.task).recompute};
    const auto figures = (*model)->figures(plan, context.stop);
    if (!figures) return Unexpected(figures.error());
    auto shard = (*model)->shard(plan, context.stop);
    if (!shard) return Unexpected(std::move(shard.error()));

    Estimate answer = shard->estimate;
    answer.latency = Seconds(figures->seconds);
    answer.interval.low = Seconds(figures->low);
    answer.interval.high = Seconds(figures->high);
    answer.interval.basis =
        !shard->measured.empty()
            ? shard->measured
            : answer.interval.basis + "; collectives from the wires alone to the worst of published measurements";
    if (answer.bound) answer.bound = Seconds(figures->bound);
    answer.figures = figuresOf(*figures, plan.plan, answer.interval);
    setRateIntervals(answer.figures, figures->seconds, answer.interval);
    setMemory(answer, *figures);
    if (answer.energy && answer.energy->value > 0) {
        const double one = answer.energy->value;
        answer.energy = Joules(figures->joules);
        for (double& joules : answer.operators.joules) joules *= figures->joules / one;
    }
    spreadColumns(answer.operators, figures->seconds, static_cast<double>(figures->microbatches),
                  static_cast<double>(plan.plan.pipeline),
                  figures->optimizer * static_cast<double>(plan.plan.pipeline));
    answer.timeline = {};
    if (auto good = setGrounds(answer, **model, plan, shard->assumptions); !good)
        return Unexpected(std::move(good.error()));
    return ClosedFormAnswer{std::move(answer), *model, plan, *figures, std::move(*shard)};
}

Method closedFormStepMethod() {
    MethodCard card{
        .id = "closed-form-step",
        .title = "Closed-form step",
        .methodology = Methodology::Analytical,
        .level = MethodLevel::System,
        .summary =
            "A training step of a plan as sums and maxima: stages, fill and drain, exchanges, overlap of gradients "
            "with the backward pass. Microseconds per plan after its shard is predicted; the search for plans uses it.",
        .platforms = {"GPU"},
        .evidence = {{"training steps", "GPU",
                      "mean 0.4 %, worst 5.6 % off the event run, on 300 random plans of four models; 8.5 % where "
                      "micro-batches "
                      "enter at both ends of the pipeline"},
                     {"training steps", "GPU",
                      "mean 2.1 %, worst 5.6 % on the eight published steps of Megatron-LM on A100 (Korthikanti et al. "
                      "2022, table 5; the stack was fitted to six of them)"}},
        .needs = {"A training step", "What the kernel method in its slot needs"},
        .failureMode =
            "Interleaved chunks of unequal layers (up to 10 % off the run) and DualPipe; links that several "
            "exchanges share are not slowed.",
        .lineage = {"Qi et al.: Paleo, ICLR 2017", "Isaev et al.: Calculon, SC 2023", "Hsia et al.: MAD Max, ISCA 2024",
                    "Narayanan et al.: Efficient large-scale language model training, SC 2021"},
        .cost = {.fixed = 0.014},
        .version = "2",
        .live = true,
        .options = {{.key = "compute",
                     .title = "Kernels",
                     .choices = {"tile-hybrid", "tile-wave", "forest"},
                     .fallback = "tile-hybrid",
                     .meaning = "The kernel method for computing.",
                     .slot = MethodLevel::Kernel}},
        .tasks = {TaskKind::TrainingStep}};
    return {card, [card](const Scenario& scenario, EstimateContext& context) {
                return estimateClosedForm(card, scenario, context);
            }};
}

}  // namespace orrery
