#include "simulation/gpu/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery::gpusim {

Gpu::Gpu(const Machine& machine, const SimulateOptions& options)
    : machine_(machine),
      options_(options),
      map_(machine),
      requests_(machine.sms, 0, machine.slices(), machine.sms + machine.slices(), machine.networkBuffers),
      replies_(machine.slices(), machine.sms, machine.sms, machine.sms + machine.slices(), machine.networkBuffers),
      coreStep_(1 / machine.coreMhz),
      networkStep_(1 / machine.networkMhz),
      l2Step_(1 / machine.l2Mhz),
      dramStep_(1 / machine.dramMhz),
      resident_(options.resident),
      requestsAt_(static_cast<std::size_t>(machine.slices()), false),
      repliesAt_(static_cast<std::size_t>(machine.sms), false),
      seatOf_(static_cast<std::size_t>(machine.sms)),
      wakes_(static_cast<std::size_t>(machine.sms), never),
      // Who watches one SM, and what every slice looks up, want one thread.
      crew_(options.recorder || !options.resident.empty() ? 1
                                                          : std::min({options.threads, machine.sms, machine.channels})),
      body_([this](std::size_t member) { shared(member); }),
      parts_(crew_.size()) {
    for (int i = 0; i < machine.slices(); ++i) slices_.emplace_back(machine, map_);
    for (int c = 0; c < machine.channels; ++c) {
        std::vector<Slice*> own;
        for (int i = 0; i < machine.slicesPerChannel; ++i)
            own.push_back(&slices_[static_cast<std::size_t>(c * machine.slicesPerChannel + i)]);
        channels_.emplace_back(machine, map_, std::move(own));
    }
    for (int i = 0; i < machine.sms; ++i) sms_.emplace_back(machine, map_, i, requests_);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const auto at = [&](std::size_t all, std::size_t part) { return all * part / parts_.size(); };
        parts_[i].firstSeat = smAt_.size();
        for (std::size_t id = i; id < sms_.size(); id += parts_.size()) seatOf_[id] = smAt_.size(), smAt_.push_back(id);
        parts_[i].endSeat = smAt_.size();
        parts_[i].firstChannel = at(channels_.size(), i), parts_[i].endChannel = at(channels_.size(), i + 1);
        parts_[i].memory.resize(1);
    }
    lastPlaced_ = machine.sms - 1;
    keepResident();
}

void Gpu::copy(std::uint64_t address, std::uint64_t bytes) {
    if (!machine_.warmsByCopies) return;
    const std::uint64_t kept = keptOfCopy(machine_);
    for (std::uint64_t at = bytes > kept ? (bytes - kept) / 32 * 32 : 0; at < bytes; at += 32) {
        std::uint64_t sector = (address + at) & ~std::uint64_t{31};
        if (options_.cutsCopyAddresses) sector &= 0xffffffffull;
        const auto slice = map_.spot(sector).slice;
        // Of several L2 nobody knows which will ask.
        if (machine_.dies > 1)
            channels_[slice / static_cast<unsigned>(machine_.slicesPerChannel)].warm(sector);
        else
            slices_[slice].cache.warm(sector, map_.l2Set(sector), copied_++);
    }
}

void Gpu::keepResident() {
    if (resident_.empty()) return;
    if (machine_.dies < 2) {
        for (Slice& slice : slices_) slice.resident = &resident_;
        return;
    }
    // Every L2 is emptied between kernels; the cache behind them keeps what it has.
    for (const MemoryRange& range : options_.resident) {
        for (std::uint64_t at = 0; at < range.bytes; at += 32) {
            const auto slice = map_.spot(range.first + at).slice;
            channels_[slice / static_cast<unsigned>(machine_.slicesPerChannel)].warm(range.first + at);
        }
    }
}

// Dies take blocks in turn, from the first on in every kernel, and what one wrote another may read: every L2 is written
// back and emptied between kernels (LLVM, memory model of gfx942).
void Gpu::emptyDies() {
    lastPlaced_ = machine_.sms - 1, lastPlacedAtStart_ = -1;
    for (std::size_t i = 0; i < slices_.size(); ++i) {
        slices_[i].cache.flush([&](std::uint64_t address, int sectors) {
            channels_[i / static_cast<std::size_t>(machine_.slicesPerChannel)].warm(address, true, sectors);
        });
    }
}

