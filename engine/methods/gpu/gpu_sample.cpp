#include "methods/gpu/gpu_sample.h"

#include "methods/gpu/gpu_represented.h"
#include "methods/gpu/machine_part.h"
#include "simulation/gpu/interval/interval_run.h"
#include "simulation/gpu/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

using gpusim::BlockRange;
using gpusim::KernelResult;

constexpr int mostParts = 8, leastSms = 8;

class SampleCount final : public gpusim::WarpSink {
public:
    double count = 0;
    void op(int, gpusim::LaneMask, unsigned) override { ++count; }
    void access(int, gpusim::LaneMask lanes, std::span<const std::uint64_t>) override { count += lanes != 0; }
};

// Lines of 128 bytes that loads of global memory touch.
class FootprintSink final : public gpusim::WarpSink {
public:
    explicit FootprintSink(const gpusim::KernelTemplate& kernel) {
        for (const auto& one : kernel.instructions())
            reads_.push_back(one.opcode.starts_with("LDG") || one.opcode.starts_with("global_load"));
    }
    void op(int, gpusim::LaneMask, unsigned) override {}
    void access(int instruction, gpusim::LaneMask, std::span<const std::uint64_t> addresses) override {
        if (!reads_[static_cast<std::size_t>(instruction)]) return;
        for (const std::uint64_t address : addresses) {
            if (lines_.empty() || lines_.back() != address >> 7) lines_.push_back(address >> 7);
        }
    }
    double distinct() {
        std::sort(lines_.begin(), lines_.end());
        lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
        return static_cast<double>(lines_.size());
    }

private:
    std::vector<char> reads_;
    std::vector<std::uint64_t> lines_;
};

double distinctLines(const gpusim::KernelTemplate& kernel, std::int64_t blocks) {
    FootprintSink sink(kernel);
    for (std::int64_t b = 0; b < blocks; ++b) {
        for (int w = 0; w < kernel.header().warps(); ++w) kernel.warp(b, w, sink);
    }
    return sink.distinct();
}

// One block in the middle stands for all; those of a triangle differ. Counting ends above `most`.
double instructionsOfBlock(const gpusim::KernelTemplate& kernel, double most) {
    SampleCount sink;
    const int warps = kernel.header().warps();
    for (int w = 0; w < warps && sink.count <= most; ++w) kernel.warp(kernel.header().blocks() / 2, w, sink);
    return sink.count;
}

class Sampler {
public:
    Sampler(const KernelProgram& program, const gpusim::Machine& machine, const SampleOptions& options)
        : program_(program), machine_(machine), options_(options) {}

    Expected<SampledKernel> run() {
        const auto kernel = program_.build(0);
        const std::int64_t blocks = kernel->header().blocks();
        const auto fit = gpusim::occupancy(machine_, kernel->header());
        if (fit.fits < 1) return gpusim::doesNotFit(machine_, kernel->header().name, {});
        out_.blocks = static_cast<double>(blocks), out_.blocksPerSm = fit.used;
        const std::int64_t wave = std::int64_t{fit.fits} * machine_.sms;
        out_.waves = static_cast<double>(blocks) / static_cast<double>(wave);
        out_.steps = out_.simulatedSteps = static_cast<double>(program_.steps);
        const double each = instructionsOfBlock(*kernel, std::numeric_limits<double>::infinity());
        out_.instructions = each * static_cast<double>(blocks);
        if (out_.instructions <= options_.instructions) {
            const auto all = simulated(kernel, {{0, blocks}});
            if (!all) return tl::unexpected(all.error());
            out_.cycles = static_cast<double>(all->cycles);
            out_.counts = all->counts, scale_ = 1;
            out_.how = "all blocks were simulated";
            return finished();
        }
        out_.whole = false;
        if (options_.waves) {
            const auto drawn = drawnWaves(kernel, each * static_cast<double>(wave));
            if (!drawn) return tl::unexpected(drawn.error());
            if (*drawn) return finished();
        }
        // A part of the machine with its share of channels, slices and blocks, where a wave of all is too much.
        const double loop =
            program_.steps > 0
                ? std::min(1.0, 2.0 * static_cast<double>(program_.fewest) / static_cast<double>(program_.steps))
                : 1;
        const double least = each * static_cast<double>(std::min(blocks, wave)) * loop;
        while (part_ < mostParts && least / part_ > options_.instructions / 2 && machine_.sms / (2 * part_) >= leastSms)
            part_ *= 2;
        // Blocks are as many of all as multiprocessors and memory are, so that waves stay as full.
        double share = 1;
        if (part_ > 1) {
            const MachinePart part = partOfMachine(machine_, part_, *kernel);
            machine_ = part.machine, share = part.share;
            const auto first = static_cast<double>(std::min(blocks, wave));
            shareReuse(std::min(blocks, wave), static_cast<std::int64_t>(std::ceil(first * share - 1e-9)));
        }
        return sampled(static_cast<std::int64_t>(std::ceil(static_cast<double>(blocks) * share - 1e-9)),
                       std::int64_t{fit.fits} * machine_.sms, each);
    }

private:
    // False where the budget has no room for the first wave, one that is measured and the last, with their neighbours,
    // and where the kernel has more waves than a sample may have.
    Expected<bool> drawnWaves(const gpusim::KernelTemplatePtr& kernel, double ofWave) {
        const double fewest = 6 + std::clamp(std::floor(out_.waves / 8), 1.0, 16.0);
        if (options_.intervals || out_.waves < fewest + 1 || options_.instructions < fewest * ofWave) return false;
        const auto open = [&]() -> Expected<std::unique_ptr<gpusim::KernelSource>> {
            auto source = gpusim::TemplateSource::open(kernel, machine_);
            if (!source) return tl::unexpected(source.error());
            return std::make_unique<gpusim::TemplateSource>(std::move(*source));
        };
        gpusim::SampleOptions how;
        how.kind = *options_.waves, how.mostInstructions = options_.instructions;
        gpusim::SimulateOptions options;
        options.stop = options_.stop, options.mostCycles = options_.mostCycles, options.resident = options_.resident;
        auto run = gpusim::sampleKernel(machine_, open, how, options);
        if (!run && run.error().code == "gpu.stopped") return fail("study.cancelled", "the simulation was cancelled");
        if (!run && run.error().code == "gpu.sample") return false;
        if (!run) return tl::unexpected(run.error());
        out_.cycles = run->estimate, out_.low = run->low, out_.high = run->high;
        out_.counts = run->counts, scale_ = 1;
        out_.instructions = run->instructions, out_.simulatedInstructions = run->simulated;
        out_.how = fmt::format("{} of {} waves were simulated, {} of them drawn for the others ({})",
                               run->simulatedWaves, run->waves, run->measuredWaves, gpusim::toText(how.kind));
        return true;
    }

