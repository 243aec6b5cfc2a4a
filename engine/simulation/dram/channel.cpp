#include "simulation/dram/channel.h"

#include <cmath>

namespace orrery {

DramChannel::DramChannel(const DramConfig& config, const DramAddressMap& map, int index)
    : config_(config),
      map_(&map),
      index_(index),
      timing_(config.standard.organisation, config.standard.timing),
      reads_(config.standard.organisation.banks(), config.readQueue, config.openedSlots),
      writes_(config.standard.organisation.banks(), config.writeQueue, config.openedSlots) {
    drainAbove_ = int(std::floor(config.drainAbove * config.writeQueue));
    drainBelow_ = int(std::ceil(config.drainBelow * config.writeQueue));
    const auto& t = config.standard.timing;
    perBank_ = config.refresh == DramRefresh::PerBank && t.rfcBank > 0;
    if (config.refresh != DramRefresh::None && t.refi > 0)
        refreshInterval_ = !perBank_        ? t.refi
                           : t.refiBank > 0 ? t.refiBank
                                            : std::max(1, t.refi / timing_.banksPerRank());
    const int ranks = timing_.ranks();
    refreshOwed_.assign(std::size_t(ranks), 0);
    for (int rank = 0; rank < ranks; ++rank) {
        refreshBank_.push_back(timing_.rank(rank).firstBank);
        refreshDue_.push_back(refreshInterval_ > 0 ? refreshInterval_ * (rank + 1) / ranks : dramNever);
        nextRefreshDue_ = std::min(nextRefreshDue_, refreshDue_.back());
    }
}

void DramChannel::submit(std::size_t port, const DramShare& share) {
    if (port >= ports_.size()) ports_.resize(port + 1);
    ports_[port].shares.push_back(share);
    upstream_[share.write] += share.end - share.next;
    planned_ = false;
}

DramCycle DramChannel::next() {
    if (idle()) return dramNever;
    if (!planned_) plan();
    return forwarded_.empty() ? plan_.cycle : clock_;
}

// Moves what has arrived into the queues; ports take turns burst by burst, and a port waits for its oldest burst.
void DramChannel::fill() {
    if (upstream_[0] + upstream_[1] == 0) return;
    for (std::size_t refused = 0; refused < ports_.size();) {
        if (nextPort_ >= ports_.size()) nextPort_ = 0;
        Port& port = ports_[nextPort_++];
        ++refused;
        if (port.first == port.shares.size()) continue;
        DramShare& share = port.shares[port.first];
        if (share.arrival > clock_ || (share.write ? writes_ : reads_).full()) continue;
        refused = 0;
        enter(share);
        --upstream_[share.write];
        if (++share.next < share.end) continue;
        if (++port.first == port.shares.size() || port.first == 4096) {
            port.shares.erase(port.shares.begin(), port.shares.begin() + std::ptrdiff_t(port.first));
            port.first = 0;
        }
    }
}

void DramChannel::enter(const DramShare& share) {
    const DramAddress address = map_->decode(map_->burstOfChannel(index_, share.next));
    if (!share.write && writes_.size() > 0 && writes_.contains(address.bank, address.row, address.column)) {
        // As soon as a read of an open row would come: the data need no bank.
        const DramCycle done = clock_ + config_.standard.timing.cl + config_.standard.timing.burst;
        ++statistics.reads;
        ++statistics.forwarded;
        statistics.latencyCycles += done - clock_;
        forwarded_.push_back({share.slot, done});
        return;
    }
    DramBurstEntry entry;
    entry.row = address.row;
    entry.order = ++order_;
    entry.entered = clock_;
    entry.slot = share.slot;
    entry.column = address.column;
    entry.bank = address.bank;
    (share.write ? writes_ : reads_).push(entry, timing_.bank(address.bank).openRow);
}

DramCycle DramChannel::nextArrival() const {
    DramCycle earliest = dramNever;
    if (upstream_[0] + upstream_[1] == 0) return earliest;
    for (const Port& port : ports_) {
        if (port.first == port.shares.size()) continue;
        const DramShare& share = port.shares[port.first];
        if (!(share.write ? writes_ : reads_).full()) earliest = std::min(earliest, share.arrival);
    }
    return earliest;
}

void DramChannel::startRefreshes() {
    nextRefreshDue_ = dramNever;
    for (std::size_t rank = 0; rank < refreshDue_.size(); ++rank) {
        while (refreshDue_[rank] <= clock_) {
            refreshDue_[rank] += refreshInterval_;
            ++refreshOwed_[rank];
            ++owed_;
        }
        nextRefreshDue_ = std::min(nextRefreshDue_, refreshDue_[rank]);
    }
}

void DramChannel::report(const Plan& plan, int bank, std::int64_t row, std::int32_t column) const {
    if (observer) observer({plan.cycle, plan.command, index_, bank, row, column});
}

DramChannel::Burst DramChannel::perform(const Plan& plan) {
    if (plan.command == DramCommand::Read || plan.command == DramCommand::Write) return performColumn(plan);
    rowBusFree_ = plan.cycle + 1;
    switch (plan.command) {
        case DramCommand::Activate: {
            auto& entry = active().entry(plan.entry);
            entry.opened = std::max<std::uint8_t>(entry.opened, 1);
            active().moveOutside(plan.entry);
            timing_.activate(plan.bank, entry.row, plan.cycle);
            reads_.rowOpened(plan.bank, entry.row);
            writes_.rowOpened(plan.bank, entry.row);
            ++statistics.activates;
            report(plan, plan.bank, entry.row, 0);
            break;
        }
        case DramCommand::Precharge:
            if (plan.entry >= 0) active().entry(plan.entry).opened = 2;
            report(plan, plan.bank, timing_.bank(plan.bank).openRow, 0);
            timing_.precharge(plan.bank, plan.cycle);
            reads_.rowClosed(plan.bank);
            writes_.rowClosed(plan.bank);
            ++statistics.precharges;
            break;
        case DramCommand::PrechargeAll: {
            const int first = timing_.rank(plan.bank).firstBank;
            report(plan, first, 0, 0);
            for (int bank = first; bank < first + timing_.banksPerRank(); ++bank) {
                statistics.precharges += timing_.bank(bank).openRow != noRow;
                reads_.rowClosed(bank);
                writes_.rowClosed(bank);
            }
            timing_.prechargeAll(plan.bank, plan.cycle);
            break;
        }
        case DramCommand::Refresh:
            report(plan, timing_.rank(plan.bank).firstBank, 0, 0);
            timing_.refresh(plan.bank, plan.cycle);
            ++statistics.refreshes;
            --refreshOwed_[std::size_t(plan.bank)];
            --owed_;
            break;
        case DramCommand::RefreshBank: {
            report(plan, plan.bank, 0, 0);
            timing_.refreshBank(plan.bank, plan.cycle);
            ++statistics.bankRefreshes;
            const auto rank = std::size_t(timing_.bank(plan.bank).rank);
            const int first = timing_.rank(int(rank)).firstBank;
            refreshBank_[rank] = first + (plan.bank - first + 1) % timing_.banksPerRank();
            --refreshOwed_[rank];
            --owed_;
            break;
        }
        default:
            break;
    }
    return {};
}

DramChannel::Burst DramChannel::performColumn(const Plan& plan) {
    (config_.standard.timing.splitCommandBus ? columnBusFree_ : rowBusFree_) = plan.cycle + 1;
    auto& queue = active();
    const DramBurstEntry entry = queue.entry(plan.entry);
    queue.remove(plan.entry);
    const bool last = reads_.list(plan.bank).hit < 0 && writes_.list(plan.bank).hit < 0;
    const bool close = config_.page == DramPage::Closed && last;
    const DramCycle end = timing_.column(plan.bank, writing_, close, plan.cycle);
    Plan issued = plan;
    if (close) {
        issued.command = writing_ ? DramCommand::WritePrecharge : DramCommand::ReadPrecharge;
        ++statistics.precharges;
    }
    report(issued, plan.bank, entry.row, entry.column);
    ++(writing_ ? statistics.writes : statistics.reads);
    ++(entry.opened == 0 ? statistics.rowHits : entry.opened == 1 ? statistics.rowMisses : statistics.rowConflicts);
    statistics.busyCycles += config_.standard.timing.burst;
    if (!writing_) statistics.latencyCycles += end - entry.entered;
    statistics.lastData = std::max(statistics.lastData, end);
    return {entry.slot, end};
}

}  // namespace orrery
