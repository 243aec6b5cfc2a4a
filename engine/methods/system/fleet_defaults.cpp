#include "methods/system/fleet_defaults.h"

#include "hardware/views/device_view.h"

#include <fmt/format.h>

namespace orrery {

std::optional<EngineDefaults> engineDefaultsOn(const SchedulerSpec& scheduler, const Hardware& design) {
    const auto device = deviceView(design);
    if (!device) return std::nullopt;
    return engineDefaults(scheduler.id, design.name + ' ' + device->name, device->main().capacity.value);
}

std::optional<Diagnostic> notEngineDefaults(const SchedulerSpec& scheduler, const PlannedPool& pool) {
    if (!pool.design) return std::nullopt;
    const auto device = deviceView(DeviceRef{pool.design, pool.place});
    const auto own =
        device ? engineDefaults(scheduler.id, pool.design->name + ' ' + pool.device, device->main().capacity.value)
               : std::nullopt;
    if (!own || (own->maxSequences == scheduler.maxSequences && own->tokenBudget == scheduler.tokenBudget))
        return std::nullopt;
    Diagnostic note = warning("serving.engine-defaults",
                              fmt::format("pool {}: {} sequences and {} tokens per iteration are set; {} would use "
                                          "{} and {} on this device",
                                          pool.name, scheduler.maxSequences, scheduler.tokenBudget, own->source,
                                          own->maxSequences, own->tokenBudget),
                              "say `max_sequences` and `token_budget` of the scheduler");
    note.severity = Severity::Note;
    return note;
}

Diagnostics notEngineDefaults(const ServingScenario& scenario, const PlannedFleet& planned) {
    Diagnostics notes;
    for (std::size_t i = 0; i < planned.pools.size() && i < scenario.pools.size(); ++i) {
        const SchedulerSpec& scheduler = scenario.pools[i].scheduler;
        if (!hasUnchosenNumbers(scheduler)) continue;
        if (auto note = notEngineDefaults(scheduler, planned.pools[i])) notes.push_back(std::move(*note));
    }
    return notes;
}

}  // namespace orrery
