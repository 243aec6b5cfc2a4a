#include "methods/gpu/gpu_watch.h"

#include "methods/gpu/machine_part.h"
#include "simulation/gpu/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace orrery {

namespace {

constexpr int mostShare = 8, fewestSms = 8;

class OpCount final : public gpusim::WarpSink {
public:
    double count = 0;
    void op(int, gpusim::LaneMask, unsigned) override { ++count; }
    void access(int, gpusim::LaneMask lanes, std::span<const std::uint64_t>) override { count += lanes != 0; }
};

// With an SM recorded: `run(how)` is the simulation.
template <class Run>
Expected<WatchedKernel> watched(const WatchOptions& options, const Run& run) {
    gpusim::Recorder recorder(options.record);
    gpusim::SimulateOptions how;
    how.stop = options.stop, how.mostCycles = options.mostCycles;
    how.recorder = &recorder, how.progress = options.progress;
    how.keepsStopped = options.keepsStopped;
    auto result = run(how);
    if (!result) {
        if (result.error().code == "gpu.stopped") return fail("study.cancelled", "the simulation was stopped");
        return tl::unexpected(result.error());
    }
    // Stopped before the first block could start: there is nothing to show.
    if (result->stopped && result->cycles <= result->launchCycles)
        return fail("study.cancelled", "the simulation was stopped");
    WatchedKernel out;
    out.result = *result;
    out.recording = std::make_shared<const gpusim::Recording>(recorder.take());
    if constexpr (std::is_same_v<std::decay_t<decltype(*result)>, gpusim::SampledResult>) {
        if (result->ran) out.result = std::move(*result->ran), result->ran.reset();
        out.sample = std::move(*result);
    }
    return out;
}

Expected<WatchedKernel> watch(gpusim::KernelSource& source, const gpusim::Machine& machine,
                              const WatchOptions& options) {
    return watched(options, [&](const gpusim::SimulateOptions& how) { return gpusim::simulate(machine, source, how); });
}

Expected<WatchedKernel> drawn(const gpusim::OpenKernel& open, const gpusim::Machine& machine,
                              const gpusim::SampleOptions& sample, const WatchOptions& options) {
    auto out = watched(
        options, [&](const gpusim::SimulateOptions& how) { return gpusim::sampleKernel(machine, open, sample, how); });
    if (!out) return out;
    out->machine = machine;
    const gpusim::SampledResult& all = *out->sample;
    WatchedPart& part = out->part;
    part.allBlocks = all.header.blocks();
    part.waves = static_cast<double>(part.allBlocks) / std::max(1.0, 1.0 * all.blocksThatFit * machine.sms);
    part.instructions = all.simulated, part.allInstructions = all.instructions;
    if (all.whole() || all.stopped) {
        part.blocks = part.allBlocks;
        out->sample.reset();
        return out;
    }
    const std::int64_t passed = all.waves - all.simulatedWaves;
    part.blocks = part.allBlocks - passed * all.blocksThatFit * machine.sms;
    return out;
}

}  // namespace

double l2Cycles(const WatchedKernel& seen) {
    const auto& l2 = seen.result.counts.l2;
    const double peak = seen.recording->l2Peak;
    return peak > 0 ? static_cast<double>(l2.reads + l2.writes) / peak : 0;
}
double dramCycles(const WatchedKernel& seen) {
    const auto& counts = seen.result.counts;
    const double peak = seen.recording->dramPeak;
    return peak > 0 ? static_cast<double>(counts.dramReads + counts.dramWrites) / peak : 0;
}

std::string WatchedPart::text() const {
    if (whole()) return "the whole kernel";
    std::string out =
        blocks == allBlocks
            ? "all blocks"
            : fmt::format("{} of {} blocks, {:.3g} of {:.3g} waves", blocks, allBlocks,
                          waves * static_cast<double>(blocks * share) / static_cast<double>(allBlocks), waves);
    if (steps < allSteps) out += fmt::format(", {} of {} steps of the main loop", steps, allSteps);
    if (share > 1) out += fmt::format(", on 1/{} of the machine", share);
    return out;
}

