#pragma once

// One channel with its controller: bursts wait in a read and a write queue, sorted by bank, and the next command is the
// first that becomes possible; ties go to column commands, then to the older burst. Time jumps to that command.

#include "simulation/dram/bank_timing.h"
#include "simulation/dram/burst_queue.h"
#include "simulation/dram/memory.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace orrery {

/// The part of a request that one channel serves: its bursts [next, end) by their ordinals within the channel.
struct DramShare {
    std::int32_t slot = 0;  ///< the memory's name for the request
    bool write = false;
    DramCycle arrival = 0;
    std::int64_t next = 0, end = 0;
};

class DramChannel {
public:
    DramChannel(const DramConfig& config, const DramAddressMap& map, int index);

    void submit(std::size_t port, const DramShare& share);
    /// All commands up to and including `until`, or until the channel is idle. Calls onBurst(slot, cycle after its last
    /// data).
    template <class OnBurst>
    void advance(DramCycle until, bool stopWhenIdle, OnBurst&& onBurst);
    /// The cycle of the next thing that happens to a burst here; dramNever while the channel is idle.
    DramCycle next();
    bool idle() const {
        return reads_.size() + writes_.size() == 0 && upstream_[0] + upstream_[1] == 0 && forwarded_.empty();
    }
    std::int64_t waitingUpstream(bool write) const { return upstream_[write]; }

    const DramBankTiming& timing() const { return timing_; }
    DramStatistics statistics;
    std::function<void(const DramIssued&)> observer;

private:
    struct Port {
        std::vector<DramShare> shares;
        std::size_t first = 0;
    };
    enum class Step : std::uint8_t { None, Arrival, RefreshDue, Command };
    struct Plan {
        DramCycle cycle = dramNever;
        Step step = Step::None;
        DramCommand command = DramCommand::Activate;
        std::int32_t bank = -1;  ///< rank for Refresh and PrechargeAll
        std::int32_t entry = -1;
    };
    struct Burst {
        std::int32_t slot = -1;
        DramCycle lastData = 0;
    };

    // channel_plan.cpp: what is next.
    void plan();
    void planRefresh(Plan& best) const;
    void planQueue(Plan& best) const;
    void planOldest(Plan& best) const;
    void consider(Plan& best, std::uint64_t& bestOrder, int bank, bool hitAllowed) const;
    void chooseQueue();
    bool sealed(int bank) const;
    DramCycle onBus(bool column, DramCycle at, int cycles) const;

    // channel.cpp: what happens.
    void fill();
    void enter(const DramShare& share);
    DramCycle nextArrival() const;
    Burst perform(const Plan& plan);
    Burst performColumn(const Plan& plan);
    void startRefreshes();
    void report(const Plan& plan, int bank, std::int64_t row, std::int32_t column) const;
    DramBurstQueue& active() { return writing_ ? writes_ : reads_; }
    const DramBurstQueue& active() const { return writing_ ? writes_ : reads_; }

    DramConfig config_;
    const DramAddressMap* map_;
    int index_ = 0;
    DramBankTiming timing_;
    DramBurstQueue reads_, writes_;
    std::vector<Port> ports_;
    std::size_t nextPort_ = 0;
    std::int64_t upstream_[2] = {0, 0};  ///< reads and writes before their queues
    std::uint64_t order_ = 0;
    DramCycle clock_ = 0;
    DramCycle rowBusFree_ = 0, columnBusFree_ = 0;
    bool writing_ = false;
    int drainAbove_ = 0, drainBelow_ = 0;
    Plan plan_;
    bool planned_ = false;
    std::vector<Burst> forwarded_;

    bool perBank_ = false;
    DramCycle refreshInterval_ = 0;  ///< of one rank; 0: none
    DramCycle nextRefreshDue_ = dramNever;
    int owed_ = 0;                           ///< refreshes due and not issued
    std::vector<DramCycle> refreshDue_;      ///< per rank
    std::vector<std::int32_t> refreshOwed_;  ///< per rank
    std::vector<std::int32_t> refreshBank_;  ///< per rank: whose turn it is
};

template <class OnBurst>
void DramChannel::advance(DramCycle until, bool stopWhenIdle, OnBurst&& onBurst) {
    for (;;) {
        if (!planned_) plan();
        for (const auto& burst : forwarded_) onBurst(burst.slot, burst.lastData);
        forwarded_.clear();
        if (plan_.cycle > until || (stopWhenIdle && idle())) break;
        const Plan now = plan_;
        planned_ = false;
        clock_ = now.cycle;
        if (now.step == Step::Command) {
            const Burst burst = perform(now);
            if (burst.slot >= 0) onBurst(burst.slot, burst.lastData);
        } else if (now.step == Step::RefreshDue) {
            startRefreshes();
        }
    }
    if (!stopWhenIdle) clock_ = std::max(clock_, until);
}

}  // namespace orrery
