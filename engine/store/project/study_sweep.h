#pragma once

// The sweep of a study file. For sources of this folder only.

#include "base/axes.h"
#include "store/project/yaml_reader.h"
#include "workload/workload.h"

#include <string_view>
#include <vector>

namespace orrery::store {

/// Axes with the places of their values.
Expected<std::vector<SweepAxis>> readSweep(const YamlNode& node, const Place& place, YamlContext& context);
/// Whether an axis of that key varies the workload; otherwise it is the path of an attribute of the hardware.
bool variesWorkload(std::string_view key);
/// One point without values if there are no axes. Fails if there are more than `most`.
Expected<std::vector<SweepPoint>> sweepPoints(const std::vector<SweepAxis>& axes, std::size_t most, const Place& place);
/// The options with those of the point set.
Expected<WorkloadOptions> optionsAt(const std::vector<SweepAxis>& axes, const SweepPoint& point,
                                    const WorkloadOptions& base, YamlContext& context);

}  // namespace orrery::store