Expected<WatchedPart> watchedPart(const KernelProgram& program, const gpusim::Machine& machine, double instructions) {
    const auto kernel = program.build(0);
    const auto fit = gpusim::occupancy(machine, kernel->header());
    if (fit.fits < 1) return gpusim::doesNotFit(machine, kernel->header().name, {});
    WatchedPart out;
    out.allBlocks = out.blocks = kernel->header().blocks();
    out.allSteps = out.steps = program.steps;
    OpCount count;
    for (int w = 0; w < kernel->header().warps(); ++w) kernel->warp(out.allBlocks / 2, w, count);
    const double each = std::max(1.0, count.count);
    out.allInstructions = out.instructions = each * static_cast<double>(out.allBlocks);
    const std::int64_t wave = std::int64_t{fit.fits} * machine.sms;
    out.waves = static_cast<double>(out.allBlocks) / static_cast<double>(wave);
    if (out.instructions <= instructions) return out;
    const double ofWave = each * static_cast<double>(wave);
    out.blocks =
        std::min(out.allBlocks, wave * std::max<std::int64_t>(1, std::llround(std::floor(instructions / ofWave))));
    double left = each * static_cast<double>(out.blocks);
    if (left > instructions && out.allSteps > 2 * program.fewest) {
        const double perStep = left / static_cast<double>(out.allSteps);
        out.steps = std::clamp<std::int64_t>(static_cast<std::int64_t>(instructions / perStep), 2 * program.fewest,
                                             out.allSteps);
        left = perStep * static_cast<double>(out.steps);
    }
    while (left / out.share > instructions && out.share < mostShare && machine.sms / (2 * out.share) >= fewestSms)
        out.share *= 2;
    if (out.share > 1) {
        const std::int64_t whole = out.blocks;
        out.blocks =
            std::clamp<std::int64_t>(std::int64_t{fit.fits} * smsOfPart(machine, out.share, *kernel), 1, whole);
        left *= static_cast<double>(out.blocks) / static_cast<double>(whole);
    }
    out.instructions = left;
    return out;
}

Expected<WatchedKernel> watchKernel(const KernelProgram& program, const gpusim::Machine& machine,
                                    const WatchedPart& part, const WatchOptions& options) {
    const auto kernel = program.build(part.steps < part.allSteps ? part.steps : 0);
    const gpusim::Machine own = partOfMachine(machine, part.share, *program.build(0)).machine;
    auto source = gpusim::TemplateSource::open(kernel, own, {{0, part.blocks}});
    if (!source) return tl::unexpected(source.error());
    if (options.progress)
        options.progress->setTotal(options.progress->total() + static_cast<std::uint64_t>(part.instructions));
    auto out = watch(*source, own, options);
    if (!out) return out;
    out->part = part, out->machine = own;
    return out;
}

Expected<WatchedKernel> watchSample(const KernelProgram& program, const gpusim::Machine& machine,
                                    const gpusim::SampleOptions& sample, const WatchOptions& options) {
    const auto kernel = program.build(0);
    const auto open = [&]() -> Expected<std::unique_ptr<gpusim::KernelSource>> {
        auto source = gpusim::TemplateSource::open(kernel, machine);
        if (!source) return tl::unexpected(source.error());
        return std::make_unique<gpusim::TemplateSource>(std::move(*source));
    };
    if (options.progress)
        options.progress->setTotal(options.progress->total() + static_cast<std::uint64_t>(sample.mostInstructions));
    return drawn(open, machine, sample, options);
}

Expected<WatchedKernel> watchSample(const std::string& file, const gpusim::Machine& machine,
                                    const gpusim::SampleOptions& sample, const WatchOptions& options) {
    const auto open = [&]() -> Expected<std::unique_ptr<gpusim::KernelSource>> {
        auto source = gpusim::KernelTrace::open(file, machine);
        if (!source) return tl::unexpected(source.error());
        return std::make_unique<gpusim::KernelTrace>(std::move(*source));
    };
    return drawn(open, machine, sample, options);
}

Expected<WatchedKernel> watchTrace(const std::string& file, const gpusim::Machine& machine,
                                   const WatchOptions& options) {
    auto source = gpusim::KernelTrace::open(file, machine);
    if (!source) return tl::unexpected(source.error());
    auto out = watch(*source, machine, options);
    if (!out) return out;
    WatchedPart& part = out->part;
    part.blocks = part.allBlocks = source->header().blocks();
    part.instructions = part.allInstructions = static_cast<double>(out->result.counts.warpInstructions);
    part.waves =
        static_cast<double>(part.blocks) / std::max(1.0, static_cast<double>(out->result.blocksThatFit) * machine.sms);
    out->machine = machine;
    return out;
}

}  // namespace orrery