Expected<std::size_t> Gpu::launch(KernelSource& source) {
    const auto free = std::find(kernels_.begin(), kernels_.end(), nullptr);
    const auto at = static_cast<std::size_t>(free - kernels_.begin());
    auto kernel = std::make_unique<Running>();
    KernelResult& out = kernel->out;
    out.header = source.header();
    out.name = out.header.name;
    const auto fit = occupancy(machine_, out.header);
    if (fit.fits < 1) return doesNotFit(machine_, out.name, source.path());
    out.blocksThatFit = fit.fits, out.blocksPerSm = fit.used, out.limitedBy = fit.limitedBy, out.l1Bytes = fit.l1Bytes;
    kernel->source = &source, kernel->mostPerSm = fit.used;
    if (machine_.modernCore && out.header.cluster > 1) {
        const int most = mostOfCluster(machine_);
        // What is written for a drawing runs on it, pair or not.
        const bool isTemplate = source.path().empty();
        if (out.header.cluster > most && !isTemplate) {
            return fail("gpu.kernel", fmt::format("'{}' runs in clusters of {} blocks", out.name, out.header.cluster),
                        most < 2 ? fmt::format("no clusters: {} has none", machine_.generation.name)
                                 : fmt::format("at most {} blocks, on one GPC", most),
                        "choose a generation that has them (hopper, blackwell)", {source.path(), 0, 0, {}});
        }
        kernel->cluster = clusterOf(machine_, out.header);
    }
    kernel->blocks = out.header.blocks();
    out.launchCycles =
        static_cast<std::uint64_t>(machine_.launchLatency) +
        static_cast<std::uint64_t>(machine_.blockLaunchLatency) * static_cast<std::uint64_t>(kernel->blocks);
    kernel->order = launches_++;
    kernel->begin = core_, kernel->opens = core_ + out.launchCycles;
    if (running_ == 0) statics_.clear(), told_ = polls_ = 0;
    for (Sm& sm : sms_) sm.begin(at, out.header, fit, running_ == 0), sm.use(statics_);
    for (Part& part : parts_) {
        if (at >= part.memory.size()) part.memory.resize(at + 1);
        part.memory[at] = {};
    }
    if (Recorder* recorder = options_.recorder) {
        const int which = std::clamp(recorder->sm(), 0, machine_.sms - 1);
        sms_[static_cast<std::size_t>(which)].recorder = recorder;
        recorder->begin(machine_, source, kernel->opens);
    }
    if (options_.placements) options_.placements->clear();
    if (machine_.dies > 1) emptyDies();
    if (free == kernels_.end())
        kernels_.push_back(std::move(kernel));
    else
        *free = std::move(kernel);
    ++running_;
    if (running_ > 1) {
        for (const auto& one : kernels_) {
            if (one) one->out.overlaps = true;
        }
    }
    mayPlace_ = true;
    return at;
}

KernelResult Gpu::resultOf(std::size_t at) {
    Running& kernel = *kernels_[at];
    KernelResult out = std::move(kernel.out);
    out.startCycle = kernel.begin, out.endCycle = core_;
    out.cycles = core_ - kernel.begin;
    out.finishedBlocks = static_cast<std::int64_t>(kernel.finished);
    out.seconds = static_cast<double>(out.cycles) / (machine_.coreMhz * 1e6);
    for (const Part& part : parts_) out.counts.add(part.memory[at]);
    for (const Sm& sm : sms_) out.counts.add(sm.counts[at]);
    kernels_[at].reset();
    --running_;
    return out;
}

void Gpu::tellProgress() {
    std::uint64_t issued = 0;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
        if (!kernels_[k]) continue;
        for (const Sm& sm : sms_) issued += sm.counts[k].warpInstructions;
    }
    if (issued > told_) options_.progress->advance(issued - told_);
    told_ = issued;
}

// Every thousandth step; false: stopped, with all that run in `ended`.
Expected<bool> Gpu::poll(std::vector<std::size_t>& ended) {
    if (options_.progress) tellProgress();
    if (options_.stop.stop_requested()) {
        if (!options_.keepsStopped) return fail("gpu.stopped", "stopped before the end of a kernel");
        for (std::size_t k = 0; k < kernels_.size(); ++k) {
            if (kernels_[k]) kernels_[k]->out.stopped = true, ended.push_back(k);
        }
        return false;
    }
    for (const auto& kernel : kernels_) {
        if (!kernel || options_.mostCycles == 0 || core_ - kernel->begin <= options_.mostCycles) continue;
        return fail("gpu.cycles", fmt::format("'{}' runs longer than {} cycles", kernel->out.name, options_.mostCycles),
                    {}, "raise --cycles", {kernel->source->path(), 0, 0, {}});
    }
    return true;
}

void Gpu::countFinished(std::vector<std::size_t>& ended) {
    std::uint64_t now = 0;
    for (Part& part : parts_) now += part.finished, part.finished = 0;
    if (now == 0) return;
    mayPlace_ = true;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
        if (!kernels_[k]) continue;
        Running& kernel = *kernels_[k];
        kernel.finished = 0;
        for (const Sm& sm : sms_) kernel.finished += sm.finishedBlocks(k);
        if (static_cast<std::int64_t>(kernel.finished) == kernel.blocks) ended.push_back(k);
    }
}

