#include "methods/cpu/core_kernels.h"

#include "base/text/words.h"
#include "hardware/views/core_view.h"
#include "methods/cpu/core_share.h"
#include "methods/cpu/core_windows.h"
#include "methods/cpu/cpu_framework.h"
#include "methods/cpu/cpu_pages.h"
#include "methods/cpu/cpu_roofline.h"
#include "methods/cpu/cpu_view.h"
#include "methods/model/kernel_bound.h"
#include "methods/reuse_pricer.h"
#include "simulation/cpu/core/sampling.h"
#include "simulation/cpu/cores/fork_join.h"
#include "simulation/cpu/cores/sample_cores.h"
#include "simulation/cpu/cores/view_chip.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>

namespace orrery {

namespace {

using pipeline::Machine;
using pipeline::Resource;

struct CoreSettings {
    bool sampled = false;
    std::uint64_t units = 0;
    bool framework = false;
    bool flows = false;  ///< windows by a pass of dataflow
    bool alone = false;  ///< one sort of cores works, the others rest
    int together = 1;    ///< cores that are simulated in one clock
};

struct CoreSort {
    CoreView core;
    Machine machine;
};

// Operations per second of one core's multipliers, to tell fast sorts from slow ones.
double multiplierRate(const Machine& machine) {
    const auto fma = static_cast<std::size_t>(pipeline::OpKind::FpFma);
    const bool wide = machine.wideUnits[fma].ports != 0;
    const auto& unit = wide ? machine.wideUnits[fma] : machine.units[fma];
    const int bytes = wide ? machine.wideBytes : machine.vectorBytes;
    return machine.clock * bytes * std::popcount(unit.ports) / unit.occupancy;
}

struct PricedCore {
    KernelPrice price;
    CoreShare share;
    pipeline::KernelStart start;
    double cycles = 0;  ///< of the core that has most to do, all rounds
    double operations = 0;
    double low = 0, high = 0;        ///< of the simulation: what sampling, or windows, may miss of it
    CoreEstimate windows;            ///< where not sampled: its attribution
    const CoreSort* sort = nullptr;  ///< of the cores that all others wait for
    int together = 1;                ///< cores that were simulated in one clock
    bool clipped = false;
    bool told = false;  ///< with what each resource alone would take, which the price does without
};

class CorePricer final : public ReusePricer {
public:
    CorePricer(GpuView cpu, std::vector<CoreSort> sorts, WindowModel model, CoreSettings settings)
        : cpu_(std::move(cpu)), sorts_(std::move(sorts)), model_(std::move(model)), settings_(settings) {
        for (const CoreSort& sort : sorts_) together_ = std::max(together_, wholeChip(sort, settings_.together).cores);
    }
    // So many of all cores of a sort in one clock, whatever they run.
    pipeline::Chip wholeChip(const CoreSort& sort, int together) const {
        CoreShare all;
        all.active = sort.core.cores;
        return chipAmong(sort.machine, sort.core, cpu_.dramBandwidth, all, together);
    }

