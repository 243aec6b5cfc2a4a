#include "simulation/picoseconds.h"

#include <cmath>
#include <limits>

namespace orrery {

SimTime toTicks(double seconds) {
    constexpr double most = static_cast<double>(std::numeric_limits<SimTime>::max() / 2);
    const double ticks = seconds * picoseconds_per_second;
    if (!(ticks < most)) return std::numeric_limits<SimTime>::max() / 2;
    if (!(ticks > -most)) return std::numeric_limits<SimTime>::min() / 2;
    return std::llround(ticks);
}

}  // namespace orrery
