#include "serving/fields/field.h"
#include "serving/traffic/traffic.h"

#include <fmt/format.h>

#include <array>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 8> arrivalWords{"poisson", "gamma",       "constant",    "bursts",
                                                       "diurnal", "closed-loop", "all-at-once", "trace"};
constexpr std::array<std::string_view, 5> lengthWords{"fixed", "uniform", "zipf", "log-normal", "trace"};

Unexpected wrong(std::string_view field, std::string message, std::string expected, std::string hint = {}) {
    return fail("traffic.value", std::move(message), std::move(expected), std::move(hint),
                Place{{}, 0, 0, fmt::format("traffic/{}", field)});
}

Expected<void> checkBounds(const LengthSpec& spec, std::string_view field) {
    if (spec.kind == LengthKind::Fixed || spec.kind == LengthKind::Trace || spec.least <= spec.most) return {};
    return wrong(fmt::format("{}/most", field), fmt::format("{}/most is {}", field, spec.most),
                 fmt::format("{} or more, as `least` is", spec.least));
}

Expected<void> checkCompatibility(const TrafficSpec& spec) {
    if (spec.compatibility.empty()) return {};
    if (spec.compatibility != "vidur") {
        return wrong("compatibility", fmt::format("{} is not known", spec.compatibility), "vidur, or nothing");
    }
    const bool uniform = spec.prompt.kind == LengthKind::Uniform && spec.ratio > 0;
    const bool fixed =
        spec.prompt.kind == LengthKind::Fixed && spec.output.kind == LengthKind::Fixed && spec.ratio == 0;
    if ((spec.arrivals.kind == ArrivalKind::Poisson || spec.arrivals.kind == ArrivalKind::Constant) &&
        (uniform || fixed) && spec.requests > 0 && spec.tenants == 0 && spec.sessions == SessionSpec{} &&
        spec.agents == AgentSpec{} && spec.sharedPrompt == 0) {
        return {};
    }
    return wrong("compatibility", "VIDUR's draws are followed for part of its generators",
                 "poisson or constant arrivals; uniform lengths with a ratio, or fixed ones; a number of requests",
                 "leave compatibility out, or take a trace that VIDUR wrote");
}

}  // namespace

std::string_view toText(ArrivalKind kind) {
    return arrivalWords[static_cast<std::size_t>(kind)];
}
std::string_view toText(LengthKind kind) {
    return lengthWords[static_cast<std::size_t>(kind)];
}

Expected<void> check(const TrafficSpec& spec) {
    const ArrivalSpec& arrivals = spec.arrivals;
    const bool trace = arrivals.kind == ArrivalKind::Trace;
    const bool rated = !trace && arrivals.kind != ArrivalKind::ClosedLoop && arrivals.kind != ArrivalKind::AllAtOnce;
    if (auto ok = checkFields(spec, "traffic"); !ok) return ok;
    if (spec.requests == 0 && !trace && (spec.duration <= 0 || !rated)) {
        return wrong("requests", "neither a number of requests nor a time ends this traffic", "requests above 0",
                     "say how many requests, or how long they arrive");
    }
    if (rated && spec.requests == 0 && spec.duration * arrivals.rate > 5e7) {
        return wrong("duration", "over 50 million requests", "a shorter time or a lower rate");
    }
    // The last arrival must be a time that the clock can show.
    if (rated && spec.requests > 0 && static_cast<double>(spec.requests) / arrivals.rate > 8e6 && spec.duration <= 0) {
        return wrong("arrivals/rate", "the last request would arrive after more than 90 days", "a higher rate",
                     "ask for fewer requests, or set a duration");
    }
    if (spec.edit.until > 0 && spec.edit.until <= spec.edit.from) {
        return wrong("edit/until", "the slice ends before it begins", fmt::format("more than {} s", spec.edit.from));
    }
    if (auto ok = checkBounds(spec.prompt, "prompt"); !ok) return ok;
    if (spec.ratio == 0) {
        if (auto ok = checkBounds(spec.output, "output"); !ok) return ok;
    }
    const bool reads =
        trace || spec.prompt.kind == LengthKind::Trace || (spec.ratio == 0 && spec.output.kind == LengthKind::Trace);
    if (reads && spec.trace.file.empty()) {
        return wrong("trace/file", "arrivals or lengths are a trace's, and no trace is named", "a file",
                     "name one, or choose another kind");
    }
    return checkCompatibility(spec);
}

}  // namespace orrery
