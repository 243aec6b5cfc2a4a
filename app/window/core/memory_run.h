#pragma once

// Requests through one DRAM channel, for the memory tab: a standard or a configuration file, a trace or a pattern.

#include "base/progress.h"
#include "simulation/dram/ruled/binding.h"
#include "simulation/dram/ruled/counted_bounds.h"
#include "simulation/dram/ruled/ruled_energy.h"
#include "widgets/memory/command_timeline.h"

#include <stop_token>
#include <string>
#include <vector>

namespace orrery::app {

enum class RequestPattern { Stream, Stride, Random, Trace };

struct MemoryQuestion {
    std::string standard;  ///< `ddr4-3200aa`; empty: of `config`
    std::string config;    ///< file of Ramulator 2.1
    RequestPattern pattern = RequestPattern::Stream;
    std::string trace;  ///< file
    int requests = 2000;
    int stride = 4096;  ///< B
    int writes = 0;     ///< of a hundred requests
    std::string mapping = "RoBaRaCoCh", injection = "asap", page = "open";
    bool refresh = true;
    std::string currents;  ///< id or file; empty: the published ones of these devices
    bool operator==(const MemoryQuestion&) const = default;
};

struct MemoryAnswer {
    DramRules rules;
    RuledResult result;
    std::vector<DramBinding> bindings;
    std::vector<DramCountedBound> bounds;
    Expected<RuledEnergy> energy = Unexpected(Diagnostic{});
    std::vector<std::string> unlike;  ///< in what the chosen currents are of another device
    ui::CommandPicture picture;
};

/// The requests of a pattern; the same ones for the same question.
std::vector<DramTraceRequest> requestsOf(const MemoryQuestion& question, int burstBytes, std::int64_t capacity);
Expected<MemoryAnswer> runMemory(const MemoryQuestion& question, std::stop_token stop);

}  // namespace orrery::app
