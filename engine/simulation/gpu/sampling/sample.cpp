#include "simulation/gpu/sampling/sample.h"

#include "simulation/gpu/gpu.h"
#include "simulation/gpu/occupancy.h"
#include "simulation/gpu/sampling/sampled_source.h"
#include "simulation/gpu/sampling/wave_signatures.h"
#include "simulation/sampling/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery::gpusim {

namespace {

constexpr std::array<std::string_view, 2> kinds{"smarts", "simpoint"};
constexpr std::size_t kernelsOfCluster = 3;  // of a list, that are simulated
// What spread and drift do not tell, as a share of what is estimated: 95 of 100 samples of seven template kernels were
// off by at most 2.9 % beyond them (../README.md).
constexpr double outOfStep = 0.03;

double squared(double x) {
    return x * x;
}

// Blocks fall out of step over many waves, and what is simulated has fewer of them than the whole. Where later units
// still differ from earlier ones, all may be as far from where the run settles: half of what the later half has moved.
double driftOf(const std::vector<double>& drawn) {
    if (drawn.size() < 2) return 0;
    const auto half = static_cast<std::ptrdiff_t>(drawn.size() / 2);
    const double n = static_cast<double>(half);
    const double early = std::accumulate(drawn.begin(), drawn.begin() + half, 0.0) / n;
    const double late = std::accumulate(drawn.end() - half, drawn.end(), 0.0) / n;
    return std::fabs(late - early) / 2;
}

// By how much all units that were drawn may be off alike, each for each.
double notDrawn(const std::vector<double>& drawn) {
    return std::hypot(driftOf(drawn), outOfStep * meanOf(drawn, 0).mean);
}

class Sampler {
public:
    Sampler(const Machine& machine, const SampleOptions& sample, const SimulateOptions& options)
        : machine_(machine), sample_(sample), options_(options) {
        options_.placements = &placed_;
        gpu_ = std::make_unique<Gpu>(machine_, options_);
    }
    Gpu& gpu() { return *gpu_; }

    Expected<std::vector<Wave>> wavesOfKernel(const KernelSource& source) const {
        const auto fit = occupancy(machine_, source.header());
        if (fit.fits < 1) return doesNotFit(machine_, source.header().name, source.path());
        // Waves of whole clusters: what they can stand on is a multiple of one.
        const int sms = smsOfClusters(machine_, clusterOf(machine_, source.header()));
        const std::int64_t blocks = source.header().blocks(), places = std::int64_t{fit.fits} * sms;
        // A header may state any grid: no plan is laid for one that no file or run comes to the end of.
        if (blocks > std::numeric_limits<int>::max() || blocks / places > mostWaves)
            return fail(
                "gpu.sample", fmt::format("'{}' has {} blocks, {} at a time", source.header().name, blocks, places),
                fmt::format("at most {} blocks and {} waves of them", std::numeric_limits<int>::max(), mostWaves),
                "is the grid of the header right? a shorter kernel can be sampled", {source.path(), 0, 0, {}});
        return wavesOf(blocks, places);
    }
    Expected<WaveSignatures> signaturesOf(const OpenKernel& open) const {
        auto source = open();
        if (!source) return tl::unexpected(source.error());
        const auto waves = wavesOfKernel(**source);
        if (!waves) return tl::unexpected(waves.error());
        return readSignatures(**source, *waves, sample_.seed, options_.stop);
    }

    /// `which`: of the list. `known`: its signatures, if they were read.
    Expected<SampledResult> run(const OpenKernel& open, std::uint64_t which, const WaveSignatures* known = nullptr) {
        auto source = open();
        if (!source) return tl::unexpected(source.error());
        auto waves = wavesOfKernel(**source);
        if (!waves) return tl::unexpected(waves.error());
        if (waves->size() > 1) {
            WaveSignatures own;
            if (sample_.kind == SampleKind::SimPoint && !known) {
                auto read = signaturesOf(open);
                if (!read) return tl::unexpected(read.error());
                own = std::move(*read), known = &own;
            }
            auto units = unitsFor(open, *waves, known);
            if (!units) return tl::unexpected(units.error());
            RandomStream random = RandomStream(sample_.seed, 7).split(which);
            if (sample_.kind == SampleKind::SimPoint)
                drawAlike(*waves, known->waves, known->instructions, *units, sample_.seed, random);
            else
                drawRandom(*waves, *units, random);
        }
        return simulated(**source, *waves);
    }

private:
    Expected<std::int64_t> unitsFor(const OpenKernel& open, const std::vector<Wave>& waves,
                                    const WaveSignatures* known) const {
        if (sample_.mostInstructions <= 0) return sample_.units;
        const auto n = static_cast<double>(waves.size());
        double each = known ? known->all / n : 0;
        if (!known) {
            auto source = open();
            if (!source) return tl::unexpected(source.error());
            TraceBlock block;
            const auto got = (*source)->next(block, {0, 1});
            if (!got) return tl::unexpected(got.error());
            each = static_cast<double>(block.instructions.size()) * static_cast<double>(waves.front().blocks);
        }
        // Each with its neighbours, and the first and the last with one.
        const auto kept =
            std::count_if(waves.begin(), waves.end(), [](const Wave& w) { return w.use == WaveUse::Kept; });
        const double room = sample_.mostInstructions / std::max(1.0, each) - static_cast<double>(kept) - 2;
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(room / 3), 1, sample_.units);
    }

