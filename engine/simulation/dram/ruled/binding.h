#pragma once

// Which timing holds a run back, in words.

#include "simulation/dram/ruled/ruled_run.h"

namespace orrery {

struct DramBinding {
    std::string timing;       ///< `nCCDL`, `data bus`, `requests`, `order of commands`
    std::int64_t cycles = 0;  ///< of the data bus
    double share = 0;         ///< of all of them
    std::string words;        ///< what it means and what to turn
};

/// The largest first; what took nothing is left out.
std::vector<DramBinding> dramBindings(const DramRules& rules, const RuledResult& result);
/// What it means that bursts wait for this timing of so many cycles, and what to turn. `pace`: DramRules::burstPace().
std::string dramTimingWords(std::string_view timing, std::int64_t cycles, std::int64_t pace);
/// What the data sheet calls a rule: `nCCDL`; a description where it has no name.
std::string dramRuleName(const DramRules& rules, const DramRule& rule);

}  // namespace orrery
