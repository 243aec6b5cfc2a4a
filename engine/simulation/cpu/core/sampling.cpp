#include "simulation/cpu/core/sampling.h"

#include "base/random.h"
#include "simulation/cpu/core/kernel_start.h"
#include "simulation/cpu/core/strata.h"
#include "simulation/sampling/signatures.h"
#include "simulation/sampling/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery::pipeline {

namespace {

class OneCore final : public SampleRunner {
public:
    OneCore(const LoopNest& nest, const Machine& machine, const KernelStart& start)
        : ops_(boundOps(machine, nest.ops)), core_(machine, ops_) {
        standIn(core_.memory(), nest, start);
    }
    void warm(const OpChunk& chunk) override { core_.warm(chunk); }
    void run(const OpChunk& chunk) override { core_.run(chunk); }
    void run(const OpChunk& chunk, std::vector<Passage>& passages) override { core_.run(chunk, passages); }
    Counters counters() const override { return core_.counters(); }

private:
    std::vector<BoundOp> ops_;
    Pipeline core_;
};

// Simulates units where they lie, each behind what warms it.
class UnitRunner {
public:
    UnitRunner(const LoopNest& nest, SampleRunner& core, const SampleOptions& options, SampleResult& result)
        : options_(options), result_(result), core_(core), stream_(nest) {}

    /// Cycles per operation of the unit that begins at this operation. Units come in ascending order.
    double measure(std::uint64_t at) {
        warm(at);
        run(stream_, chunk_, at);
        const auto first = core_.counters();
        run(stream_, chunk_, std::max(at, stream_.position()) + options_.unit);
        return count(first);
    }
    /// Cycles per operation of those that belong to a stratum, in units that may overlap.
    struct Unit {
        std::uint64_t at, end;
        int stratum;
        std::uint64_t cycles = 0, operations = 0;
    };
    void measure(std::vector<Unit>& units, const std::vector<int>& stratumOf) {
        std::sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) { return a.at < b.at; });
        for (std::size_t first = 0, behind = 0; first < units.size() && !options_.stop.stop_requested();
             first = behind) {
            warm(units[first].at);
            const auto before = core_.counters();
            std::uint64_t last = before.cycles > 0 ? before.cycles - 1 : 0, end = units[first].end;
            for (behind = first + 1; stream_.position() < end;) {
                // Those that begin before this one's end are measured with it.
                for (; behind < units.size() && units[behind].at < end; ++behind)
                    end = std::max(end, units[behind].end);
                std::uint64_t position = stream_.position();
                if (!next(stream_, chunk_, end)) break;
                passages_.clear();
                core_.run(chunk_, passages_);
                result_.simulated += chunk_.size;
                for (std::size_t i = 0; i < chunk_.size; ++i, ++position) {
                    const std::uint64_t cycles = passages_[i].retire - last;
                    last = passages_[i].retire;
                    for (std::size_t u = first; u < behind && units[u].at <= position; ++u) {
                        if (position >= units[u].end || stratumOf[chunk_.op[i]] != units[u].stratum) continue;
                        units[u].cycles += cycles, ++units[u].operations;
                    }
                }
            }
            count(before);
        }
    }
    double instructionsPerOperation() const { return counted_ > 0 ? instructions_ / counted_ : 1; }

private:
    // Fills caches and predictor up to the detailed operations before this one.
    void warm(std::uint64_t at) {
        const std::uint64_t before = options_.detailed + options_.warmed;
        const std::uint64_t detailedFrom = at > options_.detailed ? at - options_.detailed : 0;
        // From where the unit before ended if that is near enough, so that nothing is passed over.
        // Never back: what was simulated would be found in the caches.
        if (stream_.position() + before < at) stream_.seek(at - before);
        while (stream_.position() < detailedFrom) {
            const std::uint64_t from = stream_.position();
            stream_.nextTouching(chunk_, detailedFrom);
            if (stream_.position() == from) break;
            core_.warm(chunk_);
            result_.warmed += stream_.position() - from;
        }
    }
    // Cycles per operation since then.
    double count(const Counters& first) {
        const auto last = core_.counters();
        const auto operations = last.operations - first.operations;
        if (operations == 0) return std::numeric_limits<double>::quiet_NaN();
        instructions_ += static_cast<double>(last.instructions - first.instructions);
        counted_ += static_cast<double>(operations);
        return static_cast<double>(last.cycles - first.cycles) / static_cast<double>(operations);
    }
    bool next(NestStream& stream, OpChunk& chunk, std::uint64_t until) {
        const auto left = std::clamp<std::uint64_t>(until - stream.position(), 1, OpChunk::capacity);
        return stream.next(chunk, static_cast<std::size_t>(left));
    }
    void run(NestStream& stream, OpChunk& chunk, std::uint64_t until) {
        while (stream.position() < until && next(stream, chunk, until)) {
            core_.run(chunk);
            result_.simulated += chunk.size;
        }
    }
    const SampleOptions& options_;
    SampleResult& result_;
    SampleRunner& core_;
    NestStream stream_;
    OpChunk chunk_;
    std::vector<Passage> passages_;
    double instructions_ = 0, counted_ = 0;
};

