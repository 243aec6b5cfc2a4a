#include "app/document/method_refusal.h"

#include "hardware/views/device_ref.h"
#include "methods/kernel_method.h"

namespace orrery::app {

namespace {

std::optional<Diagnostic> refusalOfCard(const MethodCard& card, const Scenario& scenario) {
    if (asksForFile(card)) {
        return warning("method.asks-for-file", "needs a file of yours",
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

std::optional<Diagnostic> refusalUnasked(const Method& method, const Scenario& scenario,
                                         const CalibrationSet& calibrations) {
    if (auto refusal = refusalOfCard(method.card, scenario)) return refusal;
    const KernelMethod* kernels = findKernelMethod(method.card.id);
    return kernels ? refusalOfDevice(*kernels, scenario, calibrations) : std::nullopt;
}

}  // namespace orrery::app
