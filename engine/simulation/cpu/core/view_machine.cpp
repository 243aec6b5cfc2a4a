#include "simulation/cpu/core/view_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::pipeline {

Expected<Machine> machineOf(const CoreView& view) {
    if (view.microarchitecture.empty()) {
        std::string known;
        for (const auto& each : machineIds()) known += (known.empty() ? "" : ", ") + each;
        return fail("core.unknown",
                    fmt::format("the core {} of `{}` names no microarchitecture, so its ports and queues are not known",
                                view.core.empty() ? "" : "`" + view.core + "`", view.name),
                    known,
                    "add `microarchitecture` to it, or describe its pipeline in a file of your own and name that file",
                    Place{{}, 0, 0, view.corePath.empty() ? view.path : view.corePath});
    }
    auto machine = loadMachine(view.microarchitecture);
    if (!machine) {
        if (machine.error().place.path.empty()) machine.error().place.path = view.corePath;
        return machine;
    }
    machine->id = view.name;
    machine->title = fmt::format("{} ({})", view.name, machine->title);
    machine->clock = view.clock.value;
    if (view.issueWidth >= 1) machine->issueWidth = static_cast<int>(view.issueWidth);
    // What is drawn takes the place of what the pipeline states, level by level from the inside.
    const std::size_t levels = std::min(view.caches.size(), mostCaches);
    if (levels > 0) machine->caches.resize(levels, machine->caches.empty() ? CacheSpec{} : machine->caches.back());
    for (std::size_t i = 0; i < levels; ++i) {
        const CoreCache& drawn = view.caches[i];
        CacheSpec& cache = machine->caches[i];
        cache.name = drawn.name;
        if (drawn.capacity.value > 0) cache.bytes = drawn.capacity.value;
        if (drawn.ways >= 1) cache.ways = static_cast<int>(drawn.ways);
        if (drawn.latency.value > 0)
            cache.latency = std::max(1, static_cast<int>(std::lround(drawn.latency.value * view.clock.value)));
    }
    if (view.memoryBandwidth.value > 0)
        machine->memoryBandwidth = std::min(machine->memoryBandwidth, view.memoryBandwidth.value);
    if (view.memoryLatency.value > 0) machine->memoryLatency = view.memoryLatency.value;
    if (auto sound = check(*machine); !sound) {
        sound.error().place.path = view.path;
        return Unexpected(sound.error());
    }
    return machine;
}

}  // namespace orrery::pipeline
