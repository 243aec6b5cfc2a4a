#include "methods/system/planned_fleet.h"

#include "base/unit.h"
#include "methods/system/adapters.h"
#include "methods/system/clock_policy.h"
#include "methods/system/iteration_times.h"
#include "methods/system/scenario_transfer.h"
#include "serving/fields/field.h"
#include "serving/scenario_tenants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

// vLLM 0.19 on an RTX 4090 leaves 2,588 blocks to Llama-3.1 8B; weights, activations and these two leave 2,6xx.
constexpr double graphBytes = 0.5e9;       // about 35 captured batches
constexpr double runtimeBytes = 0.5e9;     // context, cuBLAS workspace, fragmentation
constexpr double collectiveBytes = 0.3e9;  // buffers of NCCL and of the engine's own all-reduce

Place inPool(const PoolSpec& pool, std::string_view field) {
    return Place{.path = fmt::format("pools/{}/{}", pool.name, field)};
}

// Makers write GB and mean 2^30: an H100 of 80 GB has 81,559 MiB.
double memoryOf(const PoolDevice& device, std::vector<std::string>& said) {
    const double bytes = device.memoryBytes(), gigabytes = bytes / 1e9;
    if (!device.gpu || gigabytes < 1 || std::fabs(gigabytes - std::round(gigabytes)) > 1e-9) return bytes;
    said.push_back(fmt::format("{:.0f} GB of memory are counted as {:.0f} × 2^30 bytes, as makers of GPUs mean them",
                               gigabytes, gigabytes));
    return gigabytes * 1073741824.0;
}

CapacityNeeds needsOf(const PoolSpec& pool, const IterationLaunches& launches, const PoolDevice& device,
                      std::vector<std::string>& said) {
    const TransformerConfig& shard = launches.shard();
    const auto stages = static_cast<double>(pool.plan.pipeline);
    CapacityNeeds needs;
    needs.model = launches.model().config.name;
    needs.device = device.device.name;
    needs.deviceBytes = memoryOf(device, said);
    needs.memoryShare = pool.memoryShare;
    needs.tokensPerBlock = pool.tokensPerBlock;
    needs.pipelineStages = pool.plan.pipeline;
    needs.weightBytes = launches.weightBytes() / stages;
    needs.kvBytesPerToken = launches.kvBytesPerToken() / stages;
    ActivationNeeds work;
    work.tokens = pool.scheduler.tokenBudget;
    work.sequences = pool.scheduler.maxSequences;
    work.hidden = static_cast<double>(shard.hidden);
    const bool dense = shard.experts == 0;
    work.intermediate = static_cast<double>(dense ? shard.intermediate
                                                  : shard.expertIntermediate * launches.model().config.expertsPerToken /
                                                            launches.model().plan.expert +
                                                        shard.sharedIntermediate);
    work.projected = static_cast<double>((shard.heads + 2 * shard.kvHeads) * shard.headDim);
    work.vocabulary = static_cast<double>(launches.model().config.vocabulary);
    work.bytesPerElement = std::max(16, bits(launches.model().activations)) / 8.0;
    needs.activationBytes = activationBytes(work);
    needs.graphBytes = graphBytes;
    needs.runtimeBytes = runtimeBytes + (pool.plan.devices() > 1 ? collectiveBytes : 0);
    needs.compatibility = pool.scheduler.compatibility == "vidur" ? "vidur" : "";
    needs.longestText = pool.scheduler.maxModelLength;
    return needs;
}

IterationPrice priceOf(const IterationTime& time, std::int32_t prompt, std::int32_t decodes, std::int32_t context) {
    const PromptChunk chunk{prompt, 0};
    const std::vector<std::int32_t> contexts(static_cast<std::size_t>(decodes), context);
    IterationWork work;
    if (prompt > 0) work.prompts = {&chunk, 1};
    work.decodes = contexts;
    work.decodeContext = static_cast<std::int64_t>(decodes) * context;
    work.tokens = prompt + decodes;
    work.sampled = decodes + (prompt > 0 ? 1 : 0);
    return time.price(work);
}

double wholeSeconds(const IterationPrice& price, int stages) {
    return price.host + price.lastSeconds + (stages - 1) * price.seconds;
}

ReplicaPower powerOf(const KernelIterationTime& kernels, const PoolDevice& device, const PoolSpec& pool) {
    ReplicaPower power;
    const PowerModel model = device.gpu ? powerModel(*device.gpu) : PowerModel{};
    if (!model.known()) return power;
    power.idle = model.staticWatts * pool.plan.devices();
    power.prompt = priceOf(kernels, 1024, 0, 0).watts;
    power.decode = priceOf(kernels, 0, 32, 1024).watts;
    return power;
}

