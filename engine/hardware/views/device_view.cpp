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

struct Surroundings {
    std::vector<const Component*> parents;  // from the root to the device's parent
    std::string path;                       // of the device
    std::int64_t copies = 1;
};

Hertz clockOf(const std::vector<Part>& parts) {
    if (parts.front().clock.value > 0) return parts.front().clock;
    for (const Part& part : parts) {
        const ComponentKind kind = part.component->kind;
        if (part.clock.value > 0 && !remembers(kind)) return part.clock;
    }
    return {};
}

// Memories beside the device, then beside each component around it, up to the first place that holds a DRAM.
std::vector<Part> memoriesAround(const Surroundings& around, const Component& device, Hertz clock) {
    std::vector<Part> found;
    std::string path = around.path.substr(0, around.path.rfind('/'));
    const Component* inner = &device;
    for (auto parent = around.parents.rbegin(); parent != around.parents.rend(); ++parent) {
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

Expected<DeviceView> viewOf(const Component& device, const Surroundings& around, Hertz outerClock) {
    DeviceView view;
    view.name = std::string(nameOf(device));
    view.path = around.path;
    view.copies = around.copies;
    if (const Attribute* platform = device.find("platform")) view.platform = toText(platform->value);
    const auto parts = partsOf(device, around.path, outerClock);
    view.clock = clockOf(parts);
    if (auto filled = fillPeaks(parts, view); !filled) return Unexpected(std::move(filled.error()));
    const bool ownDram = std::any_of(parts.begin(), parts.end(),
                                     [](const Part& part) { return part.component->kind == ComponentKind::Dram; });
    const bool isDram = device.kind == ComponentKind::Dram;
    const auto outside = ownDram || isDram ? std::vector<Part>() : memoriesAround(around, device, view.clock);
    if (auto filled = fillLevels(parts, outside, view); !filled) return Unexpected(std::move(filled.error()));
    if (!outside.empty() && around.copies > 1) {
        view.assumptions.push_back(
            fmt::format("`{}` stands outside and is shared by {} devices; its full bandwidth is "
                        "given to one.",
                        view.main().name, around.copies));
    }
    view.powerCap = Watts(valueOr(device, "power_cap", 0));
    view.idlePower = Watts(valueOr(device, "idle_power", 0));
    const Measure* overhead = measureOf(device, "launch_overhead");
    if (overhead && (!overhead->perCycle || view.clock.value > 0)) {
        view.launchOverhead = Seconds(overhead->perCycle ? overhead->si / view.clock.value : overhead->si);
    } else {
        const AttributeSpec* spec = attributeSpec(ComponentKind::Die, "launch_overhead");
        view.launchOverhead = Seconds(spec->fallback.value_or(0));
        view.assumptions.push_back(
            fmt::format("No launch overhead is given: {} per operator is assumed.", format(view.launchOverhead)));
    }
    if (const Measure* sustained = measureOf(device, "sustained"); sustained && sustained->si < 1) {
        view.assumptions.push_back(fmt::format("Peaks are at the nominal clock of {}; {} of it holds under load.",
                                               format(view.clock), formatMeasure(sustained->si, Dimension::Fraction)));
    }
    return view;
}

bool isDevice(const Component& component, bool packages) {
    using enum ComponentKind;
    if (packages) return (component.kind == Package || component.kind == Die) && containsCompute(component);
    return (component.kind == Core || component.kind == Array || component.kind == Cluster || component.kind == Dram ||
            computes(component.kind)) &&
           containsCompute(component);
}

Expected<void> findDevices(const Component& component, Surroundings& around, Hertz clock, bool packages, bool firstOnly,
                           std::vector<DeviceView>& out) {
    if (const Measure* own = measureOf(component, "clock")) clock = Hertz(own->si);
    if (isDevice(component, packages)) {
        auto view = viewOf(component, around, clock);
        if (!view) return Unexpected(std::move(view.error()));
        out.push_back(std::move(*view));
        return {};
    }
    around.parents.push_back(&component);
    for (const Component& child : component.children) {
        if (firstOnly && !out.empty()) break;
        Surroundings inner = around;
        inner.path += "/" + std::string(nameOf(child));
        inner.copies *= instancesIn(component, child);
        if (auto found = findDevices(child, inner, clock, packages, firstOnly, out); !found) return found;
    }
    around.parents.pop_back();
    return {};
}

Expected<std::vector<DeviceView>> find(const Hardware& hardware, bool firstOnly) {
    std::vector<DeviceView> views;
    for (const bool packages : {true, false}) {
        Surroundings around{{}, std::string(nameOf(hardware.root)), 1};
        auto found = findDevices(hardware.root, around, {}, packages, firstOnly, views);
        if (!found) return Unexpected(std::move(found.error()));
        if (!views.empty()) return views;
    }
    return fail("hardware.no-device", "the design holds nothing that computes",
                "a package or die with cores, arrays or units", "add a die with a core from the library",
                {{}, 0, 0, std::string(nameOf(hardware.root))});
}

}  // namespace
}  // namespace detail

Expected<DeviceView> deviceView(const Hardware& hardware) {
    auto views = detail::find(hardware, true);
    if (!views) return Unexpected(std::move(views.error()));
    return std::move(views->front());
}

Expected<std::vector<DeviceView>> deviceViews(const Hardware& hardware) {
    return detail::find(hardware, false);
}

}  // namespace orrery
