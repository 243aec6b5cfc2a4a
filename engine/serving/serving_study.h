#pragma once

// One question about serving, as a person keeps it: who serves, what arrives, and (if asked) another scheduler on the
// same requests. Plain values: the studio edits it, projects and files store it (store/serving_file.h).

#include "serving/serving_scenario.h"
#include "serving/traffic.h"

#include <cstdint>
#include <optional>
#include <string>

namespace orrery {

struct ServingStudy {
    std::string name = "Serving";
    std::string description;  ///< what it shows, for the gallery of examples
    std::string hardware;     ///< a design of the project, or a device of the catalogue; empty: the project's first
    ServingScenario scenario;
    TrafficSpec traffic;
    std::uint64_t seed = 42;
    std::optional<SchedulerSpec> compareWith;  ///< in place of every pool's own, on the same requests
    bool operator==(const ServingStudy&) const = default;
};

}  // namespace orrery