ReplicaRoofline rooflineOf(const IterationLaunches& launches, const PoolDevice& device, const PoolSpec& pool) {
    const TransformerFacts& facts = launches.facts();
    const auto devices = static_cast<double>(pool.plan.devices());
    ReplicaRoofline roofline;
    roofline.flopsPerToken = 2 * facts.activeParameters;
    roofline.flopsPerPair =
        4 * static_cast<double>(facts.layers) * static_cast<double>(facts.heads) * static_cast<double>(facts.headDim);
    roofline.weightBytes = launches.weightBytes() * pool.plan.tensor;
    roofline.flopsPerSecond = devices * device.device.peak(true, launches.model().activations).value;
    roofline.bytesPerSecond = devices * device.bandwidth();
    return roofline;
}

Expected<void> checkPool(const PoolSpec& pool) {
    if (auto good = checkFields(pool, "pools/" + pool.name, fmt::format("pool '{}'", pool.name)); !good) return good;
    if (pool.plan.context > 1) {
        return fail("plan.context", "a replica that serves requests does not split the positions of a sequence yet",
                    "cp=1", "spread the model by tp, pp or ep, or ask about one pass", inPool(pool, "plan/context"));
    }
    auto scheduler = check(pool.scheduler);
    if (!scheduler) scheduler.error().place = inPool(pool, "scheduler/" + scheduler.error().place.path);
    return scheduler;
}

// By number of the stream's tenants: stage after stage, tenant after tenant.
std::vector<double> dueOf(const ServingScenario& scenario) {
    std::vector<double> due;
    for (std::size_t stage = 0; stage < std::max<std::size_t>(1, scenario.stages.size()); ++stage) {
        for (const TenantSpec& tenant : scenario.tenants)
            due.push_back(tenant.ttft > 0 ? tenant.ttft : scenario.promise.ttft);
    }
    if (due.empty()) due.push_back(scenario.promise.ttft);
    return due;
}

// Adapters are of the models that write answers: of the last stage, where there are stages.
bool hasAdapters(const ServingScenario& scenario, const PoolSpec& pool) {
    if (!scenario.stages.empty()) {
        const auto tenants = static_cast<std::int32_t>(std::max<std::size_t>(1, scenario.tenants.size()));
        const auto last = static_cast<std::int32_t>(scenario.stages.size() - 1) * tenants;
        const auto all = tenantsOf(scenario, pool);
        if (std::none_of(all.begin(), all.end(), [&](std::int32_t tenant) { return tenant >= last; })) return false;
    }
    return std::any_of(scenario.tenants.begin(), scenario.tenants.end(), [&](const TenantSpec& tenant) {
        return tenant.adapters > 0 && (pool.serves.empty() || std::find(pool.serves.begin(), pool.serves.end(),
                                                                        tenant.name) != pool.serves.end());
    });
}

Expected<Speculation> speculationOf(const PoolSpec& pool, const ServedModel& types, const PoolDevice& device,
                                    const FleetOptions& options) {
    Speculation result;
    const SpeculationChoice& choice = pool.speculation;
    if (choice.drafts <= 0) return result;
    result.drafts = choice.drafts;
    result.acceptance = choice.acceptance;
    result.draftSeconds = choice.draftSeconds;
    if (choice.draftModel.empty()) return result;
    // A small model stands on one of the devices.
    PoolSpec alone = pool;
    alone.plan = {};
    alone.experts = {};
    alone.time.kind = SlotKind::Kernels;
    auto draft = kernelIterationOf(choice.draftModel, types, alone, device, options);
    if (!draft) return Unexpected(std::move(draft.error()));
    result.draft = std::move(*draft);
    return result;
}

