#include "simulation/dram/bank_timing.h"

#include <algorithm>

namespace orrery {

namespace {

void raise(DramCycle& value, DramCycle to) {
    value = std::max(value, to);
}

}  // namespace

DramBankTiming::DramBankTiming(const DramOrganisation& organisation, const DramTiming& timing)
    : t_(timing), banksPerRank_(organisation.banksPerRank()) {
    readToWrite_ = t_.readToWrite > 0 ? t_.readToWrite : t_.cl + t_.burst + 2 - t_.cwl;
    writeToReadS_ = t_.cwl + t_.burst + t_.wtrS;
    writeToReadL_ = t_.cwl + t_.burst + t_.wtrL;
    writeToPrecharge_ = t_.cwl + t_.burst + t_.wr;
    ccdWriteS_ = t_.ccdWriteS > 0 ? t_.ccdWriteS : t_.ccdS;
    ccdWriteL_ = t_.ccdWriteL > 0 ? t_.ccdWriteL : t_.ccdL;
    const int ranks = organisation.pseudoChannels * organisation.ranks;
    banks_.resize(std::size_t(organisation.banks()));
    groups_.resize(std::size_t(ranks * organisation.bankGroups));
    ranks_.resize(std::size_t(ranks));
    buses_.resize(std::size_t(organisation.pseudoChannels));
    for (std::size_t i = 0; i < banks_.size(); ++i) {
        banks_[i].group = int(i) / organisation.banksPerGroup;
        banks_[i].rank = int(i) / banksPerRank_;
        banks_[i].bus = banks_[i].rank / organisation.ranks;
    }
    for (int i = 0; i < ranks; ++i) {
        ranks_[std::size_t(i)].firstBank = i * banksPerRank_;
        ranks_[std::size_t(i)].activates.fill(-dramNever);
    }
}

DramCycle DramBankTiming::earliestActivate(int bank) const {
    const auto& b = banks_[std::size_t(bank)];
    const auto& r = ranks_[std::size_t(b.rank)];
    return std::max({b.nextActivate, groups_[std::size_t(b.group)].nextActivate, r.nextActivate,
                     r.activates[std::size_t(r.oldest)] + t_.faw});
}

DramCycle DramBankTiming::earliestPrecharge(int bank) const {
    const auto& b = banks_[std::size_t(bank)];
    return std::max(b.nextPrecharge, ranks_[std::size_t(b.rank)].nextPrecharge);
}

DramCycle DramBankTiming::earliestColumn(int bank, bool write) const {
    const auto& b = banks_[std::size_t(bank)];
    const auto& g = groups_[std::size_t(b.group)];
    const auto& r = ranks_[std::size_t(b.rank)];
    const auto& bus = buses_[std::size_t(b.bus)];
    // Another rank drives the bus: its last burst must be off it, with time to hand over.
    const bool handOver = bus.lastRank >= 0 && bus.lastRank != b.rank;
    const DramCycle data = bus.dataFree + (handOver ? t_.rankSwitch : 0) - (write ? t_.cwl : t_.cl);
    if (write) return std::max({b.nextWrite, g.nextWrite, r.nextWrite, data});
    return std::max({b.nextRead, g.nextRead, r.nextRead, data});
}

DramCycle DramBankTiming::earliestPrechargeAll(int rank) const {
    // Of every bank: one that is about to close by itself must have come to it too.
    const auto& r = ranks_[std::size_t(rank)];
    DramCycle at = r.nextPrecharge;
    for (int i = 0; i < banksPerRank_; ++i) raise(at, banks_[std::size_t(r.firstBank + i)].nextPrecharge);
    return at;
}

DramCycle DramBankTiming::earliestRefresh(int rank) const {
    DramCycle at = 0;
    for (int i = 0; i < banksPerRank_; ++i)
        raise(at, banks_[std::size_t(ranks_[std::size_t(rank)].firstBank + i)].nextActivate);
    return at;
}

DramCycle DramBankTiming::earliestRefreshBank(int bank) const {
    return earliestActivate(bank);
}

void DramBankTiming::opened(DramRankState& rank, DramCycle at) {
    if (rank.openBanks++ == 0) rank.openSince = std::max(at, rank.closedAt);
}

void DramBankTiming::closed(DramRankState& rank, DramCycle at) {
    raise(rank.closedAt, at);
    if (--rank.openBanks == 0) rank.openCycles += rank.closedAt - rank.openSince;
}

void DramBankTiming::activate(int bank, std::int64_t row, DramCycle at) {
    auto& b = banks_[std::size_t(bank)];
    auto& r = ranks_[std::size_t(b.rank)];
    b.openRow = row;
    b.activated = at;
    b.hits = 0;
    raise(b.nextRead, at + t_.rcdRead);
    raise(b.nextWrite, at + t_.rcdWrite);
    raise(b.nextPrecharge, at + t_.ras);
    raise(b.nextActivate, at + t_.rc);
    raise(groups_[std::size_t(b.group)].nextActivate, at + t_.rrdL);
    raise(r.nextActivate, at + t_.rrdS);
    r.activates[std::size_t(r.oldest)] = at;
    r.oldest = (r.oldest + 1) % 4;
    opened(r, at);
}

void DramBankTiming::precharge(int bank, DramCycle at) {
    auto& b = banks_[std::size_t(bank)];
    auto& r = ranks_[std::size_t(b.rank)];
    b.openRow = noRow;
    raise(b.nextActivate, at + t_.rp);
    raise(r.nextPrecharge, at + t_.ppd);
    closed(r, at);
}

void DramBankTiming::prechargeAll(int rank, DramCycle at) {
    const int first = ranks_[std::size_t(rank)].firstBank;
    for (int i = first; i < first + banksPerRank_; ++i)
        if (banks_[std::size_t(i)].openRow != noRow) precharge(i, at);
}

DramCycle DramBankTiming::column(int bank, bool write, bool thenPrecharge, DramCycle at) {
    auto& b = banks_[std::size_t(bank)];
    auto& g = groups_[std::size_t(b.group)];
    auto& r = ranks_[std::size_t(b.rank)];
    auto& bus = buses_[std::size_t(b.bus)];
    if (write) {
        raise(g.nextWrite, at + ccdWriteL_);
        raise(r.nextWrite, at + ccdWriteS_);
        raise(g.nextRead, at + writeToReadL_);
        raise(r.nextRead, at + writeToReadS_);
        raise(b.nextPrecharge, at + writeToPrecharge_);
    } else {
        raise(g.nextRead, at + t_.ccdL);
        raise(r.nextRead, at + t_.ccdS);
        raise(r.nextWrite, at + readToWrite_);
        raise(b.nextPrecharge, at + t_.rtp);
    }
    ++b.hits;
    bus.dataFree = at + (write ? t_.cwl : t_.cl) + t_.burst;
    bus.lastRank = b.rank;
    bus.lastWrite = write;
    if (thenPrecharge) {
        // The device itself waits for tRAS and tRTP or tWR before it closes the row.
        b.openRow = noRow;
        raise(b.nextActivate, b.nextPrecharge + t_.rp);
        closed(r, b.nextPrecharge);
    }
    return bus.dataFree;
}

void DramBankTiming::refresh(int rank, DramCycle at) {
    const int first = ranks_[std::size_t(rank)].firstBank;
    for (int i = first; i < first + banksPerRank_; ++i) raise(banks_[std::size_t(i)].nextActivate, at + t_.rfc);
}

void DramBankTiming::refreshBank(int bank, DramCycle at) {
    auto& b = banks_[std::size_t(bank)];
    auto& r = ranks_[std::size_t(b.rank)];
    raise(b.nextActivate, at + t_.rfcBank);
    // A refresh activates inside the bank, so that the rank waits as after an activate and stands by as with a row
    // open.
    raise(r.nextActivate, at + std::max(t_.refreshToRefresh, t_.rrdS));
    opened(r, at);
    closed(r, at + t_.rfcBank);
}

DramCycle DramBankTiming::openCycles(DramCycle now) const {
    DramCycle sum = 0;
    for (const auto& r : ranks_) {
        // What was counted, up to `counted`, may lie ahead.
        const DramCycle counted = r.openBanks > 0 ? r.openSince : r.closedAt;
        sum += r.openCycles + (r.openBanks > 0 ? std::max<DramCycle>(0, now - r.openSince) : 0);
        sum -= std::max<DramCycle>(0, counted - now);
    }
    return sum;
}

}  // namespace orrery
