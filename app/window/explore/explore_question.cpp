#include "app/window/explore/explore_question.h"

#include "store/project/study_file.h"

namespace orrery::app {

ExploreQuestion exploreQuestion(const Document& document) {
    ExploreQuestion asked;
    const ProjectState& state = *document.state();
    if (state.search) asked.settings = *state.search;
    asked.hardware = document.hardware();
    if (!asked.hardware || state.scenarios.empty()) {
        asked.lacks = Diagnostic{
            Severity::Note, "explore.hardware", "No design is open", {}, "choose a device in the library", {}};
        return asked;
    }
    asked.design = QString::fromStdString(asked.hardware->name);
    const ProjectWorkload* workload = document.workload();
    if (!workload) {
        asked.lacks =
            Diagnostic{Severity::Note, "explore.workload", "No model is chosen", {}, "choose one in the library", {}};
        return asked;
    }
    asked.model = QString::fromStdString(workload->name);
    asked.recipe = workload->recipe;
    const ScenarioRef& shown = state.scenarios.front();
    asked.plan = shown.plan;
    asked.software = shown.software;
    auto task = taskOf(shown, state.serving);
    if (!task) {
        asked.lacks = task.error();
        return asked;
    }
    asked.task = std::move(*task);
    return asked;
}

Scenario scenarioOf(const ExploreQuestion& question, WorkloadPtr workload) {
    return {question.hardware, std::move(workload), question.plan, question.task, question.software};
}

}  // namespace orrery::app
