#include "hardware/views/device_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::detail {
namespace {

Unexpected noClock(const Part& part, std::string_view attribute) {
    return fail("hardware.no-clock",
                fmt::format("`{}` of `{}` is per cycle, and no clock is given", attribute, nameOf(*part.component)),
                "`clock` on the component or one that contains it", "add `clock`, such as `clock: 1 GHz`",
                {{}, 0, 0, fmt::format("{}.{}", part.path, attribute)});
}

ComponentPath below(const ComponentPath& place, std::size_t child) {
    ComponentPath path;
    path.reserve(place.size() + 1);
    path = place;
    path.push_back(static_cast<int>(child));
    return path;
}

std::string pathBelow(const std::string& path, const Component& child) {
    std::string text;
    const std::string_view name = nameOf(child);
    text.reserve(path.size() + 1 + name.size());
    return text.append(path).append("/").append(name);
}

// Children of all members, alike ones together, in the order of the first member.
std::vector<std::vector<Part::Member>> foldedChildren(const std::vector<Part::Member>& members,
                                                      bool (*wanted)(ComponentKind) = nullptr) {
    std::vector<std::vector<Part::Member>> groups;
    const auto& first = members.front().component->children;
    std::uint32_t kinds = 0;
    bool repeated = members.size() > 1;
    for (const Component& child : first) {
        if (wanted && !wanted(child.kind)) continue;
        const std::uint32_t bit = 1u << static_cast<int>(child.kind);
        repeated = repeated || (kinds & bit);
        kinds |= bit;
    }
    std::vector<std::uint64_t> hashes;  // or places, where no kind stands there twice
    for (const Part::Member& member : members) {
        const auto& children = member.component->children;
        for (std::size_t i = 0; i < children.size(); ++i) {
            if (wanted && !wanted(children[i].kind)) continue;
            const std::int64_t copies = member.instances * instancesIn(*member.component, children[i]);
            Part::Member one{&children[i], below(member.place, i), copies};
            const std::uint64_t hash = repeated ? alikeHash(children[i]) : i;
            const auto found = std::ranges::find(hashes, hash);
            if (found != hashes.end()) {
                groups[static_cast<std::size_t>(found - hashes.begin())].push_back(std::move(one));
            } else {
                hashes.push_back(hash);
                groups.emplace_back().push_back(std::move(one));
            }
        }
    }
    return groups;
}

bool computesBesideMemory(const Component& component) {
    if (computes(component.kind) || component.kind == ComponentKind::Core || component.kind == ComponentKind::Array)
        return true;
    return std::ranges::any_of(component.children, [](const Component& child) {
        return child.kind != ComponentKind::Dram && computesBesideMemory(child);
    });
}

}  // namespace

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
           component.kind == ComponentKind::Array || std::ranges::any_of(component.children, containsCompute);
}
bool isArray(const Component& component) {
    return component.kind == ComponentKind::Array ||
           (component.kind == ComponentKind::TensorUnit && component.find("dataflow"));
}
bool holdsArray(const Component& component) {
    return isArray(component) || std::ranges::any_of(component.children, holdsArray);
}

Expected<DeviceParts> DeviceParts::of(const DeviceRef& device) {
    if (!device.component()) {
        return fail("hardware.no-device", "the path leads to no component of the design", "the path of a device",
                    "choose a device of the drawing");
    }
    DeviceParts parts;
    parts.ref_ = device;
    const Component* at = &device.design->root;
    std::string path(nameOf(*at));
    Hertz clock;
    int clockFrom = -1;
    ComponentPath place;
    for (const int index : device.path) {
        const int self = static_cast<int>(parts.parts_.size());
        if (const Measure* own = measureOf(*at, "clock")) clock = Hertz(own->si), clockFrom = self;
        parts.parts_.push_back({at, self - 1, path, 1, clock, clockFrom, {{at, place, 1}}});
        at = &at->children[static_cast<std::size_t>(index)];
        place.push_back(index);
        path = pathBelow(path, *at);
    }
    parts.device_ = parts.parts_.size();
    parts.memoryUnits_ = !computesBesideMemory(*at);
    parts.gather({{at, std::move(place), 1}}, static_cast<int>(parts.device_) - 1, clock, clockFrom);
    parts.inside_ = parts.parts_.size() - parts.device_;
    parts.notes_.resize(parts.parts_.size());
    return parts;
}

void DeviceParts::gather(std::vector<Part::Member> members, int parent, Hertz clock, int clockFrom) {
    const int self = static_cast<int>(parts_.size());
    const Component& component = *members.front().component;
    if (const Measure* own = measureOf(component, "clock")) clock = Hertz(own->si), clockFrom = self;
    std::int64_t instances = 0;
    for (const Part::Member& member : members) instances += member.instances;
    std::string path = parent < 0 ? std::string(nameOf(component)) : pathBelow(at(parent).path, component);
    auto children = foldedChildren(members);
    if (!memoryUnits_ && component.kind == ComponentKind::Dram && self != static_cast<int>(device_)) {
        std::erase_if(children, [](const auto& group) { return containsCompute(*group.front().component); });
    }
    parts_.push_back({&component, parent, std::move(path), instances, clock, clockFrom, std::move(members)});
    for (auto& group : children) gather(std::move(group), self, clock, clockFrom);
}

bool DeviceParts::contains(const Part& outer, const Part& part) const {
    for (const Part* each = &part; each; each = parentOf(*each)) {
        if (each == &outer) return true;
    }
    return false;
}

