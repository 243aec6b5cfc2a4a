#include "methods/gpu/gpu_cycle.h"

#include "base/text/words.h"
#include "methods/answer/answer.h"
#include "methods/gpu/gpu_choice.h"
#include "methods/gpu/gpu_sample.h"
#include "methods/model/kernel_bound.h"
#include "simulation/power/simulated.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace orrery {

namespace {

// Warp instructions that one core simulates in a second, as measured (README); a budget in seconds stands for so many,
// whatever this computer does, so that an answer is the same everywhere.
constexpr double instructionsPerSecond = 1.5e5;
constexpr std::string_view firstWaves = "first";  // of the option `sample`
constexpr double sampleLeast = 5e4;               // warp instructions that a simulation may always take

constexpr SimulatedSpread cycleSpread{0.53, 2.41}, intervalSpread{0.54, 2.12};
constexpr const char* simulatedBasis =
    "Least and greatest measured over simulated time of forty bf16 products each on A100, H100, L40S and B200 "
    "(aiconfigurator); of other kernels, and of GPUs with wavefronts of 64, nothing has been measured";
constexpr const char* cycleEvidence =
    "MAPE 14.3 % over forty bf16 rows each on A100 (8.5, signed -5.1), H100 (14.5, signed +5.3), L40S (16.6, signed "
    "+3.9) and B200 (17.6, signed +5.6), drawn by the digest of their shape (aiconfigurator, TensorRT-LLM 1.0.0 and "
    "1.3.0rc20), asked with copies=5 as they were measured; of the twenty each with m, n, k of 1,024 and more "
    "7.2, 8.3, 10.9 and 14.8 %; 15.6 % over forty others each that were not looked at; no number was fitted; two "
    "conditions of the tile's choice, "
    "the kernel that adds up parts of a reduction and one condition of clusters were written after rows had been seen";
constexpr const char* intervalEvidence =
    "MAPE 13.9 % over forty bf16 rows each on A100 (9.0, signed -7.2), H100 (12.3, signed +0.2), L40S (16.1, signed "
    "+5.9) and B200 (18.0, signed +4.3), drawn by the digest of their shape (aiconfigurator, TensorRT-LLM 1.0.0 and "
    "1.3.0rc20), asked with copies=5 as they were measured; of the twenty each with m, n, k of 1,024 and more "
    "5.5, 9.1, 11.3 and 14.9 %; against all multiprocessors cycle by cycle 5.9 % over 22 "
    "kernels, at worst 14 %, and 7.3 % over 29 others, at worst 39 %; no number was fitted; two conditions of the "
    "tile's choice and the kernel that adds up parts of a reduction were written after rows had been seen";

struct CycleBudget {
    double instructions = cycleBudgetInstructions;
    std::uint64_t cycles = 0;
    bool intervals = false;
    int copies = 0;                                ///< of the weights, over which a kernel is repeated
    std::optional<gpusim::SampleKind> waves = {};  ///< drawn from the whole kernel
};

struct PricedSample {
    KernelPrice price;
    SampledKernel sample;
    std::string name;
    double tileM = 0, tileN = 0, tileK = 0;
    double clockShare = 1;    ///< that the power cap leaves
    double afterSeconds = 0;  ///< of the kernel that adds up partial sums
    bool clipped = false;
};

class GpuCyclePricer final : public SlowPricer {
public:
    GpuCyclePricer(const GpuView& gpu, DrawnMachine drawn, CycleBudget budget)
        : gpu_(gpu), drawn_(std::move(drawn)), budget_(budget) {}

