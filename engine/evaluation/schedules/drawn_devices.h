#pragma once

// Devices of a log as they are drawn here, and what their own models say of the log's schedules (methods/schedule).

#include "learning/schedules/tuning_log.h"
#include "methods/schedule/schedule_price.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace orrery {

class DrawnDevices {
public:
    /// Of each device of `rows` the drawn one that `named` says (id or file), else the catalogue's of its name; the
    /// rest have none. Fails as loadHardware() and scheduleDevice() for those that are named, with `schedules.device`
    /// for a name that no row has.
    static Expected<DrawnDevices> find(std::span<const TunedRow> rows, const std::map<std::string, std::string>& named);
    std::string nameOf(const std::string& device) const;  ///< empty: none is drawn
    /// Seconds of each row, 0: it cannot run; NaN: its device is not drawn, or its operator is not priced.
    std::vector<double> prices(std::span<const TunedRow> rows) const;

private:
    struct Drawn {
        std::string name;
        ScheduleDevice device;
    };
    std::map<std::string, Drawn> devices_;
};

}  // namespace orrery
