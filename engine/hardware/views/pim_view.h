#pragma once

// Memory that computes: what a device finds in, or beside, its DRAM. Units stand at each bank, each bank group or on
// the buffer die of every channel (HBM-PIM, AttAcc), or are processors of their own at each bank (UPMEM's DPUs).

#include "base/diagnostic.h"
#include "base/dtype.h"
#include "base/quantity.h"
#include "hardware/component.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/parts_read.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

struct PimView {
    enum class At : std::uint8_t { Bank, BankGroup, Channel };

    std::string device;       ///< that the memory serves
    std::string name, path;   ///< of the memory
    std::string unitName;     ///< of what computes in it
    At at = At::Channel;      ///< where units stand; Channel: on the buffer die
    bool processors = false;  ///< units are cores with programs of their own
    double memories = 1;      ///< stacks or modules of one device
    double unitsPerMemory = 1;

    // Of one memory; 0 where the drawing leaves it to the timing standard
    std::int64_t channels = 0, pseudoChannels = 0, ranks = 0, chips = 0, bankGroups = 0, banks = 0;
    std::string timing;  ///< DRAM standard as the design names it
    Bytes capacity;
    BytesPerSecond bandwidth;
    Watts powerCap;  ///< 0: none

    // Of one unit
    Hertz clock;
    std::array<double, dtypeCount> macs{};  ///< multiply-accumulates a second, 0: the unit does not take the type
    double threads = 1, pipeline = 1;       ///< of a processor
    Bytes scratchpad;                       ///< of a processor
    JoulesPerFlop energy;                   ///< of one operation on 16 bits with its access to the bank, others by
                                            ///< their bytes; 0 where not given

    BytesPerSecond link;   ///< between the device and its memories: drawn links, else the memory's own bus
    std::string linkName;  ///< empty: the memory's bus
    bool beside = false;   ///< in a part of its own, not the device's main memory

    std::vector<std::string> assumptions;
    PartsRead used;  ///< of the design
};

/// Memory with units inside the device, else the nearest one around it, of which it has its share. Fails with
/// `method.not-applicable` where no memory computes, and naming component and attribute that a unit lacks.
Expected<PimView> pimView(const DeviceRef& device);
Expected<PimView> pimView(const Hardware& hardware);

}  // namespace orrery
