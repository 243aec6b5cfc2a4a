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

Expected<void> placePages(GpuView& cpu, const MemoryNodes& memories, Pages pages) {
    if (pages == Pages::Interleaved) return {};
    const Place place{{}, 0, 0, cpu.device.path};
    if (!memories.unlike.empty()) {
        return fail("cores.unlike-nodes", memories.unlike, "parts with memory that are alike", "ask about one of them",
                    place);
    }
    if (memories.nodes < 2) {
        cpu.device.assumptions.push_back("One memory lies beside all cores, so pages are local.");
        cpu.assumptions = cpu.device.assumptions;
        return {};
    }
    const double link = memories.linkBandwidth.value;
    if (pages != Pages::Local && link <= 0) {
        return fail("cores.no-link",
                    fmt::format("{} parts like `{}` have memory of their own, and no link with a bandwidth joins them",
                                memories.nodes, memories.name),
                    "a link between each two of them",
                    "write them out and draw a `link` with `from`, `to` and `bandwidth` beside them", place);
    }
    const auto reach = pipeline::reachOf(static_cast<int>(memories.nodes), memories.bandwidth.value,
                                         memories.latency.value, link, memories.linkLatency.value, pages);
    MemoryLevel& main = cpu.device.levels.front();
    main.bandwidth = BytesPerSecond(reach.bandwidth);
    if (main.latency.value > 0) main.latency = Seconds(reach.latency);
    if (const auto over = main.name.find(" over "); over != std::string::npos) main.name.erase(over);
    if (reach.crossing > 0) main.name += " over " + memories.link;
    cpu.dramBandwidth = reach.bandwidth;
    // In place of what the device view says of pages in turn.
    auto& assumed = cpu.device.assumptions;
    std::erase_if(assumed, [](const std::string& each) { return each.find("pages interleaved") != std::string::npos; });
    assumed.push_back(
        fmt::format("Pages are {}: {:.0f} % of the lines of `{}` come from another part, and the "
                    "memories of all {} parts give {}.",
                    toText(pages), 100 * reach.crossing, main.name, memories.nodes, format(main.bandwidth)));
    cpu.assumptions = assumed;
    return {};
}

}  // namespace orrery
