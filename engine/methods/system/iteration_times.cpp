#include "methods/system/iteration_times.h"

#include "hardware/files/catalogue.h"
#include "learning/calibration.h"
#include "methods/cpu/cpu_pages.h"
#include "methods/method.h"
#include "methods/provenance.h"
#include "methods/system/planned_fleet.h"
#include "methods/system/usual_pricer.h"
#include "methods/trace/distserve_law.h"
#include "methods/trace/expert_trace.h"
#include "methods/trace/llmservingsim_tables.h"
#include "methods/trace/splitwise_table.h"
#include "methods/trace/vidur_tables.h"
#include "workload/engine_kernels.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

// Names differ where numbers may not: what a price depends on, in words.
std::string keyOf(const GpuView& gpu) {
    std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", gpu.device.name, gpu.sms, gpu.clock, gpu.sustained,
                                  gpu.dramBandwidth, gpu.l2Bytes, gpu.linkBandwidth, gpu.powerCap);
    key += fmt::format("|{}|{}|{}|{}", gpu.sharedBytes, gpu.registerBytes, gpu.warpsPerSm,
                       gpu.device.launchOverhead.value);
    for (const auto& unit : gpu.device.peaks) {
        for (const FlopsPerSecond& peak : unit) key += fmt::format("|{}", peak.value);
    }
    return key;
}

Place inPool(const PoolSpec& pool, std::string_view field) {
    return Place{.path = fmt::format("pools/{}/{}", pool.name, field)};
}

struct IterationLawTime final : IterationTime {
    IterationLaw law;
    int stageCount = 1;
    IterationPrice price(const IterationWork& work) const override {
        double squares = 0;
        for (const PromptChunk& chunk : work.prompts) {
            squares += static_cast<double>(chunk.tokens) * (chunk.tokens + 2.0 * chunk.context);
        }
        const double seconds = law.fixed + law.perToken * work.tokens + law.perSquare * squares +
                               law.perSequence * static_cast<double>(work.decodes.size()) +
                               law.perContext * static_cast<double>(work.decodeContext);
        IterationPrice price;
        price.seconds = price.lastSeconds = seconds / stageCount;
        return price;
    }
    int stages() const override { return stageCount; }
    std::vector<std::string> assumptions() const override { return {"Iteration times follow a fitted line"}; }
};

Expected<IterationTimePtr> lawOf(const PoolSpec& pool) {
    const IterationLaw& law = pool.time.law;
    if (law.fixed + law.perToken + law.perSquare + law.perSequence + law.perContext <= 0) {
        return fail("serving.bad-law", "all coefficients of the law are 0", "at least one above 0",
                    "give the seconds of an iteration and of a token", inPool(pool, "time/law"));
    }
    auto time = std::make_shared<IterationLawTime>();
    time->law = law;
    time->stageCount = pool.plan.pipeline;
    return IterationTimePtr(std::move(time));
}

Expected<IterationTimePtr> tableOf(const PoolSpec& pool, const IterationLaunches& launches) {
    const TimeSlot& slot = pool.time;
    const TransformerConfig& config = launches.model().config;
    if (slot.format == "vidur") {
        VidurTableSpec spec;
        spec.layers = static_cast<int>(config.layers);
        spec.stages = pool.plan.pipeline;
        spec.devices = pool.plan.tensor;
        spec.groupedHeads = config.kvHeads < config.heads;
        spec.postAttentionNorm = config.order != TransformerConfig::Order::Parallel;
        return readVidurTables(slot.path, spec);
    }
    const auto slash = slot.key.find('/');
    const std::string model = slot.key.substr(0, slash);
    const std::string rest = slash == std::string::npos ? std::string() : slot.key.substr(slash + 1);
    if (slot.format == "splitwise") {
        return readSplitwiseTable(
            slot.path, {.model = model, .hardware = rest, .tensorParallel = static_cast<int>(pool.plan.tensor)});
    }
    if (slot.format == "distserve") {
        auto law = readDistServeLaw(slot.path, slot.key, pool.plan.tensor, pool.plan.pipeline);
        if (!law) return Unexpected(std::move(law.error()));
        return distServeTime(*law);
    }
    if (slot.format == "llmservingsim") {
        const LlmServingSimModel shape{.layers = static_cast<std::int32_t>(config.layers),
                                       .hidden = static_cast<std::int32_t>(config.hidden),
                                       .experts = static_cast<std::int32_t>(config.experts),
                                       .expertsPerToken = static_cast<std::int32_t>(config.expertsPerToken)};
        LlmServingSimOptions options;
        options.tensorParallel = pool.plan.tensor;
        options.routing = launches.model().routing;
        if (pool.experts.waves) {
            options.dataParallel = pool.replicas;
            options.expertParallel = pool.plan.tensor * pool.replicas;
        }
        return readLlmServingSimTables(slot.path, shape, options);
    }
    return fail("serving.unknown-table", fmt::format("no reader of tables is called '{}'", slot.format),
                "vidur, splitwise, distserve or llmservingsim", "choose one of them", inPool(pool, "time/format"));
}

}  // namespace

