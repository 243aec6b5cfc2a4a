#include "store/export/serving_trace.h"

#include "store/export/trace_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace orrery {

namespace {

using store::TraceEvents;
using store::traceMicroseconds;
using store::traceText;

std::string_view phaseOf(const BatchLog& log, std::size_t batch) {
    if (log.promptTokens[batch] == 0) return "decode";
    return log.decodeTokens[batch] == 0 ? "prefill" : "mixed";
}

// Viewers nest asynchronous spans of one identity in the order of the file: the outer one opens first, closes last.
void addRequest(TraceEvents& events, const RequestTable& requests, RequestIndex r, SimTime end, int process) {
    const SimTime arrived = requests.arrived[r], ended = requests.ended[r] >= 0 ? requests.ended[r] : end;
    if (arrived < 0 || ended < arrived) return;
    const auto side = [&](char phase, std::string_view name, SimTime at, const std::string& arguments = {}) {
        events.add(fmt::format(
            R"({{"ph":"{}","cat":"request","name":{},"id":"{}.{}","pid":{},"tid":0,"ts":{},"args":{{{}}}}})", phase,
            traceText(name), process, r, process, traceMicroseconds(at), arguments));
    };
    const auto span = [&](std::string_view name, SimTime from, SimTime to) {
        side('b', name, from);
        side('e', name, to);
    };
    const SimTime begun = requests.scheduled[r], first = requests.firstToken[r];
    const std::string name = fmt::format("request {}", r);
    side('b', name, arrived,
         fmt::format(R"("prompt_tokens":{},"output_tokens":{},"state":{})", requests.prompt[r], requests.output[r],
                     traceText(toText(requests.state[r]))));
    span("queued", arrived, begun >= 0 ? begun : ended);
    if (begun >= 0) span("prefill", begun, first >= 0 ? first : ended);
    if (first >= 0) span("decode", first, ended);
    side('e', name, ended);
}

void addIteration(TraceEvents& events, const BatchLog& log, std::size_t b, int process, std::size_t replica) {
    events.add(fmt::format(
        R"({{"ph":"X","name":"{}","cat":"iteration","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"prompt_tokens":{},"decode_tokens":{},"sequences":{},"waiting":{},"kv_blocks":{},"preempted":{}}}}})",
        phaseOf(log, b), process, replica + 1, traceMicroseconds(log.begin[b]),
        traceMicroseconds(log.end[b] - log.begin[b]), log.promptTokens[b], log.decodeTokens[b], log.sequences[b],
        log.waiting[b], log.usedBlocks[b], log.preempted[b]));
    events.add(fmt::format(R"({{"ph":"C","name":"KV blocks of replica {}","pid":{},"ts":{},"args":{{"blocks":{}}}}})",
                           replica + 1, process, traceMicroseconds(log.begin[b]), log.usedBlocks[b]));
}

int addRun(TraceEvents& events, const TracedRun& run, const std::string& before, int process) {
    const int requests = process++;
    events.process(requests, before + "requests");
    const auto& specs = run.fleet.replicas;
    const std::size_t count = std::max(run.result.replicas.size(), specs.size());
    std::map<std::string, int> pools;
    std::vector<int> processes(count, requests);
    for (std::size_t i = 0; i < count && !specs.empty(); ++i) {
        // What an autoscaler adds is alike the last that was planned.
        const ReplicaSpec& spec = specs[std::min(i, specs.size() - 1)];
        const std::string pool = !spec.pool.empty() ? spec.pool : !spec.name.empty() ? spec.name : "replicas";
        const auto [at, added] = pools.emplace(pool, process);
        if (added) events.process(process++, before + pool);
        processes[i] = at->second;
        events.thread(at->second, i + 1, fmt::format("replica {}", i + 1), i);
    }
    const BatchLog& log = run.result.batches;
    for (std::size_t b = 0; b < log.size(); ++b) {
        if (log.replica[b] < 0 || static_cast<std::size_t>(log.replica[b]) >= count) continue;
        const auto replica = static_cast<std::size_t>(log.replica[b]);
        addIteration(events, log, b, processes[replica], replica);
    }
    for (RequestIndex r = 0; r < run.result.requests.size(); ++r)
        addRequest(events, run.result.requests, r, run.result.end, requests);
    return process;
}

}  // namespace

std::string servingTrace(std::span<const TracedRun> runs) {
    TraceEvents events(fmt::format("\"otherData\":{{\"scenario\":{},\"program\":{}}}",
                                   traceText(runs.empty() ? std::string() : runs.front().name),
                                   traceText("Orrery " ORRERY_VERSION)));
    int process = 1;
    for (const TracedRun& run : runs)
        process = addRun(events, run, runs.size() > 1 ? run.name + ": " : std::string(), process);
    return std::move(events).text();
}

}  // namespace orrery
