#include "study/fidelity/askers.h"

#include "methods/among_all.h"
#include "methods/answer/compute_rates.h"
#include "methods/answer/own_type.h"
#include "methods/gpu/gpu_cycle.h"
#include "methods/gpu/gpu_kernels.h"
#include "methods/gpu/gpu_sample.h"
#include "methods/gpu/interval_for_cycles.h"
#include "methods/model/kernel_bound.h"
#include "methods/model/model_methods.h"
#include "methods/npu/npu_tile.h"
#include "methods/system/spread.h"
#include "methods/system/training/estimate_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace orrery {

namespace {

double flopsPerCycleOf(const DeviceView& device) {
    if (device.clock.value <= 0) return 0;
    double most = 0;
    for (const auto& unit : device.peaks)
        for (const FlopsPerSecond peak : unit) most = std::max(most, peak.value);
    return most / device.clock.value;
}

// Kind, what bounds it at peak rates, and grouped convolutions by themselves: arrays run those one channel at a time.
std::string familyName(const Kernel& kernel, const DeviceView& device) {
    std::string name(toText(kernel.kind));
    if (kernel.kind == KernelKind::Convolution && kernel.convolution.groups > 1) name += " in groups";
    double peak = 0;
    for (const auto& unit : device.peaks) peak = std::max(peak, unit[static_cast<std::size_t>(kernel.type)].value);
    const double bandwidth = device.main().bandwidth.value;
    const bool arithmetic = peak > 0 && bandwidth > 0 && kernel.flops / peak > kernel.bytes() / bandwidth;
    return name + (arithmetic ? ", bound by arithmetic" : ", bound by memory");
}

struct Chosen {
    const KernelMethod* method;
    MethodCard card;
    OptionValues options;
    std::string text;
    std::string samples = {};  // as in KernelAsker
};

// A simulator's sampled form stands beside it: nothing cheap is nearer to what it will say.
void addSampledForms(std::vector<Chosen>& chosen) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (chosen[i].method->id != "npu-tile" || chosen[i].options.contains(npuSampleKey)) continue;
        Chosen form = chosen[i];
        form.samples = form.text;
        form.options.emplace(npuSampleKey, npuSampleTiles);
        form.text = toText(MethodChoice{std::string(form.method->id), form.options});
        const bool there =
            std::any_of(chosen.begin(), chosen.end(), [&](const Chosen& each) { return each.text == form.text; });
        if (!there) chosen.push_back(std::move(form));
    }
}

/// `full` stands among them, also where nobody chose it.
Expected<std::vector<Chosen>> chosenMethods(const std::vector<std::string>& choices, const std::string& full) {
    std::vector<Chosen> chosen;
    const auto choose = [&](const std::string& text) -> Expected<void> {
        auto choice = methodChoice(text, builtinMethods());
        if (!choice) return Unexpected(std::move(choice.error()));
        const KernelMethod* method = findKernelMethod(choice->id);
        if (!method) return {};  // it prices operators of a graph, not kernels
        std::string name = toText(*choice);
        if (std::ranges::find(chosen, name, &Chosen::text) == chosen.end())
            chosen.push_back({method, modelMethod(*method).card, choice->options, std::move(name)});
        return {};
    };
    if (choices.empty()) {
        for (const KernelMethod& method : kernelMethods()) {
            MethodCard card = modelMethod(method).card;
            if (standsAmongAll(card)) chosen.push_back({&method, std::move(card), {}, std::string(method.id)});
        }
    }
    for (const std::string& text : choices)
        if (auto done = choose(text); !done) return Unexpected(std::move(done.error()));
    if (!full.empty())
        if (auto done = choose(full); !done) return Unexpected(std::move(done.error()));
    if (chosen.empty()) {
        return fail("budget.no-method", "none of the methods predicts single kernels", "a method of level kernel",
                    "`orrery-cli methods` says which do");
    }
    return chosen;
}

void makeUnits(KernelAskers& askers) {
    const Composition& c = askers.all.front().open;
    const auto& launches = c.list().launches;
    const auto& same = c.kernels->withEpilogues.first;
    const bool uses = std::any_of(askers.all.begin(), askers.all.end(),
                                  [](const KernelAsker& each) { return each.open.pricer->tellsUses(); });
    // With what each method tells apart of the launches of one kernel.
    std::map<std::tuple<std::int32_t, KernelUse, std::vector<std::uint32_t>>, std::size_t> known;
    std::map<std::string, std::size_t> families;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        std::vector<std::uint32_t> starts;
        for (const KernelAsker& each : askers.all) starts.push_back(startOf(each.open, i));
        const auto [at, isNew] =
            known.emplace(std::tuple(same[i], uses ? useOf(launches[i]) : KernelUse::Forward, std::move(starts)),
                          askers.units.size());
        if (isNew) {
            const Kernel& kernel = launches[i].kernel;
            std::string name = familyName(kernel, c.device);
            const auto [family, fresh] = families.emplace(name, askers.families.size());
            if (fresh) askers.families.push_back(std::move(name));
            askers.units.push_back({{}, kernel.kind, family->second, 0, kernel.flops});
        }
        KernelUnit& unit = askers.units[at->second];
        unit.launches.push_back(i);
        unit.count += launches[i].count;
        askers.launches += launches[i].count;
    }
}