// Whatever refuses a value of the pool knows it under a name of its own.
Diagnostic inThisPool(const PoolSpec& pool, Diagnostic problem) {
    Place& place = problem.place;
    if (!place.file.empty() || place.path.starts_with("pools/")) return problem;
    const std::string& code = problem.code;
    if (code.starts_with("workload.")) {
        place = pool.model.empty() ? Place{.path = "model/source"} : inPool(pool, "model");
        if (!pool.speculation.draftModel.empty() &&
            problem.message.find(pool.speculation.draftModel) != std::string::npos)
            place = inPool(pool, "speculation/draft_model");
    } else if (code.starts_with("hardware.")) {
        place = !pool.hardware.empty() ? inPool(pool, "hardware")
                : pool.device.empty()  ? Place{.path = "hardware"}
                                       : inPool(pool, "device");
    } else if (code.starts_with("method.") || code.starts_with("calibration.")) {
        place = inPool(pool, "time/method");
    } else if (place.path.starts_with("plan")) {
        place = inPool(pool, place.path);
    } else if (code != "study.cancelled") {
        place = inPool(pool, place.path.empty() ? "time" : place.path);
    }
    return problem;
}

struct Made {
    ReplicaSpec replica;
    PlannedPool planned;
    double linkBandwidth = 0;
};

Expected<Made> makePool(const ServingScenario& scenario, const PoolSpec& pool,
                        const std::shared_ptr<const Hardware>& drawing, const FleetOptions& options,
                        Diagnostics& warnings) {
    if (auto good = checkPool(pool); !good) return Unexpected(std::move(good.error()));
    auto device = poolDevice(pool, drawing);
    if (!device) return Unexpected(std::move(device.error()));
    const std::string& model = pool.model.empty() ? scenario.model.source : pool.model;
    auto kernels = kernelIterationOf(model, scenario.model, pool, *device, options);
    if (!kernels) return Unexpected(std::move(kernels.error()));
    const IterationLaunches& launches = (*kernels)->launches();
    auto time = iterationTimeOf(pool, launches, *kernels);
    if (!time) return Unexpected(std::move(time.error()));

    if (pool.powerCap > 0 && !(device->gpu && powerModel(*device->gpu).known())) {
        warnings.push_back(warning("serving.unknown-power",
                                   fmt::format("{} has no power cap of its own, so that one of {:.4g} W means nothing",
                                               device->device.name, pool.powerCap),
                                   "give the device its `power_cap`", inPool(pool, "power_cap")));
    } else if (pool.powerCap > 0 && pool.time.kind != SlotKind::Kernels) {
        warnings.push_back(
            warning("serving.cap-without-clock",
                    "iteration times of a table or law stay as they were measured, whatever the power cap",
                    "let a kernel method predict them", inPool(pool, "power_cap")));
    }
    Made made;
    made.linkBandwidth = device->gpu ? device->gpu->linkBandwidth : 0;
    PlannedPool& planned = made.planned;
    planned.name = pool.name;
    planned.device = device->device.name;
    planned.design = device->design;
    planned.place = device->place;
    if (pool.time.kind == SlotKind::Kernels) planned.pricer = (*kernels)->method();
    planned.replicas = pool.replicas;
    planned.devicesPerReplica = pool.plan.devices();
    planned.weightBytesPerDevice = launches.weightBytes() / pool.plan.pipeline;
    CapacityNeeds needs = needsOf(pool, launches, *device, planned.assumptions);
    if (hasAdapters(scenario, pool)) {
        double bytes = 0;
        made.replica.adapters = adapterSlots(pool, launches, *device, bytes, planned.assumptions);
        needs.weightBytes += bytes;
    }
    auto capacity = planCapacity(needs);
    if (capacity) {
        planned.capacity = std::move(*capacity);
    } else if (pool.kvBlocks == 0) {
        capacity.error().place = inPool(pool, "plan");
        return Unexpected(std::move(capacity.error()));
    }
    const std::int64_t wanted = static_cast<std::int64_t>(pool.replicas) * pool.plan.devices();
    if (device->drawn > 1 && wanted > device->drawn) {
        warnings.push_back(
            warning("serving.more-devices-than-drawn",
                    fmt::format("pool '{}' uses {} devices, {} are drawn", pool.name, wanted, device->drawn),
                    "the others are taken to be alike", inPool(pool, "replicas")));
    }
    ReplicaSpec& replica = made.replica;
    replica.name =
        pool.plan.devices() > 1 ? fmt::format("{} × {}", planned.device, pool.plan.devices()) : planned.device;
    replica.pool = pool.name;
    replica.role = pool.role;
    replica.time = applyClock(*time, *kernels, pool, scenario.promise);
    replica.scheduler = pool.scheduler;
    replica.admission = pool.admission;
    replica.due = dueOf(scenario);
    replica.kvBlocks = pool.kvBlocks > 0 ? pool.kvBlocks : planned.capacity.blocks;
    replica.tokensPerBlock = pool.tokensPerBlock;
    replica.kvBytesPerToken = launches.kvBytesPerToken() * pool.plan.tensor;
    auto speculation = speculationOf(pool, scenario.model, *device, options);
    if (!speculation) return Unexpected(std::move(speculation.error()));
    replica.speculation = std::move(*speculation);
    if (replica.speculation.drafts > 0) replica.scheduler.lookahead = replica.speculation.drafts;
    replica.power = powerOf(**kernels, *device, pool);
    replica.roofline = rooflineOf(launches, *device, pool);
    replica.dollarsPerHour = pool.dollarsPerHour * pool.plan.devices();
    replica.devices = pool.plan.devices();
    replica.tenants = tenantsOf(scenario, pool);
    const bool experts = launches.model().config.experts > 0;
    if (experts && pool.experts.waves) replica.wave = static_cast<std::int32_t>(&pool - scenario.pools.data());
    if (!experts && (pool.experts.waves || pool.experts.routing != RoutingKind::Balanced)) {
        warnings.push_back(warning("serving.no-experts",
                                   fmt::format("{} has no experts: routing and waves mean nothing to pool '{}'",
                                               launches.model().config.name, pool.name),
                                   "choose a mixture of experts", inPool(pool, "experts")));
    }
    const int stages = (*time)->stages();
    planned.decodeSeconds = wholeSeconds(priceOf(**time, 0, 1, 1024), stages);
    planned.promptSeconds = wholeSeconds(priceOf(**time, 1024, 0, 0), stages);
    if (const std::string& chosen = (*kernels)->chosen(); pool.time.kind == SlotKind::Kernels && !chosen.empty())
        warnings.push_back(Diagnostic{Severity::Note,
                                      "serving.usual-pricer",
                                      chosen,
                                      {},
                                      "choose another under `Time predictor`, or by the key `method`",
                                      inPool(pool, "time/method")});
    for (std::string& said : (*time)->assumptions()) planned.assumptions.push_back(std::move(said));
    return made;
}

}  // namespace