    using SlowPricer::price;
    Expected<KernelPrice> price(const Kernel& kernel, PriceContext& context) const override {
        auto priced = sampled(kernel, context.stop);
        if (!priced) return tl::unexpected(priced.error());
        return priced->price;
    }
    KernelStory explain(const Kernel& kernel) const override {
        KernelStory story;
        const auto priced = sampled(kernel, {});
        if (!priced || !priced->price.priced) {
            story.terms.push_back({"roofline",
                                   fallback(kernel),
                                   Dimension::Time,
                                   {},
                                   "No template for this kind of kernel: its bytes at the rate of links or memory."});
            return story;
        }
        const SampledKernel& s = priced->sample;
        const auto number = [&](std::string name, double value, std::string unit, std::string meaning) {
            story.terms.push_back({std::move(name), value, Dimension::Number, std::move(unit), std::move(meaning)});
        };
        const double clock = drawn_.machine.coreMhz * 1e6;
        number(priced->name, s.blocks, "blocks", "The program that stands for the kernel.");
        number("blocks per multiprocessor", s.blocksPerSm, "", "By threads, registers and shared memory.");
        number("waves", s.waves, "", s.how + ".");
        number("warp instructions", s.instructions, "",
               fmt::format("{:.0f} of them simulated.", s.simulatedInstructions));
        story.terms.push_back({"cycles",
                               s.cycles / clock,
                               Dimension::Time,
                               {},
                               fmt::format("{:.0f} cycles at {:.0f} MHz.", s.cycles, drawn_.machine.coreMhz)});
        if (priced->clockShare < 1)
            story.terms.push_back(
                {"power cap",
                 (1 / priced->clockShare - 1) * s.cycles / clock,
                 Dimension::Time,
                 {},
                 fmt::format("{:.0f} W leave {:.0f} MHz to so many tensor operations per second, as long runs do.",
                             gpu_.powerCap, priced->clockShare * drawn_.machine.coreMhz)});
        if (priced->afterSeconds > 0)
            story.terms.push_back({"reduction kernel",
                                   priced->afterSeconds,
                                   Dimension::Time,
                                   {},
                                   "A second kernel in the same graph adds up the parts of the reduction."});
        story.terms.push_back({"launch",
                               gpu_.device.launchOverhead.value,
                               Dimension::Time,
                               {},
                               "The device's launch overhead; nothing has been fitted."});
        if (priced->clipped)
            story.terms.push_back({"roofline",
                                   priced->price.seconds,
                                   Dimension::Time,
                                   {},
                                   "The extrapolation fell below what peak rates allow; the bound is taken."});
        const auto& c = s.counts;
        const double slots = std::max(1.0, static_cast<double>(c.activeSmCycles) * drawn_.machine.schedulers);
        const auto part = [&](std::string name, std::uint64_t count) {
            story.stack.push_back({std::move(name), s.cycles * static_cast<double>(count) / slots});
        };
        part("issued", c.warpInstructions), part("waits for registers", c.stallDependence),
            part("unit busy", c.stallUnit), part("nothing to issue", c.stallNoInstruction),
            part("instruction cache", c.stallCode), part("constant cache", c.stallConstant);
        story.tileM = priced->tileM, story.tileN = priced->tileN, story.tileK = priced->tileK;
        story.blocks = s.blocks, story.blocksPerWave = s.blocksPerSm * drawn_.machine.sms, story.waves = s.waves;
        return story;
    }
    double correlation(KernelKind) const override { return 1; }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> out = drawn_.assumptions;
        out.push_back("Programs are templates of usual kernels, not the library's own instructions");
        out.push_back(
            "A product has the tile of least time, by intervals, unless 256 × 128 fills the GPU; parts of its "
            "reduction are added up by a second kernel");
        out.push_back(budget_.copies == 0
                          ? std::string("Caches are empty when a kernel begins")
                          : fmt::format("L2 holds what a loop over {} copies of a kernel's weights leaves there",
                                        budget_.copies));
        if (drawn_.generation.tensorPower && gpu_.powerCap > 0)
            out.push_back(fmt::format("Products on tensor units run at the clock that {:.0f} W leave them in long runs",
                                      gpu_.powerCap));
        if (drawn_.machine.lanes > 32)
            out.push_back("The interval is that of products on NVIDIA's GPUs: of wavefronts none has been measured");
        if (saysEnergy())
            out.push_back("Energies of events are AccelWattch's of a Quadro GV100, at its nominal voltage");
        out.push_back(
            budget_.intervals
                ? std::string("Where a GPU has one L2, one multiprocessor stands for all, two lengths of the main loop "
                              "and two waves for the "
                              "rest: within 7 % of all of them cycle by cycle in the mean, 39 % at worst")
                : fmt::format("Of a kernel with more than {:.0f} warp instructions whole waves and whole steps of "
                              "the main loop are simulated, the others extrapolated",
                              budget_.instructions));
        out.push_back(
            fmt::format("Every launch takes the device's launch overhead of {}", format(gpu_.device.launchOverhead)));
        return out;
    }
    std::vector<std::string> levels() const override { return {"main memory", "L2"}; }
    std::string basis() const override { return simulatedBasis; }
    std::vector<KernelNote> notes() const override {
        return {{budget_.intervals ? "simulated in part: waves, steps of the main loop and, where L2 is one, "
                                     "multiprocessors are extrapolated"
                                   : "simulated in part: whole waves and steps of the main loop are extrapolated"},
                {"without a template of instructions, they cost their bytes", "gpu-cycle.by-bytes",
                 "Read their share as a guess"},
                {"extrapolated below what peak rates allow: their roofline is taken"},
                {"could not be simulated, though there is a template: a block of it does not fit a multiprocessor, or "
                 "even the smallest sample takes longer than `cycles`; they cost their bytes",
                 "gpu-cycle.not-simulated", "Raise `cycles`, or read their share as a guess"}};
    }

private:
    double fallback(const Kernel& kernel) const {
        if (kernel.kind == KernelKind::Collective && gpu_.linkBandwidth > 0)
            return kernel.messageBytes / gpu_.linkBandwidth;
        return kernel.bytes() / gpu_.dramBandwidth;
    }
    PricedSample byBytes(const Kernel& kernel, std::int8_t note) const {
        PricedSample out;
        out.price.seconds = out.price.low = out.price.high = gpu_.device.launchOverhead.value + fallback(kernel);
        const bool network = kernel.kind == KernelKind::Collective;
        out.price.bound = {network ? BoundKind::Network : BoundKind::Memory,
                           static_cast<std::int16_t>(network ? -1 : 0)};
        out.price.priced = false, out.price.domain = DomainVerdict::Outside, out.price.note = note;
        return out;
    }

