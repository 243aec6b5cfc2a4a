#pragma once

// Tenants and stages of a scenario, as numbers of a request stream: tenant = stage × tenants + number of the name.

#include "serving/serving_scenario.h"

#include <cstdint>
#include <vector>

namespace orrery {

/// Codes `serving.tenants` (names, shares, adapters; a tenant that no pool serves) and `serving.stages` (numbers, a
/// pool that is not there or that no stage runs on).
Expected<void> checkTenants(const ServingScenario& scenario);
/// What a replica of the pool serves (ReplicaSpec::tenants); empty: everything. A decode pool that no stage names
/// serves the stages of the prefill pools.
std::vector<std::int32_t> tenantsOf(const ServingScenario& scenario, const PoolSpec& pool);
/// Workers of the stages that run on no pool.
std::vector<ReplicaSpec> stageWorkers(const ServingScenario& scenario);
/// Adapters of the tenants before number `tenant`: its own are numbered from there on.
std::int32_t firstAdapter(const ServingScenario& scenario, std::size_t tenant);

}  // namespace orrery