// Cycles per operation of the whole, from units of each stratum. A unit is drawn by a random operation of the stratum
// that falls anywhere in it, so as often as it has such operations: the mean of cycles per such operation is that of
// the stratum (Hansen and Hurwitz, 1943).
struct OfStrata {
    double mean = 0, half = 0;
    std::uint64_t units = 0;
    std::size_t strata = 0;
};

// Student's t of two draws is 12.7, of five 2.8 (95 %): a rare stratum of two would set the interval of the whole.
constexpr std::int64_t leastOfStratum = 5;

OfStrata ofStrata(const LoopNest& nest, UnitRunner& runner, const SampleOptions& options, std::uint64_t units,
                  std::uint64_t unit, RandomStream& random) {
    const Strata strata(nest);
    const auto& operations = strata.operations();
    // Half by number, half by its root: rare strata are drawn more often, for some of them are slow.
    double roots = 0;
    for (const double each : operations) roots += std::sqrt(each);
    std::vector<UnitRunner::Unit> drawn;
    for (std::size_t s = 0; s < strata.count(); ++s) {
        const double part = (operations[s] / static_cast<double>(nest.length()) + std::sqrt(operations[s]) / roots) / 2;
        const std::int64_t share = std::llround(static_cast<double>(units) * part);
        const auto count = std::max(leastOfStratum, share);
        for (std::int64_t i = 0; i < count; ++i) {
            const double when = (static_cast<double>(i) + random.uniform()) / static_cast<double>(count);
            const std::uint64_t op = strata.draw(s, when, random), before = random.below(unit);
            drawn.push_back({op - std::min(op, before), op + unit - before, static_cast<int>(s)});
        }
    }
    runner.measure(drawn, strata.of());
    std::vector<std::vector<double>> means(strata.count());
    for (const auto& each : drawn) {
        if (each.operations > 0)
            means[static_cast<std::size_t>(each.stratum)].push_back(static_cast<double>(each.cycles) /
                                                                    static_cast<double>(each.operations));
    }
    OfStrata result;
    result.strata = strata.count();
    const auto all = static_cast<double>(nest.length());
    std::vector<SampleStratum> measured;
    for (std::size_t s = 0; s < strata.count(); ++s) {
        result.units += means[s].size();
        measured.push_back({std::move(means[s]), operations[s] / all});
    }
    const auto total = totalOf(measured, options.confidence);
    result.mean = total.total, result.half = total.half;
    return result;
}

// The run cut into stretches of equal length but for the last, and how often each operation ran in each of them,
// projected at random to 15 dimensions.
struct Profile {
    std::vector<std::uint64_t> starts, lengths;  ///< operations
    std::vector<Signature> points;
};

Profile profile(const LoopNest& nest, std::uint64_t interval, std::uint64_t seed, const std::stop_token& stop) {
    RandomStream random(seed, 1);
    std::vector<Signature> directions(nest.ops.size());
    for (Signature& each : directions) each = signatureDirection(random);
    Profile profile;
    std::vector<std::uint32_t> counts(nest.ops.size(), 0);
    std::uint64_t start = 0, ran = 0;
    const auto close = [&] {
        Signature& point = profile.points.emplace_back(Signature{});
        for (std::size_t op = 0; op < counts.size(); ++op) {
            if (counts[op] == 0) continue;
            addTo(point, directions[op], counts[op] / static_cast<double>(ran));
            counts[op] = 0;
        }
        profile.starts.push_back(start);
        profile.lengths.push_back(ran);
        start += ran;
        ran = 0;
    };
    NestStream stream(nest);
    OpChunk chunk;
    while (!stop.stop_requested() &&
           stream.next(chunk, static_cast<std::size_t>(std::min<std::uint64_t>(OpChunk::capacity, interval - ran)))) {
        for (std::size_t i = 0; i < chunk.size; ++i) ++counts[chunk.op[i]];
        ran += chunk.size;
        if (ran >= interval) close();
    }
    if (ran > 0) close();
    return profile;
}

}  // namespace

