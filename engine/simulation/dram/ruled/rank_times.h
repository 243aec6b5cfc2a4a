#pragma once

// For how long each rank of a channel had a row open, as standby power needs it. What shares standby is what stands
// below one rank, pseudo-channel or stack (DramRules::banksPerRank).

#include "simulation/dram/ruled/rule_tables.h"

#include <algorithm>
#include <bit>

namespace orrery {

/// Lanes as in DramRuleState. Cycles are those of the rules.
template <int Lanes>
class DramRankTimes {
public:
    DramRankTimes(const DramRules& rules, std::size_t banks) {
        shift_ = std::countr_zero(static_cast<std::uint64_t>(rules.banksPerRank()));
        ranks_ = static_cast<int>(banks >> shift_);
        if constexpr (Lanes == 0) times_.resize(static_cast<std::size_t>(ranks_));
    }

    int ranks() const { return ranks_; }
    int banksPerRank() const { return 1 << shift_; }
    void open(int bank, std::int64_t at) {
        Rank& rank = of(bank);
        if (rank.open++ == 0) rank.since = std::max(at, rank.closedAt);
    }
    /// Of the open ones; `at` may lie ahead.
    void close(int bank, std::int64_t at) {
        Rank& rank = of(bank);
        rank.closedAt = std::max(rank.closedAt, at);
        if (--rank.open == 0) rank.active += rank.closedAt - rank.since;
    }
    /// Up to `end`, all ranks together.
    std::int64_t active(std::int64_t end) const {
        std::int64_t sum = 0;
        for (int r = 0; r < ranks_; ++r) {
            const Rank& rank = times_[static_cast<std::size_t>(r)];
            // What was counted, up to `counted`, may lie ahead.
            const std::int64_t counted = rank.open > 0 ? rank.since : rank.closedAt;
            sum += rank.active + (rank.open > 0 ? std::max<std::int64_t>(0, end - rank.since) : 0);
            sum -= std::max<std::int64_t>(0, counted - end);
        }
        return sum;
    }

private:
    struct Rank {
        std::int64_t since = 0, closedAt = 0, active = 0;
        std::int32_t open = 0;
    };
    Rank& of(int bank) { return times_[static_cast<std::size_t>(bank >> shift_)]; }

    int shift_ = 0, ranks_ = 1;
    DramRow<Rank, Lanes == 0 ? 0 : 64> times_{};
};

}  // namespace orrery