IterationTimes::IterationTimes() : parts_(std::make_unique<Parts>()) {}
IterationTimes::~IterationTimes() = default;

IterationTimes::Parts::Time IterationTimes::Parts::find(const std::string& key) {
    const std::scoped_lock lock(guard_);
    const auto found = std::ranges::find(made_, key, &std::pair<std::string, Time>::first);
    if (found == made_.end()) return nullptr;
    made_.splice(made_.begin(), made_, found);
    return found->second;
}

void IterationTimes::Parts::add(const std::string& key, Time time) {
    const std::scoped_lock lock(guard_);
    std::erase_if(made_, [&](const auto& each) { return each.first == key; });
    made_.emplace_front(key, std::move(time));
    if (made_.size() > most) made_.pop_back();
}

std::size_t IterationTimes::Parts::size() {
    const std::scoped_lock lock(guard_);
    return made_.size();
}

Expected<PoolDevice> poolDevice(const PoolSpec& pool, const std::shared_ptr<const Hardware>& drawing) {
    std::shared_ptr<const Hardware> design = drawing;
    if (!pool.hardware.empty()) {
        auto loaded = loadHardware(pool.hardware);
        if (!loaded) return Unexpected(std::move(loaded.error()));
        design = std::make_shared<const Hardware>(std::move(loaded->hardware));
    }
    if (!design) {
        return fail("serving.no-device", fmt::format("pool '{}' has no device", pool.name),
                    "a device of the drawing, or a design of the catalogue", "draw a GPU or name one, such as h100-sxm",
                    inPool(pool, "device"));
    }
    PoolDevice result;
    ComponentPath asked;
    if (!pool.device.empty()) {
        auto path = findComponent(design->root, pool.device);
        if (!path) {
            Diagnostic problem = path.error();
            problem.code = "serving.no-device";
            problem.place = inPool(pool, "device");
            return Unexpected(std::move(problem));
        }
        asked = std::move(*path);
    }
    auto device = deviceAt(design, asked);
    if (!device) return Unexpected(std::move(device.error()));
    if (auto gpu = gpuView(*device)) {
        result.device = gpu->device;
        result.key = keyOf(*gpu);
        result.gpu = std::move(*gpu);
    } else if (gpu.error().code != "method.not-applicable") {
        return Unexpected(std::move(gpu.error()));
    } else {
        auto view = deviceView(*device);
        if (!view) return Unexpected(std::move(view.error()));
        result.device = std::move(*view);
        result.key = fmt::format("{}|{}", hardwareHash(*design), pathText(*device));
    }
    result.readRate = result.device.main().bandwidth.value;
    // A method that is not known is refused where it is bound.
    if (const auto choice = methodChoice(pool.time.method, builtinMethods());
        choice && !result.gpu && pool.time.kind == SlotKind::Kernels) {
        const auto rate = placePages(result.device, *device, choice->options);
        if (!rate) return Unexpected(rate.error());
        result.readRate = rate->value;
    }
    result.drawn = result.device.copies;
    result.place = std::move(device->path);
    result.design = std::move(design);
    return result;
}

