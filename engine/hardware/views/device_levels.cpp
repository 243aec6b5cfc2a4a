#include "hardware/views/device_build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace orrery::detail {
namespace {

// Memories that stand in the same place of like surroundings: of one level, whatever their sizes.
struct Slot {
    std::vector<const Part*> parts;
    int rank = 0;          // 0 DRAM, 1 buffers and caches, 2 registers
    bool outside = false;  // of the device
    std::string place;     // kinds of what contains them
    std::size_t depth = 0;
    const std::vector<std::string>* keeps = nullptr;
    std::int64_t instances = 0;
    double capacity = 0, bandwidth = 0;
};

int rankOf(ComponentKind kind) {
    return kind == ComponentKind::Dram ? 0 : kind == ComponentKind::RegisterFile ? 2 : 1;
}

double capacityOf(DeviceParts& parts, const Part& part) {
    return parts.measureOr(part, "capacity", 0) * static_cast<double>(part.instances);
}

// Kinds from the device down to each part, those that hold nothing that computes apart: a die of memory is no sibling
// of a die of cores.
std::vector<std::string> placesOf(const DeviceParts& parts) {
    const auto inside = parts.inside();
    const int first = parts.indexOf(inside.front());
    std::vector<char> works(inside.size());
    for (std::size_t i = inside.size(); i-- > 0;) {
        const ComponentKind kind = inside[i].component->kind;
        works[i] = works[i] || computes(kind) || kind == ComponentKind::Core || kind == ComponentKind::Array;
        if (i > 0 && works[i]) works[static_cast<std::size_t>(inside[i].parent - first)] = 1;
    }
    std::vector<std::string> places(inside.size());
    for (std::size_t i = 1; i < inside.size(); ++i) {
        const int kind = static_cast<int>(inside[i].component->kind);
        places[i] = places[static_cast<std::size_t>(inside[i].parent - first)];
        places[i] += static_cast<char>((works[i] ? 'A' : 'a') + kind);
    }
    return places;
}

// One parent's memories of one kind are parallel if they are alike (those have been folded before) or DRAM of one
// standard, and a hierarchy from large to small if not: the L1 and L2 of a core are drawn beside each other too.
std::vector<std::vector<const Part*>> tiersOf(DeviceParts& parts, const std::vector<const Part*>& siblings) {
    std::vector<std::vector<const Part*>> tiers;
    for (const Part* part : siblings) {
        const bool dram = part->component->kind == ComponentKind::Dram;
        const auto same = [&](const std::vector<const Part*>& tier) {
            const Attribute *a = parts.find(*part, "timing"), *b = parts.find(*tier.front(), "timing");
            return dram && (a ? a->value : Attribute::Value("")) == (b ? b->value : Attribute::Value(""));
        };
        const auto found = std::ranges::find_if(tiers, same);
        if (found != tiers.end()) {
            found->push_back(part);
        } else {
            tiers.push_back({part});
        }
    }
    std::ranges::stable_sort(tiers, std::ranges::greater{}, [&](const std::vector<const Part*>& tier) {
        double capacity = 0;
        for (const Part* part : tier) capacity += capacityOf(parts, *part);
        return capacity;
    });
    return tiers;
}

std::vector<Slot> slotsOf(DeviceParts& parts) {
    using Siblings = std::vector<const Part*>;
    const auto places = placesOf(parts);
    const auto inside = parts.inside();
    // By parent, kind and what they keep.
    std::vector<std::pair<std::string, Siblings>> families;
    const auto add = [&](const Part& part, bool outside) {
        if (!remembers(part.component->kind)) return;
        const auto* keeps = parts.list(part, "keeps");
        if (keeps && keeps->size() == 1 && keeps->front() == "instructions") return;
        std::string key =
            fmt::format("{}{}:{}", outside ? "o" : "", part.parent, static_cast<int>(part.component->kind));
        for (const std::string& each : keeps ? *keeps : std::vector<std::string>{}) key += "," + each;
        const auto found = std::ranges::find(families, key, &std::pair<std::string, Siblings>::first);
        if (found != families.end()) {
            found->second.push_back(&part);
        } else {
            families.emplace_back(std::move(key), Siblings{&part});
        }
    };
    for (const Part& part : parts.outside()) add(part, true);
    for (const Part& part : inside) add(part, false);

    std::vector<Slot> slots;
    std::map<std::string, std::size_t> byPlace;
    for (const auto& [key, siblings] : families) {
        const bool outside = key.starts_with('o');
        const auto tiers = tiersOf(parts, siblings);
        for (std::size_t tier = 0; tier < tiers.size(); ++tier) {
            const Part& first = *tiers[tier].front();
            const auto self = static_cast<std::size_t>(parts.indexOf(first) - parts.indexOf(inside.front()));
            const std::string around = outside ? std::string() : places[self].substr(0, places[self].size() - 1);
            const std::string place = outside ? fmt::format("{}#{}", key, tier)
                                              : fmt::format("{}{}#{}", around, key.substr(key.find(':')), tier);
            const auto [found, isNew] = byPlace.emplace(place, slots.size());
            if (isNew) {
                Slot slot;
                slot.rank = rankOf(first.component->kind);
                slot.outside = outside;
                slot.place = outside ? fmt::format("o{}", first.parent) : around;
                slot.depth = slot.place.size();
                slot.keeps = parts.list(first, "keeps");
                slots.push_back(std::move(slot));
            }
            Slot& slot = slots[found->second];
            for (const Part* part : tiers[tier]) {
                slot.parts.push_back(part);
                slot.instances += part->instances;
                slot.capacity += capacityOf(parts, *part);
            }
        }
    }
    std::ranges::stable_sort(slots, [](const Slot& a, const Slot& b) {
        if (a.rank != b.rank) return a.rank < b.rank;
        if (a.outside != b.outside) return a.outside;
        if (a.instances != b.instances) return a.instances < b.instances;
        if (a.capacity != b.capacity) return a.capacity > b.capacity;
        return !a.outside && a.depth < b.depth;
    });
    return slots;
}

// Slots that keep different operands (input, weight and output scratchpads) are one level between them.
bool sharesLevel(const Slot& a, const Slot& b) {
    if (a.place != b.place || a.parts.front()->component->kind != b.parts.front()->component->kind) return false;
    return a.keeps && b.keeps && std::ranges::none_of(*a.keeps, [&b](const std::string& operand) {
               return std::ranges::find(*b.keeps, operand) != b.keeps->end();
           });
}

Expected<MemoryLevel> levelOf(DeviceParts& parts, const Part& part) {
    MemoryLevel level;
    level.name = std::string(nameOf(*part.component));
    level.kind = part.component->kind;
    level.path = part.path;
    level.place = part.members.front().place;
    level.instances = part.instances;
    level.capacity = Bytes(capacityOf(parts, part));
    if (const std::string* timing = parts.text(part, "timing")) level.timing = *timing;
    level.energy = JoulesPerByte(parts.measureOr(part, "energy", 0));
    if (const Measure* latency = parts.measure(part, "latency")) {
        const auto time = parts.duration(part, "latency", *latency);
        if (!time) return Unexpected(time.error());
        level.latency = *time;
    }
    if (const Measure* bandwidth = parts.measure(part, "bandwidth")) {
        const auto rate = parts.perSecond(part, "bandwidth", *bandwidth);
        if (!rate) return Unexpected(rate.error());
        level.bandwidth = BytesPerSecond(*rate * static_cast<double>(part.instances));
    }
    return level;
}

// Side by side: capacities and rates add, the slowest answers last, energy is by the bytes that each moves.
Expected<MemoryLevel> levelOf(DeviceParts& parts, const Slot& slot) {
    auto level = levelOf(parts, *slot.parts.front());
    if (!level || slot.parts.size() == 1) return level;
    double joules = level->energy.value * level->bandwidth.value;
    double stated = level->energy.value > 0 ? level->bandwidth.value : 0;
    bool known = level->bandwidth.value > 0;
    std::vector<std::string> names{level->name};
    for (std::size_t i = 1; i < slot.parts.size(); ++i) {
        const auto other = levelOf(parts, *slot.parts[i]);
        if (!other) return other;
        if (std::ranges::find(names, other->name) == names.end()) names.push_back(other->name);
        level->instances += other->instances;
        level->capacity += other->capacity;
        level->bandwidth += other->bandwidth;
        level->latency = max(level->latency, other->latency);
        known = known && other->bandwidth.value > 0;
        if (other->energy.value > 0) {
            joules += other->energy.value * other->bandwidth.value;
            stated += other->bandwidth.value;
            level->energy = other->energy;
        }
    }
    level->name = fmt::format("{}", fmt::join(names, " + "));
    if (stated > 0) level->energy = JoulesPerByte(joules / stated);
    if (!known) level->bandwidth = {};
    return level;
}

}  // namespace

