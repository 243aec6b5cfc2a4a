#include "methods/tile/tile_pricer.h"

#include "learning/foreign.h"
#include "methods/answer/direct_convolution.h"
#include "methods/tile/tile_wave_attention.h"
#include "methods/tile/tile_wave_convolution.h"
#include "workload/kernel_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

// On a device unlike the one that a section was fitted on, its kernels are not those of the section: what was fitted is
// worth less there, and what all devices share more.
void drawToNominal(const TileFamily& family, double faith, std::vector<double>& values) {
    if (faith >= 1) return;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double nominal = family.parameters[i].nominal;
        if (nominal > 0 && values[i] > 0) values[i] = nominal * std::pow(values[i] / nominal, faith);
    }
}

}  // namespace

const TileBinding* TileBindings::find(const Kernel& kernel) const {
    const TileFamily* family = tileFamilyOn(kernel, gpu);
    if (!family) return nullptr;
    const VariantName variant = variantName(kernel);
    for (const TileBinding& binding : fitted) {
        if (binding.family == family && binding.kind == kernel.kind && binding.variant == variant.view())
            return &binding;
    }
    for (const TileBinding& binding : nominal) {
        if (binding.family == family) return &binding;
    }
    return nullptr;
}

TileBindings bindTiles(std::string_view method, const GpuView& gpu, const CalibrationSet& calibrations) {
    TileBindings bindings{gpu, calibrations, {}, {}};
    for (const TileFamily& family : tileFamilies()) {
        TileBinding& binding = bindings.nominal.emplace_back(&family, KernelKind::Other);
        binding.parameters = nominalParameters(family);
        binding.graphLaunch = family.graphLaunch > 0 ? family.graphLaunch : -1;
    }
    for (const auto& calibration : bindings.calibrations.all()) {
        if (calibration->method != method) continue;
        for (const CalibrationSection& section : calibration->sections) {
            const auto same = [&](const TileBinding& binding) {
                return binding.kind == section.kind && binding.variant == section.variant;
            };
            if (std::any_of(bindings.fitted.begin(), bindings.fitted.end(), same)) continue;
            const auto found = bindings.calibrations.find(method, section.kind, section.variant, gpu);
            if (!found.section) continue;
            // A kind may have several families; a section names all parameters of its own.
            const auto& parameters = found.section->parameters;
            for (const TileFamily& family : tileFamilies()) {
                const bool own = std::all_of(family.parameters.begin(), family.parameters.end(), [&](const auto& one) {
                    return one.later || parameters.contains(one.name);
                });
                if (!own) continue;
                const auto graph = parameters.find(graphLaunchName);
                const double faith = found.section->device ? faithAt(found.deviceDistance) : 1;
                std::vector<double> values = parametersOf(family, parameters);
                // Nominal numbers of families that hosts timed hold a framework's launch, which no section of others
                // has.
                if (family.graphLaunch <= 0) drawToNominal(family, faith, values);
                bindings.fitted.push_back({&family, section.kind, section.variant, std::move(values), found.section,
                                           graph != parameters.end() ? graph->second : -1,
                                           distanceAbroad(bindings.calibrations, method, *found.section, gpu), faith});
            }
        }
    }
    return bindings;
}

std::vector<std::string> assumptionsOf(const TileBindings& bindings) {
    std::vector<std::string> sentences;
    for (const TileBinding& binding : bindings.fitted) {
        if (binding.distance <= 0 && binding.section->device) continue;
        const bool any = !binding.section->device;
        sentences.push_back(fmt::format("{} ({}) are priced with a calibration {}.", binding.family->name,
                                        binding.variant,
                                        any ? std::string("learned across devices")
                                            : fmt::format("of another device, {}", binding.section->device->id)));
    }
    return sentences;
}

double correlationOf(const TileBindings& bindings, KernelKind kind) {
    for (const TileBinding& binding : bindings.fitted) {
        if (binding.kind == kind) return correlationAbroad(*binding.section, binding.distance);
    }
    // Between five GPUs of NeuSight lies that share of the variance of ln(measured ÷ tile-wave) of convolutions.
    constexpr double standIns = 0.19;
    return kind == KernelKind::Convolution ? std::max(standIns, correlationOf(bindings, KernelKind::Gemm)) : 0;
}

