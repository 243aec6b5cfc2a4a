#include "app/window/core/core_traces.h"

#include <algorithm>
#include <cstddef>

namespace orrery::app {

LaneTrace pipelineLanes(const ui::PipelinePicture& picture) {
    LaneTrace trace{"operations in a core's pipeline: one nanosecond means one cycle", 1e-9, {}, {}};
    for (const QString& port : picture.portNames) trace.lanes.push_back({"ports", port.toStdString()});
    const auto ports = trace.lanes.size();
    std::vector<std::uint64_t> free;  // of each lane of operations, from when on
    const auto cycle = [](std::uint64_t at) { return static_cast<std::int64_t>(at); };
    for (std::size_t i = 0; i < picture.rows.size(); ++i) {
        const ui::PipelineRow& row = picture.rows[i];
        const pipeline::Passage& at = row.passage;
        const std::string text = row.text.toStdString(), number = std::to_string(picture.first + i);
        const auto add = [&](std::size_t lane, std::uint64_t from, std::uint64_t to, const std::string& name,
                             const char* stage) {
            if (to > from)
                trace.stretches.push_back(
                    {static_cast<std::int32_t>(lane), cycle(from), cycle(to), name, stage, {{"operation", number}}});
        };
        if (at.port >= 0 && static_cast<std::size_t>(at.port) < ports)
            add(static_cast<std::size_t>(at.port), at.issue,
                at.issue + static_cast<std::uint64_t>(std::max(row.occupancy, 1)), text, "executes");
        auto lane = static_cast<std::size_t>(
            std::ranges::find_if(free, [&](std::uint64_t from) { return from <= at.fetch; }) - free.begin());
        if (lane == free.size()) {
            free.push_back(0);
            trace.lanes.push_back({"operations in flight", "slot " + std::to_string(lane)});
        }
        free[lane] = std::max(at.retire, at.fetch + 1);
        lane += ports;
        add(lane, at.fetch, at.retire, text, "operation");
        add(lane, at.fetch, at.dispatch, "front end", "front end");
        add(lane, at.dispatch, at.issue, "waits", "waits");
        add(lane, at.issue, at.complete, "executes", "executes");
        add(lane, at.complete, at.retire, "done", "done");
    }
    return trace;
}

LaneTrace commandLanes(const ui::CommandPicture& picture) {
    LaneTrace trace{"commands of a memory channel", picture.cycleSeconds > 0 ? picture.cycleSeconds : 1e-9, {}, {}};
    for (const QString& bank : picture.banks) trace.lanes.push_back({"banks", bank.toStdString()});
    const std::size_t banks = trace.lanes.size();
    const int buses = std::max(picture.buses, 1);
    for (int bus = 0; bus < buses; ++bus)
        trace.lanes.push_back({"data", buses > 1 ? "bus " + std::to_string(bus) : "bus"});
    std::int64_t end = 0;
    for (const RuledIssued& one : picture.issued)
        end = std::max(end, one.cycle + std::max(picture.readLag, picture.writeLag) + picture.burst);
    const auto open = ui::openSpans(picture, end);
    for (std::size_t bank = 0; bank < std::min(open.size(), banks); ++bank)
        for (const ui::OpenSpan& span : open[bank])
            trace.stretches.push_back({static_cast<std::int32_t>(bank), span.from, span.to, "row open", "open", {}});
    const int each = std::max(1, static_cast<int>(banks) / buses);
    for (const RuledIssued& one : picture.issued) {
        TraceStretch command{one.bank,  one.cycle, one.cycle + 1, ui::commandName(one.command).toStdString(),
                             "command", {}};
        if (one.reach > 1) command.arguments.emplace_back("banks", std::to_string(one.reach));
        if (one.heldBy >= 0 && one.heldBy < static_cast<int>(picture.holders.size())) {
            command.arguments.emplace_back("held by",
                                           picture.holders[static_cast<std::size_t>(one.heldBy)].toStdString());
            command.arguments.emplace_back("held cycles", std::to_string(one.held));
        }
        trace.stretches.push_back(std::move(command));
        const bool write = isWrite(one.command);
        if (!write && !isRead(one.command)) continue;
        const std::int64_t from = one.cycle + (write ? picture.writeLag : picture.readLag);
        const int bus = std::min(one.bank / each, buses - 1);
        trace.stretches.push_back(
            {static_cast<std::int32_t>(banks) + bus, from, from + picture.burst, write ? "write" : "read", "data", {}});
    }
    return trace;
}

}  // namespace orrery::app
