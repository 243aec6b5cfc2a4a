#include "store/export/lane_trace.h"

#include "store/export/trace_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

std::string laneTrace(const LaneTrace& trace) {
    using store::traceText;
    store::TraceEvents events(fmt::format(R"("otherData":{{"title":{},"program":{},"cycle_ns":{}}})",
                                          traceText(trace.title), traceText("Orrery " ORRERY_VERSION),
                                          trace.cycleSeconds * 1e9));
    std::vector<int> process;
    for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
        const bool fresh = i == 0 || trace.lanes[i].group != trace.lanes[i - 1].group;
        process.push_back((process.empty() ? 0 : process.back()) + (fresh ? 1 : 0));
        if (fresh) events.process(process.back(), trace.lanes[i].group);
        events.thread(process.back(), i + 1, trace.lanes[i].name, i);
    }
    const auto picoseconds = [&](std::int64_t cycle) {
        return static_cast<std::int64_t>(std::llround(static_cast<double>(cycle) * trace.cycleSeconds * 1e12));
    };
    for (const TraceStretch& each : trace.stretches) {
        const auto lane = static_cast<std::size_t>(each.lane);
        if (each.lane < 0 || lane >= process.size()) continue;
        std::string arguments;
        for (const auto& [key, value] : each.arguments)
            arguments += fmt::format("{}{}:{}", arguments.empty() ? "" : ",", traceText(key), traceText(value));
        const std::int64_t from = picoseconds(each.from);
        events.add(fmt::format(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                               traceText(each.name), traceText(each.category), process[lane], lane + 1,
                               store::traceMicroseconds(from), store::traceMicroseconds(picoseconds(each.to) - from),
                               arguments));
    }
    return std::move(events).text();
}

LaneTrace warpLanes(const gpusim::Recording& recording, double cycleSeconds) {
    LaneTrace trace{fmt::format("warps of multiprocessor {}", recording.sm), cycleSeconds, {}, {}};
    const auto schedulers = static_cast<std::size_t>(std::max(recording.schedulers, 1));
    for (std::size_t scheduler = 0; scheduler < schedulers; ++scheduler) {
        for (std::size_t w = scheduler; w < recording.warps.size(); w += schedulers) {
            const auto& spans = recording.warps[w];
            const auto lane = static_cast<std::int32_t>(trace.lanes.size());
            bool there = false;
            for (std::size_t i = 0; i < spans.size(); ++i) {
                if (spans[i].state == gpusim::WarpState::Absent) continue;
                there = true;
                const auto end = i + 1 < spans.size() ? spans[i + 1].begin : recording.recorded;
                TraceStretch stretch{lane,
                                     static_cast<std::int64_t>(spans[i].begin),
                                     static_cast<std::int64_t>(end),
                                     std::string(toText(spans[i].state)),
                                     std::string(toText(spans[i].state)),
                                     {}};
                if (spans[i].instruction < recording.instructions.size()) {
                    const auto& text = recording.instructions[spans[i].instruction].text;
                    stretch.arguments = {{"instruction", text.text}, {"pc", fmt::format("{:#x}", text.pc)}};
                }
                trace.stretches.push_back(std::move(stretch));
            }
            if (there) trace.lanes.push_back({fmt::format("scheduler {}", scheduler), fmt::format("warp {}", w)});
        }
    }
    return trace;
}

}  // namespace orrery