namespace {

struct Host {
    SoftwareStack stack;
    std::string engine;  ///< whose kernels run, where that is said
};

// A host that was measured, or an engine and its version as a question names it. Kernels of the measured ones are
// inside their own errors.
Expected<Host> hostOf(const PoolSpec& pool, bool eager) {
    const std::string& named = pool.time.software;
    if (const auto* known = findSoftwareStack(!named.empty() ? std::string_view(named) : eager ? "eager" : "graphs"))
        return Host{*known, {}};
    const bool version = std::any_of(named.begin(), named.end(), [](char c) { return c >= '0' && c <= '9'; });
    auto software = version ? parseSoftware(named) : Expected<Software>(Software{});
    if (!software) {
        software.error().place = inPool(pool, "time/software");
        return Unexpected(std::move(software.error()));
    }
    if (software->engine.empty()) {
        std::string known;
        for (const SoftwareStack& each : softwareStacks()) known += (known.empty() ? "" : ", ") + std::string(each.id);
        return fail("serving.no-software", fmt::format("no software is called '{}'", named),
                    "one of " + known + ", or an engine and its version such as `vLLM 0.24.0(graphs=on)`",
                    "choose one of them", inPool(pool, "time/software"));
    }
    const bool graphs = software->graphs.value_or(!eager);
    Host host{*findSoftwareStack(graphs ? "graphs" : "eager"), software->engine};
    if (!graphs) host.stack.issue = software->hostSeconds.value_or(host.stack.issue);
    return host;
}

}  // namespace

Expected<ExpertRouting> routingOf(const PoolSpec& pool, const TransformerConfig& config) {
    ExpertRouting routing;
    if (config.experts <= 0) return routing;
    const auto experts = static_cast<std::int32_t>(config.experts);
    routing.kind = pool.experts.routing;
    routing.skew = pool.experts.skew;
    if (routing.kind == RoutingKind::Trace) {
        if (pool.experts.trace.empty()) {
            return fail("routing.trace", fmt::format("pool '{}' routes as a trace, and none is named", pool.name),
                        "a table of `expert` and `count`", "name one, or choose another routing",
                        inPool(pool, "experts/trace"));
        }
        auto weights = readExpertTrace(pool.experts.trace, experts);
        if (!weights) {
            weights.error().place.path = fmt::format("pools/{}/experts/trace", pool.name);
            return Unexpected(std::move(weights.error()));
        }
        routing.weights = std::move(*weights);
    }
    if (auto good = check(routing, experts); !good) {
        good.error().place = inPool(pool, "experts");
        return Unexpected(std::move(good.error()));
    }
    return routing;
}

