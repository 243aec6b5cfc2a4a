// The question as a whole: serving_study.h, and of serving_scenario.h what is no pool.

#include "serving/fields/field_rows.h"
#include "serving/routers/router.h"
#include "serving/serving_study.h"
#include "workload/workload.h"

#include <array>

namespace orrery {

namespace {

using namespace fields;

constexpr FieldSpec modelRows[]{
    text<&ServedModel::source>("source", "Served model", "A built-in decoder model, or a Hugging Face config.json.")
        .offering([] {
            std::vector<FieldOffer> all;
            for (const WorkloadInfo& info : builtinWorkloads())
                if (info.hasPhases) all.push_back({std::string(info.id), std::string(info.name), {}});
            return all;
        })
        .called("Model"),
    type<&ServedModel::weights>("weights", "Precision of the weights",
                                "Data type of stored weights, and of multiplications if the device supports it.")
        .called("Weights"),
    type<&ServedModel::activations>("activations", "Precision of activations",
                                    "Data type of activations between the layers.")
        .called("Activations")
        .in("host"),
    type<&ServedModel::kv>("kv", "Precision of the KV cache", "Data type of keys and values in the cache.")
        .called("Stored as")
        .in("memory"),
};

std::vector<FieldOffer> routerOffers() {
    std::vector<FieldOffer> all;
    for (const RouterCard& card : routers())
        all.push_back({std::string(card.id), std::string(card.title), std::string(card.summary)});
    return all;
}
std::vector<FieldOffer> routerCompatibilities() {
    return {{"vidur", "VIDUR", "Draws as Python's generator does."}};
}
bool weighsPrefixes(const RouterSpec& s) {
    return s.id == "prefix-affinity" || (s.id == "random" && !s.compatibility.empty());
}
bool borrowsHelp(const RouterSpec& s) {
    return s.id == "splitwise-pools";
}

constexpr FieldSpec routerRows[]{
    text<&RouterSpec::id>("id", "Router", "The policy that chooses the replica of a request.").offering(routerOffers),
    number<&RouterSpec::weight>("weight", "Worth of a prefix",
                                "Tokens of queue that count as much as one token found in a replica's cache.")
        .from(0)
        .to(1e9)
        .called("Prefix")
        .when<weighsPrefixes>(),
    number<&RouterSpec::queueTokens>("queue_tokens", "Queue before help",
                                     "Prompt tokens that wait at a replica before it uses the mixed pool too.")
        .from(0)
        .to(1e9)
        .called("Queue")
        .when<borrowsHelp>(),
    text<&RouterSpec::compatibility>("compatibility", "Routed as", "Routes exactly as a published simulator.")
        .offering(routerCompatibilities)
        .zeroIs("Orrery's own rules")
        .fileOnly()
        .fixed(),
};

constexpr std::array<std::string_view, 3> sharingTitles{"not at all", "one after another", "fairly (max-min)"};

constexpr FieldSpec transferRows[]{
    number<&TransferSpec::bytesPerSecond>("bandwidth", "Bandwidth of transfers",
                                          "Bandwidth out of one replica, and into it.")
        .unit(Dimension::DataRate)
        .from(0)
        .to(1e18)
        .called("Bandwidth")
        .zeroIs("no limit"),
    seconds<&TransferSpec::latency>("latency", "Latency of transfers", "Time before the first byte arrives.")
        .from(0)
        .to(1e6)
        .called("Latency")
        .zeroIs("none"),
    share<&TransferSpec::hidden>("hidden", "Hidden share of transfers",
                                 "Share of a transfer that overlaps with computing the prompt, layer by layer "
                                 "(Splitwise).")
        .from(0)
        .to(1)
        .called("Hidden share")
        .zeroIs("none"),
    choice<&TransferSpec::sharing>("sharing", "Sharing of links",
                                   "How simultaneous transfers at one end of a link share its bandwidth.",
                                   sharingTitles)
        .called("Shared"),
    seconds<&TransferSpec::retry>("retry", "Time between looks for room",
                                  "Time between two checks for free memory at the target of a cache.")
        .from(0)
        .to(1e6)
        .called("Looks again after")
        .zeroIs("at once"),
};

bool scales(const AutoscaleSpec& s) {
    return s.interval > 0;
}

constexpr FieldSpec autoscaleRows[]{
    seconds<&AutoscaleSpec::interval>("interval", "Interval of autoscaling", "Time between two decisions.")
        .from(0)
        .to(1e6)
        .called("Decides every")
        .zeroIs("off"),
    seconds<&AutoscaleSpec::spinUp>("spin_up", "Spin-up of replicas",
                                    "Time from the decision to the first iteration: weights ÷ bandwidth, and the start "
                                    "of the engine.")
        .from(0)
        .to(1e6)
        .called("Spin-up")
        .zeroIs("none")
        .when<scales>(),
    share<&AutoscaleSpec::up>("up", "Load to grow above",
                              "Mean load of a replica above which a pool grows. The load is the larger of the use of "
                              "the KV cache and requests ÷ sequences of its scheduler.")
        .from(0)
        .to(1e6)
        .called("Grows above")
        .when<scales>(),
    share<&AutoscaleSpec::down>("down", "Load to shrink below",
                                "Mean load of a replica below which one stops, after it has finished its requests.")
        .from(0)
        .to(1e6)
        .called("Shrinks below")
        .when<scales>(),
    whole<&AutoscaleSpec::least>("least", "Fewest replicas", "Minimum number of replicas of a pool.")
        .to(100'000)
        .called("Least")
        .when<scales>(),
    whole<&AutoscaleSpec::most>("most", "Most replicas", "Maximum number of replicas of a pool.")
        .to(100'000)
        .called("Most")
        .zeroIs("all that are set")
        .when<scales>(),
};

constexpr FieldSpec failureRows[]{
    whole<&ReplicaFailure::replica>("replica", "Replica that fails",
                                    "Number of the replica over all pools, from 0 in files.")
        .to(1e9)
        .counted()
        .called("Replica"),
    seconds<&ReplicaFailure::at>("at", "Time of the failure", "Time after the beginning of the run.")
        .from(0)
        .to(1e9)
        .called("At"),
    seconds<&ReplicaFailure::lasting>("lasting", "Length of the failure", "Time until it is back.")
        .from(0)
        .to(1e9)
        .called("For")
        .zeroIs("permanent"),
    flag<&ReplicaFailure::drain>(
        "drain", "It drains",
        "On: it finishes its requests and accepts no new ones. Off: its requests are lost and start again elsewhere."),
};

constexpr FieldSpec promiseRows[]{
    seconds<&ServiceLevel::ttft>("ttft", "Time to first token",
                                 "A request meets the SLO if its first token comes within this time of its arrival.")
        .from(0)
        .to(1e9)
        .called("First token")
        .zeroIs("none"),
    seconds<&ServiceLevel::tpot>("tpot", "Time per output token",
                                 "A request meets the SLO if its mean time per further token is within this limit.")
        .from(0)
        .to(1e9)
        .called("Per token")
        .zeroIs("none"),
    seconds<&ServiceLevel::endToEnd>("end_to_end", "End to end",
                                     "A request meets the SLO if its last token comes within this time of its arrival.")
        .from(0)
        .to(1e9)
        .zeroIs("none"),
};

bool asksForAdapters(const TenantSpec& s) {
    return s.adapters > 0;
}

constexpr FieldSpec tenantRows[]{
    text<&TenantSpec::name>("name", "Name", "Name in results and pools."),
    number<&TenantSpec::share>("share", "Share", "Weight of this tenant when sessions are drawn.").from(0).to(1e9),
    whole<&TenantSpec::adapters>("adapters", "LoRA adapters", "Number of LoRA adapters that its sessions use.")
        .to(1'000'000)
        .zeroIs("none"),
    number<&TenantSpec::adapterSkew>("adapter_skew", "Skew of its adapters",
                                     "Its k-th adapter is used with weight k^−skew.")
        .from(0)
        .to(10)
        .called("Skew")
        .when<asksForAdapters>()
        .always(),
    seconds<&TenantSpec::ttft>("ttft", "First token", "TTFT limit of this tenant.")
        .from(0)
        .to(1e9)
        .zeroIs("the common limit"),
};

bool hasWorkers(const StageSpec& s) {
    return s.pool.empty();
}
constexpr double mostStageTokens = 1 << 30;

constexpr FieldSpec stageRows[]{
    text<&StageSpec::name>("name", "Name", "Name in results: retrieve, rerank, answer."),
    text<&StageSpec::pool>("pool", "On the pool",
                           "Name of the pool that runs it; otherwise `seconds` and `per_token` say how long it takes.")
        .zeroIs("its own workers"),
    number<&StageSpec::ofPrompt>("of_prompt", "Reads", "Factor for the tokens of the question.")
        .from(0)
        .to(1e6)
        .called("Reads ×"),
    whole<&StageSpec::added>("added", "Reads too", "Added tokens: passages, instructions.")
        .to(mostStageTokens)
        .called("and"),
    whole<&StageSpec::output>("output", "Writes", "Output tokens of the stage.")
        .to(mostStageTokens)
        .zeroIs("the answer"),
    seconds<&StageSpec::pause>("pause", "Pause before",
                               "Time between the end of the stage before it and its own begin.")
        .from(0)
        .to(1e6)
        .zeroIs("none"),
    seconds<&StageSpec::seconds>("seconds", "A pass takes", "Time of one pass.").from(0).to(1e6).when<hasWorkers>(),
    seconds<&StageSpec::perToken>("per_token", "and per token", "Further time for each token of its prompts.")
        .from(0)
        .to(1e6)
        .zeroIs("none")
        .when<hasWorkers>(),
    whole<&StageSpec::workers>("workers", "Workers", "Number of parallel workers.")
        .from(1)
        .to(100'000)
        .when<hasWorkers>(),
    whole<&StageSpec::together>("together", "Together", "Questions in one pass of a worker, at most.")
        .from(1)
        .to(100'000)
        .when<hasWorkers>(),
};

constexpr FieldSpec capacityRows[]{
    share<&CapacitySpec::attainment>("attainment", "Share that meets the SLO",
                                     "Share of requests that must meet the SLO at capacity.")
        .from(1e-6)
        .to(1)
        .called("Must meet it"),
    number<&CapacitySpec::guess>("guess", "First rate of the search", "First request rate of the search.")
        .from(1e-4)
        .to(1e6)
        .called("First rate")
        .fixed(),
    share<&CapacitySpec::tolerance>("tolerance", "Width of the answer",
                                    "Relative width of the last bracket of the search.")
        .from(1e-4)
        .to(1)
        .called("Precision")
        .fixed(),
    number<&CapacitySpec::highest>("highest", "Highest rate of the search", "Highest request rate of the search.")
        .from(1e-4)
        .to(1e6)
        .called("Highest rate")
        .fixed(),
};

// With names: clang-format takes lambdas between angle brackets for comparisons.
constexpr auto modelOf = [](ServingStudy& s) -> decltype(auto) { return (s.scenario.model); };
constexpr auto poolsOf = [](ServingStudy& s) -> decltype(auto) { return (s.scenario.pools); };
constexpr auto routerOf = [](ServingStudy& s) -> decltype(auto) { return (s.scenario.router); };
constexpr auto transferOf = [](ServingStudy& s) -> decltype(auto) { return (s.scenario.transfer); };
constexpr auto autoscaleOf = [](ServingStudy& s) -> decltype(auto) { return (s.scenario.autoscale); };
constexpr auto failuresOf = [](ServingStudy& s) -> decltype(auto) { return (s.scenario.failures); };
constexpr auto promiseOf = [](ServingStudy& s) -> decltype(auto) { return (s.scenario.promise); };
constexpr auto tenantsOf = [](ServingStudy& s) -> decltype(auto) { return (s.scenario.tenants); };
constexpr auto stagesOf = [](ServingStudy& s) -> decltype(auto) { return (s.scenario.stages); };

constexpr FieldSpec studyRows[]{
    text<&ServingStudy::name>("name", "Name", "Name of the question.").fileOnly(),
    text<&ServingStudy::description>("description", "Description", "Description in the gallery of examples.")
        .fileOnly(),
    text<&ServingStudy::hardware>("hardware", "Drawing",
                                  "A device of the library or a hardware file; in a project the name of a design.")
        .zeroIs("the project's first")
        .fileOnly(),
    part<modelOf>("model", "Served model"),
    list<poolsOf>("pools", "Pools", "Groups of equal replicas."),
    part<routerOf>("router", "Router"),
    optional<transferOf>("transfer", "Transfers of KV caches", "Without it the links of the drawing are used."),
    part<autoscaleOf>("autoscale", "Autoscaling"),
    list<failuresOf>("failures", "Failures"),
    part<promiseOf>("promise", "SLO (service-level objective)"),
    list<tenantsOf>("tenants", "Tenants"),
    list<stagesOf>("stages", "Stages of a question"),
    part<&ServingStudy::traffic>("traffic", "Traffic"),
    whole<&ServingStudy::seed>("seed", "Seed of the traffic",
                               "The same seed gives the same traffic and the same answer.")
        .called("Seed")
        .in("traffic"),
    optional<&ServingStudy::compareWith>("compare_with", "Compared scheduler",
                                         "A second scheduler for every pool, on the same requests."),
    part<&ServingStudy::capacity>("capacity", "Search of the capacity"),
    row<&ServingStudy::sweep>(FieldForm::Axes, "sweep", "Configurations to search",
                              "Values to try, by key: every combination of them."),
};

}  // namespace

template <>
const FieldTable& fieldTable<ServedModel>() {
    static constexpr FieldTable table{"Served model", "model", "serving.model", modelRows, usual<ServedModel>};
    return table;
}
template <>
const FieldTable& fieldTable<RouterSpec>() {
    static constexpr FieldTable table{"Numbers of the router", "router", "serving.router", routerRows,
                                      usual<RouterSpec>};
    return table;
}
template <>
const FieldTable& fieldTable<TransferSpec>() {
    static constexpr FieldTable table{"Transfers of KV caches", "transfer", "serving.transfer", transferRows,
                                      usual<TransferSpec>,      true};
    return table;
}
template <>
const FieldTable& fieldTable<AutoscaleSpec>() {
    static constexpr FieldTable table{"Autoscaling", "autoscale",          "serving.autoscale",
                                      autoscaleRows, usual<AutoscaleSpec>, true};
    return table;
}
template <>
const FieldTable& fieldTable<ReplicaFailure>() {
    static constexpr FieldTable table{"Failures", "failures", "serving.failure", failureRows, usual<ReplicaFailure>,
                                      true};
    return table;
}
template <>
const FieldTable& fieldTable<ServiceLevel>() {
    static constexpr FieldTable table{
        "SLO (service-level objective)", "promise", "serving.promise", promiseRows, usual<ServiceLevel>, true};
    return table;
}
template <>
const FieldTable& fieldTable<TenantSpec>() {
    static constexpr FieldTable table{"Tenants", "tenants", "serving.tenants", tenantRows, usual<TenantSpec>, true};
    return table;
}
template <>
const FieldTable& fieldTable<StageSpec>() {
    static constexpr FieldTable table{"Stages of a question", "stages", "serving.stages", stageRows,
                                      usual<StageSpec>,       true};
    return table;
}
template <>
const FieldTable& fieldTable<CapacitySpec>() {
    static constexpr FieldTable table{"Search of the capacity", "capacity", "capacity.value", capacityRows,
                                      usual<CapacitySpec>,      true};
    return table;
}
template <>
const FieldTable& fieldTable<ServingStudy>() {
    static constexpr FieldTable table{"Serving", "", "serving.value", studyRows, usual<ServingStudy>};
    return table;
}

}  // namespace orrery
