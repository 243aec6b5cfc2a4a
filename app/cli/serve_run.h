#pragma once

// What `serve` does with a fleet and its requests, wherever they come from.

#include "serving/fleet.h"
#include "serving/request_stream.h"

#include <nlohmann/json.hpp>

namespace orrery::cli {

class Watch;

/// Simulates and prints: a table of figures, or with `json` the members of `head` (what was asked), `metrics` and
/// `requests`. Returns the program's exit code.
int serveFleet(FleetSpec fleet, RequestStream requests, std::uint64_t seed, nlohmann::ordered_json head, bool json,
               Watch& watch);

}  // namespace orrery::cli
