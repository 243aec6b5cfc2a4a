#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "serving/metrics.h"
#include "serving/vidur_case.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

Json spreadJson(const Spread& spread) {
    return {{"count", spread.count}, {"mean", spread.mean}, {"p50", spread.p50}, {"p90", spread.p90},
            {"p95", spread.p95},     {"p99", spread.p99},   {"max", spread.max}};
}

Json metricsJson(const ServingMetrics& m) {
    return {{"requests", m.requests},
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
            {"prefix_hit_rate", m.prefixHitRate}};
}

// A time that never came is null.
Json timeJson(SimTime ticks) {
    return ticks < 0 ? Json(nullptr) : Json(toSeconds(ticks));
}

Json requestsJson(const ServingResult& result) {
    const auto& requests = result.requests;
    std::vector<std::size_t> order(requests.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto& id = requests.stream->id;
        order[id.empty() ? i : static_cast<std::size_t>(id[i])] = i;
    }
    Json rows = Json::array();
    for (std::size_t id = 0; id < order.size(); ++id) {
        const std::size_t r = order[id];
        Json row{{"id", id},
                 {"arrived_at_s", timeJson(requests.arrived[r])},
                 {"scheduled_at_s", timeJson(requests.scheduled[r])},
                 {"prefill_completed_at_s", timeJson(requests.firstToken[r])},
                 {"completed_at_s", timeJson(requests.state[r] == RequestState::Done ? requests.ended[r] : -1)},
                 {"restarts", requests.restarts[r]},
                 {"replica", requests.replica[r]},
                 {"state", toText(requests.state[r])}};
        if (requests.reason[r] != RejectReason::None) row["reason"] = toText(requests.reason[r]);
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string metricsText(const ServingMetrics& m) {
    Table table({"figure", "mean", "p50", "p90", "p99", "max"}, {false, true, true, true, true, true});
    const auto row = [&](std::string_view name, const Spread& s, double scale) {
        std::vector<std::string> cells{std::string(name)};
        for (const double value : {s.mean, s.p50, s.p90, s.p99, s.max}) {
            cells.push_back(s.count == 0 ? "–" : fmt::format("{:.4g}", value * scale));
        }
        table.add(std::move(cells));
    };
    row("time to first token, ms", m.ttft, 1e3);
    row("time per output token, ms", m.tpot, 1e3);
    row("between tokens, ms", m.itl, 1e3);
    row("end to end, s", m.endToEnd, 1);
    row("queueing, s", m.queueing, 1);
    std::string text = table.text();
    text += fmt::format(
        "\n{} of {} requests done, {} rejected; {:.4g} requests/s, {:.5g} output tokens/s over {:.6g} s\n"
        "{} iterations, {} preemptions, {} restarts; KV cache {:.1f} % full on average, {:.1f} % at its fullest\n",
        m.done, m.requests, m.rejected, m.requestsPerSecond, m.outputTokensPerSecond, m.makespan, m.iterations,
        m.preemptions, m.restarts, 100 * m.kvUse, 100 * m.peakKvUse);
    return text;
}

int serveVidur(const Arguments& arguments, Watch& watch) {
    auto read = readVidurCase(*arguments.value("vidur"));
    if (!read) {
        report(read.error());
        return Unanswered;
    }
    VidurCase& given = *read;
    auto time = readVidurTables(*arguments.value("tables"), given.tables);
    if (!time) {
        report(time.error());
        return Unanswered;
    }
    const bool faithful = !arguments.has("own-semantics");
    for (auto& replica : given.fleet.replicas) {
        replica.time = *time;
        if (!faithful) replica.scheduler.compatibility.clear();
    }
    if (!faithful) given.fleet.router = {.id = given.fleet.router.id};
    ServingOptions options;
    options.seed = given.seed;
    options.progress = &watch.progress();
    options.stop = watch.token();
    const auto fleet = std::make_shared<const FleetSpec>(std::move(given.fleet));
    const auto requests = std::make_shared<const RequestStream>(std::move(given.requests));
    const auto begin = std::chrono::steady_clock::now();
    watch.begin("serving");
    auto result = simulate(fleet, requests, options);
    watch.end();
    if (!result) {
        report(result.error());
        return Unanswered;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    report(result->warnings);
    const ServingMetrics metrics = measure(*result, *fleet);
    if (arguments.has("json")) {
        Json json{{"format", "orrery-serving"},
                  {"version", 1},
                  {"model", given.model},
                  {"device", given.device},
                  {"scheduler", fleet->replicas.front().scheduler.id},
                  {"router", fleet->router.id},
                  {"compatibility", faithful ? "vidur" : ""},
                  {"kv_blocks", fleet->replicas.front().kvBlocks},
                  {"assumptions", (*time)->assumptions()},
                  {"metrics", metricsJson(metrics)},
                  {"requests", requestsJson(*result)}};
        if (!print(json.dump(1) + "\n")) return Unanswered;
    } else if (!print(metricsText(metrics) + fmt::format("simulated in {:.3g} s\n", seconds))) {
        return Unanswered;
    }
    return result->cancelled ? Unanswered : Answered;
}

int run(const Arguments& arguments, Watch& watch) {
    if (!arguments.has("vidur") || !arguments.has("tables")) {
        const bool tables = arguments.has("tables");
        report(Diagnostic{Severity::Error,
                          "usage.missing-option",
                          tables ? "no case is named" : "nothing says how long iterations take",
                          tables ? "--vidur DIR" : "--tables DIR with token_ops, attn_decode and attn_prefill",
                          "orrery-cli serve --help shows an example",
                          {}});
        return Usage;
    }
    return serveVidur(arguments, watch);
}

}  // namespace

const Command serveCommand{
    .name = "serve",
    .summary = "simulate requests through schedulers, KV caches and replicas",
    .details =
        "Reads a folder of Vidur as it is: args.txt (its command line) and trace.csv. Iterations take the time "
        "of the tables in another folder: token_ops, attn_decode and attn_prefill, .csv or .csv.gz. Vidur's own "
        "semantics are reproduced, faults included, unless --own-semantics is given.",
    .options = {{"vidur", "DIR", "args.txt and trace.csv of a run of Vidur"},
                {"tables", "DIR", "times of operators as Vidur's predictor has them"},
                {"own-semantics", "", "schedule as the engines do, without Vidur's faults"},
                {"json", "", "every request and all figures as JSON"}},
    .examples = {{"orrery-cli serve --vidur cases/l7_vllm_W1 --tables cases/_tables/l7_a100_tp1", "figures of the run"},
                 {"orrery-cli serve --vidur cases/l7_vllm_W1 --tables cases/_tables/l7_a100_tp1 --json",
                  "every request, for a script"}},
    .run = run,
};

}  // namespace orrery::cli
