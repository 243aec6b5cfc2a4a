#pragma once

// What each command of a DRAM adds to the energy of standing by, from supply currents: Micron TN-41-01 (Calculating
// Memory System Power for DDR3) and Chandrasekar et al., "Improved Power Modeling of DDR SDRAMs" (DSD 2011, DRAMPower).
// Per rail, V the voltage:
//   activate  V (IDD0 tRC − IDD3N tRAS − IDD2N (tRC − tRAS))     with its precharge
//   read      V (IDD4R − IDD3N) tBurst                           write likewise with IDD4W
//   refresh   V (IDD5B − IDD3N) tRFC                             of a bank V (IDD5PB − IDD3N) tRFCpb; its rank
//                                                                counts as open meanwhile
//   standby   V IDD3N with a bank open, V IDD2N with none
// Left out: power-down, self-refresh, the drivers and termination of the data bus.

#include "simulation/dram/currents.h"
#include "simulation/dram/standard.h"

#include <array>
#include <string_view>

namespace orrery {

/// Seconds of a rank's commands.
struct DramCommandTimes {
    double rc = 0, ras = 0, burst = 0, rfc = 0, rfcBank = 0;
};

/// Joules per command of one rank (all its devices), watts while it stands.
struct DramCommandEnergy {
    double activate = 0;  ///< with its precharge
    double read = 0, write = 0, refresh = 0;
    std::optional<double> refreshBank;  ///< where the currents have it
    double activeStandby = 0, prechargedStandby = 0;
    bool operator==(const DramCommandEnergy&) const = default;
};

/// `devices`: in a rank; a half where the currents are of two pseudo-channels. Fails with `dram.currents` where an
/// activate would take less than standing by.
Expected<DramCommandEnergy> commandEnergy(const DramCurrents& currents, const DramCommandTimes& times, double devices);

/// Of a built-in standard, with its published currents. Fails with `dram.no-currents`.
Expected<DramCommandEnergy> publishedEnergy(const DramStandard& standard);

/// What a run did.
struct DramEnergyCounts {
    std::int64_t activates = 0, reads = 0, writes = 0;
    std::int64_t refreshes = 0, bankRefreshes = 0;  ///< of a rank; of a bank
    double active = 0, precharged = 0;              ///< seconds, summed over ranks
};

/// Joules.
struct DramEnergyParts {
    /// As JEDEC has them: standby with a bank open and with all closed; an activate has its precharge in it.
    static constexpr std::array<std::string_view, 6> names{"activate", "read",           "write",
                                                           "refresh",  "active standby", "precharge standby"};
    std::array<double, 6> joules{};  ///< in the order of `names`
    double total() const;            ///< their sum in that order
};
/// Fails with `dram.currents` where banks are refreshed one by one and the currents have no `idd5pb`.
Expected<DramEnergyParts> energyOf(const DramCommandEnergy& command, const DramEnergyCounts& counts);

}  // namespace orrery
