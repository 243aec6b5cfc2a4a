#include "methods/answer/timeline.h"
#include "methods/model/columns.h"
#include "methods/model/placed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {

namespace {

constexpr double picoseconds = 1e12;
constexpr double lastPicosecond = 9e18;  // below 2^63

// By row and start. Launches come in order, so that each row by itself is sorted already, or all but.
void sortSpans(Timeline& timeline) {
    if (timeline.rows.size() == 1) return;
    std::vector<std::size_t> next(timeline.rows.size() + 1);
    for (const TimelineSpan& span : timeline.spans) ++next[static_cast<std::size_t>(span.row) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<TimelineSpan> byRow(timeline.spans.size());
    for (const TimelineSpan& span : timeline.spans) byRow[next[static_cast<std::size_t>(span.row)]++] = span;
    const auto before = [](const TimelineSpan& a, const TimelineSpan& b) {
        return a.row != b.row ? a.row < b.row : a.startPs < b.startPs;
    };
    if (!std::is_sorted(byRow.begin(), byRow.end(), before)) std::stable_sort(byRow.begin(), byRow.end(), before);
    timeline.spans = std::move(byRow);
}

}  // namespace

Timeline composedTimeline(const Composition& c, std::size_t limit) {
    Timeline timeline;
    const bool training = std::any_of(c.list().launches.begin(), c.list().launches.end(),
                                      [](const Launch& launch) { return launch.part != Part::Forward; });
    const std::string& device = c.device.name;
    int rows = 1;
    const auto parts = c.pricer->rows();
    if (!parts.empty()) {
        rows = static_cast<int>(parts.size());
        timeline.rows = parts;
    } else if (training) {
        rows = partCount;
        for (int part = 0; part < partCount; ++part) {
            timeline.rows.push_back(fmt::format("{} {}", device, toText(static_cast<Part>(part))));
        }
    } else {
        timeline.rows.push_back(device);
    }
    const auto* placed = dynamic_cast<const PlacedPricer*>(c.pricer.get());
    const std::int32_t layoutRow = placed ? placed->layoutRow() : 0;
    const bool waits = c.issue > 0;
    if (waits) timeline.rows.push_back("waiting for launches");
    const auto& launches = c.list().launches;
    const double busy = c.pipelined.total + c.graphLaunch;
    const double share = busy > 0 ? latencyOf(c) / busy : 1;
    const auto spansOf = [&](std::size_t i) -> const std::vector<KernelSpan>& {
        return c.spans[static_cast<std::size_t>(c.distinct().first[i])];
    };
    double expected = 0;
    for (const LaunchRun& run : c.runs) {
        for (std::size_t i = run.first; i < run.end; ++i) {
            expected += std::floor(run.times) * (parts.empty() ? 1.0 : static_cast<double>(spansOf(i).size()));
        }
    }
    timeline.spans.reserve(static_cast<std::size_t>(std::min(expected, static_cast<double>(limit))));
    double now = 0;
    double left = 0;
    bool room = true;
    const auto draw = [&](std::int32_t row, std::int32_t op, double seconds, double repetition) {
        const double end = now + seconds * share * picoseconds;
        room = room && timeline.spans.size() < limit && end <= lastPicosecond;
        if (room && seconds > 0) {
            timeline.spans.push_back(
                {wholePicoseconds(now), wholePicoseconds(end), row, op, static_cast<std::int32_t>(repetition)});
        }
        now = end;
    };
    // What the device's parts do during launch i, in its order; `now` moves by all of it.
    const auto drawParts = [&](std::size_t i, double repetition) {
        const double end = now + c.prices[i].seconds * share * picoseconds;
        const auto& spans = spansOf(i);
        room = room && timeline.spans.size() + spans.size() <= limit && end <= lastPicosecond;
        const double stretch = share * launches[i].scale * picoseconds;
        for (const KernelSpan& span : spans) {
            if (!room) break;
            timeline.spans.push_back({wholePicoseconds(now + span.start * stretch),
                                      wholePicoseconds(now + span.end * stretch), span.row, launches[i].op,
                                      static_cast<std::int32_t>(repetition)});
        }
        if (room && !c.layouts.empty() && c.layouts[i] > 0)
            timeline.spans.push_back({wholePicoseconds(end - c.layouts[i] * share * picoseconds), wholePicoseconds(end),
                                      layoutRow, launches[i].op, static_cast<std::int32_t>(repetition)});
        now = end;
    };
    for (const LaunchRun& run : c.runs) {
        const double times = std::floor(run.times);
        for (double r = 0; r < times; ++r) {
            if (!room) {
                left += (times - r) * static_cast<double>(run.end - run.first);
                break;
            }
            for (std::size_t i = run.first; i < run.end; ++i) {
                const double waiting = c.pipelined.idle[i] / times;
                if (!parts.empty()) {
                    drawParts(i, r);
                    continue;
                }
                const std::int32_t row = training ? static_cast<std::int32_t>(launches[i].part) : 0;
                if (waits && waiting > 0) draw(rows, launches[i].op, waiting, r);
                // The start of a graph belongs to its first kernel.
                const double first = i == 0 && r == 0 ? c.graphLaunch : 0;
                draw(row, launches[i].op, c.prices[i].seconds + first, r);
            }
        }
    }
    sortSpans(timeline);
    if (!room) {
        timeline.truncated = true;
        timeline.rows.push_back(fmt::format("{:.0f} more not drawn", std::max(left, 1.0)));
    }
    return timeline;
}

}  // namespace orrery