    // Blocks of a whole wave share rows and columns that a part of it each brings in for itself: main memory and L2 are
    // as much larger than their even share as a block of the part fetches more.
    void shareReuse(std::int64_t wave, std::int64_t part) {
        if (program_.steps <= 0 || part < 1 || part >= wave) return;
        const auto kernel = program_.build(std::min(program_.fewest, program_.steps));
        const double all = distinctLines(*kernel, wave) / static_cast<double>(wave);
        const double own = distinctLines(*kernel, part) / static_cast<double>(part);
        if (all <= 0 || own <= all) return;
        refetch_ = own / all;
        machine_.dramMhz *= refetch_;
        machine_.l2.ways = static_cast<int>(std::lround(machine_.l2.ways * refetch_));
    }

    Expected<SampledKernel> sampled(std::int64_t blocks, std::int64_t wave, double each) {
        const std::int64_t full = blocks / wave, rest = blocks % wave;
        const std::int64_t first = std::min(blocks, wave);
        // Lengths of the main loop that the budget allows for one wave; of three simulations of it the longer one takes
        // half of all.
        const std::int64_t steps = program_.steps;
        std::int64_t longer = steps, shorter = 0;
        if (steps > 2 * program_.fewest) {
            const double perStep = each * static_cast<double>(first) / static_cast<double>(steps);
            longer = std::clamp<std::int64_t>(static_cast<std::int64_t>(options_.instructions / 2 / perStep),
                                              2 * program_.fewest, steps);
            shorter = std::clamp<std::int64_t>(longer / 2, program_.fewest, longer - 1);
        }
        const bool cut = longer < steps;
        const auto loop = [&](std::int64_t length) { return program_.build(cut ? length : 0); };
        const auto timed = [&](std::int64_t length, std::vector<BlockRange> ranges) -> Expected<double> {
            const auto kernel = loop(length);
            auto run = simulated(kernel, std::move(ranges));
            if (!run) return tl::unexpected(run.error());
            last_ = run->counts;
            return static_cast<double>(run->cycles);
        };
        auto one = timed(longer, {{0, first}});
        if (!one) return tl::unexpected(one.error());
        out_.counts = last_;
        double base = *one, atFirst = *one;
        scale_ = out_.instructions / std::max(1.0, static_cast<double>(last_.warpInstructions));
        if (cut) {
            auto less = timed(shorter, {{0, first}});
            if (!less) return tl::unexpected(less.error());
            const double slope = std::max(0.0, *one - *less) / static_cast<double>(longer - shorter);
            atFirst = *one + static_cast<double>(steps - longer) * slope;
            base = *less;
        }
        double next = atFirst;
        if (full + (rest > 0 ? 1 : 0) > 1) {
            const std::int64_t two = std::min(blocks, 2 * wave);
            auto both = timed(cut ? shorter : longer, {{0, two}});
            if (!both) return tl::unexpected(both.error());
            next = laterWave(base, *both - base, atFirst - base, shorter, steps);
            if (full < 2) {
                // The second wave is the last, and what it costs was simulated.
                out_.cycles = atFirst + next;
                return told(longer, cut, 2);
            }
        }
        double cycles = atFirst + static_cast<double>(full - 1) * next;
        if (rest > 0) {
            auto tail = timed(cut ? shorter : longer, {{full * wave, rest}});
            if (!tail) return tl::unexpected(tail.error());
            cycles += next * std::min(1.0, *tail / base);
        }
        out_.cycles = cycles;
        return told(longer, cut, std::clamp<std::int64_t>(full, 1, 2));
    }
    Expected<SampledKernel> told(std::int64_t steps, bool cut, std::int64_t waves) {
        out_.simulatedSteps = static_cast<double>(steps);
        out_.how = fmt::format("{} of {:.1f} waves{}{} were simulated, the rest is extrapolated{}", waves, out_.waves,
                               part_ > 1 ? fmt::format(" on 1/{} of the machine", part_) : "",
                               cut ? fmt::format(" with {} of {} steps", steps, program_.steps) : "",
                               options_.waves && !options_.intervals
                                   ? fmt::format(" (no room for a sample by {})", gpusim::toText(*options_.waves))
                                   : "");
        return finished();
    }
    SampledKernel finished() {
        out_.scale = scale_, out_.part = part_;
        const double sector = 32 * scale_;
        out_.dramBytes = sector * (static_cast<double>(out_.counts.dramReads) / refetch_ +
                                   static_cast<double>(out_.counts.dramWrites));
        out_.l2Bytes = sector * static_cast<double>(out_.counts.l2.reads + out_.counts.l2.writes);
        return out_;
    }
    Expected<KernelResult> byIntervals(gpusim::KernelSource& source, const gpusim::SimulateOptions& options) {
        auto run = gpusim::simulateIntervals(machine_, source, options);
        if (!run) return tl::unexpected(run.error());
        return KernelResult(std::move(*run));
    }
    Expected<KernelResult> simulated(const gpusim::KernelTemplatePtr& kernel, std::vector<BlockRange> ranges) {
        if (options_.stop.stop_requested()) return fail("study.cancelled", "the simulation was cancelled");
        auto source = gpusim::TemplateSource::open(kernel, machine_, std::move(ranges));
        if (!source) return tl::unexpected(source.error());
        gpusim::SimulateOptions options;
        options.stop = options_.stop, options.mostCycles = options_.mostCycles;
        options.resident = options_.resident;
        auto run = options_.intervals ? byIntervals(*source, options) : gpusim::simulate(machine_, *source, options);
        if (!run && run.error().code == "gpu.stopped") return fail("study.cancelled", "the simulation was cancelled");
        if (run) out_.simulatedInstructions += static_cast<double>(run->counts.warpInstructions);
        return run;
    }

