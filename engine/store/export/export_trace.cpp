#include "store/export/exports.h"
#include "store/export/json_parts.h"
#include "store/export/trace_parts.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace orrery {

namespace {

struct Rows {
    std::vector<int> process;            // of each row
    std::vector<std::string> processes;  // names, pid − 1
    std::vector<std::string> threads;    // name of each row
};

Rows rowsOf(const Scenario& scenario, const Timeline& timeline) {
    Rows rows;
    std::map<std::string, int> known;
    for (const std::string& row : timeline.rows) {
        const auto slash = row.find('/');
        const std::string hardware = scenario.hardware ? scenario.hardware->name : "device";
        const std::string device = slash == std::string::npos ? hardware : row.substr(0, slash);
        const auto [at, added] = known.emplace(device, static_cast<int>(rows.processes.size()) + 1);
        if (added) rows.processes.push_back(device);
        rows.process.push_back(at->second);
        rows.threads.push_back(slash == std::string::npos ? row : row.substr(slash + 1));
    }
    return rows;
}

}  // namespace

std::string chromeTrace(const Scenario& scenario, const Estimate& estimate) {
    using store::traceText;
    const Timeline& timeline = estimate.timeline;
    const Rows rows = rowsOf(scenario, timeline);
    store::TraceEvents events(fmt::format(
        "\"otherData\":{{\"scenario\":{},\"method\":{},\"program\":{},\"truncated\":{}}}", traceText(scenario.name()),
        traceText(estimate.method), traceText("Orrery " ORRERY_VERSION), timeline.truncated));
    for (std::size_t i = 0; i < rows.processes.size(); ++i) events.process(static_cast<int>(i) + 1, rows.processes[i]);
    for (std::size_t i = 0; i < rows.threads.size(); ++i) events.thread(rows.process[i], i + 1, rows.threads[i], i);
    for (const TimelineSpan& span : timeline.spans) {
        const auto row = static_cast<std::size_t>(span.row);
        if (span.row < 0 || row >= rows.process.size()) continue;
        std::string name(store::workText(span.op)), category = "none", arguments;
        if (span.op >= 0) {
            const auto op = static_cast<std::size_t>(span.op);
            const auto label = store::operatorLabel(scenario, op);
            name = label.name;
            category = toText(label.kind);
            arguments = fmt::format(R"("type":{},"bound":{},"repetition":{})", traceText(label.type),
                                    traceText(store::boundText(estimate, op)), span.repetition);
        }
        events.add(fmt::format(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                               traceText(name), traceText(category), rows.process[row], row + 1,
                               store::traceMicroseconds(span.startPs),
                               store::traceMicroseconds(span.endPs - span.startPs), arguments));
    }
    return std::move(events).text();
}

}  // namespace orrery
