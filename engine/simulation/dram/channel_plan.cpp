#include "simulation/dram/channel.h"

#include <tuple>

namespace orrery {

DramCycle DramChannel::onBus(bool column, DramCycle at, int slots) const {
    const DramCycle free = config_.standard.timing.splitCommandBus && column ? columnBusFree_ : rowBusFree_;
    return std::max({at, free + slots - 1, clock_});
}

bool DramChannel::sealed(int bank) const {
    if (owed_ == 0) return false;
    const auto rank = std::size_t(timing_.bank(bank).rank);
    return refreshOwed_[rank] > 0 && (!perBank_ || refreshBank_[rank] == bank);
}

void DramChannel::chooseQueue() {
    if (!writing_)
        writing_ = writes_.size() > 0 && (writes_.size() > drainAbove_ || reads_.size() == 0);
    else
        writing_ = writes_.size() > 0 && (writes_.size() >= drainBelow_ || reads_.size() == 0);
}

void DramChannel::plan() {
    fill();
    plan_ = {};
    planned_ = true;
    if (const DramCycle arrival = nextArrival(); arrival < dramNever)
        plan_ = {std::max(arrival, clock_), Step::Arrival};
    if (nextRefreshDue_ < plan_.cycle) plan_ = {std::max(nextRefreshDue_, clock_), Step::RefreshDue};
    if (owed_ > 0) planRefresh(plan_);
    chooseQueue();
    if (config_.scheduler == DramScheduler::Fcfs)
        planOldest(plan_);
    else
        planQueue(plan_);
}

void DramChannel::planRefresh(Plan& best) const {
    for (int rank = 0; rank < timing_.ranks(); ++rank) {
        if (refreshOwed_[std::size_t(rank)] == 0) continue;
        Plan p;
        p.step = Step::Command;
        if (perBank_) {
            p.bank = refreshBank_[std::size_t(rank)];
            const bool open = timing_.bank(p.bank).openRow != noRow;
            p.command = open ? DramCommand::Precharge : DramCommand::RefreshBank;
            p.cycle = open ? timing_.earliestPrecharge(p.bank) : timing_.earliestRefreshBank(p.bank);
        } else {
            p.bank = rank;
            const bool open = timing_.rank(rank).openBanks > 0;
            p.command = open ? DramCommand::PrechargeAll : DramCommand::Refresh;
            p.cycle = open ? timing_.earliestPrechargeAll(rank) : timing_.earliestRefresh(rank);
        }
        p.cycle = onBus(false, p.cycle, 1);
        if (p.cycle < best.cycle) best = p;
    }
}

// The one command that would serve this bank, compared with the best so far: sooner, then column before row, then
// older.
void DramChannel::consider(Plan& best, std::uint64_t& bestOrder, int bank, bool hitAllowed) const {
    const auto& queue = active();
    const auto& list = queue.list(bank);
    const auto& state = timing_.bank(bank);
    const auto& t = config_.standard.timing;
    Plan p;
    p.step = Step::Command;
    p.bank = bank;
    if (state.openRow == noRow) {
        p.command = DramCommand::Activate;
        p.entry = list.head;
        const DramCycle at =
            std::max(timing_.earliestActivate(bank), queue.entry(p.entry).entered + t.activateSlots - 1);
        p.cycle = onBus(false, at, t.activateSlots);
    } else if (list.hit >= 0 && hitAllowed) {
        p.command = writing_ ? DramCommand::Write : DramCommand::Read;
        p.entry = list.hit;
        const DramCycle at =
            std::max(timing_.earliestColumn(bank, writing_), queue.entry(p.entry).entered + t.columnSlots - 1);
        p.cycle = onBus(true, at, t.columnSlots);
    } else {
        p.command = DramCommand::Precharge;
        p.entry = list.head;
        p.cycle = onBus(false, timing_.earliestPrecharge(bank), 1);
    }
    const bool column = p.command == DramCommand::Read || p.command == DramCommand::Write;
    const bool bestColumn = best.command == DramCommand::Read || best.command == DramCommand::Write;
    const auto order = queue.entry(p.entry).order;
    // Refresh and arrivals (bestOrder 0) keep their place in a tie.
    if (p.cycle < best.cycle ||
        (p.cycle == best.cycle && bestOrder > 0 && std::tuple(!column, order) < std::tuple(!bestColumn, bestOrder))) {
        best = p;
        bestOrder = order;
    }
}

void DramChannel::planQueue(Plan& best) const {
    std::uint64_t bestOrder = 0;
    for (const int bank : active().busy()) {
        if (sealed(bank)) continue;
        const auto& list = active().list(bank);
        const bool capped =
            config_.rowHitCap > 0 && timing_.bank(bank).hits >= config_.rowHitCap && list.hit != list.head;
        consider(best, bestOrder, bank, !capped);
    }
}

void DramChannel::planOldest(Plan& best) const {
    int oldest = -1;
    for (const int bank : active().busy())
        if (oldest < 0 ||
            active().entry(active().list(bank).head).order < active().entry(active().list(oldest).head).order)
            oldest = bank;
    std::uint64_t bestOrder = 0;
    if (oldest >= 0 && !sealed(oldest))
        consider(best, bestOrder, oldest, active().list(oldest).hit == active().list(oldest).head);
}

}  // namespace orrery
