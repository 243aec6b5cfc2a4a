#pragma once

// The numbers of a pool's scheduler beside those that the engine itself would begin with on the pool's device.

#include "methods/system/planned_fleet.h"
#include "serving/schedulers/engine_defaults.h"

namespace orrery {

/// What the engine of `scheduler` would take on the device of `design`; nothing where
/// the policy is no engine's or the design has no device.
std::optional<EngineDefaults> engineDefaultsOn(const SchedulerSpec& scheduler, const Hardware& design);
/// A note (`serving.engine-defaults`) where a pool's sequences or tokens are not its engine's own on its device.
std::optional<Diagnostic> notEngineDefaults(const SchedulerSpec& scheduler, const PlannedPool& pool);
/// The same of all pools whose numbers nobody chose: they are the plain ones, or the engine's own on another device.
Diagnostics notEngineDefaults(const ServingScenario& scenario, const PlannedFleet& planned);

}  // namespace orrery
