#pragma once

// What `serve` does with a fleet and its requests, wherever they come from.

#include "serving/fleet/fleet.h"
#include "serving/traffic/request_stream.h"

#include <nlohmann/json.hpp>

#include <string>

namespace orrery::cli {

class Arguments;
class Watch;

struct ServeOutput {
    bool json = false;
    bool interval = false;  ///< of the figures, however long the run (shorter ones have it anyway)
    std::string timeline;   ///< file of a Chrome/Perfetto trace; `-`: standard output; empty: none
    std::string name;       ///< of what is served, for it
};
/// As `--json`, `--interval` and `--timeline` ask.
ServeOutput serveOutput(const Arguments& arguments, std::string name);

/// Simulates and prints: a table of figures, or as JSON the members of `head` (what was asked), `metrics`, `intervals`
/// and `requests`. Returns the program's exit code.
int serveFleet(FleetSpec fleet, RequestStream requests, std::uint64_t seed, nlohmann::ordered_json head,
               ServeOutput output, Watch& watch);

}  // namespace orrery::cli
