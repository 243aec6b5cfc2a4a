#include "hardware/views/gpu_view.h"

#include "base/unit.h"
#include "hardware/attributes.h"
#include "hardware/views/cluster_view.h"
#include "hardware/views/device_collect.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

double siOf(const Component& component, std::string_view attribute, double fallback) {
    const Measure* measure = detail::measureOf(component, attribute);
    return measure ? measure->si : fallback;
}

void readLevels(GpuView& view) {
    for (const MemoryLevel& level : view.device.levels) {
        const auto each = level.capacity.value / static_cast<double>(std::max<std::int64_t>(level.instances, 1));
        switch (level.kind) {
            case ComponentKind::Dram:
                view.dramBytes = level.capacity.value;
                view.dramBandwidth = level.bandwidth.value;
                view.dramLatency = level.latency.value;
                break;
            case ComponentKind::Cache:
                // The outermost that is no core's own: MI300X has an infinity cache outside the caches of its dies.
                if (view.l2Bytes > 0 || static_cast<double>(level.instances) >= view.sms) break;
                view.l2Bytes = level.capacity.value;
                view.l2Slices = static_cast<double>(level.instances);
                view.l2Bandwidth = level.bandwidth.value;
                view.l2Latency = level.latency.value;
                break;
            case ComponentKind::Buffer:
                view.sharedBytes = each;
                view.sharedBandwidth =
                    level.bandwidth.value / static_cast<double>(std::max<std::int64_t>(level.instances, 1));
                view.sharedLatency = level.latency.value;
                break;
            case ComponentKind::RegisterFile:
                view.registerBytes = each;
                break;
            default:
                break;
        }
    }
}

// A device that states no links of its own sends over the network that is drawn between it and its likes.
void readDrawnNetwork(const DeviceRef& ref, GpuView& view) {
    const std::string& name = view.device.name;
    const auto cluster = clusterView(*ref.design);
    const DeviceGroup* group = cluster ? cluster->groupAt(ref.path) : nullptr;
    if (group && !group->tiers.empty() && group->tiers.front().drawn()) {
        const NetworkTier& tier = group->tiers.front();
        view.linkBandwidth = tier.bandwidth.value;
        view.assumptions.push_back(
            fmt::format("`{}` states no links of its own: what it sends crosses `{}`, as drawn, at {}.", name,
                        tier.name, format(tier.bandwidth)));
        return;
    }
    view.assumptions.push_back(fmt::format(
        "No network is drawn that `{}` could send over: collectives are priced as over PCIe 4.0 × 16 (32 GB/s).",
        name));
}

}  // namespace

Expected<GpuView> gpuView(const DeviceRef& ref) {
    auto device = deviceView(ref);
    if (!device) return Unexpected(std::move(device.error()));
    GpuView view;
    view.device = std::move(*device);
    const DeviceView& base = view.device;
    const Component* component = ref.component();
    const Component* core = nullptr;
    double links = 0, tensorUnits = 0, vectorLanes = 0;
    std::string timing;
    for (const detail::Part& part : detail::partsOf(*component, base.path, base.clock)) {
        const auto count = static_cast<double>(part.instances);
        switch (part.component->kind) {
            case ComponentKind::TensorUnit:
                tensorUnits += count;
                break;
            case ComponentKind::VectorUnit:
                vectorLanes += count * siOf(*part.component, "lanes", 1);
                break;
            case ComponentKind::Dram:
                if (const Attribute* named = part.component->find("timing")) timing = toText(named->value);
                break;
            default:
                break;
        }
        if (!core && part.component->kind == ComponentKind::Core) core = part.component;
        if (part.component->kind != ComponentKind::Link) continue;
        if (const Measure* each = detail::measureOf(*part.component, "bandwidth"); each && !each->perCycle) {
            links += each->si * static_cast<double>(part.component->instances());
        }
    }
    if (base.platform != "gpu" || !core) {
        return fail("method.not-applicable", fmt::format("`{}` is not a GPU", base.name),
                    "a device with `platform: gpu` that holds cores",
                    "choose a GPU, or a method for this kind of device", Place{{}, 0, 0, base.path});
    }
    if (base.clock.value <= 0) {
        return fail("hardware.no-clock", fmt::format("no clock is given for `{}`", base.name), "`clock` on the device",
                    "add `clock`, such as `clock: 1.5 GHz`", Place{{}, 0, 0, base.path});
    }
    view.clock = base.clock.value;
    view.sms = static_cast<double>(std::max<std::int64_t>(base.cores, 1));
    view.tensorUnits = tensorUnits / view.sms;
    view.vectorLanes = vectorLanes / view.sms;
    view.dramTiming = std::move(timing);
    const auto around = detail::surroundingsOf(ref);
    if (const Attribute* named = around->stated("process")) view.process = toText(named->value);
    view.warpSize = siOf(*core, "warp_size", 32);
    view.subCores = siOf(*core, "schedulers", 4);
    view.warpsPerSm = siOf(*core, "warps", 0);
    if (view.warpsPerSm <= 0) {
        view.warpsPerSm = 64;
        view.assumptions.push_back("No resident warps are given: 64 per multiprocessor are assumed.");
    }
    if (const Measure* sustained = around->statedMeasure("sustained")) view.sustained = sustained->si;
    view.linkBandwidth = links;
    if (links <= 0) readDrawnNetwork(ref, view);
    view.powerCap = base.powerCap.value;
    view.idlePower = base.idlePower.value;
    readLevels(view);
    view.assumptions.insert(view.assumptions.end(), base.assumptions.begin(), base.assumptions.end());
    return view;
}

Expected<GpuView> gpuView(const Hardware& hardware) {
    const auto first = firstDevice(borrowed(hardware));
    if (!first) return Unexpected(first.error());
    return gpuView(*first);
}

}  // namespace orrery
