#include "hardware/views/power_limit.h"

#include <algorithm>
#include <charconv>

namespace orrery {

namespace {

constexpr double leastVoltage = 0.7, voltageOffset = 0.4, voltageSlope = 0.6, leastShare = 0.1;

}  // namespace

double voltageAt(double clockShare) {
    return std::max(leastVoltage, voltageOffset + voltageSlope * clockShare);
}

double clockUnderPower(double capWatts, double staticWatts, double dynamicWatts) {
    if (!(capWatts > 0) || !(dynamicWatts > 0)) return 1;
    const double room = std::max(0.0, capWatts - staticWatts) / dynamicWatts;
    if (room >= 1) return 1;
    // Below the knee the voltage is constant and power grows in a line.
    const double knee = (leastVoltage - voltageOffset) / voltageSlope;
    if (room <= knee * leastVoltage * leastVoltage) {
        return std::max(leastShare, room / (leastVoltage * leastVoltage));
    }
    double share = 1;  // share · voltage² is convex there: Newton from the right stays right and converges
    for (int i = 0; i < 6; ++i) {
        const double voltage = voltageOffset + voltageSlope * share;
        share -= (share * voltage * voltage - room) / (voltage * (voltage + 2 * voltageSlope * share));
    }
    return std::clamp(share, leastShare, 1.0);
}

double staticWatts(double capWatts, double idleWatts) {
    if (!(idleWatts > 0)) return staticShareOfCap * capWatts;
    return capWatts > 0 ? std::min(idleWatts, capWatts) : idleWatts;
}

double processNanometres(std::string_view process) {
    double value = 0;
    std::from_chars(process.data(), process.data() + process.size(), value);
    return value > 0 && value < 1000 ? value : 0;
}

}  // namespace orrery
