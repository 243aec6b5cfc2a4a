#pragma once

// Energy of a drawn DRAM from the supply currents of its devices (simulation/dram/command_energy.h), where there are
// published ones of its family, rate, data pins and density.

#include "base/diagnostic.h"
#include "hardware/views/device_view.h"

#include <string>

namespace orrery {

struct DrawnDramEnergy {
    std::string title;      ///< of the currents
    double devices = 0;     ///< the capacity over the density of one
    bool stacked = false;   ///< in the package: a power cap of the device has it inside
    JoulesPerByte reading;  ///< in a stream: the burst, and its share of opening a row that is read as a whole
    Watts standing;         ///< of all devices, each with a row open, and of their refreshes
    PartsRead read;         ///< of the design
};

/// By `timing`, with `chips`, `ranks` and `channels` of a module and `channels` of a stack where they are drawn, else
/// with the devices of the built-in standard of that name. A drawn GB is 2³⁰ bytes, as makers of DRAM count. Fails with
/// `dram.no-currents`.
Expected<DrawnDramEnergy> drawnDramEnergy(const MemoryLevel& memory, const Hardware& design);

}  // namespace orrery