void doubtStandIn(KernelPrice& price) {
    constexpr double wider = 1.5;
    if (price.low > 0 && price.low < price.high) {
        price.low = price.seconds * std::pow(price.low / price.seconds, wider);
        price.high = price.seconds * std::pow(price.high / price.seconds, wider);
    }
    price.domain = std::max(price.domain, DomainVerdict::Edge);
}

void take(const SectionPrice& section, KernelPrice& price) {
    price.seconds = section.seconds, price.low = section.low, price.high = section.high;
    price.domain = section.domain;
    price.errorKnown = section.errorKnown;
}

void hideHostLaunch(const TileBinding& binding, const TilePhysics& physics, KernelPrice& price) {
    if (binding.graphLaunch < 0) return;
    const double hidden = hostShare(physics, binding.graphLaunch);
    if (hidden <= 0) return;
    constexpr double unmeasured = 2, much = 0.1;
    const double below = std::max(0.0, price.seconds - price.low), above = std::max(0.0, price.high - price.seconds);
    price.seconds *= 1 - hidden / physics.seconds;
    if (price.low < price.high) {
        price.low = price.seconds - std::min(price.seconds * (1 - 1 / unmeasured), below);
        price.high = price.seconds + std::min(price.seconds * (unmeasured - 1), above + hidden);
    } else {
        price.low = price.high = price.seconds;
    }
    if (hidden > much * physics.seconds) price.domain = std::max(price.domain, DomainVerdict::Edge);
    if (price.bound.kind == BoundKind::Overhead && binding.graphLaunch < std::max(physics.dram, physics.compute)) {
        price.bound = physics.dram > physics.compute ? Bound{BoundKind::Memory, 0} : Bound{BoundKind::Compute, -1};
    }
}

KernelPrice unpricedKernel(const Kernel& kernel, const GpuView& gpu) {
    const bool matrix = kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Experts ||
                        kernel.kind == KernelKind::Convolution || kernel.kind == KernelKind::PrefillAttention ||
                        kernel.kind == KernelKind::DecodeAttention;
    const double peak = gpu.peak(matrix, kernel.type);
    const double compute = peak > 0 ? kernel.flops / peak : 0;
    const double memory = gpu.dramBandwidth > 0 ? kernel.bytes() / gpu.dramBandwidth : 0;
    KernelPrice price;
    price.seconds = std::max(compute, memory) + gpu.device.launchOverhead.value;
    price.low = price.high = price.seconds;
    price.bound.kind = compute >= memory ? BoundKind::Compute : BoundKind::Memory;
    if (price.bound.kind == BoundKind::Memory) price.bound.level = 0;
    price.priced = false;
    price.domain = DomainVerdict::Outside;
    return price;
}

KernelStory storyOf(const Kernel& kernel, const TileBindings& bindings, const TileBinding& binding,
                    const TilePhysics& physics) {
    KernelStory story;
    story.tileM = physics.tileM, story.tileN = physics.tileN, story.tileK = physics.tileK;
    story.blocks = physics.blocks, story.blocksPerWave = physics.blocksPerWave, story.waves = physics.waves;
    const auto add = [&](std::string name, double value, Dimension dimension, std::string unit, std::string meaning) {
        story.terms.push_back({std::move(name), value, dimension, std::move(unit), std::move(meaning)});
    };
    if (physics.tileM > 0) {
        add(fmt::format("tile {}×{}×{}", physics.tileM, physics.tileN, physics.tileK), physics.fill,
            Dimension::Fraction, {},
            "part of the result that one block makes; how much of the whole tiles is asked for");
    }
    if (physics.splits > 1) add("splits along k", physics.splits, Dimension::Number, {}, "blocks that share one tile");
    if (physics.blocks > 0) add("blocks", physics.blocks, Dimension::Number, {}, "of threads, in the whole launch");
    if (physics.waves > 0) {
        add("waves", physics.waves, Dimension::Number, {},
            fmt::format("rounds in which {:.0f} blocks run at once; the last one counts as a whole",
                        physics.blocksPerWave));
    }
    const auto time = [&](const char* name, double seconds, const char* meaning) {
        if (seconds > 0) add(name, seconds, Dimension::Time, {}, meaning);
    };
    time("arithmetic", physics.compute, "of all waves at the rate that these tiles reach");
    time("feed from L2", physics.l2, "bytes between the shared cache and the multiprocessors; runs beside arithmetic");
    time("DRAM", physics.dram, "bytes that the shared cache does not hold; runs beside arithmetic");
    time("links", physics.link, "bytes between devices");
    time("not hidden", physics.serial, "prologue, epilogue, latencies and gathering; in part beside the others");
    const double hidden = binding.graphLaunch < 0 ? 0 : hostShare(physics, binding.graphLaunch);
    time("launch", physics.launch - hidden, "gap between kernels, and what must run before this one");
    time("framework launch", hidden,
         "what a host's call had on top where the data were taken; a captured graph, or a host that runs ahead, "
         "hides it");
    for (std::size_t i = 0; i < binding.parameters.size(); ++i) {
        const TileParameter& parameter = binding.family->parameters[i];
        add(std::string(parameter.name), binding.parameters[i], parameter.dimension, {},
            fmt::format("{}{}", parameter.meaning, binding.section ? "; fitted" : "; nominal"));
    }
    if (binding.family->moreTerms) {
        for (KernelTerm& term : binding.family->moreTerms(kernel, bindings.gpu, binding.parameters)) {
            story.terms.push_back(std::move(term));
        }
    }
    add("physical price", physics.seconds - hidden, Dimension::Time, {},
        hidden > 0 ? "of the terms above, put together, without the framework's launch"
                   : "of the terms above, put together");
    return story;
}

