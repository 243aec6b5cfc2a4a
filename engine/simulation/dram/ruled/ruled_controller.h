#pragma once

// One DRAM channel behind the controller of Ramulator 2.1, cycle for cycle: a read and a write buffer, requests that
// have opened their row ahead of both, first-ready first-come-first-served with no preference for row hits, writes
// drained by watermarks, refresh by its own queue. Rules that a configuration gives decide when a command may issue.

#include "simulation/dram/ruled/request_buffer.h"
#include "simulation/dram/ruled/rule_state.h"

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

/// Where a burst lies in a channel.
struct RuledPlace {
    std::int32_t bank = 0;  ///< counted over all levels above the row
    std::int32_t column = 0;
    std::int64_t row = 0;
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

class RuledDramController {
public:
    static constexpr std::int64_t never = INT64_MAX / 4;

    RuledDramController(const DramRules& rules, bool refresh);

    /// Offers a request before the tick of cycle now() + 1.
    RuledOffer offer(std::int32_t request, bool write, const RuledPlace& place);
    /// Whether an offer would not be refused.
    bool wouldTake(bool write, const RuledPlace& place) const {
        return !(write ? writes_ : reads_).full() || isWaitingWrite(place);
    }
    /// One cycle. Appends to `done`: requests with the cycle of their last beat (reads, as soon as it is known) or of
    /// their write command.
    struct Done {
        std::int32_t request;
        std::int64_t cycle;
    };
    void tick(std::vector<Done>& done);
    /// The next cycle in which a tick can do anything if no request is offered; `never` or more: none.
    std::int64_t nextTick() const;
    /// Instead of the ticks before cycle `at`, which is no later than nextTick(): now() becomes `at` - 1.
    void pass(std::int64_t at);

    /// From now on every command is appended there; null: no longer.
    void record(std::vector<RuledIssued>* into) { record_ = into; }

    std::int64_t now() const { return clock_; }
    bool idle() const { return reads_.size() + writes_.size() == 0 && activeCount_ == 0; }
    const RuledCounts& counts() const { return counts_; }
    /// Cycles of the data bus by what it waited for: one entry per rule of the configuration, then RuledOtherWaits.
    /// They sum to the time from the first acceptance to the last column command.
    const std::vector<std::int64_t>& waits() const { return waits_; }

private:
    struct Pick {
        std::int64_t order = INT64_MAX;  ///< arrival
        std::int64_t others = 0;         ///< before that cycle none of the others of its sort is allowed
        std::int32_t bank = -1;
        RuledCommand command = RuledCommand::Read;
    };
    struct Refresh {
        std::int32_t bank = 0;  ///< the first that it reaches
        RuledCommand command = RuledCommand::RefreshAll;
    };
    enum Kinds : unsigned { Columns = 1, Rows = 2, All = 3 };

    bool isWaitingWrite(const RuledPlace& place) const {
        return writes_.size() > 0 && writes_.contains(place.bank, place.row, place.column);
    }
    std::int64_t allowed(RuledCommand command, int bank) const;
    std::int64_t ofWholeClock(std::int64_t at) const { return halfClock_ ? std::max(at, clock_ + 1) | 1 : at; }
    std::uint64_t allowedAmong(RuledCommand command, int word, std::uint64_t banks, std::int64_t& soonest);
    template <class Among, class Arrived>
    void pickOldest(RuledCommand command, std::int64_t& from, Pick& pick, Among&& banks, Arrived&& arrived);
    void takeActive(int bank, std::vector<Done>& done);
    void takeColumn(RuledBuffer& buffer, std::int32_t entry, std::vector<Done>& done);
    void activate(RuledBuffer& buffer, std::int32_t entry);
    void leaveActive(int bank);
    void lowerRows(RuledBuffer& buffer, int bank);
    void lowerColumns(RuledBuffer& buffer, int bank);
    bool serveActive(std::vector<Done>& done);
    bool serveRefresh();
    bool serveBuffer(unsigned kinds, std::vector<Done>& done);
    bool wouldWrite() const {
        return writing_ ? writes_.size() >= drainBelow_ || reads_.size() == 0
                        : writes_.size() > drainAbove_ || reads_.size() == 0;
    }
    void queueRefreshes();
    void issueColumn(const RuledEntry& e, std::vector<Done>& done);
    void count(RuledEntry& e, RuledCommand command);
    void setRow(int bank, std::int64_t row);
    void closeAll(int first, int count);
    void send(RuledCommand command, int bank);
    void tickOneBus(std::vector<Done>& done);
    void tickSplitBus(std::vector<Done>& done);
    void tickWriteClock(std::vector<Done>& done);
    bool synchronise(bool write, int bank);
    void blame(const RuledEntry& e);
    void noteRow(RuledCommand command, int bank);
    void sendSecond();

    DramRules rules_;
    DramRuleState state_;
    RuledBuffer reads_, writes_;
    std::vector<RuledEntry> active_;     ///< per bank: the request that opened its row, while it waits
    std::vector<std::int64_t> openRow_;  ///< per bank
    struct Banks {
        std::uint64_t open = 0, reads = 0, writes = 0;  ///< reads, writes: with an activated one
    };
    std::vector<Banks> words_;  ///< as DramRuleState numbers them
    int activeCount_ = 0;
    std::int64_t activeFrom_ = 0;   ///< as RuledBuffer::columnsFrom
    std::int64_t refreshFrom_ = 0;  ///< of the head of the queue; `never`: until an activated request is served
    std::vector<Refresh> refreshes_;
    std::size_t refreshHead_ = 0;
    std::int64_t refreshInterval_ = 0, nextRefresh_ = never;
    std::int32_t refreshTurn_ = 0;
    std::int64_t clock_ = 0;
    bool writing_ = false, issued_ = false, halfClock_ = false;
    double drainAbove_ = 0, drainBelow_ = 0;
    bool steady_ = true;  ///< which buffer is served depends on how full they are alone
    // WriteClock: the data clock runs until then; the request for which it was started; the activate's second part.
    std::int64_t dataClockUntil_ = -1, secondBy_ = 0;
    std::int32_t synced_ = -1, secondBank_ = -1;
    bool syncedActive_ = false, syncedWrite_ = false;
    RuledCounts counts_;
    // How each bank's row was opened last, for waits().
    struct Opening {
        std::int64_t activated = -1, activateReady = 0, precharged = -1, prechargeReady = 0;
        std::int32_t activateRule = -1, prechargeRule = -1;
    };
    std::vector<Opening> openings_;
    std::int64_t lastColumn_ = -1, dataPace_ = 1, secondWithin_ = 0, dataClockAfter_[2] = {};
    std::vector<std::int64_t> waits_;
    std::vector<RuledIssued>* record_ = nullptr;
};

}  // namespace orrery
