#include "simulation/dram/ruled/ruled_controller.h"

#include <algorithm>
#include <cmath>

namespace orrery {

template <int Lanes>
RuledDramController<Lanes>::RuledDramController(const DramRules& rules, bool refresh)
    : kind_(rules.controller),
      state_(rules),
      reads_(state_.banks(), rules.readBuffer),
      writes_(state_.banks(), rules.writeBuffer),
      ranks_(rules, state_.banks()),
      waits_(rules.rules.size() + ruledOtherWaits, 0) {
    if constexpr (Lanes == 0) {
        active_.resize(state_.banks());
        activeOrder_.resize(state_.banks());
        openRow_.resize(state_.banks());
        openings_.resize(state_.banks());
        words_.resize(static_cast<std::size_t>(state_.words()));
        wanted_.resize(words_.size());
    }
    std::ranges::fill(openRow_, ruledNoRow);
    halfClock_ = kind_ == RuledController::HalfClock;
    dataPace_ = rules.burstPace();
    readLatency_ = rules.readLatency;
    drainFrom_ = static_cast<int>(std::floor(rules.drainAbove * rules.writeBuffer)) + 1;
    drainBelow_ = static_cast<int>(std::ceil(rules.drainBelow * rules.writeBuffer));
    steady_ = rules.drainBelow <= rules.drainAbove;
    dataClockAfter_[0] = rules.timingOf("nCL") + rules.timingOf("nBL") + rules.timingOf("nWCKPST");
    dataClockAfter_[1] = rules.timingOf("nCWL") + rules.timingOf("nBL") + rules.timingOf("nWCKPST");
    secondWithin_ = rules.timingOf("nAAD");
    closes_ = rules.page == RuledPage::Closed;
    closesAfter_[0] = std::max(rules.timingOf("nRTP"), rules.timingOf("nRTPL"));
    closesAfter_[1] = rules.timingOf("nCWL") + rules.timingOf("nBL") + rules.timingOf("nWR");
    refreshTakes_ = std::max(rules.timingOf("nRFC"), rules.timingOf("nRFCab"));
    bankRefreshTakes_ = rules.timingOf("nRFCpb");
    pseudoChannels_ = rules.count.size() > 1 ? static_cast<int>(rules.count[1]) : 1;
    if (refresh) {
        refreshInterval_ = rules.timingOf(halfClock_ ? "nREFIpb" : "nREFI");
        if (refreshInterval_ > 0) nextRefresh_ = refreshInterval_;
    }
}

template <int Lanes>
RuledOffer RuledDramController<Lanes>::offer(std::int32_t request, bool write, const RuledPlace& place) {
    auto& buffer = write ? writes_ : reads_;
    if (isWaitingWrite(place)) {
        ++(write ? counts_.merged : counts_.forwarded);
        return write ? RuledOffer::Merged : RuledOffer::Forwarded;
    }
    if (buffer.full()) return RuledOffer::Refused;
    const std::int64_t row = openRow_[static_cast<std::size_t>(place.bank)];
    const bool first = buffer.push(request, write, place, clock_, row);
    if (nextAt_ == unknown) return RuledOffer::Taken;
    if (wouldWrite() != waitsForWrites_)
        nextAt_ = unknown;
    else if (first && waitsForWrites_ == write && !refreshing())
        noteOffer(write, place.row == row, place.bank);
    return RuledOffer::Taken;
}

// The first of its bank may go sooner than what was found so far.
template <int Lanes>
void RuledDramController<Lanes>::noteOffer(bool write, bool hit, int bank) {
    const Banks& word = wordOf(bank);
    const std::uint64_t bit = state_.bitOf(bank);
    auto command = write ? RuledCommand::Write : RuledCommand::Read;
    if (!hit) {
        if ((word.taken() & bit) != 0) return;
        command = (word.open & bit) != 0 ? RuledCommand::Precharge : RuledCommand::Activate;
    }
    std::int64_t at = std::max(clock_ + 1, state_.earliest(command, bank));
    if (halfClock_ && command != RuledCommand::Precharge) at |= 1;
    nextAt_ = std::min(nextAt_, at);
}

// A copy for each of the commands that go all the time: how many rules each sets off is then foreseen.
template <int Lanes>
[[gnu::always_inline]] inline void RuledDramController<Lanes>::send(RuledCommand command, int bank) {
    state_.issue(command, bank, clock_);
    ++counts_.commands[static_cast<int>(command)];
    issued_ = true;
    if (record_) record_->push_back({clock_, command, bank, state_.reachOf(command), -1, 0});
}

template <int Lanes>
[[gnu::noinline]] void RuledDramController<Lanes>::sendRare(RuledCommand command, int bank) {
    send(command, bank);
}

template <int Lanes>
inline void RuledDramController<Lanes>::close(int bank, std::int64_t at) {
    openRow_[static_cast<std::size_t>(bank)] = ruledNoRow;
    ranks_.close(bank, at);
    wordOf(bank).open &= ~state_.bitOf(bank);
    reads_.rowClosed(bank);
    writes_.rowClosed(bank);
}

// The device waits by itself for tRAS, and for tRTP or tWR.
template <int Lanes>
[[gnu::noinline]] void RuledDramController<Lanes>::closeItself(bool write, int bank) {
    close(bank, std::max(clock_ + closesAfter_[write], state_.earliest(RuledCommand::Precharge, bank)));
    refreshFrom_ = 0;
}

// Nothing that waits wants the open row any more.
template <int Lanes>
inline bool RuledDramController<Lanes>::isLast(int bank) {
    const int w = state_.wordOf(bank);
    const std::uint64_t wanted = reads_.hits(w) | writes_.hits(w) | words_[static_cast<std::size_t>(w)].taken();
    return (wanted & state_.bitOf(bank)) == 0;
}

template <int Lanes>
inline void RuledDramController<Lanes>::count(RuledEntry& e, RuledCommand command) {
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
template <int Lanes>
inline void RuledDramController<Lanes>::blame(std::int64_t arrived, bool write, int bank) {
    std::int64_t* other = waits_.data() + waits_.size() - ruledOtherWaits;
    const std::int64_t from = lastColumn_ < 0 ? arrived : lastColumn_ + dataPace_;
    if (lastColumn_ >= 0) other[ruledDataBus] += std::min(dataPace_, clock_ - lastColumn_);
    lastColumn_ = clock_;
    if (clock_ <= from) return;
    std::int64_t until = clock_;
    const Opening& opening = openings_[static_cast<std::size_t>(bank)];
    std::int32_t rule = -1;
    std::int64_t ready = state_.earliest(write ? RuledCommand::Write : RuledCommand::Read, bank, rule);
    for (int step = 0; until > from; ++step) {
        // After the rule let it go the command waited for its request, or for others that went first.
        const std::int64_t free = std::max(from, std::min(until, ready));
        const std::int64_t idle = std::max(free, std::min(until, arrived + 1));
        other[ruledOrder] += until - idle;
        other[ruledRequests] += idle - free;
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

template <int Lanes>
inline bool RuledDramController<Lanes>::synchronise(bool write, int bank) {
    if (kind_ != RuledController::WriteClock || clock_ < dataClockUntil_) return false;
    sendRare(write ? RuledCommand::SyncWrite : RuledCommand::SyncRead, bank);
    dataClockUntil_ = clock_ + 2;
    return true;
}

template <int Lanes>
[[gnu::always_inline]] inline void RuledDramController<Lanes>::issueColumn(std::int64_t arrived, std::int32_t request,
                                                                           bool write, int bank, bool closing,
                                                                           std::vector<Done>& done) {
    if (kind_ == RuledController::WriteClock)
        dataClockUntil_ = std::max(dataClockUntil_, clock_ + dataClockAfter_[write]);
    blame(arrived, write, bank);
    if (closing) {
        sendRare(write ? RuledCommand::WritePrecharge : RuledCommand::ReadPrecharge, bank);
        closeItself(write, bank);
    } else {
        send(write ? RuledCommand::Write : RuledCommand::Read, bank);
    }
    done.push_back({request, write ? clock_ : clock_ + readLatency_});
    moved_ = true;
}

template <int Lanes>
inline void RuledDramController<Lanes>::takeActive(int bank, std::vector<Done>& done) {
    const Active& e = active_[static_cast<std::size_t>(bank)];
    auto& word = wordOf(bank);
    word.reads &= ~state_.bitOf(bank), word.writes &= ~state_.bitOf(bank);
    issueColumn(e.arrived, e.request, e.write, bank, closes_ && isLast(bank), done);
    --activeCount_;
    refreshFrom_ = 0;
}

template <int Lanes>
inline void RuledDramController<Lanes>::takeColumn(Buffer& buffer, std::int32_t entry, std::vector<Done>& done) {
    const RuledEntry& e = buffer.entry(entry);  // stays where it is until the next one comes in
    buffer.removeHit(entry);
    issueColumn(e.arrived, e.request, e.write, e.place.bank, closes_ && isLast(e.place.bank), done);
}

template <int Lanes>
[[gnu::always_inline]] inline bool RuledDramController<Lanes>::serveActive(std::vector<Done>& done) {
    if (activeCount_ == 0 || (halfClock_ && (clock_ & 1) == 0)) return false;
    Pick pick;
    for (int w = 0; w < state_.words(); ++w) {
        const Banks& word = words_[static_cast<std::size_t>(w)];
        const std::uint64_t may = state_.allowedAmong(RuledCommand::Read, w, word.reads) |
                                  state_.allowedAmong(RuledCommand::Write, w, word.writes);
        pick.look(may, state_.firstOf(w), activeOrder_.data());
    }
    if (!pick.found()) return false;
    if (synchronise(active_[static_cast<std::size_t>(pick.bank())].write, pick.bank())) {
        syncedActive_ = true, synced_ = pick.bank();
        return true;
    }
    takeActive(pick.bank(), done);
    return true;
}

template <int Lanes>
bool RuledDramController<Lanes>::serveRefresh() {
    if (!refreshing()) return false;
    if (refreshFrom_ > clock_) return true;
    const Refresh refresh = refreshes_[refreshHead_];
    const int reach = state_.reachOf(refresh.command);
    bool open = false, pending = false;
    for (int b = refresh.bank; b < refresh.bank + reach; ++b) {
        open |= openRow_[static_cast<std::size_t>(b)] != ruledNoRow;
        pending |= (wordOf(b).taken() & state_.bitOf(b)) != 0;
    }
    RuledCommand command = refresh.command;
    if (open) command = command == RuledCommand::RefreshAll ? RuledCommand::PrechargeAll : RuledCommand::Precharge;
    if (open && pending) {
        refreshFrom_ = never;
        return true;
    }
    refreshFrom_ = state_.earliest(command, refresh.bank);
    // Whole clocks begin on odd cycles.
    if (halfClock_ && !open) refreshFrom_ = std::max(refreshFrom_, clock_) | 1;
    if (refreshFrom_ > clock_) return true;
    sendRare(command, refresh.bank);
    refreshFrom_ = 0;
    if (open) {
        for (int b = refresh.bank; b < refresh.bank + reach; ++b)
            if (openRow_[static_cast<std::size_t>(b)] != ruledNoRow) close(b, clock_);
        return true;
    }
    if (command == RuledCommand::RefreshAll) {
        noteRefresh(refresh.bank, reach);
    } else {  // its rank has a row open meanwhile
        ranks_.open(refresh.bank, clock_);
        ranks_.close(refresh.bank, clock_ + bankRefreshTakes_);
    }
    if (++refreshHead_ == refreshes_.size()) {
        refreshes_.clear();
        refreshHead_ = 0;
        refreshing_ = false;
    }
    return true;
}

// All rows of a rank are opened and closed by it.
template <int Lanes>
void RuledDramController<Lanes>::noteRefresh(int first, int reach) {
    for (int b = first; b < first + reach; b += ranks_.banksPerRank()) {
        ranks_.open(b, clock_);
        ranks_.close(b, clock_ + refreshTakes_);
        ++rankRefreshes_;
    }
}

template <int Lanes>
inline void RuledDramController<Lanes>::activate(Buffer& buffer, std::int32_t entry) {
    const RuledEntry& e = buffer.entry(entry);
    const int bank = e.place.bank;
    const std::int64_t row = e.place.row;
    Opening& opening = openings_[static_cast<std::size_t>(bank)];
    opening.activated = clock_;
    opening.activateReady = state_.earliest(RuledCommand::Activate, bank, opening.activateRule);
    send(RuledCommand::Activate, bank);
    if (kind_ == RuledController::WriteClock) {
        secondBank_ = bank;
        secondBy_ = clock_ + secondWithin_;
    }
    active_[static_cast<std::size_t>(bank)] = {e.arrived, e.request, e.write};
    activeOrder_[static_cast<std::size_t>(bank)] = ruledArrival(e.arrived, bank);
    auto& word = wordOf(bank);
    (e.write ? word.writes : word.reads) |= state_.bitOf(bank);
    word.open |= state_.bitOf(bank);
    ++activeCount_;
    buffer.removeMiss(entry);
    moved_ = true;
    openRow_[static_cast<std::size_t>(bank)] = row;
    ranks_.open(bank, clock_);
    reads_.rowOpened(bank, row);
    writes_.rowOpened(bank, row);
}

template <int Lanes>
inline void RuledDramController<Lanes>::precharge(int bank) {
    Opening& opening = openings_[static_cast<std::size_t>(bank)];
    opening.precharged = clock_;
    opening.prechargeReady = state_.earliest(RuledCommand::Precharge, bank, opening.prechargeRule);
    send(RuledCommand::Precharge, bank);
    close(bank, clock_);
}

template <int Lanes>
[[gnu::always_inline]] inline bool RuledDramController<Lanes>::serveBuffer(unsigned kinds, std::vector<Done>& done) {
    writing_ = wouldWrite();
    auto& buffer = writing_ ? writes_ : reads_;
    const auto column = writing_ ? RuledCommand::Write : RuledCommand::Read;
    const bool whole = !halfClock_ || (clock_ & 1) != 0;
    Pick hit, miss;
    for (int w = 0; w < state_.words(); ++w) {
        const Banks& word = words_[static_cast<std::size_t>(w)];
        const int first = state_.firstOf(w);
        if ((kinds & Columns) != 0 && whole)
            hit.look(state_.allowedAmong(column, w, buffer.hits(w)), first, buffer.hitOrder());
        if ((kinds & Rows) == 0) continue;
        const std::uint64_t misses = buffer.misses(w);
        // A request that opened the row comes first, and the second part of an activate before another one.
        std::uint64_t rows = state_.allowedAmong(RuledCommand::Precharge, w, misses & word.open & ~word.taken());
        if (whole && secondBank_ < 0) rows |= state_.allowedAmong(RuledCommand::Activate, w, misses & ~word.open);
        miss.look(rows, first, buffer.missOrder());
    }
    if (hit.order < miss.order) {
        const std::int32_t entry = buffer.bank(hit.bank()).hit;
        count(buffer.entry(entry), column);
        if (synchronise(writing_, hit.bank())) {
            syncedActive_ = false, syncedWrite_ = writing_, synced_ = entry;
            return true;
        }
        takeColumn(buffer, entry, done);
        return true;
    }
    if (!miss.found()) return false;
    const std::int32_t entry = buffer.bank(miss.bank()).miss;
    if (openRow_[static_cast<std::size_t>(miss.bank())] != ruledNoRow) {
        count(buffer.entry(entry), RuledCommand::Precharge);
        precharge(miss.bank());
    } else {
        count(buffer.entry(entry), RuledCommand::Activate);
        activate(buffer, entry);
    }
    return true;
}

template <int Lanes>
void RuledDramController<Lanes>::queueRefreshes() {
    nextRefresh_ += refreshInterval_;
    refreshFrom_ = 0;
    refreshing_ = true;
    const int banks = static_cast<int>(state_.banks());
    if (halfClock_) {
        // A bank of each pseudo-channel, in turn.
        const int its = banks / pseudoChannels_;
        for (int b = refreshTurn_; b < banks; b += its) refreshes_.push_back({b, RuledCommand::RefreshBank});
        refreshTurn_ = refreshTurn_ + 1 == its ? 0 : refreshTurn_ + 1;
        return;
    }
    const auto command = RuledCommand::RefreshAll;
    for (int b = 0; b < banks; b += state_.reachOf(command)) refreshes_.push_back({b, command});
}

template <int Lanes>
inline void RuledDramController<Lanes>::tickOneBus(std::vector<Done>& done) {
    if (serveActive(done)) return;
    if (serveRefresh()) return;
    serveBuffer(All, done);
}

template <int Lanes>
inline void RuledDramController<Lanes>::tickSplitBus(std::vector<Done>& done) {
    const bool waiting = refreshing();
    if (!serveActive(done) && !waiting) serveBuffer(Columns, done);
    if (!serveRefresh()) serveBuffer(Rows, done);
}

template <int Lanes>
void RuledDramController<Lanes>::tickWriteClock(std::vector<Done>& done) {
    if (secondBank_ >= 0 && clock_ >= secondBy_) return sendSecond();
    if (synced_ >= 0) {
        const std::int32_t its = synced_;
        synced_ = -1;
        return syncedActive_ ? takeActive(its, done) : takeColumn(syncedWrite_ ? writes_ : reads_, its, done);
    }
    tickOneBus(done);
    if (!issued_ && secondBank_ >= 0) sendSecond();
}

template <int Lanes>
void RuledDramController<Lanes>::sendSecond() {
    sendRare(RuledCommand::ActivateSecond, secondBank_);
    secondBank_ = -1;
}

template <int Lanes>
inline void RuledDramController<Lanes>::step(std::vector<Done>& done) {
    state_.advance(++clock_);
    issued_ = moved_ = false;
    if (clock_ >= nextRefresh_) queueRefreshes();
    switch (kind_) {
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

template <int Lanes>
void RuledDramController<Lanes>::tick(std::vector<Done>& done) {
    nextAt_ = unknown;
    step(done);
}

template <int Lanes>
void RuledDramController<Lanes>::advance(std::int64_t until, std::vector<Done>& done) {
    do {
        if (nextAt_ == unknown) nextAt_ = findNext();
        const std::int64_t at = std::min(nextAt_, until + 1);
        if (at > clock_ + 1) {
            if (!refreshing()) writing_ = wouldWrite();  // every tick looks again
            clock_ = at - 1;
        }
        if (nextAt_ > until) return;
        nextAt_ = unknown;
        step(done);
    } while (!moved_);
}

template <int Lanes>
[[gnu::always_inline]] inline std::int64_t RuledDramController<Lanes>::findNext() {
    if (synced_ >= 0 || secondBank_ >= 0 || !steady_) return clock_ + 1;
    std::int64_t at = nextRefresh_;
    if (refreshing()) at = std::min(at, refreshFrom_);
    waitsForWrites_ = wouldWrite();
    const auto& buffer = waitsForWrites_ ? writes_ : reads_;
    for (int w = 0; w < state_.words(); ++w) {
        const Banks& word = words_[static_cast<std::size_t>(w)];
        const std::uint64_t hits = refreshing() ? 0 : buffer.hits(w), misses = refreshing() ? 0 : buffer.misses(w);
        wanted_[static_cast<std::size_t>(w)] = {misses & ~word.open, misses & word.open & ~word.taken(),
                                                word.reads | (waitsForWrites_ ? 0 : hits),
                                                word.writes | (waitsForWrites_ ? hits : 0)};
    }
    return std::max(clock_ + 1, std::min(at, state_.next(wanted_.data(), clock_, halfClock_)));
}

template class RuledDramController<0>;
template class RuledDramController<4>;
template class RuledDramController<8>;
template class RuledDramController<16>;

}  // namespace orrery
