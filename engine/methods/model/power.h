#pragma once

// What a kernel draws, and at which clock the power cap lets it run.

#include "hardware/views/gpu_view.h"
#include "workload/kernel.h"

#include <string>

namespace orrery {

/// Static power and the dynamic power of units and memory. The maker guarantees the sustained clock under full load, so
/// that full load at that clock and its voltage draws the cap: this is where the units' power at the nominal clock
/// comes from, for vector and tensor units alike. Units that are drawn beyond those for which the cap was set
/// (DeviceView::drawnToRated) draw as much each.
struct PowerModel {
    double capWatts = 0, staticWatts = 0;
    double unitWatts = 0;      ///< units at full rate, nominal clock and voltage
    double joulesPerByte = 0;  ///< of the main memory and of the way from there to the units
    std::string basis;         ///< one sentence
    bool known() const { return capWatts > 0 && unitWatts > 0; }
};
/// Not known for a device without a power cap.
PowerModel powerModel(const GpuView& gpu);
/// Of `joulesPerByte`, the way from the memory's pins to the units. It stands on the chip: it falls with the square of
/// the chip's voltage, as the units' energy does.
double wayJoulesPerByte(const GpuView& gpu);

struct PowerPoint {
    double clockShare = 1;  ///< of the nominal clock
    double watts = 0;       ///< static, units and memory, at that clock; the cap at most
    double unitWatts = 0, memoryWatts = 0;
};
/// Of a kernel that takes `seconds`: the fixed point of clock and power, where the units' voltage follows the clock
/// (voltageAt) and their rate is what the kernel's work and time say. Allocates nothing.
PowerPoint powerOf(const PowerModel& model, const GpuView& gpu, const Kernel& kernel, double flops, double bytes,
                   double seconds);

}  // namespace orrery