bool DeviceParts::isMore(const Part& a, const Part& b) const {
    if (a.instances != b.instances) return a.instances > b.instances;
    const Part *left = &a, *right = &b;
    for (; left && right && left != right; left = parentOf(*left), right = parentOf(*right)) {
        const auto own = alikeHash(*left->component), other = alikeHash(*right->component);
        if (own != other) return own > other;
    }
    return false;
}

bool DeviceParts::holdsDram() const {
    return std::ranges::any_of(inside(), [](const Part& part) { return part.component->kind == ComponentKind::Dram; });
}

std::span<const Part> DeviceParts::outside(Hertz clock, int clockFrom) {
    const std::size_t first = device_ + inside_;
    for (std::size_t k = device_; k-- > 0 && outside_ == 0;) {
        bool dram = false;
        const Part::Member beside = parts_[k].members.front();
        const Component* inner = parts_[k + 1].component;
        for (auto& group : foldedChildren({{beside.component, beside.place, 1}}, remembers)) {
            const Component& memory = *group.front().component;
            if (&memory == inner) continue;
            Part part{&memory,   static_cast<int>(k), pathBelow(parts_[k].path, memory), 0, clock,
                      clockFrom, std::move(group)};
            for (Part::Member& member : part.members) {
                member.instances = member.component->instances();
                part.instances += member.instances;
            }
            if (const Measure* own = measureOf(memory, "clock")) {
                part.clock = Hertz(own->si), part.clockFrom = static_cast<int>(parts_.size());
            }
            dram = dram || memory.kind == ComponentKind::Dram;
            parts_.push_back(std::move(part));
        }
        if (dram) outside_ = parts_.size() - first;
    }
    outside_ = parts_.size() - first;
    notes_.resize(parts_.size());
    return all().subspan(first, outside_);
}

void DeviceParts::noteAttribute(int index, std::string_view attribute) {
    Note& note = notes_[static_cast<std::size_t>(index)];
    note.counted = true;
    if (std::ranges::find(note.attributes, attribute) == note.attributes.end()) note.attributes.push_back(attribute);
}

const Attribute* DeviceParts::find(const Part& part, std::string_view attribute) {
    const Attribute* found = part.component->find(attribute);
    if (found) noteAttribute(indexOf(part), found->name);
    return found;
}

const Measure* DeviceParts::measure(const Part& part, std::string_view attribute) {
    const Attribute* found = find(part, attribute);
    return found ? std::get_if<Measure>(&found->value) : nullptr;
}

double DeviceParts::measureOr(const Part& part, std::string_view attribute, double fallback) {
    const Measure* found = measure(part, attribute);
    return found ? found->si : fallback;
}

const std::string* DeviceParts::text(const Part& part, std::string_view attribute) {
    const Attribute* found = find(part, attribute);
    return found ? std::get_if<std::string>(&found->value) : nullptr;
}

const std::vector<std::string>* DeviceParts::list(const Part& part, std::string_view attribute) {
    const Attribute* found = find(part, attribute);
    return found ? std::get_if<std::vector<std::string>>(&found->value) : nullptr;
}

const std::vector<TableRow>* DeviceParts::table(const Part& part, std::string_view attribute) {
    const Attribute* found = find(part, attribute);
    return found ? std::get_if<std::vector<TableRow>>(&found->value) : nullptr;
}

const Attribute* DeviceParts::stated(std::string_view attribute) {
    for (std::size_t k = device_ + 1; k-- > 0;) {
        if (const Attribute* found = find(parts_[k], attribute)) return found;
    }
    return nullptr;
}

const Measure* DeviceParts::statedMeasure(std::string_view attribute) {
    const Attribute* found = stated(attribute);
    return found ? std::get_if<Measure>(&found->value) : nullptr;
}

Hertz DeviceParts::clockOf(const Part& part) {
    if (part.clockFrom >= 0) noteAttribute(part.clockFrom, "clock");
    return part.clock;
}

Expected<double> DeviceParts::perSecond(const Part& part, std::string_view attribute, const Measure& measure) {
    if (!measure.perCycle) return measure.si;
    if (part.clock.value <= 0) return noClock(part, attribute);
    return measure.perSecond(clockOf(part));
}

Expected<Seconds> DeviceParts::duration(const Part& part, std::string_view attribute, const Measure& measure) {
    if (!measure.perCycle) return Seconds(measure.si);
    if (part.clock.value <= 0) return noClock(part, attribute);
    return Seconds(measure.si / clockOf(part).value);
}

void DeviceParts::count(const Part& part) {
    notes_[static_cast<std::size_t>(indexOf(part))].counted = true;
}

void DeviceParts::note(PartRead used) {
    more_.add({{std::move(used)}});
}

PartsRead DeviceParts::used() const {
    std::vector<PartRead> found;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (!notes_[i].counted) continue;
        std::vector<std::string> names(notes_[i].attributes.begin(), notes_[i].attributes.end());
        std::ranges::sort(names);
        for (const Part::Member& member : parts_[i].members) found.push_back({member.place, names});
    }
    // Whatever contains them counts too.
    std::ranges::sort(found, {}, &PartRead::path);
    PartsRead used;
    for (PartRead& each : found) {
        const std::size_t known =
            used.parts.empty() ? 0
                               : static_cast<std::size_t>(std::ranges::mismatch(used.parts.back().path, each.path).in2 -
                                                          each.path.begin());
        for (std::size_t depth = used.parts.empty() ? 0 : known + 1; depth < each.path.size(); ++depth) {
            used.parts.push_back(
                {ComponentPath(each.path.begin(), each.path.begin() + static_cast<std::ptrdiff_t>(depth)), {}});
        }
        used.parts.push_back(std::move(each));
    }
    used.add(more_);
    return used;
}

}  // namespace orrery::detail
