#include "evaluation/schedules/drawn_devices.h"

#include "base/text/nearest.h"
#include "evaluation/reference_checks.h"
#include "evaluation/schedules/judge_schedules.h"
#include "hardware/files/catalogue.h"

#include <fmt/format.h>

#include <limits>
#include <set>

namespace orrery {

Expected<DrawnDevices> DrawnDevices::find(std::span<const TunedRow> rows,
                                          const std::map<std::string, std::string>& named) {
    DrawnDevices out;
    std::set<std::string> names;
    for (const TunedRow& row : rows) names.insert(row.device);
    for (const auto& [name, file] : named) {
        if (!names.contains(name)) {
            const std::vector<std::string> all(names.begin(), names.end());
            return fail("schedules.device", fmt::format("no row of the log is of a device “{}”", name),
                        all.empty() ? "" : all.front(), didYouMean(name, all));
        }
        const auto hardware = loadHardware(file);
        if (!hardware) return Unexpected(hardware.error());
        auto device = scheduleDevice(hardware->hardware);
        if (!device) return Unexpected(device.error());
        out.devices_[name] = {file, std::move(*device)};
    }
    for (const std::string& name : names) {
        if (out.devices_.contains(name)) continue;
        const std::string id = knownDevice(name);
        const auto hardware = id.empty() ? nullptr : catalogueHardware(id);
        auto device = hardware ? scheduleDevice(*hardware) : Unexpected(Diagnostic{});
        if (device) out.devices_[name] = {id, std::move(*device)};
    }
    return out;
}

std::string DrawnDevices::nameOf(const std::string& device) const {
    const auto found = devices_.find(device);
    return found == devices_.end() ? std::string() : found->second.name;
}

std::vector<double> DrawnDevices::prices(std::span<const TunedRow> rows) const {
    std::vector<double> out(rows.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto found = devices_.find(rows[i].device);
        if (found == devices_.end()) continue;
        if (const auto price = priceSchedule(rows[i], found->second.device)) out[i] = price->seconds;
    }
    return out;
}

}  // namespace orrery
