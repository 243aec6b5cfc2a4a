#include "hardware/views/core_view.h"

#include "hardware/attributes.h"
#include "hardware/views/device_build.h"
#include "hardware/views/device_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

Expected<CoreView> coreView(const DeviceRef& ref) {
    auto parts = detail::DeviceParts::of(ref);
    if (!parts) return Unexpected(std::move(parts.error()));
    const Attribute* platform = parts->stated("platform");
    const detail::Part* core = nullptr;
    for (const detail::Part& part : parts->inside()) {
        // Where cores differ, those that there are most of.
        if (part.component->kind == ComponentKind::Core && (!core || parts->isMore(part, *core))) core = &part;
    }
    if (!platform || toText(platform->value) != "cpu" || !core) {
        return fail("method.not-applicable", fmt::format("`{}` is not a CPU", nameOf(*parts->device().component)),
                    "a device with `platform: cpu` that holds cores",
                    "choose a CPU, or a method for this kind of device", Place{{}, 0, 0, parts->device().path});
    }
    auto device = detail::viewOf(*parts, ref);
    if (!device) return Unexpected(std::move(device.error()));
    CoreView view;
    view.name = device->name;
    view.path = device->path;
    view.clock = device->clock;
    if (view.clock.value <= 0) {
        return fail("hardware.no-clock", fmt::format("no clock is given for `{}`", view.name), "`clock` on the device",
                    "add `clock`, such as `clock: 3 GHz`", Place{{}, 0, 0, view.path});
    }
    view.cores = std::max<std::int64_t>(1, device->cores);
    view.issueWidth = parts->measureOr(*core, "issue_width", 0);
    if (const auto* named = parts->text(*core, "microarchitecture")) view.microarchitecture = *named;
    for (const MemoryLevel& level : device->levels) {
        const double instances = static_cast<double>(std::max<std::int64_t>(1, level.instances));
        if (level.kind == ComponentKind::Dram) {
            view.memoryBandwidth = level.bandwidth;
            view.memoryLatency = level.latency;
        } else if (level.kind == ComponentKind::Cache) {
            CoreCache cache;
            cache.name = level.name;
            cache.capacity = Bytes(level.capacity.value / instances);
            cache.latency = level.latency;
            cache.bandwidth = BytesPerSecond(level.bandwidth.value / instances);
            cache.sharedBy = std::max(1.0, static_cast<double>(view.cores) / instances);
            view.caches.push_back(std::move(cache));
        }
    }
    // Levels run from main memory inwards.
    std::reverse(view.caches.begin(), view.caches.end());
    for (const detail::Part& part : parts->inside()) {
        if (part.component->kind != ComponentKind::Cache) continue;
        for (CoreCache& cache : view.caches) {
            if (cache.name == nameOf(*part.component)) cache.ways = parts->measureOr(part, "ways", 0);
        }
    }
    view.assumptions = device->assumptions;
    view.used = parts->used();
    return view;
}

Expected<CoreView> coreView(const Hardware& hardware) {
    const auto first = firstDevice(borrowed(hardware));
    if (!first) return Unexpected(first.error());
    return coreView(*first);
}

}  // namespace orrery
