#pragma once

// What `serve` does with a fleet and its requests, wherever they come from.

#include "serving/fleet/fleet.h"
#include "serving/traffic/request_stream.h"

#include <nlohmann/json.hpp>

namespace orrery::cli {

class Watch;

struct ServeOutput {
    bool json = false;
    bool interval = false;  ///< of the figures, however long the run (shorter ones have it anyway)
};

/// Simulates and prints: a table of figures, or as JSON the members of `head` (what was asked), `metrics`, `intervals`
/// and `requests`. Returns the program's exit code.
int serveFleet(FleetSpec fleet, RequestStream requests, std::uint64_t seed, nlohmann::ordered_json head,
               ServeOutput output, Watch& watch);

}  // namespace orrery::cli
