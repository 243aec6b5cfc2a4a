#include "app/cli/command.h"
#include "app/cli/output.h"
#include "methods/method.h"

#include <nlohmann/json.hpp>

namespace orrery::cli {

namespace {

nlohmann::ordered_json cardJson(const MethodCard& card) {
    nlohmann::ordered_json json;
    json["id"] = card.id;
    json["title"] = card.title;
    json["methodology"] = toText(card.methodology);
    json["level"] = toText(card.level);
    json["summary"] = card.summary;
    json["platforms"] = card.platforms;
    json["evidence"] = nlohmann::ordered_json::array();
    for (const Evidence& evidence : card.evidence) {
        json["evidence"].push_back({{"workload_class", evidence.workloadClass},
                                    {"platform", evidence.platform},
                                    {"finding", evidence.finding}});
    }
    json["needs"] = card.needs;
    json["failure_mode"] = card.failureMode;
    json["lineage"] = card.lineage;
    json["expected_cost"] = card.expectedCost;
    json["version"] = card.version;
    json["live"] = card.live;
    return json;
}

int run(const Arguments& arguments, Watch&) {
    if (arguments.has("json")) {
        nlohmann::ordered_json json{{"format", "orrery-methods"}, {"version", 1}};
        json["methods"] = nlohmann::ordered_json::array();
        for (const Method& method : builtinMethods()) json["methods"].push_back(cardJson(method.card));
        return print(json.dump(2) + "\n") ? Answered : Unanswered;
    }
    Table table({"id", "title", "methodology", "level", "live", "cost"});
    for (const Method& method : builtinMethods()) {
        const MethodCard& card = method.card;
        table.add({std::string(card.id), std::string(card.title), std::string(toText(card.methodology)),
                   std::string(toText(card.level)), card.live ? "yes" : "no", std::string(card.expectedCost)});
    }
    return print(table.text()) ? Answered : Unanswered;
}

}  // namespace

const Command methodsCommand{
    .name = "methods",
    .summary = "list the prediction methods, with their method cards",
    .details = "",
    .options = {{"json", "", "the whole cards as JSON"}},
    .examples = {{"orrery-cli methods", "a table of ids, titles and what they cost"},
                 {"orrery-cli methods --json", "every card: evidence, needs, failure mode, papers"}},
    .run = run,
};

}  // namespace orrery::cli
