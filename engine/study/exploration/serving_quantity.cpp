#include "study/exploration/serving_quantity.h"

#include "methods/system/planned_fleet.h"
#include "study/serving/capacity.h"

#include <algorithm>
#include <limits>

namespace orrery {

namespace {

// Who prices iterations where the method does: its slot, or the method itself.
std::string pricedBy(std::string_view method) {
    const auto choice = methodChoice(method, builtinMethods());
    if (!choice) return {};
    if (choice->id != "serving") return std::string(method);
    const auto slot = choice->options.find("compute");
    return slot == choice->options.end() || slot->second == "as-drawn" ? std::string() : slot->second;
}

}  // namespace

double servingDevices(const Scenario& scenario) {
    const auto* run = std::get_if<ServingRun>(&scenario.task);
    if (!run) return 0;
    double devices = 0;
    for (const PoolSpec& pool : run->study->scenario.pools) {
        const Plan& plan = scenario.plan.split() ? scenario.plan : pool.plan;
        devices += static_cast<double>(pool.replicas) * static_cast<double>(plan.devices());
    }
    return devices;
}

std::optional<Ranged> servingCapacity(const Scenario& scenario, std::string_view method,
                                      const Circumstances& circumstances) {
    const auto* run = std::get_if<ServingRun>(&scenario.task);
    if (!run) return std::nullopt;
    ServingScenario served = run->study->scenario;
    const std::string compute = pricedBy(method);
    for (PoolSpec& pool : served.pools) {
        if (!compute.empty()) {
            pool.time.kind = SlotKind::Kernels;
            pool.time.method = compute;
        }
        if (scenario.plan.split()) pool.plan = scenario.plan;
    }
    const auto fleet =
        fleetOf(served, scenario.hardware, {.calibrations = circumstances.calibrations, .stop = circumstances.stop});
    if (!fleet) return std::nullopt;
    const CapacityOptions options{.seed = run->study->seed, .scenario = &served, .stop = circumstances.stop};
    const auto found = capacityOf(fleet->fleet, run->study->traffic, run->study->capacity, options);
    if (!found) return std::nullopt;
    const auto sure = capacityInterval(*fleet->fleet, run->study->traffic, run->study->capacity, found->rate, options);
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    if (!sure || !(sure->low < sure->high)) return Ranged{found->rate, none, none};
    return Ranged{found->rate, std::min(sure->low, found->rate), std::max(sure->high, found->rate)};
}

}  // namespace orrery
