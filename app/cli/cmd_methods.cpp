#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/unit.h"
#include "evaluation/cost_measurement.h"
#include "evaluation/fit_cost.h"
#include "methods/adapter/adapter_method.h"
#include "methods/method.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace orrery::cli {

namespace {

nlohmann::ordered_json cardJson(const Method& method, const Scenario* scenario) {
    const MethodCard& card = method.card;
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
    json["expected_cost"] = toText(card.cost);
    json["cost"] = {{"fixed_s", card.cost.fixed},
                    {"per_operator_s", card.cost.perOperator},
                    {"per_kernel_s", card.cost.perKernel},
                    {"per_cycle_s", card.cost.perCycle},
                    {"per_request_s", card.cost.perRequest}};
    if (scenario) {
        const auto here = expectedCost(method, *scenario);
        json["cost_here_s"] = here ? nlohmann::ordered_json(here->value) : nlohmann::ordered_json(nullptr);
    }
    json["version"] = card.version;
    json["live"] = card.live;
    json["other_program"] = asksProgram(method);
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

std::string costHere(const Method& method, const Scenario& scenario) {
    const auto here = expectedCost(method, scenario);
    return here ? format(*here, 2) : "not known";
}

std::string cardText(const Method& method, const Scenario* scenario) {
    const MethodCard& card = method.card;
    std::string out = fmt::format("{}: {}\n\n{}\n\nneeds: {}\nlimits: {}\n", card.id, card.title, card.summary,
                                  fmt::join(card.needs, "; "), card.failureMode);
    out += fmt::format("an answer takes: {}\n", toText(card.cost));
    if (scenario) out += fmt::format("for {}: about {}\n", scenario->name(), costHere(method, *scenario));
    for (const Evidence& evidence : card.evidence) {
        out += fmt::format("evidence: {} on {}: {}\n", evidence.workloadClass, evidence.platform, evidence.finding);
    }
    out += fmt::format("lineage: {}\n\n", fmt::join(card.lineage, "; "));
    if (card.options.empty()) return out + "It has no options.\n";
    Table table({"option", "choices (default first)", "meaning"});
    for (const MethodOption& option : card.options) {
        const bool text = option.choices.empty() && !option.slot;
        std::vector<std::string_view> choices{!text || !option.fallback.empty() ? option.fallback
                                              : option.needed                   ? "TEXT, needed"
                                                                                : "TEXT"};
        for (const std::string_view choice : option.choices) {
            if (choice != option.fallback) choices.push_back(choice);
        }
        table.add({std::string(option.key), fmt::format("{}", fmt::join(choices, ", ")), std::string(option.meaning)});
    }
    const MethodOption& first = card.options.front();
    const std::string_view example = first.choices.empty()                    ? "TEXT"
                                     : first.choices.back() == first.fallback ? first.choices.front()
                                                                              : first.choices.back();
    return out + table.text() + fmt::format("\nas in --method '{}({}={})'\n", card.id, first.key, example);
}

// Each question as it took, beside what the card says of it.
int measureCosts(const Method* only, Watch& watch) {
    const auto questions = costQuestions();
    if (!questions) return failed(questions.error());
    Table table({"method", "question", "measured", "stated", "measured ÷ stated"});
    Table fitted({"method", "an answer takes", "as stated", "worst factor"});
    watch.begin("measuring");
    for (const Method& method : builtinMethods()) {
        if ((only && only != &method) || asksForFile(method.card)) continue;
        const auto cost = measureCost(method, *questions, watch.token());
        if (!cost) return failed(cost.error());
        for (const CostSample& each : cost->samples) {
            table.add({cost->method, each.question, format(Seconds(each.seconds), 2), format(Seconds(each.stated), 2),
                       fmt::format("{:.2f}", each.seconds / each.stated)});
        }
        fitted.add(
            {cost->method, toText(cost->fitted), toText(method.card.cost), fmt::format("{:.1f}", cost->worstFactor)});
    }
    watch.end();
    return print(table.text() + "\n" + fitted.text()) ? Answered : Unanswered;
}

// Each fit as long as it took, and the rates that come of it beside those that are stated.
int measureFits(const Method* only, const std::vector<std::string>& files, Watch& watch) {
    const auto tables = readReferences(files);
    if (!tables) return failed(tables.error());
    const auto rows = selectRows(*tables, {});
    Table table({"method", "family", "rows", "a fit takes"}, {false, false, true, true});
    Table fitted({"method", "a section takes", "as stated"});
    const auto text = [](const FitRate& rate) {
        return fmt::format("{} + {} a row", format(Seconds(rate.fixed), 2), format(Seconds(rate.perRow), 2));
    };
    watch.begin("fitting");
    bool any = false;
    for (const KernelMethod& method : kernelMethods()) {
        if (!method.fit || (only && only->card.id != method.id)) continue;
        const auto fit = measureFit(method, *tables, rows, watch.token());
        if (!fit) {
            if (only || fit.error().code == "study.cancelled") return failed(fit.error());
            continue;
        }
        for (const FitSample& each : fit->samples)
            table.add(
                {std::string(method.id), each.family, std::to_string(each.rows), format(Seconds(each.seconds), 2)});
        const auto stated = statedFitRate(method.id);
        any = true;
        fitted.add({std::string(method.id), text(fit->fitted), stated ? text(*stated) : "not measured"});
    }
    watch.end();
    if (!any)
        return failed(fail("calibration.nothing-to-fit",
                           only ? fmt::format("'{}' learns nothing from measured kernels", only->card.id)
                                : std::string("no method was fitted to these rows"),
                           "a kernel method that is fitted, and rows of kernels", "ask for tile-hybrid")
                          .value());
    return print(table.text() + "\n" + fitted.text()) ? Answered : Unanswered;
}

int runMethods(const Arguments& arguments, Watch& watch) {
    const Method* only = nullptr;
    if (!arguments.positionals().empty()) {
        const auto choice = methodChoice(arguments.positionals().front(), builtinMethods());
        if (!choice) return failed(choice.error());
        only = findMethod(choice->id);
    }
    if (arguments.has("measure-cost")) return measureCosts(only, watch);
    if (arguments.has("measure-fit")) return measureFits(only, arguments.values("measure-fit"), watch);
    std::optional<Scenario> asked;
    if (arguments.has("hardware") || arguments.has("workload") || arguments.has("task")) {
        auto scenario = readScenario(arguments);
        if (!scenario) return failed(scenario.error());
        asked = std::move(*scenario);
    }
    const Scenario* scenario = asked ? &*asked : nullptr;
    if (arguments.has("json")) {
        nlohmann::ordered_json json{{"format", "orrery-methods"}, {"version", 1}};
        json["methods"] = nlohmann::ordered_json::array();
        for (const Method& method : builtinMethods()) {
            if (!only || only == &method) json["methods"].push_back(cardJson(method, scenario));
        }
        for (const Method& method : adapterMethods()) {
            if (!only || only == &method) json["methods"].push_back(cardJson(method, scenario));
        }
        return print(json.dump(2) + "\n") ? Answered : Unanswered;
    }
    if (only) return print(cardText(*only, scenario)) ? Answered : Unanswered;
    std::vector<std::string> columns{"id", "title", "methodology", "level", "live", "cost of an answer"};
    if (scenario) columns.emplace_back("here");
    Table table(columns);
    const auto add = [&](const Method& method) {
        const MethodCard& card = method.card;
        std::vector<std::string> row{std::string(card.id),
                                     std::string(card.title),
                                     std::string(toText(card.methodology)),
                                     std::string(toText(card.level)),
                                     card.live ? "yes" : "no",
                                     toText(card.cost)};
        if (scenario) row.push_back(costHere(method, *scenario));
        table.add(std::move(row));
    };
    for (const Method& method : builtinMethods()) add(method);
    for (const Method& method : adapterMethods()) add(method);
    return print(table.text()) ? Answered : Unanswered;
}

std::vector<Option> methodsOptions() {
    std::vector<Option> all{
        {"json", "", "the whole cards as JSON"},
        {"hardware", "H", "with a question: what each answer is expected to take, on one thread"},
        {"workload", "W", "of that question"},
        {"set", "PATH=VALUE", "change an attribute of the hardware", true},
        {"measure-cost", "", "instead: ask each method questions of several sizes and set the time beside its card's"},
        {"measure-fit", "TABLES",
         "instead: fit the methods to parts of these references and set the time beside what is stated", true},
    };
    all.insert(all.end(), scenarioOptions().begin(), scenarioOptions().end());
    all.insert(all.end(), workloadOptions().begin(), workloadOptions().end());
    return all;
}

}  // namespace

const Command methodsCommand{
    .name = "methods",
    .positional = "ID",
    .summary = "list the prediction methods, with their method cards",
    .details =
        "With an ID, what that method does, needs and lets you choose. The last ones, from `adapter` on, ask other "
        "programs: "
        "`orrery-cli adapters` says which are here.",
    .options = methodsOptions(),
    .examples = {{"orrery-cli methods", "a table of ids, titles and what they cost"},
                 {"orrery-cli methods loop-nest", "one card, with the options of `--method 'loop-nest(…)'`"},
                 {"orrery-cli methods --hardware h100-sxm --workload llama-2-7b",
                  "how long would each take to answer?"},
                 {"orrery-cli methods roofline --measure-cost",
                  "how long does it take on this machine, beside its card?"},
                 {"orrery-cli methods tile-hybrid --measure-fit measured.csv", "how long does its fit take here?"},
                 {"orrery-cli methods --json", "every card: evidence, needs, failure mode, papers"}},
    .run = runMethods,
};

}  // namespace orrery::cli
