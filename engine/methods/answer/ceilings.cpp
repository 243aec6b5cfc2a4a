#include "methods/answer/ceilings.h"

#include "base/unit.h"

#include <algorithm>
#include <array>

namespace orrery {

std::vector<Ceiling> ceilingsFor(const DeviceView& device, const CostTable& costs, std::size_t levels) {
    std::array<bool, dtypeCount> products{};
    std::array<bool, dtypeCount> others{};
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const auto t = static_cast<std::size_t>(costs.type[i]);
        products[t] |= costs.macs[i] > 0;
        others[t] |= costs.flops[i] > 2 * costs.macs[i];
    }
    std::vector<Ceiling> ceilings;
    const auto add = [&](bool matrix, DType type) {
        const UnitPeak peak = device.peakUnit(matrix, type);
        if (peak.rate.value <= 0) return;
        Ceiling ceiling;
        ceiling.label = std::string(toText(type));
        if (peak.runsAs != type) ceiling.label += " as " + std::string(toText(peak.runsAs));
        ceiling.label += (peak.unit == UnitKind::Tensor ? " tensor " : " vector ") + format(peak.rate);
        ceiling.rate = peak.rate.value;
        const auto same = [&](const Ceiling& other) { return other.label == ceiling.label; };
        if (std::none_of(ceilings.begin(), ceilings.end(), same)) ceilings.push_back(std::move(ceiling));
    };
    for (std::size_t t = 0; t < dtypeCount; ++t) {
        if (products[t]) add(true, static_cast<DType>(t));
        if (others[t]) add(false, static_cast<DType>(t));
    }
    const auto fastest = [](const Ceiling& a, const Ceiling& b) { return a.rate > b.rate; };
    std::stable_sort(ceilings.begin(), ceilings.end(), fastest);
    const auto compute = static_cast<std::ptrdiff_t>(ceilings.size());
    for (std::size_t l = 0; l < std::min(levels, device.levels.size()); ++l) {
        const auto& level = device.levels[l];
        if (level.bandwidth.value <= 0) continue;
        ceilings.push_back(
            {level.name + " " + format(level.bandwidth), true, level.bandwidth.value, static_cast<std::int16_t>(l)});
    }
    std::stable_sort(ceilings.begin() + compute, ceilings.end(), fastest);
    return ceilings;
}

}  // namespace orrery