Expected<std::shared_ptr<const KernelIterationTime>> kernelIterationOf(const std::string& model,
                                                                       const ServedModel& types, const PoolSpec& pool,
                                                                       const PoolDevice& device,
                                                                       const FleetOptions& options) {
    const CalibrationSet& calibrations = options.calibrations ? *options.calibrations : shippedCalibrations().set;
    const DeviceRef drawn{device.design, device.place};
    // Tables and laws have times of their own; kernels then say what there is to do. What stands where nobody chose is
    // for GPUs.
    const bool open = !device.gpu && (pool.time.kind != SlotKind::Kernels || pool.time.method == TimeSlot{}.method);
    const std::string method = pool.time.kind == SlotKind::Kernels ? pool.time.method : TimeSlot{}.method;
    auto choice = methodChoice(method, builtinMethods());
    if (!choice) return Unexpected(std::move(choice.error()));
    const auto thoseThatCould = [&] {
        const std::string names = namesOf(pricersOf(drawn, calibrations));
        return names.empty() ? std::string("choose another device") : "choose " + names;
    };
    const KernelMethod* kernels = findKernelMethod(choice->id);
    if (!kernels) {
        std::string known;
        for (const KernelMethod& each : kernelMethods()) known += (known.empty() ? "" : ", ") + std::string(each.id);
        return fail("serving.no-kernel-method", fmt::format("'{}' does not predict kernels", choice->id),
                    "one of " + known, thoseThatCould(), inPool(pool, "time/method"));
    }
    const std::string software = pool.time.software;
    auto config = transformerConfig(model);
    if (!config) return Unexpected(std::move(config.error()));
    auto routing = routingOf(pool, *config);
    if (!routing) return Unexpected(std::move(routing.error()));
    const std::int64_t ranks = pool.experts.waves && config->experts > 0 ? std::max(1, pool.replicas) : 1;
    std::string key =
        fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", model, toText(types.weights), toText(types.activations),
                    toText(types.kv), pool.plan.tensor, pool.plan.pipeline, pool.plan.expert, toText(*choice), software,
                    device.key, static_cast<const void*>(options.calibrations),
                    pool.clock == ClockPolicy::Fixed ? pool.clockShare : 1.0, pool.powerCap);
    key += fmt::format("|{}|{}|{}", ranks, toText(routing->kind), routing->skew);
    for (const double weight : routing->weights) key += fmt::format("|{}", weight);
    if (options.cache) {
        if (auto found = options.cache->parts().find(key)) return found;
    }
    std::string chosen;
    if (open) {
        auto usual = usualPricer(drawn, *config, types, calibrations);
        if (!usual) {
            usual.error().place = inPool(pool, "time/method");
            return Unexpected(std::move(usual.error()));
        }
        kernels = usual->method;
        *choice = MethodChoice{std::string(kernels->id), {}};
        chosen = std::move(usual->reason);
    }
    const bool ofGpu = std::holds_alternative<GpuBinder>(kernels->binder);
    const BindContext binding{calibrations, choice->options, 0};
    auto pricer = ofGpu && device.gpu ? kernels->bind(*device.gpu, calibrations) : kernels->bind(drawn, binding);
    if (!pricer) {
        Diagnostic refused = std::move(pricer.error());
        if (refused.code == "method.not-applicable") refused.hint = thoseThatCould();
        return Unexpected(std::move(refused));
    }
    if (!device.gpu && (pool.plan.devices() > 1 || ranks > 1)) {
        return fail("serving.no-collectives",
                    fmt::format("`{}` does not predict collectives, but pool '{}' divides a replica over {} devices",
                                choice->id, pool.name, pool.plan.devices() * ranks),
                    "a replica of one device", "set tensor, pipeline and expert parallelism to 1",
                    inPool(pool, "plan"));
    }

    KernelIterationSpec spec;
    spec.model.config = std::move(*config);
    spec.model.plan = pool.plan;
    spec.model.weights = types.weights;
    spec.model.activations = types.activations;
    spec.model.kv = types.kv;
    spec.model.routing = std::move(*routing);
    spec.model.dataParallel = ranks;
    std::string_view launch = "graph", fusion = "epilogue";
    if (const auto found = choice->options.find("launch"); found != choice->options.end()) launch = found->second;
    if (const auto found = choice->options.find("fusion"); found != choice->options.end()) fusion = found->second;
    spec.model.fusion = fusion == "none" ? Fusion::None : fusion == "compile" ? Fusion::Compile : Fusion::Epilogue;
    auto host = hostOf(pool, launch == "eager");
    if (!host) return Unexpected(std::move(host.error()));
    spec.software = host->stack;
    if (device.gpu) spec.stack = ForeignStack(choice->id, calibrations, *device.gpu, host->engine);
    spec.model.collectives = spec.software.collectives;
    spec.model.sampler = spec.software.sampler;
    spec.model.flashDecoding = decodesByFlash(host->engine);
    spec.device = device.device;
    spec.readRate = device.readRate;
    spec.gpu = device.gpu;
    spec.pricer = std::move(*pricer);
    if (pool.clock == ClockPolicy::Fixed) spec.clockShare = std::clamp(pool.clockShare, 0.1, 1.0);
    spec.powerCap = pool.powerCap;
    spec.method = kernels->id;
    spec.chosen = std::move(chosen);
    auto made = KernelIterationTime::make(std::move(spec));
    if (!made && made.error().place.path.starts_with("experts/")) made.error().place = inPool(pool, "experts/waves");
    if (!made && made.error().code == "serving.bad-power-cap") made.error().place = inPool(pool, "power_cap");
    if (made && options.cache) options.cache->parts().add(key, *made);
    return made;
}

Expected<IterationTimePtr> iterationTimeOf(const PoolSpec& pool, const IterationLaunches& launches,
                                           const std::shared_ptr<const KernelIterationTime>& kernels) {
    switch (pool.time.kind) {
        case SlotKind::Kernels:
            return IterationTimePtr(kernels);
        case SlotKind::Table:
            return tableOf(pool, launches);
        case SlotKind::Law:
            return lawOf(pool);
    }
    return IterationTimePtr(kernels);
}

}  // namespace orrery
