#include "hardware/views/core_view.h"

#include "hardware/attributes.h"
#include "hardware/views/device_build.h"
#include "hardware/views/device_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

using detail::DeviceParts;
using detail::Part;

std::vector<CoreCache> cachesOf(const DeviceView& device, double cores) {
    std::vector<CoreCache> caches;
    for (const MemoryLevel& level : device.levels) {
        if (level.kind != ComponentKind::Cache) continue;
        const double instances = static_cast<double>(std::max<std::int64_t>(1, level.instances));
        CoreCache cache;
        cache.name = level.name;
        cache.capacity = Bytes(level.capacity.value / instances);
        cache.latency = level.latency;
        cache.bandwidth = BytesPerSecond(level.bandwidth.value / instances);
        cache.sharedBy = std::max(1.0, cores / instances);
        caches.push_back(std::move(cache));
    }
    // Levels run from main memory inwards.
    std::reverse(caches.begin(), caches.end());
    return caches;
}

// Of one sort among others, whose levels are not put together: caches inside its cores, then those beside it or beside
// what contains it. Caches of a cluster of other cores are not among them.
Expected<std::vector<CoreCache>> cachesOf(DeviceParts& parts, const Part& core) {
    std::vector<CoreCache> caches;
    for (const Part& part : parts.inside()) {
        if (part.component->kind != ComponentKind::Cache) continue;
        const Part* place = parts.parentOf(part);
        if (!place || !parts.contains(*place, core)) continue;
        double reached = 0;
        for (const Part& other : parts.inside()) {
            if (other.component->kind == ComponentKind::Core && parts.contains(*place, other))
                reached += static_cast<double>(other.instances);
        }
        CoreCache cache;
        cache.name = nameOf(*part.component);
        cache.capacity = Bytes(parts.measureOr(part, "capacity", 0));
        cache.sharedBy = std::max(1.0, reached / static_cast<double>(part.instances));
        if (const Measure* latency = parts.measure(part, "latency")) {
            const auto time = parts.duration(part, "latency", *latency);
            if (!time) return Unexpected(time.error());
            cache.latency = *time;
        }
        if (const Measure* bandwidth = parts.measure(part, "bandwidth")) {
            const auto rate = parts.perSecond(part, "bandwidth", *bandwidth);
            if (!rate) return Unexpected(rate.error());
            cache.bandwidth = BytesPerSecond(*rate);
        }
        caches.push_back(std::move(cache));
    }
    std::ranges::stable_sort(caches, [](const CoreCache& a, const CoreCache& b) {
        return a.sharedBy != b.sharedBy ? a.sharedBy < b.sharedBy : a.capacity.value < b.capacity.value;
    });
    return caches;
}

}  // namespace

Expected<std::vector<CoreView>> coreViews(const DeviceRef& ref) {
    auto parts = DeviceParts::of(ref);
    if (!parts) return Unexpected(std::move(parts.error()));
    const Attribute* platform = parts->stated("platform");
    std::vector<std::size_t> sorts;  // indices into inside(), for references are void once something outside is asked
    const auto inside = [&](std::size_t index) -> const Part& { return parts->inside()[index]; };
    for (std::size_t i = 0; i < parts->inside().size(); ++i)
        if (inside(i).component->kind == ComponentKind::Core) sorts.push_back(i);
    if (!platform || toText(platform->value) != "cpu" || sorts.empty()) {
        return fail("method.not-applicable", fmt::format("`{}` is not a CPU", nameOf(*parts->device().component)),
                    "a device with `platform: cpu` that holds cores",
                    "choose a CPU, or a method for this kind of device", Place{{}, 0, 0, parts->device().path});
    }
    std::ranges::stable_sort(sorts, [&](std::size_t a, std::size_t b) { return parts->isMore(inside(a), inside(b)); });
    auto device = detail::viewOf(*parts, ref);
    if (!device) return Unexpected(std::move(device.error()));
    const auto memories = memoryNodes(*parts, *device);
    if (!memories) return Unexpected(memories.error());
    std::vector<CoreView> views;
    for (const std::size_t sort : sorts) {
        const Part& core = inside(sort);
        CoreView view;
        view.name = device->name;
        view.path = device->path;
        view.core = nameOf(*core.component);
        view.corePath = core.path;
        view.clock = sorts.size() > 1 && core.clock.value > 0 ? core.clock : device->clock;
        if (view.clock.value <= 0) {
            return fail("hardware.no-clock", fmt::format("no clock is given for `{}`", view.name),
                        "`clock` on the device", "add `clock`, such as `clock: 3 GHz`", Place{{}, 0, 0, view.path});
        }
        view.cores = std::max<std::int64_t>(1, device->cores);
        view.alike = sorts.size() > 1 ? std::max<std::int64_t>(1, core.instances) : view.cores;
        view.issueWidth = parts->measureOr(core, "issue_width", 0);
        if (const auto* named = parts->text(core, "microarchitecture")) view.microarchitecture = *named;
        for (const MemoryLevel& level : device->levels) {
            if (level.kind != ComponentKind::Dram) continue;
            view.memoryBandwidth = level.bandwidth;
            view.memoryLatency = level.latency;
        }
        view.memories = *memories;
        const auto cores = static_cast<double>(view.cores);
        if (sorts.size() == 1) {
            view.caches = cachesOf(*device, cores);
        } else {
            auto caches = cachesOf(*parts, core);
            if (!caches) return Unexpected(std::move(caches.error()));
            view.caches = std::move(*caches);
        }
        for (const Part& part : parts->inside()) {
            if (part.component->kind != ComponentKind::Cache) continue;
            for (CoreCache& cache : view.caches) {
                if (cache.name == nameOf(*part.component)) cache.ways = parts->measureOr(part, "ways", 0);
            }
        }
        view.assumptions = device->assumptions;
        views.push_back(std::move(view));
    }
    for (CoreView& view : views) view.used = parts->used();
    return views;
}

Expected<CoreView> coreView(const DeviceRef& ref) {
    auto views = coreViews(ref);
    if (!views) return Unexpected(std::move(views.error()));
    return std::move(views->front());
}

Expected<CoreView> coreView(const Hardware& hardware) {
    const auto first = firstDevice(borrowed(hardware));
    if (!first) return Unexpected(first.error());
    return coreView(*first);
}

}  // namespace orrery
