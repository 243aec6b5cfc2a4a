#include "simulation/dram/ruled/rule_tables.h"

#include <algorithm>
#include <string_view>

namespace orrery {

namespace {

constexpr std::int64_t unreached = DramRuleTables::longAgo;  // a distance that raises nothing

constexpr struct {
    std::string_view name;
    RuledCommand command;
} issued[] = {
    {"ACT", RuledCommand::Activate},      {"ACT1", RuledCommand::Activate},     {"ACT2", RuledCommand::ActivateSecond},
    {"PREpb", RuledCommand::Precharge},   {"PRE", RuledCommand::Precharge},     {"PREab", RuledCommand::PrechargeAll},
    {"PREA", RuledCommand::PrechargeAll}, {"RD", RuledCommand::Read},           {"WR", RuledCommand::Write},
    {"REFab", RuledCommand::RefreshAll},  {"REFpb", RuledCommand::RefreshBank}, {"CAS_RD", RuledCommand::SyncRead},
    {"CAS_WR", RuledCommand::SyncWrite},  {"RDA", RuledCommand::ReadPrecharge}, {"WRA", RuledCommand::WritePrecharge}};

int ofName(std::string_view name) {
    for (const auto& one : issued)
        if (one.name == name) return static_cast<int>(one.command);
    return -1;
}

}  // namespace

// One command after another by one rule.
struct DramRuleTables::Pair {
    std::size_t before = 0, after = 0, rule = 0;
    int level = 0;
    bool sibling = false;
    std::int64_t cycles = 0;
    int window = 1;
};

DramRuleTables::DramRuleTables(const DramRules& rules) {
    const std::vector<int> merged = makeLevels(rules);
    makeLanes();
    std::vector<int> mine(rules.commands.size(), -1);
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = ofName(rules.commands[i]);
    makeReach(rules, merged, mine);
    for (std::size_t r = 0; r < rules.rules.size(); ++r) {
        const auto& rule = rules.rules[r];
        const int level = merged[static_cast<std::size_t>(rule.level)];
        std::uint8_t& waits = after.emplace_back(std::uint8_t{0});
        for (const int b : rule.before) {
            const int before = mine[static_cast<std::size_t>(b)];
            if (before == static_cast<int>(RuledCommand::Activate) && rule.window == 1 && level == levels - 1)
                waits |= 1;
            if (before == static_cast<int>(RuledCommand::Precharge) && level == levels - 1) waits |= 2;
            // Siblings at a level of one node are nobody.
            if (before < 0 || (rule.sibling && rules.count[static_cast<std::size_t>(rule.level)] < 2)) continue;
            for (const int a : rule.after)
                // Those that close their row are asked for as those that do not.
                if (const int next = mine[static_cast<std::size_t>(a)];
                    next >= 0 && next < static_cast<int>(RuledCommand::ReadPrecharge))
                    compile({static_cast<std::size_t>(before), static_cast<std::size_t>(next), r, level, rule.sibling,
                             rule.cycles, rule.window});
        }
    }
    dropCovered();
}

// A level of one node per parent is its parent. Returns what each level of the file becomes.
std::vector<int> DramRuleTables::makeLevels(const DramRules& rules) {
    std::vector<int> merged;
    banks = static_cast<int>(rules.banks());
    int nodes = 1;
    for (int l = 0; l <= rules.bankLevel(); ++l) {
        const int n = static_cast<int>(rules.count[static_cast<std::size_t>(l)]);
        nodes *= n;
        if (l == 0 || n > 1) nodeBanks[static_cast<std::size_t>(levels++)] = banks / nodes;
        merged.push_back(levels - 1);
    }
    bankLevel = levels > 1 ? levels - 1 : levels;
    return merged;
}

void DramRuleTables::makeLanes() {
    perWord = std::min(banks, 64);
    words = banks / perWord;
    const int size = std::min(perWord, nodeBanks[static_cast<std::size_t>(bankLevel - 1)]);
    const int used = perWord / size;
    // As many as one of the sizes that DramRuleState is compiled for, where there is one.
    wordLanes = used <= 4 ? 4 : used <= 8 ? 8 : used <= 16 ? 16 : static_cast<std::size_t>(used);
    lanes = wordLanes * static_cast<std::size_t>(words);
    laneFirst.assign(lanes, -1);
    laneBanks.assign(lanes, 0);
    for (int bank = 0; bank < banks; ++bank) {
        const int inWord = bank % perWord;
        const std::size_t lane =
            static_cast<std::size_t>(bank / perWord) * wordLanes + static_cast<std::size_t>(inWord / size);
        laneOf.push_back(static_cast<std::uint16_t>(lane));
        laneBanks[lane] |= std::int64_t{1} << inWord;
        if (laneFirst[lane] < 0) laneFirst[lane] = bank;
    }
}

// What a command reaches is the deepest node at which a rule lets it wait.
void DramRuleTables::makeReach(const DramRules& rules, const std::vector<int>& merged, const std::vector<int>& mine) {
    std::array<int, ruledCommands> deepest{};
    for (const auto& rule : rules.rules)
        for (const int a : rule.after)
            if (const int c = mine[static_cast<std::size_t>(a)]; c >= 0)
                deepest[static_cast<std::size_t>(c)] =
                    std::max(deepest[static_cast<std::size_t>(c)], merged[static_cast<std::size_t>(rule.level)]);
    for (std::size_t c = 0; c < ruledCommands; ++c) {
        const auto command = static_cast<RuledCommand>(c);
        const bool all = command == RuledCommand::PrechargeAll || command == RuledCommand::RefreshAll;
        scope[c] = all ? deepest[c] : levels - 1;
        raises[c].simple = !all;
    }
    // The two commands of an all-bank refresh reach the same banks.
    auto& pre = scope[static_cast<std::size_t>(RuledCommand::PrechargeAll)];
    auto& ref = scope[static_cast<std::size_t>(RuledCommand::RefreshAll)];
    if (std::ranges::count(mine, static_cast<int>(RuledCommand::RefreshAll)) > 0) pre = ref;
    for (std::size_t c = 0; c < ruledCommands; ++c) reach[c] = nodeBanks[static_cast<std::size_t>(scope[c])];
}

std::size_t DramRuleTables::addRow() {
    distances.resize(distances.size() + lanes * lanes, static_cast<double>(unreached));
    return distances.size() - lanes * lanes;
}

// From each lane to those of its node of that level, or to those of the nodes beside it.
void DramRuleTables::raiseRow(std::size_t row, int level, bool sibling, std::int64_t to) {
    const int size = nodeBanks[static_cast<std::size_t>(level)];
    const int parent = parentBanks(level);
    for (std::size_t i = 0; i < lanes; ++i)
        for (std::size_t j = 0; j < lanes; ++j) {
            const int from = laneFirst[i], other = laneFirst[j];
            if (from < 0 || other < 0) continue;
            const bool same = from / size == other / size;
            if (sibling ? same || from / parent != other / parent : !same) continue;
            double& distance = distances[row + i * lanes + j];
            distance = std::max(distance, static_cast<double>(to));
        }
}

void DramRuleTables::compile(const Pair& p) {
    // A command to a whole rank acts on every node below.
    const int level = p.sibling ? p.level : std::min(p.level, scope[p.before]);
    const std::int64_t stamp = p.cycles * scale + scale - 1 - static_cast<std::int64_t>(p.rule);
    const std::int64_t to = p.after < hot ? stamp : unreached;
    Raises& its = raises[p.before];
    const Rare late{p.before, level, p.sibling, p.cycles, p.window, ringOf.size()};
    if (p.window > 1) {
        Window window{p.level, p.window, ringOf.size(), {p.after < hot ? p.after : 0, 0}, to};
        const int size = nodeBanks[static_cast<std::size_t>(p.level)];
        for (int bank = 0; bank < banks; ++bank) {
            if (bank % size == 0) {
                history.insert(history.end(), static_cast<std::size_t>(p.window), longAgo);
                history.push_back(0);
            }
            ringOf.push_back(static_cast<std::uint32_t>(history.size()) - static_cast<std::uint32_t>(p.window) - 1);
        }
        window.lanes.row = addRow();
        if (p.level != bankLevel) raiseRow(window.lanes.row, p.level, p.sibling, to);
        its.windows.push_back(window);
    } else if (p.after < hot && p.level == bankLevel) {
        auto& list = p.sibling ? its.siblings : its.banks;
        its.simple &= !p.sibling;
        const auto found = std::ranges::find(list, p.after, &BankRaise::after);
        if (found == list.end())
            list.push_back({p.after, to});
        else
            found->stamp = std::max(found->stamp, to);
    } else if (p.after < hot) {
        auto found = std::ranges::find(its.lanes, p.after, &LaneRaise::after);
        if (found == its.lanes.end()) found = its.lanes.insert(found, {p.after, addRow()});
        raiseRow(found->row, level, p.sibling, to);
    }
    if (p.after >= hot && p.level <= scope[p.after]) rare[p.after].push_back(late);
}

// Nothing is held back in its bank that is held back as long above it.
void DramRuleTables::dropCovered() {
    for (Raises& its : raises)
        for (const LaneRaise& lane : its.lanes) {
            double least = none;
            for (std::size_t i = 0; i < lanes; ++i)
                if (laneFirst[i] >= 0) least = std::min(least, distances[lane.row + i * lanes + i]);
            std::erase_if(its.banks, [&](const BankRaise& bank) {
                return bank.after == lane.after && static_cast<double>(bank.stamp) <= least;
            });
        }
}

}  // namespace orrery
