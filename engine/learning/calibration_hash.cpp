#include "learning/calibration_hash.h"

#include "base/hash.h"

#include <mutex>
#include <utility>

namespace orrery {

namespace {

struct KnownHash {
    std::weak_ptr<const Calibration> of;
    std::uint64_t value = 0;
};

/// Another calibration may come to stand where one was: a hash is of the very object.
std::uint64_t hashOf(const std::shared_ptr<const Calibration>& calibration) {
    static std::mutex lock;
    static std::map<const Calibration*, KnownHash> known;
    {
        const std::scoped_lock held(lock);
        std::erase_if(known, [](const auto& each) { return each.second.of.expired(); });
        if (const auto found = known.find(calibration.get()); found != known.end()) return found->second.value;
    }
    Hash hash;
    const std::uint64_t value = hash.add(writeCalibration(*calibration)).value();
    const std::scoped_lock held(lock);
    known[calibration.get()] = {calibration, value};
    return value;
}

}  // namespace

std::string calibrationsHash(const CalibrationSet& calibrations) {
    Hash hash;
    for (const auto& calibration : calibrations.all()) hash.add(hashOf(calibration));
    return hash.hex();
}

}  // namespace orrery
