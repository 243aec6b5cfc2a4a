#pragma once

// What a person says about traffic, as plain values: how requests arrive, how long they are, whether they come from a
// file, belong to conversations or to agents. makeTraffic() turns it into the requests themselves; the same spec and
// seed give the same bytes on every machine.

#include "serving/traffic/request_stream.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

enum class ArrivalKind : std::uint8_t {
    Poisson,     ///< memoryless at `rate`
    Gamma,       ///< gaps of a gamma distribution: mean 1 / rate, coefficient of variation `cv`
    Constant,    ///< every 1 / rate
    Bursts,      ///< Poisson between two rates: bursts of `burstFactor` times the calm one; the mean stays `rate`
    Diurnal,     ///< Poisson with rate · (1 + swing · sin 2π(t / period + phase))
    ClosedLoop,  ///< `concurrency` requests (or sessions) in flight; the next begins when one ends
    AllAtOnce,   ///< everything at time 0: offline
    Trace        ///< as the trace has them
};
struct ArrivalSpec {
    ArrivalKind kind = ArrivalKind::Poisson;
    double rate = 1;  ///< requests per second (with sessions: sessions per second), the mean over time
    double cv = 1;    ///< Gamma: standard deviation ÷ mean of the gaps
    double burstFactor = 5, burstShare = 0.1, burstSeconds = 10;  ///< Bursts: share of the time, mean length of one
    double swing = 0.5, period = 86400, phase = 0;                ///< Diurnal: 0…1, seconds, part of a period
    std::int32_t concurrency = 16;                                ///< ClosedLoop
    double longestGap = 0;  ///< gaps are cut at this many mean gaps (VIDUR: 3); 0: never
    bool operator==(const ArrivalSpec&) const = default;
};

enum class LengthKind : std::uint8_t {
    Fixed,      ///< `mean`
    Uniform,    ///< least … most
    Zipf,       ///< least … most, the k-th smallest with weight k^−theta
    LogNormal,  ///< mean `mean`, coefficient of variation `cv`, cut to least … most
    Trace       ///< a row of the trace: in its order if arrivals are the trace's too, else drawn at random
};
/// Of a number of tokens. Which fields count is said at the kinds.
struct LengthSpec {
    LengthKind kind = LengthKind::Uniform;
    double mean = 512, cv = 1, theta = 0.4;
    std::int32_t least = 1, most = 4096;
    bool operator==(const LengthSpec&) const = default;
};

/// A file of requests. `kind` is an id of traceKinds(), or `auto` for the one whose columns the file has.
struct TraceSpec {
    std::string file;  ///< empty: none
    std::string kind = "auto";
    /// Names of columns, for kind `columns`, and where set for any table: they win over those of the kind.
    std::string arrival, prompt, output, id, tenant, priority;
    std::string unit;      ///< of arrival: s, ms, us, ns, or `date`; empty: as the kind has it
    bool sort = false;     ///< puts rows in order of arrival instead of refusing a file that is not
    bool lenient = false;  ///< leaves out rows without output or prompt (failed requests) instead of refusing them
    bool operator==(const TraceSpec&) const = default;
};

/// Conversations: each turn's prompt is all that was said before, and something new; it comes when the user has read
/// the answer and thought. Lengths are then of what is new in a turn, rates are of sessions.
struct SessionSpec {
    double turns = 1;          ///< mean number; 1: no conversations
    bool geometric = true;     ///< otherwise every session has round(turns)
    double think = 10;         ///< seconds, mean of an exponential distribution
    std::int32_t context = 0;  ///< tokens of text at which a session ends; 0: no limit
    bool operator==(const SessionSpec&) const = default;
};

/// Loops of an agent within a turn: the model calls a tool, waits for its result, reads it and goes on; and test-time
/// scaling: `samples` answers to one prompt, side by side. What follows waits for the longest of them.
struct AgentSpec {
    double calls = 0;  ///< mean tool calls per turn
    bool geometric = true;
    double toolSeconds = 1;         ///< mean of an exponential distribution
    std::int32_t toolTokens = 256;  ///< mean tokens that a result adds to the prompt, exponential
    std::int32_t callTokens = 64;   ///< tokens of output that make a call
    std::int32_t samples = 1;
    double reasoning = 0;  ///< tokens of thought per token of answer, added to the output and dropped from the history
    bool operator==(const AgentSpec&) const = default;
};

/// Parts of what was made or read, and its scale. In this order: slice, scale, cut.
struct TrafficEdit {
    double from = 0, until = 0;  ///< seconds since the first arrival; until 0: to the end. Time restarts at 0
    std::int64_t skip = 0;       ///< requests left out at the beginning
    double rate = 1, prompt = 1, output = 1;                    ///< factors; lengths are rounded, and at least 1
    std::int32_t mostPrompt = 0, mostOutput = 0, mostText = 0;  ///< requests beyond are left out; 0: no limit
    bool operator==(const TrafficEdit&) const = default;
};

struct TrafficSpec {
    std::string name;
    std::int64_t requests = 1000;  ///< at most; 0: all of a trace, or as many as `duration` has
    double duration = 0;           ///< seconds of arrivals; 0: no limit
    ArrivalSpec arrivals;
    LengthSpec prompt{.kind = LengthKind::Uniform, .mean = 512, .cv = 1, .theta = 0.4, .least = 128, .most = 1024};
    LengthSpec output{.kind = LengthKind::Uniform, .mean = 128, .cv = 1, .theta = 0.4, .least = 32, .most = 256};
    /// 0: prompt and output are drawn apart. Otherwise `prompt` describes both together, and there are this many prompt
    /// tokens for each of output (prefill : decode).
    double ratio = 0;
    TraceSpec trace;
    SessionSpec sessions;
    AgentSpec agents;
    TrafficEdit edit;
    std::int32_t sharedPrompt = 0;  ///< tokens that all prompts of a group begin with, in front of what is drawn
    std::int32_t promptGroups = 1;  ///< different ones
    std::int32_t tenants = 0;       ///< drawn at random per session; 0: no column
    std::int32_t hashTokens = 16;   ///< tokens per hash where prompts share text
    std::string compatibility;      ///< `vidur`: Python's `random`, seeded, as VIDUR 7d47513 draws
    bool operator==(const TrafficSpec&) const = default;
};

/// Whether anything of the trace is read: times of arrival, or lengths.
bool needsTrace(const TrafficSpec& spec);
/// Codes `traffic.*` (numbers that make no sense, with the field in place.path) and those of readTrace().
Expected<void> check(const TrafficSpec& spec);
Expected<RequestStream> makeTraffic(const TrafficSpec& spec, std::uint64_t seed);

std::string_view toText(ArrivalKind kind);  ///< `poisson`, `closed-loop`
std::string_view toText(LengthKind kind);   ///< `log-normal`

}  // namespace orrery
