#include "methods/cost_model.h"

#include "base/unit.h"
#include "methods/kernel_method.h"
#include "methods/method.h"
#include "methods/model/compose.h"
#include "serving/serving_study.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

// Above it a method is not asked for the thousands of iterations that a serving run may want.
constexpr double atOnce = 1e-4;

// Of the first device, in the type in which it is quickest; 0 where it has no clock or no peak.
double flopsPerCycle(const Hardware& hardware) {
    const auto device = deviceView(hardware);
    if (!device || device->clock.value <= 0) return 0;
    double most = 0;
    for (const auto& unit : device->peaks)
        for (const FlopsPerSecond peak : unit) most = std::max(most, peak.value);
    return most / device->clock.value;
}

}  // namespace

std::string toText(const CostModel& cost) {
    std::string text = format(Seconds(cost.fixed), 2);
    const auto add = [&text](double seconds, std::string_view what) {
        if (seconds > 0) text += fmt::format(" + {} per {}", format(Seconds(seconds), 2), what);
    };
    add(cost.perOperator, "operator");
    add(cost.perKernel, "kernel");
    add(cost.perCycle, "cycle");
    add(cost.perRequest, "request");
    return text;
}

CostCounts costCounts(const Method& method, const Scenario& scenario) {
    CostCounts counts;
    if (const auto* run = std::get_if<ServingRun>(&scenario.task)) {
        if (run->study) counts.requests = static_cast<double>(std::max<std::int64_t>(0, run->study->traffic.requests));
        return counts;
    }
    if (!scenario.workload) return counts;
    const bool one = kindOf(scenario.task) == TaskKind::OneOperator;
    counts.operators = one ? 1 : static_cast<double>(scenario.workload->costs.size());
    if (!findKernelMethod(method.card.id)) return counts;
    const auto serial = makeSerialExecutor();
    const EstimateContext usual{*serial};
    const auto list = kernelListOf(scenario.workload, modelOptions(method.card, usual, scenario.task));
    const double perCycle = scenario.hardware ? flopsPerCycle(*scenario.hardware) : 0;
    const auto* named = std::get_if<OneOperator>(&scenario.task);
    for (std::size_t i = 0; i < list->list.launches.size(); ++i) {
        const Launch& launch = list->list.launches[i];
        if (list->alone.first[i] != static_cast<std::int32_t>(i)) continue;
        if (named && scenario.workload->graph.operators[static_cast<std::size_t>(launch.op)].name != named->name)
            continue;
        counts.kernels += 1;
        if (perCycle > 0) counts.cycles += launch.kernel.flops / perCycle;
    }
    if (one) counts.kernels = std::max(counts.kernels, 1.0);
    return counts;
}

Seconds costOf(const CostModel& cost, const CostCounts& counts) {
    return Seconds(cost.fixed + cost.perOperator * counts.operators + cost.perKernel * counts.kernels +
                   cost.perCycle * counts.cycles + cost.perRequest * counts.requests);
}

std::optional<Seconds> expectedCost(const Method& method, const Scenario& scenario) {
    if (!scenario.workload || !method.card.answers(kindOf(scenario.task))) return std::nullopt;
    const CostCounts counts = costCounts(method, scenario);
    if (kindOf(scenario.task) != TaskKind::ServingRun) return costOf(method.card.cost, counts);
    if (method.card.cost.perKernel > atOnce) return std::nullopt;
    const Method* serving = findMethod("serving");
    return serving ? std::optional(costOf(serving->card.cost, counts)) : std::nullopt;
}

}  // namespace orrery
