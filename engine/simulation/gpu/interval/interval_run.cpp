#include "simulation/gpu/interval/interval_run.h"

#include "simulation/gpu/interval/memory_model.h"
#include "simulation/gpu/interval/sm_model.h"
#include "simulation/gpu/occupancy.h"

#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <memory>

namespace orrery::gpusim {

namespace {

class IntervalGpu {
public:
    IntervalGpu(const Machine& machine, const SimulateOptions& options)
        : machine_(machine), options_(options), memory_(machine, wheel_, requests_) {
        for (int i = 0; i < machine.sms; ++i) sms_.emplace_back(machine, wheel_, requests_, memory_, i);
        memory_.keepResident(options.resident);
    }

    void copy(std::uint64_t address, std::uint64_t bytes) {
        if (!machine_.warmsByCopies) return;
        const std::uint64_t kept = keptOfCopy(machine_);
        for (std::uint64_t at = bytes > kept ? (bytes - kept) / 32 * 32 : 0; at < bytes; at += 32) {
            std::uint64_t sector = (address + at) & ~std::uint64_t{31};
            if (options_.cutsCopyAddresses) sector &= 0xffffffffull;
            memory_.warm(sector);
        }
    }

    Expected<IntervalResult> run(const TraceCommand& command) {
        auto trace = KernelTrace::open(command.file, machine_);
        if (!trace) return tl::unexpected(trace.error());
        return run(*trace);
    }

