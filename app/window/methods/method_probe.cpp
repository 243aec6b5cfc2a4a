#include "app/window/methods/method_probe.h"

#include "hardware/views/device_ref.h"
#include "learning/calibration.h"
#include "methods/kernel_method.h"

#include <algorithm>

namespace orrery::app {

namespace {

std::optional<Diagnostic> refusalOfCard(const MethodCard& card, const Scenario& scenario) {
    if (asksForFile(card)) {
        return warning("method.asks-for-file", "answers from a file of yours",
                       "choose it in the Comparison, with the file as its option");
    }
    if (!card.answers(kindOf(scenario.task))) {
        std::string tasks;
        for (const TaskKind kind : card.tasks) tasks.append(tasks.empty() ? "" : ", ").append(toText(kind));
        return warning("method.task", "answers only: " + tasks, "choose another task");
    }
    return std::nullopt;
}

// A view of the device, without the time that an answer takes.
std::optional<Diagnostic> refusalOfDevice(const KernelMethod& method, const Scenario& scenario,
                                          const CalibrationSet& calibrations) {
    const auto device = firstDevice(scenario.hardware);
    if (!device) return device.error();
    const auto bound = method.bind(*device, BindContext{calibrations});
    return bound ? std::nullopt : std::optional(bound.error());
}

}  // namespace

std::vector<MethodStanding> probeMethods(const Scenario& scenario, const std::vector<std::string>& chosen,
                                         const CalibrationSet* calibrations, std::stop_token stop) {
    std::vector<MethodStanding> found;
    if (!scenario.hardware || !scenario.workload) return found;
    const CalibrationSet& set = calibrations ? *calibrations : shippedCalibrations().set;
    const auto executor = makeSerialExecutor();
    for (const Method& method : builtinMethods()) {
        if (stop.stop_requested()) return found;
        const MethodCard& card = method.card;
        const bool asked = std::ranges::any_of(
            chosen, [&](const std::string& each) { return each.substr(0, each.find('(')) == card.id; });
        if (asked) continue;
        MethodStanding standing{std::string(card.id), card.live, std::nullopt, refusalOfCard(card, scenario)};
        if (!standing.why && card.live) {
            EstimateContext context{*executor, stop};
            context.wantTimeline = false;
            context.calibrations = &set;
            if (auto answer = estimate(method, scenario, context))
                standing.latency = answer->latency;
            else
                standing.why = answer.error();
        } else if (const KernelMethod* kernels = findKernelMethod(card.id); kernels && !standing.why) {
            standing.why = refusalOfDevice(*kernels, scenario, set);
        }
        found.push_back(std::move(standing));
    }
    return found;
}

}  // namespace orrery::app
