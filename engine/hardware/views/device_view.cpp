#include "hardware/views/device_view.h"

#include "hardware/attributes.h"
#include "hardware/views/device_build.h"
#include "hardware/views/interconnect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace detail {
namespace {

// The device's own or the nearest around it, else that of the fastest part inside.
const Part& clockedPart(const DeviceParts& parts) {
    const Part* fastest = &parts.device();
    if (fastest->clock.value > 0) return *fastest;
    for (const Part& part : parts.inside()) {
        if (!remembers(part.component->kind) && part.clock > fastest->clock) fastest = &part;
    }
    return *fastest;
}

double deviceMeasure(DeviceParts& parts, std::string_view attribute) {
    return parts.measureOr(parts.device(), attribute, 0);
}

// Of the formats by which makers rate their chips; whatever is fastest where there are none.
double ratingPeak(const DeviceView& view) {
    double rating = 0, fastest = 0;
    for (const auto& unit : view.peaks) {
        for (const DType type : {DType::F32, DType::BF16, DType::F16}) {
            rating = std::max(rating, unit[static_cast<std::size_t>(type)].value);
        }
        for (const FlopsPerSecond one : unit) fastest = std::max(fastest, one.value);
    }
    return rating > 0 ? rating : fastest;
}

// Data sheets round: what differs by less is what they mean.
constexpr double roundedBy = 0.01;

}  // namespace

Expected<DeviceView> viewOf(DeviceParts& parts, const DeviceRef& ref) {
    const Component& component = *parts.device().component;
    DeviceView view;
    view.name = std::string(nameOf(component));
    view.path = parts.device().path;
    view.place = ref.path;
    view.copies = copiesOf(ref);
    if (const Attribute* platform = parts.stated("platform")) view.platform = toText(platform->value);
    const Part& clocked = clockedPart(parts);
    const int clockFrom = clocked.clockFrom;
    view.clock = clocked.clock;
    if (auto filled = fillPeaks(parts, view); !filled) return Unexpected(std::move(filled.error()));
    const bool reachesOut = !parts.holdsDram() && component.kind != ComponentKind::Dram;
    const bool shared = reachesOut && !parts.outside(view.clock, clockFrom).empty();
    if (auto filled = fillLevels(parts, view); !filled) return Unexpected(std::move(filled.error()));
    view.interconnect = interconnectOf(parts, ref);
    boundMainMemory(view);
    if (shared && view.copies > 1) {
        view.assumptions.push_back(
            fmt::format("`{}` is outside and shared by {} devices; this answer gives its full bandwidth to one.",
                        view.main().name, view.copies));
    }
    view.powerCap = Watts(deviceMeasure(parts, "power_cap"));
    view.idlePower = Watts(deviceMeasure(parts, "idle_power"));
    if (const double rated = deviceMeasure(parts, "rated_peak"); rated > 0) {
        const double ratio = ratingPeak(view) / rated;
        if (std::abs(ratio - 1) > roundedBy) view.drawnToRated = ratio;
    }
    const Measure* overhead = parts.statedMeasure("launch_overhead");
    if (overhead && (!overhead->perCycle || view.clock.value > 0)) {
        view.launchOverhead = Seconds(overhead->perCycle ? overhead->si / view.clock.value : overhead->si);
    } else {
        const AttributeSpec* spec = attributeSpec(ComponentKind::Die, "launch_overhead");
        view.launchOverhead = Seconds(spec->fallback.value_or(0));
        view.assumptions.push_back(
            fmt::format("No launch overhead is given: {} per operator is assumed.", format(view.launchOverhead)));
    }
    if (const Measure* sustained = parts.statedMeasure("sustained"); sustained && sustained->si < 1) {
        view.assumptions.push_back(fmt::format("Peaks are at the nominal clock of {}; {} of it holds under load.",
                                               format(view.clock), formatMeasure(sustained->si, Dimension::Fraction)));
    }
    return view;
}

}  // namespace detail

Expected<DeviceView> deviceView(const DeviceRef& device) {
    auto parts = detail::DeviceParts::of(device);
    if (!parts) return Unexpected(std::move(parts.error()));
    auto view = detail::viewOf(*parts, device);
    if (view) view->used = parts->used();
    return view;
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
