#include "methods/model/explain_roofline.h"

#include "methods/answer/answer.h"
#include "methods/roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace orrery {

namespace {

std::string verdict(double work, double moving, double intensity, double ridge, const std::string& memory) {
    if (work <= 0) return "It computes nothing: its bytes alone take time";
    if (moving <= 0) return "It moves nothing past the memory: its work alone takes time";
    const auto text = [](double value) { return formatMeasure(value, Dimension::Intensity, 3); };
    return fmt::format(
        "{} is {} the ridge point of {}: {}", text(intensity), intensity < ridge ? "left of" : "right of", text(ridge),
        work >= moving ? "the units are the limit (compute-bound)" : memory + " is the limit (memory-bound)");
}

KernelStory storyOf(const CostTable& costs, std::size_t row, const Ground& ground) {
    const MemoryLevel& memory = ground.device.main();
    const double bytes = costs.bytes(row), flops = costs.flops[row], bandwidth = memory.bandwidth.value;
    const double work = ground.rates.seconds(costs, row), moving = bytes / bandwidth;
    KernelStory story;
    const auto add = [&](std::string name, double value, Dimension dimension, std::string meaning) {
        story.terms.push_back({std::move(name), value, dimension, {}, std::move(meaning)});
    };
    add("work", flops, Dimension::Operations, "Operations of one execution; a multiply-accumulate is two");
    if (work > 0)
        add("peak rate", flops / work, Dimension::OperationRate,
            fmt::format("What the units of {} do per second in {} at full use", ground.device.name,
                        toText(costs.type[row])));
    add("time of the work", work, Dimension::Time, "work ÷ peak rate");
    add("bytes", bytes, Dimension::Data, "Weights, KV cache, inputs and outputs of one execution, each once");
    add("bandwidth of " + memory.name, bandwidth, Dimension::DataRate, "Of all its parts together, at its peak");
    add("time of the bytes", moving, Dimension::Time, "bytes ÷ bandwidth");
    const double intensity = bytes > 0 ? flops / bytes : 0, ridge = work > 0 ? flops / work / bandwidth : 0;
    if (bytes > 0) add("arithmetic intensity", intensity, Dimension::Intensity, "work ÷ bytes");
    if (ridge > 0)
        add("ridge point", ridge, Dimension::Intensity,
            "peak rate ÷ bandwidth: left of it the memory is the limit, right of it the units are");
    add("the longer of the two", std::max(work, moving), Dimension::Time,
        verdict(work, moving, intensity, ridge, memory.name));
    return story;
}

}  // namespace

Expected<std::vector<ExplainedKernel>> explainRoofline(const Scenario& scenario, const MethodChoice& choice,
                                                       std::size_t op) {
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}};
    context.options = choice.options;
    const auto ground = prepare(scenario, context);
    if (!ground) return Unexpected(ground.error());
    const CostTable& costs = ground->costs(*scenario.workload);
    OperatorEstimates priced;
    priceRoofline(costs, ground->rates, ground->device.main().bandwidth.value, priced);
    const bool bounded = ground->least.size() == priced.size();
    for (std::size_t i = 0; bounded && i < priced.size(); ++i)
        priced.seconds[i] = std::max(priced.seconds[i], ground->least[i]);
    const bool fused = ground->lowering && !ground->lowering->leader.empty();
    const auto leaderOf = [&](std::size_t i) {
        return fused ? static_cast<std::size_t>(ground->lowering->leader[i]) : i;
    };
    const std::size_t row = leaderOf(op);
    const double times = costs.repeat[row];
    if (times <= 0 || priced.seconds[row] <= 0) return std::vector<ExplainedKernel>();
    ExplainedKernel one;
    one.bound = true;
    one.kernel.type = costs.type[row];
    one.kernel.function = toText(scenario.workload->graph.operators[row].kind);
    one.kernel.flops = costs.flops[row];
    one.kernel.writeBytes = costs.outputBytes[row];
    one.kernel.readBytes = costs.bytes(row) - costs.outputBytes[row];
    one.story = storyOf(costs, row, *ground);
    one.price.seconds = one.price.low = one.price.high = priced.seconds[row] / times;
    if (const double formula = one.story.terms.back().value; one.price.seconds > formula * (1 + 1e-9)) {
        one.story.terms.push_back({"least of its kernels",
                                   one.price.seconds,
                                   Dimension::Time,
                                   {},
                                   "It is launched as several kernels, and each has a roofline of its own"});
    }
    one.price.bound = priced.bound[row];
    one.times = times;
    one.share = priced.seconds[row] / std::accumulate(priced.seconds.begin(), priced.seconds.end(), 0.0);
    one.operators = {static_cast<std::int32_t>(row)};
    for (std::size_t i = 0; fused && i < ground->lowering->leader.size(); ++i)
        if (leaderOf(i) == row && i != row) one.operators.push_back(static_cast<std::int32_t>(i));
    return std::vector<ExplainedKernel>{std::move(one)};
}

}  // namespace orrery
