#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "methods/method.h"

#include <fmt/format.h>
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
    json["options"] = nlohmann::ordered_json::array();
    for (const MethodOption& option : card.options) {
        json["options"].push_back({{"key", option.key},
                                   {"title", option.title},
                                   {"choices", option.choices},
                                   {"fallback", option.fallback},
                                   {"meaning", option.meaning}});
    }
    return json;
}

std::string cardText(const MethodCard& card) {
    std::string out = fmt::format("{}: {}\n\n{}\n\nneeds: {}\nbreaks where: {}\n", card.id, card.title, card.summary,
                                  fmt::join(card.needs, "; "), card.failureMode);
    for (const Evidence& evidence : card.evidence) {
        out += fmt::format("evidence: {} on {}: {}\n", evidence.workloadClass, evidence.platform, evidence.finding);
    }
    out += fmt::format("lineage: {}\n\n", fmt::join(card.lineage, "; "));
    if (card.options.empty()) return out + "It has no options.\n";
    Table table({"option", "choices, the first stands unless told", "meaning"});
    for (const MethodOption& option : card.options) {
        std::vector<std::string_view> choices{option.fallback};
        for (const std::string_view choice : option.choices) {
            if (choice != option.fallback) choices.push_back(choice);
        }
        table.add({std::string(option.key), fmt::format("{}", fmt::join(choices, ", ")), std::string(option.meaning)});
    }
    const MethodOption& first = card.options.front();
    return out + table.text() +
           fmt::format("\nas in --method '{}({}={})'\n", card.id, first.key,
                       first.choices.back() == first.fallback ? first.choices.front() : first.choices.back());
}

int runMethods(const Arguments& arguments, Watch&) {
    const Method* only = nullptr;
    if (!arguments.positionals().empty()) {
        const auto choice = methodChoice(arguments.positionals().front(), builtinMethods());
        if (!choice) return failed(choice.error());
        only = findMethod(choice->id);
    }
    if (arguments.has("json")) {
        nlohmann::ordered_json json{{"format", "orrery-methods"}, {"version", 1}};
        json["methods"] = nlohmann::ordered_json::array();
        for (const Method& method : builtinMethods()) {
            if (!only || only == &method) json["methods"].push_back(cardJson(method.card));
        }
        return print(json.dump(2) + "\n") ? Answered : Unanswered;
    }
    if (only) return print(cardText(only->card)) ? Answered : Unanswered;
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
    .positional = "ID",
    .summary = "list the prediction methods, with their method cards",
    .details = "With an ID, what that method does, needs and lets you choose.",
    .options = {{"json", "", "the whole cards as JSON"}},
    .examples = {{"orrery-cli methods", "a table of ids, titles and what they cost"},
                 {"orrery-cli methods loop-nest", "one card, with the options of `--method 'loop-nest(…)'`"},
                 {"orrery-cli methods --json", "every card: evidence, needs, failure mode, papers"}},
    .run = runMethods,
};

}  // namespace orrery::cli
