#include "app/cli/serve_run.h"

#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "serving/limiting_factor.h"
#include "serving/metrics.h"
#include "serving/result_interval.h"
#include "store/export/serving_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <numeric>
#include <optional>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

// A run beyond this is made again for its intervals on request only: a second with tables, some with kernels.
constexpr std::uint64_t mostIterationsTwiceMore = 1'000'000;

Json spreadJson(const Spread& spread) {
    return {{"count", spread.count}, {"mean", spread.mean}, {"p50", spread.p50}, {"p90", spread.p90},
            {"p95", spread.p95},     {"p99", spread.p99},   {"max", spread.max}};
}

Json groupsJson(const std::vector<GroupMetrics>& groups, bool promises) {
    Json list = Json::array();
    for (const GroupMetrics& group : groups) {
        list.push_back({{"name", group.name},
                        {"requests", group.requests},
                        {"done", group.done},
                        {"rejected", group.rejected},
                        {"ttft_s", spreadJson(group.ttft)},
                        {"tpot_s", spreadJson(group.tpot)},
                        {"end_to_end_s", spreadJson(group.endToEnd)},
                        {"queueing_s", spreadJson(group.queueing)},
                        {"output_tokens_per_s", group.outputTokensPerSecond}});
        if (promises) list.back()["attainment"] = group.attainment;
    }
    return list;
}

Json metricsJson(const ServingMetrics& m) {
    Json json{{"requests", m.requests},
              {"done", m.done},
              {"rejected", m.rejected},
              {"unfinished", m.unfinished},
              {"ttft_s", spreadJson(m.ttft)},
              {"tpot_s", spreadJson(m.tpot)},
              {"itl_s", spreadJson(m.itl)},
              {"end_to_end_s", spreadJson(m.endToEnd)},
              {"queueing_s", spreadJson(m.queueing)},
              {"normalised_s", spreadJson(m.normalised)},
              {"makespan_s", m.makespan},
              {"requests_per_s", m.requestsPerSecond},
              {"output_tokens_per_s", m.outputTokensPerSecond},
              {"tokens_per_s", m.tokensPerSecond},
              {"goodput_per_s", m.goodput},
              {"attainment", m.attainment},
              {"kv_use", m.kvUse},
              {"peak_kv_use", m.peakKvUse},
              {"preemptions", m.preemptions},
              {"restarts", m.restarts},
              {"iterations", m.iterations},
              {"joules", m.joules},
              {"mfu", m.mfu},
              {"mbu", m.mbu},
              {"prefix_hit_rate", m.prefixHitRate},
              {"joules_per_token", m.joulesPerToken},
              {"dollars_per_million_tokens", m.dollarsPerMillionTokens},
              {"stalled_requests", m.stalled},
              {"stalls", m.stalls},
              {"stalled_s", m.stallSeconds}};
    if (m.adapterHitRate > 0 || m.adapterLoads > 0) {
        json["adapter_loads"] = m.adapterLoads;
        json["adapter_load_s"] = m.adapterLoadSeconds;
        json["adapter_hit_rate"] = m.adapterHitRate;
    }
    if (!m.tenants.empty()) json["tenants"] = groupsJson(m.tenants, true);
    if (!m.stages.empty()) json["stages"] = groupsJson(m.stages, false);
    return json;
}

Json intervalJson(const FigureInterval& interval) {
    return {interval.low, interval.high};
}
Json intervalJson(const SpreadInterval& spread) {
    return {{"mean", intervalJson(spread.mean)}, {"p50", intervalJson(spread.p50)}, {"p90", intervalJson(spread.p90)},
            {"p95", intervalJson(spread.p95)},   {"p99", intervalJson(spread.p99)}, {"max", intervalJson(spread.max)}};
}

// Keys as in `metrics`.
Json intervalsJson(const ServingIntervals& i) {
    if (!i.known) return {{"known", false}, {"basis", i.basis}};
    return {{"known", true},
            {"basis", i.basis},
            {"ttft_s", intervalJson(i.ttft)},
            {"tpot_s", intervalJson(i.tpot)},
            {"itl_s", intervalJson(i.itl)},
            {"end_to_end_s", intervalJson(i.endToEnd)},
            {"queueing_s", intervalJson(i.queueing)},
            {"normalised_s", intervalJson(i.normalised)},
            {"makespan_s", intervalJson(i.makespan)},
            {"requests_per_s", intervalJson(i.requestsPerSecond)},
            {"output_tokens_per_s", intervalJson(i.outputTokensPerSecond)},
            {"tokens_per_s", intervalJson(i.tokensPerSecond)},
            {"goodput_per_s", intervalJson(i.goodput)},
            {"attainment", intervalJson(i.attainment)},
            {"kv_use", intervalJson(i.kvUse)},
            {"joules", intervalJson(i.joules)},
            {"mfu", intervalJson(i.mfu)},
            {"mbu", intervalJson(i.mbu)},
            {"joules_per_token", intervalJson(i.joulesPerToken)},
            {"dollars_per_million_tokens", intervalJson(i.dollarsPerMillionTokens)}};
}