    Expected<SampledResult> simulated(KernelSource& source, const std::vector<Wave>& waves) {
        const bool passes =
            std::any_of(waves.begin(), waves.end(), [](const Wave& one) { return one.use == WaveUse::Passed; });
        SampledSource part(source, waves);
        auto at = gpu_->launch(passes ? static_cast<KernelSource&>(part) : source);
        if (!at) return tl::unexpected(at.error());
        const auto ended = gpu_->untilOneEnds();
        if (!ended) return tl::unexpected(ended.error());
        SampledResult out{gpu_->resultOf(*at)};
        out.simulated = out.instructions = static_cast<double>(out.counts.warpInstructions);
        out.waves = static_cast<std::int64_t>(waves.size());
        for (const Wave& one : waves) {
            out.simulatedWaves += one.use != WaveUse::Passed, out.measuredWaves += one.use == WaveUse::Measured;
            out.clusters = std::max(out.clusters, one.stratum + 1);
        }
        out.estimate = out.low = out.high = static_cast<double>(out.cycles);
        if (!passes || out.stopped) return out;
        out.ran = out;
        out.header = source.header();
        extrapolate(out, waves, part.instructions());
        return out;
    }

    // While all P places are taken, a wave costs the mean, over its blocks, of the time from a block's placement to
    // that of the P-th after it. Over all blocks this telescopes, so with nothing passed it is the run itself.
    void extrapolate(SampledResult& out, const std::vector<Wave>& waves, const std::vector<double>& instructions) {
        const std::int64_t places = waves.front().blocks;
        std::vector<double> took(waves.size(), 0);
        std::size_t block = 0;
        double passed = 0, beside = 0;
        std::int64_t passedBlocks = 0;
        for (std::size_t w = 0; w + 1 < waves.size(); ++w) {
            if (waves[w].use == WaveUse::Passed) {
                passed += instructions[w], passedBlocks += waves[w].blocks;
                continue;
            }
            for (std::int64_t b = 0; b < places; ++b, ++block)
                took[w] += static_cast<double>(placed_[block + static_cast<std::size_t>(places)] - placed_[block]);
            took[w] /= static_cast<double>(places);
            if (waves[w].use == WaveUse::Beside) beside += took[w];
        }
        std::vector<SampleStratum> strata(static_cast<std::size_t>(out.clusters));
        for (std::size_t w = 0; w < waves.size(); ++w) {
            if (waves[w].stratum < 0) continue;
            SampleStratum& one = strata[static_cast<std::size_t>(waves[w].stratum)];
            const auto rate = [&](std::size_t at) { return took[at] / std::max(1.0, instructions[at]); };
            if (waves[w].use == WaveUse::Measured) {
                one.drawn.push_back(rate(w));
                one.varianceOfOne = squared(rate(w) - rate(w - 1)) / 2;  // the one in front is a second draw
            } else {
                one.weight += instructions[w], one.squares += squared(instructions[w]);
            }
        }
        for (SampleStratum& one : strata) one.drift = notDrawn(one.drawn);
        const auto total = totalOf(strata, sample_.confidence);
        const double launch = machine_.blockLaunchLatency * static_cast<double>(passedBlocks);
        out.launchCycles += static_cast<std::uint64_t>(launch);
        // What stands beside a jump finds the machine as no wave of the whole does: it is estimated too.
        const double known = out.estimate + launch - beside;
        out.estimate = known + total.total;
        out.low = known + std::max(0.0, total.total - total.half), out.high = out.estimate + total.half;
        out.instructions += passed;
        out.finishedBlocks = out.header.blocks();
        scaleTo(out, machine_);
    }

public:
    /// Counts and cycles of what was simulated, to those of the whole.
    static void scaleTo(SampledResult& out, const Machine& machine) {
        const double counted = static_cast<double>(out.counts.warpInstructions);
        out.cycles = static_cast<std::uint64_t>(std::llround(out.estimate));
        out.endCycle = out.startCycle + out.cycles;
        out.seconds = out.estimate / (machine.coreMhz * 1e6);
        scaleCounts(out.counts, out.instructions / std::max(1.0, counted), machine.schedulers,
                    out.estimate * machine.sms);
        out.counts.blocks = static_cast<std::uint64_t>(out.header.blocks());
    }

private:
    const Machine& machine_;
    const SampleOptions& sample_;
    SimulateOptions options_;
    std::vector<std::uint64_t> placed_;
    std::unique_ptr<Gpu> gpu_;
};