    // Fails with the codes of check(Chip).
    Expected<void> canRunTogether() const {
        for (const CoreSort& sort : sorts_) {
            if (auto sound = check(wholeChip(sort, settings_.together)); !sound) return sound;
        }
        return {};
    }
    Expected<KernelPrice> priceAfter(const Kernel& kernel, const ReuseDistances& reuse,
                                     PriceContext& context) const override {
        auto priced = priceOnce(kernel, reuse, context.stop);
        if (!priced) return Unexpected(priced.error());
        return priced->price;
    }
    std::uint32_t startOf(const Kernel& kernel, const ReuseDistances& reuse) const override {
        std::uint32_t number = 0;
        for (const CoreSort& sort : sorts_) {
            const pipeline::KernelStart start = startOn(sort, kernel, reuse);
            number = (number * (pipeline::mostCaches + 1) + start.inputs) * (pipeline::mostCaches + 1) + start.others;
        }
        return number;
    }
    KernelStory explainAfter(const Kernel& kernel, const ReuseDistances& reuse) const override {
        KernelStory story;
        const auto priced = priceOnce(kernel, reuse, {}, true);
        const auto seconds = [&](std::string name, double value, std::string meaning) {
            story.terms.push_back({std::move(name), value, Dimension::Time, {}, std::move(meaning)});
        };
        if (!priced || !priced->price.priced) {
            seconds("roofline", leastSeconds(cpu_.device, kernel),
                    "No instructions are written for this kind of kernel: operations at the peak, or bytes at the "
                    "bandwidth of memory, whichever is longer.");
            return story;
        }
        const CoreShare& share = priced->share;
        const auto number = [&](std::string name, double value, std::string meaning) {
            story.terms.push_back({std::move(name), value, Dimension::Number, {}, std::move(meaning)});
        };
        number("cores", double(share.active),
               fmt::format("Each runs `{}`{}.", pipeline::toText(share.spec),
                           share.rounds > 1 ? fmt::format(", {:.0f} times", share.rounds) : ""));
        number("operations", priced->operations, "Of the core that has most to do.");
        if (settings_.together > 1)
            number("in one clock", priced->together,
                   fmt::format(
                       "Cores that were simulated together, with their part of caches and of main memory; their mean "
                       "counts.{}",
                       priced->together < std::min<std::int64_t>(settings_.together, share.active)
                           ? fmt::format(" Of {}: only those that are whole shared caches.", settings_.together)
                           : ""));
        const CoreSort& sort = *priced->sort;
        const auto touched = [&](std::string name, double bytes, std::string_view what, std::uint8_t level) {
            if (std::isinf(bytes)) return;
            story.terms.push_back(
                {std::move(name),
                 bytes,
                 Dimension::Data,
                 {},
                 fmt::format("{} When it begins, they are in {}.", what,
                             level < sort.machine.caches.size() ? sort.machine.caches[level].name : "main memory")});
        };
        touched("reuse distance", reuse.inputs, "Touched since its inputs were made or read last.",
                priced->start.inputs);
        touched("a pass touches", reuse.pass, "So much lies between two uses of weights and of memory for results.",
                priced->start.others);
        seconds("cycles", priced->cycles / sort.machine.clock,
                fmt::format("{:.0f} cycles at {:.3g} GHz{}.", priced->cycles, sort.machine.clock / 1e9,
                            sorts_.size() > 1 ? fmt::format(" of `{}`", sort.core.core) : ""));
        if (settings_.framework)
            seconds(
                "framework", frameworkTimes.call + freshSeconds(kernel, share),
                "A call through the framework, and fresh pages of large blocks; packing is among the instructions.");
        if (const double threads = threadSeconds(sort, share.active); threads > 0 && !settings_.framework)
            seconds("threads", threads, "All cores that work are told to begin, and the last one is waited for.");
        seconds("low", priced->low, simulatedSides());
        seconds("high", priced->high, simulatedSides());
        if (priced->clipped)
            seconds("roofline", priced->price.seconds, "Below what peak rates allow; the bound is taken.");
        for (std::size_t r = 0; r < pipeline::resourceCount; ++r) {
            if (priced->windows.by[r] > 0)
                story.stack.push_back({std::string(toText(static_cast<Resource>(r))), priced->windows.by[r]});
        }
        if (priced->windows.interplay > 0) story.stack.push_back({"interplay", priced->windows.interplay});
        return story;
    }
    double correlation(KernelKind) const override { return 1; }
    std::vector<std::string> levels() const override { return {"main memory"}; }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> out = sorts_.front().core.assumptions;
        for (const CoreSort& sort : sorts_)
            out.push_back(fmt::format(
                "Ports, units and their widths are those of `{}`; lanes and rates of drawn units change nothing",
                sort.core.microarchitecture));
        out.push_back("Kernels are written and tiled as BLIS and direct convolutions are, not as the library has them");
        out.push_back(standing());
        out.push_back("Each core has an equal share of memory and of caches that cores share");
        if (settings_.together > 1)
            out.push_back(fmt::format(
                "Up to {} cores run in one clock, in slices of shared caches and a memory that are their part of all{}",
                together_,
                together_ < settings_.together
                    ? fmt::format("; not {}, as they are whole shared caches and no more than there are",
                                  settings_.together)
                    : ""));
        if (settings_.alone)
            out.push_back(fmt::format("Of unlike cores only those of `{}` work", sorts_.front().core.core));
        out.push_back("Cores take equal work and wait for the last; data that several read comes from memory once");
        if (const double most = threadSeconds(sorts_.front(), sorts_.front().core.cores);
            most > 0 && !settings_.framework)
            out.push_back(
                fmt::format("Threads spin between kernels: to begin on all cores and to wait for the last takes {}",
                            format(Seconds(most))));
        if (settings_.framework)
            out.push_back(
                "A framework calls each kernel, lays weights of convolutions out anew and leaves products of one row "
                "to "
                "one core");
        if (settings_.flows) out.push_back("Windows pass as dataflow or at their largest bound: a first order");
        return out;
    }
    PartsRead used() const override { return sorts_.front().core.used; }
    bool launchInside() const override { return true; }
    std::vector<KernelNote> notes() const override {
        return {{"without instructions written for them, they cost their roofline", "core.by-roofline",
                 "Read their share as a guess"},
                {"computed in fp32, since the core multiplies no narrower type in tiles"},
                {"below what peak rates allow: their roofline is taken"}};
    }

private:
    const char* simulatedSides() const {
        return settings_.sampled ? "By the spread of the units: of the simulation, not of a real core."
               : settings_.flows ? "Not known of a first order."
                                 : "As far as nine of ten judged runs of the simulated pipeline were: not of a real "
                                   "core.";
    }
    std::string standing() const {
        std::string caches;
        for (const CoreSort& sort : sorts_)
            for (std::size_t c = 0; c < sort.machine.caches.size(); ++c) {
                if (!reachesAll(sort, c)) continue;
                const std::string one =
                    fmt::format("`{}` ({})", sort.machine.caches[c].name, format(Bytes(sort.machine.caches[c].bytes)));
                if (caches.find(one) == std::string::npos) caches += (caches.empty() ? "" : ", ") + one;
            }
        if (caches.empty() || settings_.together > 1) {
            return fmt::format("Caches are empty when a kernel begins{}",
                               settings_.together > 1 ? "" : ": none is shared by all cores that work");
        }
        return fmt::format(
            "Passes follow one another: when a kernel begins, its operands are in the innermost of {} that holds all "
            "that was touched since their last use; single kernels, and iterations of serving, begin with empty caches",
            caches);
    }
    // What one core left in a cache is near to all.
    static bool reachesAll(const CoreSort& sort, std::size_t cache) {
        return cache < sort.core.caches.size() && sort.core.caches[cache].sharedBy >= double(sort.core.cores);
    }
    pipeline::KernelStart startOn(const CoreSort& sort, const Kernel& kernel, const ReuseDistances& reuse) const {
        if (settings_.together > 1) return {};
        const auto levelFor = [&](double bytes) {
            for (std::size_t c = 0; c < sort.machine.caches.size(); ++c)
                if (reachesAll(sort, c) && sort.machine.caches[c].bytes >= bytes) return static_cast<std::uint8_t>(c);
            return static_cast<std::uint8_t>(pipeline::mostCaches);
        };
        const std::uint8_t others = levelFor(reuse.pass);
        // Keys and values of tokens before were touched in the pass before.
        const bool kept = kernel.kind == KernelKind::DecodeAttention;
        return {kept ? others : levelFor(reuse.inputs), others};
    }

