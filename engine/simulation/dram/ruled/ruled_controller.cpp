#include "simulation/dram/ruled/ruled_controller.h"

#include <algorithm>

namespace orrery {

RuledDramController::RuledDramController(const DramRules& rules, bool refresh)
    : rules_(rules),
      state_(rules),
      reads_(state_.banks(), rules.readBuffer, state_.banksPerWord()),
      writes_(state_.banks(), rules.writeBuffer, state_.banksPerWord()),
      active_(static_cast<std::size_t>(state_.banks())),
      openRow_(static_cast<std::size_t>(state_.banks()), ruledNoRow),
      words_(static_cast<std::size_t>(state_.words())),
      openings_(openRow_.size()),
      waits_(rules.rules.size() + ruledOtherWaits, 0) {
    halfClock_ = rules.controller == RuledController::HalfClock;
    dataPace_ = rules.burstPace();
    drainAbove_ = rules.drainAbove * rules.writeBuffer, drainBelow_ = rules.drainBelow * rules.writeBuffer;
    dataClockAfter_[0] = rules.timingOf("nCL") + rules.timingOf("nBL") + rules.timingOf("nWCKPST");
    dataClockAfter_[1] = rules.timingOf("nCWL") + rules.timingOf("nBL") + rules.timingOf("nWCKPST");
    secondWithin_ = rules.timingOf("nAAD");
    if (refresh) {
        const bool perBank = rules.controller == RuledController::HalfClock;
        refreshInterval_ = rules.timingOf(perBank ? "nREFIpb" : "nREFI");
        if (refreshInterval_ > 0) nextRefresh_ = refreshInterval_;
    }
}

RuledOffer RuledDramController::offer(std::int32_t request, bool write, const RuledPlace& place) {
    auto& buffer = write ? writes_ : reads_;
    if (writes_.size() > 0 && writes_.contains(place.bank, place.row, place.column)) {
        ++(write ? counts_.merged : counts_.forwarded);
        return write ? RuledOffer::Merged : RuledOffer::Forwarded;
    }
    if (buffer.full()) return RuledOffer::Refused;
    RuledEntry e;
    e.row = place.row, e.column = place.column, e.bank = place.bank;
    e.request = request, e.write = write, e.arrived = clock_;
    const std::int64_t row = openRow_[static_cast<std::size_t>(place.bank)];
    if (buffer.push(e, row)) place.row == row ? lowerColumns(buffer, place.bank) : lowerRows(buffer, place.bank);
    next_ = clock_ + 1;
    return RuledOffer::Taken;
}

// A bank's next row command of this buffer may come sooner than what was found so far.
void RuledDramController::lowerRows(RuledBuffer& buffer, int bank) {
    const Banks& word = words_[static_cast<std::size_t>(state_.wordOf(bank))];
    const std::uint64_t bit = state_.bitOf(bank);
    if (((word.reads | word.writes) & bit) != 0) return;  // leaveActive() comes back to it
    const auto command = (word.open & bit) != 0 ? RuledCommand::Precharge : RuledCommand::Activate;
    buffer.rowsFrom = std::min(buffer.rowsFrom, state_.earliest(command, bank));
}

void RuledDramController::lowerColumns(RuledBuffer& buffer, int bank) {
    const auto command = &buffer == &writes_ ? RuledCommand::Write : RuledCommand::Read;
    buffer.columnsFrom = std::min(buffer.columnsFrom, state_.earliest(command, bank));
}

void RuledDramController::chooseBuffer() {
    if (!writing_)
        writing_ = writes_.size() > drainAbove_ || reads_.size() == 0;
    else if (writes_.size() < drainBelow_ && reads_.size() != 0)
        writing_ = false;
}

// From which cycle on a command may issue, seen from this one.
inline std::int64_t RuledDramController::allowed(RuledCommand command, int bank) const {
    const std::int64_t at = state_.earliest(command, bank);
    if (!halfClock_ || command == RuledCommand::Precharge || command == RuledCommand::PrechargeAll) return at;
    return std::max(at, clock_) | 1;  // whole clocks begin on odd cycles
}

// The same for many banks; a bound for those that may not is enough to jump to.
inline std::uint64_t RuledDramController::allowedAmong(RuledCommand command, int word, std::uint64_t banks,
                                                       std::int64_t& soonest) const {
    if (!halfClock_ || command == RuledCommand::Precharge)
        return state_.allowedAmong(command, word, banks, clock_, soonest);
    if ((clock_ & 1) == 0) {
        soonest = std::min(soonest, clock_ + 1);
        return 0;
    }
    std::int64_t at = never;
    banks = state_.allowedAmong(command, word, banks, clock_, at);
    soonest = std::min(soonest, at | 1);
    return banks;
}

void RuledDramController::send(RuledCommand command, int bank) {
    state_.issue(command, bank, clock_);
    ++counts_.commands[static_cast<int>(command)];
    issued_ = true;
    if (record_) record_->push_back({clock_, command, bank, state_.reachOf(command), -1, 0});
}

void RuledDramController::setRow(int bank, std::int64_t row) {
    openRow_[static_cast<std::size_t>(bank)] = row;
    auto& open = words_[static_cast<std::size_t>(state_.wordOf(bank))].open;
    open = row == ruledNoRow ? open & ~state_.bitOf(bank) : open | state_.bitOf(bank);
    for (RuledBuffer* buffer : {&reads_, &writes_}) {
        buffer->rowChanged(bank, row);
        if (buffer->bank(bank).hit >= 0) lowerColumns(*buffer, bank);
        if (buffer->bank(bank).miss >= 0) lowerRows(*buffer, bank);
    }
}

void RuledDramController::closeAll(int first, int count) {
    for (int b = first; b < first + count; ++b)
        if (openRow_[static_cast<std::size_t>(b)] != ruledNoRow) setRow(b, ruledNoRow);
}

void RuledDramController::count(RuledEntry& e, RuledCommand command) {
    if (e.counted) return;
    e.counted = true;
    if (command == RuledCommand::Precharge)
        ++counts_.rowConflicts;
    else if (command == RuledCommand::Activate)
        ++counts_.rowMisses;
    else
        ++counts_.rowHits;
}

// What the data bus waited for since its last burst: back from this command over the row's opening to what it waited
// for, each part to the rule that held it.
void RuledDramController::blame(const RuledEntry& e) {
    const std::size_t other = rules_.rules.size();
    const std::int64_t from = lastColumn_ < 0 ? e.arrived : lastColumn_ + dataPace_;
    if (lastColumn_ >= 0) waits_[other + ruledDataBus] += std::min(dataPace_, clock_ - lastColumn_);
    lastColumn_ = clock_;
    if (clock_ <= from) return;
    std::int64_t until = clock_;
    const Opening& opening = openings_[static_cast<std::size_t>(e.bank)];
    auto command = e.write ? RuledCommand::Write : RuledCommand::Read;
    std::int32_t rule = -1;
    std::int64_t ready = state_.earliest(command, e.bank, rule);
    for (int step = 0; until > from; ++step) {
        // After the rule let it go the command waited for its request, or for others that went first.
        const std::int64_t free = std::max(from, std::min(until, ready));
        const std::int64_t idle = std::max(free, std::min(until, e.arrived + 1));
        waits_[other + ruledOrder] += until - idle;
        waits_[other + ruledRequests] += idle - free;
        until = free;
        if (until <= from || rule < 0) break;
        const bool opened =
            step == 0 && opening.activated >= 0 && opening.activated < until && state_.isAfterActivate(rule);
        const bool closed =
            step == 1 && opening.precharged >= 0 && opening.precharged < until && state_.isAfterPrecharge(rule);
        const std::int64_t start = opened ? opening.activated : closed ? opening.precharged : from;
        waits_[static_cast<std::size_t>(rule)] += until - std::max(from, start);
        until = std::max(from, start);
        if (!opened && !closed) break;
        ready = opened ? opening.activateReady : opening.prechargeReady;
        rule = opened ? opening.activateRule : opening.prechargeRule;
    }
}

void RuledDramController::noteRow(RuledCommand command, int bank) {
    Opening& opening = openings_[static_cast<std::size_t>(bank)];
    if (command == RuledCommand::Activate) {
        opening.activated = clock_;
        opening.activateReady = state_.earliest(command, bank, opening.activateRule);
    } else {
        opening.precharged = clock_;
        opening.prechargeReady = state_.earliest(command, bank, opening.prechargeRule);
    }
}

bool RuledDramController::synchronise(bool write, int bank) {
    if (rules_.controller != RuledController::WriteClock) return false;
    if (clock_ < dataClockUntil_) return false;
    send(write ? RuledCommand::SyncWrite : RuledCommand::SyncRead, bank);
    dataClockUntil_ = clock_ + 2;
    return true;
}

void RuledDramController::issueColumn(const RuledEntry& e, std::vector<Done>& done) {
    if (rules_.controller == RuledController::WriteClock)
        dataClockUntil_ = std::max(dataClockUntil_, clock_ + dataClockAfter_[e.write]);
    blame(e);
    send(e.write ? RuledCommand::Write : RuledCommand::Read, e.bank);
    done.push_back({e.request, e.write ? clock_ : clock_ + rules_.readLatency});
}

void RuledDramController::leaveActive(int bank) {
    auto& word = words_[static_cast<std::size_t>(state_.wordOf(bank))];
    word.reads &= ~state_.bitOf(bank), word.writes &= ~state_.bitOf(bank);
    --activeCount_;
    for (RuledBuffer* buffer : {&reads_, &writes_})  // its row may be closed now
        if (buffer->bank(bank).miss >= 0) lowerRows(*buffer, bank);
}

bool RuledDramController::serveActive(std::vector<Done>& done) {
    if (activeCount_ == 0) return false;
    if (activeFrom_ > clock_) {
        soonest_ = std::min(soonest_, activeFrom_);
        return false;
    }
    Pick pick;
    std::int64_t soonest = never;
    for (int w = 0; w < state_.words(); ++w) {
        const Banks& word = words_[static_cast<std::size_t>(w)];
        std::uint64_t ready = 0;
        if (word.reads != 0) ready = allowedAmong(RuledCommand::Read, w, word.reads, soonest);
        if (word.writes != 0) ready |= allowedAmong(RuledCommand::Write, w, word.writes, soonest);
        for (; ready != 0; ready &= ready - 1) {
            const int bank = state_.firstOf(w) + std::countr_zero(ready);
            const std::int64_t arrived = active_[static_cast<std::size_t>(bank)].arrived;
            if (arrived < pick.order) pick.order = arrived, pick.entry = bank;
        }
    }
    soonest_ = std::min(soonest_, soonest);
    activeFrom_ = pick.entry < 0 ? soonest : clock_ + 1;
    if (pick.entry < 0) return false;
    const RuledEntry e = active_[static_cast<std::size_t>(pick.entry)];
    if (synchronise(e.write, e.bank)) {
        syncedActive_ = true, synced_ = pick.entry;
        return true;
    }
    leaveActive(e.bank);
    issueColumn(e, done);
    return true;
}

bool RuledDramController::serveRefresh() {
    if (refreshHead_ == refreshes_.size()) return false;
    const Refresh refresh = refreshes_[refreshHead_];
    const int reach = state_.reachOf(refresh.command);
    bool open = false, pending = false;
    for (int b = refresh.bank; b < refresh.bank + reach; ++b) {
        open |= openRow_[static_cast<std::size_t>(b)] != ruledNoRow;
        const Banks& word = words_[static_cast<std::size_t>(state_.wordOf(b))];
        pending |= ((word.reads | word.writes) & state_.bitOf(b)) != 0;
    }
    RuledCommand command = refresh.command;
    if (open) command = command == RuledCommand::RefreshAll ? RuledCommand::PrechargeAll : RuledCommand::Precharge;
    if (open && pending) return true;  // until the activated request has been served, an event of its own
    const std::int64_t at = allowed(command, refresh.bank);
    if (at > clock_) {
        soonest_ = std::min(soonest_, at);
        return true;
    }
    send(command, refresh.bank);
    if (open) {
        closeAll(refresh.bank, reach);
    } else if (++refreshHead_ == refreshes_.size()) {
        refreshes_.clear();
        refreshHead_ = 0;
    }
    return true;
}

bool RuledDramController::pickColumns(const RuledBuffer& buffer, RuledCommand column, Pick& pick,
                                      std::int64_t& soonest) const {
    bool found = false;
    for (int w = 0; w < state_.words(); ++w) {
        const std::uint64_t banks = buffer.hits(w);
        if (banks == 0) continue;
        for (auto ready = allowedAmong(column, w, banks, soonest); ready != 0; ready &= ready - 1) {
            const auto entry = buffer.bank(state_.firstOf(w) + std::countr_zero(ready)).hit;
            const std::int64_t arrived = buffer.entry(entry).arrived;
            if (arrived < pick.order) pick.order = arrived, pick.entry = entry, pick.command = column;
            found = true;
        }
    }
    return found;
}

bool RuledDramController::pickRows(const RuledBuffer& buffer, Pick& pick, std::int64_t& soonest) const {
    bool found = false;
    for (int w = 0; w < state_.words(); ++w) {
        const std::uint64_t banks = buffer.misses(w);
        if (banks == 0) continue;
        const Banks& word = words_[static_cast<std::size_t>(w)];
        const auto take = [&](RuledCommand command, std::uint64_t among) {
            if (among == 0) return;
            for (auto ready = allowedAmong(command, w, among, soonest); ready != 0; ready &= ready - 1) {
                const auto entry = buffer.bank(state_.firstOf(w) + std::countr_zero(ready)).miss;
                const std::int64_t arrived = buffer.entry(entry).arrived;
                if (arrived < pick.order) pick.order = arrived, pick.entry = entry, pick.command = command;
                found = true;
            }
        };
        // A second part of an activate, or a request that opened the row, comes first.
        if (secondBank_ < 0) take(RuledCommand::Activate, banks & ~word.open);
        take(RuledCommand::Precharge, banks & word.open & ~(word.reads | word.writes));
    }
    return found;
}

bool RuledDramController::serveBuffer(unsigned kinds, std::vector<Done>& done) {
    chooseBuffer();
    auto& buffer = writing_ ? writes_ : reads_;
    const auto column = writing_ ? RuledCommand::Write : RuledCommand::Read;
    Pick pick;
    const auto look = [&](std::int64_t& from, auto&& pickSome) {
        if (from <= clock_) {
            std::int64_t soonest = never;
            from = pickSome(soonest) ? clock_ + 1 : soonest;
            soonest_ = std::min(soonest_, soonest);
        } else {
            soonest_ = std::min(soonest_, from);
        }
    };
    if (kinds & Columns)
        look(buffer.columnsFrom, [&](std::int64_t& soonest) { return pickColumns(buffer, column, pick, soonest); });
    if (kinds & Rows) look(buffer.rowsFrom, [&](std::int64_t& soonest) { return pickRows(buffer, pick, soonest); });
    if (pick.entry < 0) return false;
    auto& e = buffer.entry(pick.entry);
    const int bank = e.bank;
    count(e, pick.command);
    if (pick.command == column && synchronise(e.write, bank)) {
        syncedActive_ = false, syncedWrite_ = e.write, synced_ = pick.entry;
        return true;
    }
    if (pick.command != column) noteRow(pick.command, bank);
    if (pick.command == RuledCommand::Precharge) {
        send(pick.command, bank);
        setRow(bank, ruledNoRow);
    } else if (pick.command == RuledCommand::Activate) {
        send(pick.command, bank);
        if (rules_.controller == RuledController::WriteClock) {
            secondBank_ = bank;
            secondBy_ = clock_ + secondWithin_;
        }
        active_[static_cast<std::size_t>(bank)] = e;
        auto& word = words_[static_cast<std::size_t>(state_.wordOf(bank))];
        (e.write ? word.writes : word.reads) |= state_.bitOf(bank);
        ++activeCount_;
        const auto access = e.write ? RuledCommand::Write : RuledCommand::Read;
        activeFrom_ = std::min(activeFrom_, state_.earliest(access, bank));
        const std::int64_t row = e.row;
        buffer.remove(pick.entry, ruledNoRow);
        setRow(bank, row);
    } else {
        const RuledEntry served = e;
        buffer.remove(pick.entry, openRow_[static_cast<std::size_t>(bank)]);
        issueColumn(served, done);
    }
    return true;
}

void RuledDramController::queueRefreshes() {
    if (clock_ < nextRefresh_) return;
    nextRefresh_ += refreshInterval_;
    if (rules_.controller == RuledController::HalfClock) {
        // A bank of each pseudo-channel, in turn.
        const int channels = static_cast<int>(rules_.count[1]), banks = state_.banks() / channels;
        for (int c = 0; c < channels; ++c) refreshes_.push_back({c * banks + refreshTurn_, RuledCommand::RefreshBank});
        refreshTurn_ = refreshTurn_ + 1 == banks ? 0 : refreshTurn_ + 1;
        return;
    }
    const auto command = RuledCommand::RefreshAll;
    for (int b = 0; b < state_.banks(); b += state_.reachOf(command)) refreshes_.push_back({b, command});
}

void RuledDramController::tickOneBus(std::vector<Done>& done) {
    if (serveActive(done)) return;
    if (serveRefresh()) return;
    serveBuffer(All, done);
}

void RuledDramController::tickSplitBus(std::vector<Done>& done) {
    const bool waiting = refreshHead_ != refreshes_.size();
    if (!serveActive(done) && !waiting) serveBuffer(Columns, done);
    if (!serveRefresh()) serveBuffer(Rows, done);
}

void RuledDramController::tickWriteClock(std::vector<Done>& done) {
    if (secondBank_ >= 0 && clock_ >= secondBy_) return sendSecond();
    if (synced_ >= 0) {
        const auto at = static_cast<std::size_t>(synced_);
        RuledEntry e;
        if (syncedActive_) {
            e = active_[at];
            leaveActive(e.bank);
        } else {
            auto& buffer = syncedWrite_ ? writes_ : reads_;
            e = buffer.entry(synced_);
            buffer.remove(synced_, openRow_[static_cast<std::size_t>(e.bank)]);
        }
        synced_ = -1;
        issueColumn(e, done);
        return;
    }
    tickOneBus(done);
    if (!issued_ && secondBank_ >= 0) sendSecond();
}

void RuledDramController::sendSecond() {
    send(RuledCommand::ActivateSecond, secondBank_);
    secondBank_ = -1;
    reads_.rowsFrom = writes_.rowsFrom = 0;
}

void RuledDramController::tick(std::vector<Done>& done) {
    ++clock_;
    issued_ = false;
    soonest_ = never;
    queueRefreshes();
    switch (rules_.controller) {
        case RuledController::OneBus:
            tickOneBus(done);
            break;
        case RuledController::SplitBus:
        case RuledController::HalfClock:
            tickSplitBus(done);
            break;
        case RuledController::WriteClock:
            tickWriteClock(done);
            break;
    }
    next_ = issued_ ? clock_ + 1 : std::max(clock_ + 1, std::min(soonest_, nextRefresh_));
}

void RuledDramController::skipTo(std::int64_t at) {
    clock_ = std::max(clock_, std::min(next_, at) - 1);
}

}  // namespace orrery
