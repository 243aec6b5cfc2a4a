#include "hardware/views/device_view.h"

#include "hardware/attributes.h"
#include "hardware/views/device_collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace orrery {
namespace detail {

const Measure* measureOf(const Component& component, std::string_view attribute) {
    const Attribute* found = component.find(attribute);
    return found ? std::get_if<Measure>(&found->value) : nullptr;
}

bool computes(ComponentKind kind) {
    using enum ComponentKind;
    return kind == VectorUnit || kind == TensorUnit || kind == Mac;
}
bool remembers(ComponentKind kind) {
    using enum ComponentKind;
    return kind == Dram || kind == Cache || kind == Buffer || kind == RegisterFile;
}
bool containsCompute(const Component& component) {
    return computes(component.kind) || component.kind == ComponentKind::Core ||
           component.kind == ComponentKind::Array ||
           std::any_of(component.children.begin(), component.children.end(), containsCompute);
}
bool isArray(const Component& component) {
    return component.kind == ComponentKind::Array ||
           (component.kind == ComponentKind::TensorUnit && component.find("dataflow"));
}
bool holdsArray(const Component& component) {
    return isArray(component) || std::any_of(component.children.begin(), component.children.end(), holdsArray);
}

const Attribute* Surroundings::stated(std::string_view attribute) const {
    for (auto each = around.rbegin(); each != around.rend(); ++each) {
        if (const Attribute* found = (*each)->find(attribute)) return found;
    }
    return nullptr;
}

const Measure* Surroundings::statedMeasure(std::string_view attribute) const {
    const Attribute* found = stated(attribute);
    return found ? std::get_if<Measure>(&found->value) : nullptr;
}

Expected<Surroundings> surroundingsOf(const DeviceRef& device) {
    if (!device.component()) {
        return fail("hardware.no-device", "the path leads to no component of the design", "the path of a device",
                    "choose a device of the drawing");
    }
    Surroundings found{{&device.design->root}, std::string(nameOf(device.design->root)), {}};
    for (const int index : device.path) {
        if (const Measure* own = measureOf(found.device(), "clock")) found.clock = Hertz(own->si);
        found.around.push_back(&found.device().children[static_cast<std::size_t>(index)]);
        found.path += "/" + std::string(nameOf(found.device()));
    }
    return found;
}

Expected<double> perSecond(const Part& part, std::string_view attribute, const Measure& measure) {
    if (measure.perCycle && part.clock.value <= 0) {
        return fail("hardware.no-clock",
                    fmt::format("`{}` of `{}` is per cycle, and no clock is given", attribute, nameOf(*part.component)),
                    "`clock` on the component or one that contains it", "add `clock`, such as `clock: 1 GHz`",
                    {{}, 0, 0, fmt::format("{}.{}", part.path, attribute)});
    }
    return measure.perSecond(part.clock);
}

namespace {

void gather(const Component& component, const Component* parent, std::string path, std::int64_t instances, Hertz clock,
            std::vector<Part>& out) {
    if (const Measure* own = measureOf(component, "clock")) clock = Hertz(own->si);
    out.push_back({&component, parent, path, instances, clock});
    for (const Component& child : component.children) {
        gather(child, &component, path + "/" + std::string(nameOf(child)), instances * instancesIn(component, child),
               clock, out);
    }
}

}  // namespace

std::vector<Part> partsOf(const Component& device, const std::string& path, Hertz outerClock) {
    std::vector<Part> parts;
    gather(device, nullptr, path, 1, outerClock, parts);
    return parts;
}

namespace {

Hertz clockOf(const std::vector<Part>& parts) {
    if (parts.front().clock.value > 0) return parts.front().clock;
    for (const Part& part : parts) {
        const ComponentKind kind = part.component->kind;
        if (part.clock.value > 0 && !remembers(kind)) return part.clock;
    }
    return {};
}

// Memories beside the device, then beside each component around it, up to the first place that holds a DRAM.
std::vector<Part> memoriesAround(const Surroundings& place, Hertz clock) {
    std::vector<Part> found;
    std::string path = place.path.substr(0, place.path.rfind('/'));
    const Component* inner = &place.device();
    for (auto parent = place.around.rbegin() + 1; parent != place.around.rend(); ++parent) {
        bool dram = false;
        for (const Component& sibling : (*parent)->children) {
            if (&sibling == inner || !remembers(sibling.kind)) continue;
            const Measure* own = measureOf(sibling, "clock");
            found.push_back({&sibling, *parent, path + "/" + std::string(nameOf(sibling)), sibling.instances(),
                             own ? Hertz(own->si) : clock});
            dram = dram || sibling.kind == ComponentKind::Dram;
        }
        if (dram) break;
        inner = *parent;
        path = path.substr(0, path.rfind('/'));
    }
    return found;
}

double valueOr(const Component& device, std::string_view attribute, double fallback) {
    const Measure* measure = measureOf(device, attribute);
    return measure ? measure->si : fallback;
}

Expected<DeviceView> viewOf(const DeviceRef& ref) {
    const auto around = surroundingsOf(ref);
    if (!around) return Unexpected(around.error());
    const Component& device = around->device();
    DeviceView view;
    view.name = std::string(nameOf(device));
    view.path = around->path;
    view.place = ref.path;
    view.copies = copiesOf(ref);
    if (const Attribute* platform = around->stated("platform")) view.platform = toText(platform->value);
    const auto parts = partsOf(device, around->path, around->clock);
    view.clock = clockOf(parts);
    if (auto filled = fillPeaks(parts, view); !filled) return Unexpected(std::move(filled.error()));
    const bool ownDram = std::any_of(parts.begin(), parts.end(),
                                     [](const Part& part) { return part.component->kind == ComponentKind::Dram; });
    const bool isDram = device.kind == ComponentKind::Dram;
    const auto outside = ownDram || isDram ? std::vector<Part>() : memoriesAround(*around, view.clock);
    if (auto filled = fillLevels(parts, outside, view); !filled) return Unexpected(std::move(filled.error()));
    if (!outside.empty() && view.copies > 1) {
        view.assumptions.push_back(
            fmt::format("`{}` stands outside and is shared by {} devices; its full bandwidth is "
                        "given to one.",
                        view.main().name, view.copies));
    }
    view.powerCap = Watts(valueOr(device, "power_cap", 0));
    view.idlePower = Watts(valueOr(device, "idle_power", 0));
    const Measure* overhead = around->statedMeasure("launch_overhead");
    if (overhead && (!overhead->perCycle || view.clock.value > 0)) {
        view.launchOverhead = Seconds(overhead->perCycle ? overhead->si / view.clock.value : overhead->si);
    } else {
        const AttributeSpec* spec = attributeSpec(ComponentKind::Die, "launch_overhead");
        view.launchOverhead = Seconds(spec->fallback.value_or(0));
        view.assumptions.push_back(
            fmt::format("No launch overhead is given: {} per operator is assumed.", format(view.launchOverhead)));
    }
    if (const Measure* sustained = around->statedMeasure("sustained"); sustained && sustained->si < 1) {
        view.assumptions.push_back(fmt::format("Peaks are at the nominal clock of {}; {} of it holds under load.",
                                               format(view.clock), formatMeasure(sustained->si, Dimension::Fraction)));
    }
    return view;
}

}  // namespace
}  // namespace detail

Expected<DeviceView> deviceView(const DeviceRef& device) {
    return detail::viewOf(device);
}

Expected<DeviceView> deviceView(const Hardware& hardware) {
    const auto first = firstDevice(borrowed(hardware));
    if (!first) return Unexpected(first.error());
    return deviceView(*first);
}

Expected<std::vector<DeviceView>> deviceViews(const Hardware& hardware) {
    const auto devices = devicesOf(borrowed(hardware));
    if (!devices) return Unexpected(devices.error());
    std::vector<DeviceView> views;
    for (const DeviceRef& device : *devices) {
        auto view = deviceView(device);
        if (!view) return Unexpected(std::move(view.error()));
        views.push_back(std::move(*view));
    }
    return views;
}

}  // namespace orrery
