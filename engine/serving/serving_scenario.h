#pragma once

// A serving run as a person describes it: model, devices of the drawing, pools of replicas, policies, promises. Plain
// values: the studio edits them, projects store them, sweeps change them. fleetOf() (methods/system/planned_fleet.h)
// makes them a fleet that can be simulated.

#include "base/dtype.h"
#include "hardware/component.h"
#include "mapping/plan.h"
#include "serving/fleet/expert_routing.h"
#include "serving/fleet/fleet.h"
#include "serving/traffic/traffic.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// A language model: built-in id, or a path to a Hugging Face config.json.
struct ServedModel {
    std::string source = "llama-3-8b";
    DType weights = DType::BF16, activations = DType::BF16, kv = DType::BF16;
    bool operator==(const ServedModel&) const = default;
};

enum class SlotKind : std::uint8_t {
    Kernels,  ///< a kernel method prices the kernels of an iteration
    Table,    ///< measured: a file of a known format
    Law,      ///< a line through measurements
};
std::string_view toText(SlotKind kind);

/// seconds = fixed + perToken·tokens + perSquare·Σ chunk·(chunk + 2·context) + perSequence·decodes + perContext·Σ
/// context of decodes.
struct IterationLaw {
    double fixed = 0, perToken = 0, perSquare = 0, perSequence = 0, perContext = 0;
    bool operator==(const IterationLaw&) const = default;
};

/// Who prices iterations.
struct TimeSlot {
    SlotKind kind = SlotKind::Kernels;
    std::string method = "tile-hybrid";  ///< a choice: `tile-hybrid(launch=eager)`
    std::string software;                ///< what the host costs: an id of methods/model/software_stack.h; empty: as
                                         ///< the method's option `launch` has it
    std::string format;                  ///< Table: `vidur`, `llmservingsim`, `splitwise`, `distserve`
    std::string path;                    ///< Table: file or folder
    std::string key;                     ///< Table: which part of the file: `llama2-70b/h100-80gb`
    IterationLaw law;
    bool operator==(const TimeSlot&) const = default;
};

/// Draft tokens, as a person chooses them.
struct SpeculationChoice {
    std::int32_t drafts = 0;  ///< 0: none
    double acceptance = 0.7;
    std::string draftModel;   ///< as ServedModel::source, on the same devices; empty: `draftSeconds`
    double draftSeconds = 0;  ///< per draft token
    bool operator==(const SpeculationChoice&) const = default;
};

/// Which experts tokens choose, and whether the replicas of a pool go in step.
struct ExpertChoice {
    RoutingKind routing = RoutingKind::Balanced;
    double skew = 1;    ///< Zipf
    std::string trace;  ///< Trace: a table with a column `expert` (0, 1, …) and a column `count`
    /// The replicas are data-parallel ranks of one engine: they spread the experts over all their devices, and begin
    /// and end every iteration together, padded to the largest (vLLM's data-parallel engines).
    bool waves = false;
    bool operator==(const ExpertChoice&) const = default;
};

/// Which products of a layer an adapter adds to.
enum class AdapterTargets : std::uint8_t {
    Attention,  ///< queries, keys, values and the output projection (Hu et al. 2021)
    All         ///< and the feed-forward products
};
std::string_view toText(AdapterTargets targets);

/// LoRA adapters on a replica: methods/system/adapters.h.
struct AdapterChoice {
    std::int32_t rank = 16;
    std::int32_t resident = 8;  ///< whose weights are in the memory of a replica at a time; the others in its host's
    AdapterTargets targets = AdapterTargets::Attention;
    double hostBandwidth = 0;  ///< bytes per second of one device's way to its host; 0: PCIe 4.0 × 16, 25 GB/s
    double hidden = 0;  ///< share of a load that earlier iterations hide (S-LoRA fetches ahead of the next batch)
    bool operator==(const AdapterChoice&) const = default;
};

