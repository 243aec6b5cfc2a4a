#include "learning/calibration_versions.h"

#include "hardware/views/power_limit.h"

#include <array>
#include <string_view>
#include <utility>

namespace orrery::detail {

namespace {

// The share that each was fitted beside in version 1.
constexpr std::array<std::pair<std::string_view, double>, 2> firstShares{
    {{"switched energy", 0.15}, {"arithmetic energy", 0.2}}};

}  // namespace

void bringUpToDate(Calibration& calibration, int version) {
    if (version > 1) return;
    for (CalibrationSection& section : calibration.sections) {
        for (const auto& [name, share] : firstShares) {
            const auto energy = section.parameters.find(name);
            if (energy != section.parameters.end()) energy->second *= (1 - staticShareOfCap) / (1 - share);
        }
    }
}

}  // namespace orrery::detail
