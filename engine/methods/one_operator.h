#pragma once

// One operator of a graph alone on a device, by any method of whole models: the workload is that operator, once.

#include "methods/method.h"

namespace orrery {

/// The operator with its tensors as a workload of its own. Fails with `task.no-operator`, naming the nearest.
Expected<WorkloadPtr> onlyOperator(const WorkloadPtr& workload, const std::string& name);
/// Columns have the rows of the scenario's graph, 0 but at the operator.
Expected<Estimate> estimateOneOperator(const Method& method, const Scenario& scenario, EstimateContext& context);

}  // namespace orrery