    // Only tensor units are known to need more than the cap, and of some generations what they draw.
    double clockShare(const Kernel& kernel, const SampledKernel& sample, double memoryBytes) const {
        const auto work = workOf(kernel);
        const auto& power = drawn_.generation.tensorPower;
        if (!power || sample.cycles <= 0 || gpu_.tensorPeak(work.type) <= 0) return 1;
        const bool product = kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Convolution ||
                             kernel.kind == KernelKind::Experts;
        if (!product) return 1;
        return clockShareOf(*power, gpu_, work.type, work.operations, memoryBytes,
                            sample.cycles / (drawn_.machine.coreMhz * 1e6));
    }

    // Energies of events are known of one generation (simulation/power); others get those of the composition.
    bool saysEnergy() const { return drawn_.generation.name == "volta" && voltaPower().has_value(); }
    double joules(const SampledKernel& s, double seconds) const {
        const double clock = drawn_.machine.coreMhz * 1e6;
        GpuPowerTable table = *voltaPower();
        table.sms = drawn_.machine.sms;
        gpusim::KernelResult counted;
        counted.counts = s.counts;
        GpuActivity activity = activityOf(counted, drawn_.machine.sms);
        for (double& count : activity.counts) count *= s.scale;
        // Over the whole launch: SMs without warps idle, before the first block too.
        activity.cycles = seconds * clock;
        const double active = static_cast<double>(s.counts.activeSmCycles) * s.scale;
        activity.idleSms = std::clamp(table.sms - active / std::max(1.0, activity.cycles), 0.0, 1.0 * table.sms);
        return gpuPower(table, activity, {clock, 0}).total() * seconds;
    }

