#include "simulation/gpu/interval/representative.h"

#include "simulation/gpu/interval/sm_model.h"
#include "simulation/gpu/occupancy.h"

#include <fmt/format.h>

namespace orrery::gpusim {

namespace {

using Event = EventWheel::Kind;

std::vector<BlockRange> rangesOf(std::span<const RepresentedBlock> blocks) {
    std::vector<BlockRange> out;
    for (const RepresentedBlock& one : blocks) out.push_back({one.block, 1});
    return out;
}

}  // namespace

Expected<IntervalResult> representKernel(const Machine& machine, const KernelTemplatePtr& program,
                                         const KernelTemplate& whole, std::span<const RepresentedBlock> blocks,
                                         const SimulateOptions& options) {
    auto source = TemplateSource::open(program, machine, rangesOf(blocks));
    if (!source) return tl::unexpected(source.error());
    IntervalResult out;
    out.header = whole.header(), out.name = out.header.name;
    const auto fit = occupancy(machine, out.header);
    if (fit.fits < 1) return doesNotFit(machine, out.name, {});
    out.blocksThatFit = fit.fits, out.blocksPerSm = fit.used, out.limitedBy = fit.limitedBy, out.l1Bytes = fit.l1Bytes;
    out.launchCycles =
        static_cast<std::uint64_t>(machine.launchLatency) +
        static_cast<std::uint64_t>(machine.blockLaunchLatency) * static_cast<std::uint64_t>(out.header.blocks());
    EventWheel wheel;
    RequestStore requests;
    MemoryShare memory(machine, wheel, requests, out.header.warps());
    SmModel sm(machine, wheel, requests, memory, 0);
    sm.begin(std::max(1, fit.l1Bytes / (machine.l1.sets * 128)), *source, fit.used, fit.changesL1);
    WarpPath start;
    start.until = out.launchCycles;
    start.stack.launch = static_cast<double>(out.launchCycles);
    TraceBlock block;
    std::size_t placed = 0, finished = 0;
    const auto place = [&](const WarpPath& path) -> Expected<bool> {
        const int slot = sm.freeSlot();
        const auto threads = static_cast<std::uint64_t>(out.header.warps() * machine.lanes);
        auto got = source->next(block, {threads * static_cast<std::uint64_t>(slot), threads});
        if (!got) return got;
        memory.place(slot, blocks[placed], whole);
        sm.place(block, wheel.now(), path);
        ++placed;
        return true;
    };
    wheel.jump(out.launchCycles);
    wheel.push(out.launchCycles, Event::Place, 0);
    WarpPath last = start;
    EventWheel::Event event;
    std::uint64_t polls = 0;
    while (finished < blocks.size()) {
        if (!wheel.take(event))
            return fail("gpu.kernel", fmt::format("'{}' waits for ever after {} cycles", out.name, wheel.now()), {},
                        "a barrier that not all warps reach");
        if (++polls % 4096 == 0) {
            if (options.stop.stop_requested()) return fail("gpu.stopped", "stopped before the end of a kernel");
            if (options.mostCycles > 0 && wheel.now() > options.mostCycles)
                return fail("gpu.cycles", fmt::format("'{}' runs longer than {} cycles", out.name, options.mostCycles),
                            {}, "raise --cycles");
        }
        switch (event.kind) {
            case Event::Wake:
                sm.wake();
                break;
            case Event::L1:
                sm.l1(event.index);
                break;
            case Event::Service:
                sm.service();
                break;
            case Event::Reply:
                if (memory.replies(event.index)) sm.reply(event.index);
                break;
            case Event::Place:
                // A block in a cycle, as all SMs get theirs in turn.
                if (placed < blocks.size() && sm.hasRoom()) {
                    if (auto fine = place(start); !fine) return tl::unexpected(fine.error());
                    wheel.push(wheel.now() + 1, Event::Place, 0);
                }
                break;
            case Event::Leave:
                if (!sm.leave(event.index % 64)) break;
                ++finished;
                last = sm.lastPath();
                if (placed < blocks.size()) {
                    if (auto fine = place(last); !fine) return tl::unexpected(fine.error());
                }
                break;
            default:
                break;
        }
    }
    out.cycles = wheel.now() + 1;
    last.stack.idle += static_cast<double>(out.cycles - last.until);
    out.stack = last.stack, out.intervals = last.intervals, out.instructions = last.instructions;
    out.seconds = static_cast<double>(out.cycles) / (machine.coreMhz * 1e6);
    out.counts = sm.counts;
    out.counts.add(memory.counts());
    return out;
}

}  // namespace orrery::gpusim
