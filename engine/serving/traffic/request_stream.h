#pragma once

// What arrives: requests in the order of arrival, as columns. Made by generators (generators.h) and trace readers
// (traces.h); immutable while a simulation runs, so that two schedulers can be asked about one stream.

#include "base/diagnostic.h"
#include "simulation/picoseconds.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// SimTime of serving is picoseconds: 106 days, and a billionth of a second is a thousand ticks.
inline constexpr double serving_ticks_per_second = picoseconds_per_second;

using RequestIndex = std::uint32_t;
inline constexpr RequestIndex no_request = 0xFFFFFFFFu;

/// Columns of equal length; those marked optional may be empty, which means zero (or none) for every request.
struct RequestStream {
    std::string name;                  ///< `Azure conversations 2023`
    std::string source;                ///< file or generator, for provenance
    std::vector<SimTime> arrival;      ///< never falling, from 0 on
    std::vector<std::int32_t> prompt;  ///< tokens, ≥ 1
    std::vector<std::int32_t> output;  ///< tokens, ≥ 1, the first token (which the prompt's iteration yields) included

    std::vector<std::int32_t> priority;  ///< optional; smaller is more urgent
    std::vector<std::int32_t> tenant;    ///< optional; for fairness, LoRA adapters and models of a shared fleet
    std::vector<std::int64_t> id;        ///< optional; as the file numbers them, otherwise the index

    std::vector<std::int32_t> adapter;  ///< optional; LoRA adapter, numbered over all tenants; −1: none
    /// Tenants by number; empty: not named. With stages, tenant = stage × max(1, names) + number of the name.
    std::vector<std::string> tenantNames, stageNames;
    std::int32_t stages = 1;  ///< requests of one question, which stand behind one another (stages.h)

    /// Optional: requests that wait for another one. `after[i]` is an earlier index or no_request; the request then
    /// arrives `think[i]` after that one has ended, and not before arrival[i]. Sessions, agents, tool calls.
    std::vector<RequestIndex> after;
    std::vector<SimTime> think;

    /// Optional: what texts share. Request i has hashes[hashBegin[i] … hashBegin[i+1]), one per `hashTokens` tokens;
    /// equal hashes mean equal text up to there. The last one may stand for fewer tokens (Mooncake). They may reach
    /// beyond the prompt, into what the request will generate: so the next turn finds the answer of this one.
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> hashBegin;
    std::int32_t hashTokens = 0;

    /// 0: open loop. Otherwise arrival times are ignored and this many requests are in flight at any time.
    std::int32_t concurrency = 0;

    std::size_t size() const { return prompt.size(); }
    /// All columns agree and hold what they promise. Readers call it last; a simulation starts with it.
    Expected<void> check() const;
};

}  // namespace orrery
