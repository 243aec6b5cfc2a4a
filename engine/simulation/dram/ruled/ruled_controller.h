#pragma once

// One DRAM channel behind the controller of Ramulator 2.1, cycle for cycle: a read and a write buffer, requests that
// have opened their row ahead of both, first-ready first-come-first-served with no preference for row hits, writes
// drained by watermarks, refresh by its own queue. Rules that a configuration gives decide when a command may issue.

#include "simulation/dram/ruled/rank_times.h"
#include "simulation/dram/ruled/request_buffer.h"
#include "simulation/dram/ruled/rule_state.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace orrery {

struct RuledCounts {
    std::int64_t rowHits = 0, rowMisses = 0, rowConflicts = 0;  ///< at the first command of each request
    std::int64_t forwarded = 0;                                 ///< reads answered by a waiting write
    std::int64_t merged = 0;                                    ///< writes absorbed by a waiting one
    std::int64_t commands[ruledCommands] = {};
    std::int64_t total() const {
        std::int64_t sum = 0;
        for (const auto n : commands) sum += n;
        return sum;
    }
};

/// What is no rule, behind the rules in RuledDramController::waits().
enum RuledOtherWaits : int {
    ruledDataBus,   ///< bursts follow each other without a gap
    ruledRequests,  ///< nothing was there to be done
    ruledOrder,     ///< another command or an older request went first
    ruledOtherWaits
};

enum class RuledOffer : std::uint8_t {
    Refused,  ///< its buffer is full
    Taken,
    Forwarded,  ///< a read of a waiting write: returns in the next cycle
    Merged,     ///< a write to a waiting write: nothing more will be said of it
};

/// A command as it went out, for those who look on.
struct RuledIssued {
    std::int64_t cycle = 0;
    RuledCommand command = RuledCommand::Activate;
    std::int32_t bank = 0;   ///< the first that it reaches
    std::int32_t reach = 1;  ///< banks
    std::int32_t heldBy =
        -1;                 ///< of reads and writes: entry of waits() that the data bus gave most cycles to before it
    std::int64_t held = 0;  ///< cycles, of `heldBy`
};

struct RuledDone {
    std::int32_t request;  ///< of the trace
    std::int64_t cycle;
};

/// `Lanes`: as in DramRuleState; 0 is for every channel, the others are faster.
template <int Lanes = 0>
class RuledDramController {
public:
    static constexpr std::int64_t never = DramRuleTables::never;

    RuledDramController(const DramRules& rules, bool refresh);

    /// Offers a request before the tick of cycle now() + 1.
    RuledOffer offer(std::int32_t request, bool write, const RuledPlace& place);
    /// Whether an offer would not be refused.
    bool wouldTake(bool write, const RuledPlace& place) const {
        return !(write ? writes_ : reads_).full() || isWaitingWrite(place);
    }
    /// One cycle. Appends to `done`: requests with the cycle of their last beat (reads, as soon as it is known) or of
    /// their write command.
    using Done = RuledDone;
    void tick(std::vector<Done>& done);
    /// Ticks to now() = `until`, or to the first cycle in which a request was done or left its buffer. Cycles in which
    /// nothing can be done are left out.
    void advance(std::int64_t until, std::vector<Done>& done);

    /// From now on every command is appended there; null: no longer.
    void record(std::vector<RuledIssued>* into) { record_ = into; }

    std::int64_t now() const { return clock_; }
    bool idle() const { return reads_.size() + writes_.size() == 0 && activeCount_ == 0; }
    const RuledCounts& counts() const { return counts_; }
    /// Cycles of the data bus by what it waited for: one entry per rule of the configuration, then RuledOtherWaits.
    /// They sum to the time from the first acceptance to the last column command.
    const std::vector<std::int64_t>& waits() const { return waits_; }
    /// Open rows and refreshes, for standby power.
    const DramRankTimes<Lanes>& ranks() const { return ranks_; }
    std::int64_t rankRefreshes() const { return rankRefreshes_; }

private:
    static constexpr std::int64_t unknown = -1;
    using Buffer = RuledBuffer<Lanes>;
    template <class T>
    using Row = DramRow<T, DramRuleState<Lanes>::mostBanks>;
    struct Active {
        std::int64_t arrived = 0;
        std::int32_t request = 0;
        bool write = false;
    };
    /// The oldest so far of those that may go.
    struct Pick {
        std::int64_t order = INT64_MAX;
        void look(std::uint64_t banks, int first, const std::int64_t* orders) {
            for (; banks != 0; banks &= banks - 1) order = std::min(order, orders[first + std::countr_zero(banks)]);
        }
        bool found() const { return order != INT64_MAX; }
        std::int32_t bank() const { return ruledBankOf(order); }
    };
    struct Banks {
        std::uint64_t open = 0, reads = 0, writes = 0;  ///< reads, writes: with an activated one
        std::uint64_t taken() const { return reads | writes; }
    };
    // How each bank's row was opened last, for waits().
    struct Opening {
        std::int64_t activated = -1, activateReady = 0, precharged = -1, prechargeReady = 0;
        std::int32_t activateRule = -1, prechargeRule = -1;
    };
    struct Refresh {
        std::int32_t bank = 0;  ///< the first that it reaches
        RuledCommand command = RuledCommand::RefreshAll;
    };
    enum Kinds : unsigned { Columns = 1, Rows = 2, All = 3 };