    // Equal kernels are simulated once, whoever asks.
    Expected<PricedSample> sampled(const Kernel& kernel, const std::stop_token& stop) const {
        const std::uint64_t identity = kernelIdentity(kernel);
        {
            const std::scoped_lock lock(guard_);
            if (const auto found = known_.find(identity); found != known_.end()) return found->second;
        }
        auto priced = simulated(kernel, stop);
        if (!priced) return priced;
        const std::scoped_lock lock(guard_);
        known_.emplace(identity, *priced);
        return priced;
    }
    std::vector<gpusim::MemoryRange> resident(const KernelProgram& program) const {
        if (budget_.copies <= 0) return {};
        return residentOperands(*program.build(0), gpu_.l2Bytes, budget_.copies);
    }
    Expected<PricedSample> simulated(const Kernel& kernel, const std::stop_token& stop) const {
        const auto program = chosenProgram(kernel, gpu_, drawn_, {budget_.copies, budget_.cycles, stop});
        if (!program && program.error().code == "study.cancelled") return tl::unexpected(program.error());
        if (!program) return byBytes(kernel, 1);
        SampleOptions options{budget_.instructions, budget_.cycles, budget_.intervals, {}, stop, budget_.waves};
        options.resident = resident(*program);
        auto sample = sampleKernel(*program, drawn_.machine, options);
        // A simulation that is longer than the cycles allowed makes room by a smaller sample.
        while (!sample && !budget_.intervals && sample.error().code == "gpu.cycles" &&
               options.instructions > sampleLeast) {
            options.instructions /= 4;
            sample = sampleKernel(*program, drawn_.machine, options);
        }
        if (!sample) {
            if (sample.error().code == "study.cancelled") return tl::unexpected(sample.error());
            return byBytes(kernel, 3);
        }
        PricedSample out;
        out.sample = std::move(*sample);
        out.name = program->name;
        out.tileM = program->tileM, out.tileN = program->tileN, out.tileK = program->tileK;
        const double launch = gpu_.device.launchOverhead.value;
        // Operands that stand in L2 need not come.
        const double memoryBytes =
            options.resident.empty() ? std::max(kernel.bytes(), out.sample.dramBytes) : out.sample.dramBytes;
        out.clockShare = clockShare(kernel, out.sample, memoryBytes);
        out.afterSeconds = program->afterSeconds;
        const double seconds = out.sample.cycles / (drawn_.machine.coreMhz * 1e6 * out.clockShare) + out.afterSeconds;
        const double least = leastSeconds(gpu_.device, kernel);
        out.clipped = seconds < least;
        KernelPrice& price = out.price;
        price.seconds = launch + std::max(seconds, least);
        const SimulatedSpread spread = budget_.intervals ? intervalSpread : cycleSpread;
        double low = spread.low, high = std::max(spread.high, 1.0);
        if (out.sample.high > 0) {
            // What the simulation and what the draw may be off by do not depend on each other: logarithms add up as
            // squares.
            const auto both = [](double one, double other) { return std::hypot(std::log(one), std::log(other)); };
            low = std::exp(-both(std::min(low, 1.0), std::max(1.0, out.sample.low) / out.sample.cycles));
            high = std::exp(both(high, out.sample.high / out.sample.cycles));
        }
        price.low = std::max(low * price.seconds, std::min(least, price.seconds));
        price.high = high * price.seconds;
        price.errorKnown = cycleSpreadOf(kernel, drawn_.machine.lanes).has_value();
        price.note = static_cast<std::int8_t>(out.clipped ? 2 : out.sample.whole ? -1 : 0);
        price.levelBytes = {static_cast<float>(out.sample.dramBytes), static_cast<float>(out.sample.l2Bytes)};
        if (saysEnergy()) price.joules = joules(out.sample, price.seconds);
        const double memory = memoryBytes / gpu_.dramBandwidth;
        const double compute = workOf(kernel).operations * secondsPerOperation(gpu_.device, workOf(kernel).type);
        price.bound = launch > seconds   ? Bound{BoundKind::Overhead, -1}
                      : memory > compute ? Bound{BoundKind::Memory, 0}
                                         : Bound{BoundKind::Compute, -1};
        return out;
    }

