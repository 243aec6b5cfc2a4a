#include "evaluation/reference_checks.h"
#include "evaluation/schedules/judge_schedules.h"
#include "hardware/views/gpu_view.h"

#include <map>

namespace orrery {

std::string knownDevice(const std::string& name) {
    std::string id = catalogueId(name);
    const auto space = name.rfind(' ');
    return id.empty() && space != name.npos ? catalogueId(std::string_view(name).substr(space + 1)) : id;
}

void addKnownDevices(std::span<TunedRow> rows) {
    struct Known {
        double cores = 0, warps = 0;
    };
    const auto lookUp = [](const std::string& name) {
        const std::string id = knownDevice(name);
        const auto hardware = id.empty() ? nullptr : catalogueHardware(id);
        if (!hardware) return Known{};
        const auto gpu = gpuView(*hardware);
        return gpu ? Known{gpu->sms, gpu->warpsPerSm} : Known{};
    };
    std::map<std::string, Known> devices;
    for (TunedRow& row : rows) {
        const auto [found, isNew] = devices.try_emplace(row.device);
        if (isNew) found->second = lookUp(row.device);
        if (row.cores == 0) row.cores = found->second.cores;
        if (row.warps == 0) row.warps = found->second.warps;
    }
}

}  // namespace orrery
