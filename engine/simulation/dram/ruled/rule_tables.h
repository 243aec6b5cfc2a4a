#pragma once

// What DramRules say, compiled for DramRuleState: levels that do not divide anything are merged, commands that no
// controller issues left out. Rules of a bank alone stand per bank. Those of all levels above are folded into rows of
// distances between lanes, the banks of the last level above them.

#include "simulation/dram/ruled/dram_rules.h"

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace orrery {

/// Of a size known when compiled, or 0: when the program runs.
template <class T, int Size>
using DramRow = std::conditional_t<Size == 0, std::vector<T>, std::array<T, static_cast<std::size_t>(Size)>>;

struct DramRuleTables {
    static constexpr std::size_t hot = 4;  ///< the first of RuledCommand, those to one bank, are asked for all the time
    static constexpr int maxLevels = 8;
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 4;
    static constexpr std::int64_t longAgo = std::int64_t{-1} << 52;  ///< further back than any window
    static constexpr double none = 4503599627370496.;                ///< 2^52: no time

    // A time is its cycle and, in the low bits, the rule that set it: of equal cycles the first rule is the largest. A
    // whole number below `none`, so that a double holds it: processors have a maximum of two doubles at once.
    static constexpr int shift = 12;
    static constexpr std::int64_t scale = std::int64_t{1} << shift;  ///< more than there are rules
    /// Rules are right to here: what waits for a timing of a file (10^9 cycles at most) from there on is before `none`.
    static constexpr std::int64_t lastCycle = (std::int64_t{1} << (52 - shift)) - (std::int64_t{1} << 31);
    struct LaneRaise {
        std::size_t after = 0, row = 0;  ///< row: of distances, [issuing lane × lanes + lane]
    };
    struct BankRaise {
        std::size_t after = 0;
        std::int64_t stamp = 0;
    };
    /// Counts from the last but few commands: a ring per node of the level.
    struct Window {
        int level = 0, window = 1;
        std::size_t rings = 0;  ///< [bank] of `ringOf`
        LaneRaise lanes;
        std::int64_t stamp = 0;
    };
    struct Raises {
        std::vector<LaneRaise> lanes;
        std::vector<Window> windows;
        std::vector<BankRaise> banks, siblings;
        bool simple = true;  ///< reaches one bank, and no sibling
    };
    /// Of the commands that only a refresh asks for: worked out from when the others went.
    struct Rare {
        std::size_t before = 0;
        int level = 0;
        bool sibling = false;
        std::int64_t cycles = 0;
        int window = 1;
        std::size_t rings = 0;
    };

    explicit DramRuleTables(const DramRules& rules);

    static std::int64_t cycleOf(double stamp) { return static_cast<std::int64_t>(stamp) >> shift; }
    /// Banks of the node in which the level's nodes are siblings.
    int parentBanks(int level) const { return level > 0 ? nodeBanks[static_cast<std::size_t>(level - 1)] : banks; }

    int levels = 0, banks = 0, bankLevel = 0;  ///< bankLevel: of rules that stand per bank
    std::array<int, maxLevels> nodeBanks{};    ///< of each level: banks of a node
    std::array<int, ruledCommands> scope{};    ///< deepest level that the command names
    std::array<int, ruledCommands> reach{};    ///< banks that it reaches
    int words = 1, perWord = 1;                ///< of at most 64 banks
    std::size_t lanes = 2, wordLanes = 2;      ///< even; the last ones may have no banks
    std::vector<std::uint16_t> laneOf;         ///< [bank]
    std::vector<int> laneFirst;                ///< [lane]: its first bank; -1: it has none
    std::vector<std::int64_t> laneBanks;       ///< [lane], bits of its word
    std::vector<double> distances;
    std::array<Raises, ruledCommands> raises;  ///< by the command that is issued
    std::array<std::vector<Rare>, ruledCommands> rare;
    std::vector<std::uint32_t> ringOf;  ///< place in the history of a bank's node, for each window's rule
    std::vector<std::int64_t> history;  ///< rings of a window's times, each followed by the place of the next
    std::vector<std::uint8_t> after;    ///< per rule: 1 it waits for an activate, 2 for a precharge

private:
    struct Pair;
    std::vector<int> makeLevels(const DramRules& rules);
    void makeLanes();
    void makeReach(const DramRules& rules, const std::vector<int>& merged, const std::vector<int>& mine);
    void compile(const Pair& pair);
    std::size_t addRow();
    void raiseRow(std::size_t row, int level, bool sibling, std::int64_t to);
    void dropCovered();
};

}  // namespace orrery
