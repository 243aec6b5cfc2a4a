#include "methods/npu/npu_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

constexpr std::array<std::string_view, npuEngineCount> names{"DMA in", "arrays", "vector unit", "DMA out"};
constexpr double lastPicosecond = 9e18;

bool sameBlock(const Operator& a, const Operator& b) {
    return a.repeat == b.repeat && a.block == b.block && !a.block.empty();
}

}  // namespace

Timeline npuTimeline(const Graph& graph, const KernelPlan& plan, std::span<const KernelRun> runs,
                     const NpuMachine& machine, std::size_t limit) {
    Timeline timeline;
    for (std::int64_t core = 0; core < machine.cores; ++core) {
        for (const auto name : names) {
            timeline.rows.push_back(machine.cores > 1 ? fmt::format("core {} {}", core, name) : std::string(name));
        }
    }
    const double picoseconds = 1e12 / machine.hertz;
    double now = 0;  // cycles
    double undrawn = 0;
    const auto draw = [&](std::size_t k) {
        const double begin = now + static_cast<double>(machine.launch);
        for (const NpuSpan& span : runs[k].run->spans) {
            const double end = (begin + static_cast<double>(span.end)) * picoseconds;
            if (timeline.spans.size() >= limit || end > lastPicosecond) {
                timeline.truncated = true;
                return;
            }
            const auto row = span.core * npuEngineCount + static_cast<int>(span.engine);
            timeline.spans.push_back({std::llround((begin + static_cast<double>(span.start)) * picoseconds),
                                      std::llround(end), row, plan.kernels[k].op, 0});
        }
    };
    for (std::size_t first = 0; first < runs.size();) {
        const Operator& head = graph.operators[static_cast<std::size_t>(plan.kernels[first].op)];
        std::size_t end = first;
        double once = 0;
        while (end < runs.size() &&
               (end == first || sameBlock(head, graph.operators[static_cast<std::size_t>(plan.kernels[end].op)]))) {
            draw(end);
            now += static_cast<double>(runs[end].cycles);
            once += static_cast<double>(runs[end].cycles);
            ++end;
        }
        const double more = static_cast<double>(head.repeat - 1);
        now += once * more;
        undrawn += more * static_cast<double>(end - first);
        first = end;
    }
    std::stable_sort(timeline.spans.begin(), timeline.spans.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
        return a.row != b.row ? a.row < b.row : a.startPs < b.startPs;
    });
    if (undrawn > 0 || timeline.truncated) {
        timeline.truncated = true;
        timeline.rows.push_back(undrawn > 0 ? fmt::format("{:.0f} more kernels not drawn", undrawn)
                                            : std::string("later kernels are not drawn"));
    }
    return timeline;
}

}  // namespace orrery