    Expected<IntervalResult> run(KernelSource& trace) {
        const std::string file = trace.path();
        IntervalResult out;
        out.header = trace.header();
        out.name = out.header.name;
        const auto fit = occupancy(machine_, out.header);
        if (fit.fits < 1) return doesNotFit(machine_, out.name, file);
        out.blocksThatFit = fit.fits, out.blocksPerSm = fit.used, out.limitedBy = fit.limitedBy;
        out.l1Bytes = fit.l1Bytes;
        const int ways = std::max(1, fit.l1Bytes / (machine_.l1.sets * 128));
        for (SmModel& sm : sms_) sm.begin(ways, trace, fit.used, fit.changesL1);
        memory_.counts = {};
        const std::int64_t blocks = out.header.blocks();
        out.launchCycles = static_cast<std::uint64_t>(machine_.launchLatency) +
                           static_cast<std::uint64_t>(machine_.blockLaunchLatency) * static_cast<std::uint64_t>(blocks);
        const std::uint64_t begin = core_, opens = begin + out.launchCycles;
        std::int64_t placed = 0, finished = 0;
        TraceBlock block;
        WarpPath start;
        start.until = opens;
        start.stack.launch = static_cast<double>(out.launchCycles);
        const auto place = [&](std::size_t id, std::uint64_t at, const WarpPath& path) -> Expected<bool> {
            SmModel& sm = sms_[id];
            const auto threads = static_cast<std::uint64_t>(out.header.warps() * machine_.lanes);
            const auto sms = static_cast<std::uint64_t>(machine_.sms);
            const LocalPlace local{threads * (id + sms * static_cast<std::uint64_t>(sm.freeSlot())),
                                   threads * static_cast<std::uint64_t>(fit.used) * sms};
            const auto clock = std::chrono::steady_clock::now();
            auto got = trace.next(block, local);
            out.readSeconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count();
            if (!got) return tl::unexpected(got.error());
            if (!*got)
                return fail("gpu.trace", fmt::format("the trace has {} of {} thread blocks", placed, blocks), {},
                            "was the file copied whole?", {file, 0, 0, {}});
            sm.place(block, at, path);
            ++placed;
            next_ = (id + 1) % sms_.size();
            return true;
        };
        // One block per SM and cycle, around from where the last one went.
        wheel_.jump(opens);
        wheel_.push(opens, EventWheel::Kind::Place, 0);
        WarpPath last = start;
        std::uint64_t polls = 0;
        EventWheel::Event event;
        // Until nothing is under way, though the end is that of the last block.
        std::uint64_t end = 0;
        while (true) {
            if (finished == blocks && end == 0) end = wheel_.now();
            if (!wheel_.take(event)) {
                if (finished == blocks) break;
                return fail("gpu.kernel",
                            fmt::format("'{}' waits for ever after {} cycles", out.name, wheel_.now() - begin), {},
                            "a barrier that not all warps reach, or a trace cut by hand", {file, 0, 0, {}});
            }
            if (++polls % 4096 == 0) {
                if (options_.stop.stop_requested()) return fail("gpu.stopped", "stopped before the end of a kernel");
                if (options_.mostCycles > 0 && wheel_.now() - begin > options_.mostCycles)
                    return fail("gpu.cycles",
                                fmt::format("'{}' runs longer than {} cycles", out.name, options_.mostCycles), {},
                                "raise --cycles", {file, 0, 0, {}});
            }
            switch (event.kind) {
                case EventWheel::Kind::Wake:
                    sms_[event.index].wake();
                    break;
                case EventWheel::Kind::L1:
                    sms_[requests_[event.index].sm].l1(event.index);
                    break;
                case EventWheel::Kind::Service:
                    sms_[event.index].service();
                    break;
                case EventWheel::Kind::Request:
                    memory_.requestAt(event.index);
                    break;
                case EventWheel::Kind::L2:
                    memory_.l2(event.index);
                    break;
                case EventWheel::Kind::Dram:
                    memory_.dram(event.index);
                    break;
                case EventWheel::Kind::Fill:
                    memory_.fill(event.index);
                    break;
                case EventWheel::Kind::Reply:
                    if (const auto one = memory_.replyAt(event.index); one >= 0)
                        sms_[event.index].reply(static_cast<std::uint32_t>(one));
                    break;
                case EventWheel::Kind::Ideal:
                    sms_[requests_[event.index].sm].reply(event.index);
                    break;
                case EventWheel::Kind::Place: {
                    const std::size_t from = next_;
                    bool more = false;
                    for (std::size_t i = 0; i < sms_.size() && placed < blocks; ++i) {
                        const std::size_t id = (from + i) % sms_.size();
                        if (!sms_[id].hasRoom()) continue;
                        auto fine = place(id, wheel_.now(), start);
                        if (!fine) return tl::unexpected(fine.error());
                        more = true;
                    }
                    if (more && placed < blocks) wheel_.push(wheel_.now() + 1, EventWheel::Kind::Place, 0);
                    break;
                }
                case EventWheel::Kind::Leave: {
                    const std::size_t id = event.index / 64;
                    if (!sms_[id].leave(event.index % 64)) break;
                    ++finished;
                    last = sms_[id].lastPath();
                    if (placed < blocks) {
                        auto fine = place(id, wheel_.now(), last);
                        if (!fine) return tl::unexpected(fine.error());
                    }
                    break;
                }
            }
        }
        // The end is noticed in the cycle behind.
        core_ = end + 1;
        out.cycles = core_ - begin, out.startCycle = begin, out.endCycle = core_;
        last.stack.idle += static_cast<double>(core_ - last.until);
        out.stack = last.stack;
        out.intervals = last.intervals, out.instructions = last.instructions;
        out.seconds = static_cast<double>(out.cycles) / (machine_.coreMhz * 1e6);
        out.counts = memory_.counts;
        for (SmModel& sm : sms_) out.counts.add(sm.counts);
        return out;
    }

private:
    const Machine& machine_;
    const SimulateOptions& options_;
    EventWheel wheel_;
    RequestStore requests_;
    MemoryModel memory_;
    std::deque<SmModel> sms_;
    std::uint64_t core_ = 0;
    std::size_t next_ = 0;
};

}  // namespace

Expected<IntervalResult> simulateIntervals(const Machine& machine, KernelSource& kernel,
                                           const SimulateOptions& options) {
    return std::make_unique<IntervalGpu>(machine, options)->run(kernel);
}

Expected<std::vector<IntervalResult>> simulateIntervals(const Machine& machine,
                                                        const std::vector<TraceCommand>& commands,
                                                        const SimulateOptions& options) {
    auto gpu = std::make_unique<IntervalGpu>(machine, options);
    std::vector<IntervalResult> out;
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
