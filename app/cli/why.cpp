#include "app/cli/why.h"

#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/unit.h"
#include "methods/model/explain.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

Expected<std::size_t> findOperator(const Graph& graph, const std::string& name) {
    std::vector<std::size_t> parts;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (graph.operators[i].name == name) return i;
        if (graph.operators[i].name.find(name) != std::string::npos) parts.push_back(i);
    }
    if (parts.size() == 1) return parts.front();
    std::string some;
    for (std::size_t k = 0; k < parts.size() && k < 6; ++k) {
        some += (k > 0 ? ", " : "") + graph.operators[parts[k]].name;
    }
    return fail("usage.operator",
                parts.empty() ? fmt::format("no operator is named '{}'", name)
                              : fmt::format("{} operators have '{}' in their name", parts.size(), name),
                some.empty() ? "the name of an operator" : some,
                "`--out DIR` writes all names into operators-<method>.csv", {});
}

std::string valueText(const KernelTerm& term) {
    const std::string value = formatMeasure(term.value, term.dimension, 4);
    return term.unit.empty() ? value : value + " " + term.unit;
}

std::string textOf(const Workload& workload, const ExplainedKernel& kernel) {
    std::string text = toText(kernel.kernel);
    if (!kernel.what.empty()) text = kernel.what + ": " + text;
    if (kernel.operators.size() > 1) {
        text += "\n  with";
        for (std::size_t k = 1; k < kernel.operators.size(); ++k) {
            text += (k > 1 ? ", " : " ") + workload.graph.operators[static_cast<std::size_t>(kernel.operators[k])].name;
        }
    }
    text += fmt::format("\n  {} [{} … {}], {:.0f} times, {:.1f} % of the whole{}\n",
                        format(Seconds(kernel.price.seconds)), format(Seconds(kernel.price.low)),
                        format(Seconds(kernel.price.high)), kernel.times, 100 * kernel.share,
                        kernel.bound          ? "; a lower bound"
                        : kernel.price.priced ? ""
                                              : "; not covered by the method: its roofline");
    Table terms({"", "", ""}, {false, true, false});
    for (const KernelTerm& term : kernel.story.terms) terms.add({"  " + term.name, valueText(term), term.meaning});
    text += terms.body();
    if (!kernel.story.stack.empty()) {
        Table stack({"", ""}, {false, true});
        for (const StackPart& part : kernel.story.stack) stack.add({"  " + part.name, count(part.cycles) + " cycles"});
        text += stack.body();
    }
    return text;
}

Json jsonOf(const Workload& workload, const ExplainedKernel& kernel) {
    Json json{{"kernel", toText(kernel.kernel)},
              {"what", kernel.what},
              {"seconds", kernel.price.seconds},
              {"low_seconds", kernel.price.low},
              {"high_seconds", kernel.price.high},
              {"times", kernel.times},
              {"share", kernel.share},
              {"bound", kernel.bound},
              {"covered", kernel.price.priced},
              {"domain", toText(kernel.price.domain)}};
    for (const std::int32_t op : kernel.operators) {
        json["operators"].push_back(workload.graph.operators[static_cast<std::size_t>(op)].name);
    }
    json["terms"] = Json::array();
    for (const KernelTerm& term : kernel.story.terms) {
        json["terms"].push_back({{"name", term.name},
                                 {"value", term.value},
                                 {"dimension", toText(term.dimension)},
                                 {"unit", term.unit},
                                 {"meaning", term.meaning}});
    }
    json["stack"] = Json::array();
    for (const StackPart& part : kernel.story.stack) {
        json["stack"].push_back({{"name", part.name}, {"cycles", part.cycles}});
    }
    return json;
}

}  // namespace

int explain(const Study& study, const std::string& name, const CalibrationSet& calibrations, const std::string& json) {
    const Scenario& scenario = study.scenarios.front();
    const Workload& workload = *scenario.workload;
    const auto op = findOperator(workload.graph, name);
    if (!op) return failed(op.error());
    std::string text = fmt::format("{} in {}\n", workload.graph.operators[*op].name, scenario.name());
    Json stories = Json::array();
    Diagnostic last = fail("method.no-story", "no method that prices kernel by kernel was asked", "such as tile-wave",
                           "Name one with --method")
                          .value();
    for (const std::string& method : study.methods) {
        const auto choice = methodChoice(method, builtinMethods());
        if (!choice || !tellsWhy(choice->id)) continue;
        const auto kernels = explainOperator(scenario, *choice, *op, &calibrations);
        if (!kernels) {
            last = kernels.error();
            continue;
        }
        text += "\n" + method + (kernels->empty() ? ": launches nothing\n" : "\n");
        Json story{{"method", method}, {"operator", workload.graph.operators[*op].name}, {"kernels", Json::array()}};
        for (const ExplainedKernel& kernel : *kernels) {
            text += textOf(workload, kernel);
            story["kernels"].push_back(jsonOf(workload, kernel));
        }
        stories.push_back(std::move(story));
    }
    if (stories.empty()) return failed(last);
    if (json.empty()) return print(text) ? Answered : Unanswered;
    return writeTo(json, stories.dump(2) + "\n") ? Answered : Unanswered;
}

}  // namespace orrery::cli
