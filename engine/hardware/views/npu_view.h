#pragma once

// What tile-level simulation needs of a neural processing unit: cores, each with systolic arrays, a vector unit, a
// scratchpad and perhaps accumulators, fed from one main memory. Read from the same drawing as every other view.

#include "base/diagnostic.h"
#include "base/quantity.h"
#include "hardware/component.h"
#include "hardware/dataflow.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/parts_read.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

struct NpuView {
    std::string name;
    std::string path;
    Hertz clock;             ///< of the arrays; all cycles are of this clock
    std::int64_t cores = 1;  ///< of the device; a device without `core` components is one core

    // Of each core
    std::int64_t arrays = 1;
    std::int64_t rows = 0;                           ///< of an array: along them the reduction runs (weight-stationary)
    std::int64_t columns = 0;                        ///< of an array: one output channel each
    Dataflow dataflow = Dataflow::WeightStationary;  ///< weight- or output-stationary
    std::string scratchpadName;
    Bytes scratchpad;
    Bytes accumulator;     ///< for partial results; 0: they lie in the scratchpad
    double vectorOps = 0;  ///< elementary operations per cycle: lanes × operations of one lane

    // Of the device
    std::string memoryName, memoryPath;
    std::string timing;            ///< DRAM standard as the design names it; may be empty
    std::int64_t channels = 0;     ///< 0: not given
    BytesPerSecond bandwidth;      ///< of main memory, shared by the cores
    Seconds latency;               ///< from a request to its data
    Bytes word{1};                 ///< main memory moves whole ones
    std::int64_t layoutLanes = 1;  ///< elements to a multiple of which one dimension of a stored tensor is padded
    BytesPerSecond portBandwidth;  ///< of one core's way to memory; 0: no limit of its own
    Seconds launchOverhead;        ///< per kernel
    bool floats = false;           ///< multiplies some type of floating point

    std::vector<std::string> assumptions;  ///< defaults that took the place of missing attributes, one sentence each
    PartsRead used;                        ///< of the design
};

/// Fails naming component and attribute: no array or tensor unit with a
/// `dataflow` (`hardware.not-an-npu`), an array without two sides, no scratchpad, no vector unit, no clock, no
/// bandwidth, a dataflow that the simulation does not run (input- and row-stationary).
Expected<NpuView> npuView(const DeviceRef& device);
/// Of the first device of the design.
Expected<NpuView> npuView(const Hardware& hardware);

}  // namespace orrery