Expected<std::vector<std::size_t>> Gpu::untilOneEnds() {
    Expected<std::vector<std::size_t>> out;
    crew_.run([&] { out = advance(); }, body_);
    return out;
}

Expected<std::vector<std::size_t>> Gpu::advance() {
    std::vector<std::size_t> ended;
    while (true) {
        if (++polls_ % 1024 == 0) {
            const auto goes = poll(ended);
            if (!goes) return tl::unexpected(goes.error());
            if (!*goes) break;
        }
        if (!step()) continue;
        if (options_.recorder) tellRecorder();
        if (clusters_.any()) passNotes();
        // The core's counter has gone on: what was core_ - 1 is done.
        countFinished(ended);
        const auto placed = place();
        if (!placed) return tl::unexpected(placed.error());
        if (!*placed) {
            if (const auto goes = poll(ended); !goes) return tl::unexpected(goes.error());
            break;
        }
        if (!ended.empty()) break;
        if (!skip()) {
            const auto stuck =
                std::find_if(kernels_.begin(), kernels_.end(), [](const auto& one) { return one != nullptr; });
            return fail("gpu.kernel",
                        fmt::format("'{}' waits for ever after {} cycles", (*stuck)->out.name, core_ - (*stuck)->begin),
                        {}, "a barrier that not all warps reach, or a trace cut by hand",
                        {(*stuck)->source->path(), 0, 0, {}});
        }
    }
    if (options_.recorder) options_.recorder->end(core_);
    return ended;
}

void Gpu::tellRecorder() {
    options_.recorder->memory(core_ - 1, parts_.front().memory.front());
}

// The kernel whose blocks are handed out: the one that was, while it has some, else the one that was launched first. So
// a kernel waits until all blocks of those before it are placed, as real GPUs do: Amert et al., "GPU scheduling on the
// NVIDIA TX2: hidden details revealed", RTSS 2017. Accel-Sim takes them in turn, by the places that they have.
std::optional<std::size_t> Gpu::next() {
    const auto has = [&](std::size_t k) {
        return kernels_[k] && kernels_[k]->placed < kernels_[k]->blocks && core_ > kernels_[k]->opens;
    };
    const std::size_t n = kernels_.size();
    if (machine_.modernCore) {
        if (lastIssued_ < n && has(lastIssued_)) return lastIssued_;
        std::optional<std::size_t> first;
        for (std::size_t k = 0; k < n; ++k) {
            if (has(k) && (!first || kernels_[k]->order < kernels_[*first]->order)) first = k;
        }
        if (first) lastIssued_ = *first;
        return first;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = (lastIssued_ + i) % n;
        if (has(k)) return lastIssued_ = k;
    }
    return std::nullopt;
}

// Each SM takes at most one block a cycle, around from the one after the last. False: stopped while blocks passed.
Expected<bool> Gpu::place() {
    if (!mayPlace_) return true;
    auto which = next();
    // With none open, the next one's opening lies ahead.
    if (!which) return true;
    bool any = false;
    if (kernels_[*which]->cluster > 1) {
        auto done = placeClusters(*kernels_[*which], *which, any);
        if (!done || !*done) return done;
        mayPlace_ = any || std::any_of(kernels_.begin(), kernels_.end(),
                                       [&](const auto& one) { return one && core_ <= one->opens; });
        return true;
    }
    for (int i = 0; i < machine_.sms && which; ++i) {
        const int id = (lastPlacedAtStart_ + 1 + i) % machine_.sms;
        if (!sms_[static_cast<std::size_t>(id)].hasRoom(*which)) continue;
        auto done = placeOn(id, *kernels_[*which], *which);
        if (!done || !*done) return done;
        lastPlaced_ = id;
        any = true;
        which = next();
    }
    if (any)
        lastPlacedAtStart_ = lastPlaced_;
    else
        mayPlace_ =
            std::any_of(kernels_.begin(), kernels_.end(), [&](const auto& one) { return one && core_ <= one->opens; });
    return true;
}

