#include "serving/traffic/traffic.h"

#include "serving/traffic/conversations.h"
#include "serving/traffic/python_random.h"
#include "serving/traffic/traces.h"
#include "serving/traffic/traffic_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr std::int64_t mostRequests = 50'000'000;

RequestStream described(const TrafficSpec& spec) {
    RequestStream stream;
    stream.name = spec.name.empty() ? fmt::format("{} traffic", toText(spec.arrivals.kind)) : spec.name;
    stream.source = "generated";
    return stream;
}

// VIDUR's synthetic_request_generator: a gap, then a length, from one seeded generator; its int() cuts a fraction off
// the prompt after the output was rounded up.
RequestStream asVidur(const TrafficSpec& spec, std::uint64_t seed) {
    RequestStream stream = described(spec);
    PythonRandom random(seed);
    double now = 0;
    for (std::int64_t i = 0; i < spec.requests; ++i) {
        if (spec.arrivals.kind == ArrivalKind::Poisson) {
            now += std::min(-std::log(1 - random.random()) / spec.arrivals.rate, 3 / spec.arrivals.rate);
        } else {
            now += 1 / spec.arrivals.rate;
        }
        double prompt = spec.prompt.mean, output = spec.output.mean;
        if (spec.prompt.kind == LengthKind::Uniform) {
            const double total = random.uniform(spec.prompt.least, spec.prompt.most);
            output = std::ceil(total / (1 + spec.ratio));
            prompt = total - output;
        }
        stream.arrival.push_back(toTicks(now));
        stream.prompt.push_back(std::max(static_cast<std::int32_t>(prompt), 1));
        stream.output.push_back(std::max(static_cast<std::int32_t>(output), 1));
    }
    return stream;
}

// Everything is the trace's: its other columns, hashes and ids are kept then.
bool isTrace(const TrafficSpec& spec) {
    return spec.arrivals.kind == ArrivalKind::Trace && spec.prompt.kind == LengthKind::Trace &&
           spec.output.kind == LengthKind::Trace && spec.ratio <= 0 && !hasConversations(spec) && spec.tenants == 0;
}

Expected<RequestStream> generated(const TrafficSpec& spec, std::uint64_t seed, const RequestStream* trace) {
    RequestStream stream = described(spec);
    if (trace) stream.source = trace->source;
    const RandomStream random(seed, 0x7261666669ull);
    const bool asInTrace = spec.arrivals.kind == ArrivalKind::Trace;
    ArrivalTimes times(spec.arrivals, random.split(1));
    LengthSource lengths(spec, trace, asInTrace, random.split(2));
    Conversations conversations(spec, random.split(3), stream);
    const std::size_t most = asInTrace ? trace->size() : static_cast<std::size_t>(mostRequests);
    for (std::size_t i = 0; i < most && !conversations.full(); ++i) {
        const SimTime at = asInTrace ? trace->arrival[i] : toTicks(times.next());
        if (spec.duration > 0 && toSeconds(at) >= spec.duration) break;
        if (auto added = conversations.add(at, lengths); !added) return Unexpected(std::move(added.error()));
        if (static_cast<std::int64_t>(stream.size()) > mostRequests) {
            return fail("traffic.too-much", "over 50 million requests", "a shorter time or a lower rate",
                        "set a number of requests", Place{{}, 0, 0, "traffic/duration"});
        }
    }
    if (spec.arrivals.kind == ArrivalKind::ClosedLoop && !hasConversations(spec)) {
        stream.concurrency = spec.arrivals.concurrency;
    }
    return stream;
}

}  // namespace

bool needsTrace(const TrafficSpec& spec) {
    return spec.arrivals.kind == ArrivalKind::Trace || spec.prompt.kind == LengthKind::Trace ||
           (spec.output.kind == LengthKind::Trace && spec.ratio <= 0);
}

Expected<RequestStream> makeTraffic(const TrafficSpec& spec, std::uint64_t seed) {
    if (auto checked = check(spec); !checked) return Unexpected(std::move(checked.error()));
    RequestStream stream;
    if (needsTrace(spec)) {
        auto trace = readTrace(spec.trace);
        if (!trace) return trace;
        const bool timed = std::any_of(trace->arrival.begin(), trace->arrival.end(), [](SimTime t) { return t > 0; });
        if (spec.arrivals.kind == ArrivalKind::Trace && !timed && trace->size() > 1) {
            return fail("traffic.arrivals", "the trace has lengths only: all its arrivals are at time 0",
                        "arrivals of another kind", "choose poisson, or all-at-once",
                        Place{spec.trace.file, 0, 0, "traffic/arrivals"});
        }
        if (isTrace(spec)) {
            if (!spec.name.empty()) trace->name = spec.name;
            stream = edited(std::move(*trace), spec.edit, spec.requests, spec.duration);
        } else {
            // Slices are of the trace; what is drawn from it is scaled with everything else.
            TrafficEdit slice;
            slice.from = spec.edit.from;
            slice.until = spec.edit.until;
            slice.skip = spec.edit.skip;
            *trace = edited(std::move(*trace), slice, 0, 0);
            if (trace->size() == 0) {
                return fail("traffic.empty", "the slice of the trace holds no request", "an earlier or longer slice",
                            {}, Place{spec.trace.file, 0, 0, "traffic/edit"});
            }
            auto made = generated(spec, seed, &*trace);
            if (!made) return made;
            TrafficEdit rest = spec.edit;
            rest.from = rest.until = 0;
            rest.skip = 0;
            stream = edited(std::move(*made), rest, 0, 0);
        }
    } else if (spec.compatibility == "vidur") {
        stream = edited(asVidur(spec, seed), spec.edit, 0, spec.duration);
    } else {
        auto made = generated(spec, seed, nullptr);
        if (!made) return made;
        stream = edited(std::move(*made), spec.edit, 0, 0);
    }
    if (stream.size() == 0) {
        return fail("traffic.empty", "no request is left", "at least one",
                    "keep more of the trace, or raise rate, duration or the limits of lengths",
                    Place{spec.trace.file, 0, 0, "traffic"});
    }
    if (auto checked = stream.check(); !checked) return Unexpected(std::move(checked.error()));
    return stream;
}

}  // namespace orrery
