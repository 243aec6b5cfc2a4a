#pragma once

// The points of a sweep: every combination of its values. For sources of this folder only.

#include "store/project/yaml_reader.h"
#include "workload/workload.h"

#include <string>
#include <vector>

namespace orrery::store {

struct SweepAxis {
    std::string key;                  ///< `batch`, or the path of an attribute
    std::vector<std::string> values;  ///< as written
    std::vector<Place> places;
    bool option = false;  ///< varies the workload, not the hardware
};

/// One value of each axis.
struct SweepPoint {
    std::vector<std::size_t> values;
    /// ` (batch 8, hbm.bandwidth 2 TB/s)` of the axes that vary the workload or the hardware; empty if there are none.
    std::string label(const std::vector<SweepAxis>& axes) const;
};

Expected<std::vector<SweepAxis>> readSweep(const YAML::Node& node, const Place& place, YamlContext& context);
/// The last axis varies fastest. One point without values if there are no axes. Fails if there are more than `most`.
Expected<std::vector<SweepPoint>> sweepPoints(const std::vector<SweepAxis>& axes, std::size_t most, const Place& place);
/// The options with those of the point set.
Expected<WorkloadOptions> optionsAt(const std::vector<SweepAxis>& axes, const SweepPoint& point,
                                    const WorkloadOptions& base, YamlContext& context);

}  // namespace orrery::store
