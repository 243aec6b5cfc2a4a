#include "hardware/views/gpu_view.h"

#include "base/unit.h"
#include "hardware/attributes.h"
#include "hardware/views/cluster_view.h"
#include "hardware/views/device_build.h"
#include "hardware/views/interconnect.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

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
void readDrawnNetwork(const DeviceRef& ref, detail::DeviceParts& parts, GpuView& view) {
    const std::string& name = view.device.name;
    const auto cluster = clusterView(*ref.design);
    const DeviceGroup* group = cluster ? cluster->groupAt(ref.path) : nullptr;
    if (group && !group->tiers.empty() && group->tiers.front().drawn()) {
        const NetworkTier& tier = group->tiers.front();
        view.linkBandwidth = tier.bandwidth.value;
        for (const PartRead& part : tier.read.parts) parts.note(part);
        view.assumptions.push_back(
            fmt::format("`{}` states no links of its own: what it sends crosses `{}`, as drawn, at {}.", name,
                        tier.name, format(tier.bandwidth)));
        return;
    }
    view.assumptions.push_back(
        fmt::format("No network is drawn for `{}`: collectives of its kernels are not included.", name));
}

void readParts(detail::DeviceParts& parts, GpuView& view) {
    const detail::Part* memory = nullptr;
    for (const detail::Part& part : parts.inside()) {
        const auto count = static_cast<double>(part.instances);
        switch (part.component->kind) {
            case ComponentKind::TensorUnit:
                view.tensorUnits += count / view.sms;
                break;
            case ComponentKind::VectorUnit:
                view.vectorLanes += count * parts.measureOr(part, "lanes", 1) / view.sms;
                break;
            case ComponentKind::Dram:
                if (!memory || parts.isMore(part, *memory)) memory = &part;
                break;
            case ComponentKind::Link:
                if (detail::staysInside(parts, part)) break;
                if (const Measure* each = parts.measure(part, "bandwidth"); each && !each->perCycle) {
                    view.linkBandwidth += each->si * count;
                }
                break;
            default:
                break;
        }
    }
    if (!memory) return;
    if (const Attribute* named = parts.find(*memory, "timing")) view.dramTiming = toText(named->value);
}

}  // namespace

Expected<GpuView> gpuView(const DeviceRef& ref) {
    auto parts = detail::DeviceParts::of(ref);
    if (!parts) return Unexpected(std::move(parts.error()));
    const auto isCore = [](const detail::Part& part) { return part.component->kind == ComponentKind::Core; };
    const Attribute* platform = parts->stated("platform");
    if (!platform || toText(platform->value) != "gpu" || std::ranges::none_of(parts->inside(), isCore)) {
        return fail("method.not-applicable", fmt::format("`{}` is not a GPU", nameOf(*parts->device().component)),
                    "a device with `platform: gpu` that holds cores",
                    "choose a GPU, or a method for this kind of device", Place{{}, 0, 0, parts->device().path});
    }
    auto device = detail::viewOf(*parts, ref);
    if (!device) return Unexpected(std::move(device.error()));
    GpuView view;
    view.device = std::move(*device);
    const DeviceView& base = view.device;
    const detail::Part* core = nullptr;
    for (const detail::Part& part : parts->inside()) {
        // Where cores differ, those that there are most of.
        if (isCore(part) && (!core || parts->isMore(part, *core))) core = &part;
    }
    if (base.clock.value <= 0) {
        return fail("hardware.no-clock", fmt::format("no clock is given for `{}`", base.name), "`clock` on the device",
                    "add `clock`, such as `clock: 1.5 GHz`", Place{{}, 0, 0, base.path});
    }
    view.clock = base.clock.value;
    view.sms = static_cast<double>(std::max<std::int64_t>(base.cores, 1));
    readParts(*parts, view);
    if (const Attribute* named = parts->stated("process")) view.process = toText(named->value);
    view.warpSize = parts->measureOr(*core, "warp_size", 32);
    view.subCores = parts->measureOr(*core, "schedulers", 4);
    view.warpsPerSm = parts->measureOr(*core, "warps", 0);
    if (view.warpsPerSm <= 0) {
        view.warpsPerSm = 64;
        view.assumptions.push_back("No resident warps are given: 64 per multiprocessor are assumed.");
    }
    view.instructionL0 = parts->measureOr(*core, "instruction_l0", 0);
    view.instructionL1 = parts->measureOr(*core, "instruction_l1", 0);
    view.constantCache = parts->measureOr(*core, "constant_cache", 0);
    view.gpcCores = parts->measureOr(*core, "gpc_cores", 0);
    if (const Measure* sustained = parts->statedMeasure("sustained")) view.sustained = sustained->si;
    if (view.linkBandwidth <= 0) readDrawnNetwork(ref, *parts, view);
    view.powerCap = base.powerCap.value;
    view.idlePower = base.idlePower.value;
    readLevels(view);
    view.device.used = parts->used();
    view.assumptions.insert(view.assumptions.end(), base.assumptions.begin(), base.assumptions.end());
    return view;
}

Expected<GpuView> gpuView(const Hardware& hardware) {
    const auto first = firstDevice(borrowed(hardware));
    if (!first) return Unexpected(first.error());
    return gpuView(*first);
}

}  // namespace orrery