// Kernels of a list: those that stand for others, and the others.
class ListSampler {
public:
    ListSampler(const Machine& machine, const std::vector<TraceCommand>& commands, const SampleOptions& sample,
                const SimulateOptions& options)
        : machine_(machine),
          commands_(commands),
          sample_(sample),
          options_(options),
          sampler_(machine, sample, options) {}

    Expected<SampledList> run() {
        for (const TraceCommand& one : commands_) {
            if (one.kind == TraceCommand::Kind::Kernel) files_.push_back(&one.file);
        }
        simulates_.assign(files_.size(), true), cluster_.assign(files_.size(), -1);
        if (auto fine = oneAtATime(); !fine) return tl::unexpected(fine.error());
        if (sample_.kind == SampleKind::SimPoint && files_.size() > 1) {
            if (auto fine = choose(); !fine) return tl::unexpected(fine.error());
        }
        std::size_t kernel = 0;
        for (const TraceCommand& one : commands_) {
            if (one.kind == TraceCommand::Kind::Copy) {
                sampler_.gpu().copy(one.address, one.bytes);
                continue;
            }
            auto done = simulates_[kernel] ? sampler_.run(opener(kernel), kernel, known(kernel)) : passed(kernel);
            if (!done) return tl::unexpected(done.error());
            out_.kernels.push_back(std::move(*done));
            ++kernel;
        }
        total();
        return std::move(out_);
    }

private:
    OpenKernel opener(std::size_t kernel) const {
        return [this, kernel]() -> Expected<std::unique_ptr<KernelSource>> {
            auto trace = KernelTrace::open(*files_[kernel], machine_);
            if (!trace) return tl::unexpected(trace.error());
            return std::make_unique<KernelTrace>(std::move(*trace));
        };
    }
    const WaveSignatures* known(std::size_t kernel) const {
        return signatures_.empty() ? nullptr : &signatures_[kernel];
    }

    Expected<bool> oneAtATime() const {
        if (machine_.concurrentKernels < 2) return true;
        std::optional<std::uint64_t> stream;
        for (std::size_t k = 0; k < files_.size(); ++k) {
            auto source = opener(k)();
            if (!source) return tl::unexpected(source.error());
            const auto own = (*source)->header().stream;
            if (stream.value_or(own) != own)
                return fail("gpu.sample",
                            "kernels of several streams may run side by side, and a sample is of one at a "
                            "time",
                            "kernels of one stream, or a machine that runs one at a time",
                            "-gpgpu_concurrent_kernel_sm 0", {*files_[k], 0, 0, {}});
            stream = own;
        }
        return true;
    }

