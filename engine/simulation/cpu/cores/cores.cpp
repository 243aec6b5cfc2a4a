#include "simulation/cpu/cores/cores.h"

#include <algorithm>

namespace orrery::pipeline {

namespace {

constexpr std::size_t turn = 64;  ///< operations that a core goes on by

}  // namespace

Cores::~Cores() = default;

Cores::Cores(const Chip& chip, const std::vector<int>& places, const std::vector<const std::vector<BoundOp>*>& ops)
    : memories_(std::make_unique<Memories>(chip, others_)), sharedBy_(chip.sharedBy), places_(places) {
    const std::size_t levels = chip.core.caches.size();
    shared_.resize(levels);
    Machine own = chip.core;
    const auto outside = std::ranges::find_if(sharedBy_, [](int cores) { return cores > 1; });
    own.caches.resize(static_cast<std::size_t>(outside - sharedBy_.begin()));
    // From the memories inwards: what a cache misses is asked of the one outside that its cores reach.
    const auto beyond = [&](std::size_t level, int core) -> Beyond& {
        for (std::size_t outer = level; outer < levels; ++outer) {
            if (outer >= own.caches.size()) return *shared_[outer][static_cast<std::size_t>(core / sharedBy_[outer])];
        }
        return *memories_;
    };
    for (std::size_t level = levels; level-- > own.caches.size();) {
        shared_[level].resize(static_cast<std::size_t>(chip.cores / sharedBy_[level]));
        for (const int core : places) {
            const int instance = core / sharedBy_[level], first = instance * sharedBy_[level];
            auto& cache = shared_[level][static_cast<std::size_t>(instance)];
            if (!cache)
                cache = std::make_unique<SharedCache>(chip, static_cast<int>(level), first, beyond(level + 1, first),
                                                      others_);
        }
    }
    cores_.reserve(places.size());
    for (std::size_t i = 0; i < places.size(); ++i)
        cores_.emplace_back(own, *ops[i], beyond(own.caches.size(), places[i]), places[i]);
}

// The core to go on with, and what all others have passed. Those that are done may come back with a next chunk.
std::size_t Cores::least(const std::vector<bool>& done, bool comeBack) {
    std::size_t first = cores_.size();
    std::uint64_t now = ~0ull;
    others_.cycle = ~0ull;
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        if (done[i] && !comeBack) continue;
        const std::uint64_t its = cores_[i].now();
        if (!done[i] && (first == cores_.size() || its < now)) {
            if (first != cores_.size()) others_.cycle = std::min(others_.cycle, now);
            now = its;
            first = i;
        } else {
            others_.cycle = std::min(others_.cycle, its);
        }
    }
    return first;
}

void Cores::run(std::vector<NestStream>& streams, const std::stop_token& stop, const Advanced& advanced,
                const Watched& watched) {
    std::vector<bool> done(cores_.size(), false);
    std::vector<Passage> passages;
    std::uint64_t told = 0;
    for (std::uint64_t turns = 1;; ++turns) {
        const std::size_t core = least(done, false);
        if (core == cores_.size()) break;
        if (!streams[core].next(chunk_, turn)) {
            done[core] = true;
            continue;
        }
        if (watched && core == 0) {
            passages.clear();
            cores_[core].run(chunk_, passages);
            watched(chunk_, passages);
        } else {
            cores_[core].run(chunk_);
        }
        told += chunk_.size;
        if (turns % 1024 != 0) continue;
        if (advanced) advanced(told);
        told = 0;
        if (stop.stop_requested()) break;
    }
    if (advanced && told > 0) advanced(told);
}

void Cores::run(const OpChunk& chunk, const std::vector<std::vector<std::uint64_t>>& shifts,
                std::vector<Passage>* passages) {
    const std::size_t began = passages ? passages->size() : 0;
    if (passages) passages->resize(began + chunk.size);
    std::vector<std::size_t> next(cores_.size(), 0);
    std::vector<bool> done(cores_.size(), chunk.size == 0);
    std::vector<Passage> mine;
    for (;;) {
        const std::size_t core = least(done, true);
        if (core == cores_.size()) break;
        chunk_.size = 0;
        const std::size_t from = next[core], until = std::min(chunk.size, from + turn);
        for (std::size_t i = from; i < until; ++i)
            chunk_.add(chunk.op[i], chunk.address[i] + shifts[core][chunk.op[i]], chunk.taken[i] != 0);
        next[core] = until;
        done[core] = until == chunk.size;
        if (!passages) {
            cores_[core].run(chunk_);
            continue;
        }
        mine.clear();
        cores_[core].run(chunk_, mine);
        for (std::size_t i = from; i < until; ++i) (*passages)[began + i].retire += mine[i - from].retire;
    }
    if (!passages) return;
    for (std::size_t i = began; i < passages->size(); ++i) (*passages)[i].retire /= cores_.size();
}

void Cores::warm(const OpChunk& chunk, const std::vector<std::vector<std::uint64_t>>& shifts) {
    for (std::size_t from = 0; from < chunk.size; from += turn) {
        const std::size_t until = std::min(chunk.size, from + turn);
        for (std::size_t core = 0; core < cores_.size(); ++core) {
            chunk_.size = 0;
            for (std::size_t i = from; i < until; ++i)
                chunk_.add(chunk.op[i], chunk.address[i] + shifts[core][chunk.op[i]], chunk.taken[i] != 0);
            cores_[core].warm(chunk_);
        }
    }
}

