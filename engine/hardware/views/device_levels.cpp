#include "hardware/views/device_collect.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::detail {
namespace {

struct Candidate {
    const Part* part;
    int rank;  // 0 DRAM, 1 buffers and caches, 2 registers
    double capacity;
    bool outside;
};

int rankOf(ComponentKind kind) {
    return kind == ComponentKind::Dram ? 0 : kind == ComponentKind::RegisterFile ? 2 : 1;
}

const std::vector<std::string>* keepsOf(const Component& component) {
    const Attribute* keeps = component.find("keeps");
    return keeps ? std::get_if<std::vector<std::string>>(&keeps->value) : nullptr;
}

bool keepsOnlyInstructions(const Component& component) {
    const auto* keeps = keepsOf(component);
    return keeps && keeps->size() == 1 && keeps->front() == "instructions";
}

// Siblings that keep different operands (input, weight and output scratchpads) are one level between them.
bool sharesLevel(const Part& a, const Part& b) {
    const auto* left = keepsOf(*a.component);
    const auto* right = keepsOf(*b.component);
    if (a.parent != b.parent || a.component->kind != b.component->kind || !left || !right) return false;
    return std::none_of(left->begin(), left->end(), [right](const std::string& operand) {
        return std::find(right->begin(), right->end(), operand) != right->end();
    });
}

Expected<MemoryLevel> levelOf(const Part& part) {
    const Component& component = *part.component;
    MemoryLevel level;
    level.name = std::string(nameOf(component));
    level.kind = component.kind;
    level.path = part.path;
    level.instances = part.instances;
    const auto all = static_cast<double>(part.instances);
    if (const Measure* capacity = measureOf(component, "capacity")) level.capacity = Bytes(capacity->si * all);
    if (const Measure* energy = measureOf(component, "energy")) level.energy = JoulesPerByte(energy->si);
    if (const Measure* latency = measureOf(component, "latency")) {
        if (latency->perCycle && part.clock.value <= 0) return Unexpected(perSecond(part, "latency", *latency).error());
        level.latency = Seconds(latency->perCycle ? latency->si / part.clock.value : latency->si);
    }
    if (const Measure* bandwidth = measureOf(component, "bandwidth")) {
        const auto rate = perSecond(part, "bandwidth", *bandwidth);
        if (!rate) return Unexpected(rate.error());
        level.bandwidth = BytesPerSecond(*rate * all);
    }
    return level;
}

}  // namespace

Expected<void> fillLevels(const std::vector<Part>& parts, const std::vector<Part>& outside, DeviceView& view) {
    std::vector<Candidate> candidates;
    const auto add = [&](const Part& part, bool isOutside) {
        const Component& component = *part.component;
        if (!remembers(component.kind) || keepsOnlyInstructions(component)) return;
        const Measure* capacity = measureOf(component, "capacity");
        const double bytes = capacity ? capacity->si * static_cast<double>(part.instances) : 0;
        candidates.push_back({&part, rankOf(component.kind), bytes, isOutside});
    };
    for (const Part& part : outside) add(part, true);
    for (const Part& part : parts) add(part, false);
    std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        if (a.rank != b.rank) return a.rank < b.rank;
        if (a.outside != b.outside) return a.outside;
        if (a.part->instances != b.part->instances) return a.part->instances < b.part->instances;
        return a.capacity > b.capacity;
    });
    const Part* previous = nullptr;
    for (const Candidate& candidate : candidates) {
        const Part& part = *candidate.part;
        auto level = levelOf(part);
        if (!level) return Unexpected(std::move(level.error()));
        if (level->bandwidth.value <= 0) {
            const bool last = &candidate == &candidates.back();
            if (candidate.rank == 0 || (view.levels.empty() && last)) {
                return fail("hardware.missing-attribute", fmt::format("`{}` has no bandwidth", level->name),
                            "`bandwidth`, such as `3.35 TB/s`", "set it in the inspector or the file",
                            {{}, 0, 0, part.path + ".bandwidth"});
            }
            const bool kept = !view.levels.empty() && level->capacity.value > 0;
            view.assumptions.push_back(fmt::format("`{}` gives no bandwidth and {}.", level->name,
                                                   kept ? "limits nothing" : "is left out of the memory levels"));
            if (!kept) continue;
        }
        if (previous && !view.levels.empty() && sharesLevel(*previous, part)) {
            MemoryLevel& shared = view.levels.back();
            shared.name += " + " + level->name;
            shared.capacity += level->capacity;
            const bool bothKnown = shared.bandwidth.value > 0 && level->bandwidth.value > 0;
            shared.bandwidth = bothKnown ? shared.bandwidth + level->bandwidth : BytesPerSecond();
        } else {
            view.levels.push_back(std::move(*level));
        }
        previous = &part;
    }
    if (view.levels.empty()) {
        return fail("hardware.missing-component", fmt::format("`{}` reaches no memory", view.name),
                    "a DRAM, buffer or cache with `capacity` and `bandwidth` in it or beside it", "add a DRAM",
                    {{}, 0, 0, view.path});
    }
    return {};
}

}  // namespace orrery::detail
