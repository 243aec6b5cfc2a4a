#include "simulation/dram/ruled/ruled_controller.h"

#include <algorithm>
#include <bit>

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
    steady_ = drainBelow_ <= drainAbove_;
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
    if (isWaitingWrite(place)) {
        ++(write ? counts_.merged : counts_.forwarded);
        return write ? RuledOffer::Merged : RuledOffer::Forwarded;
    }
    if (buffer.full()) return RuledOffer::Refused;
    RuledEntry e;
    e.row = place.row, e.column = place.column, e.bank = place.bank;
    e.request = request, e.write = write, e.arrived = clock_;
    const std::int64_t row = openRow_[static_cast<std::size_t>(place.bank)];
    if (buffer.push(e, row)) place.row == row ? lowerColumns(buffer, place.bank) : lowerRows(buffer, place.bank);
    return RuledOffer::Taken;
}

// A bank's next row command of this buffer may come sooner than what was found so far.
void RuledDramController::lowerRows(RuledBuffer& buffer, int bank) {
    const Banks& word = words_[static_cast<std::size_t>(state_.wordOf(bank))];
    const std::uint64_t bit = state_.bitOf(bank);
    if (((word.reads | word.writes) & bit) != 0) return;  // leaveActive() comes back to it
    const bool open = (word.open & bit) != 0;
    auto& from = open ? buffer.prechargesFrom : buffer.activatesFrom;
    from = std::min(from, state_.earliest(open ? RuledCommand::Precharge : RuledCommand::Activate, bank));
}

void RuledDramController::lowerColumns(RuledBuffer& buffer, int bank) {
    const auto command = &buffer == &writes_ ? RuledCommand::Write : RuledCommand::Read;
    buffer.columnsFrom = std::min(buffer.columnsFrom, state_.earliest(command, bank));
}

// From which cycle on a command may issue, seen from this one.
inline std::int64_t RuledDramController::allowed(RuledCommand command, int bank) const {
    const std::int64_t at = state_.earliest(command, bank);
    if (!halfClock_ || command == RuledCommand::Precharge || command == RuledCommand::PrechargeAll) return at;
    return std::max(at, clock_) | 1;  // whole clocks begin on odd cycles
}

// The same for many banks; a bound for those that may not is enough to jump to.
inline std::uint64_t RuledDramController::allowedAmong(RuledCommand command, int word, std::uint64_t banks,
                                                       std::int64_t& soonest) {
    if (halfClock_ && command != RuledCommand::Precharge && (clock_ & 1) == 0) {
        soonest = std::min(soonest, clock_ + 1);
        return 0;
    }
    return state_.allowedAmong(command, word, banks, clock_, soonest);
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
    refreshFrom_ = 0;
    for (RuledBuffer* buffer : {&reads_, &writes_})  // its row may be closed now
        if (buffer->bank(bank).miss >= 0) lowerRows(*buffer, bank);
}

void RuledDramController::takeActive(int bank, std::vector<Done>& done) {
    issueColumn(active_[static_cast<std::size_t>(bank)], done);
    leaveActive(bank);
}

void RuledDramController::takeColumn(RuledBuffer& buffer, std::int32_t entry, std::vector<Done>& done) {
    const int bank = buffer.entry(entry).bank;
    issueColumn(buffer.entry(entry), done);
    buffer.remove(entry, openRow_[static_cast<std::size_t>(bank)]);
    if (buffer.bank(bank).hit >= 0) lowerColumns(buffer, bank);
}

// The oldest of those banks that may take the command, if it is older than the pick; `banks` of a word, `arrived` of a
// bank. `from` becomes a bound.
template <class Among, class Arrived>
inline void RuledDramController::pickOldest(RuledCommand command, std::int64_t& from, Pick& pick, Among&& banks,
                                            Arrived&& arrived) {
    if (from > clock_) return;
    std::int64_t soonest = never, order = INT64_MAX;
    int bank = -1;
    bool several = false;
    for (int w = 0; w < state_.words(); ++w) {
        const std::uint64_t among = banks(w);
        if (among == 0) continue;
        std::uint64_t ready = allowedAmong(command, w, among, soonest);
        several |= (ready & (ready - 1)) != 0 || (bank >= 0 && ready != 0);
        for (; ready != 0; ready &= ready - 1) {
            const int b = state_.firstOf(w) + std::countr_zero(ready);
            const std::int64_t its = arrived(b);
            bank = its < order ? b : bank;
            order = std::min(order, its);
        }
    }
    from = bank < 0 ? soonest : clock_ + 1;
    if (order < pick.order) pick = {order, several ? clock_ + 1 : soonest, bank, command};
}

bool RuledDramController::serveActive(std::vector<Done>& done) {
    if (activeCount_ == 0 || activeFrom_ > clock_) return false;
    Pick pick;
    std::int64_t writesFrom = activeFrom_;
    const auto arrived = [&](int bank) { return active_[static_cast<std::size_t>(bank)].arrived; };
    const auto word = [&](int w) -> const Banks& { return words_[static_cast<std::size_t>(w)]; };
    pickOldest(
        RuledCommand::Read, activeFrom_, pick, [&](int w) { return word(w).reads; }, arrived);
    pickOldest(
        RuledCommand::Write, writesFrom, pick, [&](int w) { return word(w).writes; }, arrived);
    activeFrom_ = std::min(activeFrom_, writesFrom);
    if (pick.bank < 0) return false;
    const RuledEntry& e = active_[static_cast<std::size_t>(pick.bank)];
    if (synchronise(e.write, e.bank)) {
        syncedActive_ = true, synced_ = pick.bank;
        return true;
    }
    takeActive(pick.bank, done);
    return true;
}