namespace {

constexpr std::int8_t headsApartNote = 1;  // after that of direct convolutions

bool takenApart(const Kernel& kernel, const GpuView& gpu) {
    if (kernel.kind != KernelKind::DecodeAttention || latentCache(kernel.attention)) return false;
    const DecodePlan plan = decodePlan(kernel, gpu);
    return !plan.grouped && plan.groups > plan.rows;
}

}  // namespace

KernelPrice TilePricer::priced(const Kernel& kernel, bool byHost) const {
    return fasterConvolution(kernel, bindings_.gpu, [&](const Kernel& each) { return pricedAs(each, byHost); });
}

KernelPrice TilePricer::pricedAs(const Kernel& kernel, bool byHost) const {
    if (const auto product = convolutionAsProduct(kernel)) {
        KernelPrice price = pricedAs(*product, byHost);
        doubtStandIn(price);
        return price;
    }
    const TileBinding* binding = bindings_.find(kernel);
    if (!binding) return unpricedKernel(kernel, bindings_.gpu);
    const TilePhysics physics = binding->family->physics(kernel, bindings_.gpu, binding->parameters);
    KernelPrice price;
    price.bound = physics.bound;
    take(sectionPrice(kernel, *binding, physics), price);
    if (!byHost) hideHostLaunch(*binding, physics, price);
    if (takenApart(kernel, bindings_.gpu)) price.note = headsApartNote;
    return price;
}

KernelStory TilePricer::explain(const Kernel& kernel) const {
    const auto alone = [&](const Kernel& each) { return pricedAs(each, false); };
    const auto direct = directConvolution(kernel, bindings_.gpu, alone);
    if (direct && direct->seconds < alone(kernel).seconds) {
        KernelStory story = explain(*convolutionAsStream(kernel));
        story.terms.push_back({"operands from L1",
                               operandSeconds(kernel, bindings_.gpu),
                               Dimension::Time,
                               {},
                               "of a direct convolution, one for each multiplication; runs beside DRAM"});
        return story;
    }
    if (const auto product = convolutionAsProduct(kernel)) return explain(*product);
    const TileBinding* binding = bindings_.find(kernel);
    if (!binding) return {};
    const TilePhysics physics = binding->family->physics(kernel, bindings_.gpu, binding->parameters);
    KernelStory story = storyOf(kernel, bindings_, *binding, physics);
    tell(story, kernel, *binding, physics);
    return story;
}

double TilePricer::correlation(KernelKind kind) const {
    return correlationOf(bindings_, kind);
}

std::vector<std::string> TilePricer::assumptions() const {
    return assumptionsOf(bindings_);
}

std::vector<KernelNote> TilePricer::notes() const {
    std::vector<KernelNote> notes = directConvolutionNotes();
    notes.push_back(
        {"more than 32 query heads share a cache head, and TensorRT-LLM then reads the cache once for each "
         "query head; other engines read it once for all",
         "tile.heads-apart",
         "If it is vLLM or SGLang, name it as the software: in the menu of the task, or by --software 'vLLM "
         "0.24.0'"});
    return notes;
}

}  // namespace orrery