Expected<PlannedFleet> fleetOf(const ServingScenario& scenario, const std::shared_ptr<const Hardware>& drawing,
                               const FleetOptions& options) {
    if (auto good = checkTenants(scenario); !good) return Unexpected(std::move(good.error()));
    PlannedFleet result;
    auto fleet = std::make_shared<FleetSpec>();
    fleet->router = scenario.router;
    fleet->autoscale = scenario.autoscale;
    fleet->failures = scenario.failures;
    fleet->promise = scenario.promise;
    for (const TenantSpec& tenant : scenario.tenants) fleet->tenantTtft.push_back(tenant.ttft);
    const PoolSpec *prefill = nullptr, *decode = nullptr;
    double links = 0;
    for (const PoolSpec& pool : scenario.pools) {
        if (options.stop.stop_requested()) return fail("study.cancelled", "cancelled");
        auto made = makePool(scenario, pool, drawing, options, result.warnings);
        if (!made) return Unexpected(inThisPool(pool, std::move(made.error())));
        for (std::int32_t i = 0; i < pool.replicas; ++i) fleet->replicas.push_back(made->replica);
        result.pools.push_back(std::move(made->planned));
        if (pool.role == ReplicaRole::Prefill && !prefill) {
            prefill = &pool;
            links = made->linkBandwidth;
        }
        if (pool.role == ReplicaRole::Decode && !decode) decode = &pool;
    }
    for (ReplicaSpec& worker : stageWorkers(scenario)) fleet->replicas.push_back(std::move(worker));
    if (scenario.transfer) {
        fleet->transfer = *scenario.transfer;
    } else if (prefill && decode) {
        const Hardware empty;
        const int devices = std::min(prefill->plan.devices(), decode->plan.devices());
        const bool drawn = drawing && prefill->hardware.empty() && decode->hardware.empty();
        const auto placeOf = [&](const PoolSpec* pool) {
            return drawn ? result.pools[static_cast<std::size_t>(pool - scenario.pools.data())].place : ComponentPath{};
        };
        auto moved = transferOf(drawn ? *drawing : empty, placeOf(prefill), placeOf(decode), links, devices);
        if (!moved) return Unexpected(std::move(moved.error()));
        fleet->transfer = moved->transfer;
        result.network = std::move(moved->network);
        for (PlannedPool& pool : result.pools) pool.assumptions.push_back(moved->basis);
    }
    if (auto good = check(*fleet); !good) return Unexpected(std::move(good.error()));
    result.fleet = std::move(fleet);
    return result;
}

}  // namespace orrery
