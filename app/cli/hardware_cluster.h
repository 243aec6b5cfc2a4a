#pragma once

// A design as a cluster, for the command line: kinds of devices, and the network between them tier by tier.

#include "hardware/component.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace orrery::cli {

/// Empty for a design of a single device without anything to say.
std::string clusterText(const Hardware& hardware);
nlohmann::ordered_json clusterJson(const Hardware& hardware);

}  // namespace orrery::cli