    Machine shared(const CoreSort& sort, const CoreShare& share) const {
        return machineAmong(sort.machine, sort.core, cpu_.dramBandwidth, double(share.active), share.readers);
    }

    // Weights are not frozen: every call lays those of direct convolutions out anew, each core its part. Products pack
    // them themselves, strip by strip.
    static bool laysOut(const Kernel& kernel, const CoreShare& share) {
        return kernel.kind == KernelKind::Convolution && share.spec.kernel != "gemm";
    }
    static double freshSeconds(const Kernel& kernel, const CoreShare& share) {
        return laysOut(kernel, share) ? freshPageSeconds(frameworkTimes, kernel) : 0;
    }

    static double threadSeconds(const CoreSort& sort, std::int64_t active) {
        std::vector<double> sharedBy;
        for (const CoreCache& cache : sort.core.caches) sharedBy.push_back(cache.sharedBy);
        return pipeline::forkJoinSeconds(sort.machine, sharedBy, active);
    }
    static double bytesFromMemory(const Kernel& kernel, const pipeline::KernelStart& start) {
        const double weights = coreWeightBytes(kernel), reads = std::max(0.0, kernel.readBytes - weights);
        return (start.inputs < pipeline::mostCaches ? 0 : reads) +
               (start.others < pipeline::mostCaches ? 0 : weights + kernel.writeBytes);
    }

