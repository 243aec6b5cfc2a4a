#pragma once

// What kept a serving run from being faster, in one sentence: the sequences that may run at once, the room for KV
// caches, or the iterations themselves.

#include "serving/metrics.h"

#include <string>

namespace orrery {

enum class LimitKind : std::uint8_t {
    None,       ///< hardly anything waited
    Sequences,  ///< requests waited while as many ran as the scheduler allows
    KvCache,    ///< requests waited, or were preempted, for want of blocks
    Iterations  ///< requests waited for the devices: tokens of an iteration, or its time
};

struct LimitingFactor {
    LimitKind kind = LimitKind::None;
    double share = 0;  ///< of the time in which requests waited, that the limit stood; of None: of the makespan
    std::string text;  ///< `limited by 128 sequences at once; KV cache at most 6.5 % full`
};

/// `6.5 %`, `24 %`: as the window writes shares, so that one figure reads alike everywhere.
std::string shareText(double share);

/// From when each request was waiting and running, and from the blocks in use. Waiting means longer than for the
/// iteration under way: more than three mean iterations. A place that a sequence has left counts as taken until the
/// next one begins, for as long: where iterations are planned ahead, the scheduler holds it back for one.
LimitingFactor limitingFactor(const ServingResult& result, const FleetSpec& fleet, const ServingMetrics& metrics);

}  // namespace orrery
