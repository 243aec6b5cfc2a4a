#pragma once

// What serves: replicas of an engine, in pools, behind a router. A replica is one model on one or more devices; how
// long its iterations take is a slot.

#include "serving/fleet/admission.h"
#include "serving/iteration_time.h"
#include "serving/schedulers/scheduler.h"
#include "simulation/network/fluid_flows.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orrery {

enum class ReplicaRole : std::uint8_t { Whole, Prefill, Decode };
std::string_view toText(ReplicaRole role);

/// Draft tokens and how many of them the target model accepts (Leviathan et al., ICML 2023).
struct Speculation {
    std::int32_t drafts = 0;          ///< per step; 0: none
    double acceptance = 0;            ///< of each draft token, independent
    std::vector<std::int32_t> trace;  ///< accepted drafts of step 0, 1, …; repeats; instead of `acceptance`
    IterationTimePtr draft;   ///< one step of the draft model; null: free (n-gram), or heads priced by `draftSeconds`
    double draftSeconds = 0;  ///< per draft token beside `draft`
};

/// Electrical power of a replica by what it does, all devices together. Zeros: not known, no energy is stated.
struct ReplicaPower {
    double idle = 0, prompt = 0, decode = 0;  ///< watts; an iteration with both is weighted by tokens' time
};

/// What a replica could do and what a token asks of it, all devices together; for MFU and MBU only. Zeros: not known.
struct ReplicaRoofline {
    double flopsPerToken = 0;   ///< 2 × parameters that a token meets (of experts: the active ones)
    double flopsPerPair = 0;    ///< attention, per query and key: 4 × layers × heads × head size
    double weightBytes = 0;     ///< read by every iteration
    double flopsPerSecond = 0;  ///< dense peak of the data type
    double bytesPerSecond = 0;
    bool operator==(const ReplicaRoofline&) const = default;
};

/// LoRA adapters of a replica (methods/system/adapters.h says where the figures come from).
struct AdapterSlots {
    std::int32_t count = 0;  ///< adapters whose weights are on the devices at a time; 0: none is looked at
    double loadSeconds = 0;  ///< that an iteration waits for one that is not
    IterationTimePtr extra;  ///< of the low-rank products: IterationWork::adapters, adapterTokens
};

struct ReplicaSpec {
    std::string name;  ///< `H100 × 4`
    std::string pool;  ///< replicas of one pool are alike to the router
    ReplicaRole role = ReplicaRole::Whole;
    IterationTimePtr time;
    SchedulerSpec scheduler;
    std::int64_t kvBlocks = 0;
    std::int32_t tokensPerBlock = 16;
    /// Replicas of one number (0, 1, …) are data-parallel ranks that share experts: they begin and end every iteration
    /// together, padded to the tokens of the largest (vLLM's data-parallel engines). −1: on its own.
    std::int32_t wave = -1;
    double kvBytesPerToken = 0;  ///< all layers, as the cache stores them; for transfers
    Speculation speculation;
    ReplicaPower power;
    ReplicaRoofline roofline;
    double dollarsPerHour = 0;
    std::int32_t devices = 1;  ///< accelerators; 0: runs on hosts, counts in no share of what the fleet could do
    /// Of requests that it serves (RequestStream::tenant): models of a shared fleet, stages of a pipeline. Empty: all.
    std::vector<std::int32_t> tenants;
    AdmissionSpec admission;
    std::vector<double> due;  ///< promised seconds to the first token by tenant, for admission (admission.h)
    AdapterSlots adapters;    ///< LoRA; none: requests' adapters are not looked at
};
/// Nothing about tenants in a stream means tenant 0.
bool serves(const ReplicaSpec& replica, const RequestStream& stream, RequestIndex r);

struct RouterSpec {
    std::string id = "round-robin";
    double weight = 1;          ///< of prefix affinity against load
    double queueTokens = 8192;  ///< Splitwise's pools: queued prompt tokens beyond which a replica borrows help
    std::string compatibility;
    bool operator==(const RouterSpec&) const = default;
};

/// KV caches on their way from prefill to decode replicas.
struct TransferSpec {
    double bytesPerSecond = 0;                ///< of one replica's way out, and in; 0: takes no time
    double latency = 0;                       ///< seconds
    double hidden = 0;                        ///< share that overlaps with the prompt's computation (layer by layer)
    LinkSharing sharing = LinkSharing::Fair;  ///< every replica has one way out and one way in
    double retry = 0;  ///< seconds between two looks for room at the destination; 0: as soon as there is some
    bool operator==(const TransferSpec&) const = default;
};

/// Grows and shrinks a pool.
struct AutoscaleSpec {
    double interval = 0;          ///< seconds between decisions; 0: off
    double spinUp = 0;            ///< seconds from decision to the first iteration (weights ÷ bandwidth)
    double up = 0.8, down = 0.3;  ///< load per replica beyond which it grows, below which it shrinks
    std::int32_t least = 1, most = 0;
    bool operator==(const AutoscaleSpec&) const = default;
};
struct ReplicaFailure {
    std::int32_t replica = 0;
    double at = 0, lasting = 0;  ///< seconds
    bool drain = false;          ///< finishes what runs, takes nothing new
    bool operator==(const ReplicaFailure&) const = default;
};

/// Promises to the user; 0: none.
struct ServiceLevel {
    double ttft = 0, tpot = 0, endToEnd = 0;  ///< seconds
    bool operator==(const ServiceLevel&) const = default;
};

struct FleetSpec {
    std::vector<ReplicaSpec> replicas;
    RouterSpec router;
    TransferSpec transfer;
    AutoscaleSpec autoscale;
    std::vector<ReplicaFailure> failures;
    ServiceLevel promise;
    std::vector<double> tenantTtft;  ///< by tenant, in place of promise.ttft; 0 or not there: that one
};
/// What was promised to the tenant of that number.
ServiceLevel promiseTo(const FleetSpec& fleet, std::int32_t tenant);
/// Fails on what cannot run: no replica, no blocks, a prefill pool without a decode pool, block size 0.
Expected<void> check(const FleetSpec& fleet);

}  // namespace orrery
