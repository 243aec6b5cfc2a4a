#include "workload/lacking_type.h"

#include <algorithm>
#include <array>

namespace orrery {

namespace {

bool isFloating(DType type) {
    return type <= DType::FP4;
}

/// One that is computed as it is, of as many bits.
DType nearestTo(DType type, DType runsAs, const DeviceView& device) {
    UnitPeak best;
    for (int i = 0; i < dtypeCount; ++i) {
        const auto other = static_cast<DType>(i);
        if (bits(other) != bits(type) || isFloating(other) != isFloating(type)) continue;
        const UnitPeak peak = device.peakUnit(true, other);
        if (peak.runsAs == other && peak.rate > best.rate) best = peak;
    }
    return best.rate.value > 0 ? best.runsAs : runsAs;
}

}  // namespace

std::optional<LackingType> lackingType(const CostTable& costs, const DeviceView& device) {
    std::array<double, dtypeCount> work{};
    for (std::size_t i = 0; i < costs.size(); ++i)
        work[static_cast<std::size_t>(costs.type[i])] += costs.macs[i] * costs.repeat[i];
    std::optional<LackingType> found;
    double most = 0;
    for (int i = 0; i < dtypeCount; ++i) {
        const auto type = static_cast<DType>(i);
        const UnitPeak peak = device.peakUnit(true, type);
        if (work[static_cast<std::size_t>(i)] <= most || !(peak.rate.value > 0) || peak.runsAs == type) continue;
        most = work[static_cast<std::size_t>(i)];
        found = LackingType{type, peak.runsAs, nearestTo(type, peak.runsAs, device)};
    }
    return found;
}

}  // namespace orrery
