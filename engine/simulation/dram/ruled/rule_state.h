#pragma once

// The constraint state of one channel: from which cycle each command is allowed at each node, and which rule said so.
// Compiled from DramRules: levels that do not divide anything are merged, commands that no controller issues left out.

#include "simulation/dram/ruled/dram_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace orrery {

class DramRuleState {
public:
    explicit DramRuleState(const DramRules& rules);

    /// The earliest cycle of a command to this bank, or to the node above it that the command reaches.
    std::int64_t earliest(RuledCommand command, int bank) const {
        const std::size_t c = static_cast<std::size_t>(command);
        const Cell* cells = cells_.data() + c * total_;
        const Node* nodes = nodesOf(bank);
        std::int64_t at = cells[nodes[0].index].ready;
        for (int l = 1; l <= scope_[c]; ++l) at = std::max(at, cells[nodes[l].index].ready);
        return at;
    }
    /// What the whole channel holds the command back to.
    std::int64_t channelFrom(RuledCommand command) const {
        return cells_[static_cast<std::size_t>(command) * total_].ready;
    }
    /// Banks stand in words of at most 64, each the banks of one node.
    int words() const { return words_; }
    int banksPerWord() const { return perWord_; }
    int wordOf(int bank) const { return static_cast<int>(words_ == 1 ? 0 : static_cast<unsigned>(bank) / perWord_); }
    int firstOf(int word) const { return word * static_cast<int>(perWord_); }
    std::uint64_t bitOf(int bank) const {
        return std::uint64_t{1} << (words_ == 1 ? static_cast<unsigned>(bank) : static_cast<unsigned>(bank) % perWord_);
    }
    /// Which of these banks may take the command (one to a single bank) at `clock`, which must not go back. `soonest`
    /// is lowered to a bound: none of the others may before it.
    std::uint64_t allowedAmong(RuledCommand command, int word, std::uint64_t banks, std::int64_t clock,
                               std::int64_t& soonest) {
        const std::size_t c = static_cast<std::size_t>(command);
        const Cell* cells = cells_.data() + c * total_;
        std::int64_t above = cells[0].ready;
        if (wordLevel_ > 0) {
            const Node* nodes = nodesOf(firstOf(word));
            for (int l = 1; l <= wordLevel_; ++l) above = std::max(above, cells[nodes[l].index].ready);
        }
        if (above > clock) {
            soonest = std::min(soonest, above);
            return 0;
        }
        std::uint64_t* held = heldOf(c, word);
        std::uint64_t free = banks;
        for (int k = 0; k < innerLevels_; ++k) {
            const auto level = static_cast<std::size_t>(wordLevel_ + 1 + k);
            for (std::uint64_t waiting = free & held[k]; waiting != 0;) {
                const Node& node = nodesOf(firstOf(word) + std::countr_zero(waiting))[level];
                const std::int64_t ready = cells[node.index].ready;
                waiting &= ~node.banks;
                if (ready <= clock) {
                    held[k] &= ~node.banks;
                } else {
                    free &= ~node.banks;
                    soonest = std::min(soonest, ready);
                }
            }
        }
        return free;
    }
    /// The same with the rule that sets it; -1: none.
    std::int64_t earliest(RuledCommand command, int bank, std::int32_t& rule) const {
        const std::size_t c = static_cast<std::size_t>(command);
        const Cell* cells = cells_.data() + c * total_;
        const Node* nodes = nodesOf(bank);
        std::int64_t at = 0;
        rule = -1;
        for (int l = 0; l <= scope_[c]; ++l) {
            const Cell& cell = cells[nodes[l].index];
            if (cell.ready > at) at = cell.ready, rule = cell.rule;
        }
        return at;
    }
    bool isAfterActivate(int rule) const { return after_[static_cast<std::size_t>(rule)] & 1; }
    bool isAfterPrecharge(int rule) const { return after_[static_cast<std::size_t>(rule)] & 2; }

