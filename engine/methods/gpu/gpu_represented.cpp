#include "methods/gpu/gpu_represented.h"

#include "simulation/gpu/interval/representative.h"
#include "simulation/gpu/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

using gpusim::IntervalResult;
using gpusim::RepresentedBlock;
using gpusim::WaveTraffic;

// What a run of one multiprocessor says, as far as it grows with the steps of the main loop.
struct Measured {
    double cycles = 0;  // without launch
    CycleStack stack;   // of them
    double instructions = 0, l2Sectors = 0, path = 0, intervals = 0;
};

Measured measured(const IntervalResult& run) {
    const auto& c = run.counts;
    Measured out{static_cast<double>(run.cycles - run.launchCycles),
                 run.stack,
                 static_cast<double>(c.warpInstructions),
                 static_cast<double>(c.l2.reads + c.l2.writes),
                 static_cast<double>(run.instructions),
                 static_cast<double>(run.intervals)};
    out.stack.launch = 0;
    return out;
}

// The line through two lengths of the main loop, at `steps`.
Measured extended(const Measured& longer, const Measured& shorter, double by) {
    const double share = longer.cycles > shorter.cycles ? by : 0;
    const auto on = [&](double a, double b, double factor) { return a + factor * (a - b); };
    Measured out;
    out.cycles = on(longer.cycles, shorter.cycles, share);
    CycleStack grown = longer.stack;
    grown += longer.stack.scaled(share), grown += shorter.stack.scaled(-share);
    out.stack = grown;
    out.instructions = on(longer.instructions, shorter.instructions, by);
    out.l2Sectors = on(longer.l2Sectors, shorter.l2Sectors, by);
    out.path = on(longer.path, shorter.path, by), out.intervals = on(longer.intervals, shorter.intervals, by);
    return out;
}

// Of a stack whose parts were extended, none is negative; they add up to `cycles`.
CycleStack stackOver(CycleStack stack, double cycles) {
    for (double* part : {&stack.base, &stack.mathPipe, &stack.memoryPipe, &stack.dependency, &stack.memoryData,
                         &stack.memoryQueue, &stack.idle})
        *part = std::max(0.0, *part);
    return stack.total() > 0 ? stack.scaled(cycles / stack.total()) : stack;
}

class OneForAll {
public:
    OneForAll(const KernelProgram& program, const gpusim::Machine& machine, const SampleOptions& options)
        : program_(program), machine_(machine), options_(options), whole_(program.build(0)), places_(whole_) {}

