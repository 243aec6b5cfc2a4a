#include "app/cli/serve_llmservingsim.h"

#include "app/cli/output.h"
#include "methods/system/planned_fleet.h"
#include "methods/system/cases/llmservingsim_bench.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <numeric>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

Json figureJson(double simulated, double recorded) {
    return {{"simulated_s", simulated},
            {"recorded_s", recorded},
            {"error", recorded > 0 ? Json(simulated / recorded - 1) : Json(nullptr)}};
}

Json requestsJson(const LlmServingSimBench& bench, const RequestTable& table) {
    Json rows = Json::array();
    const auto time = [](SimTime ticks) { return ticks < 0 ? Json(nullptr) : Json(toSeconds(ticks)); };
    for (std::size_t i = 0; i < bench.recorded.size(); ++i) {
        const RecordedRequest& recorded = bench.recorded[i];
        const bool done = table.state[i] == RequestState::Done;
        rows.push_back(
            {{"id", recorded.id},
             {"input_tokens", recorded.prompt},
             {"output_tokens", recorded.output},
             {"arrived_at_s", time(table.arrived[i])},
             {"scheduled_at_s", time(table.scheduled[i])},
             {"first_token_at_s", time(table.firstToken[i])},
             {"completed_at_s", done ? time(table.ended[i]) : Json(nullptr)},
             {"preemptions", table.preemptions[i]},
             {"recorded", {{"ttft_s", recorded.ttft}, {"tpot_s", recorded.tpot}, {"e2e_s", recorded.endToEnd}}}});
    }
    return rows;
}

std::string comparisonText(const BenchComparison& c) {
    Table table({"mean of", "recorded", "simulated", "error"}, {false, true, true, true});
    const auto row = [&](std::string_view name, double recorded, double simulated, double error) {
        table.add({std::string(name), fmt::format("{:.1f} ms", recorded * 1e3),
                   fmt::format("{:.1f} ms", simulated * 1e3), fmt::format("{:+.2f} %", error * 100)});
    };
    row("time to first token", c.ttftRecorded, c.ttftSimulated, c.ttft);
    row("time per output token", c.tpotRecorded, c.tpotSimulated, c.tpot);
    row("end to end", c.endToEndRecorded, c.endToEndSimulated, c.endToEnd);
    return table.text() +
           fmt::format("\nEnd to end, request by request: {:.2f} % mean absolute error over {} requests\n",
                       100 * c.endToEndMape, c.requests);
}

}  // namespace

int serveLlmServingSim(const Arguments& arguments, Watch& watch) {
    auto bench = readLlmServingSimBench(*arguments.value("llmservingsim"));
    if (!bench) {
        report(bench.error());
        return Unanswered;
    }
    const std::string model = arguments.value("model").value_or("");
    auto fleet = arguments.has("tables") ? fleetOf(*bench, *arguments.value("tables"), model)
                                         : fleetOf(*bench, *arguments.value("hardware"),
                                                   arguments.value("method").value_or("tile-hybrid"), model);
    if (!fleet) {
        report(fleet.error());
        return Unanswered;
    }
    report(bench->notes);
    ServingOptions options;
    options.progress = &watch.progress();
    options.stop = watch.token();
    watch.begin("serving");
    const auto shared = std::make_shared<const FleetSpec>(std::move(*fleet));
    const auto result = simulate(shared, bench->requests, options);
    watch.end();
    if (!result) {
        report(result.error());
        return Unanswered;
    }
    report(result->warnings);
    const BenchComparison comparison = compare(*bench, result->requests);
    if (!arguments.has("json")) return print(comparisonText(comparison)) && !result->cancelled ? Answered : Unanswered;
    const ReplicaSpec& replica = shared->replicas.front();
    const auto& preemptions = result->requests.preemptions;
    const Json json{{"format", "orrery-serving"},
                    {"version", 1},
                    {"model", bench->modelName},
                    {"device", bench->device},
                    {"scheduler", replica.scheduler.id},
                    {"kv_blocks", replica.kvBlocks},
                    {"assumptions", replica.time->assumptions()},
                    {"metrics",
                     {{"requests", bench->recorded.size()},
                      {"done", comparison.requests},
                      {"iterations", result->replicas.front().iterations},
                      {"preemptions", std::accumulate(preemptions.begin(), preemptions.end(), std::uint64_t{0})},
                      {"ttft", figureJson(comparison.ttftSimulated, comparison.ttftRecorded)},
                      {"tpot", figureJson(comparison.tpotSimulated, comparison.tpotRecorded)},
                      {"e2e", figureJson(comparison.endToEndSimulated, comparison.endToEndRecorded)},
                      {"e2e_mape", comparison.endToEndMape}}},
                    {"requests", requestsJson(*bench, result->requests)}};
    return print(json.dump(1) + "\n") && !result->cancelled ? Answered : Unanswered;
}

}  // namespace orrery::cli
