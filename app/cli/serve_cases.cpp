#include "app/cli/serve_cases.h"

#include "app/cli/output.h"
#include "app/cli/serve_run.h"
#include "base/text/words.h"
#include "methods/system/cases/published_case.h"

#include <set>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

int serve(Expected<PublishedCase> given, std::string_view simulator, ServeOutput output, Watch& watch) {
    if (!given) {
        report(given.error());
        return Unanswered;
    }
    report(given->notes);
    Json fleet = Json::array();
    std::set<std::string> assumptions;
    for (const ReplicaSpec& replica : given->fleet.replicas) {
        fleet.push_back({{"name", replica.name},
                         {"role", toText(replica.role)},
                         {"scheduler", replica.scheduler.id},
                         {"kv_blocks", replica.kvBlocks}});
        for (std::string& one : replica.time->assumptions()) assumptions.insert(std::move(one));
    }
    Json head{{"format", "orrery-serving"},
              {"version", 1},
              {"model", given->model},
              {"compatibility", simulator},
              {"router", given->fleet.router.id},
              {"replicas", std::move(fleet)},
              {"assumptions", assumptions}};
    return serveFleet(std::move(given->fleet), std::move(given->requests), 42, std::move(head), output, watch);
}

/// Machines of a pool; 0: not given, −1: not a number of machines.
int machines(const Arguments& arguments, std::string_view option) {
    const auto text = arguments.value(option);
    if (!text) return 0;
    const auto value = wholeIn(*text);
    return value && *value > 0 && *value <= 4096 ? static_cast<int>(*value) : -1;
}

}  // namespace

int serveSplitwise(const Arguments& arguments, Watch& watch) {
    const SplitwiseOverrides overrides{machines(arguments, "prompts"), machines(arguments, "tokens")};
    if (overrides.prompts < 0 || overrides.tokens < 0) {
        report(Diagnostic{Severity::Error,
                          "usage.bad-value",
                          "a pool of that many machines makes no sense",
                          "1 to 4096",
                          "--prompts 2 --tokens 2",
                          {}});
        return Usage;
    }
    auto given = readSplitwiseCase(*arguments.value("splitwise"), *arguments.value("tables"), overrides);
    return serve(std::move(given), "splitwise", serveOutput(arguments, "splitwise-sim"), watch);
}

int serveDistServe(const Arguments& arguments, Watch& watch) {
    auto given = readDistServeCase(*arguments.value("distserve"), *arguments.value("tables"));
    return serve(std::move(given), "distserve", serveOutput(arguments, "DistServe"), watch);
}

}  // namespace orrery::cli
