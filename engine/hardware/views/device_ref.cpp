#include "hardware/views/device_ref.h"

#include "hardware/views/device_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace orrery {
namespace {

Unexpected noDevice(std::string message, const Hardware* design) {
    return fail("hardware.no-device", std::move(message), "a package or die with cores, arrays or units",
                "add a die with a core from the library",
                {{}, 0, 0, design ? std::string(nameOf(design->root)) : std::string()});
}

bool isDeviceKind(ComponentKind kind, bool chips) {
    using enum ComponentKind;
    if (chips) return kind == Package || kind == Die;
    return kind == Core || kind == Array || kind == Cluster || kind == Dram || detail::computes(kind);
}

void findOutermost(const Component& component, bool chips, ComponentPath& here, std::vector<ComponentPath>& found) {
    if (isDeviceKind(component.kind, chips) && detail::containsCompute(component)) {
        found.push_back(here);
        return;
    }
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        here.push_back(static_cast<int>(i));
        findOutermost(component.children[i], chips, here, found);
        here.pop_back();
    }
}

bool findArrayDevice(const Component& component, ComponentPath& here) {
    const bool chip = component.kind == ComponentKind::Package || component.kind == ComponentKind::Die;
    if (chip && detail::holdsArray(component)) return true;
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        if (!detail::holdsArray(component.children[i])) continue;
        here.push_back(static_cast<int>(i));
        if (findArrayDevice(component.children[i], here)) return true;
        here.pop_back();
    }
    return detail::isArray(component);
}

bool isWithin(const ComponentPath& outer, const ComponentPath& inner) {
    return outer.size() <= inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

}  // namespace

const Component* DeviceRef::component() const {
    return design ? componentAt(design->root, path) : nullptr;
}

std::int64_t copiesOf(const DeviceRef& device) {
    if (!device.component()) return 0;
    const Component* at = &device.design->root;
    std::int64_t copies = 1;
    for (const int index : device.path) {
        const Component& child = at->children[static_cast<std::size_t>(index)];
        copies *= instancesIn(*at, child);
        at = &child;
    }
    return copies;
}

std::string pathText(const DeviceRef& device) {
    return device.component() ? pathText(device.design->root, device.path) : std::string();
}

Expected<std::vector<DeviceRef>> devicesOf(const HardwarePtr& design) {
    if (!design) return noDevice("there is no design", nullptr);
    std::vector<ComponentPath> found;
    for (const bool chips : {true, false}) {
        ComponentPath here;
        if (found.empty()) findOutermost(design->root, chips, here, found);
    }
    if (found.empty()) return noDevice("the design holds nothing that computes", design.get());
    std::vector<DeviceRef> devices;
    devices.reserve(found.size());
    for (ComponentPath& path : found) devices.push_back({design, std::move(path)});
    return devices;
}

Expected<DeviceRef> firstDevice(const HardwarePtr& design) {
    auto devices = devicesOf(design);
    if (!devices) return Unexpected(std::move(devices.error()));
    return std::move(devices->front());
}

Expected<DeviceRef> deviceAt(const HardwarePtr& design, const ComponentPath& path) {
    auto devices = devicesOf(design);
    if (!devices) return Unexpected(std::move(devices.error()));
    auto found = std::ranges::find_if(*devices, [&](const DeviceRef& each) { return isWithin(each.path, path); });
    if (found == devices->end()) {
        found = std::ranges::find_if(*devices, [&](const DeviceRef& each) { return isWithin(path, each.path); });
    }
    if (found != devices->end()) return std::move(*found);
    const Component* component = componentAt(design->root, path);
    auto failed = noDevice(component ? fmt::format("`{}` holds nothing that computes", nameOf(*component))
                                     : std::string("the path leads to no component"),
                           design.get());
    if (component) failed.value().place.path = pathText(design->root, path);
    return failed;
}

Expected<DeviceRef> firstArrayDevice(const HardwarePtr& design) {
    ComponentPath here;
    if (design && findArrayDevice(design->root, here)) return DeviceRef{design, std::move(here)};
    return fail("hardware.no-array",
                design ? fmt::format("`{}` holds no array of processing elements", design->name)
                       : std::string("there is no design"),
                "an `array` with a mesh, or a `tensor_unit` with a dataflow",
                "choose an accelerator, or add an array from the library",
                {{}, 0, 0, design ? std::string(nameOf(design->root)) : std::string()});
}

HardwarePtr borrowed(const Hardware& design) {
    return {HardwarePtr(), &design};
}

}  // namespace orrery
