#include "simulation/cpu/cores/chip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery::pipeline {

std::string_view toText(Pages pages) {
    static constexpr std::array<std::string_view, pagesCount> names{"local", "interleave", "first-node", "remote"};
    return names[static_cast<std::size_t>(pages)];
}

std::string_view toText(Binding binding) {
    return binding == Binding::Close ? "close" : "spread";
}

Chip chipOf(Machine core) {
    Chip chip;
    chip.sharedBy.assign(core.caches.size(), 1);
    chip.nodeBandwidth = core.memoryBandwidth;
    chip.core = std::move(core);
    return chip;
}

Expected<void> check(const Chip& chip) {
    if (auto sound = check(chip.core); !sound) return sound;
    const auto refuse = [&](std::string code, std::string what, std::string expected, std::string hint = {}) {
        return fail(std::move(code), std::move(what), std::move(expected), std::move(hint));
    };
    if (chip.cores < 1 || chip.cores > mostCores)
        return refuse("cores.number", fmt::format("{} cores", chip.cores), fmt::format("1 to {} cores", mostCores));
    if (chip.nodes < 1 || chip.cores % chip.nodes != 0)
        return refuse("cores.nodes", fmt::format("{} cores beside {} memories", chip.cores, chip.nodes),
                      "as many cores beside each memory");
    const int perNode = chip.cores / chip.nodes;
    for (std::size_t level = 0; level < chip.core.caches.size(); ++level) {
        const int cores = level < chip.sharedBy.size() ? chip.sharedBy[level] : 0;
        const std::string& name = chip.core.caches[level].name;
        if (cores < 1 || perNode % cores != 0)
            return refuse("cores.shared",
                          fmt::format("{} cores share one `{}` and {} one memory", cores, name, perNode),
                          "a number of cores that divides those of a memory");
        if (level == 0 && cores > 1)
            return refuse("cores.first-cache", fmt::format("{} cores share their first cache, `{}`", cores, name),
                          "a first cache of each core's own", "draw it inside the core");
        if (level > 0 && cores % chip.sharedBy[level - 1] != 0)
            return refuse("cores.shared",
                          fmt::format("{} cores share one `{}` and {} one `{}`", cores, name, chip.sharedBy[level - 1],
                                      chip.core.caches[level - 1].name),
                          "whole caches inside each outer one");
    }
    if (!(chip.nodeBandwidth >= 1e6 && chip.nodeBandwidth <= 1e14))
        return refuse("cores.bandwidth", "the bandwidth of a memory is wrong", "1 MB/s to 100 TB/s");
    if (chip.nodes > 1 && !(chip.linkBandwidth >= 1e6 && chip.linkBandwidth <= 1e14))
        return refuse("cores.link", "the link between memories has no bandwidth", "1 MB/s to 100 TB/s one way");
    if (!(chip.linkLatency >= 0 && chip.linkLatency <= 1e-5))
        return refuse("cores.link", "the latency of the link between memories is wrong", "0 to 10 µs");
    return {};
}

std::vector<int> placesOf(const Chip& chip, int cores, Binding binding) {
    const int count = std::clamp(cores, 1, chip.cores);
    std::vector<int> places;
    places.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        places.push_back(
            binding == Binding::Close ? i : static_cast<int>(static_cast<std::int64_t>(i) * chip.cores / count));
    }
    return places;
}

MemoryReach reachOf(int nodes, double nodeBandwidth, double latency, double linkBandwidth, double linkLatency,
                    Pages pages) {
    const double n = std::max(1, nodes);
    MemoryReach reach{n * nodeBandwidth, n * nodeBandwidth, latency, 0};
    if (nodes < 2) return reach;
    switch (pages) {
        case Pages::Local:
            return reach;
        case Pages::Interleaved:
            // Each memory serves as much as with local pages; a link carries 1/n of what a node asks for.
            reach.bandwidth = reach.most = n * std::min(nodeBandwidth, n * linkBandwidth);
            reach.crossing = (n - 1) / n;
            break;
        case Pages::FirstNode:
            // One memory serves all; equal work waits for the nodes behind a link.
            reach.bandwidth = n * std::min(nodeBandwidth / n, linkBandwidth);
            reach.most = n * std::min(nodeBandwidth / n, 2 * linkBandwidth);
            reach.crossing = (n - 1) / n;
            break;
        case Pages::Remote:
            reach.bandwidth = n * std::min(nodeBandwidth, linkBandwidth);
            // Of two nodes, each one's reads meet the other's writes.
            reach.most = nodes == 2 ? reach.bandwidth : n * std::min(nodeBandwidth, 2 * linkBandwidth);
            reach.crossing = 1;
            break;
    }
    reach.latency += 2 * linkLatency * reach.crossing;
    return reach;
}

}  // namespace orrery::pipeline
