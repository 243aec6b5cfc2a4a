#include "hardware/files/catalogue.h"
#include "learning/calibration.h"

#include <algorithm>
#include <filesystem>

namespace orrery {

ShippedCalibrations loadCalibrations(const std::string& folder) {
    namespace fs = std::filesystem;
    ShippedCalibrations shipped;
    std::vector<std::string> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == ".json") files.push_back(entry->path().string());
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
        auto calibration = readCalibration(file);
        if (calibration) {
            shipped.set.add(std::make_shared<const Calibration>(std::move(*calibration)));
        } else {
            shipped.warnings.push_back(calibration.error());
            shipped.warnings.back().severity = Severity::Warning;
        }
    }
    return shipped;
}

const ShippedCalibrations& shippedCalibrations() {
    static const ShippedCalibrations shipped = loadCalibrations(presetsFolder() + "/calibrations");
    return shipped;
}

}  // namespace orrery
