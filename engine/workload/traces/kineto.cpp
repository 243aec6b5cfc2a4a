#include "workload/traces/kineto.h"

#include "base/text/json_cursor.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace orrery {

namespace {

struct KinetoEvent {
    std::string name, category, phase;
    double begin = 0, duration = 0;
    std::int64_t recordFunction = -1, external = -1, correlation = -1, stream = 0;
};

/// Numbers are written as such or as texts, by version; others are passed over.
std::int64_t wholeOf(JsonCursor& json, std::int64_t fallback) {
    if (json.kind() == JsonCursor::Kind::Number) {
        const double value = json.number();
        return value > -9e15 && value < 9e15 ? static_cast<std::int64_t>(value) : fallback;
    }
    if (json.kind() == JsonCursor::Kind::Text) return wholeIn(trimmed(json.text())).value_or(fallback);
    json.skip();
    return fallback;
}

void readArguments(JsonCursor& json, KinetoEvent& event) {
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "External id" || key == "external id") {
            event.external = wholeOf(json, -1);
        } else if (key == "Record function id") {
            event.recordFunction = wholeOf(json, -1);
        } else if (key == "correlation") {
            event.correlation = wholeOf(json, -1);
        } else if (key == "stream") {
            event.stream = wholeOf(json, 0);
        } else {
            json.skip();
        }
    }
}

KinetoEvent readEvent(JsonCursor& json) {
    KinetoEvent event;
    std::string_view key;
    for (json.object(); json.key(key);) {
        const JsonCursor::Kind kind = json.kind();
        if (key == "args" && kind == JsonCursor::Kind::Object) {
            readArguments(json, event);
        } else if ((key == "ts" || key == "dur") && kind == JsonCursor::Kind::Number) {
            (key == "ts" ? event.begin : event.duration) = json.number();
        } else if ((key == "name" || key == "cat" || key == "ph") && kind == JsonCursor::Kind::Text) {
            (key == "name" ? event.name : key == "cat" ? event.category : event.phase) = json.text();
        } else {
            json.skip();
        }
    }
    if (event.phase == "X" && event.duration < 0)
        json.fail("value", fmt::format("`{}` takes {} us", event.name.substr(0, 80), event.duration), "0 or more");
    return event;
}

}  // namespace

Expected<KinetoTimeline> parseKineto(std::string_view text, std::string_view file) {
    JsonCursor json(text, file, "trace");
    KinetoTimeline line;
    std::unordered_map<std::int64_t, double> launches;
    std::vector<std::int64_t> correlations;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key != "traceEvents") {
            json.skip();
            continue;
        }
        for (json.array(); json.element();) {
            KinetoEvent event = readEvent(json);
            if (!json.ok() || event.phase != "X") continue;
            const std::string category = lower(event.category);
            if (category == "cpu_op" || category == "user_annotation") {
                if (event.recordFunction >= 0 || event.external >= 0)
                    line.operators.push_back({event.recordFunction, event.external, event.begin, event.duration});
            } else if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset") {
                line.kernels.push_back(
                    {std::move(event.name), event.external, event.stream, event.begin, event.duration, -1});
                correlations.push_back(event.correlation);
            } else if (category == "cuda_runtime" || category == "cuda_driver") {
                if (event.correlation >= 0) launches.emplace(event.correlation, event.begin);
            }
        }
    }
    json.end();
    if (!json.ok()) return tl::unexpected(json.problem());
    if (line.operators.empty() && line.kernels.empty())
        return fail("trace.empty", "the timeline holds no operator and no kernel", "a trace of PyTorch's profiler", {},
                    {std::string(file), 0, 0, {}});
    for (std::size_t k = 0; k < line.kernels.size(); ++k)
        if (const auto at = launches.find(correlations[k]); at != launches.end()) line.kernels[k].launched = at->second;
    std::stable_sort(line.kernels.begin(), line.kernels.end(),
                     [](const KinetoKernel& a, const KinetoKernel& b) { return a.begin < b.begin; });
    return line;
}

}  // namespace orrery
