#pragma once

// A neural processing unit in the terms of its own clock: what the tile-level simulation reads. Times are core cycles.

#include "hardware/views/npu_view.h"

#include <cstdint>

namespace orrery {

struct NpuMachine {
    std::int64_t cores = 1;
    std::int64_t arrays = 1;             ///< per core; they work on one product together
    std::int64_t height = 8, width = 8;  ///< of an array
    Dataflow dataflow = Dataflow::WeightStationary;
    std::int64_t scratchpad = 64 * 1024;  ///< bytes per core
    std::int64_t accumulator = 0;         ///< bytes per core; 0: results lie in the scratchpad
    std::int64_t accumulatorElement = 4;  ///< bytes of a partial result in the accumulator
    double vectorOps = 8;                 ///< elementary operations per cycle and core
    double memoryBytes = 16;              ///< per cycle, all cores together
    std::int64_t memoryLatency = 100;
    double portBytes = 0;           ///< per cycle and core between core and memory; 0: no limit of its own
    std::int64_t portLatency = 10;  ///< cycles through the on-chip network
    std::int64_t launch = 0;        ///< cycles before a kernel's first instruction
    std::int64_t word = 1;          ///< bytes: rows of a tile are moved in whole ones
    std::int64_t layoutLanes = 1;   ///< see NpuView
    double hertz = 1e9;

    double macsPerCycle() const { return static_cast<double>(cores * arrays * height * width); }
};

/// Rounds times up to whole cycles.
NpuMachine machineOf(const NpuView& view);

}  // namespace orrery
