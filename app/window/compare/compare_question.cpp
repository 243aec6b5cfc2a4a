#include "app/window/compare/compare_question.h"

#include "store/project/scenario_baseline.h"
#include "store/project/study_file.h"

#include <algorithm>

namespace orrery::app {

namespace {

void nameCases(CompareQuestion& asked, const ProjectState& state) {
    const auto differs = [&](auto&& part) {
        return std::any_of(asked.cases.begin(), asked.cases.end(),
                           [&](const CaseQuestion& each) { return !(part(each) == part(asked.cases.front())); });
    };
    const bool models = differs([](const CaseQuestion& each) -> const auto& { return each.recipe; });
    const bool plans = differs([](const CaseQuestion& each) -> const auto& { return each.plan; });
    const bool tasks = differs([](const CaseQuestion& each) -> const auto& { return each.task; });
    for (CaseQuestion& each : asked.cases) {
        each.name = each.hardware->name;
        if (models) each.name += " · " + state.scenarios[static_cast<std::size_t>(each.scenario)].workload;
        if (plans) each.name += " · " + (each.plan.split() ? toText(each.plan) : std::string("one device"));
        if (tasks) each.name += " · " + toText(each.task);
    }
}

void askMethods(CompareQuestion& asked, const std::vector<std::string>& methods) {
    const auto add = [&](const std::string& text) {
        if (std::ranges::find(asked.methods, text) == asked.methods.end()) asked.methods.push_back(text);
    };
    for (const CaseQuestion& each : asked.cases) {
        const TaskKind kind = kindOf(each.task);
        bool answered = false;
        for (const bool live : {true, false}) {
            for (const std::string& text : methods) {
                const Method* method = findMethod(text);
                if (!method || !method->card.answers(kind) || (live && !method->card.live)) continue;
                add(text);
                answered = true;
            }
            if (answered) break;
        }
        if (!answered && kind == TaskKind::ServingRun) add("serving");
    }
}

}  // namespace

CompareQuestion compareQuestion(const Document& document) {
    const ProjectState& state = *document.state();
    CompareQuestion asked;
    std::optional<std::size_t> pinned;
    for (std::size_t i = 0; i < state.scenarios.size(); ++i) {
        const ScenarioRef& scenario = state.scenarios[i];
        const int design = state.hardwareIndex(scenario.hardware), model = state.workloadIndex(scenario.workload);
        auto task = taskOf(scenario, state.serving);
        if (design < 0 || model < 0 || !task) {
            if (i == 0) return {};
            continue;
        }
        if (isBaseline(scenario) && !pinned) pinned = asked.cases.size();
        asked.cases.push_back({static_cast<int>(i),
                               {},
                               state.hardware[static_cast<std::size_t>(design)],
                               state.workloads[static_cast<std::size_t>(model)].recipe,
                               scenario.plan,
                               scenario.software,
                               std::move(*task)});
    }
    if (asked.cases.empty()) return asked;
    asked.pinned = pinned.has_value();
    asked.baseline = pinned.value_or(asked.cases.size() > 1 ? 1 : 0);
    asked.prices.insert(state.prices.begin(), state.prices.end());
    askMethods(asked, state.methods);
    nameCases(asked, state);
    return asked;
}

}  // namespace orrery::app