    void issue(RuledCommand command, int bank, std::int64_t at) {
        const std::size_t c = static_cast<std::size_t>(command);
        const Node* nodes = nodesOf(bank);
        const Raises& raises = raises_[c];
        for (int i = 0; i < raises.outer; ++i) {
            const Raise& e = raises.of[i];
            Cell& cell = cells_[e.cells + nodes[e.level].index];
            if (at + e.cycles > cell.ready) cell = {at + e.cycles, e.rule};
        }
        std::uint64_t* held = held_.data() + wordOf(bank) * innerLevels_;
        for (int i = raises.outer; i < raises.all; ++i) {
            const Raise& e = raises.of[i];
            const Node& node = nodes[e.level];
            Cell& cell = cells_[e.cells + node.index];
            const std::int64_t to = at + e.cycles;
            if (to <= cell.ready) continue;
            cell = {to, e.rule};
            held[e.held] |= node.banks;
        }
        if (raises.further) issueFurther(c, bank, at);
    }

    int banks() const { return banks_; }
    bool has(RuledCommand command) const { return known_[static_cast<int>(command)]; }
    /// Banks that a command to this bank reaches: [first, first + count).
    int reachOf(RuledCommand command) const { return reach_[static_cast<int>(command)]; }

private:
    static constexpr int maxLevels = 8, toOneBank = 4;  // the first commands reach one bank
    struct Cell {
        std::int64_t ready = 0;
        std::int32_t rule = -1;
    };
    struct Node {
        std::uint32_t index = 0;  ///< counted over all levels
        std::uint64_t banks = 0;  ///< in their word
    };
    struct Effect {
        std::int32_t rule = 0, history = -1, window = 1;
        std::int32_t level = 0;
        std::int32_t after = 0;
        std::int64_t cycles = 0;
        bool sibling = false;
    };
    const Node* nodesOf(int bank) const { return nodes_.data() + static_cast<std::size_t>(bank) * maxLevels; }
    std::uint64_t* heldOf(std::size_t command, int word) {
        return held_.data() + (command * static_cast<std::size_t>(words_) + static_cast<std::size_t>(word)) *
                                  static_cast<std::size_t>(innerLevels_);
    }
    void raise(std::size_t after, int level, int node, std::int64_t to, std::int32_t rule);
    void makeWords();
    void issueFurther(std::size_t command, int bank, std::int64_t at);
    void applyWindow(const Effect& effect, int node, std::int64_t at);

    int levels_ = 0, banks_ = 0;
    std::array<int, ruledCommands> scope_{};  ///< deepest level that the command names
    std::array<int, ruledCommands> reach_{};
    std::array<bool, ruledCommands> known_{};
    std::array<int, maxLevels> count_{}, perParent_{}, firstNode_{};  ///< of each level
    std::size_t total_ = 0;                                           ///< nodes of all levels
    std::vector<Cell> cells_;                                         ///< [command × total + node]
    std::vector<Node> nodes_;                                         ///< [bank × maxLevels + level]
    int words_ = 1, wordLevel_ = 0, innerLevels_ = 0;
    unsigned perWord_ = 1;
    std::array<int, maxLevels> inWord_{};  ///< per level below the words' own: nodes of a word
    std::vector<std::uint64_t> masks_;     ///< by number of the node: its banks in their word
    /// [(command × words + word) × innerLevels + level]: banks that the level may hold back; of no other the rest
    /// holds.
    std::vector<std::uint64_t> held_;
    std::array<std::vector<Effect>, ruledCommands> effects_;  ///< those of windows, siblings and nodes below
    /// To the node of the command itself, at once: first those of which held_ tells nothing.
    struct Raise {
        std::int64_t cycles = 0;
        std::uint32_t cells = 0;  ///< of the command after
        std::int32_t level = 0, rule = 0, held = -1;
    };
    struct Raises {
        std::vector<Raise> of;
        int outer = 0, all = 0;
        bool further = false;  ///< there are effects_
    };
    std::array<Raises, ruledCommands> raises_;
    std::vector<std::uint8_t> after_;  ///< per rule: 1 it waits for an activate, 2 for a precharge
    std::vector<std::int64_t> history_;
    std::vector<std::int32_t> historyAt_;
    int historyWindow_ = 1;
};

}  // namespace orrery