bool sameKernels(const Composition& a, const Composition& b) {
    return pathText(a.place) == pathText(b.place) && a.gpu.has_value() == b.gpu.has_value() &&
           a.pricer->launchInside() == b.pricer->launchInside() && a.list().launches.size() == b.list().launches.size();
}

bool sameOptions(const ModelOptions& a, const ModelOptions& b) {
    return a.launch == b.launch && a.fusion == b.fusion && a.streams == b.streams && a.chains == b.chains;
}

// What simulations are paid by, known before they are begun.
void countSimulated(KernelAskers& askers) {
    double most = 0;
    const Composition* simulated = nullptr;
    for (const KernelAsker& asker : askers.all) {
        most = std::max(most, asker.mostInstructions);
        if ((asker.mostInstructions > 0 || !asker.standsFor.empty()) && asker.open.gpu) simulated = &asker.open;
    }
    if (!simulated) return;
    const auto machine = machineOf(*simulated->gpu);
    if (!machine) return;
    for (KernelUnit& unit : askers.units) {
        const Kernel& kernel = simulated->list().launches[unit.first()].kernel;
        if (most > 0) unit.instructions = instructionsToSimulate(kernel, *simulated->gpu, *machine, most);
        if (const auto programs = programsOf(kernel, *simulated->gpu, *machine))
            unit.programs = static_cast<double>(programs->size());
    }
}

// `wantsOwnType`: a method refuses a type for which the device has no unit; full fidelity's word counts alone.
Expected<void> openAll(KernelAskers& askers, const std::vector<Chosen>& chosen, bool quiet,
                       const BudgetOptions& options, std::optional<Diagnostic>& refused, bool& wantsOwnType,
                       bool retried) {
    for (const Chosen& each : chosen) {
        EstimateContext context{*options.executor};
        context.options = each.options;
        context.calibrations = options.calibrations;
        context.stop = options.stop;
        context.seed = options.seed;
        const ModelOptions model = modelOptions(each.card, context, askers.scenario.task, askers.scenario.software);
        if (model.chains || (!askers.all.empty() && !sameOptions(model, askers.all.front().options))) {
            askers.notes.push_back(warning("budget.other-kernels",
                                           fmt::format("{} composes other kernels than the rest", each.text),
                                           "Give all methods the same launch, fusion and streams, and no chains"));
            continue;
        }
        auto open = openComposition(askers.scenario, *each.method, model, context);
        if (!open) {
            if (open.error().code == "study.cancelled") return Unexpected(std::move(open.error()));
            if (!each.samples.empty()) continue;  // nobody asked for it
            if (open.error().code == "hardware.missing-peak" && (options.full.empty() || options.full == each.text))
                wantsOwnType = true;
            const bool named = options.full == each.text;
            if (named && (open.error().code != "hardware.missing-peak" || retried)) return Unexpected(open.error());
            if (!quiet) askers.notes.push_back(open.error());
            if (!refused) refused = open.error();
            continue;
        }
        if (!askers.all.empty() && !sameKernels(*open, askers.all.front().open)) {
            askers.notes.push_back(
                warning("budget.other-kernels",
                        fmt::format("{} starts kernels otherwise than {}", each.text, askers.all.front().choice),
                        "Their prices cannot be mixed; ask it by itself"));
            continue;
        }
        KernelAsker asker;
        asker.choice = asker.asked.method = each.text;
        asker.method = each.method;
        asker.options = model;
        asker.cost = each.method->card.cost;
        if (each.method->id == gpuCycleChoice) asker.mostInstructions = cycleInstructionsOf(each.options);
        if (each.text == gpuIntervalChoice) {
            asker.standsFor = gpuCycleChoice;
            asker.standingError = intervalForCycles, asker.standingDegrees = intervalForCyclesDegrees;
        }
        if (!each.samples.empty()) {
            asker.samples = each.samples;
            asker.samplingError = npuSampledError;
            asker.cost = npuSampledCost;
        }
        asker.flopsPerCycle = flopsPerCycleOf(open->device);
        asker.open = std::move(*open);
        askers.all.push_back(std::move(asker));
    }
    return {};
}

}  // namespace

