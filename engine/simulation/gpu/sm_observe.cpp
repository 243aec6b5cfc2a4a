// What the recorder is told of the warps of a scheduler, at its turn to issue.

#include "simulation/gpu/sm.h"

#include <algorithm>
#include <bit>

namespace orrery::gpusim {

void Sm::observe(unsigned scheduler, std::uint64_t candidates) {
    bool ready = false;
    for (auto left = live_ & ofScheduler_[scheduler]; left; left &= left - 1) {
        const auto id = static_cast<unsigned>(std::countr_zero(left));
        const auto bit = std::uint64_t{1} << id;
        const Warp& warp = warps_[id];
        const auto& all = blocks_[warp.block].trace.instructions;
        if (all.empty()) continue;
        const std::uint32_t last = all[warp.at > 0 ? warp.at - 1 : 0].what;
        const std::uint32_t next = all[std::min<std::size_t>(warp.at, all.size() - 1)].what;
        const auto tell = [&](WarpState state, std::uint32_t what) { recorder->warp(id, scheduler, state, what); };
        if (done_ & bit) {
            tell(WarpState::Done, last);
        } else if (waiting_ & bit) {
            tell((barrier_ | clusterWaits_) & bit ? WarpState::Barrier
                 : fence_ & bit                   ? WarpState::Fence
                 : warp.awaitedGroups > 0         ? WarpState::Copies
                                                  : WarpState::Atomic,
                 last);
        } else if (!(candidates & bit)) {
            tell(codeWaits_ & bit ? WarpState::Code : WarpState::Fetch, next);
        } else {
            const StaticInstruction& one = (*statics_)[next];
            bool free = true;
            const auto look = [&](unsigned reg) {
                if ((warp.pending[reg >> 6] >> (reg & 63) & 1) == 0) return;
                free = false;
                recorder->warp(id, scheduler, recorder->producerOf(id, reg), next, static_cast<int>(reg));
            };
            if (one.destination >= 0) look(static_cast<unsigned>(one.destination));
            for (unsigned i = 0; i < one.sources; ++i) look(one.source[i]);
            if (!free) continue;
            ready = true;
            tell(constantWaits_ & bit ? WarpState::Constant : WarpState::NotSelected, next);
        }
    }
    recorder->scheduler(scheduler, !candidates ? codeWaits_ & ofScheduler_[scheduler] ? SchedulerState::Code
                                                                                      : SchedulerState::NoInstruction
                                   : ready     ? SchedulerState::Unit
                                               : SchedulerState::Dependence);
}

}  // namespace orrery::gpusim