SampleResult sampled(const LoopNest& nest, const Machine& machine, const SampleOptions& options) {
    OneCore core(nest, machine, options.start);
    return sampled(nest, core, options);
}

SampleResult sampled(const LoopNest& nest, SampleRunner& core, const SampleOptions& options) {
    SampleResult result;
    const std::uint64_t length = nest.length();
    result.operations = length;
    const std::uint64_t units = std::max<std::uint64_t>(2, options.units),
                        unit = std::max<std::uint64_t>(1, options.unit);
    UnitRunner runner(nest, core, options, result);
    if (length < 4 * units * (unit + options.detailed)) {
        NestStream stream(nest);
        OpChunk chunk;
        while (!options.stop.stop_requested() && stream.next(chunk)) core.run(chunk);
        const auto counts = core.counters();
        result.simulated = counts.operations;
        result.cpi = result.low = result.high =
            static_cast<double>(counts.cycles) / static_cast<double>(std::max<std::uint64_t>(1, counts.operations));
        result.instructionsPerOperation = static_cast<double>(counts.instructions) /
                                          static_cast<double>(std::max<std::uint64_t>(1, counts.operations));
        result.whole = true;
        return result;
    }
    RandomStream random(options.seed, 7);
    SampleMean mean{0, 0};
    if (options.kind == SampleKind::Smarts) {
        std::vector<double> drawn;
        for (std::uint64_t i = 0; i < units && !options.stop.stop_requested(); ++i) {
            const std::uint64_t from = length / units * i;
            const double cpi = runner.measure(from + random.below(std::max<std::uint64_t>(1, length / units - unit)));
            if (std::isfinite(cpi)) drawn.push_back(cpi);
        }
        mean = meanOf(drawn, options.confidence);
        result.units = drawn.size();
    } else if (options.kind == SampleKind::Loops) {
        const auto found = ofStrata(nest, runner, options, units, unit, random);
        mean = {found.mean, found.half};
        result.units = found.units, result.clusters = static_cast<int>(found.strata);
    } else {
        const std::uint64_t interval = std::max<std::uint64_t>(10 * unit, length / 2000);
        const auto parts = profile(nest, interval, options.seed, options.stop);
        const auto of = clustersOf(parts.points, options.seed);
        const auto members = membersOf(of);
        const std::size_t clusters = members.size();
        result.clusters = static_cast<int>(clusters);
        std::vector<std::uint64_t> operations(clusters, 0);
        for (std::size_t i = 0; i < of.size(); ++i) operations[of[i]] += parts.lengths[i];
        const auto profiled =
            std::max<std::uint64_t>(1, std::accumulate(operations.begin(), operations.end(), std::uint64_t{0}));
        // All places first, for units are measured in their order.
        std::vector<std::pair<std::uint64_t, std::size_t>> places;
        for (std::size_t c = 0; c < clusters; ++c) {
            const auto count = members[c].size();
            const auto wanted = std::max<std::uint64_t>(2, (units * count + of.size() / 2) / of.size());
            for (std::uint64_t i = 0; i < wanted && count > 0; ++i) {
                const std::size_t part = members[c][random.below(count)];
                const auto room = parts.lengths[part] > unit ? parts.lengths[part] - unit : 0;
                places.emplace_back(std::min(parts.starts[part] + random.below(room + 1), length - unit), c);
            }
        }
        std::sort(places.begin(), places.end());
        std::vector<std::vector<double>> drawn(clusters);
        for (const auto& [at, c] : places) {
            if (options.stop.stop_requested()) break;
            const double cpi = runner.measure(at);
            if (std::isfinite(cpi)) drawn[c].push_back(cpi);
        }
        std::vector<SampleStratum> measured;
        for (std::size_t c = 0; c < clusters; ++c) {
            result.units += drawn[c].size();
            measured.push_back(
                {std::move(drawn[c]), static_cast<double>(operations[c]) / static_cast<double>(profiled)});
        }
        const auto total = totalOf(measured, options.confidence);
        mean = {total.total, total.half};
    }
    result.cpi = mean.mean;
    result.low = std::max(0.0, mean.mean - mean.half);
    result.high = mean.mean + mean.half;
    result.instructionsPerOperation = runner.instructionsPerOperation();
    return result;
}

}  // namespace orrery::pipeline
