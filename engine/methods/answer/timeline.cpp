#include "methods/answer/timeline.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {

namespace {

constexpr double picoseconds = 1e12;
constexpr double lastPicosecond = 9e18;  // below 2^63: about 104 days

// The operators [first, end) run as one block, `repeat` times over.
std::size_t blockEnd(const Workload& workload, std::size_t first) {
    std::size_t end = first + 1;
    if (workload.costs.repeat[first] <= 1) return end;
    const Graph& graph = workload.graph;
    const auto& head = graph.operators[first];
    if (head.block.empty()) return end;
    while (end < graph.operators.size() && graph.operators[end].repeat == head.repeat &&
           graph.operators[end].block == head.block) {
        ++end;
    }
    return end;
}

}  // namespace

Timeline serialTimeline(const Workload& workload, const OperatorEstimates& operators, std::string row,
                        std::size_t limit) {
    Timeline timeline;
    timeline.rows.push_back(std::move(row));
    const auto& repeats = workload.costs.repeat;
    double total = 0;
    for (std::size_t i = 0; i < operators.size(); ++i) {
        if (operators.seconds[i] > 0) total += repeats[i];
    }
    timeline.spans.reserve(static_cast<std::size_t>(std::fmin(total, static_cast<double>(limit))));
    // Rounding the running sum, not each duration, keeps the spans' sum equal to the latency.
    double now = 0;
    std::int64_t nowPs = 0;
    const auto draw = [&](std::size_t op, std::int64_t repetition, double seconds) {
        const double end = now + seconds * picoseconds;
        if (timeline.spans.size() >= limit || end > lastPicosecond) return false;
        const std::int64_t endPs = wholePicoseconds(end);
        timeline.spans.push_back(
            {nowPs, endPs, 0, static_cast<std::int32_t>(op), static_cast<std::int32_t>(repetition)});
        now = end;
        nowPs = endPs;
        return true;
    };
    bool room = true;
    for (std::size_t first = 0; room && first < operators.size();) {
        const auto end = blockEnd(workload, first);
        const double repeat = repeats[first];
        bool idle = true;  // a block that takes no time may repeat without end
        for (auto op = first; op < end; ++op) idle = idle && operators.seconds[op] <= 0;
        for (std::int64_t r = 0; !idle && room && static_cast<double>(r) < repeat; ++r) {
            for (auto op = first; room && op < end; ++op) {
                const double seconds = operators.seconds[op] / repeat;
                if (seconds > 0) room = draw(op, r, seconds);
            }
        }
        first = end;
    }
    if (!room) {
        timeline.truncated = true;
        timeline.rows.push_back(
            fmt::format("{:.0f} more not drawn", total - static_cast<double>(timeline.spans.size())));
    }
    return timeline;
}

}  // namespace orrery