// A time that never came is null.
Json timeJson(SimTime ticks) {
    return ticks < 0 ? Json(nullptr) : Json(toSeconds(ticks));
}

// Whose request it is, where the scenario says.
void addGroups(Json& row, const RequestStream& stream, std::size_t r) {
    const auto tenants = static_cast<std::int32_t>(stream.tenantNames.size());
    const auto stages = static_cast<std::size_t>(stream.stages);
    if (tenants > 0) row["tenant"] = stream.tenantNames[static_cast<std::size_t>(stream.tenant[r] % tenants)];
    if (stages > 1) {
        row["question"] = r / stages;
        row["stage"] = stream.stageNames[r % stages];
    }
    if (!stream.adapter.empty() && stream.adapter[r] >= 0) row["adapter"] = stream.adapter[r];
}

Json requestsJson(const ServingResult& result) {
    const auto& requests = result.requests;
    const auto& ids = requests.stream->id;
    const auto idOf = [&](std::size_t r) { return ids.empty() ? static_cast<std::int64_t>(r) : ids[r]; };
    std::vector<std::size_t> order(requests.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return idOf(a) < idOf(b); });
    Json rows = Json::array();
    for (const std::size_t r : order) {
        Json row{{"id", idOf(r)},
                 {"arrived_at_s", timeJson(requests.arrived[r])},
                 {"scheduled_at_s", timeJson(requests.scheduled[r])},
                 {"prefill_completed_at_s", timeJson(requests.firstToken[r])},
                 {"completed_at_s", timeJson(requests.state[r] == RequestState::Done ? requests.ended[r] : -1)},
                 {"restarts", requests.restarts[r]},
                 {"replica", requests.replica[r]},
                 {"state", toText(requests.state[r])}};
        addGroups(row, *requests.stream, r);
        if (requests.reason[r] != RejectReason::None) row["reason"] = toText(requests.reason[r]);
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string intervalText(const FigureInterval& interval, double scale) {
    return fmt::format("{:.4g} … {:.4g}", interval.low * scale, interval.high * scale);
}

std::string groupsText(std::string_view what, const std::vector<GroupMetrics>& groups, bool promises) {
    if (groups.empty()) return {};
    std::vector<std::string> heads{std::string(what),     "requests", "done",
                                   "TTFT mean, ms",       "p99",      "queueing mean, ms",
                                   "end to end mean, ms", "p99"};
    if (promises) heads.emplace_back("SLO met, %");
    std::vector<bool> right(heads.size(), true);
    right.front() = false;
    Table table(heads, right);
    for (const GroupMetrics& group : groups) {
        std::vector<std::string> cells{group.name, std::to_string(group.requests), std::to_string(group.done)};
        for (const double seconds :
             {group.ttft.mean, group.ttft.p99, group.queueing.mean, group.endToEnd.mean, group.endToEnd.p99}) {
            cells.push_back(group.done == 0 ? "–" : fmt::format("{:.4g}", seconds * 1e3));
        }
        if (promises) cells.push_back(fmt::format("{:.1f}", group.attainment * 100));
        table.add(std::move(cells));
    }
    return "\n" + table.text();
}

/// Requests by why they were refused.
std::map<std::string, std::size_t> refusals(const RequestTable& requests) {
    std::map<std::string, std::size_t> counts;
    for (RequestIndex r = 0; r < requests.size(); ++r)
        if (requests.state[r] == RequestState::Rejected) ++counts[std::string(toText(requests.reason[r]))];
    return counts;
}

std::string metricsText(const ServingMetrics& m, const ServiceLevel& slo, const ServingIntervals* sure) {
    const bool known = sure && sure->known;
    std::vector<std::string> heads{"figure", "mean", "p50", "p90", "p99", "max"};
    std::vector<bool> right{false, true, true, true, true, true};
    if (known) {
        heads.insert(heads.end(), {"mean, 90 %", "p99, 90 %"});
        right.insert(right.end(), {true, true});
    }
    Table table(heads, right);
    const auto row = [&](std::string_view name, const Spread& s, SpreadInterval ServingIntervals::*interval,
                         double scale) {
        std::vector<std::string> cells{std::string(name)};
        for (const double value : {s.mean, s.p50, s.p90, s.p99, s.max}) {
            cells.push_back(s.count == 0 ? "–" : fmt::format("{:.4g}", value * scale));
        }
        if (known) {
            for (const FigureInterval& each : {(sure->*interval).mean, (sure->*interval).p99}) {
                cells.push_back(s.count == 0 ? "–" : intervalText(each, scale));
            }
        }
        table.add(std::move(cells));
    };
    row("time to first token, ms", m.ttft, &ServingIntervals::ttft, 1e3);
    row("time per output token, ms", m.tpot, &ServingIntervals::tpot, 1e3);
    row("between tokens, ms", m.itl, &ServingIntervals::itl, 1e3);
    row("end to end, s", m.endToEnd, &ServingIntervals::endToEnd, 1);
    row("queueing, s", m.queueing, &ServingIntervals::queueing, 1);
    std::string text = table.text();
    text += fmt::format(
        "\n{} of {} {} done, {} rejected; {:.4g} per second, {:.5g} output tokens/s over {:.6g} s\n"
        "{} iterations, {} preemptions, {} restarts; KV cache {} full on average, {} at its fullest\n",
        m.done, m.requests, m.stages.empty() ? "requests" : "questions", m.rejected, m.requestsPerSecond,
        m.outputTokensPerSecond, m.makespan, m.iterations, m.preemptions, m.restarts, shareText(m.kvUse),
        shareText(m.peakKvUse));
    text += fmt::format("{} requests stalled between two of their iterations, {} times, {:.4g} s in all\n",
                        m.stalled, m.stalls, m.stallSeconds);
    if (m.adapterHitRate > 0 || m.adapterLoads > 0) {
        text += fmt::format("{} adapters loaded from the host in {:.4g} s; {:.1f} % of their uses found them there\n",
                            m.adapterLoads, m.adapterLoadSeconds, 100 * m.adapterHitRate);
    }
    const bool promised = slo.ttft > 0 || slo.tpot > 0 || slo.endToEnd > 0;
    if (promised)
        text +=
            fmt::format("SLO met by {:.1f} % of requests, goodput {:.4g} requests/s\n", 100 * m.attainment, m.goodput);
    if (m.mfu > 0) text += fmt::format("MFU {:.1f} %, MBU {:.1f} %\n", 100 * m.mfu, 100 * m.mbu);
    if (m.dollarsPerMillionTokens > 0)
        text += fmt::format("${:.4g} per million output tokens\n", m.dollarsPerMillionTokens);
    text += groupsText("tenant", m.tenants, true);
    text += groupsText("stage", m.stages, false);
    if (m.joules > 0) text += fmt::format("{:.5g} J, {:.4g} J per output token\n", m.joules, m.joulesPerToken);
    if (!sure) return text + "90 % intervals of so long a run cost two more: ask with --interval\n";
    if (known) {
        text += fmt::format("90 %: {} requests/s, {} output tokens/s", intervalText(sure->requestsPerSecond, 1),
                            intervalText(sure->outputTokensPerSecond, 1));
        if (promised) text += fmt::format(", SLO met by {} %", intervalText(sure->attainment, 100));
        if (m.joules > 0) text += fmt::format(", {} J per output token", intervalText(sure->joulesPerToken, 1));
        text += '\n';
    }
    return text + sure->basis + '\n';
}

}  // namespace

