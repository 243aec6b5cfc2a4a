#include "evaluation/left_out.h"

#include <algorithm>
#include <utility>

namespace orrery {

bool learnedFrom(const CalibrationSection& section, const std::string& device) {
    const auto its = [&](const DeviceFingerprint& one) { return one.id == device; };
    return (section.device && its(*section.device)) || std::ranges::any_of(section.devices, its);
}

CalibrationSet withoutDevice(const CalibrationSet& calibrations, const std::string& device) {
    CalibrationSet set;
    for (const auto& calibration : calibrations.all()) {
        auto kept = std::make_shared<Calibration>(*calibration);
        std::erase_if(kept->sections, [&](const CalibrationSection& section) { return learnedFrom(section, device); });
        if (!kept->sections.empty()) set.add(std::move(kept));
    }
    return set;
}

}  // namespace orrery
