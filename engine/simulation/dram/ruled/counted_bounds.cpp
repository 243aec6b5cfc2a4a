#include "simulation/dram/ruled/counted_bounds.h"

#include "simulation/dram/ruled/binding.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace orrery {

namespace {

// Commands that the requests of one bank need at least.
struct Needs {
    std::int64_t reads = 0, writes = 0, rows = 0;
};

// What the commands of one kind cost each other by one rule, over all nodes of its level.
struct Pace {
    std::string timing;
    std::int64_t cycles = 0;
    int window = 1;
    bool reads = false, writes = false, rows = false;
    std::size_t node = 1;  // banks

    std::int64_t of(const std::vector<Needs>& needs) const {
        std::int64_t most = 0;
        for (std::size_t first = 0; first < needs.size(); first += node) {
            // Commands of one kind alone: a rule may couple kinds in one direction only.
            std::int64_t r = 0, w = 0, a = 0;
            for (std::size_t b = first; b < first + node; ++b)
                r += needs[b].reads, w += needs[b].writes, a += needs[b].rows;
            most = std::max({most, reads ? r : 0, writes ? w : 0, rows ? a : 0});
        }
        return std::max<std::int64_t>(0, most - 1) / window * cycles;
    }
};

std::vector<Pace> pacesOf(const DramRules& rules) {
    const auto has = [](const std::vector<int>& list, int command) {
        return command >= 0 && std::ranges::find(list, command) != list.end();
    };
    const int read = rules.commandOf("RD"), write = rules.commandOf("WR");
    const int activate = std::max(rules.commandOf("ACT"), rules.commandOf("ACT1"));
    std::vector<std::size_t> node;  // of each level, in banks
    auto size = static_cast<std::size_t>(rules.banks());
    for (int l = 0; l <= rules.bankLevel(); ++l)
        node.push_back(size /= static_cast<std::size_t>(rules.count[static_cast<std::size_t>(l)]));
    std::vector<Pace> paces;
    for (const DramRule& rule : rules.rules) {
        if (rule.sibling || rule.level > rules.bankLevel()) continue;
        const auto both = [&](int command) { return has(rule.before, command) && has(rule.after, command); };
        Pace pace{dramRuleName(rules, rule),
                  rule.cycles,
                  rule.window,
                  both(read),
                  both(write),
                  both(activate),
                  node[static_cast<std::size_t>(rule.level)]};
        if (pace.reads || pace.writes || pace.rows) paces.push_back(std::move(pace));
    }
    return paces;
}

std::vector<Needs> needsOf(const DramRules& rules, const RuledAddressMap& map,
                           const std::vector<DramTraceRequest>& trace) {
    std::vector<Needs> needs(static_cast<std::size_t>(rules.banks()));
    std::vector<std::unordered_set<std::int64_t>> rows(needs.size());
    std::unordered_set<std::uint64_t> written;
    const auto burst = static_cast<std::uint64_t>(rules.burstBytes());
    for (const DramTraceRequest& request : trace) {
        const std::uint64_t which = request.address / burst;
        if (request.write ? !written.insert(which).second : written.contains(which)) continue;
        const RuledPlace place = map.place(request.address);
        auto& its = needs[static_cast<std::size_t>(place.bank)];
        ++(request.write ? its.writes : its.reads);
        rows[static_cast<std::size_t>(place.bank)].insert(place.row);
    }
    for (std::size_t b = 0; b < needs.size(); ++b) needs[b].rows = static_cast<std::int64_t>(rows[b].size());
    return needs;
}

// Reads that each wait for the one before. Rows stay open; a refresh or a closed page closes them, and then none is
// closed first.
std::int64_t oneByOne(const DramRules& rules, const RuledAddressMap& map, bool refresh,
                      const std::vector<DramTraceRequest>& trace) {
    std::vector<std::int64_t> open(static_cast<std::size_t>(rules.banks()), ruledNoRow);
    const auto either = [&](std::string_view a, std::string_view b) {
        return std::max(rules.timingOf(a), rules.timingOf(b));
    };
    const std::int64_t opening = either("nRCD", "nRCDRD"),
                       closing = refresh || rules.page == RuledPage::Closed ? 0 : either("nRP", "nRPpb");
    std::int64_t cycles = 0;
    for (const DramTraceRequest& request : trace) {
        const RuledPlace place = map.place(request.address);
        std::int64_t& row = open[static_cast<std::size_t>(place.bank)];
        cycles += rules.readLatency;
        if (row != place.row) cycles += opening + (row == ruledNoRow ? 0 : closing);
        row = place.row;
    }
    return cycles;
}

// A refresh of all banks comes every nREFI and keeps them for nRFC. The last one that is due may come after the end.
std::int64_t withRefresh(const DramRules& rules, std::int64_t busy) {
    const std::int64_t interval = rules.timingOf("nREFI"), takes = rules.timingOf("nRFC");
    const DramRuleTables tables(rules);
    const bool all = tables.reach[static_cast<std::size_t>(RuledCommand::RefreshAll)] == tables.banks;
    if (rules.controller == RuledController::HalfClock || interval <= takes || takes <= 0 || !all) return busy;
    std::int64_t cycles = busy;
    for (;;) {
        const std::int64_t later = busy + std::max<std::int64_t>(0, cycles / interval - 1) * takes;
        if (later == cycles) return cycles;
        cycles = later;
    }
}

}  // namespace

std::vector<DramCountedBound> dramCountedBounds(const DramRules& rules, const RuledAddressMap& map, bool refresh,
                                                const RuledInjection& injection,
                                                const std::vector<DramTraceRequest>& trace) {
    if (trace.empty()) return {};
    const std::vector<Needs> needs = needsOf(rules, map, trace);
    std::map<std::string, DramCountedBound> most;
    const auto note = [&](const std::string& timing, std::int64_t cycles, std::string words) {
        auto& its = most[timing];
        if (cycles > its.cycles) its = {timing, cycles, std::move(words)};
    };
    for (const Pace& pace : pacesOf(rules))
        note(pace.timing, pace.of(needs), dramTimingWords(pace.timing, pace.cycles, rules.burstPace()));
    std::int64_t bursts = 0, writes = 0;
    for (const Needs& its : needs) bursts += its.reads + its.writes, writes += its.writes;
    if (bursts > 0) note("data bus", (bursts - 1) * rules.burstPace(), "every burst takes its time on the data bus");
    std::vector<DramCountedBound> out;
    const std::int64_t last = writes == 0 ? rules.readLatency : 0;  // whichever command comes last, a read ends the run
    for (auto& [timing, bound] : most) {
        if (bound.cycles <= 0) continue;
        bound.cycles = (refresh ? withRefresh(rules, bound.cycles) : bound.cycles) + (bursts > 0 ? last : 0);
        out.push_back(std::move(bound));
    }
    const bool onlyReads = std::ranges::none_of(trace, &DramTraceRequest::write);
    const std::int64_t apart = (static_cast<std::int64_t>(trace.size()) - 1) * injection.every;
    const bool oneByOneBinds = injection.chain && onlyReads;
    out.push_back({"requests", oneByOneBinds ? std::max(apart, oneByOne(rules, map, refresh, trace)) : apart,
                   oneByOneBinds ? "each read waits for the one before" : "requests come no faster"});
    std::ranges::stable_sort(out, std::ranges::greater{}, &DramCountedBound::cycles);
    return out;
}

}  // namespace orrery
