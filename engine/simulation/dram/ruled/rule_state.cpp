#include "simulation/dram/ruled/rule_state.h"

#include <cstdint>
#include <limits>
#include <string_view>

namespace orrery {

namespace {

constexpr std::int64_t longAgo = std::numeric_limits<std::int64_t>::min() / 4;

constexpr struct {
    std::string_view name;
    RuledCommand command;
} issued[] = {
    {"ACT", RuledCommand::Activate},      {"ACT1", RuledCommand::Activate},     {"ACT2", RuledCommand::ActivateSecond},
    {"PREpb", RuledCommand::Precharge},   {"PRE", RuledCommand::Precharge},     {"PREab", RuledCommand::PrechargeAll},
    {"PREA", RuledCommand::PrechargeAll}, {"RD", RuledCommand::Read},           {"WR", RuledCommand::Write},
    {"REFab", RuledCommand::RefreshAll},  {"REFpb", RuledCommand::RefreshBank}, {"CAS_RD", RuledCommand::SyncRead},
    {"CAS_WR", RuledCommand::SyncWrite}};

int ofName(std::string_view name) {
    for (const auto& one : issued)
        if (one.name == name) return static_cast<int>(one.command);
    return -1;
}

}  // namespace

DramRuleState::DramRuleState(const DramRules& rules) {
    // A level of one node per parent is its parent.
    std::vector<int> merged;
    for (int l = 0; l <= rules.bankLevel(); ++l) {
        const int n = static_cast<int>(rules.count[static_cast<std::size_t>(l)]);
        if (l == 0 || n > 1) {
            perParent_[static_cast<std::size_t>(levels_)] = n;
            nodes_[static_cast<std::size_t>(levels_)] =
                (levels_ > 0 ? nodes_[static_cast<std::size_t>(levels_ - 1)] : 1) * n;
            ++levels_;
        }
        merged.push_back(levels_ - 1);
    }
    banks_ = nodes_[static_cast<std::size_t>(levels_ - 1)];
    int total = 0;
    for (int l = 0; l < levels_; ++l)
        firstNode_[static_cast<std::size_t>(l)] = total, total += nodes_[static_cast<std::size_t>(l)];
    total_ = static_cast<std::size_t>(total);
    ready_.assign(total_ * ruledCommands, 0);
    setBy_.assign(ready_.size(), -1);
    nodeOf_.assign(static_cast<std::size_t>(banks_) * maxLevels, 0);
    for (int b = 0; b < banks_; ++b)
        for (int l = 0; l < levels_; ++l)
            nodeOf_[static_cast<std::size_t>(b * maxLevels + l)] =
                firstNode_[static_cast<std::size_t>(l)] + b / (banks_ / nodes_[static_cast<std::size_t>(l)]);
    makeWords();

    std::vector<int> mine(rules.commands.size(), -1);
    for (std::size_t i = 0; i < mine.size(); ++i) {
        mine[i] = ofName(rules.commands[i]);
        if (mine[i] >= 0) known_[static_cast<std::size_t>(mine[i])] = true;
    }
    // What a command reaches is the deepest node at which a rule lets it wait.
    std::array<int, ruledCommands> deepest{};
    for (const auto& rule : rules.rules)
        for (const int a : rule.after)
            if (const int c = mine[static_cast<std::size_t>(a)]; c >= 0)
                deepest[static_cast<std::size_t>(c)] =
                    std::max(deepest[static_cast<std::size_t>(c)], merged[static_cast<std::size_t>(rule.level)]);
    for (int c = 0; c < ruledCommands; ++c) {
        const auto command = static_cast<RuledCommand>(c);
        const bool all = command == RuledCommand::PrechargeAll || command == RuledCommand::RefreshAll;
        scope_[static_cast<std::size_t>(c)] = all ? deepest[static_cast<std::size_t>(c)] : levels_ - 1;
    }
    // The two commands of an all-bank refresh reach the same banks.
    auto& pre = scope_[static_cast<std::size_t>(RuledCommand::PrechargeAll)];
    auto& ref = scope_[static_cast<std::size_t>(RuledCommand::RefreshAll)];
    if (known_[static_cast<std::size_t>(RuledCommand::RefreshAll)]) pre = ref;
    for (int c = 0; c < ruledCommands; ++c)
        reach_[static_cast<std::size_t>(c)] =
            banks_ / nodes_[static_cast<std::size_t>(scope_[static_cast<std::size_t>(c)])];

    for (std::size_t r = 0; r < rules.rules.size(); ++r) {
        const auto& rule = rules.rules[r];
        const int level = merged[static_cast<std::size_t>(rule.level)];
        after_.push_back(0);
        for (const int b : rule.before) {
            const int c = mine[static_cast<std::size_t>(b)];
            if (c == static_cast<int>(RuledCommand::Activate) && rule.window == 1 && level == levels_ - 1)
                after_.back() |= 1;
            if (c == static_cast<int>(RuledCommand::Precharge) && level == levels_ - 1) after_.back() |= 2;
        }
        // Siblings at a level of one node are nobody.
        if (rule.sibling && rules.count[static_cast<std::size_t>(rule.level)] < 2) continue;
        for (const int b : rule.before) {
            const int before = mine[static_cast<std::size_t>(b)];
            if (before < 0) continue;
            for (const int a : rule.after) {
                const int after = mine[static_cast<std::size_t>(a)];
                if (after < 0) continue;
                Effect e;
                e.rule = static_cast<std::int32_t>(r);
                e.level = level, e.after = after, e.cycles = rule.cycles, e.sibling = rule.sibling;
                e.window = rule.window;
                if (rule.window > 1) {
                    e.history = static_cast<std::int32_t>(historyAt_.size());
                    historyAt_.resize(
                        historyAt_.size() + static_cast<std::size_t>(nodes_[static_cast<std::size_t>(level)]), 0);
                }
                effects_[static_cast<std::size_t>(before)].push_back(e);
            }
        }
    }
    // Of two rules between the same commands at the same node only the longer one can bind.
    for (auto& list : effects_)
        for (std::size_t i = 0; i < list.size(); ++i)
            for (std::size_t j = list.size(); j-- > i + 1;)
                if (list[i].level == list[j].level && list[i].after == list[j].after && list[i].window == 1 &&
                    list[j].window == 1 && list[i].sibling == list[j].sibling) {
                    if (list[j].cycles > list[i].cycles) list[i] = list[j];
                    list.erase(list.begin() + static_cast<std::ptrdiff_t>(j));
                }
    // Nor, of two that a command sets at nodes inside each other, one below that is no longer.
    for (std::size_t c = 0; c < effects_.size(); ++c) {
        auto& list = effects_[c];
        const auto isPlain = [&](const Effect& e) { return !e.sibling && e.window == 1 && e.level <= scope_[c]; };
        for (const Effect& e : list) {
            const bool covered = isPlain(e) && std::ranges::any_of(list, [&](const Effect& other) {
                                     return isPlain(other) && other.after == e.after && other.level < e.level &&
                                            other.cycles >= e.cycles;
                                 });
            if (isPlain(e) && !covered)
                plain_[c].push_back({e.level, e.rule, static_cast<std::size_t>(e.after) * total_, e.cycles});
        }
        std::erase_if(list, isPlain);
    }
    int most = 1;
    for (const auto& list : effects_)
        for (const auto& e : list) most = std::max(most, e.window);
    historyWindow_ = most;
    history_.assign(historyAt_.size() * static_cast<std::size_t>(most), longAgo);
}

void DramRuleState::applyWindow(const Effect& e, int node, std::size_t cell, std::int64_t at) {
    auto& slot = historyAt_[static_cast<std::size_t>(e.history + node)];
    std::int64_t* ring =
        history_.data() + static_cast<std::size_t>(e.history + node) * static_cast<std::size_t>(historyWindow_);
    ring[slot] = at;
    slot = slot + 1 == e.window ? 0 : slot + 1;
    raise(cell, ring[slot] + e.cycles, e.rule);  // the oldest of the last `window`
}

void DramRuleState::makeWords() {
    while (banks_ / nodes_[static_cast<std::size_t>(wordLevel_)] > 64) ++wordLevel_;
    words_ = nodes_[static_cast<std::size_t>(wordLevel_)];
    perWord_ = banks_ / words_;
    masks_.assign(total_, 0);
    for (int l = wordLevel_ + 1; l < levels_; ++l) {
        const auto level = static_cast<std::size_t>(l);
        const int size = banks_ / nodes_[level];
        firstInWord_[level] = firstNode_[level];
        inWord_[level] = nodes_[level] / words_;
        bankCount_[level] = size;
        bankShift_[level] =
            std::has_single_bit(static_cast<unsigned>(size)) ? std::countr_zero(static_cast<unsigned>(size)) : -1;
        const std::uint64_t some = size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
        // The same in every word, so that the first word's nodes say it.
        for (int n = 0; n < inWord_[level]; ++n)
            masks_[static_cast<std::size_t>(firstNode_[level] + n)] = some << (n * size);
    }
}

void DramRuleState::issue(RuledCommand command, int bank, std::int64_t at) {
    const int c = static_cast<int>(command);
    const int scope = scope_[static_cast<std::size_t>(c)];
    const std::int32_t* nodes = nodeOf_.data() + static_cast<std::size_t>(bank) * maxLevels;
    for (const Plain& e : plain_[static_cast<std::size_t>(c)])
        raise(e.cells + static_cast<std::size_t>(nodes[e.level]), at + e.cycles, e.rule);
    for (const Effect& e : effects_[static_cast<std::size_t>(c)]) {
        const auto level = static_cast<std::size_t>(e.level);
        const std::size_t cells = static_cast<std::size_t>(e.after) * total_;
        if (e.sibling) {
            const int node = nodes[level] - firstNode_[level];
            const int first = node / perParent_[level] * perParent_[level];
            for (int n = first; n < first + perParent_[level]; ++n)
                if (n != node) raise(cells + static_cast<std::size_t>(firstNode_[level] + n), at + e.cycles, e.rule);
        } else if (e.level <= scope) {
            applyWindow(e, nodes[level] - firstNode_[level], cells + static_cast<std::size_t>(nodes[level]), at);
        } else {
            // A command to a whole rank acts on every node below.
            const int below = nodes_[level] / nodes_[static_cast<std::size_t>(scope)];
            const int first = (nodes[scope] - firstNode_[static_cast<std::size_t>(scope)]) * below;
            for (int n = first; n < first + below; ++n) {
                const std::size_t other = cells + static_cast<std::size_t>(firstNode_[level] + n);
                if (e.window == 1)
                    raise(other, at + e.cycles, e.rule);
                else
                    applyWindow(e, n, other, at);
            }
        }
    }
}

}  // namespace orrery