ServeOutput serveOutput(const Arguments& arguments, std::string name) {
    return {arguments.has("json"), arguments.has("interval"), arguments.value("timeline").value_or(""),
            std::move(name)};
}

int serveFleet(FleetSpec fleet, RequestStream requests, std::uint64_t seed, Json head, ServeOutput output,
               Watch& watch) {
    ServingOptions options;
    options.seed = seed;
    options.progress = &watch.progress();
    options.stop = watch.token();
    options.batches = !output.timeline.empty();
    const auto spec = std::make_shared<const FleetSpec>(std::move(fleet));
    const auto stream = std::make_shared<const RequestStream>(std::move(requests));
    watch.begin("serving");
    const auto begin = std::chrono::steady_clock::now();
    auto result = simulate(spec, stream, options);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    watch.end();
    if (!result) {
        report(result.error());
        return Unanswered;
    }
    report(result->warnings);
    if (!output.timeline.empty() &&
        !writeTo(output.timeline, servingTrace(std::array{TracedRun{*result, *spec, output.name}})))
        return Unanswered;
    if (output.timeline == "-") return result->cancelled ? Unanswered : Answered;
    const ServingMetrics metrics = measure(*result, *spec);
    const LimitingFactor limit = limitingFactor(*result, *spec, metrics);
    std::optional<ServingIntervals> sure;
    if (!result->cancelled && (output.interval || metrics.iterations <= mostIterationsTwiceMore)) {
        watch.begin("interval");
        auto found = intervalsOf(*result, metrics, *spec, options);
        watch.end();
        if (!found) {
            report(found.error());
            return Unanswered;
        }
        sure = std::move(*found);
    }
    if (output.json) {
        head["metrics"] = metricsJson(metrics);
        if (!limit.text.empty()) head["metrics"]["limit"] = limit.text;
        head["metrics"]["rejected_by"] = refusals(result->requests);
        if (sure) head["intervals"] = intervalsJson(*sure);
        head["requests"] = requestsJson(*result);
        if (!print(head.dump(1) + "\n")) return Unanswered;
    } else {
        std::string text = metricsText(metrics, spec->promise, sure ? &*sure : nullptr);
        if (!limit.text.empty()) text += limit.text + '\n';
        for (const auto& [reason, count] : refusals(result->requests))
            text += fmt::format("{} rejected: {}\n", count, reason);
        if (!print(text + fmt::format("simulated in {:.3g} s\n", seconds))) return Unanswered;
    }
    return result->cancelled ? Unanswered : Answered;
}

}  // namespace orrery::cli
