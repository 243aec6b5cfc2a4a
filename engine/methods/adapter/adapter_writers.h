#pragma once

// Inputs of other tools that are more than a text with numbers in it: written by the folders that read them.
//
//   timeloop            problem, architecture, the best mapping that a search finds, energies: one file of Timeloop
//   timeloop-problem    the problem alone
//   chakra              a training step of a plan: a folder that ASTRA-sim runs (et/, network.yml, system.json, …)

#include "methods/adapter/adapter_run.h"
#include "workload/kernel.h"

#include <string>
#include <vector>

namespace orrery {

const std::vector<std::string>& adapterWriters();

/// Of one kernel.
AdapterWriter kernelWriter(const DeviceRef& place, const Kernel& kernel, const std::stop_token& stop);
/// Of the whole question.
AdapterWriter questionWriter(const Scenario& scenario, EstimateContext& context);

}  // namespace orrery
