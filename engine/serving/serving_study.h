#pragma once

// One question about serving, as a person keeps it: who serves, what arrives, and (if asked) another scheduler on the
// same requests, the load that the fleet bears, other configurations. Plain values: the studio edits it, projects and
// files store it (store/project/serving_file.h), serving/search answers the last two.

#include "base/axes.h"
#include "serving/serving_scenario.h"
#include "serving/traffic/traffic.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// How the highest load under the promises is searched: by bisection of the rate of arrivals.
struct CapacitySpec {
    double attainment = 0.9;  ///< share of requests that must keep every promise
    double guess = 1;         ///< requests per second that are tried first
    double tolerance = 0.02;  ///< width of the last bracket, as a share of it
    double highest = 1e5;     ///< never more than this
    bool operator==(const CapacitySpec&) const = default;
};

/// Where the values of a study stand in the file that it was read from, by path (`pools[2]/plan/tensor`).
using ServingPlaces = std::map<std::string, Place, std::less<>>;

struct ServingStudy {
    std::string name = "Serving";
    std::string description;  ///< what it shows, for the gallery of examples
    std::string hardware;     ///< a design of the project, or a device of the catalogue; empty: the project's first
    ServingScenario scenario;
    TrafficSpec traffic;
    std::uint64_t seed = 42;
    std::optional<SchedulerSpec> compareWith;  ///< in place of every pool's own, on the same requests
    CapacitySpec capacity;
    std::vector<SweepAxis> sweep;  ///< keys of sweepKeys() (study/serving/sweep.h)
    /// Keys of a newer version, by the path of the map that they stand in (`traffic/arrivals`, empty: the file's own).
    std::map<std::string, std::vector<UnknownKey>> unknown;
    bool operator==(const ServingStudy&) const = default;
};

}  // namespace orrery