    GpuView gpu_;
    DrawnMachine drawn_;
    CycleBudget budget_;
    mutable std::mutex guard_;
    mutable std::map<std::uint64_t, PricedSample> known_;
};

// Within low … high, or what is wrong.
Expected<double> cycleOption(const OptionValues& options, std::string_view key, double otherwise, double low,
                             double high) {
    const auto found = options.find(key);
    if (found == options.end() || found->second.empty()) return otherwise;
    const auto number = numberIn(found->second);
    if (number && *number >= low && *number <= high) return *number;
    return fail("method.bad-option", fmt::format("`{}` of a simulated GPU is `{}`", key, found->second),
                fmt::format("a number from {} to {}", low, high));
}

Expected<double> budgetOf(const OptionValues& options) {
    auto seconds = cycleOption(options, "seconds", cycleBudgetInstructions / instructionsPerSecond, 0.05, 3600);
    if (seconds) *seconds *= instructionsPerSecond;
    return seconds;
}

Expected<KernelPricerPtr> bindSimulated(const DeviceRef& device, const BindContext& context, bool intervals) {
    const auto gpu = gpuView(device);
    if (!gpu) return tl::unexpected(gpu.error());
    const auto instructions = budgetOf(context.options);
    if (!instructions) return tl::unexpected(instructions.error());
    const auto cycles = cycleOption(context.options, "cycles", 0, 0, 1e12);
    if (!cycles) return tl::unexpected(cycles.error());
    const auto copies = cycleOption(context.options, "copies", 0, 0, 1e6);
    if (!copies) return tl::unexpected(copies.error());
    std::optional<gpusim::SampleKind> waves;
    if (const auto asked = context.options.find("sample"); asked != context.options.end() && !asked->second.empty()) {
        waves = gpusim::sampleKindOf(asked->second);
        if (!waves && asked->second != firstWaves)
            return fail("method.bad-option", fmt::format("`sample` of a simulated GPU is `{}`", asked->second),
                        "first, smarts or simpoint");
    }
    auto drawn = machineOf(*gpu);
    if (!drawn) return tl::unexpected(drawn.error());
    return KernelPricerPtr(std::make_shared<const GpuCyclePricer>(
        *gpu, std::move(*drawn),
        CycleBudget{*instructions, static_cast<std::uint64_t>(*cycles), intervals, static_cast<int>(*copies), waves}));
}
Expected<KernelPricerPtr> bindGpuCycle(const DeviceRef& device, const BindContext& context) {
    return bindSimulated(device, context, false);
}
Expected<KernelPricerPtr> bindGpuInterval(const DeviceRef& device, const BindContext& context) {
    return bindSimulated(device, context, true);
}

// The texts are literals: cards hold views.
MethodCard simulatedCard(std::string_view title, std::string_view summary, std::string_view evidence,
                         std::string_view failureMode, double perKernel) {
    return {
        .title = title,
        .methodology = Methodology::CycleAccurate,
        .summary = summary,
        .platforms = {"GPU"},
        .evidence = {{"matrix products", "GPU", evidence}},
        .needs = {"Multiprocessors with vector units for fp32, their clock and schedulers",
                  "Bandwidth of the main memory", "Shapes of all tensors"},
        .failureMode = failureMode,
        .lineage = {"Khairy et al.: Accel-Sim, ISCA 2020", "Lee et al.: GCoM, ISCA 2022",
                    "Huerta et al.: Analyzing modern NVIDIA GPU cores, MICRO 2025",
                    "NVIDIA: CUTLASS (structure of products)", "Dao: FlashAttention-2, ICLR 2024"},
        .cost = {.fixed = 2e-3, .perKernel = perKernel},
        .live = false,
    };
}