    const KernelProgram& program_;
    gpusim::Machine machine_;
    const SampleOptions& options_;
    int part_ = 1;
    double refetch_ = 1;  ///< lines that a block of the part brings in, of those in the whole machine
    SampledKernel out_;
    gpusim::Counters last_;
    double scale_ = 1;
};

}  // namespace

double instructionsToSimulate(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& machine, double most) {
    const auto program = programOf(kernel, gpu, machine);
    if (!program) return 0;
    const auto whole = program->build(0);
    const auto blocks = static_cast<double>(whole->header().blocks());
    return std::min(most, blocks * instructionsOfBlock(*whole, most / blocks));
}

std::vector<gpusim::MemoryRange> residentOperands(const gpusim::KernelTemplate& kernel, double cacheBytes, int copies) {
    using Role = gpusim::TemplateOperand::Role;
    std::vector<gpusim::MemoryRange> out;
    if (copies < 1) return out;
    double once = 0, weights = 0;
    for (const auto& operand : kernel.operands()) {
        once += operand.bytes;
        if (operand.role == Role::Weights) weights += operand.bytes;
    }
    for (const auto& operand : kernel.operands()) {
        if (operand.role == Role::Output) continue;
        // One copy of the weights comes between two uses of an input, all of them between two uses of a copy.
        const double between = operand.role == Role::Weights ? once + (copies - 1) * weights : once;
        if (between <= cacheBytes) out.push_back({operand.first, static_cast<std::uint64_t>(operand.bytes)});
    }
    return out;
}

double laterWave(double atShorter, double extra, double grown, std::int64_t shorter, std::int64_t steps) {
    extra = std::clamp(extra, 0.05 * atShorter, 1.5 * atShorter);
    if (grown <= 0 || shorter < 1 || steps <= shorter) return extra;
    const double ofShorter = grown / static_cast<double>(steps - shorter) * static_cast<double>(shorter);
    return extra + grown * std::min(1.0, extra / ofShorter);
}

Expected<SampledKernel> sampleKernel(const KernelProgram& program, const gpusim::Machine& machine,
                                     const SampleOptions& options) {
    if (options.intervals && isRepresented(program, machine)) return representedKernel(program, machine, options);
    return Sampler(program, machine, options).run();
}

}  // namespace orrery
