#include "store/export/exports.h"
#include "store/export/json_parts.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <map>

namespace orrery {

namespace {

std::string jsonText(std::string_view text) {
    return store::dumped(store::Json(text), -1);
}

// Microseconds with all six digits of the picoseconds: a double would round long traces.
std::string microseconds(std::int64_t ps) {
    const bool negative = ps < 0;
    const auto size = static_cast<std::uint64_t>(negative ? -ps : ps);
    return fmt::format("{}{}.{:06}", negative ? "-" : "", size / 1000000, size % 1000000);
}

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
    const Timeline& timeline = estimate.timeline;
    const Rows rows = rowsOf(scenario, timeline);
    std::string out = "{\"displayTimeUnit\":\"ns\",\"otherData\":{";
    fmt::format_to(std::back_inserter(out), "\"scenario\":{},\"method\":{},\"program\":{}", jsonText(scenario.name()),
                   jsonText(estimate.method), jsonText("Orrery " ORRERY_VERSION));
    fmt::format_to(std::back_inserter(out), ",\"truncated\":{}}},\n\"traceEvents\":[", timeline.truncated);
    std::string_view separator = "\n";
    const auto event = [&](const std::string& text) {
        out += separator;
        out += text;
        separator = ",\n";
    };
    for (std::size_t i = 0; i < rows.processes.size(); ++i) {
        event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})", i + 1,
                          jsonText(rows.processes[i])));
    }
    for (std::size_t i = 0; i < rows.threads.size(); ++i) {
        event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                          rows.process[i], i + 1, jsonText(rows.threads[i])));
        event(fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
                          rows.process[i], i + 1, i));
    }
    for (const TimelineSpan& span : timeline.spans) {
        const auto row = static_cast<std::size_t>(span.row);
        if (span.row < 0 || row >= rows.process.size()) continue;
        std::string name(store::workText(span.op)), category = "none", arguments;
        if (span.op >= 0) {
            const auto op = static_cast<std::size_t>(span.op);
            const auto label = store::operatorLabel(scenario, op);
            name = label.name;
            category = toText(label.kind);
            arguments = fmt::format(R"("type":{},"bound":{},"repetition":{})", jsonText(label.type),
                                    jsonText(store::boundText(estimate, op)), span.repetition);
        }
        event(fmt::format(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                          jsonText(name), jsonText(category), rows.process[row], row + 1, microseconds(span.startPs),
                          microseconds(span.endPs - span.startPs), arguments));
    }
    return out + "\n]}\n";
}

}  // namespace orrery
