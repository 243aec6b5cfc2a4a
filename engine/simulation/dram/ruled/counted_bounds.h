#pragma once

// A closed form beside the simulation: how long a trace takes at least, from counts of its requests by bank and the
// rules that a command sets for the next one of its kind. No order of requests is looked at, so no controller is
// faster.

#include "simulation/dram/ruled/ruled_run.h"

#include <string>
#include <vector>

namespace orrery {

struct DramCountedBound {
    std::string timing;       ///< `nCCDL`, `data bus`, `requests`, as in DramBinding
    std::int64_t cycles = 0;  ///< to the last beat, refresh among them
    std::string words;        ///< what it means and what to turn
};

/// The largest of each timing, the largest first; empty for no requests. A row counts once per bank, reads of what was
/// written before and repeated writes count nowhere, since a controller may answer them without the device.
std::vector<DramCountedBound> dramCountedBounds(const DramRules& rules, const RuledAddressMap& map, bool refresh,
                                                const RuledInjection& injection,
                                                const std::vector<DramTraceRequest>& trace);

}  // namespace orrery
