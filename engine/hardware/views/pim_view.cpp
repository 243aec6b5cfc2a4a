#include "hardware/views/pim_view.h"

#include "hardware/network/links.h"
#include "hardware/views/cluster_tier.h"
#include "hardware/views/device_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace orrery {

namespace {

using detail::measureOf;
using detail::standsIn;

struct ComputingMemory {
    ComponentPath path;
    double copies = 1;  ///< in one of the component that the search began at
};

void computingMemories(const Component& root, const ComponentPath& at, const ComponentPath* without, double copies,
                       std::vector<ComputingMemory>& found) {
    const Component& component = *componentAt(root, at);
    if (without && at == *without) return;
    if (component.kind == ComponentKind::Dram) {
        if (detail::containsCompute(component)) found.push_back({at, copies});
        return;
    }
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        ComponentPath child = at;
        child.push_back(static_cast<int>(i));
        computingMemories(root, child, without,
                          copies * static_cast<double>(instancesIn(component, component.children[i])), found);
    }
}

ComponentPath firstOf(const ComponentPath& path, std::size_t length) {
    return ComponentPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length));
}

double copiesBelow(const Component& root, const ComponentPath& path, std::size_t from) {
    double copies = 1;
    for (std::size_t depth = from; depth < path.size(); ++depth)
        copies *= static_cast<double>(
            instancesIn(*componentAt(root, firstOf(path, depth)), *componentAt(root, firstOf(path, depth + 1))));
    return copies;
}

class PimReader {
public:
    explicit PimReader(const DeviceRef& ref) : ref_(ref), root_(ref.design->root) {}

    Expected<PimView> read() {
        view_.device = std::string(nameOf(*ref_.component()));
        std::vector<ComputingMemory> found;
        computingMemories(root_, ref_.path, nullptr, 1, found);
        double sharers = 1;
        for (std::size_t depth = ref_.path.size(); found.empty() && depth-- > 0;) {
            const ComponentPath inner = firstOf(ref_.path, depth + 1);
            computingMemories(root_, firstOf(ref_.path, depth), &inner, 1, found);
            sharers = copiesBelow(root_, ref_.path, depth);
            view_.beside = true;
        }
        if (found.empty())
            return fail("method.not-applicable", fmt::format("no memory of `{}` computes", view_.device),
                        "a `dram` with units inside, such as a `tensor_unit` with `per: bank`",
                        "draw units into the memory, or choose another method", {{}, 0, 0, pathText(ref_)});
        place_ = found.front().path;
        memory_ = componentAt(root_, place_);
        const auto kind = detail::alikeHash(*memory_);
        double copies = 0;
        for (const ComputingMemory& one : found) {
            if (detail::alikeHash(*componentAt(root_, one.path)) != kind) {
                view_.assumptions.push_back(fmt::format("Work goes to memories like `{}` alone; `{}` differs.",
                                                        nameOf(*memory_), pathText(root_, one.path)));
                continue;
            }
            copies += one.copies;
            places_.push_back(one.path);
        }
        view_.memories = copies / std::max(1.0, sharers);
        view_.name = std::string(nameOf(*memory_));
        view_.path = pathText(root_, place_);
        readMemory();
        if (auto ok = readUnit(); !ok) return Unexpected(std::move(ok.error()));
        readLink();
        note();
        return view_;
    }

private:
    double number(const Component& component, std::string_view attribute, double fallback, const ComponentPath& at) {
        const Measure* found = measureOf(component, attribute);
        if (found) noted(at, attribute);
        return found ? found->si : fallback;
    }
    std::int64_t whole(std::string_view attribute) {
        return static_cast<std::int64_t>(number(*memory_, attribute, 0, place_));
    }
    void noted(const ComponentPath& at, std::string_view attribute) { read_.push_back({at, {std::string(attribute)}}); }
    // Its own, or the nearest further out.
    Hertz clockAt(const ComponentPath& at) {
        for (std::size_t depth = at.size() + 1; depth-- > 0;) {
            const ComponentPath path = firstOf(at, depth);
            if (const Measure* clock = measureOf(*componentAt(root_, path), "clock")) {
                noted(path, "clock");
                return Hertz(clock->si);
            }
        }
        return Hertz(0);
    }

    void readMemory() {
        view_.channels = whole("channels"), view_.pseudoChannels = whole("pseudo_channels");
        view_.ranks = whole("ranks"), view_.chips = whole("chips");
        view_.bankGroups = whole("bank_groups"), view_.banks = whole("banks");
        view_.capacity = Bytes(number(*memory_, "capacity", 0, place_));
        view_.bandwidth = BytesPerSecond(number(*memory_, "bandwidth", 0, place_));
        view_.powerCap = Watts(number(*memory_, "power_cap", 0, place_));
        if (const Attribute* timing = memory_->find("timing")) {
            if (const auto* text = std::get_if<std::string>(&timing->value)) view_.timing = *text;
            noted(place_, "timing");
        }
    }

