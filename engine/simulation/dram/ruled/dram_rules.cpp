#include "simulation/dram/ruled/dram_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

std::int64_t DramRules::banks() const {
    std::int64_t n = 1;
    for (int l = 0; l <= bankLevel(); ++l) n *= count[static_cast<std::size_t>(l)];
    return n;
}

std::int64_t DramRules::banksPerRank() const {
    std::int64_t n = 1;
    for (int l = bankLevel(); l > 0; --l) {
        if (l != bankLevel() && levels[static_cast<std::size_t>(l)] != "BankGroup") break;
        n *= count[static_cast<std::size_t>(l)];
    }
    return n;
}

double DramRules::cycleSeconds() const {
    return static_cast<double>(timingOf("tCK_ps")) * 1e-12;
}

int DramRules::dataBuses() const {
    for (std::size_t l = 0; l < levels.size() && l < count.size(); ++l)
        if (levels[l] == "PseudoChannel") return static_cast<int>(count[l]);
    return 1;
}

double DramRules::peakBandwidth() const {
    return dataBuses() * burstBytes() / (static_cast<double>(timingOf("nBL")) * cycleSeconds());
}

std::int64_t DramRules::burstPace() const {
    return std::max<std::int64_t>(1, timingOf("nBL") / dataBuses());
}

std::int64_t DramRules::timingOf(std::string_view name) const {
    for (std::size_t i = 0; i < timingNames.size() && i < timing.size(); ++i)
        if (timingNames[i] == name || (name == "nBL" && timingNames[i] == "nBL_min")) return timing[i];
    return 0;
}

namespace {

bool has(const std::vector<int>& list, int command) {
    return command >= 0 && std::ranges::find(list, command) != list.end();
}

// Whether a rule from `level` down to that of banks says when a bank may be given the command after what it was given.
bool isTold(const DramRules& rules, int before, int after, int level) {
    return std::ranges::any_of(rules.rules, [&](const DramRule& rule) {
        return rule.level >= level && rule.level <= rules.bankLevel() && !rule.sibling && rule.window <= 1 &&
               has(rule.before, before) && has(rule.after, after);
    });
}

// A bank must be closed to be refreshed, as it must be to be opened: what an activate of it waits for in the bank
// itself, a refresh of it waits for too, unless the file says itself how long. Rules above a bank are between banks.
void deriveBankRefresh(DramRules& rules, int activate, int renewal) {
    std::vector<DramRule> derived;
    for (const DramRule& rule : rules.rules) {
        if (rule.level != rules.bankLevel() || rule.sibling || rule.window > 1 || !has(rule.after, activate)) continue;
        DramRule its = rule;
        std::erase_if(its.before, [&](int before) {
            return before == renewal || isTold(rules, before, renewal, rules.bankLevel());
        });
        if (its.before.empty()) continue;
        its.after = {renewal};
        its.derived = true;
        derived.push_back(std::move(its));
    }
    rules.rules.insert(rules.rules.end(), derived.begin(), derived.end());
}

void forgetDerived(DramRules& rules) {
    std::erase_if(rules.rules, [](const DramRule& rule) { return rule.derived; });
}

}  // namespace

Expected<void> setPage(DramRules& rules, std::string_view page, bool refresh) {
    if (page != "open" && page != "closed")
        return fail("dram.page", fmt::format("there is no page policy '{}'", page), "open or closed");
    rules.page = RuledPage::Open;
    forgetDerived(rules);
    if (page == "open") return {};
    const int activate = std::max(rules.commandOf("ACT"), rules.commandOf("ACT1"));
    const bool byBank = rules.controller == RuledController::HalfClock;
    const char* const renewal = byBank ? "REFpb" : "REFab";
    const int renews = rules.commandOf(renewal);
    for (const auto& [plain, closing] : {std::pair{"RD", "RDA"}, {"WR", "WRA"}}) {
        const int same = rules.commandOf(plain), its = rules.commandOf(closing);
        for (const DramRule& rule : rules.rules) {
            const auto refuse = [&](std::string message, std::string_view place) {
                return fail("dram.page", std::move(message), fmt::format("rules that name both as {} commands", place),
                            "a closed page needs them alike",
                            {.file = rules.file, .line = rule.line, .path = "dram.timing_constraints"});
            };
            if (its >= 0 && has(rule.after, same) != has(rule.after, its))
                return refuse(fmt::format("{} waits otherwise than {}", closing, plain), "following");
            // What follows on the data bus; a precharge differs, as the device closes the row by itself.
            const bool column = has(rule.after, rules.commandOf("RD")) || has(rule.after, rules.commandOf("WR"));
            if (its >= 0 && column && has(rule.before, same) != has(rule.before, its))
                return refuse(fmt::format("reads or writes wait otherwise for {} than for {}", closing, plain),
                              "preceding");
        }
        if (!isTold(rules, its, activate, 0))
            return fail("dram.page", fmt::format("no rule says when a row may be opened after {}", closing),
                        fmt::format("a constraint from {} to ACT", closing), "a closed page needs auto-precharge",
                        {.file = rules.file, .path = "dram.timing_constraints"});
    }
    if (refresh && byBank && renews >= 0) deriveBankRefresh(rules, activate, renews);
    for (const char* closing : {"RDA", "WRA"}) {
        if (!refresh || isTold(rules, rules.commandOf(closing), renews, byBank ? rules.bankLevel() : 0)) continue;
        forgetDerived(rules);
        return fail("dram.page", fmt::format("no rule says when a bank may be refreshed after {}", closing),
                    fmt::format("a constraint from {} to {}", closing, renewal), "or leave refresh out",
                    {.file = rules.file, .path = "dram.timing_constraints"});
    }
    rules.page = RuledPage::Closed;
    return {};
}

int DramRules::commandOf(std::string_view name) const {
    const auto found = std::find(commands.begin(), commands.end(), name);
    return found == commands.end() ? -1 : static_cast<int>(found - commands.begin());
}

}  // namespace orrery
