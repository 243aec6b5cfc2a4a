#pragma once

// The constraint state of one channel: from which cycle each command is allowed at each node, and which rule said so.
// Compiled from DramRules: levels that do not divide anything are merged, commands that no controller issues left out.

#include "simulation/dram/ruled/dram_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace orrery {

class DramRuleState {
public:
    explicit DramRuleState(const DramRules& rules);

    /// The earliest cycle of a command to this bank, or to the node above it that the command reaches.
    std::int64_t earliest(RuledCommand command, int bank) const {
        const std::size_t c = static_cast<std::size_t>(command);
        const std::int64_t* cells = ready_.data() + c * total_;
        const std::int32_t* nodes = nodeOf_.data() + static_cast<std::size_t>(bank) * maxLevels;
        std::int64_t at = cells[nodes[0]];
        for (int l = 1; l <= scope_[c]; ++l) at = std::max(at, cells[nodes[l]]);
        return at;
    }
    /// Banks stand in words of at most 64, each the banks of one node.
    int words() const { return words_; }
    int banksPerWord() const { return perWord_; }
    int wordOf(int bank) const { return bank / perWord_; }
    int firstOf(int word) const { return word * perWord_; }
    std::uint64_t bitOf(int bank) const { return std::uint64_t{1} << (bank % perWord_); }
    /// Which of these banks may take the command at `clock`. Nodes are asked from the top, so that one that holds all
    /// its banks back costs one look. `soonest` is lowered to a bound: none of the others may before it.
    std::uint64_t allowedAmong(RuledCommand command, int word, std::uint64_t banks, std::int64_t clock,
                               std::int64_t& soonest) const {
        const std::int64_t* cells = ready_.data() + static_cast<std::size_t>(command) * total_;
        const std::int32_t* nodes = nodeOf_.data() + static_cast<std::size_t>(word * perWord_) * maxLevels;
        std::int64_t above = cells[nodes[0]];
        for (int l = 1; l <= wordLevel_; ++l) above = std::max(above, cells[nodes[l]]);
        if (above > clock) {
            soonest = std::min(soonest, above);
            return 0;
        }
        for (int l = wordLevel_ + 1; l < levels_; ++l) {
            const std::int64_t* own =
                cells + firstInWord_[static_cast<std::size_t>(l)] + word * inWord_[static_cast<std::size_t>(l)];
            const std::uint64_t* masks = masks_.data() + firstInWord_[static_cast<std::size_t>(l)];
            const int size = bankCount_[static_cast<std::size_t>(l)], shift = bankShift_[static_cast<std::size_t>(l)];
            for (std::uint64_t rest = banks; rest != 0;) {
                const int bit = std::countr_zero(rest);
                const int node = shift >= 0 ? bit >> shift : bit / size;
                const std::uint64_t mask = masks[node];
                rest &= ~mask;
                if (own[node] > clock) {
                    soonest = std::min(soonest, own[node]);
                    banks &= ~mask;
                }
            }
        }
        return banks;
    }
    /// The same with the rule that sets it; -1: none.
    std::int64_t earliest(RuledCommand command, int bank, std::int32_t& rule) const {
        const std::size_t c = static_cast<std::size_t>(command);
        const std::int32_t* nodes = nodeOf_.data() + static_cast<std::size_t>(bank) * maxLevels;
        std::int64_t at = 0;
        rule = -1;
        for (int l = 0; l <= scope_[c]; ++l) {
            const std::size_t cell = c * total_ + static_cast<std::size_t>(nodes[l]);
            if (ready_[cell] > at) at = ready_[cell], rule = setBy_[cell];
        }
        return at;
    }
    bool isAfterActivate(int rule) const { return after_[static_cast<std::size_t>(rule)] & 1; }
    bool isAfterPrecharge(int rule) const { return after_[static_cast<std::size_t>(rule)] & 2; }
    void issue(RuledCommand command, int bank, std::int64_t at);

    int banks() const { return banks_; }
    bool has(RuledCommand command) const { return known_[static_cast<int>(command)]; }
    /// Banks that a command to this bank reaches: [first, first + count).
    int reachOf(RuledCommand command) const { return reach_[static_cast<int>(command)]; }

private:
    static constexpr int maxLevels = 8;
    struct Effect {
        std::int32_t rule = 0, history = -1, window = 1;
        std::int32_t level = 0;
        std::int32_t after = 0;
        std::int64_t cycles = 0;
        bool sibling = false;
    };
    void raise(std::size_t cell, std::int64_t to, std::int32_t rule) {
        if (to > ready_[cell]) ready_[cell] = to, setBy_[cell] = rule;
    }
    void makeWords();
    void applyWindow(const Effect& effect, int node, std::size_t cell, std::int64_t at);

    int levels_ = 0, banks_ = 0;
    std::array<int, ruledCommands> scope_{};  ///< deepest level that the command names
    std::array<int, ruledCommands> reach_{};
    std::array<bool, ruledCommands> known_{};
    std::array<int, maxLevels> nodes_{}, perParent_{}, firstNode_{};
    std::size_t total_ = 0;             ///< nodes of all levels
    std::vector<std::int64_t> ready_;   ///< [command × total + node]
    std::vector<std::int32_t> setBy_;   ///< the same
    std::vector<std::int32_t> nodeOf_;  ///< [bank × maxLevels + level]: number of the node
    int words_ = 1, perWord_ = 1, wordLevel_ = 0;
    /// Per level below the words' own: number of its first node, nodes of a word, banks of a node and their logarithm
    /// (-1: no power of two).
    std::array<int, maxLevels> firstInWord_{}, inWord_{}, bankCount_{}, bankShift_{};
    std::vector<std::uint64_t> masks_;                        ///< by number of the node: its banks in their word
    std::array<std::vector<Effect>, ruledCommands> effects_;  ///< those of windows, siblings and nodes below
    struct Plain {
        std::int32_t level = 0, rule = 0;
        std::size_t cells = 0;  ///< of the command after
        std::int64_t cycles = 0;
    };
    std::array<std::vector<Plain>, ruledCommands> plain_;  ///< to the node of the command itself
    std::vector<std::uint8_t> after_;                      ///< per rule: 1 it waits for an activate, 2 for a precharge
    std::vector<std::int64_t> history_;
    std::vector<std::int32_t> historyAt_;
    int historyWindow_ = 1;
};

}  // namespace orrery