/// How the clock is chosen.
enum class ClockPolicy : std::uint8_t {
    Nominal,  ///< as fast as the power cap lets it
    Fixed,    ///< `clockShare` of the nominal clock
    Lowest  ///< per iteration the lowest that keeps the promise of time per token (ThrottLL'eM, Kakolyris et al. 2025)
};
std::string_view toText(ClockPolicy policy);

/// Groups of equal replicas.
struct PoolSpec {
    std::string name = "replicas";
    ReplicaRole role = ReplicaRole::Whole;
    std::int32_t replicas = 1;
    /// Its devices: a path of names in the drawing (`node/h100`); empty: the drawing's first device. Or the
    /// id or file of another design, as the catalogue has it (`h100-sxm`), in `hardware`.
    std::string device;
    std::string hardware;
    std::string model;  ///< as ServedModel::source, if this pool serves another one than the scenario
    Plan plan;  ///< of one replica; copies are `replicas`
    SchedulerSpec scheduler;
    AdmissionSpec admission;
    TimeSlot time;
    SpeculationChoice speculation;
    ExpertChoice experts;             ///< of a mixture of experts
    AdapterChoice adapters;           ///< used where a tenant has some
    std::vector<std::string> serves;  ///< names of tenants; empty: all of them
    double memoryShare = 0.9;
    std::int32_t tokensPerBlock = 16;
    std::int64_t kvBlocks = 0;  ///< 0: from memory (capacity_plan.h)
    double powerCap = 0;        ///< watts of one device, held by a lower clock; 0: the device's own
    ClockPolicy clock = ClockPolicy::Nominal;
    double clockShare = 1;
    double dollarsPerHour = 0;  ///< of one device; 0: not known
    bool operator==(const PoolSpec&) const = default;
};

/// Who shares the fleet: customers, or models behind one front door (pools name whom they serve).
struct TenantSpec {
    std::string name;           ///< `chat`
    double share = 1;           ///< of the sessions, against the other tenants' shares
    std::int32_t adapters = 0;  ///< LoRA adapters that its sessions ask for; 0: the model as it is
    double adapterSkew = 1;     ///< the k-th adapter is asked for with weight k^−skew
    double ttft = 0;            ///< promised seconds to the first token; 0: as promised to all
    bool operator==(const TenantSpec&) const = default;
};

/// One stage of a pipeline behind every question (serving/fleet/stages.h): on a pool, or by a law on workers of its own.
struct StageSpec {
    std::string name;          ///< `rerank`
    std::string pool;          ///< name of the pool that runs it; empty: `seconds` and `perToken` say how long it takes
    double ofPrompt = 1;       ///< × the question's tokens …
    std::int32_t added = 0;    ///< … and so many more: passages, instructions
    std::int32_t output = 1;   ///< tokens that it yields; 0: as many as the question asks for
    double pause = 0;          ///< seconds between the end of the stage before it and its own arrival
    double seconds = 0;        ///< of one pass, whatever is in it
    double perToken = 0;       ///< seconds more for each token of its prompts
    std::int32_t workers = 1;  ///< that run it side by side
    std::int32_t together = 1;  ///< questions in one pass of a worker, at most
    bool operator==(const StageSpec&) const = default;
};

struct ServingScenario {
    std::string name = "Serving";
    ServedModel model;
    std::vector<PoolSpec> pools{PoolSpec{}};
    RouterSpec router;
    std::optional<TransferSpec> transfer;  ///< none: from the links between the devices of the drawing
    AutoscaleSpec autoscale;
    std::vector<ReplicaFailure> failures;
    ServiceLevel promise;             ///< of a question, where there are stages
    std::vector<TenantSpec> tenants;  ///< none: everybody is alike
    std::vector<StageSpec> stages;    ///< none: a question is one request
    bool operator==(const ServingScenario&) const = default;
};

/// The traffic as the scenario's fleet meets it: tenants and adapters drawn, every question in its stages
/// (RequestStream::stages). Fails as makeTraffic() does, and with `serving.tenants`, `serving.stages`.
Expected<RequestStream> requestsOf(const ServingScenario& scenario, const TrafficSpec& traffic, std::uint64_t seed);

}  // namespace orrery
