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
            count_[static_cast<std::size_t>(levels_)] =
                (levels_ > 0 ? count_[static_cast<std::size_t>(levels_ - 1)] : 1) * n;
            ++levels_;
        }
        merged.push_back(levels_ - 1);
    }
    banks_ = count_[static_cast<std::size_t>(levels_ - 1)];
    int total = 0;
    for (int l = 0; l < levels_; ++l)
        firstNode_[static_cast<std::size_t>(l)] = total, total += count_[static_cast<std::size_t>(l)];
    total_ = static_cast<std::size_t>(total);
    cells_.assign(total_ * ruledCommands, {});
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
            banks_ / count_[static_cast<std::size_t>(scope_[static_cast<std::size_t>(c)])];

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
                        historyAt_.size() + static_cast<std::size_t>(count_[static_cast<std::size_t>(level)]), 0);
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
            if (!isPlain(e) || covered) continue;
            const bool kept = e.after < toOneBank && e.level > wordLevel_;
            const int held = kept ? e.after * words_ * innerLevels_ + e.level - wordLevel_ - 1 : -1;
            auto& of = raises_[c].of;
            of.insert(kept ? of.end() : of.begin(),
                      {e.cycles, static_cast<std::uint32_t>(static_cast<std::size_t>(e.after) * total_), e.level,
                       e.rule, held});
            raises_[c].outer += !kept;
        }
        raises_[c].all = static_cast<int>(raises_[c].of.size());
        std::erase_if(list, isPlain);
        raises_[c].further = !list.empty();
    }
    int most = 1;
    for (const auto& list : effects_)
        for (const auto& e : list) most = std::max(most, e.window);
    historyWindow_ = most;
    history_.assign(historyAt_.size() * static_cast<std::size_t>(most), longAgo);
}

void DramRuleState::raise(std::size_t after, int level, int node, std::int64_t to, std::int32_t rule) {
    const auto l = static_cast<std::size_t>(level);
    Cell& cell = cells_[after * total_ + static_cast<std::size_t>(firstNode_[l] + node)];
    if (to <= cell.ready) return;
    cell = {to, rule};
    if (after >= toOneBank || level <= wordLevel_) return;
    const int word = node / inWord_[l];
    heldOf(after, word)[level - wordLevel_ - 1] |= masks_[static_cast<std::size_t>(firstNode_[l] + node)];
}

void DramRuleState::applyWindow(const Effect& e, int node, std::int64_t at) {
    auto& slot = historyAt_[static_cast<std::size_t>(e.history + node)];
    std::int64_t* ring =
        history_.data() + static_cast<std::size_t>(e.history + node) * static_cast<std::size_t>(historyWindow_);
    ring[slot] = at;
    slot = slot + 1 == e.window ? 0 : slot + 1;
    // From the oldest of the last `window`.
    raise(static_cast<std::size_t>(e.after), e.level, node, ring[slot] + e.cycles, e.rule);
}

void DramRuleState::makeWords() {
    while (banks_ / count_[static_cast<std::size_t>(wordLevel_)] > 64) ++wordLevel_;
    words_ = count_[static_cast<std::size_t>(wordLevel_)];
    perWord_ = static_cast<unsigned>(banks_ / words_);
    innerLevels_ = levels_ - 1 - wordLevel_;
    held_.assign(static_cast<std::size_t>(toOneBank * words_ * innerLevels_), {});
    masks_.assign(total_, 0);
    nodes_.assign(static_cast<std::size_t>(banks_) * maxLevels, {});
    for (int l = 0; l < levels_; ++l) {
        const auto level = static_cast<std::size_t>(l);
        const int size = banks_ / count_[level];
        inWord_[level] = std::max(1, count_[level] / words_);
        const std::uint64_t some = size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
        for (int bank = 0; bank < banks_; ++bank) {
            const int node = bank / size, inWord = node % inWord_[level];
            Node& of = nodes_[static_cast<std::size_t>(bank * maxLevels + l)];
            of.index = static_cast<std::uint32_t>(firstNode_[level] + node);
            if (l <= wordLevel_) continue;
            of.banks = some << (inWord * size);
            masks_[static_cast<std::size_t>(of.index)] = of.banks;
        }
    }
}

void DramRuleState::issueFurther(std::size_t command, int bank, std::int64_t at) {
    const int scope = scope_[command];
    const Node* nodes = nodesOf(bank);
    for (const Effect& e : effects_[command]) {
        const auto level = static_cast<std::size_t>(e.level), after = static_cast<std::size_t>(e.after);
        if (e.sibling) {
            const int node = static_cast<int>(nodes[level].index) - firstNode_[level];
            const int first = node / perParent_[level] * perParent_[level];
            for (int n = first; n < first + perParent_[level]; ++n)
                if (n != node) raise(after, e.level, n, at + e.cycles, e.rule);
        } else if (e.level <= scope) {
            applyWindow(e, static_cast<int>(nodes[level].index) - firstNode_[level], at);
        } else {
            // A command to a whole rank acts on every node below.
            const int below = count_[level] / count_[static_cast<std::size_t>(scope)];
            const int first =
                (static_cast<int>(nodes[scope].index) - firstNode_[static_cast<std::size_t>(scope)]) * below;
            for (int n = first; n < first + below; ++n) {
                if (e.window == 1)
                    raise(after, e.level, n, at + e.cycles, e.rule);
                else
                    applyWindow(e, n, at);
            }
        }
    }
}

}  // namespace orrery
