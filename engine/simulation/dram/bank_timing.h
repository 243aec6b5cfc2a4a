#pragma once

// The constraint state of one channel: when each command is next allowed, and what issuing one forbids. Knows JEDEC's
// rules and no queue, so that a controller cannot break them. Each rule is kept where it acts: bank, bank group, rank,
// pseudo-channel.

#include "simulation/dram/standard.h"

#include <array>
#include <limits>
#include <vector>

namespace orrery {

inline constexpr DramCycle dramNever = std::numeric_limits<DramCycle>::max() / 4;
inline constexpr std::int64_t noRow = -1;

struct DramBankState {
    std::int64_t openRow = noRow;
    DramCycle nextActivate = 0, nextPrecharge = 0, nextRead = 0, nextWrite = 0;
    DramCycle activated = 0;  ///< cycle of the last activate
    std::int32_t group = 0, rank = 0,
                 bus = 0;  ///< of the channel: group of banks, rank of a pseudo-channel, pseudo-channel
    int hits = 0;          ///< column commands since the activate
};

struct DramGroupState {
    DramCycle nextActivate = 0, nextRead = 0, nextWrite = 0;
};

struct DramRankState {
    DramCycle nextActivate = 0, nextRead = 0, nextWrite = 0, nextPrecharge = 0;
    std::array<DramCycle, 4> activates{};  ///< last four, for tFAW
    int oldest = 0;
    int openBanks = 0;
    int firstBank = 0;
    DramCycle openSince = 0, closedAt = 0, openCycles = 0;  ///< time with a row open, for standby energy
};

struct DramBusState {
    DramCycle dataFree = 0;  ///< first cycle after the last burst
    int lastRank = -1;
    bool lastWrite = false;
};

class DramBankTiming {
public:
    DramBankTiming(const DramOrganisation& organisation, const DramTiming& timing);

    /// Earliest cycles by all rules but the command bus.
    DramCycle earliestActivate(int bank) const;
    DramCycle earliestPrecharge(int bank) const;
    DramCycle earliestColumn(int bank, bool write) const;
    DramCycle earliestPrechargeAll(int rank) const;  ///< all banks of the rank at once
    DramCycle earliestRefresh(int rank) const;       ///< all its banks must be closed
    DramCycle earliestRefreshBank(int bank) const;   ///< it must be closed

    void activate(int bank, std::int64_t row, DramCycle at);
    void precharge(int bank, DramCycle at);
    void prechargeAll(int rank, DramCycle at);
    /// Returns the cycle after the last data.
    DramCycle column(int bank, bool write, bool thenPrecharge, DramCycle at);
    void refresh(int rank, DramCycle at);
    void refreshBank(int bank, DramCycle at);

    DramBankState& bank(int index) { return banks_[std::size_t(index)]; }
    const DramBankState& bank(int index) const { return banks_[std::size_t(index)]; }
    const DramRankState& rank(int index) const { return ranks_[std::size_t(index)]; }
    int ranks() const { return int(ranks_.size()); }
    int banksPerRank() const { return banksPerRank_; }
    /// Cycles with a row open or a bank in a refresh of its own, of all ranks together.
    DramCycle openCycles(DramCycle now) const;

private:
    void opened(DramRankState& rank, DramCycle at);
    void closed(DramRankState& rank, DramCycle at);

    DramTiming t_;
    int readToWrite_ = 0, writeToReadS_ = 0, writeToReadL_ = 0, writeToPrecharge_ = 0, ccdWriteS_ = 0, ccdWriteL_ = 0;
    int banksPerRank_ = 1;
    std::vector<DramBankState> banks_;
    std::vector<DramGroupState> groups_;
    std::vector<DramRankState> ranks_;
    std::vector<DramBusState> buses_;
};

}  // namespace orrery
