#include "serving/traffic/traces.h"
#include "serving/traffic/traffic.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 8> arrivalWords{"poisson", "gamma",       "constant",    "bursts",
                                                       "diurnal", "closed-loop", "all-at-once", "trace"};
constexpr std::array<std::string_view, 5> lengthWords{"fixed", "uniform", "zipf", "log-normal", "trace"};

Unexpected wrong(std::string_view field, std::string message, std::string expected, std::string hint = {}) {
    return fail("traffic.value", std::move(message), std::move(expected), std::move(hint),
                Place{{}, 0, 0, fmt::format("traffic/{}", field)});
}

struct Range {
    std::string_view field;
    double value, least, most;
    bool aboveLeast = false;  ///< `least` itself is not allowed
};

// Not in range, or not a number.
Expected<void> within(const Range& range) {
    if (range.value >= range.least && range.value <= range.most && !(range.aboveLeast && range.value == range.least)) {
        return {};
    }
    return wrong(range.field, fmt::format("{} is {}", range.field, range.value),
                 range.aboveLeast ? fmt::format("more than {}, at most {}", range.least, range.most)
                                  : fmt::format("{} to {}", range.least, range.most));
}

Expected<void> checkLength(const LengthSpec& spec, std::string_view field) {
    constexpr double most = 1 << 24;
    const auto name = [&](std::string_view part) { return fmt::format("{}/{}", field, part); };
    const std::string mean = name("mean"), cv = name("cv"), theta = name("theta"), least = name("least"),
                      last = name("most");
    if (spec.kind == LengthKind::Fixed || spec.kind == LengthKind::LogNormal) {
        if (auto ok = within({mean, spec.mean, 1, most}); !ok) return ok;
    }
    if (spec.kind == LengthKind::LogNormal) {
        if (auto ok = within({cv, spec.cv, 0, 100}); !ok) return ok;
    }
    if (spec.kind == LengthKind::Fixed || spec.kind == LengthKind::Trace) return {};
    if (auto ok = within({least, static_cast<double>(spec.least), 1, most}); !ok) return ok;
    if (auto ok = within({last, static_cast<double>(spec.most), static_cast<double>(spec.least), most}); !ok) return ok;
    if (spec.kind == LengthKind::Zipf) return within({theta, spec.theta, 0, 10});
    return {};
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
    const double most = 1e9;
    std::vector<Range> ranges{{"requests", static_cast<double>(spec.requests), 0, 5e7},
                              {"duration", spec.duration, 0, 8e6},
                              {"ratio", spec.ratio, 0, 1e6},
                              {"sessions/turns", spec.sessions.turns, 1, 1000},
                              {"sessions/think", spec.sessions.think, 0, 1e6},
                              {"sessions/context", static_cast<double>(spec.sessions.context), 0, most},
                              {"agents/calls", spec.agents.calls, 0, 1000},
                              {"agents/tool_seconds", spec.agents.toolSeconds, 0, 1e6},
                              {"agents/tool_tokens", static_cast<double>(spec.agents.toolTokens), 0, 1 << 20},
                              {"agents/call_tokens", static_cast<double>(spec.agents.callTokens), 1, 1 << 20},
                              {"agents/samples", static_cast<double>(spec.agents.samples), 1, 4096},
                              {"agents/reasoning", spec.agents.reasoning, 0, 1000},
                              {"edit/from", spec.edit.from, 0, 8e6},
                              {"edit/until", spec.edit.until, 0, 8e6},
                              {"edit/skip", static_cast<double>(spec.edit.skip), 0, most},
                              {"edit/rate", spec.edit.rate, 1e-6, 1e6},
                              {"edit/prompt", spec.edit.prompt, 1e-6, 1e6},
                              {"edit/output", spec.edit.output, 1e-6, 1e6},
                              {"edit/most_prompt", static_cast<double>(spec.edit.mostPrompt), 0, 3e9},
                              {"edit/most_output", static_cast<double>(spec.edit.mostOutput), 0, 3e9},
                              {"edit/most_text", static_cast<double>(spec.edit.mostText), 0, 3e9},
                              {"shared_prompt", static_cast<double>(spec.sharedPrompt), 0, 1 << 20},
                              {"prompt_groups", static_cast<double>(spec.promptGroups), 1, most},
                              {"tenants", static_cast<double>(spec.tenants), 0, most},
                              {"hash_tokens", static_cast<double>(spec.hashTokens), 1, 1 << 16}};
    if (rated) {
        ranges.push_back({"arrivals/rate", arrivals.rate, 0, 1e6, true});
        ranges.push_back({"arrivals/longest_gap", arrivals.longestGap, 0, 1e6});
    }
    if (arrivals.kind == ArrivalKind::Gamma) ranges.push_back({"arrivals/cv", arrivals.cv, 0.01, 100});
    if (arrivals.kind == ArrivalKind::Bursts) {
        ranges.push_back({"arrivals/burst_factor", arrivals.burstFactor, 1, 1e4});
        ranges.push_back({"arrivals/burst_share", arrivals.burstShare, 0.001, 0.999});
        ranges.push_back({"arrivals/burst_seconds", arrivals.burstSeconds, 0.001, 1e6});
    }
    if (arrivals.kind == ArrivalKind::Diurnal) {
        ranges.push_back({"arrivals/swing", arrivals.swing, 0, 1});
        ranges.push_back({"arrivals/period", arrivals.period, 0, 8e6, true});
        ranges.push_back({"arrivals/phase", arrivals.phase, -1, 1});
    }
    if (arrivals.kind == ArrivalKind::ClosedLoop) {
        ranges.push_back({"arrivals/concurrency", static_cast<double>(arrivals.concurrency), 1, 1e6});
    }
    for (const Range& range : ranges) {
        if (auto ok = within(range); !ok) return ok;
    }
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
    if (auto ok = checkLength(spec.prompt, "prompt"); !ok) return ok;
    if (spec.ratio == 0) {
        if (auto ok = checkLength(spec.output, "output"); !ok) return ok;
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
