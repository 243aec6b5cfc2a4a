#include "simulation/dram/ruled/standard_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

enum Number : int { Act, Pre, PreAll, Rd, Wr, RefAll, RdA, WrA };

}  // namespace

Expected<DramRules> rulesOf(const DramStandard& standard) {
    if (standard.family.starts_with("LPDDR"))
        return fail("dram.no-rules", fmt::format("{} opens rows in two parts and starts its data clock", standard.id),
                    "a standard of DDR, GDDR or HBM", "give a configuration file of it");
    const DramOrganisation& o = standard.organisation;
    const DramTiming& t = standard.timing;
    DramRules rules;
    rules.family = standard.family;
    rules.controller = t.splitCommandBus ? RuledController::SplitBus : RuledController::OneBus;
    rules.levels = {"Channel"};
    rules.count = {1};
    const auto level = [&](const char* name, std::int64_t count) {
        rules.levels.emplace_back(name);
        rules.count.push_back(count);
        return static_cast<int>(rules.count.size()) - 1;
    };
    const int bus = o.pseudoChannels > 1 ? level("PseudoChannel", o.pseudoChannels) : 0;
    const int rank = o.ranks > 1 || bus == 0 ? level("Rank", o.ranks) : bus;
    const int group = level("BankGroup", o.bankGroups);
    const int bank = level("Bank", o.banksPerGroup);
    level("Row", o.rows);
    level("Column", o.columns);
    rules.commands = {"ACT", "PREpb", "PREab", "RD", "WR", "REFab", "RDA", "WRA"};
    rules.mapping = "RoBaRaCoCh";
    rules.channelWidth = o.busBits;
    rules.devicePins = o.devicePins;
    rules.prefetch = o.burstLength;
    rules.readLatency = t.cl + t.burst;
    const int writeS = t.ccdWriteS ? t.ccdWriteS : t.ccdS, writeL = t.ccdWriteL ? t.ccdWriteL : t.ccdL;
    const int turn = t.readToWrite ? t.readToWrite : t.cl + t.burst + 2 - t.cwl;
    const int written = t.cwl + t.burst;  // from a write to the end of its data
    const auto timing = [&](const char* name, std::int64_t cycles) {
        rules.timingNames.emplace_back(name);
        rules.timing.push_back(cycles);
    };
    timing("nBL", t.burst), timing("nCL", t.cl), timing("nCWL", t.cwl), timing("nRCD", t.rcdRead);
    timing("nRP", t.rp), timing("nRAS", t.ras), timing("nRC", t.rc), timing("nRTP", t.rtp), timing("nWR", t.wr);
    timing("nCCDS", t.ccdS), timing("nCCDL", t.ccdL), timing("nRRDS", t.rrdS), timing("nRRDL", t.rrdL);
    timing("nWTRS", t.wtrS), timing("nWTRL", t.wtrL), timing("nFAW", t.faw), timing("nRFC", t.rfc);
    timing("nREFI", t.refi), timing("tCK_ps", t.clockPicoseconds);
    if (writeL != t.ccdL) timing("nCCDL_WR", writeL);

    const auto rule = [&](int at, std::vector<int> before, std::vector<int> after, std::int64_t cycles, int window = 1,
                          bool sibling = false) {
        if (cycles > 0) rules.rules.push_back({at, std::move(before), std::move(after), cycles, window, sibling, 0});
    };
    rule(bus, {Rd, RdA}, {Rd, RdA}, t.burst);
    rule(bus, {Wr, WrA}, {Wr, WrA}, t.burst);
    rule(rank, {Rd, RdA}, {Rd, RdA}, t.ccdS);
    rule(rank, {Wr, WrA}, {Wr, WrA}, writeS);
    rule(rank, {Rd, RdA}, {Wr, WrA}, turn);
    rule(rank, {Wr, WrA}, {Rd, RdA}, written + t.wtrS);
    if (o.ranks > 1) {
        const int over = t.burst + t.rankSwitch;
        rule(rank, {Rd, RdA}, {Rd, RdA}, over, 1, true);
        rule(rank, {Wr, WrA}, {Wr, WrA}, over, 1, true);
        rule(rank, {Rd, RdA}, {Wr, WrA}, t.cl + over - t.cwl, 1, true);
        rule(rank, {Wr, WrA}, {Rd, RdA}, t.cwl + over - t.cl, 1, true);
    }
    rule(rank, {Rd}, {PreAll}, t.rtp);
    rule(rank, {Wr}, {PreAll}, written + t.wr);
    rule(rank, {Act}, {Act}, t.rrdS);
    rule(rank, {Act}, {Act}, t.faw, 4);
    rule(rank, {Act}, {PreAll}, t.ras);
    rule(rank, {PreAll}, {Act}, t.rp);
    rule(rank, {Act}, {RefAll}, t.rc);
    rule(rank, {Pre, PreAll}, {RefAll}, t.rp);
    rule(rank, {RefAll}, {Act, PreAll}, t.rfc);
    rule(group, {Rd, RdA}, {Rd, RdA}, t.ccdL);
    rule(group, {Wr, WrA}, {Wr, WrA}, writeL);
    rule(group, {Wr, WrA}, {Rd, RdA}, written + t.wtrL);
    rule(group, {Act}, {Act}, t.rrdL);
    rule(bank, {Act}, {Act}, t.rc);
    rule(bank, {Act}, {Rd, RdA}, t.rcdRead);
    rule(bank, {Act}, {Wr, WrA}, t.rcdWrite);
    rule(bank, {Act}, {Pre}, t.ras);
    rule(bank, {Pre}, {Act}, t.rp);
    rule(bank, {Rd}, {Pre}, t.rtp);
    rule(bank, {Wr}, {Pre}, written + t.wr);
    rule(bank, {RdA}, {Act}, t.rtp + t.rp);
    rule(bank, {WrA}, {Act}, written + t.wr + t.rp);
    rule(rank, {RdA}, {RefAll}, t.rtp + t.rp);
    rule(rank, {WrA}, {RefAll}, written + t.wr + t.rp);
    return rules;
}

}  // namespace orrery