    PricedCore byRoofline(const CoreSort& sort, const Kernel& kernel) const {
        PricedCore out;
        out.sort = &sort;
        KernelPrice& price = out.price;
        price.seconds = leastSeconds(cpu_.device, kernel) + cpu_.device.launchOverhead.value;
        if (settings_.framework) price.seconds += frameworkSeconds(frameworkTimes, cpu_, kernel);
        price.low = price.high = price.seconds;
        const bool moves = kernel.bytes() / cpu_.device.main().bandwidth.value >= leastSeconds(cpu_.device, kernel);
        price.bound = moves ? Bound{BoundKind::Memory, 0} : Bound{BoundKind::Compute, -1};
        price.priced = price.errorKnown = false, price.domain = DomainVerdict::Outside, price.note = 0;
        out.told = true;
        return out;
    }

    // Equal kernels are answered once, whoever asks.
    Expected<PricedCore> priceOnce(const Kernel& kernel, const ReuseDistances& reuse, const std::stop_token& stop,
                                   bool told = false) const {
        const std::pair identity(kernelIdentity(kernel), startOf(kernel, reuse));
        {
            const std::scoped_lock lock(guard_);
            const auto found = known_.find(identity);
            if (found != known_.end() && (found->second.told || !told)) return found->second;
        }
        PricedCore priced = priceNew(kernel, reuse, stop, told);
        if (stop.stop_requested()) return fail("study.cancelled", "the study was stopped", {}, {});
        const std::scoped_lock lock(guard_);
        known_.insert_or_assign(identity, priced);
        return priced;
    }

    pipeline::SampleResult sample(const pipeline::LoopNest& nest, const CoreSort& sort, const CoreShare& share,
                                  const pipeline::SampleOptions& options, PricedCore& out) const {
        if (settings_.together > 1 && share.active > 1) {
            const pipeline::Chip chip =
                chipAmong(sort.machine, sort.core, cpu_.dramBandwidth, share, settings_.together);
            if (chip.cores > 1) {
                out.together = chip.cores;
                pipeline::CoresRunner runner(nest, chip, copiesAmong(nest, share, chip.cores));
                return sampled(nest, runner, options);
            }
        }
        return sampled(nest, shared(sort, share), options);
    }

