#pragma once

// The energy of a run through a ruled channel, from the supply currents of its devices (../command_energy.h).

#include "simulation/dram/command_energy.h"
#include "simulation/dram/ruled/ruled_run.h"

namespace orrery {

struct RuledEnergy {
    DramCurrents currents;
    double devices = 0;  ///< in a rank
    int ranks = 0;       ///< of the channel, over all its pseudo-channels
    DramEnergyParts parts;
    double seconds = 0, bits = 0;  ///< of the run; asked for and moved

    double joulesPerBit() const { return bits > 0 ? parts.total() / bits : 0; }
    double watts() const { return seconds > 0 ? parts.total() / seconds : 0; }
};

DramDevice deviceOf(const DramRules& rules);
/// The published currents for a channel's devices. Fails with `dram.no-currents`.
Expected<DramCurrents> currentsFor(const DramRules& rules);
/// Fails as commandEnergy() and energyOf(), and with `dram.currents` where a command was sent whose timing the rules do
/// not have.
Expected<RuledEnergy> ruledEnergy(const DramRules& rules, const RuledResult& result, DramCurrents currents);

}  // namespace orrery
