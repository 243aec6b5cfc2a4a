// What arrives: traffic/traffic.h.

#include "serving/fields/field_rows.h"
#include "serving/traffic/traces.h"
#include "serving/traffic/traffic.h"

#include <array>

namespace orrery {

namespace {

using namespace fields;

constexpr double mostSeconds = 8e6, mostTokens = 1 << 24;

constexpr std::array<std::string_view, 8> arrivalTitles{
    "Poisson", "Gamma (burstier)", "Constant", "Bursts", "Day and night", "Closed loop", "All at once", "Trace file"};
constexpr std::array<std::string_view, 5> lengthTitles{"Fixed", "Uniform", "Zipf", "Log-normal", "Trace file"};

bool hasRate(const ArrivalSpec& s) {
    return s.kind != ArrivalKind::Trace && s.kind != ArrivalKind::ClosedLoop && s.kind != ArrivalKind::AllAtOnce;
}
bool isGamma(const ArrivalSpec& s) {
    return s.kind == ArrivalKind::Gamma;
}
bool hasBursts(const ArrivalSpec& s) {
    return s.kind == ArrivalKind::Bursts;
}
bool hasDays(const ArrivalSpec& s) {
    return s.kind == ArrivalKind::Diurnal;
}
bool isClosedLoop(const ArrivalSpec& s) {
    return s.kind == ArrivalKind::ClosedLoop;
}

constexpr FieldSpec arrivalRows[]{
    choice<&ArrivalSpec::kind>("kind", "Arrivals", "How requests arrive.", arrivalTitles),
    number<&ArrivalSpec::rate>("rate", "Requests per second",
                               "Requests per second, the mean over time; with conversations, conversations per second.")
        .above(0)
        .to(1e6)
        .called("Rate")
        .when<hasRate>(),
    number<&ArrivalSpec::cv>("cv", "Variation of the gaps",
                             "Standard deviation ÷ mean of the time between arrivals; 1 is Poisson.")
        .from(0.01)
        .to(100)
        .called("Variation")
        .when<isGamma>(),
    number<&ArrivalSpec::burstFactor>("burst_factor", "Height of bursts", "Rate within a burst ÷ rate outside of it.")
        .from(1)
        .to(1e4)
        .called("Burst")
        .in("shape")
        .when<hasBursts>(),
    share<&ArrivalSpec::burstShare>("burst_share", "Time in bursts", "Share of the time in bursts.")
        .from(0.001)
        .to(0.999)
        .called("Share of the time")
        .in("shape")
        .when<hasBursts>(),
    seconds<&ArrivalSpec::burstSeconds>("burst_seconds", "Length of bursts", "Mean length of a burst.")
        .from(0.001)
        .to(1e6)
        .called("One lasts")
        .in("shape")
        .when<hasBursts>(),
    share<&ArrivalSpec::swing>("swing", "Swing of the rate", "Highest rate ÷ mean rate, minus one.")
        .from(0)
        .to(1)
        .called("Swing")
        .in("shape")
        .when<hasDays>(),
    seconds<&ArrivalSpec::period>("period", "Period of the rate", "Length of one day of the traffic.")
        .above(0)
        .to(mostSeconds)
        .called("Period")
        .in("shape")
        .when<hasDays>(),
    share<&ArrivalSpec::phase>("phase", "Phase of the rate", "Part of the period at which the run begins.")
        .from(-1)
        .to(1)
        .called("Begins at")
        .in("shape")
        .when<hasDays>(),
    whole<&ArrivalSpec::concurrency>("concurrency", "Requests in flight",
                                     "Requests, or conversations, in flight at any time.")
        .from(1)
        .to(1e6)
        .called("In flight")
        .when<isClosedLoop>(),
    number<&ArrivalSpec::longestGap>("longest_gap", "Longest gap",
                                     "Gaps between arrivals are cut at this many mean gaps (VIDUR: 3).")
        .from(0)
        .to(1e6)
        .zeroIs("never cut")
        .in("shape")
        .when<hasRate>(),
};

bool hasMean(const LengthSpec& s) {
    return s.kind == LengthKind::Fixed || s.kind == LengthKind::LogNormal;
}
bool isLogNormal(const LengthSpec& s) {
    return s.kind == LengthKind::LogNormal;
}
bool isZipf(const LengthSpec& s) {
    return s.kind == LengthKind::Zipf;
}
bool hasBounds(const LengthSpec& s) {
    return s.kind != LengthKind::Fixed && s.kind != LengthKind::Trace;
}

constexpr FieldSpec lengthRows[]{
    choice<&LengthSpec::kind>("kind", "Distribution", "How lengths are distributed.", lengthTitles),
    number<&LengthSpec::mean>("mean", "Mean", "Mean number of tokens.").from(1).to(mostTokens).when<hasMean>(),
    number<&LengthSpec::cv>("cv", "Variation", "Standard deviation ÷ mean, before the cut.")
        .from(0)
        .to(100)
        .when<isLogNormal>(),
    number<&LengthSpec::theta>("theta", "Skew", "The k-th smallest length has weight k^−theta.")
        .from(0)
        .to(10)
        .when<isZipf>(),
    whole<&LengthSpec::least>("least", "Least", "Fewest tokens.").from(1).to(mostTokens).when<hasBounds>(),
    whole<&LengthSpec::most>("most", "Most", "Most tokens.").from(1).to(mostTokens).when<hasBounds>(),
};

std::vector<FieldOffer> traceOffers() {
    std::vector<FieldOffer> all{{"auto", "by its columns", "The kind whose columns the file has."}};
    for (const TraceKind& kind : traceKinds()) all.push_back({std::string(kind.id), std::string(kind.title), {}});
    return all;
}
std::vector<FieldOffer> traceUnits() {
    return {{"s", "seconds", {}},
            {"ms", "milliseconds", {}},
            {"us", "microseconds", {}},
            {"ns", "nanoseconds", {}},
            {"date", "dates", {}}};
}
bool hasTrace(const TraceSpec& s) {
    return !s.file.empty();
}

constexpr FieldSpec traceRows[]{
    text<&TraceSpec::file>("file", "Trace of requests", "A file of requests; relative to the folder of this file.")
        .fileOnly(),
    text<&TraceSpec::kind>("kind", "Kind of trace", "Format of the file; `auto`: recognised by its columns.")
        .offering(traceOffers)
        .called("Kind")
        .fixed()
        .when<hasTrace>(),
    text<&TraceSpec::arrival>("arrival", "Column of arrivals", "Column with the time of arrival.")
        .called("Arrivals")
        .zeroIs("that of the format")
        .when<hasTrace>(),
    text<&TraceSpec::prompt>("prompt", "Column of prompts", "Column with the tokens of the prompt.")
        .called("Prompts")
        .zeroIs("that of the format")
        .when<hasTrace>(),
    text<&TraceSpec::output>("output", "Column of outputs", "Column with the tokens of the answer.")
        .called("Outputs")
        .zeroIs("that of the format")
        .when<hasTrace>(),
    text<&TraceSpec::id>("id", "Column of ids", "Column that names requests.")
        .called("Ids")
        .zeroIs("that of the format")
        .when<hasTrace>(),
    text<&TraceSpec::tenant>("tenant", "Column of tenants", "Column with the tenant.")
        .called("Tenants")
        .zeroIs("that of the format")
        .when<hasTrace>(),
    text<&TraceSpec::priority>("priority", "Column of priorities", "Column with a number; smaller goes first.")
        .called("Priorities")
        .zeroIs("that of the format")
        .when<hasTrace>(),
    text<&TraceSpec::unit>("unit", "Unit of arrivals", "Unit of the column of arrivals: s, ms, us, ns, or date.")
        .offering(traceUnits)
        .called("Times in")
        .zeroIs("that of the format")
        .fixed()
        .when<hasTrace>(),
    flag<&TraceSpec::sort>("sort", "Sort by arrival",
                           "On: rows are sorted by arrival. Off: an unsorted file is refused.")
        .fixed()
        .when<hasTrace>(),
    flag<&TraceSpec::lenient>("lenient", "Leave out failed requests",
                              "On: rows without output or prompt are skipped. Off: a file with such rows is refused.")
        .fixed()
        .when<hasTrace>(),
};

bool hasTurns(const SessionSpec& s) {
    return s.turns > 1;
}

constexpr FieldSpec sessionRows[]{
    number<&SessionSpec::turns>("turns", "Turns of a conversation",
                                "Mean number of questions in a conversation; 1: none. Rates are then of conversations.")
        .from(1)
        .to(1000)
        .called("Turns"),
    flag<&SessionSpec::geometric>("geometric", "Some longer, some shorter",
                                  "The number of turns is geometric; otherwise it is the same in every conversation.")
        .when<hasTurns>(),
    seconds<&SessionSpec::think>("think", "Thinking between turns",
                                 "Mean time between an answer and the next question, exponential.")
        .from(0)
        .to(1e6)
        .called("Thinking")
        .zeroIs("none")
        .when<hasTurns>()
        .always(),
    whole<&SessionSpec::context>("context", "Longest conversation", "Tokens of text at which a conversation ends.")
        .to(1e9)
        .called("Ends at")
        .zeroIs("no limit"),
};

bool hasCalls(const AgentSpec& s) {
    return s.calls > 0;
}

constexpr FieldSpec agentRows[]{
    number<&AgentSpec::calls>("calls", "Tool calls",
                              "Mean number of tool calls per turn; each is a request of its own.")
        .from(0)
        .to(1000)
        .zeroIs("none"),
    flag<&AgentSpec::geometric>("geometric", "Some turns call more often",
                                "The number of calls is geometric; otherwise it is the same in every turn.")
        .called("Some more, some fewer")
        .when<hasCalls>(),
    seconds<&AgentSpec::toolSeconds>("tool_seconds", "Time of a tool", "Mean time of a tool, exponential.")
        .from(0)
        .to(1e6)
        .called("A tool takes")
        .zeroIs("no time")
        .when<hasCalls>()
        .always(),
    whole<&AgentSpec::toolTokens>("tool_tokens", "Tokens of a result",
                                  "Mean tokens that a tool's result adds to the prompt, exponential.")
        .to(1 << 20)
        .called("A result has")
        .when<hasCalls>()
        .always(),
    whole<&AgentSpec::callTokens>("call_tokens", "Tokens of a call", "Output tokens of a call.")
        .from(1)
        .to(1 << 20)
        .called("A call has")
        .when<hasCalls>()
        .always(),
    whole<&AgentSpec::samples>(
        "samples", "Answers side by side",
        "Parallel answers to one prompt (test-time scaling); the next step waits for the longest.")
        .from(1)
        .to(4096)
        .called("Answers"),
    number<&AgentSpec::reasoning>(
        "reasoning", "Reasoning tokens",
        "Reasoning tokens per answer token. They are generated first and do not stay in the history.")
        .from(0)
        .to(1000)
        .called("Thought")
        .zeroIs("none"),
};

constexpr FieldSpec editRows[]{
    seconds<&TrafficEdit::from>("from", "Begin of the slice", "Time after the first arrival at which the slice begins.")
        .from(0)
        .to(mostSeconds)
        .called("From"),
    seconds<&TrafficEdit::until>("until", "End of the slice", "Time after the first arrival at which the slice ends.")
        .from(0)
        .to(mostSeconds)
        .called("Until")
        .zeroIs("the end"),
    whole<&TrafficEdit::skip>("skip", "Requests left out at first", "Requests skipped at the beginning.")
        .to(1e9)
        .called("Skips"),
    number<&TrafficEdit::rate>("rate", "Factor of the rate", "Factor for the request rate.")
        .from(1e-6)
        .to(1e6)
        .called("Rate ×"),
    number<&TrafficEdit::prompt>("prompt", "Factor of prompts", "Factor for prompt lengths.")
        .from(1e-6)
        .to(1e6)
        .called("Prompts ×"),
    number<&TrafficEdit::output>("output", "Factor of outputs", "Factor for output lengths.")
        .from(1e-6)
        .to(1e6)
        .called("Outputs ×"),
    whole<&TrafficEdit::mostPrompt>("most_prompt", "Longest prompt kept", "Requests with a longer prompt are skipped.")
        .called("Longest prompt")
        .zeroIs("no limit"),
    whole<&TrafficEdit::mostOutput>("most_output", "Longest output kept", "Requests with a longer output are skipped.")
        .called("Longest output")
        .zeroIs("no limit"),
    whole<&TrafficEdit::mostText>("most_text", "Longest text kept",
                                  "Requests with more tokens of prompt and output are skipped.")
        .called("Longest text")
        .zeroIs("no limit"),
};

bool drawsOutput(const TrafficSpec& s) {
    return s.ratio == 0;
}
bool sharesPrompts(const TrafficSpec& s) {
    return s.sharedPrompt > 0;
}
std::vector<FieldOffer> trafficCompatibilities() {
    return {{"vidur", "VIDUR", "Python's `random`, seeded, as VIDUR 7d47513 draws."}};
}

constexpr FieldSpec trafficRows[]{
    text<&TrafficSpec::name>("name", "Name of the traffic", "Name of the traffic.").fileOnly(),
    whole<&TrafficSpec::requests>("requests", "Number of requests",
                                  "Requests of the run, at most: of a trace, or of what `duration` has.")
        .to(5e7)
        .called("Requests")
        .zeroIs("all of them"),
    seconds<&TrafficSpec::duration>("duration", "Time of arrivals", "Time in which requests arrive.")
        .from(0)
        .to(mostSeconds)
        .called("Arrive for")
        .zeroIs("no limit")
        .in("slice"),
    part<&TrafficSpec::arrivals>("arrivals", "Arrivals"),
    part<&TrafficSpec::prompt>("prompt", "Length of prompts",
                               "Tokens of a prompt; with `ratio`, of prompt and output together."),
    part<&TrafficSpec::output>("output", "Length of outputs", "Tokens of an answer.").when<drawsOutput>(),
    number<&TrafficSpec::ratio>("ratio", "Prompt tokens per output token",
                                "One length is drawn and split into so many prompt tokens per output token.")
        .from(0)
        .to(1e6)
        .called("Prompt ÷ output")
        .zeroIs("drawn separately")
        .in("lengths"),
    part<&TrafficSpec::trace>("trace", "Trace"),
    part<&TrafficSpec::sessions>("sessions", "Conversations"),
    part<&TrafficSpec::agents>("agents", "Agents and reasoning"),
    part<&TrafficSpec::edit>("edit", "Slice and scale"),
    whole<&TrafficSpec::sharedPrompt>(
        "shared_prompt", "Tokens that prompts share",
        "Common tokens at the beginning of the prompts of a group: instructions, documents. A prefix cache finds them.")
        .to(1 << 20)
        .called("Alike at first")
        .zeroIs("nothing")
        .in("sessions"),
    whole<&TrafficSpec::promptGroups>("prompt_groups", "Groups of prompts",
                                      "Number of groups of prompts with a common beginning.")
        .from(1)
        .to(1e9)
        .called("Different ones")
        .in("sessions")
        .when<sharesPrompts>()
        .always(),
    whole<&TrafficSpec::tenants>("tenants", "Unnamed tenants", "Tenants without names, drawn at random per session.")
        .to(1e9)
        .called("Unnamed")
        .zeroIs("none")
        .in("tenants"),
    whole<&TrafficSpec::hashTokens>("hash_tokens", "Tokens per hash",
                                    "Tokens per block of text that prefix caches can find.")
        .from(1)
        .to(1 << 16)
        .in("sessions"),
    text<&TrafficSpec::compatibility>("compatibility", "Drawn as",
                                      "Draws requests exactly as a published simulator does: `vidur`.")
        .offering(trafficCompatibilities)
        .zeroIs("Orrery's own rules")
        .fileOnly()
        .fixed(),
};

}  // namespace

template <>
const FieldTable& fieldTable<ArrivalSpec>() {
    static constexpr FieldTable table{"Arrivals", "traffic", "traffic.value", arrivalRows, usual<ArrivalSpec>};
    return table;
}
template <>
const FieldTable& fieldTable<LengthSpec>() {
    static constexpr FieldTable table{"Lengths", "lengths", "traffic.value", lengthRows, usual<LengthSpec>, true};
    return table;
}
template <>
const FieldTable& fieldTable<TraceSpec>() {
    static constexpr FieldTable table{"Trace of requests", "trace", "traffic.value", traceRows, usual<TraceSpec>};
    return table;
}
template <>
const FieldTable& fieldTable<SessionSpec>() {
    static constexpr FieldTable table{"Conversations", "sessions",         "traffic.value",
                                      sessionRows,     usual<SessionSpec>, true};
    return table;
}
template <>
const FieldTable& fieldTable<AgentSpec>() {
    static constexpr FieldTable table{"Agents and reasoning", "agents", "traffic.value", agentRows,
                                      usual<AgentSpec>,       true};
    return table;
}
template <>
const FieldTable& fieldTable<TrafficEdit>() {
    static constexpr FieldTable table{"Slice and scale", "slice", "traffic.value", editRows, usual<TrafficEdit>, true};
    return table;
}
template <>
const FieldTable& fieldTable<TrafficSpec>() {
    static constexpr FieldTable table{"Traffic", "traffic", "traffic.value", trafficRows, usual<TrafficSpec>};
    return table;
}

}  // namespace orrery
