#include "simulation/dram/command_energy.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {

Expected<DramCommandEnergy> commandEnergy(const DramCurrents& currents, const DramCommandTimes& t, double devices) {
    DramCommandEnergy e;
    bool byBank = true;
    double refreshBank = 0;
    for (const DramRail& i : currents.rails) {
        const double volts = i.volts * devices;
        e.activate += volts * (i.idd0 * t.rc - (i.idd3n * t.ras + i.idd2n * (t.rc - t.ras)));
        e.read += volts * (i.idd4r - i.idd3n) * t.burst;
        e.write += volts * (i.idd4w - i.idd3n) * t.burst;
        e.refresh += volts * (i.idd5b - i.idd3n) * t.rfc;
        e.activeStandby += volts * i.idd3n;
        e.prechargedStandby += volts * i.idd2n;
        byBank &= i.idd5pb.has_value();
        refreshBank += volts * (i.idd5pb.value_or(0) - i.idd3n) * t.rfcBank;
    }
    if (byBank) e.refreshBank = refreshBank;
    // Data sheets round to whole milliamperes.
    if (e.activate < 0 || (byBank && refreshBank < 0))
        return fail("dram.currents",
                    fmt::format("by {} {} takes less than standing by", currents.id,
                                e.activate < 0 ? "an activate" : "the refresh of a bank"),
                    "currents and timings of one device", "do tRC, tRAS and IDD0 belong together?");
    return e;
}

Expected<DramCommandEnergy> publishedEnergy(const DramStandard& standard) {
    const DramOrganisation& o = standard.organisation;
    const DramTiming& t = standard.timing;
    const double second = t.clockPicoseconds * 1e-12;
    const double rate = o.burstLength / (t.burst * second) * 1e-6;
    const double cells = static_cast<double>(o.rows) * o.banksPerRank() * o.columns;
    const auto currents = publishedCurrents({standard.family, rate, o.devicePins, cells});
    if (!currents) return Unexpected(currents.error());
    return commandEnergy(*currents,
                         {t.rc * second, t.ras * second, t.burst * second, t.rfc * second, t.rfcBank * second},
                         static_cast<double>(o.busBits) / currents->dataPins);
}

double DramEnergyParts::total() const {
    double sum = 0;
    for (const double part : joules) sum += part;
    return sum;
}

Expected<DramEnergyParts> energyOf(const DramCommandEnergy& command, const DramEnergyCounts& n) {
    if (n.bankRefreshes > 0 && !command.refreshBank)
        return fail("dram.currents", "banks are refreshed one by one, and the currents do not say what that takes",
                    "`idd5pb` of every rail", "leave refresh out, or add it from the data sheet");
    const auto times = [](std::int64_t count) { return static_cast<double>(count); };
    DramEnergyParts out;
    out.joules = {times(n.activates) * command.activate,
                  times(n.reads) * command.read,
                  times(n.writes) * command.write,
                  times(n.refreshes) * command.refresh + times(n.bankRefreshes) * command.refreshBank.value_or(0),
                  n.active * command.activeStandby,
                  n.precharged * command.prechargedStandby};
    return out;
}

}  // namespace orrery
