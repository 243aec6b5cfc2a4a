#pragma once

// The rules of a DRAM, looked at once more and without the model's state: every pair of commands of a trace that are
// near enough to constrain one another is compared with the table of least distances. Slow and plain.

#include "simulation/dram/memory.h"

#include <QString>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

namespace orrery::dramcheck {

struct Where {
    int bus, rank, group, bank;
};

inline Where where(const DramOrganisation& o, int bank) {
    return {bank / (o.ranks * o.banksPerRank()), bank / o.banksPerRank(), bank / o.banksPerGroup, bank};
}

inline bool isRead(DramCommand c) {
    return c == DramCommand::Read || c == DramCommand::ReadPrecharge;
}
inline bool isWrite(DramCommand c) {
    return c == DramCommand::Write || c == DramCommand::WritePrecharge;
}
inline bool isColumn(DramCommand c) {
    return isRead(c) || isWrite(c);
}
inline bool closes(DramCommand c) {
    return c == DramCommand::Precharge || c == DramCommand::PrechargeAll;
}

/// The least distance from one command to a later one by every rule that names the two; 0 where none does.
inline DramCycle leastDistance(const DramStandard& s, const DramIssued& first, const DramIssued& second) {
    const auto& t = s.timing;
    const auto a = where(s.organisation, first.bank), b = where(s.organisation, second.bank);
    if (a.rank != b.rank) return 0;
    const bool wholeRank = first.command == DramCommand::PrechargeAll || first.command == DramCommand::Refresh ||
                           second.command == DramCommand::PrechargeAll || second.command == DramCommand::Refresh;
    const bool sameBank = wholeRank || a.bank == b.bank, sameGroup = a.group == b.group;
    using enum DramCommand;
    const bool toRow = second.command == Activate || second.command == Refresh || second.command == RefreshBank;
    DramCycle least = 0;
    const auto rule = [&](bool holds, DramCycle distance) {
        if (holds) least = std::max(least, distance);
    };
    if (first.command == Activate) {
        rule(sameBank && toRow, t.rc);
        rule(sameBank && isRead(second.command), t.rcdRead);
        rule(sameBank && isWrite(second.command), t.rcdWrite);
        rule(sameBank && closes(second.command), t.ras);
        rule(second.command == Activate || second.command == RefreshBank, t.rrdS);
        rule(second.command == Activate && sameGroup, t.rrdL);
    }
    if (closes(first.command)) {
        rule(sameBank && toRow, t.rp);
        rule(closes(second.command), t.ppd);
    }
    if (isRead(first.command)) {
        rule(isRead(second.command), sameGroup ? t.ccdL : t.ccdS);
        rule(isWrite(second.command), t.readToWrite > 0 ? t.readToWrite : t.cl + t.burst + 2 - t.cwl);
        rule(sameBank && closes(second.command), t.rtp);
        rule(sameBank && first.command == ReadPrecharge && toRow, t.rtp + t.rp);
    }
    if (isWrite(first.command)) {
        const int ccdS = t.ccdWriteS > 0 ? t.ccdWriteS : t.ccdS, ccdL = t.ccdWriteL > 0 ? t.ccdWriteL : t.ccdL;
        rule(isWrite(second.command), sameGroup ? ccdL : ccdS);
        rule(isRead(second.command), t.cwl + t.burst + (sameGroup ? t.wtrL : t.wtrS));
        rule(sameBank && closes(second.command), t.cwl + t.burst + t.wr);
        rule(sameBank && first.command == WritePrecharge && toRow, t.cwl + t.burst + t.wr + t.rp);
    }
    if (first.command == Refresh) rule(true, second.command == Activate ? t.rfc : 1);
    if (first.command == RefreshBank) {
        rule(a.bank == b.bank && second.command == Activate, t.rfcBank);
        rule(second.command == Activate || second.command == RefreshBank, std::max(t.rrdS, t.refreshToRefresh));
    }
    return least;
}

/// What is wrong with the trace of one channel, in order of cycles; empty if nothing is.
inline QString firstFault(const DramStandard& s, std::vector<DramIssued> trace) {
    const auto& o = s.organisation;
    const auto& t = s.timing;
    std::stable_sort(trace.begin(), trace.end(), [](const auto& x, const auto& y) { return x.cycle < y.cycle; });
    const auto say = [](const DramIssued& c, const QString& what) {
        return QString("cycle %1 command %2 bank %3 row %4: %5")
            .arg(c.cycle)
            .arg(int(c.command))
            .arg(c.bank)
            .arg(c.row)
            .arg(what);
    };
    const DramCycle horizon =
        std::max({t.rfc, t.rfcBank, t.rc, t.faw, t.cwl + t.burst + t.wr + t.rp, t.cl + t.burst + t.readToWrite}) + 1;
    std::map<int, std::int64_t> open;
    std::map<int, std::deque<DramCycle>> activates;
    std::map<int, DramCycle> activated, commandBus;
    std::map<int, std::pair<DramCycle, int>> data;  // per data bus: cycle after the last burst, its rank
    std::size_t start = 0;
    for (std::size_t i = 0; i < trace.size(); ++i) {
        const auto& c = trace[i];
        const auto w = where(o, c.bank);
        while (trace[start].cycle + horizon < c.cycle) ++start;
        for (std::size_t j = start; j < i; ++j)
            if (const auto least = leastDistance(s, trace[j], c); c.cycle - trace[j].cycle < least)
                return say(c, QString("%1 cycles after command %2 of bank %3, %4 needed")
                                  .arg(c.cycle - trace[j].cycle)
                                  .arg(int(trace[j].command))
                                  .arg(trace[j].bank)
                                  .arg(least));
        // Command buses.
        const int bus = t.splitCommandBus && isColumn(c.command) ? 1 : 0;
        const int taken = isColumn(c.command)                  ? t.columnSlots
                          : c.command == DramCommand::Activate ? t.activateSlots
                                                               : 1;
        if (commandBus.contains(bus) && c.cycle - taken + 1 <= commandBus[bus])
            return say(c, "the command bus is taken");
        commandBus[bus] = c.cycle;
        // State.
        const int first = w.rank * o.banksPerRank();
        switch (c.command) {
            case DramCommand::Activate: {
                if (open.contains(c.bank)) return say(c, "activates an open bank");
                open[c.bank] = c.row;
                activated[c.bank] = c.cycle;
                auto& window = activates[w.rank];
                if (window.size() == 4 && c.cycle - window.front() < t.faw)
                    return say(c, "a fifth activate within tFAW");
                window.push_back(c.cycle);
                if (window.size() > 4) window.pop_front();
                break;
            }
            case DramCommand::Precharge:
                if (open.erase(c.bank) == 0) return say(c, "precharges a closed bank");
                break;
            case DramCommand::PrechargeAll:
                for (int b = first; b < first + o.banksPerRank(); ++b) open.erase(b);
                break;
            case DramCommand::Refresh:
                for (int b = first; b < first + o.banksPerRank(); ++b)
                    if (open.contains(b)) return say(c, "refreshes a rank with an open bank");
                break;
            case DramCommand::RefreshBank:
                if (open.contains(c.bank)) return say(c, "refreshes an open bank");
                break;
            default: {
                if (!open.contains(c.bank) || open[c.bank] != c.row)
                    return say(c, "reads or writes a row that is not open");
                const DramCycle begin = c.cycle + (isRead(c.command) ? t.cl : t.cwl);
                if (const auto it = data.find(w.bus); it != data.end()) {
                    const int gap = it->second.second != w.rank ? t.rankSwitch : 0;
                    if (begin < it->second.first + gap) return say(c, "its data overlap those before it on the bus");
                }
                data[w.bus] = {begin + t.burst, w.rank};
                if (c.command == DramCommand::ReadPrecharge || c.command == DramCommand::WritePrecharge)
                    open.erase(c.bank);
                break;
            }
        }
    }
    return {};
}

}  // namespace orrery::dramcheck
