#pragma once

// What simulation of one CPU core needs of a design: its clock, width, caches from the inside out and main memory, and
// by what name its pipeline is known.

#include "base/diagnostic.h"
#include "base/quantity.h"
#include "hardware/component.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/memory_nodes.h"
#include "hardware/views/parts_read.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

struct CoreCache {
    std::string name;
    Bytes capacity;            ///< of one instance
    Seconds latency;           ///< 0 where not given
    double ways = 0;           ///< 0 where not given
    double sharedBy = 1;       ///< cores
    BytesPerSecond bandwidth;  ///< of one instance; 0 where not given
};

struct CoreView {
    std::string name, path;         ///< of the device
    std::string core, corePath;     ///< of the core
    std::string microarchitecture;  ///< as the design names it: `zen4`; empty where not given
    Hertz clock;
    std::int64_t cores = 1;          ///< of the device, of all sorts
    std::int64_t alike = 1;          ///< of them, of this sort
    double issueWidth = 0;           ///< 0 where not given
    std::vector<CoreCache> caches;   ///< inside first
    BytesPerSecond memoryBandwidth;  ///< of the device
    Seconds memoryLatency;           ///< 0 where not given
    MemoryNodes memories;            ///< of the device: parts with memory of their own, and what joins them
    std::vector<std::string> assumptions;
    PartsRead used;
};

/// Fails naming component and attribute; `method.not-applicable` for a device that is no CPU (no `platform: cpu`).
/// Where cores differ, those that there are most of.
Expected<CoreView> coreView(const DeviceRef& device);
/// One for each sort of cores, with the caches that it reaches; those that there are most of come first.
Expected<std::vector<CoreView>> coreViews(const DeviceRef& device);
/// Of the first device of the design.
Expected<CoreView> coreView(const Hardware& hardware);

}  // namespace orrery
