#include "app/window/methods/method_probe.h"

#include "app/document/method_refusal.h"
#include "learning/calibration.h"

#include <algorithm>

namespace orrery::app {

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
        MethodStanding standing{std::string(card.id), card.live, std::nullopt, refusalUnasked(method, scenario, set)};
        if (!standing.why && card.live) {
            EstimateContext context{*executor, stop};
            context.wantTimeline = false;
            context.calibrations = &set;
            if (auto answer = estimate(method, scenario, context))
                standing.latency = answer->latency;
            else
                standing.why = answer.error();
        }
        found.push_back(std::move(standing));
    }
    return found;
}

}  // namespace orrery::app
