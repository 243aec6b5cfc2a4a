#include "methods/system/training/step_distribution.h"

#include "base/maths.h"
#include "methods/system/training/estimate_training.h"
#include "methods/system/training/figure_intervals.h"
#include "methods/system/training/goodput.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

constexpr std::size_t steps = 64, months = 200;
constexpr double day = 86400, month = 30 * day;

/// What a cluster of a published run lost its devices to.
struct FailureRecord {
    std::string_view word;
    double perDeviceHour;
    std::string_view source;
};
constexpr std::array<FailureRecord, 3> records{{
    // 419 unexpected interruptions in 54 days of 16,384 devices.
    {"llama-3", 419.0 / (54 * 24 * 16384.0), "Dubey et al. 2024, table 5: 16,384 H100, 54 days"},
    // 35 restarts by hand and about 70 by themselves in two months of 992 devices.
    {"opt-175b", 105.0 / (61 * 24 * 992.0), "Zhang et al. 2022, section 2.5: 992 A100, two months"},
    {"none", 0, ""},
}};
/// Of checkpoints, for every device: 2 TB/s kept up for 16,384 devices (Dubey et al. 2024, section 3.1.1).
constexpr double storagePerDevice = 2e12 / 16384;
/// Until a failure is found and the run goes on: less than ten minutes (Jiang et al., MegaScale, NSDI 2024).
constexpr double restartSeconds = 600;

struct Drawn {
    double low = 0, median = 0, high = 0;  ///< 5th, 50th, 95th percentile
};
Drawn drawnOf(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return {quantileType7OfSorted(values, 0.05), quantileType7OfSorted(values, 0.5),
            quantileType7OfSorted(values, 0.95)};
}

/// Where a normal number of the 5th or 95th percentile stands at an end of an interval.
constexpr double ofSides = 1.6449;

Expected<Drawn> drawSteps(const SampledStep& step, double spread, EstimateContext& context) {
    const Plan& plan = step.programs.front().plan;
    const std::int64_t perStage = plan.devices() / plan.pipeline;
    const RandomStream random(context.seed, 0x53544550);
    std::vector<double> seconds(steps);
    std::vector<Expected<void>> done(steps);
    context.executor.forEach(steps, [&](std::size_t i) {
        RandomStream its = random.split(i);
        const double kernels = its.normal() / ofSides, exchanges = its.normal() / ofSides;
        const double side = kernels < 0 ? step.kernelsLow : step.kernelsHigh;
        const double factor = side > 0 ? std::pow(side, std::abs(kernels)) : 1;
        std::vector<double> slowness;
        for (std::int64_t s = 0; s < plan.pipeline; ++s)
            slowness.push_back(factor * std::max(0.1, 1 + spread * largestOfNormals(perStage, its.uniform())));
        const auto taken = step.seconds(std::move(slowness), exchanges, context.stop);
        if (taken)
            seconds[i] = *taken;
        else
            done[i] = Unexpected(taken.error());
    });
    for (const Expected<void>& one : done)
        if (!one) return Unexpected(one.error());
    return drawnOf(seconds);
}

/// What a step takes longer than one of devices that are all alike, with slowest devices of the median.
Expected<double> waitedFor(const SampledStep& step, double spread, const EstimateContext& context) {
    const Plan& plan = step.programs.front().plan;
    const auto taken = [&](double slowness) {
        return step.seconds(std::vector<double>(static_cast<std::size_t>(plan.pipeline), slowness), 0, context.stop);
    };
    const auto alike = taken(1), slowest = taken(1 + spread * largestOfNormals(plan.devices() / plan.pipeline, 0.5));
    if (!alike || !slowest) return Unexpected((alike ? slowest : alike).error());
    return *slowest - *alike;
}

Drawn drawMonths(const Reliability& its, double interval, EstimateContext& context) {
    const RandomStream random(context.seed, 0x4D4F4E54);
    std::vector<double> shares(months);
    for (std::size_t i = 0; i < months; ++i) {
        RandomStream one = random.split(i);
        shares[i] = drawnGoodput(its, interval, month, one);
    }
    return drawnOf(shares);
}

void scaleColumns(OperatorEstimates& ops, double factor) {
    for (auto* column : {&ops.seconds, &ops.lowSeconds, &ops.highSeconds, &ops.forwardSeconds, &ops.updateSeconds})
        for (double& each : *column) each *= factor;
}

void addRun(Estimate& answer, const SampledStep& step, const FailureRecord& record, EstimateContext& context) {
    const auto devices = static_cast<double>(step.programs.front().plan.devices());
    Reliability its;
    its.meanBetweenFailures = record.perDeviceHour > 0 ? 3600 / (record.perDeviceHour * devices) : 0;
    its.checkpoint = step.stateBytes / (storagePerDevice * devices);
    its.restart = restartSeconds;
    if (its.meanBetweenFailures <= 0) return;
    const double interval = bestCheckpointInterval(its);
    const Drawn share = drawMonths(its, interval, context);
    const std::string basis = "90 % of 200 drawn months";
    answer.figures.push_back({"Failures a day", day / its.meanBetweenFailures, Dimension::Number});
    answer.figures.push_back({"A checkpoint", its.checkpoint, Dimension::Time});
    answer.figures.push_back({"Time between checkpoints", interval, Dimension::Time});
    const double kept = goodput(its, interval);
    answer.figures.push_back({"Goodput", kept, Dimension::Fraction, {}, std::pair{share.low, share.high}, basis});
    const auto rate = std::find_if(answer.figures.begin(), answer.figures.end(),
                                   [](const Figure& each) { return each.label == "Throughput"; });
    if (rate != answer.figures.end())
        answer.figures.push_back({"Throughput of a month", rate->value * kept, rate->dimension, rate->unit,
                                  std::pair{rate->value * share.low, rate->value * share.high}, basis});
    answer.assumptions.push_back(fmt::format(
        "Failures as on record ({}), evenly at random; checkpoints at 122 MB/s a device, at the distance that loses "
        "least; ten minutes until the run goes on",
        record.source));
}

