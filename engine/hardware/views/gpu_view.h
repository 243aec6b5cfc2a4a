#pragma once

// What kernel methods need of a GPU, on top of the DeviceView: how many streaming multiprocessors (compute units),
// what stands in one, and what limits how many blocks of threads it holds.

#include "hardware/views/device_view.h"

#include <string>
#include <vector>

namespace orrery {

struct GpuView {
    DeviceView device;           ///< peaks at the nominal clock, levels, powers, launch overhead
    double sms = 1;              ///< streaming multiprocessors
    double subCores = 4;         ///< schedulers of one SM
    double warpsPerSm = 64;      ///< resident at most
    double warpSize = 32;        ///< threads of a warp (64 of a wavefront)
    double tensorUnits = 0;      ///< of one SM; 0: none
    double vectorLanes = 0;      ///< of one SM, over its vector units
    double registerBytes = 0;    ///< of one SM; 0 where not given
    double sharedBytes = 0;      ///< shared memory of one SM; 0 where not given
    double sharedBandwidth = 0;  ///< B/s of one SM; 0 where not given
    /// Instruction caches of a sub-core and of an SM, constant cache of an SM, bytes; 0 where not given.
    double instructionL0 = 0, instructionL1 = 0, constantCache = 0;
    double gpcCores = 0;  ///< SMs of a GPC in the mean; 0 where not given
    /// The outermost cache that every SM reaches; of caches that each serve one die, all of them together.
    double l2Bytes = 0;        ///< 0: no cache
    double l2Slices = 1;       ///< dies that have one each, so that shared data are held so many times
    double l2Bandwidth = 0;    ///< B/s of all; 0 where not given
    double dramBytes = 0;      ///< capacity
    double dramBandwidth = 0;  ///< B/s
    std::string dramTiming;    ///< standard, as the design names it: `HBM2e`; empty where not given
    std::string process;       ///< of the die, as the design names it: `12 nm`, `4N`; empty where not given
    double clock = 0;          ///< Hz, nominal
    double sustained = 1;      ///< share of the clock that holds under load, as the design states it
    double sharedLatency = 0, l2Latency = 0, dramLatency = 0;  ///< s; 0 where not given
    double linkBandwidth = 0;  ///< B/s in one direction, all links of the device to its peers; 0 where it has none
    double powerCap = 0, idlePower = 0;  ///< W; 0 where not given
    std::vector<std::string> assumptions;

    /// Dense FLOP/s of the whole device at the nominal clock: of the tensor units (matrix) or the vector units.
    double peak(bool matrix, DType type) const { return device.peak(matrix, type).value; }
    /// The same of tensor units alone; 0 where they do not take the type, so that a kernel runs on the vector units.
    double tensorPeak(DType type) const {
        return device.peaks[static_cast<std::size_t>(UnitKind::Tensor)][static_cast<std::size_t>(type)].value;
    }
    double vectorPeak(DType type) const { return device.peak(false, type).value; }
    /// Operations that one SM does in a cycle of the nominal clock; a multiply-accumulate is two.
    double tensorOpsPerCycle(DType type) const { return tensorPeak(type) / (sms * clock); }
    double vectorOpsPerCycle(DType type) const { return vectorPeak(type) / (sms * clock); }
};

/// Fails naming component and attribute; `method.not-applicable` for a device that is no GPU (no `platform: gpu`, and
/// no cores with schedulers).
Expected<GpuView> gpuView(const DeviceRef& device);
/// Of the first device of the design.
Expected<GpuView> gpuView(const Hardware& hardware);

}  // namespace orrery
