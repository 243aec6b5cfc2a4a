#include "simulation/dram/ruled/ruled_energy.h"

namespace orrery {

Expected<DramCurrents> currentsFor(const DramRules& rules) {
    const double beat = static_cast<double>(rules.timingOf("nBL")) * rules.cycleSeconds() / rules.prefetch;
    const auto said = static_cast<double>(rules.timingOf("rate"));
    return publishedCurrents(rules.family, said > 0 ? said : 1e-6 / beat, rules.devicePins);
}

Expected<RuledEnergy> ruledEnergy(const DramRules& rules, const RuledResult& result, DramCurrents currents) {
    const double second = rules.cycleSeconds();
    const auto seconds = [&](std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names)
            if (const auto cycles = rules.timingOf(name); cycles > 0) return static_cast<double>(cycles) * second;
        return 0.0;
    };
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
    const auto sent = [&](RuledCommand which) { return result.counts.commands[static_cast<int>(which)]; };
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
