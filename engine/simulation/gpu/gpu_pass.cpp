// Blocks that are not simulated: their accesses pass through L2, in no time, so that what is simulated behind them
// finds there what they would have left: lines, and open rows. Functional warming, as Wunderlich et al. have it
// ("SMARTS", ISCA 2003). Not through L1: it is the residents', and those that come next fill it anew within a block.

#include "simulation/gpu/gpu.h"

#include <algorithm>

namespace orrery::gpusim {

// Dies take such blocks in turn; warps of a block run side by side.
void Gpu::pass(const TraceBlock& block, const std::vector<StaticInstruction>& statics) {
    if (machine_.idealMemory || block.accesses.empty()) return;
    const int die = lastPassed_ = (lastPassed_ + 1) % machine_.dies;
    const auto firstSlice = static_cast<std::uint32_t>(die * machine_.slicesPerDie());
    std::uint32_t longest = 0;
    for (std::size_t w = 0; w + 1 < block.begin.size(); ++w)
        longest = std::max(longest, block.begin[w + 1] - block.begin[w]);
    for (std::uint32_t i = 0; i < longest; ++i) {
        for (std::size_t w = 0; w + 1 < block.begin.size(); ++w) {
            if (block.begin[w] + i >= block.begin[w + 1]) continue;
            const Executed& next = block.instructions[block.begin[w] + i];
            const Action action = statics[next.what].action;
            if (action != Action::Load && action != Action::Store && action != Action::Atomic &&
                action != Action::CopyToShared)
                continue;
            const bool atomic = action == Action::Atomic, write = action == Action::Store || atomic;
            // From the back, as the load/store unit takes them.
            for (std::uint32_t a = next.count; a > 0; --a) {
                const Access& access = block.accesses[next.first + a - 1];
                const auto spot = map_.spot(access.address);
                const auto at = spot.slice + firstSlice;
                Slice& slice = slices_[at];
                if (slice.resident && !write) slice.resident->take(access.address);
                // An atomic reads the whole sector.
                const std::uint32_t bytes = atomic ? 0xffffffffu : access.bytes;
                if (slice.cache.pass(access.address, bytes, map_.l2Set(access.address), core_, write)) continue;
                DramChannel& channel = channels_[at / static_cast<unsigned>(machine_.slicesPerChannel)];
                channel.warm(access.address);
                // Stores are allocated without a fetch.
                if (action != Action::Store) channel.open(spot.bank, spot.row);
            }
        }
    }
}

Expected<bool> Gpu::pass(KernelSource& kernel) {
    if (machine_.dies > 1) emptyDies();
    TraceBlock block;
    const auto threads = static_cast<std::uint64_t>(kernel.header().warps() * machine_.lanes);
    const auto sms = static_cast<std::uint64_t>(machine_.sms);
    for (std::int64_t b = 0; b < kernel.header().blocks(); ++b) {
        if (options_.stop.stop_requested()) return fail("gpu.stopped", "stopped before the end of a kernel");
        auto got = kernel.next(block, {threads * (static_cast<std::uint64_t>(b) % sms), threads * sms});
        if (!got) return got;
        if (!*got) break;
        pass(block, kernel.statics());
    }
    return true;
}

}  // namespace orrery::gpusim
