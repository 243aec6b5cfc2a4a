#pragma once

// Runs of published simulators of disaggregated serving, as their folders describe them: the fleet, the requests and
// how each treats them, faults included (`compatibility`). Nothing of what the folder records as outcome is read,
// except inputs that stand nowhere else (lengths and arrivals of requests).

#include "serving/fleet/fleet.h"
#include "serving/traffic/request_stream.h"

#include <string>

namespace orrery {

struct PublishedCase {
    FleetSpec fleet;
    RequestStream requests;
    std::string model;
    Diagnostics notes;  ///< what was assumed where the folder does not say
};

struct SplitwiseOverrides {
    int prompts = 0, tokens = 0;  ///< machines of each pool; 0: as the case says
};

/// splitwise-sim (Mutinifni/splitwise-sim @8f99e7dc). `folder`/metrics.json holds the arguments of the run: name,
/// trace, scheduler (token_jsq, …), start state (baseline, splitwise_2_2, …), number of DGX-A100, of DGX-H100, model,
/// then `key=value` overrides of its configuration. Requests are in trace.csv there, or beside the table, or in
/// detailed/0.csv and request_nodes.csv. `table` is perf_model.csv. Fails with `splitwise.…`.
Expected<PublishedCase> readSplitwiseCase(const std::string& folder, const std::string& table,
                                          const SplitwiseOverrides& overrides = {});

/// simdistserve (LLMServe/DistServe @82831f16). `folder`/metrics.json holds the arguments by name, requests.csv ids,
/// start times and lengths. `profiles` holds profiler-a100-80g.{distserve,vllm}.json and max_num_tokens.csv. It yields
/// `output_lens` tokens after the prompt's own, so streams ask for one more. Fails with `distserve.…`.
Expected<PublishedCase> readDistServeCase(const std::string& folder, const std::string& profiles);

}  // namespace orrery
