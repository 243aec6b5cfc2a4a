#pragma once

// From a serving scenario to a fleet that can be simulated: iteration times from the chosen slot, KV blocks from the
// device's memory, transfers from the drawing's links.

#include "hardware/component.h"
#include "serving/fleet/capacity_plan.h"
#include "serving/fleet/fleet.h"
#include "serving/serving_scenario.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

class CalibrationSet;

/// What was worked out for a pool, to be shown.
struct PlannedPool {
    std::string name, device;                ///< device: its name
    std::shared_ptr<const Hardware> design;  ///< that the device stands in: the drawing, or one of the catalogue
    ComponentPath place;                     ///< of the device in it
    std::string pricer;                      ///< id of the kernel method of its iterations; empty: tables or a law
    std::int32_t replicas = 1, devicesPerReplica = 1;
    CapacityPlan capacity;
    double weightBytesPerDevice = 0;
    double decodeSeconds = 0;  ///< one iteration of 1 sequence with 1,024 tokens in the cache
    double promptSeconds = 0;  ///< one iteration of a prompt of 1,024 tokens
    std::vector<std::string> assumptions;
};
struct PlannedFleet {
    std::shared_ptr<const FleetSpec> fleet;
    std::vector<PlannedPool> pools;
    std::optional<ComponentPath> network;  ///< of the drawing, that carries KV caches between pools
    Diagnostics warnings;
};

/// Iteration times that were made before, by what they depend on. Making one takes some tenths of a second; shared by
/// the edits of a page or the points of a sweep. Thread-safe.
class IterationTimes {
public:
    IterationTimes();
    ~IterationTimes();
    IterationTimes(const IterationTimes&) = delete;
    IterationTimes& operator=(const IterationTimes&) = delete;
    struct Parts;
    Parts& parts() { return *parts_; }

private:
    std::unique_ptr<Parts> parts_;
};

struct FleetOptions {
    const CalibrationSet* calibrations = nullptr;  ///< null: the shipped ones
    IterationTimes* cache = nullptr;               ///< null: nothing is kept
    std::stop_token stop;
};
/// `drawing` may be null if every pool names a design of its own. Fails naming pool and field: no such device, a model
/// that is no decoder, a plan that does not divide the heads or exceeds the devices drawn, a model that does not fit
/// (`serving.does-not-fit`), an unknown method or table; with `study.cancelled`.
Expected<PlannedFleet> fleetOf(const ServingScenario& scenario, const std::shared_ptr<const Hardware>& drawing,
                               const FleetOptions& options = {});

/// Its fleet alone.
inline Expected<FleetSpec> fleetSpecOf(const ServingScenario& scenario, const std::shared_ptr<const Hardware>& drawing,
                                       const FleetOptions& options = {}) {
    auto planned = fleetOf(scenario, drawing, options);
    if (!planned) return Unexpected(std::move(planned.error()));
    return *planned->fleet;
}

}  // namespace orrery
