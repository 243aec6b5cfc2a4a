#include "simulation/cpu/cores/view_chip.h"

#include "simulation/cpu/core/view_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::pipeline {

Expected<Machine> machineBesideMemories(const CoreView& view) {
    if (view.memories.nodes < 2) return machineOf(view);
    CoreView beside = view;
    beside.memoryBandwidth = BytesPerSecond(static_cast<double>(view.memories.nodes) * view.memories.bandwidth.value);
    if (view.memories.latency.value > 0) beside.memoryLatency = view.memories.latency;
    return machineOf(beside);
}

Expected<Chip> chipOf(const CoreView& view, Pages pages) {
    auto machine = machineBesideMemories(view);
    if (!machine) return Unexpected(machine.error());
    Chip chip;
    chip.core = std::move(*machine);
    chip.cores = static_cast<int>(std::min<std::int64_t>(view.alike, mostCores + 1));
    chip.nodes = static_cast<int>(view.memories.nodes);
    chip.pages = pages;
    chip.nodeBandwidth = view.memories.bandwidth.value;
    chip.linkBandwidth = view.memories.linkBandwidth.value;
    chip.linkLatency = view.memories.linkLatency.value;
    if (!view.memories.unlike.empty()) {
        return fail("cores.unlike-nodes", view.memories.unlike, "parts with memory that are alike",
                    "ask about one of them", Place{{}, 0, 0, view.path});
    }
    if (chip.nodes > 1 && chip.linkBandwidth <= 0) {
        return fail("cores.no-link",
                    fmt::format("{} parts like `{}` have memory of their own, and no link with a bandwidth joins them",
                                chip.nodes, view.memories.name),
                    "a link between each two of them",
                    "write them out and draw a `link` with `from`, `to` and `bandwidth` beside them",
                    Place{{}, 0, 0, view.path});
    }
    for (std::size_t level = 0; level < chip.core.caches.size(); ++level) {
        const CoreCache* drawn = level < view.caches.size() ? &view.caches[level] : nullptr;
        const double shared = drawn ? drawn->sharedBy : 1;
        const int cores = std::min(chip.cores, std::max(1, static_cast<int>(std::lround(shared))));
        chip.sharedBy.push_back(cores);
        // A drawn rate is that of all slices together.
        const double perCycle = drawn ? drawn->bandwidth.value / chip.core.clock / cores : 0;
        chip.sliceBytes.push_back(cores > 1 ? perCycle : 0);
    }
    if (auto sound = check(chip); !sound) {
        if (sound.error().place.path.empty()) sound.error().place.path = view.path;
        return Unexpected(sound.error());
    }
    return chip;
}

std::vector<std::string> assumptionsOf(const CoreView& view, const Chip& chip) {
    std::vector<std::string> assumed = view.assumptions;
    if (chip.nodes > 1 && !view.memories.inTurn.empty()) std::erase(assumed, view.memories.inTurn);
    if (view.alike < view.cores)
        assumed.push_back(fmt::format("Only the {} cores `{}` run; the others rest.", view.alike, view.core));
    if (chip.nodes < 2 && chip.pages != Pages::Local)
        assumed.push_back("All cores lie beside one memory, so pages are local.");
    return assumed;
}

}  // namespace orrery::pipeline