    // Adds what one core takes for its share, so many times; false: it has no instructions.
    bool run(const CoreSort& sort, const CoreShare& share, const pipeline::KernelStart& start,
             const std::stop_token& stop, PricedCore& out) const {
        const Machine machine = shared(sort, share);
        const auto nest = nestOf(share.spec, machine);
        const double times = share.rounds;
        if (!nest) return false;
        if (settings_.sampled) {
            pipeline::SampleOptions options;
            options.kind = pipeline::SampleKind::Loops;
            options.units = settings_.units;
            options.confidence = 0.9;
            options.start = start;
            options.stop = stop;
            const auto result = sample(*nest, sort, share, options, out);
            const double operations = times * double(result.operations);
            out.operations += operations;
            out.cycles += result.cpi * operations;
            out.low += result.low * operations, out.high += result.high * operations;
            return true;
        }
        pipeline::WindowOptions options = settings_.flows ? pipeline::flowWindows() : pipeline::WindowOptions{};
        options.bounds = out.told;
        options.start = start;
        const CoreEstimate one = estimateCore(*nest, machine, settings_.flows ? WindowModel{} : model_, options);
        out.operations += times * one.operations;
        out.cycles += times * one.cycles;
        out.low += times * one.low, out.high += times * one.high;
        for (std::size_t r = 0; r < one.by.size(); ++r) out.windows.by[r] += times * one.by[r];
        out.windows.interplay += times * one.interplay;
        return true;
    }

    // Equal work goes to all cores, and the last decides; a single one runs on the fastest.
    PricedCore priceNew(const Kernel& kernel, const ReuseDistances& reuse, const std::stop_token& stop,
                        bool told) const {
        PricedCore out;
        for (const CoreSort& sort : sorts_) {
            PricedCore one = priceOn(sort, kernel, reuse, stop, told);
            const bool slower = one.price.seconds > out.price.seconds;
            if (!out.sort || slower == (one.share.active > 1)) out = std::move(one);
        }
        return out;
    }

    PricedCore priceOn(const CoreSort& sort, const Kernel& kernel, const ReuseDistances& reuse,
                       const std::stop_token& stop, bool told) const {
        const Machine& machine = sort.machine;
        const auto share = coreShareOf(kernel, machine, sort.core.cores, settings_.framework);
        PricedCore out;
        out.sort = &sort;
        out.told = told || settings_.sampled || model_.regressor;
        out.start = startOn(sort, kernel, reuse);
        if (share) out.share = *share;
        if (!share || !run(sort, *share, out.start, stop, out)) return byRoofline(sort, kernel);
        if (settings_.framework && laysOut(kernel, *share)) {
            CoreShare copy{{"relu", {}, share->spec.instructionSet}, sort.core.cores};
            const double part = std::ceil(coreWeightBytes(kernel) / pipeline::elementBytes(copy.spec.instructionSet) /
                                          double(copy.active));
            copy.rounds = std::ceil(part / (1 << 20));
            copy.spec.sizes["n"] = static_cast<std::int64_t>(std::ceil(part / copy.rounds));
            run(sort, copy, {out.start.others, out.start.others}, stop, out);
        }
        double constant = cpu_.device.launchOverhead.value;
        // The time of a framework's call was measured with its threads.
        constant += settings_.framework ? frameworkTimes.call + freshSeconds(kernel, *share)
                                        : threadSeconds(sort, share->active);
        const double least = leastSeconds(cpu_.device, kernel);
        const auto secondsOf = [&](double cycles) { return std::max(least, cycles / machine.clock) + constant; };
        out.clipped = out.cycles / machine.clock < least;
        KernelPrice& price = out.price;
        price.seconds = secondsOf(out.cycles);
        price.low = price.high = price.seconds;  // of a real core no error is known
        out.low = secondsOf(out.low), out.high = secondsOf(out.high);
        price.note = static_cast<std::int8_t>(out.clipped ? 2 : share->widened ? 1 : -1);
        const double memory = bytesFromMemory(kernel, out.start) / cpu_.dramBandwidth;
        price.bound = constant > price.seconds / 2 ? Bound{BoundKind::Overhead, -1}
                      : 2 * memory > price.seconds ? Bound{BoundKind::Memory, 0}
                                                   : Bound{BoundKind::Compute, -1};
        return out;
    }

