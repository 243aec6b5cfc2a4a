#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/serve_cases.h"
#include "app/cli/serve_file.h"
#include "app/cli/serve_keys.h"
#include "app/cli/serve_llmservingsim.h"
#include "app/cli/serve_run.h"
#include "methods/system/cases/vidur_case.h"

namespace orrery::cli {

namespace {

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
    nlohmann::ordered_json head{{"format", "orrery-serving"},
                                {"version", 1},
                                {"model", given.model},
                                {"device", given.device},
                                {"scheduler", given.fleet.replicas.front().scheduler.id},
                                {"router", given.fleet.router.id},
                                {"compatibility", faithful ? "vidur" : ""},
                                {"kv_blocks", given.fleet.replicas.front().kvBlocks},
                                {"assumptions", (*time)->assumptions()}};
    return serveFleet(std::move(given.fleet), std::move(given.requests), given.seed, std::move(head),
                      serveOutput(arguments, *arguments.value("vidur")), watch);
}

int runServe(const Arguments& arguments, Watch& watch) {
    if (arguments.has("keys")) return serveKeys(arguments.has("json"));
    if (!arguments.positionals().empty()) return serveFile(arguments, watch);
    if (arguments.has("llmservingsim") && (arguments.has("tables") || arguments.has("hardware")))
        return serveLlmServingSim(arguments, watch);
    if (arguments.has("splitwise") && arguments.has("tables")) return serveSplitwise(arguments, watch);
    if (arguments.has("distserve") && arguments.has("tables")) return serveDistServe(arguments, watch);
    if (!arguments.has("vidur") || !arguments.has("tables")) {
        const bool tables = arguments.has("tables");
        report(Diagnostic{Severity::Error,
                          "usage.missing-option",
                          tables ? "no case is named" : "nothing says how long iterations take",
                          tables ? "--vidur, --splitwise or --distserve DIR"
                                 : "--tables DIR with token_ops, attn_decode and attn_prefill",
                          "orrery-cli serve --help shows an example",
                          {}});
        return Usage;
    }
    return serveVidur(arguments, watch);
}

}  // namespace

const Command serveCommand{
    .name = "serve",
    .positional = "FILE",
    .summary = "simulate requests through schedulers, KV caches and replicas",
    .details =
        "Answers a FILE: `orrery: serving/1`, or a project with a section `serving:`. "
        "Or reads a folder of Vidur as it is: args.txt (its command line) and trace.csv. Iterations take the time "
        "of the tables in another folder: token_ops, attn_decode and attn_prefill, .csv or .csv.gz. Vidur's own "
        "semantics are reproduced, faults included, unless --own-semantics is given.",
    .options = {{"keys", "",
                 "list the keys of a FILE with unit, default, range and meaning; with --json its JSON Schema"},
                {"capacity", "", "of a FILE: the highest load that meets the SLO"},
                {"sweep", "", "of a FILE: every combination of its sweep, on all cores"},
                {"other", "", "of a FILE: with the scheduler that it compares with"},
                {"vidur", "DIR", "args.txt and trace.csv of a run of Vidur"},
                {"llmservingsim", "DIR", "a run of vLLM recorded by LLMServingSim: config.json and vllm/"},
                {"tables", "DIR", "times of operators as Vidur's predictor or LLMServingSim's profiler has them"},
                {"hardware", "ID", "with --llmservingsim: price kernels on this device instead of --tables"},
                {"method", "ID", "of kernels, with --hardware; tile-hybrid if not given"},
                {"model", "FILE", "config.json of the recorded run's model, if it is not beside the tables"},
                {"splitwise", "DIR",
                 "metrics.json and trace.csv of a run of splitwise-sim; --tables is perf_model.csv"},
                {"prompts", "N", "with --splitwise: machines that compute prompts, if the case does not say"},
                {"tokens", "N", "with --splitwise: machines that decode"},
                {"distserve", "DIR",
                 "metrics.json and requests.csv of a run of DistServe's simulator; --tables holds its profiles"},
                {"own-semantics", "", "schedule as the engines do, without Vidur's faults"},
                {"interval", "", "90 % intervals of the figures for runs of more than a million iterations, too"},
                {"timeline", "FILE", "iterations and requests as a Chrome/Perfetto trace (ui.perfetto.dev)"},
                {"json", "", "every request and all figures as JSON"}},
    .examples = {{"orrery-cli serve presets/examples/vllm-against-sarathi.yaml", "figures of what the file asks"},
                 {"orrery-cli serve presets/examples/how-many-requests.yaml --sweep", "configurations side by side"},
                 {"orrery-cli serve presets/examples/vllm-against-sarathi.yaml --timeline run.json",
                  "what every replica does when, for ui.perfetto.dev"},
                 {"orrery-cli serve --vidur cases/l7_vllm_W1 --tables cases/_tables/l7_a100_tp1", "figures of the run"},
                 {"orrery-cli serve --splitwise cases/conv --tables perf_model.csv", "prompts and decodes apart"},
                 {"orrery-cli serve --vidur cases/l7_vllm_W1 --tables cases/_tables/l7_a100_tp1 --json",
                  "every request, for a script"},
                 {"orrery-cli serve --llmservingsim bench/RTXPRO6000/Llama-3.1-8B --tables perf",
                  "a real run of vLLM, simulated and compared"}},
    .run = runServe,
};

}  // namespace orrery::cli
