#include "simulation/dram/ruled/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery {

namespace {

bool names(const DramRules& rules, const std::vector<int>& list, std::string_view start) {
    for (const int c : list)
        if (rules.commands[static_cast<std::size_t>(c)].starts_with(start)) return true;
    return false;
}

}  // namespace

std::string dramTimingWords(std::string_view name, std::int64_t cycles, std::int64_t pace) {
    if (name == "nCCDL" || name == "nCCDL_WR")
        return fmt::format(
            "bursts stay in one bank group: one every {} cycles instead of every {}; a mapping that puts "
            "neighbours into different bank groups gives that back",
            cycles, pace);
    if (name == "nCCDS" || name == "nBL") return "bursts follow each other as fast as the bank groups allow";
    if (name == "nCCDR") return "bursts change the stack";
    if (name == "nCS") return "bursts change the rank, and the data bus is handed over";
    if (name == "nRTW") return "the data bus turns from reading to writing";
    if (name == "nWTRS" || name == "nWTRL")
        return "reads wait after writes: drain more writes at a time, or keep them in another bank group";
    if (name == "nRCD") return "rows are being opened: more requests to an open row, or more banks at once";
    if (name == "nRP") return "rows are being closed first: requests to one bank want different rows";
    if (name == "nRC" || name == "nRAS") return "one bank opens row after row: spread the requests over banks";
    if (name == "nFAW" || name == "nRRDS" || name == "nRRDL") return "rows are opened as fast as the device allows";
    if (name == "nRTP" || name == "nWR") return "a row may not be closed so soon after its last access";
    if (name == "nRTP + nRP" || name == "nWR + nRP")
        return "a row closes itself after its last access; an open page would have kept it";
    if (name == "nRFC") return "refresh";
    return "a rule of the configuration";
}

std::string dramRuleName(const DramRules& rules, const DramRule& rule) {
    const bool beforeRead = names(rules, rule.before, "RD"), beforeWrite = names(rules, rule.before, "WR");
    const bool afterRead = names(rules, rule.after, "RD"), afterWrite = names(rules, rule.after, "WR");
    const bool beforeActivate = names(rules, rule.before, "ACT"), afterActivate = names(rules, rule.after, "ACT");
    const bool beforeClose = names(rules, rule.before, "PRE"), afterClose = names(rules, rule.after, "PRE");
    const std::string& level = rules.levels[static_cast<std::size_t>(rule.level)];
    const bool group = level == "BankGroup", bank = level == "Bank";
    if (names(rules, rule.before, "REF") || names(rules, rule.before, "RFM")) return "nRFC";
    const bool closesItself =
        names(rules, rule.before, "RDA") || names(rules, rule.before, "WRA");  // then opened again, or refreshed
    const char* itself = beforeWrite ? "nWR + nRP" : "nRTP + nRP";
    if (names(rules, rule.after, "REF") && !afterActivate && !afterClose)
        return beforeClose ? "nRP" : closesItself ? itself : "nRC";
    if (rule.sibling) return level == "Sid" ? "nCCDR" : "nCS";
    if (beforeActivate && rule.window > 1) return "nFAW";
    if (beforeActivate && afterActivate) return bank ? "nRC" : group ? "nRRDL" : "nRRDS";
    if (beforeActivate && (afterRead || afterWrite)) return "nRCD";
    if (beforeActivate && afterClose) return "nRAS";
    if (beforeClose && afterActivate) return "nRP";
    if (beforeClose && afterClose) return "nPPD";
    if (closesItself && afterActivate) return itself;
    if (beforeRead && afterClose) return "nRTP";
    if (beforeWrite && afterClose) return "nWR";
    if (beforeRead && afterRead) return group ? "nCCDL" : "nCCDS";
    if (beforeWrite && afterWrite) return group ? (rules.timingOf("nCCDL_WR") > 0 ? "nCCDL_WR" : "nCCDL") : "nCCDS";
    if (beforeRead && afterWrite) return "nRTW";
    if (beforeWrite && afterRead) return group ? "nWTRL" : "nWTRS";
    return fmt::format("timing_constraints at {}", level);
}

std::vector<DramBinding> dramBindings(const DramRules& rules, const RuledResult& result) {
    std::map<std::string, DramBinding> found;
    std::int64_t sum = 0;
    for (const auto cycles : result.waits) sum += cycles;
    const auto add = [&](std::string name, std::int64_t cycles, std::string words) {
        if (cycles <= 0) return;
        auto& one = found[name];
        one.timing = std::move(name);
        one.cycles += cycles;
        one.words = std::move(words);
    };
    const std::size_t n = rules.rules.size();
    for (std::size_t i = 0; i < n; ++i) {
        const std::string name = dramRuleName(rules, rules.rules[i]);
        add(name, result.waits[i], dramTimingWords(name, rules.rules[i].cycles, rules.burstPace()));
    }
    add("data bus", result.waits[n + ruledDataBus], "the data bus is busy: this is the peak");
    add("requests", result.waits[n + ruledRequests],
        "nothing waits in the controller: more requests at once, or sooner");
    add("order of commands", result.waits[n + ruledOrder], "older requests and other commands go first");
    std::vector<DramBinding> out;
    for (auto& [name, one] : found) {
        one.share = sum > 0 ? static_cast<double>(one.cycles) / static_cast<double>(sum) : 0;
        out.push_back(std::move(one));
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.cycles > b.cycles; });
    return out;
}

}  // namespace orrery
