#include "simulation/gpu/simulate.h"

#include "simulation/gpu/occupancy.h"
#include "simulation/gpu/sm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>

namespace orrery::gpusim {

namespace {

class Gpu {
public:
    Gpu(const Machine& machine, const SimulateOptions& options)
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
          repliesAt_(static_cast<std::size_t>(machine.sms), false) {
        for (int i = 0; i < machine.slices(); ++i) slices_.emplace_back(machine, map_);
        for (int c = 0; c < machine.channels; ++c) {
            std::vector<Slice*> own;
            for (int i = 0; i < machine.slicesPerChannel; ++i)
                own.push_back(&slices_[static_cast<std::size_t>(c * machine.slicesPerChannel + i)]);
            channels_.emplace_back(machine, map_, std::move(own));
        }
        for (int i = 0; i < machine.sms; ++i) sms_.emplace_back(machine, map_, i, requests_);
        lastPlaced_ = machine.sms - 1;
        keepResident();
    }

    void copy(std::uint64_t address, std::uint64_t bytes) {
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

    Expected<KernelResult> run(const TraceCommand& command) {
        auto trace = KernelTrace::open(command.file, machine_);
        if (!trace) return tl::unexpected(trace.error());
        return run(*trace);
    }

    Expected<KernelResult> run(KernelSource& trace) {
        const std::string file = trace.path();
        KernelResult out;
        out.header = trace.header();
        out.name = out.header.name;
        const auto fit = occupancy(machine_, out.header);
        if (fit.fits < 1) return doesNotFit(machine_, out.name, file);
        out.blocksThatFit = fit.fits, out.blocksPerSm = fit.used, out.limitedBy = fit.limitedBy,
        out.l1Bytes = fit.l1Bytes;
        const int ways = std::max(1, fit.l1Bytes / (machine_.l1.sets * 128));
        for (Sm& sm : sms_) {
            sm.begin(ways, trace, fit.used, fit.changesL1);
            sm.counts = {};
        }
        memory_ = {};
        told_ = 0;
        const std::int64_t blocks = out.header.blocks();
        out.launchCycles = static_cast<std::uint64_t>(machine_.launchLatency) +
                           static_cast<std::uint64_t>(machine_.blockLaunchLatency) * static_cast<std::uint64_t>(blocks);
        const std::uint64_t begin = core_;
        const std::uint64_t opens = begin + out.launchCycles;
        if (Recorder* recorder = options_.recorder) {
            const int which = std::clamp(recorder->sm(), 0, machine_.sms - 1);
            sms_[static_cast<std::size_t>(which)].recorder = recorder;
            recorder->begin(machine_, trace, opens);
        }
        if (machine_.dies > 1) {
            // Dies take blocks in turn, from the first on in every kernel, and what one wrote another may read: every
            // L2 is written back and emptied between kernels (LLVM, memory model of gfx942).
            lastPlaced_ = machine_.sms - 1, lastPlacedAtStart_ = -1;
            for (std::size_t i = 0; i < slices_.size(); ++i) {
                slices_[i].cache.flush([&](std::uint64_t address, int sectors) {
                    channels_[i / static_cast<std::size_t>(machine_.slicesPerChannel)].warm(address, true, sectors);
                });
            }
        }
        std::int64_t placed = 0;
        std::uint64_t finished = 0, before = 0;
        for (const Sm& sm : sms_) before += sm.finishedBlocks();
        TraceBlock block;
        bool placing = true;
        std::uint64_t polls = 0;
        while (true) {
            if (++polls % 1024 == 0) {
                if (options_.progress) tellProgress();
                if (options_.stop.stop_requested()) {
                    if (!options_.keepsStopped) return fail("gpu.stopped", "stopped before the end of a kernel");
                    out.stopped = true;
                    break;
                }
                if (options_.mostCycles > 0 && core_ - begin > options_.mostCycles)
                    return fail("gpu.cycles",
                                fmt::format("'{}' runs longer than {} cycles", out.name, options_.mostCycles), {},
                                "raise --cycles", {file, 0, 0, {}});
            }
            const bool coreEdge = step();
            if (!coreEdge) continue;
            if (options_.recorder) options_.recorder->memory(core_ - 1, memory_);
            // The core's counter has gone on: what was core_ - 1 is done.
            finished = 0;
            for (const Sm& sm : sms_) finished += sm.finishedBlocks();
            finished -= before;
            placing = placed < blocks;
            if (placing && core_ > opens) {
                bool any = false;
                for (int i = 0; i < machine_.sms && placed < blocks; ++i) {
                    const int id = (lastPlacedAtStart_ + 1 + i) % machine_.sms;
                    Sm& sm = sms_[static_cast<std::size_t>(id)];
                    if (!sm.hasRoom()) continue;
                    const int threads = out.header.warps() * machine_.lanes;
                    const LocalPlace local{
                        static_cast<std::uint64_t>(threads) *
                            (static_cast<std::uint64_t>(id) +
                             static_cast<std::uint64_t>(machine_.sms) * static_cast<std::uint64_t>(sm.freeSlot())),
                        static_cast<std::uint64_t>(threads) * static_cast<std::uint64_t>(fit.used) *
                            static_cast<std::uint64_t>(machine_.sms)};
                    auto got = trace.next(block, local);
                    if (!got) return tl::unexpected(got.error());
                    if (!*got) {
                        return fail("gpu.trace", fmt::format("the trace has {} of {} thread blocks", placed, blocks),
                                    {}, "was the file copied whole?", {file, 0, 0, {}});
                    }
                    sm.place(block, core_ - 1);
                    ++placed;
                    lastPlaced_ = id;
                    any = true;
                }
                if (any) lastPlacedAtStart_ = lastPlaced_;
            }
            if (static_cast<std::int64_t>(finished) == blocks) break;
            skip(placed < blocks ? opens : never);
            if (stuck_) {
                return fail("gpu.kernel", fmt::format("'{}' waits for ever after {} cycles", out.name, core_ - begin),
                            {}, "a barrier that not all warps reach, or a trace cut by hand", {file, 0, 0, {}});
            }
        }
        if (options_.recorder) options_.recorder->end(core_);
        out.cycles = core_ - begin;
        out.finishedBlocks = static_cast<std::int64_t>(finished);
        out.seconds = static_cast<double>(out.cycles) / (machine_.coreMhz * 1e6);
        out.counts = memory_;
        for (Sm& sm : sms_) out.counts.add(sm.counts);
        return out;
    }

private:
    void keepResident() {
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
    void tellProgress() {
        std::uint64_t issued = 0;
        for (const Sm& sm : sms_) issued += sm.counts.warpInstructions;
        if (issued > told_) options_.progress->advance(issued - told_);
        told_ = issued;
    }

    // One step: the domains whose next edge is earliest. Whether the core was among them.
    bool step() {
        const double core = static_cast<double>(core_) * coreStep_,
                     network = static_cast<double>(network_) * networkStep_, l2 = static_cast<double>(l2_) * l2Step_,
                     dram = static_cast<double>(dram_) * dramStep_;
        const double first = std::min({core, network, l2, dram});
        const bool isCore = core <= first, isNetwork = network <= first, isL2 = l2 <= first, isDram = dram <= first;
        if (isCore) {
            for (std::size_t i = 0; i < sms_.size(); ++i) {
                if (!repliesAt_[i]) continue;
                auto& queue = replies_.output(i);
                sms_[i].receive(queue, core_);
                repliesAt_[i] = !queue.empty() || sms_[i].hasReplies();
            }
            if (machine_.idealMemory) {
                for (std::size_t i = 0; i < sms_.size(); ++i) repliesAt_[i] = repliesAt_[i] || sms_[i].hasReplies();
            }
        }
        if (isNetwork) {
            for (std::size_t i = 0; i < slices_.size(); ++i) {
                auto& queue = slices_[i].replies;
                for (int k = 0; k < machine_.sectorsPerCycle && !queue.empty() && replies_.hasRoom(i); ++k) {
                    Request* one = queue.take();
                    replies_.push(i, one->sm, one);
                }
            }
            ++network_;
        }
        if (isDram) {
            for (DramChannel& one : channels_) {
                if (one.wakesAt() <= dram_ || one.delayedUntil() <= core_ || one.called())
                    one.cycle(dram_, core_, memory_);
            }
            ++dram_;
        }
        if (isL2) {
            for (std::size_t i = 0; i < slices_.size(); ++i) {
                Slice& slice = slices_[i];
                if (requestsAt_[i] && slice.takes()) {
                    auto& queue = requests_.output(i);
                    slice.push(queue.take(), core_);
                    requestsAt_[i] = !queue.empty();
                }
                if (slice.wakes(core_) <= core_) slice.cycle(core_, memory_.l2);
            }
            ++l2_;
        }
        if (isNetwork) {
            for (int i = 0; i < machine_.sectorsPerCycle; ++i) {
                requests_.advance([&](std::size_t o) { requestsAt_[o] = true; });
                replies_.advance([&](std::size_t o) { repliesAt_[o] = true; });
            }
        }
        if (isCore) {
            for (Sm& sm : sms_) {
                if (sm.wakesAt() <= core_) sm.cycle(core_);
            }
            ++core_;
        }
        return isCore;
    }

    // Goes on to the next core cycle at which something happens.
    void skip(std::uint64_t opens) {
        stuck_ = false;
        std::uint64_t next = never;
        if (opens != never) next = std::max(opens, core_);
        for (const Sm& sm : sms_) next = std::min(next, sm.wakesAt());
        if (next <= core_ || requests_.busy() || replies_.busy()) return;
        for (std::size_t i = 0; i < sms_.size(); ++i) {
            if (repliesAt_[i]) return;
        }
        for (std::size_t i = 0; i < slices_.size(); ++i) {
            if (requestsAt_[i] || !slices_[i].replies.empty()) return;
            next = std::min(next, slices_[i].wakes(core_));
            if (next <= core_) return;
        }
        for (const DramChannel& one : channels_) {
            if (one.called()) return;
            next = std::min(next, one.delayedUntil());
            if (one.wakesAt() != never)
                next = std::min(next,
                                static_cast<std::uint64_t>(static_cast<double>(one.wakesAt()) * dramStep_ / coreStep_));
            if (next <= core_) return;
        }
        if (next == never) {
            stuck_ = true;
            return;
        }
        core_ = next;
        const double after = static_cast<double>(core_ - 1) * coreStep_;
        const auto forward = [&](std::uint64_t& count, double period) {
            auto to = static_cast<std::uint64_t>(after / period);
            while (static_cast<double>(to) * period <= after) ++to;
            count = std::max(count, to);
        };
        forward(network_, networkStep_), forward(l2_, l2Step_), forward(dram_, dramStep_);
    }

    const Machine& machine_;
    const SimulateOptions& options_;
    AddressMap map_;
    Crossbar requests_, replies_;
    double coreStep_, networkStep_, l2Step_, dramStep_;
    std::deque<Slice> slices_;
    std::deque<DramChannel> channels_;
    std::deque<Sm> sms_;
    ResidentSectors resident_;
    std::vector<char> requestsAt_, repliesAt_;
    std::uint64_t core_ = 0, network_ = 0, l2_ = 0, dram_ = 0, copied_ = 0, told_ = 0;
    int lastPlaced_ = 0, lastPlacedAtStart_ = -1;
    bool stuck_ = false;
    Counters memory_;
};

}  // namespace

Expected<KernelResult> simulate(const Machine& machine, KernelSource& kernel, const SimulateOptions& options) {
    return std::make_unique<Gpu>(machine, options)->run(kernel);
}

Expected<std::vector<KernelResult>> simulate(const Machine& machine, std::span<KernelSource* const> kernels,
                                             const SimulateOptions& options) {
    auto gpu = std::make_unique<Gpu>(machine, options);
    std::vector<KernelResult> out;
    for (KernelSource* kernel : kernels) {
        auto result = gpu->run(*kernel);
        if (!result) return tl::unexpected(result.error());
        out.push_back(std::move(*result));
    }
    return out;
}

Expected<std::vector<KernelResult>> simulate(const Machine& machine, const std::vector<TraceCommand>& commands,
                                             const SimulateOptions& options) {
    auto gpu = std::make_unique<Gpu>(machine, options);
    std::vector<KernelResult> out;
    for (const TraceCommand& command : commands) {
        if (command.kind == TraceCommand::Kind::Copy) {
            gpu->copy(command.address, command.bytes);
            continue;
        }
        auto result = gpu->run(command);
        if (!result) return tl::unexpected(result.error());
        out.push_back(std::move(*result));
    }
    return out;
}

}  // namespace orrery::gpusim