Expected<void> fillLevels(DeviceParts& parts, DeviceView& view) {
    const auto slots = slotsOf(parts);
    const Slot* previous = nullptr;
    for (const Slot& slot : slots) {
        auto level = levelOf(parts, slot);
        if (!level) return Unexpected(std::move(level.error()));
        if (level->bandwidth.value <= 0) {
            const bool last = &slot == &slots.back();
            if (slot.rank == 0 || (view.levels.empty() && last)) {
                const auto silent = std::ranges::find_if(
                    slot.parts, [](const Part* part) { return !part->component->find("bandwidth"); });
                const Part& part = silent == slot.parts.end() ? *slot.parts.front() : **silent;
                return fail("hardware.missing-attribute", fmt::format("`{}` has no bandwidth", nameOf(*part.component)),
                            "`bandwidth`, such as `3.35 TB/s`", "set it in the inspector or the file",
                            {{}, 0, 0, part.path + ".bandwidth"});
            }
            const bool kept = !view.levels.empty() && level->capacity.value > 0;
            view.assumptions.push_back(fmt::format("`{}` gives no bandwidth and {}.", level->name,
                                                   kept ? "limits nothing" : "is left out of the memory levels"));
            if (!kept) continue;
        }
        if (previous && !view.levels.empty() && sharesLevel(*previous, slot)) {
            MemoryLevel& shared = view.levels.back();
            shared.name += " + " + level->name;
            shared.capacity += level->capacity;
            const bool bothKnown = shared.bandwidth.value > 0 && level->bandwidth.value > 0;
            shared.bandwidth = bothKnown ? shared.bandwidth + level->bandwidth : BytesPerSecond();
        } else {
            view.levels.push_back(std::move(*level));
        }
        previous = &slot;
    }
    if (view.levels.empty()) {
        return fail("hardware.missing-component", fmt::format("`{}` reaches no memory", view.name),
                    "a DRAM, buffer or cache with `capacity` and `bandwidth` in it or beside it", "add a DRAM",
                    {{}, 0, 0, view.path});
    }
    return {};
}

}  // namespace orrery::detail