Expected<Estimate> estimateDistribution(const MethodCard& card, const Scenario& scenario, EstimateContext& context) {
    const auto choice = methodChoice(optionOf(card, context, "compute"), builtinMethods());
    if (!choice) return Unexpected(choice.error());
    EstimateContext kernels = context;
    kernels.options = choice->options;
    auto answered = answerTrainingStep(*findMethod(choice->id), scenario, kernels);
    if (!answered) return Unexpected(std::move(answered.error()));
    Estimate answer = std::move(answered->estimate);
    const SampledStep& step = answered->step;

    const std::string_view word = optionOf(card, context, "spread");
    const double spread = word == "none" ? 0 : (word.front() - '0') / 100.0;
    const auto drawn = drawSteps(step, spread, context);
    if (!drawn) return Unexpected(drawn.error());
    const double before = answer.latency.value;
    answer.latency = Seconds(drawn->median);
    answer.interval = {Seconds(drawn->low), Seconds(drawn->high), IntervalKind::Sampling,
                       fmt::format("90 % of {} drawn steps: kernels and exchanges within their intervals, the slowest "
                                   "device of each stage",
                                   steps)};
    if (answer.bound) answer.bound = std::min(*answer.bound, answer.interval.low);
    const double factor = before > 0 ? drawn->median / before : 1;
    scaleColumns(answer.operators, factor);
    for (Figure& figure : answer.figures) {
        if (figure.label == "Time of one step") {
            figure.value = drawn->median;
            figure.interval = {drawn->low, drawn->high};
            figure.basis = answer.interval.basis;
        }
        if (figure.label == "Throughput" || figure.label == "Model FLOP utilisation") figure.value /= factor;
    }
    setRateIntervals(answer.figures, drawn->median, answer.interval);
    // Of devices that are all alike.
    std::erase_if(answer.figures, [](const Figure& each) { return each.label == "Computing share"; });
    const auto longer = waitedFor(step, spread, context);
    if (!longer) return Unexpected(longer.error());
    answer.figures.push_back({"Waiting for the slowest device", *longer, Dimension::Time});
    const auto* record = std::find_if(records.begin(), records.end(), [&](const FailureRecord& each) {
        return each.word == optionOf(card, context, "failures");
    });
    if (record != records.end()) addRun(answer, step, *record, context);
    answer.assumptions.push_back(fmt::format(
        "Devices of one kind differ by {} (standard deviation); every exchange waits for the slowest", word));
    return answer;
}

}  // namespace

double largestOfNormals(std::int64_t count, double share) {
    const double goal = std::log(std::max(1e-300, share)) / static_cast<double>(std::max<std::int64_t>(1, count));
    double low = -40, high = 40;
    // ln Φ(x) grows with x.
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        const double above = std::erfc(middle / std::sqrt(2.0)) / 2;
        const double logarithm =
            above < 0.5 ? std::log1p(-above) : std::log(std::max(1e-320, std::erfc(-middle / std::sqrt(2.0)) / 2));
        (logarithm < goal ? low : high) = middle;
    }
    return (low + high) / 2;
}

Method stepDistributionMethod() {
    MethodCard card{
        .id = "step-distribution",
        .title = "Distribution of steps",
        .methodology = Methodology::Hybrid,
        .level = MethodLevel::System,
        .summary =
            "A training step drawn 64 times: kernels and exchanges within their intervals, devices that differ, "
            "the slowest of each stage. Then weeks of it, with failures and checkpoints: how much of the time "
            "is left for steps.",
        .platforms = {"GPU"},
        .evidence = {},
        .needs = {"A training step with a plan", "What the kernel method in its slot needs"},
        .failureMode =
            "As good as the intervals in its slots. Failures and differences between devices are those of "
            "published clusters, not of yours.",
        .lineage = {"PRISM: probabilistic runtime modeling for large-scale training, 2025",
                    "Daly: optimum checkpoint interval, FGCS 2006", "Dubey et al.: The Llama 3 herd of models, 2024"},
        .cost = {.fixed = 1.5e-2},
        .version = "1",
        .live = false,
        .options = {{.key = "compute",
                     .title = "Kernels",
                     .choices = {"tile-hybrid", "tile-wave", "forest"},
                     .fallback = "tile-hybrid",
                     .meaning = "The kernel method for computing.",
                     .slot = MethodLevel::Kernel},
                    {.key = "spread",
                     .title = "Devices differ by",
                     .choices = {"none", "1%", "2%", "5%"},
                     .fallback = "1%",
                     .meaning = "Standard deviation of the speed of devices of one kind; 1 % spreads 65,536 of them "
                                "over 9 %, as PRISM reports."},
                    {.key = "failures",
                     .title = "Failures",
                     .choices = {"llama-3", "opt-175b", "none"},
                     .fallback = "llama-3",
                     .meaning = "How often devices fail: as in the published record of a training run."}},
        .tasks = {TaskKind::TrainingStep}};
    return {card, [card](const Scenario& scenario, EstimateContext& context) {
                return estimateDistribution(card, scenario, context);
            }};
}

}  // namespace orrery
