#pragma once

// Simulations of whole systems count in picoseconds: integers, so that a run is the same everywhere.

#include "simulation/event_kernel.h"

namespace orrery {

inline constexpr double picoseconds_per_second = 1e12;
inline double toSeconds(SimTime ticks) {
    return static_cast<double>(ticks) / picoseconds_per_second;
}
/// The nearest tick; what does not fit is half of what does.
SimTime toTicks(double seconds);

}  // namespace orrery