double KernelAsker::stated(const KernelUnit& unit) const {
    // Even a kernel of one block is set up, launched and ended: 5 to 9 ms of the 2 s that a whole budget takes (copies
    // of 3 and 16 KB on the drawing of an A100).
    constexpr double leastShare = 0.004;
    const double share =
        mostInstructions > 0
            ? std::max(std::min(unit.instructions, mostInstructions) / cycleBudgetInstructions, leastShare)
        : standsFor.empty() ? 1
                            : unit.programs / intervalTries;
    return share * cost.perKernel + (flopsPerCycle > 0 ? cost.perCycle * unit.flops / flopsPerCycle : 0);
}

double KernelAsker::seconds(const std::vector<KernelUnit>& units, std::size_t unit) const {
    double sum = 0;
    for (const std::size_t i : units[unit].launches)
        sum += open.list().launches[i].count * pricedAs(open, i, *said[unit]).seconds;
    return sum;
}

Expected<KernelAskers> kernelAskers(const Scenario& asked, const std::vector<std::string>& choices,
                                    const BudgetOptions& options) {
    const TaskKind task = kindOf(asked.task);
    if (!asked.hardware || !asked.workload)
        return fail("scenario.incomplete", "hardware or workload is missing", "one design and one workload");
    if (task != TaskKind::Pass && task != TaskKind::TrainingStep) {
        return fail("budget.system", "a budget chooses methods for the kernels of one device",
                    "a pass or a training step", "Ask for the ladder of methods instead (`--ladder`)");
    }
    auto chosen = chosenMethods(choices, options.full);
    if (!chosen) return Unexpected(std::move(chosen.error()));
    addSampledForms(*chosen);
    for (const Chosen& each : *chosen) {
        const Method method = modelMethod(*each.method);
        if (needsSystem(asked, method) || needsTrainingRun(asked, method)) {
            return fail("budget.system", "the plan spreads the work over several devices",
                        "a question about one device", "Ask for the ladder of methods instead (`--ladder`)");
        }
    }
    KernelAskers askers;
    askers.scenario = asked;
    std::optional<Diagnostic> refused;
    bool wantsOwnType = false;
    if (auto opened = openAll(askers, *chosen, choices.empty(), options, refused, wantsOwnType, false); !opened)
        return Unexpected(std::move(opened.error()));
    if (wantsOwnType) {
        if (auto own = inOwnType(asked)) {
            askers = {};
            askers.scenario = own->scenario;
            refused.reset();
            if (auto opened = openAll(askers, *chosen, choices.empty(), options, refused, wantsOwnType, true); !opened)
                return Unexpected(std::move(opened.error()));
        }
    }
    if (askers.all.empty()) {
        if (refused) return Unexpected(std::move(*refused));
        return fail("budget.no-method", "no method predicts the kernels of this device",
                    "a device that some method takes", "`orrery-cli run` says why each method refuses");
    }
    makeUnits(askers);
    countSimulated(askers);
    for (KernelAsker& asker : askers.all) asker.said.resize(askers.units.size());
    const auto total = [&](const KernelAsker& asker) {
        double sum = asker.cost.fixed;
        for (const KernelUnit& unit : askers.units) sum += asker.stated(unit);
        return sum;
    };
    std::stable_sort(askers.all.begin(), askers.all.end(),
                     [&](const KernelAsker& a, const KernelAsker& b) { return total(a) < total(b); });
    KernelAsker roofline;
    roofline.choice = roofline.asked.method = "roofline";
    roofline.options = askers.all.front().options;
    roofline.open = askers.all.front().open;
    for (const KernelUnit& unit : askers.units) {
        const Kernel& kernel = roofline.open.list().launches[unit.first()].kernel;
        roofline.said.emplace_back(rooflinePrice(roofline.open.device, kernel));
    }
    askers.all.push_back(std::move(roofline));
    return askers;
}

Expected<void> askAbout(KernelAskers& askers, KernelAsker& asker, std::size_t unit, const BudgetOptions& options,
                        const std::function<double()>& clock) {
    if (asker.said[unit]) return {};
    const KernelUnit& one = askers.units[unit];
    PriceContext context{*options.executor, options.stop};
    const double start = clock();
    auto price = priceLaunch(asker.open, one.first(), context);
    if (!price) return Unexpected(std::move(price.error()));
    const double took = clock() - start;
    asker.asked.seconds += took;
    asker.asked.launchSeconds += one.count * took;
    asker.asked.stated += asker.stated(one) + (asker.asked.kernels == 0 ? asker.cost.fixed : 0);
    asker.asked.kernels += 1;
    asker.asked.launches += one.count;
    asker.said[unit] = std::move(*price);
    return {};
}

}  // namespace orrery