    Expected<SampledKernel> run() {
        const std::int64_t blocks = whole_->header().blocks();
        const auto fit = gpusim::occupancy(machine_, whole_->header());
        if (fit.fits < 1) return gpusim::doesNotFit(machine_, whole_->header().name, {});
        wave_ = std::int64_t{fit.fits} * machine_.sms;
        const std::int64_t full = blocks / wave_, rest = blocks % wave_, waves = full + (rest > 0 ? 1 : 0);
        const gpusim::TrafficOfWaves traffic(machine_, *whole_, wave_, options_.resident,
                                             program_.steps > 0 ? program_.fewest - 1 : 1);
        first_ = traffic.of(0, 0);
        auto burst = gpusim::firstBurst(machine_, *whole_,
                                        program_.steps > program_.fewest ? program_.build(program_.fewest) : whole_,
                                        std::min<std::int64_t>(machine_.sms, blocks));
        if (!burst) return tl::unexpected(burst.error());
        burst_ = std::move(*burst);
        if (waves > 1) later_ = traffic.of(1, waves - 1);

        // Two lengths of the main loop, of which the shorter one fills the pipeline; a single wave ends with its
        // longest block. Blocks of unlike length run with this one in common, for the first are no example.
        const std::int64_t steps = waves > 1 ? program_.steps : std::max(program_.steps, program_.longest);
        const std::int64_t shorter = program_.fewest, longer = 2 * program_.fewest;
        const bool cut = steps > longer + 1;
        const std::int64_t alike = program_.longest > 0 ? steps : 0;
        if (alike > 0) places_ = program_.build(alike);
        const auto firstWave = blocksOf(0, std::min(blocks, wave_), first_);
        const auto one = simulated(cut ? longer : alike, firstWave);
        if (!one) return tl::unexpected(one.error());
        Measured whole = measured(*one), base = whole;
        if (cut) {
            const auto less = simulated(shorter, firstWave);
            if (!less) return tl::unexpected(less.error());
            base = measured(*less);
            whole = extended(whole, base, static_cast<double>(steps - longer) / static_cast<double>(longer - shorter));
        }
        // What is counted is of all blocks, whose loops have the mean length.
        const double part =
            cut ? static_cast<double>(program_.steps - longer) / static_cast<double>(longer - shorter) : 0;
        Measured counted = cut ? extended(measured(*one), base, part) : whole;
        if (!cut && alike > program_.steps) {
            const double fewer = static_cast<double>(program_.steps) / static_cast<double>(alike);
            counted.instructions *= fewer, counted.l2Sectors *= fewer;
        }
        double cycles = whole.cycles;
        if (waves > 1) {
            // Another wave behind the first, at the shorter length.
            auto both = firstWave;
            const auto behind = blocksOf(1, std::min(blocks - wave_, wave_), later_);
            both.insert(both.end(), behind.begin(), behind.end());
            const auto two = simulated(cut ? shorter : alike, both);
            if (!two) return tl::unexpected(two.error());
            const double extra = measured(*two).cycles - base.cycles;
            const double next = laterWave(base.cycles, extra, whole.cycles - base.cycles, shorter, steps);
            cycles += next * static_cast<double>(std::max<std::int64_t>(1, full - 1));
            if (full > 1 && rest > 0) {
                both = firstWave;
                const auto last = blocksOf(full, rest, later_);
                both.insert(both.end(), last.begin(), last.end());
                const auto tail = simulated(cut ? shorter : alike, both);
                if (!tail) return tl::unexpected(tail.error());
                const double share = (measured(*tail).cycles - base.cycles) / std::max(1.0, extra);
                cycles += next * std::clamp(share, 0.0, 1.0);
            }
        }
        const double perSm = static_cast<double>(blocks) / static_cast<double>(firstWave.size());
        out_.blocks = static_cast<double>(blocks), out_.blocksPerSm = fit.used;
        out_.waves = static_cast<double>(blocks) / static_cast<double>(wave_);
        out_.instructions = counted.instructions * perSm;
        out_.steps = static_cast<double>(program_.steps);
        out_.simulatedSteps = cut ? static_cast<double>(longer) : out_.steps;
        out_.whole = false;
        out_.cycles = cycles + static_cast<double>(one->launchCycles);
        out_.stack = stackOver(whole.stack, cycles);
        out_.stack.launch = static_cast<double>(one->launchCycles);
        const double longerBy = whole.cycles > 0 ? cycles / whole.cycles : 1;
        out_.intervals = whole.intervals * longerBy, out_.pathInstructions = whole.path * longerBy;
        out_.counts = one->counts;
        out_.scale = out_.instructions / std::max(1.0, static_cast<double>(one->counts.warpInstructions));
        const double after = static_cast<double>(waves - 1);
        out_.dramBytes = 32 * (first_.fetched + first_.drivenOut + after * (later_.fetched + later_.drivenOut));
        out_.l2Bytes = 32 * counted.l2Sectors * perSm;
        out_.how = fmt::format("one of {} multiprocessors stands for all{}{}", machine_.sms,
                               waves > 1 ? fmt::format(", with 2 of {:.1f} waves", out_.waves) : "",
                               cut ? fmt::format(", and {} of {} steps of the main loop", longer, steps) : "");
        return out_;
    }

private:
    // Those of the first multiprocessor: a block for each in turn.
    std::vector<RepresentedBlock> blocksOf(std::int64_t wave, std::int64_t count, const WaveTraffic& traffic) const {
        std::vector<RepresentedBlock> out;
        for (std::int64_t at = 0; at < count; at += machine_.sms)
            out.push_back({wave * wave_ + at, static_cast<double>(std::min<std::int64_t>(machine_.sms, count - at)),
                           &traffic, wave == 0 ? &burst_ : nullptr});
        return out;
    }
    Expected<IntervalResult> simulated(std::int64_t steps, const std::vector<RepresentedBlock>& blocks) {
        if (options_.stop.stop_requested()) return fail("study.cancelled", "the simulation was cancelled");
        gpusim::SimulateOptions options;
        options.stop = options_.stop, options.mostCycles = options_.mostCycles;
        auto run =
            gpusim::representKernel(machine_, steps > 0 ? program_.build(steps) : whole_, *places_, blocks, options);
        if (!run && run.error().code == "gpu.stopped") return fail("study.cancelled", "the simulation was cancelled");
        if (run) out_.simulatedInstructions += static_cast<double>(run->counts.warpInstructions);
        return run;
    }

    const KernelProgram& program_;
    const gpusim::Machine& machine_;
    const SampleOptions& options_;
    gpusim::KernelTemplatePtr whole_;
    gpusim::KernelTemplatePtr places_;  ///< whose blocks say what those that run touch
    std::int64_t wave_ = 1;
    WaveTraffic first_, later_;
    gpusim::FirstBurst burst_;
    SampledKernel out_;
};

}  // namespace

bool isRepresented(const KernelProgram& program, const gpusim::Machine& machine) {
    return gpusim::TrafficOfWaves::covers(machine, *program.build(0));
}

Expected<SampledKernel> representedKernel(const KernelProgram& program, const gpusim::Machine& machine,
                                          const SampleOptions& options) {
    return OneForAll(program, machine, options).run();
}

Expected<RepresentedResult> representedResult(const KernelProgram& program, const gpusim::Machine& machine,
                                              const SampleOptions& options) {
    const auto sample = representedKernel(program, machine, options);
    if (!sample) return tl::unexpected(sample.error());
    const auto whole = program.build(0);
    const auto fit = gpusim::occupancy(machine, whole->header());
    RepresentedResult out;
    out.scale = sample->scale, out.simulated = sample->simulatedInstructions, out.how = sample->how;
    out.name = whole->header().name, out.header = whole->header();
    out.blocksThatFit = fit.fits, out.limitedBy = fit.limitedBy, out.blocksPerSm = fit.used, out.l1Bytes = fit.l1Bytes;
    out.cycles = static_cast<std::uint64_t>(std::llround(sample->cycles));
    out.startCycle = 0, out.endCycle = out.cycles;
    out.launchCycles = static_cast<std::uint64_t>(sample->stack.launch);
    out.seconds = sample->cycles / (machine.coreMhz * 1e6);
    out.finishedBlocks = whole->header().blocks();
    out.stack = sample->stack;
    out.stack.idle = std::max(0.0, out.stack.idle + static_cast<double>(out.cycles) - out.stack.total());
    out.intervals = static_cast<std::uint64_t>(std::llround(sample->intervals));
    out.instructions = static_cast<std::uint64_t>(std::llround(sample->pathInstructions));
    out.counts = sample->counts;
    scaleCounts(out.counts, sample->scale, machine.schedulers, sample->cycles * machine.sms);
    out.counts.blocks = static_cast<std::uint64_t>(whole->header().blocks());
    return out;
}

}  // namespace orrery