bool RuledDramController::serveRefresh() {
    if (refreshHead_ == refreshes_.size()) return false;
    if (refreshFrom_ > clock_) return true;
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
    refreshFrom_ = open && pending ? never : allowed(command, refresh.bank);
    if (refreshFrom_ > clock_) return true;
    send(command, refresh.bank);
    refreshFrom_ = 0;
    if (open) {
        closeAll(refresh.bank, reach);
    } else if (++refreshHead_ == refreshes_.size()) {
        refreshes_.clear();
        refreshHead_ = 0;
    }
    return true;
}

void RuledDramController::activate(RuledBuffer& buffer, std::int32_t entry) {
    const RuledEntry e = buffer.entry(entry);
    send(RuledCommand::Activate, e.bank);
    if (rules_.controller == RuledController::WriteClock) {
        secondBank_ = e.bank;
        secondBy_ = clock_ + secondWithin_;
    }
    active_[static_cast<std::size_t>(e.bank)] = e;
    auto& word = words_[static_cast<std::size_t>(state_.wordOf(e.bank))];
    (e.write ? word.writes : word.reads) |= state_.bitOf(e.bank);
    ++activeCount_;
    activeFrom_ = std::min(activeFrom_, state_.earliest(e.write ? RuledCommand::Write : RuledCommand::Read, e.bank));
    buffer.remove(entry, ruledNoRow);
    setRow(e.bank, e.row);
}

bool RuledDramController::serveBuffer(unsigned kinds, std::vector<Done>& done) {
    writing_ = wouldWrite();
    auto& buffer = writing_ ? writes_ : reads_;
    const auto column = writing_ ? RuledCommand::Write : RuledCommand::Read;
    Pick pick;
    if (kinds & Columns)
        pickOldest(
            column, buffer.columnsFrom, pick, [&](int w) { return buffer.hits(w); },
            [&](int bank) { return buffer.hitArrived(bank); });
    if (kinds & Rows) {
        const auto word = [&](int w) -> const Banks& { return words_[static_cast<std::size_t>(w)]; };
        const auto arrived = [&](int bank) { return buffer.missArrived(bank); };
        // A second part of an activate, or a request that opened the row, comes first.
        if (secondBank_ < 0)
            pickOldest(
                RuledCommand::Activate, buffer.activatesFrom, pick,
                [&](int w) { return buffer.misses(w) & ~word(w).open; }, arrived);
        pickOldest(
            RuledCommand::Precharge, buffer.prechargesFrom, pick,
            [&](int w) { return buffer.misses(w) & word(w).open & ~(word(w).reads | word(w).writes); }, arrived);
    }
    if (pick.bank < 0) return false;
    const auto& list = buffer.bank(pick.bank);
    const std::int32_t entry = pick.command == column ? list.hit : list.miss;
    count(buffer.entry(entry), pick.command);
    if (pick.command == column) {
        if (synchronise(writing_, pick.bank)) {
            syncedActive_ = false, syncedWrite_ = writing_, synced_ = entry;
            return true;
        }
        buffer.columnsFrom = pick.others;
        takeColumn(buffer, entry, done);
        return true;
    }
    noteRow(pick.command, pick.bank);
    if (pick.command == RuledCommand::Precharge) {
        buffer.prechargesFrom = pick.others;
        send(pick.command, pick.bank);
        setRow(pick.bank, ruledNoRow);
    } else {
        buffer.activatesFrom = pick.others;
        activate(buffer, entry);
    }
    return true;
}

void RuledDramController::queueRefreshes() {
    if (clock_ < nextRefresh_) return;
    nextRefresh_ += refreshInterval_;
    refreshFrom_ = 0;
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
        const std::int32_t its = synced_;
        synced_ = -1;
        return syncedActive_ ? takeActive(its, done) : takeColumn(syncedWrite_ ? writes_ : reads_, its, done);
    }
    tickOneBus(done);
    if (!issued_ && secondBank_ >= 0) sendSecond();
}

void RuledDramController::sendSecond() {
    send(RuledCommand::ActivateSecond, secondBank_);
    secondBank_ = -1;
}

void RuledDramController::tick(std::vector<Done>& done) {
    ++clock_;
    issued_ = false;
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
}

std::int64_t RuledDramController::nextTick() const {
    if (synced_ >= 0 || secondBank_ >= 0 || !steady_) return clock_ + 1;
    std::int64_t at = nextRefresh_;
    if (activeCount_ > 0) at = std::min(at, ofWholeClock(activeFrom_));
    if (refreshHead_ != refreshes_.size()) {
        at = std::min(at, refreshFrom_);
    } else {
        const bool writing = wouldWrite();
        const auto& buffer = writing ? writes_ : reads_;
        const auto boundOf = [&](RuledCommand command, std::int64_t from) {
            return std::max(from, state_.channelFrom(command));
        };
        const auto column = writing ? RuledCommand::Write : RuledCommand::Read;
        at = std::min(at, ofWholeClock(boundOf(column, buffer.columnsFrom)));
        at = std::min(at, ofWholeClock(boundOf(RuledCommand::Activate, buffer.activatesFrom)));
        at = std::min(at, boundOf(RuledCommand::Precharge, buffer.prechargesFrom));
    }
    return std::max(clock_ + 1, at);
}

void RuledDramController::pass(std::int64_t at) {
    if (at <= clock_ + 1) return;
    if (refreshHead_ == refreshes_.size()) writing_ = wouldWrite();  // every tick looks again
    clock_ = at - 1;
}

}  // namespace orrery