    GpuView cpu_;
    std::vector<CoreSort> sorts_;
    WindowModel model_;
    CoreSettings settings_;
    int together_ = 1;  ///< of settings_, as many as can be where all cores work
    mutable std::mutex guard_;
    mutable std::map<std::pair<std::uint64_t, std::uint32_t>, PricedCore> known_;
};

// What a core finds behind its caches: the memory's own latency, and of the link what crosses it.
void reachMemory(Machine& machine, const MemoryNodes& memories, pipeline::Pages pages) {
    if (memories.nodes < 2) return;
    const double own = memories.latency.value > 0 ? memories.latency.value : machine.memoryLatency;
    const auto reach = pipeline::reachOf(static_cast<int>(memories.nodes), memories.bandwidth.value, own,
                                         memories.linkBandwidth.value, memories.linkLatency.value, pages);
    machine.memoryLatency = reach.latency;
}

Expected<KernelPricerPtr> bindCore(const DeviceRef& device, const BindContext& context, bool sampled) {
    auto cpu = cpuView(device);
    if (!cpu) return Unexpected(std::move(cpu.error()));
    auto cores = coreViews(device);
    if (!cores) return Unexpected(std::move(cores.error()));
    const auto option = [&](std::string_view key) {
        const auto found = context.options.find(key);
        return found == context.options.end() ? std::string() : found->second;
    };
    const auto pages = pagesOf(option("pages"));
    if (!pages) return Unexpected(pages.error());
    if (auto placed = placePages(*cpu, cores->front().memories, *pages); !placed) return Unexpected(placed.error());
    const std::string path = cpu->device.path;
    std::vector<CoreSort> sorts;
    for (CoreView& core : *cores) {
        auto machine = pipeline::machineBesideMemories(core);
        if (!machine) return Unexpected(std::move(machine.error()));
        reachMemory(*machine, core.memories, *pages);
        core.assumptions = cpu->assumptions;
        sorts.push_back({std::move(core), std::move(*machine)});
    }
    CoreSettings settings{.sampled = sampled};
    if (option("cores") == "fastest") {
        auto fastest =
            std::ranges::max_element(sorts, {}, [](const CoreSort& sort) { return multiplierRate(sort.machine); });
        fastest->core.cores = fastest->core.alike;
        sorts = {std::move(*fastest)};
        settings.alone = true;
    }
    settings.framework = option("library") == "framework";
    settings.flows = option("pass") == "flow";
    WindowModel model;
    if (sampled) {
        const std::string text = option("units").empty() ? "100" : option("units");
        const auto units = wholeIn(text);
        if (!units || *units < 4 || *units > 100'000)
            return fail("method.bad-option", fmt::format("`units` of a simulated core is `{}`", text),
                        "a whole number from 4 to 100000");
        settings.units = static_cast<std::uint64_t>(*units);
        const std::string several = option("together").empty() ? "1" : option("together");
        const auto together = wholeIn(several);
        if (!together || *together < 1 || *together > 128)
            return fail("method.bad-option", fmt::format("`together` of a simulated core is `{}`", several),
                        "a whole number from 1 to 128");
        settings.together = static_cast<int>(*together);
    } else {
        static const Expected<WindowModel> shipped = loadWindowModel();
        if (!shipped) return Unexpected(shipped.error());
        model = *shipped;
    }
    auto pricer = std::make_shared<const CorePricer>(std::move(*cpu), std::move(sorts), std::move(model), settings);
    if (settings.together > 1) {
        if (auto sound = pricer->canRunTogether(); !sound) {
            if (sound.error().place.path.empty()) sound.error().place.path = path;
            return Unexpected(std::move(sound.error()));
        }
    }
    return KernelPricerPtr(std::move(pricer));
}
Expected<KernelPricerPtr> bindCoreWindows(const DeviceRef& device, const BindContext& context) {
    return bindCore(device, context, false);
}
Expected<KernelPricerPtr> bindCoreCycle(const DeviceRef& device, const BindContext& context) {
    return bindCore(device, context, true);
}

MethodOption libraryOption() {
    return {
        .key = "library",
        .title = "Called by",
        .choices = {"engine", "framework"},
        .fallback = "engine",
        .meaning = "An engine that calls at once, or a framework that takes its time for each call (torch.compile)."};
}

MethodOption coresOption() {
    return {.key = "cores",
            .title = "Work on",
            .choices = {"all", "fastest"},
            .fallback = "all",
            .meaning =
                "Equal work for all cores, or, where cores differ, for the fastest sort alone: so PyTorch does on "
                "Apple's processors."};
}

// What both cards share.
MethodCard coreCard(std::string_view title, Methodology methodology, std::string_view summary,
                    std::string_view evidence, std::vector<std::string_view> lineage, double perKernel) {
    return {
        .title = title,
        .methodology = methodology,
        .summary = summary,
        .platforms = {"CPU"},
        .evidence = {{"ResNet-18 to -152, VGG, ViT, DeiT, EfficientNet-B0, MobileNetV3, Swin-T", "CPU", evidence}},
        .needs = {"A core whose microarchitecture is named", "Caches and main memory", "Shapes of all tensors"},
        .failureMode =
            "Libraries that tile or pack otherwise; translation of addresses, wrong paths and clocks that drop "
            "are not modelled; pooling and convolutions with gaps cost their roofline.",
        .lineage = std::move(lineage),
        .cost = {.fixed = 2e-3, .perKernel = perKernel},
        .live = false,
    };
}

}  // namespace

KernelMethod coreWindowKernels() {
    return {
        .id = "core-windows",
        .version = "1.6.0",
        .binder = bindCoreWindows,
        .options = {libraryOption(),
                    coresOption(),
                    {.key = "pass",
                     .title = "Windows run on",
                     .choices = {"pipeline", "flow"},
                     .fallback = "pipeline",
                     .meaning = "The simulated pipeline, or a pass of dataflow: a first order, twenty times faster."},
                    pagesOption()},
        .card = coreCard("Core by windows", Methodology::Hybrid,
                         "Each kernel as instructions of one core: one window of each loop on the simulated pipeline, "
                         "its cache lines where the addresses say, shared out among the core's resources.",
                         "11.5 % mean, 7.9 % median of 34 fp32 rows on i9-10940X, 6.1 % and 5.1 % of 26 on "
                         "i7-12700H (timm, torch.compile, batch 1), with "
                         "library=framework, fusion=compile; nothing was fitted but the time of a call; 3.9 % of four "
                         "sizes of MobileNetV2 on one core of i9-13900K (MLPerf)",
                         {"Nasr-Esfahany et al.: Concorde, ISCA 2025",
                          "Low et al.: Analytical modeling is enough for high-performance BLIS, ACM TOMS 2016"},
                         1.6e-2)};
}

KernelMethod coreCycleKernels() {
    return {
        .id = "core-cycle",
        .version = "1.5.0",
        .binder = bindCoreCycle,
        .options = {libraryOption(),
                    coresOption(),
                    {.key = "units",
                     .title = "Units",
                     .choices = {},
                     .fallback = "100",
                     .meaning = "How many stretches of 1,000 operations of a kernel are simulated and measured, some "
                                "of each of its loops; the spread narrows with the root of their number."},
                    {.key = "together",
                     .title = "In one clock",
                     .choices = {},
                     .fallback = "1",
                     .meaning = "How many of the cores that share a kernel are simulated together, with what they "
                                "take from each other in shared caches and memory; 1: one core with an equal share. "
                                "The time grows with their number."},
                    pagesOption()},
        .card = coreCard("Core cycle by cycle", Methodology::CycleAccurate,
                         "Each kernel as instructions on one core's simulated pipeline, caches and memory, in units "
                         "drawn from each of its loops.",
                         "12.2 % mean, 8.4 % median of 34 fp32 rows on i9-10940X, 6.1 % and 5.6 % of 26 on "
                         "i7-12700H (timm, torch.compile, batch 1), with "
                         "library=framework, fusion=compile; nothing was fitted but the time of a call; 4.1 % of four "
                         "sizes of MobileNetV2 on one core of i9-13900K (MLPerf)",
                         {"Wunderlich et al.: SMARTS, ISCA 2003", "Binkert et al.: gem5, CAN 2011"}, 1.3e-2)};
}

}  // namespace orrery