void Cores::align() {
    std::uint64_t last = 0;
    for (const Pipeline& core : cores_) last = std::max(last, core.counters().cycles);
    for (Pipeline& core : cores_) core.holdUntil(last);
}

CoreResult Cores::result(std::size_t index) const {
    CoreResult result;
    result.core = places_[index];
    result.counters = cores_[index].counters();
    for (std::size_t level = 0; level < shared_.size(); ++level) {
        if (shared_[level].empty()) continue;
        const SharedCounts& counts =
            shared_[level][static_cast<std::size_t>(result.core / sharedBy_[level])]->counts(result.core);
        result.shared[level] = counts;
        result.counters.memory.hits[level] = counts.hits;
        result.counters.memory.misses[level] = counts.misses;
        result.counters.memory.prefetches[level] = counts.prefetches;
    }
    result.use = memories_->use(result.core);
    result.counters.memory.memoryReads = result.use.reads;
    result.counters.memory.memoryWrites = result.use.writes;
    return result;
}

std::uint64_t SplitRun::cycles() const {
    std::uint64_t last = 0;
    for (const CoreResult& core : cores) last = std::max(last, core.counters.cycles);
    return last;
}

std::array<double, causeCount> SplitRun::stack(double& idle) const {
    std::array<double, causeCount> mean{};
    idle = 0;
    const double last = static_cast<double>(cycles()),
                 share = 1.0 / static_cast<double>(std::max<std::size_t>(1, cores.size()));
    for (const CoreResult& core : cores) {
        const auto stack = core.counters.stack();
        for (std::size_t c = 0; c < causeCount; ++c) mean[c] += share * stack[c];
        idle += share * (last - static_cast<double>(core.counters.cycles));
    }
    return mean;
}

double SplitRun::bytesMoved() const {
    std::uint64_t lines = 0;
    for (const CoreResult& core : cores) lines += core.use.reads + core.use.writes;
    return 64.0 * static_cast<double>(lines);
}

namespace {

// On as many of these places as there are parts.
Expected<SplitRun> runParts(std::vector<KernelPart> parts, const Chip& chip, const std::vector<int>& places,
                            const SplitOptions& options) {
    SplitRun run;
    run.parts = std::move(parts);
    std::vector<LoopNest> nests;
    std::vector<const LoopNest*> all;
    nests.reserve(run.parts.size());
    for (const KernelPart& part : run.parts) {
        auto nest = nestOf(part.spec, chip.core);
        if (!nest) return Unexpected(nest.error());
        run.operations += nest->length();
        nests.push_back(std::move(*nest));
        all.push_back(&nests.back());
    }
    const std::uint64_t apart = copyBytes(all);
    std::vector<std::vector<BoundOp>> bound;
    std::vector<const std::vector<BoundOp>*> ops;
    std::vector<NestStream> streams;
    bound.reserve(nests.size());
    streams.reserve(nests.size());
    for (std::size_t i = 0; i < nests.size(); ++i) {
        const KernelPart& part = run.parts[i];
        const auto copies = copiesOf(nests[i], part.spec.kernel, part.row, part.column, static_cast<std::int64_t>(i));
        nests[i] = shifted(std::move(nests[i]), copies, apart);
        bound.push_back(boundOps(chip.core, nests[i].ops));
        ops.push_back(&bound.back());
        streams.emplace_back(nests[i]);
    }
    std::vector<int> used(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(nests.size()));
    Cores cores(chip, used, ops);
    std::stop_source cut;
    const std::stop_callback passOn(options.stop, [&] { cut.request_stop(); });
    std::uint64_t done = 0;
    const std::uint64_t most = options.longest > 0 ? std::min(options.longest, run.operations) : run.operations;
    Cores::Watched watched;
    if (options.watched)
        watched = [&](const OpChunk& chunk, const std::vector<Passage>& passages) {
            options.watched(nests.front(), chunk, passages);
        };
    cores.run(
        streams, cut.get_token(),
        [&](std::uint64_t more) {
            done += more;
            if (options.advanced) options.advanced(std::min(done, most), most);
            if (options.longest > 0 && done >= options.longest) cut.request_stop();
        },
        watched);
    for (std::size_t i = 0; i < cores.size(); ++i) run.cores.push_back(cores.result(i));
    return run;
}

}  // namespace

Expected<SplitRun> runSplit(const KernelSpec& kernel, const Chip& chip, int cores, Binding binding,
                            const SplitOptions& options) {
    if (auto sound = check(chip); !sound) return Unexpected(sound.error());
    auto parts = partsOf(kernel, chip.core, std::clamp(cores, 1, chip.cores));
    // Places of the cores that run: those of more would leave out the last ones and lie closer than asked.
    const auto places = placesOf(chip, static_cast<int>(parts.size()), binding);
    return runParts(std::move(parts), chip, places, options);
}

Expected<SplitRun> runSplit(const KernelSpec& kernel, const Chip& chip, const std::vector<int>& places,
                            const SplitOptions& options) {
    if (auto sound = check(chip); !sound) return Unexpected(sound.error());
    return runParts(partsOf(kernel, chip.core, static_cast<int>(places.size())), chip, places, options);
}

}  // namespace orrery::pipeline