    // The first one finds caches that no other finds, and stands for itself.
    Expected<bool> choose() {
        std::vector<Signature> points;
        for (std::size_t k = 0; k < files_.size(); ++k) {
            auto read = sampler_.signaturesOf(opener(k));
            if (!read) return tl::unexpected(read.error());
            if (k > 0) points.push_back(read->kernel);
            signatures_.push_back(std::move(*read));
        }
        auto members = membersOf(clustersOf(points, sample_.seed));
        out_.clusters = static_cast<int>(members.size());
        RandomStream random(sample_.seed, 11);
        for (std::size_t c = 0; c < members.size(); ++c) {
            const std::size_t n = members[c].size(), count = std::min(n, kernelsOfCluster);
            for (std::size_t& at : members[c]) ++at, cluster_[at] = static_cast<int>(c), simulates_[at] = false;
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t from = n * i / count, end = n * (i + 1) / count;
                simulates_[members[c][from + random.below(end - from)]] = true;
            }
        }
        return true;
    }

    Expected<SampledResult> passed(std::size_t kernel) {
        auto source = opener(kernel)();
        if (!source) return tl::unexpected(source.error());
        auto waves = sampler_.wavesOfKernel(**source);
        if (!waves) return tl::unexpected(waves.error());
        SampledResult out;
        out.header = (*source)->header(), out.name = out.header.name;
        const auto fit = occupancy(machine_, out.header);
        out.blocksThatFit = fit.fits, out.blocksPerSm = fit.used, out.limitedBy = fit.limitedBy;
        out.l1Bytes = fit.l1Bytes;
        out.launchCycles =
            static_cast<std::uint64_t>(machine_.launchLatency) +
            static_cast<std::uint64_t>(machine_.blockLaunchLatency) * static_cast<std::uint64_t>(out.header.blocks());
        out.finishedBlocks = out.header.blocks();
        out.instructions = signatures_[kernel].all;
        if (auto fine = sampler_.gpu().pass(**source); !fine) return tl::unexpected(fine.error());
        return out;
    }

    static double running(const SampledResult& one) { return one.estimate - static_cast<double>(one.launchCycles); }

    // Kernels that passed cost their launch, and as much per warp instruction as those that stand for them.
    void total() {
        std::vector<SampleStratum> strata(static_cast<std::size_t>(out_.clusters));
        std::vector<std::size_t> example(strata.size(), 0);
        const auto stratumOf = [&](std::size_t k) { return static_cast<std::size_t>(cluster_[k]); };
        for (std::size_t k = 0; k < out_.kernels.size(); ++k) {
            if (cluster_[k] < 0) continue;
            const SampledResult& one = out_.kernels[k];
            SampleStratum& stratum = strata[stratumOf(k)];
            if (one.stoodFor())
                stratum.weight += one.instructions, stratum.squares += squared(one.instructions);
            else
                stratum.drawn.push_back(running(one) / std::max(1.0, one.instructions)), example[stratumOf(k)] = k;
        }
        for (SampleStratum& one : strata) one.drift = notDrawn(one.drawn);
        double variance = squared(totalOf(strata, sample_.confidence).half);
        std::uint64_t clock = 0;
        for (std::size_t k = 0; k < out_.kernels.size(); ++k) {
            SampledResult& one = out_.kernels[k];
            if (one.stoodFor()) {
                const SampleStratum& own = strata[stratumOf(k)];
                const auto alone = totalOf(
                    std::array{SampleStratum{own.drawn, one.instructions, squared(one.instructions), 0, own.drift}},
                    sample_.confidence);
                const auto launch = static_cast<double>(one.launchCycles);
                one.estimate = launch + alone.total;
                one.low = launch + std::max(0.0, alone.total - alone.half), one.high = one.estimate + alone.half;
                one.counts = out_.kernels[example[stratumOf(k)]].counts;
                Sampler::scaleTo(one, machine_);
            } else {
                // What is not known of it is not known of those that it stands for.
                double stands = 1;
                if (cluster_[k] >= 0 && one.instructions > 0) {
                    const SampleStratum& own = strata[stratumOf(k)];
                    stands += own.weight / static_cast<double>(own.drawn.size()) / one.instructions;
                }
                variance += squared(stands * (one.high - one.low) / 2);
                ++out_.simulatedKernels;
            }
            one.startCycle = clock, one.endCycle = clock += one.cycles;
            out_.estimate += one.estimate;
            out_.instructions += one.instructions, out_.simulated += one.simulated;
        }
        const double half = std::sqrt(variance);
        out_.low = std::max(0.0, out_.estimate - half), out_.high = out_.estimate + half;
    }

    const Machine& machine_;
    const std::vector<TraceCommand>& commands_;
    const SampleOptions& sample_;
    const SimulateOptions& options_;
    Sampler sampler_;
    std::vector<const std::string*> files_;
    std::vector<char> simulates_;
    std::vector<int> cluster_;
    std::vector<WaveSignatures> signatures_;
    SampledList out_;
};

}  // namespace

std::string_view toText(SampleKind kind) {
    return kinds[static_cast<std::size_t>(kind)];
}

std::optional<SampleKind> sampleKindOf(std::string_view text) {
    const auto* at = std::find(kinds.begin(), kinds.end(), text);
    return at == kinds.end() ? std::nullopt : std::optional(static_cast<SampleKind>(at - kinds.begin()));
}

Expected<SampledResult> sampleKernel(const Machine& machine, const OpenKernel& open, const SampleOptions& sample,
                                     const SimulateOptions& options) {
    return Sampler(machine, sample, options).run(open, 0);
}

Expected<SampledList> sampleKernels(const Machine& machine, const std::vector<TraceCommand>& commands,
                                    const SampleOptions& sample, const SimulateOptions& options) {
    return ListSampler(machine, commands, sample, options).run();
}

}  // namespace orrery::gpusim
