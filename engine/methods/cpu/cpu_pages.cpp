#include "methods/cpu/cpu_pages.h"

#include <fmt/format.h>

#include <vector>

namespace orrery {

using pipeline::Pages;

MethodOption pagesOption() {
    return {.key = "pages",
            .title = "Pages lie",
            .choices = {"interleave", "local", "first-node", "remote"},
            .fallback = "interleave",
            .meaning =
                "Where parts of the processor have memory of their own: page by page in all of them, each in "
                "that of the cores that work on it, all in the first (one thread has filled them), or all in "
                "the next one, the worst case."};
}

Expected<Pages> pagesOf(std::string_view text) {
    for (const Pages each : {Pages::Interleaved, Pages::Local, Pages::FirstNode, Pages::Remote}) {
        if (text.empty() || toText(each) == text) return each;
    }
    return fail("method.bad-option", fmt::format("`pages` is `{}`", text), "interleave, local, first-node or remote");
}

namespace {

pipeline::MemoryReach reachOf(const MemoryNodes& memories, Pages pages) {
    return pipeline::reachOf(static_cast<int>(memories.nodes), memories.bandwidth.value, memories.latency.value,
                             memories.linkBandwidth.value, memories.linkLatency.value, pages);
}

}  // namespace

Expected<BytesPerSecond> placePages(DeviceView& device, const MemoryNodes& memories, Pages pages) {
    if (pages == Pages::Interleaved) return device.main().bandwidth;
    const Place place{{}, 0, 0, device.path};
    if (!memories.unlike.empty()) {
        return fail("cores.unlike-nodes", memories.unlike, "parts with memory that are alike", "ask about one of them",
                    place);
    }
    if (memories.nodes < 2) {
        device.assumptions.push_back("One memory lies beside all cores, so pages are local.");
        return device.main().bandwidth;
    }
    if (pages != Pages::Local && memories.linkBandwidth.value <= 0) {
        return fail("cores.no-link",
                    fmt::format("{} parts like `{}` have memory of their own, and no link with a bandwidth joins them",
                                memories.nodes, memories.name),
                    "a link between each two of them",
                    "write them out and draw a `link` with `from`, `to` and `bandwidth` beside them", place);
    }
    const auto reach = reachOf(memories, pages);
    MemoryLevel& main = device.levels.front();
    main.bandwidth = BytesPerSecond(reach.most);
    if (main.latency.value > 0) main.latency = Seconds(reach.latency);
    main.name = memories.memory;
    if (reach.crossing > 0) main.name += " over " + memories.link;
    if (auto& way = device.interconnect; way && way->crossing > 0) {
        way->energy = JoulesPerByte(way->energy.value * reach.crossing / way->crossing);
        way->crossing = reach.crossing;
    }
    if (!memories.inTurn.empty()) std::erase(device.assumptions, memories.inTurn);
    device.assumptions.push_back(fmt::format(
        "Pages are {}: {:.0f} % of the lines of `{}` come from another part, and the memories of all {} parts give {}.",
        toText(pages), 100 * reach.crossing, memories.memory, memories.nodes, format(BytesPerSecond(reach.bandwidth))));
    return BytesPerSecond(reach.bandwidth);
}

Expected<void> placePages(GpuView& cpu, const MemoryNodes& memories, Pages pages) {
    const auto reads = placePages(cpu.device, memories, pages);
    if (!reads) return Unexpected(reads.error());
    cpu.assumptions = cpu.device.assumptions;
    if (pages != Pages::Interleaved && memories.nodes > 1) cpu.dramBandwidth = reads->value;
    return {};
}

Expected<BytesPerSecond> placePages(DeviceView& device, const DeviceRef& place, const OptionValues& options) {
    const auto asked = options.find("pages");
    if (asked == options.end()) return device.main().bandwidth;
    const auto pages = pagesOf(asked->second);
    if (!pages) return Unexpected(pages.error());
    if (*pages == Pages::Interleaved) return device.main().bandwidth;
    const auto memories = memoryNodes(place);
    if (!memories) return Unexpected(memories.error());
    return placePages(device, *memories, *pages);
}

}  // namespace orrery
