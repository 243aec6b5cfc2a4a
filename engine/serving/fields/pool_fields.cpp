// Replicas that are alike: the PoolSpec of serving_scenario.h and its parts.

#include "serving/fields/field_rows.h"
#include "serving/serving_scenario.h"
#include "workload/workload.h"

#include <array>

namespace orrery {

namespace {

using namespace fields;

constexpr FieldSpec planRows[]{
    whole<&Plan::tensor>("tensor", "Tensor parallel", "Devices that divide every layer (tensor parallelism).")
        .from(1)
        .to(4096)
        .called("Tensor"),
    whole<&Plan::pipeline>("pipeline", "Pipeline parallel", "Pipeline stages, each with some of the layers.")
        .from(1)
        .to(1024)
        .called("Pipeline"),
    whole<&Plan::expert>("expert", "Expert parallel",
                         "So many of the tensor-parallel devices have whole experts instead of slices of all experts.")
        .from(1)
        .to(4096)
        .in("experts"),
};

constexpr FieldSpec lawRows[]{
    seconds<&IterationLaw::fixed>("fixed", "Time of any iteration", "Time of any iteration.")
        .from(0)
        .below(1e6)
        .called("Fixed"),
    seconds<&IterationLaw::perToken>("per_token", "Time per token", "Further time for each computed token.")
        .from(0)
        .below(1e6)
        .called("Per token"),
    seconds<&IterationLaw::perSquare>(
        "per_square", "Time per pair of a prompt",
        "Further time for chunk · (chunk + 2 · context), summed over the chunks of prompts.")
        .from(0)
        .below(1e6)
        .called("Per pair"),
    seconds<&IterationLaw::perSequence>("per_sequence", "Time per sequence",
                                        "Further time for each sequence that decodes.")
        .from(0)
        .below(1e6)
        .called("Per sequence"),
    seconds<&IterationLaw::perContext>("per_context", "Time per token of context",
                                       "Further time for each token in the caches of sequences that decode.")
        .from(0)
        .below(1e6)
        .called("Per context"),
};

constexpr std::array<std::string_view, 3> slotTitles{"Kernels, by a method", "Measured tables", "A fitted law"};

std::vector<FieldOffer> tableFormats() {
    return {{"vidur", "VIDUR", "token_ops, attn_decode and attn_prefill."},
            {"llmservingsim", "LLMServingSim", "What its profiler wrote."},
            {"splitwise", "Splitwise", "perf_model.csv."},
            {"distserve", "DistServe", "Its profiles."}};
}
bool byTable(const TimeSlot& s) {
    return s.kind == SlotKind::Table;
}
bool byLaw(const TimeSlot& s) {
    return s.kind == SlotKind::Law;
}

constexpr FieldSpec timeRows[]{
    choice<&TimeSlot::kind>("kind", "Source of iteration times", "Source of iteration times.", slotTitles)
        .fileOnly()
        .fixed(),
    text<&TimeSlot::method>(
        "method", "Predictor of iteration times",
        "The kernel method that predicts how long every kernel of an iteration takes. With the default, and a device "
        "that is not a GPU: the method with the smallest expected error there.")
        .namesOne()
        .called("Time predictor"),
    text<&TimeSlot::software>("software", "Software on the host",
                              "Time of the host: a measured engine, or an engine and its version, such as "
                              "vLLM 0.24.0(graphs=off).")
        .namesOne()
        .called("Host")
        .zeroIs("as the method has it")
        .in("host"),
    text<&TimeSlot::format>("format", "Format of the tables", "Format of the tables.")
        .offering(tableFormats)
        .fileOnly()
        .fixed()
        .when<byTable>(),
    text<&TimeSlot::path>("path", "Tables of iteration times", "File or folder of the tables.")
        .fileOnly()
        .when<byTable>(),
    text<&TimeSlot::key>("key", "Part of the tables", "Part of the file: `llama2-70b/h100-80gb`.")
        .fileOnly()
        .when<byTable>(),
    part<&TimeSlot::law>("law", "Law of iteration times").when<byLaw>(),
};

std::vector<FieldOffer> drafters() {
    std::vector<FieldOffer> all;
    for (const WorkloadInfo& info : builtinWorkloads())
        if (info.hasPhases) all.push_back({std::string(info.id), std::string(info.name), {}});
    return all;
}
bool speculates(const SpeculationChoice& s) {
    return s.drafts > 0;
}

constexpr FieldSpec speculationRows[]{
    whole<&SpeculationChoice::drafts>("drafts", "Draft tokens",
                                      "Draft tokens per step and sequence; the model verifies them in one iteration.")
        .to(64)
        .called("Drafts")
        .zeroIs("none"),
    share<&SpeculationChoice::acceptance>(
        "acceptance", "Acceptance of drafts",
        "Probability that the model keeps a draft token, independently; a step yields (1 − a^(k+1)) ÷ (1 − a) tokens "
        "on average.")
        .from(0)
        .to(1)
        .called("Acceptance")
        .when<speculates>(),
    text<&SpeculationChoice::draftModel>("draft_model", "Draft model",
                                         "A small draft model on one of the devices, predicted kernel by kernel.")
        .offering(drafters)
        .called("Drafting costs")
        .zeroIs("a time per token")
        .when<speculates>(),
    seconds<&SpeculationChoice::draftSeconds>(
        "draft_seconds", "Time per draft token",
        "Time of one draft token for the whole batch, in addition to the draft model.")
        .from(0)
        .to(1e6)
        .called("Time per draft")
        .zeroIs("free")
        .when<speculates>(),
};

constexpr std::array<std::string_view, 4> routingTitles{"evenly", "at random", "Zipf, some more often",
                                                        "as a trace counts them"};
bool routesByZipf(const ExpertChoice& s) {
    return s.routing == RoutingKind::Zipf;
}
bool routesByTrace(const ExpertChoice& s) {
    return s.routing == RoutingKind::Trace;
}

constexpr FieldSpec expertRows[]{
    choice<&ExpertChoice::routing>("routing", "Routing to experts",
                                   "How tokens choose experts. A device computes the tokens of its experts, and all "
                                   "wait for the slowest. So an uneven choice takes longer.",
                                   routingTitles)
        .called("Tokens choose"),
    number<&ExpertChoice::skew>("skew", "Skew of the experts", "The k-th expert is chosen with weight k^−skew.")
        .from(0)
        .to(100)
        .called("Skew")
        .failsAs("routing.skew")
        .when<routesByZipf>()
        .always(),
    text<&ExpertChoice::trace>("trace", "Trace of experts",
                               "Path of a table with columns `expert` (0, 1, …) and `count`.")
        .called("Trace")
        .when<routesByTrace>(),
    flag<&ExpertChoice::waves>("waves", "Replicas go in step",
                               "Replicas are data-parallel ranks of one engine. The experts are divided over all their "
                               "devices. All begin and end every iteration together, padded to the largest."),
};

constexpr std::array<std::string_view, 2> targetTitles{"attention", "all products"};

constexpr FieldSpec adapterRows[]{
    whole<&AdapterChoice::rank>("rank", "Rank of adapters", "Width of the two small matrices (Hu et al. 2021).")
        .from(1)
        .to(4096)
        .called("Rank"),
    whole<&AdapterChoice::resident>("resident", "Adapters in memory",
                                    "Number of adapters in a replica's memory; the others are in host memory.")
        .from(1)
        .to(100'000)
        .called("In memory"),
    choice<&AdapterChoice::targets>("targets", "Products with adapters",
                                    "Which products of a layer adapters add to: attention's projections, or the "
                                    "feed-forward ones too.",
                                    targetTitles)
        .called("Added to"),
    number<&AdapterChoice::hostBandwidth>("host_bandwidth", "Adapters from the host",
                                          "Bandwidth between a device and its host, for loading adapters.")
        .unit(Dimension::DataRate)
        .from(0)
        .to(1e15)
        .called("From the host")
        .zeroIs("PCIe 4.0 × 16"),
    share<&AdapterChoice::hidden>("hidden", "Hidden share of loads",
                                  "Share of a load that earlier iterations hide (S-LoRA fetches ahead of the next "
                                  "batch).")
        .from(0)
        .to(1)
        .called("Hidden share")
        .zeroIs("none"),
};

constexpr std::array<std::string_view, 5> orderTitles{"first come, first served", "by priority",
                                                      "shortest prompt first", "fair between tenants",
                                                      "earliest deadline first"};

constexpr FieldSpec admissionRows[]{
    choice<&AdmissionSpec::order>(
        "order", "Order of the line",
        "Which request comes next. Fair: the tenant that has received least, counted in prompt tokens and twice the "
        "output tokens (virtual token counters, OSDI 2024). Deadline: arrival time plus the TTFT limit. Priority: of "
        "the trace.",
        orderTitles)
        .called("Order"),
    whole<&AdmissionSpec::queue>("queue", "Longest line",
                                 "Requests that may wait at one replica; more are refused at once.")
        .called("May wait")
        .zeroIs("any number"),
    flag<&AdmissionSpec::dropLate>(
        "drop_late", "Refuse who is late",
        "Refuse a request whose TTFT limit has passed before its turn. This keeps others in time."),
};

constexpr std::array<std::string_view, 3> roleTitles{"prefill and decode", "prefill", "decode"};
constexpr std::array<std::string_view, 3> clockTitles{"as fast as power lets it", "fixed",
                                                      "lowest that keeps the pace"};
bool hasClockShare(const PoolSpec& s) {
    return s.clock == ClockPolicy::Fixed;
}

constexpr FieldSpec poolRows[]{
    text<&PoolSpec::name>("name", "Name of the pool", "Name in results, stages and messages.").fileOnly(),
    choice<&PoolSpec::role>("role", "Part of the pool",
                            "Whether its replicas process whole requests, only prompts, or only decode.", roleTitles)
        .fileOnly()
        .fixed(),
    whole<&PoolSpec::replicas>("replicas", "Replicas", "Copies of the model behind one router.").to(100'000),
    text<&PoolSpec::device>("device", "Drawn device", "Its devices: a path of names in the drawing (`node/h100`).")
        .zeroIs("the first device that is drawn")
        .fileOnly(),
    text<&PoolSpec::hardware>("hardware", "Serving device",
                              "Another design than the drawing: an id of the library, or a file.")
        .called("Device")
        .zeroIs("as drawn")
        .fileOnly(),
    text<&PoolSpec::model>("model", "Model of the pool", "Another model than the scenario's: a built-in id or a file.")
        .zeroIs("the scenario's")
        .fileOnly(),
    part<&PoolSpec::plan>("plan", "Parallelism"),
    part<&PoolSpec::scheduler>("scheduler", "Scheduler"),
    part<&PoolSpec::admission>("admission", "Queue"),
    part<&PoolSpec::time>("time", "Iteration times"),
    part<&PoolSpec::speculation>("speculation", "Speculation"),
    part<&PoolSpec::experts>("experts", "Experts"),
    part<&PoolSpec::adapters>("adapters", "LoRA adapters"),
    row<&PoolSpec::serves>(FieldForm::Texts, "serves", "Tenants served", "Names of the tenants that it serves.")
        .zeroIs("all tenants")
        .fileOnly(),
    share<&PoolSpec::memoryShare>("memory_share", "Share of memory",
                                  "Share of the device's memory that the engine may use (vLLM: "
                                  "gpu_memory_utilization).")
        .above(0)
        .to(1)
        .failsAs("serving.bad-capacity")
        .in("memory"),
    whole<&PoolSpec::tokensPerBlock>("tokens_per_block", "Tokens per block",
                                     "Tokens per block of the paged KV cache; 16 is common.")
        .from(1)
        .to(1 << 20)
        .failsAs("serving.bad-capacity")
        .in("memory"),
    whole<&PoolSpec::kvBlocks>("kv_blocks", "KV blocks",
                               "Blocks of a replica's KV cache; otherwise computed from the memory that remains beside "
                               "weights, activations and graphs.")
        .to(1099511627776.0)
        .called("Blocks")
        .zeroIs("from memory")
        .in("memory"),
    number<&PoolSpec::powerCap>("power_cap", "Power cap",
                                "Power cap of one device; its clock falls until the cap is met.")
        .unit(Dimension::Power)
        .from(0)
        .to(1e6)
        .zeroIs("the device's own")
        .failsAs("serving.bad-power-cap")
        .in("power"),
    choice<&PoolSpec::clock>("clock", "Clock policy",
                             "How the clock is chosen. Lowest: every decoding iteration at the lowest clock that keeps "
                             "the TPOT limit (throttLL'eM, HPCA 2025); prompts at the nominal one.",
                             clockTitles)
        .called("Clock")
        .in("power"),
    share<&PoolSpec::clockShare>("clock_share", "Share of the clock", "Fixed share of the nominal clock.")
        .above(0)
        .to(1)
        .in("power")
        .when<hasClockShare>(),
    number<&PoolSpec::dollarsPerHour>("dollars_per_hour", "Price per hour",
                                      "Dollars per hour of one device, for the price of a million tokens.")
        .from(0)
        .to(1e6)
        .called("Price, $/h")
        .zeroIs("not known")
        .in("power"),
};

}  // namespace

template <>
const FieldTable& fieldTable<Plan>() {
    static constexpr FieldTable table{"Parallelism", "fleet", "serving.bad-plan", planRows, usual<Plan>};
    return table;
}
template <>
const FieldTable& fieldTable<IterationLaw>() {
    static constexpr FieldTable table{"Law of iteration times", "law", "serving.bad-law", lawRows,
                                      usual<IterationLaw>,      true};
    return table;
}
template <>
const FieldTable& fieldTable<TimeSlot>() {
    static constexpr FieldTable table{"Iteration times", "model", "serving.time", timeRows, usual<TimeSlot>};
    return table;
}
template <>
const FieldTable& fieldTable<SpeculationChoice>() {
    static constexpr FieldTable table{"Speculation", "speculation", "serving.speculation", speculationRows,
                                      usual<SpeculationChoice>};
    return table;
}
template <>
const FieldTable& fieldTable<ExpertChoice>() {
    static constexpr FieldTable table{"Routing to experts", "experts",           "serving.experts",
                                      expertRows,           usual<ExpertChoice>, true};
    return table;
}
template <>
const FieldTable& fieldTable<AdapterChoice>() {
    static constexpr FieldTable table{"LoRA adapters", "adapters",           "serving.adapters",
                                      adapterRows,     usual<AdapterChoice>, true};
    return table;
}
template <>
const FieldTable& fieldTable<AdmissionSpec>() {
    static constexpr FieldTable table{"Queue", "line", "serving.bad-pool", admissionRows, usual<AdmissionSpec>, true};
    return table;
}
template <>
const FieldTable& fieldTable<PoolSpec>() {
    static constexpr FieldTable table{"Pool", "fleet", "serving.bad-pool", poolRows, usual<PoolSpec>};
    return table;
}

}  // namespace orrery