Expected<bool> Gpu::placeOn(int id, Running& kernel, std::size_t at) {
    Sm& sm = sms_[static_cast<std::size_t>(id)];
    const auto threads = static_cast<std::uint64_t>(kernel.out.header.warps() * machine_.lanes);
    const auto sms = static_cast<std::uint64_t>(machine_.sms);
    // Kernels that run at the same time have their thread-local memory apart.
    const LocalPlace local{
        threads * (static_cast<std::uint64_t>(id) + sms * static_cast<std::uint64_t>(sm.freeSlot())) +
            (static_cast<std::uint64_t>(at) << 32),
        threads * static_cast<std::uint64_t>(kernel.mostPerSm) * sms};
    auto got = kernel.source->next(block_, local);
    for (; got && *got && block_.passes; got = kernel.source->next(block_, local)) {
        // Millions of blocks may pass before the next one that runs.
        if (options_.stop.stop_requested()) return false;
        pass(block_, kernel.source->statics());
    }
    if (!got) return got;
    if (!*got) {
        return fail("gpu.trace", fmt::format("the trace has {} of {} thread blocks", kernel.placed, kernel.blocks), {},
                    "was the file copied whole?", {kernel.source->path(), 0, 0, {}});
    }
    merge(kernel, block_);
    if (options_.placements) options_.placements->push_back(core_);
    sm.place(at, block_, kernel.source->code(), core_ - 1);
    wakes_[seatOf_[static_cast<std::size_t>(id)]] = sm.wakesAt();
    ++kernel.placed;
    return true;
}

// All blocks of a cluster in one cycle, each on an SM of its own, around from the GPC after the last.
Expected<bool> Gpu::placeClusters(Running& kernel, std::size_t at, bool& any) {
    const int groups = gpcOf(machine_, machine_.sms - 1) + 1;
    std::vector<int> free;
    const int from = lastGroup_ + 1;
    for (int i = 0; i < groups && kernel.placed < kernel.blocks; ++i) {
        const int group = (from + i) % groups;
        free.clear();
        for (int id = 0; id < machine_.sms; ++id) {
            if (gpcOf(machine_, id) == group && sms_[static_cast<std::size_t>(id)].hasRoom(at)) free.push_back(id);
        }
        // Where least is, so that an odd number of SMs leaves none without.
        std::stable_sort(free.begin(), free.end(), [&](int a, int b) {
            return sms_[static_cast<std::size_t>(a)].blocks() < sms_[static_cast<std::size_t>(b)].blocks();
        });
        for (std::size_t next = 0; kernel.placed < kernel.blocks;) {
            const auto members =
                static_cast<std::size_t>(std::min<std::int64_t>(kernel.cluster, kernel.blocks - kernel.placed));
            if (next + members > free.size()) break;
            const std::uint32_t cluster = clusters_.open(kernel.out.header.warps());
            std::array<int, 16> slots{};
            for (std::size_t rank = 0; rank < members; ++rank) {
                const int id = free[next + rank];
                slots[rank] = sms_[static_cast<std::size_t>(id)].freeSlot();
                auto done = placeOn(id, kernel, at);
                if (!done || !*done) return done;
                clusters_.add(cluster, {id, slots[rank]});
            }
            // Of a trace it is known once all of them have been read.
            const auto& statics = kernel.source->statics();
            kernel.sharesCopies = kernel.sharesCopies || std::any_of(statics.begin(), statics.end(),
                                                                     [](const auto& one) { return one.multicast; });
            for (std::size_t rank = 0; rank < members; ++rank) {
                sms_[static_cast<std::size_t>(free[next + rank])].join(
                    slots[rank], {cluster, static_cast<std::uint8_t>(rank), static_cast<std::uint8_t>(members),
                                  kernel.sharesCopies});
            }
            next += members;
            lastGroup_ = group, any = true;
        }
    }
    return true;
}

// What blocks of clusters did in the last cycle, to the others of theirs.
void Gpu::passNotes() {
    const auto barrier = static_cast<unsigned>(machine_.generation.clusters.barrier);
    for (Sm& sm : sms_) {
        for (const ClusterNote& note : sm.notes) {
            clusters_.take(note, core_ - 1, barrier, [&](int to, const ClusterWord& word) {
                Sm& receiver = sms_[static_cast<std::size_t>(to)];
                receiver.hear(word);
                wakes_[seatOf_[static_cast<std::size_t>(to)]] = receiver.wakesAt();
            });
        }
        sm.notes.clear();
    }
}

// SMs hold blocks of several kernels, and look up the instructions of all in one list.
void Gpu::merge(Running& kernel, TraceBlock& block) {
    const auto& own = kernel.source->statics();
    for (std::size_t i = kernel.merged.size(); i < own.size(); ++i) {
        kernel.merged.push_back(static_cast<std::uint32_t>(statics_.size()));
        statics_.push_back(own[i]);
    }
    const bool same =
        kernel.merged.empty() || (kernel.merged.front() == 0 && kernel.merged.back() + 1 == kernel.merged.size());
    if (same) return;
    for (Executed& one : block.instructions) one.what = kernel.merged[one.what];
}

}  // namespace orrery::gpusim