    bool isWaitingWrite(const RuledPlace& place) const { return writes_.size() > 0 && writes_.contains(place); }
    bool refreshing() const { return refreshing_; }
    std::int64_t findNext();
    void noteOffer(bool write, bool hit, int bank);
    void step(std::vector<Done>& done);
    void takeActive(int bank, std::vector<Done>& done);
    void takeColumn(Buffer& buffer, std::int32_t entry, std::vector<Done>& done);
    void precharge(int bank);
    void activate(Buffer& buffer, std::int32_t entry);
    bool serveActive(std::vector<Done>& done);
    bool serveRefresh();
    bool serveBuffer(unsigned kinds, std::vector<Done>& done);
    bool wouldWrite() const { return writes_.size() >= (writing_ ? drainBelow_ : drainFrom_) || reads_.size() == 0; }
    void queueRefreshes();
    void noteRefresh(int first, int reach);
    void issueColumn(std::int64_t arrived, std::int32_t request, bool write, int bank, bool closing,
                     std::vector<Done>& done);
    void count(RuledEntry& e, RuledCommand command);
    void close(int bank, std::int64_t at);
    void closeItself(bool write, int bank);
    bool isLast(int bank);
    void send(RuledCommand command, int bank);
    void sendRare(RuledCommand command, int bank);
    void tickOneBus(std::vector<Done>& done);
    void tickSplitBus(std::vector<Done>& done);
    void tickWriteClock(std::vector<Done>& done);
    bool synchronise(bool write, int bank);
    void blame(std::int64_t arrived, bool write, int bank);
    void sendSecond();
    Banks& wordOf(int bank) { return words_[static_cast<std::size_t>(state_.wordOf(bank))]; }

    RuledController kind_;
    DramRuleState<Lanes> state_;
    Buffer reads_, writes_;
    Row<Active> active_{};  ///< per bank: the request that opened its row, while it waits
    Row<std::int64_t> activeOrder_{};
    Row<std::int64_t> openRow_{};                              ///< per bank
    DramRow<Banks, DramRuleState<Lanes>::mostWords> words_{};  ///< as DramRuleState numbers them
    int activeCount_ = 0;
    std::int64_t refreshFrom_ = 0;  ///< of the head of the queue; `never`: until an activated request is served
    std::int64_t nextAt_ = unknown;
    DramRow<typename DramRuleState<Lanes>::Wanted, DramRuleState<Lanes>::mostWords>
        wanted_{};  ///< by word, for findNext()
    std::vector<Refresh> refreshes_;
    std::size_t refreshHead_ = 0;
    bool refreshing_ = false;  ///< the queue is not empty
    std::int64_t refreshInterval_ = 0, nextRefresh_ = never;
    std::int32_t refreshTurn_ = 0, pseudoChannels_ = 1;
    std::int64_t clock_ = 0;
    bool writing_ = false, issued_ = false, halfClock_ = false;
    bool moved_ = false;                  ///< a request was done or left its buffer
    bool waitsForWrites_ = false;         ///< which buffer nextAt_ is of
    int drainFrom_ = 0, drainBelow_ = 0;  ///< writes are drained from so many waiting on, until there are fewer
    bool steady_ = true;                  ///< which buffer is served depends on how full they are alone
    // WriteClock: the data clock runs until then; the request for which it was started; the activate's second part.
    std::int64_t dataClockUntil_ = -1, secondBy_ = 0;
    std::int32_t synced_ = -1, secondBank_ = -1;
    bool syncedActive_ = false, syncedWrite_ = false;
    RuledCounts counts_;
    DramRankTimes<Lanes> ranks_;
    std::int64_t rankRefreshes_ = 0, refreshTakes_ = 0, bankRefreshTakes_ = 0;
    bool closes_ = false;               ///< RuledPage::Closed
    std::int64_t closesAfter_[2] = {};  ///< cycles from a read, a write that closes its row
    Row<Opening> openings_{};
    std::int64_t lastColumn_ = -1, dataPace_ = 1, readLatency_ = 0, secondWithin_ = 0, dataClockAfter_[2] = {};
    std::vector<std::int64_t> waits_;
    std::vector<RuledIssued>* record_ = nullptr;
};

}  // namespace orrery