KernelMethod simulatedKernels(std::string_view id, std::string_view version, DeviceBinder binder, MethodCard card) {
    return {.id = id,
            .version = version,
            .binder = binder,
            .options = {{.key = "seconds",
                         .title = "Budget",
                         .choices = {},
                         .fallback = "3",
                         .meaning = "Seconds of simulation per kernel, counted as 150,000 warp instructions each; "
                                    "what is longer is extrapolated. The stated cost is that of 3 seconds."},
                        {.key = "cycles",
                         .title = "Longest simulation",
                         .choices = {},
                         .fallback = "0",
                         .meaning = "Cycles of the device that one simulation may take, 0 for any."},
                        {.key = "copies",
                         .title = "Copies of the weights",
                         .choices = {},
                         .fallback = "0",
                         .meaning = "The kernel is repeated over so many copies of its weights, as benchmarks do, and "
                                    "finds in L2 what fits there. 0: caches are empty when it begins."}},
            .card = std::move(card)};
}

}  // namespace

double cycleInstructionsOf(const OptionValues& options) {
    return budgetOf(options).value_or(cycleBudgetInstructions);
}

std::optional<SimulatedSpread> cycleSpreadOf(const Kernel& kernel, int lanes) {
    return kernel.kind == KernelKind::Gemm && lanes == 32 ? std::optional(cycleSpread) : std::nullopt;
}

KernelMethod gpuCycleKernels() {
    KernelMethod method = simulatedKernels(
        "gpu-cycle", "1.6.0", bindGpuCycle,
        simulatedCard("GPU cycle by cycle",
                      "Instructions of every kernel, written by templates, on a simulated GPU: warps, schedulers, "
                      "units, caches, network and DRAM. Slow; ask it why a kernel waits, and on GPUs that nobody has "
                      "measured.",
                      cycleEvidence,
                      "Kernels unlike its templates, and tiles unlike a library's: deep reductions get the tile of "
                      "least time, which makes 2,048 × 2,048 × 4,096 on A100 a fourth to a third too fast. TLBs are "
                      "not modelled. Kernels longer than the budget are extrapolated by whole waves and steps of "
                      "their loop.",
                      2.0));
    method.options.push_back(
        {.key = "sample",
         .title = "Longer kernels",
         .choices = {firstWaves, "smarts", "simpoint"},
         .fallback = firstWaves,
         .meaning =
             "What of a kernel beyond the budget is simulated. first: its first waves of blocks and its last, on "
             "a part of the machine if need be. smarts: waves at random; simpoint: waves that stand for those "
             "that run the same; both on the whole machine, and what the draw leaves unknown widens the "
             "interval. Where the budget has no room for that it is as with first."});
    return method;
}

KernelMethod gpuIntervalKernels() {
    return simulatedKernels(
        "gpu-interval", "1.5.0", bindGpuInterval,
        simulatedCard("GPU by intervals of its warps",
                      "The same templates on the same machine as gpu-cycle: one multiprocessor for all, each of its "
                      "instructions once, and behind it its share of what all of them ask of network, L2 and DRAM.",
                      intervalEvidence,
                      "Kernels unlike its templates, and tiles unlike a library's: deep reductions get the tile of "
                      "least time, which makes 2,048 × 2,048 × 4,096 on A100 a fourth to a third too fast. Caches of "
                      "instructions and constants, barriers and distances of thread block clusters, and TLBs are not "
                      "modelled. Kernels longer than the budget are extrapolated by whole waves and steps of their "
                      "loop.",
                      0.035));
}

}  // namespace orrery