    Expected<void> addRates(const Component& component, const ComponentPath& at, double copies) {
        const bool vector = component.kind == ComponentKind::VectorUnit;
        const Attribute* rates = component.find(vector ? "flops" : "macs");
        const auto* rows = rates ? std::get_if<std::vector<TableRow>>(&rates->value) : nullptr;
        if (rows) {
            noted(at, rates->name);
            const Hertz clock = clockAt(at);
            const double each = copies * (vector ? number(component, "lanes", 1, at) / 2 : 1);
            for (const TableRow& row : *rows) {
                const auto type = dtype(row.key);
                if (!type) continue;
                if (row.value.perCycle && clock.value <= 0)
                    return fail(
                        "hardware.no-clock",
                        fmt::format("`{}` of `{}` is per cycle, and no clock is given", rates->name, nameOf(component)),
                        "`clock` on the unit or its memory", "add `clock`, such as `clock: 650 MHz`",
                        {{}, 0, 0, pathText(root_, at)});
                view_.macs[static_cast<std::size_t>(*type)] +=
                    each * (row.value.perCycle ? row.value.si * clock.value : row.value.si);
            }
        }
        if (const double energy = number(component, "energy", 0, at); detail::computes(component.kind) && energy > 0)
            view_.energy = JoulesPerFlop(std::max(view_.energy.value, energy));
        if (component.kind == ComponentKind::Buffer && view_.scratchpad.value <= 0)
            if (const auto* keeps = component.find("keeps"); !keeps)
                view_.scratchpad = Bytes(number(component, "capacity", 0, at));
        for (std::size_t i = 0; i < component.children.size(); ++i) {
            ComponentPath child = at;
            child.push_back(static_cast<int>(i));
            auto added = addRates(component.children[i], child,
                                  copies * static_cast<double>(instancesIn(component, component.children[i])));
            if (!added) return added;
        }
        return {};
    }

    Expected<void> readUnit() {
        const auto& parts = memory_->children;
        const auto unit = std::ranges::find_if(parts, detail::containsCompute);
        ComponentPath at = place_;
        at.push_back(static_cast<int>(unit - parts.begin()));
        view_.unitName = std::string(nameOf(*unit));
        view_.unitsPerMemory = static_cast<double>(instancesIn(*memory_, *unit));
        view_.processors = unit->kind == ComponentKind::Core;
        view_.clock = clockAt(at);
        if (const Attribute* per = unit->find("per")) {
            const auto* text = std::get_if<std::string>(&per->value);
            view_.at = text && *text == "bank"         ? PimView::At::Bank
                       : text && *text == "bank_group" ? PimView::At::BankGroup
                                                       : PimView::At::Channel;
            noted(at, "per");
        }
        view_.threads = number(*unit, "threads", 1, at);
        view_.pipeline = number(*unit, "pipeline", 1, at);
        if (auto added = addRates(*unit, at, 1); !added) return added;
        if (std::ranges::all_of(view_.macs, [](double rate) { return rate <= 0; }))
            return fail(
                "hardware.missing-attribute", fmt::format("`{}` in `{}` has no rate", view_.unitName, view_.name),
                "`macs` of a tensor unit or MAC, or `flops` of a vector unit",
                "add the table of its rates, such as `macs: {fp16: 16/cycle}`", {{}, 0, 0, pathText(root_, at)});
        if (view_.clock.value <= 0)
            return fail("hardware.no-clock", fmt::format("no clock is given for `{}`", view_.unitName),
                        "`clock` on the unit or its memory", "add `clock`, such as `clock: 650 MHz`",
                        {{}, 0, 0, pathText(root_, at)});
        return {};
    }

    void readLink() {
        double rate = 0;
        std::vector<ComponentPath> links;
        for (const LinkEnds& link : linkEnds(root_)) {
            if (!view_.beside || !link.from || !link.to) continue;
            const bool forward = standsIn(*link.from, ref_.path) && standsIn(place_, *link.to);
            const bool backward = standsIn(*link.to, ref_.path) && standsIn(place_, *link.from);
            if (!forward && !backward) continue;
            rate +=
                detail::linkRate(root_, link.link) * static_cast<double>(componentAt(root_, link.link)->instances());
            links.push_back(link.link);
        }
        if (rate > 0) {
            view_.link = BytesPerSecond(rate);
            view_.linkName = std::string(nameOf(*componentAt(root_, links.front())));
            view_.used.add(detail::readOf(root_, links));
            return;
        }
        view_.link = BytesPerSecond(view_.bandwidth.value * view_.memories);
        view_.assumptions.push_back(
            fmt::format("What `{}` hands to the units crosses the bus of `{}`.", view_.device, view_.name));
    }

    void note() {
        for (const ComponentPath& place : places_) read_.push_back({place, {}});
        PartsRead all;
        for (const PartRead& one : read_) {
            PartsRead chain;
            for (std::size_t depth = 0; depth < one.path.size(); ++depth)
                chain.parts.push_back({firstOf(one.path, depth), {}});
            chain.parts.push_back(one);
            all.add(chain);
        }
        view_.used.add(all);
    }

    const DeviceRef& ref_;
    const Component& root_;
    ComponentPath place_;
    std::vector<ComponentPath> places_;
    const Component* memory_ = nullptr;
    std::vector<PartRead> read_;
    PimView view_;
};

}  // namespace

Expected<PimView> pimView(const DeviceRef& ref) {
    if (!ref.component())
        return fail("hardware.no-device", "the path leads to no component of the design", "the path of a device",
                    "choose a device of the drawing");
    return PimReader(ref).read();
}

Expected<PimView> pimView(const Hardware& hardware) {
    const auto first = firstDevice(borrowed(hardware));
    if (!first) return Unexpected(first.error());
    return pimView(*first);
}

}  // namespace orrery
