#pragma once

// A DRAM channel whose every rule is data: levels, commands, timing constraints and the kind of controller as Ramulator
// 2.1 writes them into its fully expanded configurations (https://github.com/CMU-SAFARI/ramulator2).

#include "base/diagnostic.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Which commands may share a cycle, and how refresh is scheduled.
enum class RuledController : std::uint8_t {
    OneBus,     ///< DDR, GDDR: one command per cycle
    SplitBus,   ///< HBM1, HBM2: a column and a row command per cycle
    HalfClock,  ///< HBM3, HBM4: cycles are half a clock; columns and activates on odd ones
    WriteClock  ///< LPDDR5: two-part activates, a data clock that must be started
};

/// The commands that the controllers issue; a standard's own numbering is mapped to these.
enum class RuledCommand : std::uint8_t {
    Activate,
    Precharge,
    Read,
    Write,
    PrechargeAll,
    RefreshAll,
    RefreshBank,
    ActivateSecond,
    SyncRead,
    SyncWrite,
    ReadPrecharge,   ///< a read after which the device closes the row by itself
    WritePrecharge,  ///< a write likewise
};
inline constexpr int ruledCommands = 12;
constexpr bool isRead(RuledCommand command) {
    return command == RuledCommand::Read || command == RuledCommand::ReadPrecharge;
}
constexpr bool isWrite(RuledCommand command) {
    return command == RuledCommand::Write || command == RuledCommand::WritePrecharge;
}

/// When a row is closed.
enum class RuledPage : std::uint8_t {
    Open,   ///< when another row of its bank is wanted
    Closed  ///< with the last read or write that waits for it (auto-precharge)
};

/// After one of `before` at a node of `level`, one of `after` to the same node waits `cycles`.
struct DramRule {
    int level = 0;
    std::vector<int> before, after;  ///< in the standard's numbering
    std::int64_t cycles = 0;
    int window = 1;        ///< counts from the window-th last command before
    bool sibling = false;  ///< acts on the other nodes with the same parent instead
    int line = 0;          ///< of the file
    bool derived = false;  ///< no rule of the file: of a closed page
};

struct DramRules {
    std::string file, family;  ///< `DDR4`
    RuledController controller = RuledController::OneBus;
    std::vector<std::string> levels;    ///< `Channel`, `Rank`, …, `Row`, `Column`
    std::vector<std::int64_t> count;    ///< nodes of each level below one of the level above
    std::vector<std::string> commands;  ///< in the order in which rules number them
    std::vector<std::string> timingNames;
    std::vector<std::int64_t> timing;
    std::vector<DramRule> rules;
    std::string mapping;    ///< as the file has it
    int channelWidth = 64;  ///< bits
    int devicePins = 0;     ///< data pins of one device, or of a stack's channel; 0: not told
    int prefetch = 8;       ///< beats of a burst
    std::int64_t readLatency = 0;
    int readBuffer = 32, writeBuffer = 32;
    double drainAbove = 0.8, drainBelow = 0.2;
    RuledPage page = RuledPage::Open;

    int bankLevel() const { return static_cast<int>(count.size()) - 3; }
    std::int64_t banks() const;
    /// Of what stands by for itself: below one rank, pseudo-channel or stack the banks of all bank groups.
    std::int64_t banksPerRank() const;
    int burstBytes() const { return channelWidth * prefetch / 8; }
    double cycleSeconds() const;
    /// Of the channel's data bus.
    double peakBandwidth() const;
    int dataBuses() const;  ///< pseudo-channels
    /// Cycles between two bursts at the peak.
    std::int64_t burstPace() const;
    /// 0 where the standard has no such timing. `nBL` is the shortest burst.
    std::int64_t timingOf(std::string_view name) const;
    /// -1 where the standard has no such command.
    int commandOf(std::string_view name) const;
};

/// Reads a configuration. Names of commands and timings come from the built-in table of families, or from `names.json`
/// beside the file. Codes `dram.file`, `dram.timing`.
Expected<DramRules> readDramRules(const std::string& path);
Expected<DramRules> readDramRules(std::string_view yaml, const std::string& path);
/// `open` or `closed` by name. Fails with `dram.page`, also where the rules have no reads and writes that close their
/// row, let them wait or let columns wait for them otherwise than for those that do not, or where with `refresh` none
/// says when a closing row may be refreshed. Where single banks are refreshed, which many files say nothing of, it is
/// derived: a bank is refreshed from when on its row could be opened by the rules of the bank itself. Times that the
/// file states are kept.
Expected<void> setPage(DramRules& rules, std::string_view page, bool refresh);

}  // namespace orrery
