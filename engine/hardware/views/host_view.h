#pragma once

// The memory of the host that a device can reach: a part beside the device that holds DRAM (a processor's package), and
// the link that is drawn between the two (PCIe, NVLink-C2C). Nothing is taken where nothing is drawn.

#include "base/diagnostic.h"
#include "base/quantity.h"
#include "hardware/component.h"
#include "hardware/views/cluster_view.h"
#include "hardware/views/parts_read.h"

#include <string>

namespace orrery {

/// As one device sees it, while all devices of its kind do the same.
struct HostView {
    std::string name;                ///< of the part that holds the memory
    BytesPerSecond link;             ///< one direction
    Seconds latency;                 ///< of the link; 0 where not given
    Bytes memory;                    ///< its share; 0 where not given
    BytesPerSecond memoryBandwidth;  ///< its share
    PartsRead used;
};

/// Of the links between a device and parts with DRAM the widest counts; links from one device to one part add up. The
/// memories of all copies of that part are shared by the devices beside it. Fails with `hardware.no-host` where no such
/// link states a bandwidth, or no such memory one.
Expected<HostView> hostView(const Hardware& design, const DeviceGroup& group);

}  // namespace orrery
