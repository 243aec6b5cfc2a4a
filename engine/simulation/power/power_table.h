#pragma once

// What the events of a GPU draw: presets/technology/gpu-power-*.yaml, each number with its source.

#include "base/diagnostic.h"
#include "simulation/power/activity.h"

#include <string>
#include <string_view>

namespace orrery {

/// Which unit computes in a stretch of cycles decides what leaks (AccelWattch, section 4.4).
enum class GpuMix : std::uint8_t {
    Int,
    IntAdd,
    IntMultiply,
    IntFp,
    IntFpDp,
    IntFpSfu,
    IntFpTexture,
    IntFpTensor,
    Several,
    Light,
    L1,
    Shared,
    L2,
};
inline constexpr std::size_t gpuMixes = 13;

struct GpuPowerTable {
    std::string name;
    int sms = 0;
    double clock = 0;                                        ///< Hz, at which `voltage` is needed
    double voltage = 0;                                      ///< V, at which all below holds
    double constant = 0, idleSm = 0, memoryControllers = 0;  ///< W
    std::array<double, gpuEvents> energies{};                ///< J of one event
    struct Static {
        double firstLane = 0, laneMore = 0;  ///< W of all SMs
    };
    std::array<Static, gpuMixes> leakage{};
    struct Measured {
        double active = 0, pipeline = 0;  ///< W of all SMs
        double memoryShare = 0;
    } measured;
};

/// Fails with its place where a number is absent or wrong. Codes `power.*`.
Expected<GpuPowerTable> readGpuPowerTable(std::string_view yaml, std::string_view file);
/// The shipped one, read once.
const Expected<GpuPowerTable>& voltaPower();

}  // namespace orrery
