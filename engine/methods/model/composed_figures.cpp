#include "methods/model/columns.h"
#include "methods/model/placed.h"

#include <algorithm>
#include <array>

namespace orrery {

namespace {

// Tokens that one pass takes in or gives out; 0 for what is no transformer.
double tokensOf(const Workload& workload) {
    if (!workload.transformer) return 0;
    const auto batch = static_cast<double>(std::max<std::int64_t>(1, workload.recipe.options.batch));
    if (workload.recipe.options.phase == Phase::Decode) return batch;
    for (const Operator& op : workload.graph.operators) {
        if (op.attention) return static_cast<double>(op.attention->batch) * static_cast<double>(op.attention->queries);
    }
    return batch * static_cast<double>(std::max<std::int64_t>(0, workload.recipe.options.sequence));
}

std::string_view nameOfPass(const Workload& workload, const ModelOptions& options) {
    if (options.step == Step::Training) return "Time of one step";
    switch (workload.recipe.options.phase) {
        case Phase::Decode:
            return "Time per output token";
        case Phase::Prefill:
            return "Time to first token";
        default:
            return "Time of one pass";
    }
}

}  // namespace

void addFigures(Estimate& answer, const Workload& workload, const Composition& c, const ModelOptions& options) {
    auto& figures = answer.figures;
    const auto add = [&](std::string_view label, double value, Dimension dimension, std::string unit = {}) {
        figures.push_back({std::string(label), value, dimension, std::move(unit)});
    };
    const double seconds = answer.latency.value;
    add(nameOfPass(workload, options), seconds, Dimension::Time);
    if (seconds > 0) {
        const double tokens = tokensOf(workload);
        const auto batch = static_cast<double>(std::max<std::int64_t>(1, workload.recipe.options.batch));
        if (tokens > 0) {
            add("Throughput", tokens / seconds, Dimension::Number, "token/s");
        } else {
            add("Throughput", batch / seconds, Dimension::Number, "sample/s");
        }
    }
    addPartFigures(answer, c);
    if (options.step == Step::Training) {
        std::array<double, partCount> parts{};
        for (std::size_t i = 0; i < c.prices.size(); ++i) {
            parts[static_cast<std::size_t>(c.list().launches[i].part)] +=
                c.list().launches[i].count * c.prices[i].seconds + c.pipelined.idle[i];
        }
        add("Forward pass", parts[0] + parts[1] + c.graphLaunch, Dimension::Time);
        add("Backward pass", parts[2], Dimension::Time);
        if (parts[3] > 0) add("Optimizer", parts[3], Dimension::Time);
        const TrainingMemory memory = trainingMemory(workload, options);
        add("Gradients", memory.gradients.value, Dimension::Data);
        if (memory.optimizer.value > 0) add("Optimizer state", memory.optimizer.value, Dimension::Data);
        add("Activations kept", memory.activations.value, Dimension::Data);
    }
    add("Kernels launched", c.launched, Dimension::Count);
    add("Distinct kernels", static_cast<double>(c.distinct().count), Dimension::Count);
    double waited = c.graphLaunch;
    for (const double idle : c.pipelined.idle) waited += idle;
    add("Launch-bound share", seconds > 0 ? waited / seconds : 0, Dimension::Fraction);
    double busy = 0;
    bool said = false;
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const double share = static_cast<double>(c.prices[i].price.busy);
        said |= share >= 0;
        busy += std::max(0.0, share) * c.list().launches[i].count * c.prices[i].seconds;
    }
    if (said) add("Arrays busy", seconds > 0 ? busy / seconds : 0, Dimension::Fraction);
    double flops = 0, bytes = 0, products = 0;
    for (std::size_t i = 0; i < answer.operators.size(); ++i) {
        flops += answer.operators.flops[i];
        bytes += answer.operators.bytes[i];
        products += workload.costs.macs[i];
    }
    if (seconds <= 0) return;
    DType type = DType::F16;
    double most = -1;
    for (std::size_t i = 0; i < workload.costs.size(); ++i) {
        if (workload.costs.macs[i] > most) most = workload.costs.macs[i], type = workload.costs.type[i];
    }
    const double peak = c.device.peak(true, type).value;
    // Recorded work may have run in a narrower type than the question's: more than all of the peak is no share of it.
    // Nor is what runs beside the device a share of its peak.
    const bool own = c.layouts.empty();
    if (const double used = own && peak > 0 && products > 0 ? flops / seconds / peak : 0; used > 0 && used <= 1)
        add("Model FLOP utilisation", used, Dimension::Fraction);
    add("Memory bandwidth utilisation", bytes / seconds / c.device.main().bandwidth.value, Dimension::Fraction);
    const auto& i = c.interval;
    if (i.seconds > 0) {
        add("Interval half-width, kernels err by themselves", 0.5 * (i.independentHigh - i.independentLow) / i.seconds,
            Dimension::Fraction);
        add("Interval half-width, all err alike", 0.5 * (i.correlatedHigh - i.correlatedLow) / i.seconds,
            Dimension::Fraction);
    }
}

}  // namespace orrery
