#include "methods/cpu/cpu_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

Expected<GpuView> cpuView(const DeviceRef& ref) {
    auto device = deviceView(ref);
    if (!device) return Unexpected(std::move(device.error()));
    if (device->platform != "cpu") {
        return fail("method.not-applicable", fmt::format("`{}` is not a CPU", device->name),
                    "a device with `platform: cpu`", "choose a CPU, or a method for this kind of device",
                    Place{{}, 0, 0, device->path});
    }
    GpuView view;
    view.device = std::move(*device);
    view.sms = static_cast<double>(std::max<std::int64_t>(1, view.device.cores));
    view.subCores = 1;
    view.clock = view.device.clock.value;
    view.dramBytes = view.device.main().capacity.value;
    view.dramBandwidth = view.device.main().bandwidth.value;
    view.powerCap = view.device.powerCap.value;
    view.idlePower = view.device.idlePower.value;
    for (const MemoryLevel& level : view.device.levels) {
        if (level.kind != ComponentKind::Cache) continue;
        view.l2Bytes = level.capacity.value;
        view.l2Slices = static_cast<double>(level.instances);
        view.l2Bandwidth = level.bandwidth.value;
        break;
    }
    view.assumptions = view.device.assumptions;
    return view;
}

Expected<GpuView> cpuView(const Hardware& hardware) {
    const auto first = firstDevice(borrowed(hardware));
    if (!first) return Unexpected(first.error());
    return cpuView(*first);
}

}  // namespace orrery
