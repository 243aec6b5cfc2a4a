#include "serving/traffic/trace_part.h"

#include "serving/traffic/traces.h"
#include "serving/traffic/traffic_edit.h"

#include <fmt/format.h>

namespace orrery {

std::optional<Diagnostic> partOfTrace(const TrafficSpec& spec, std::size_t requests) {
    if (spec.arrivals.kind != ArrivalKind::Trace || (spec.requests == 0 && spec.duration <= 0)) return std::nullopt;
    const auto trace = readTrace(spec.trace);
    if (!trace) return std::nullopt;
    // A slice, or a limit of lengths, is asked for in so many words.
    const std::size_t all = edited(*trace, spec.edit, 0, 0).size();
    if (requests >= all) return std::nullopt;
    return warning("traffic.part-of-trace", fmt::format("{} of the {} requests of the trace are served", requests, all),
                   "`requests: 0` takes the whole trace", Place{spec.trace.file, 0, 0, "traffic/requests"});
}

}  // namespace orrery
