#include "simulation/dram/ruled/ruled_energy.h"

#include <fmt/format.h>

namespace orrery {

DramDevice deviceOf(const DramRules& rules) {
    const double beat = static_cast<double>(rules.timingOf("nBL")) * rules.cycleSeconds() / rules.prefetch;
    const auto said = static_cast<double>(rules.timingOf("rate"));
    const std::int64_t rows = rules.count[rules.count.size() - 2], columns = rules.count.back();
    return {rules.family, said > 0 ? said : 1e-6 / beat, rules.devicePins,
            static_cast<double>(rules.banksPerRank()) * static_cast<double>(rows) * static_cast<double>(columns)};
}

Expected<DramCurrents> currentsFor(const DramRules& rules) {
    return publishedCurrents(deviceOf(rules));
}

Expected<RuledEnergy> ruledEnergy(const DramRules& rules, const RuledResult& result, DramCurrents currents) {
    const double second = rules.cycleSeconds();
    const auto seconds = [&](std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names)
            if (const auto cycles = rules.timingOf(name); cycles > 0) return static_cast<double>(cycles) * second;
        return 0.0;
    };
    const auto sent = [&](RuledCommand which) { return result.counts.commands[static_cast<int>(which)]; };
    const struct {
        std::string_view timing, command;
        std::int64_t sent;
        double takes;
    } needed[] = {
        {"nRC", "ACT", sent(RuledCommand::Activate), seconds({"nRC"})},
        {"nRAS", "ACT", sent(RuledCommand::Activate), seconds({"nRAS"})},
        {"nRFC", "REFab", result.rankRefreshes, seconds({"nRFC", "nRFCab"})},
        {"nRFCpb", "REFpb", sent(RuledCommand::RefreshBank), seconds({"nRFCpb"})},
    };
    for (const auto& each : needed)
        if (each.sent > 0 && each.takes <= 0)
            return fail("dram.currents",
                        fmt::format("{} was sent, and the rules have no {}", each.command, each.timing),
                        fmt::format("a timing {} above 0", each.timing), "what a command takes follows from its time",
                        {.file = rules.file, .path = "dram.timing"});
    RuledEnergy out;
    out.devices = static_cast<double>(rules.channelWidth) / currents.dataPins;
    out.ranks = result.ranks;
    out.seconds = static_cast<double>(result.cycles) * second;
    out.bits = 8.0 * rules.burstBytes() * static_cast<double>(result.reads + result.writes);
    const auto command = commandEnergy(
        currents,
        {seconds({"nRC"}), seconds({"nRAS"}), seconds({"nBL"}), seconds({"nRFC", "nRFCab"}), seconds({"nRFCpb"})},
        out.devices);
    if (!command) return Unexpected(command.error());
    const double active = static_cast<double>(result.activeCycles) * second;
    const auto parts =
        energyOf(*command, {sent(RuledCommand::Activate), sent(RuledCommand::Read) + sent(RuledCommand::ReadPrecharge),
                            sent(RuledCommand::Write) + sent(RuledCommand::WritePrecharge), result.rankRefreshes,
                            sent(RuledCommand::RefreshBank), active,
                            std::max(0.0, static_cast<double>(result.ranks) * out.seconds - active)});
    if (!parts) return Unexpected(parts.error());
    out.parts = *parts;
    out.currents = std::move(currents);
    return out;
}

}  // namespace orrery
