#include "methods/among_all.h"
#include "store/project/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery {

Expected<Task> taskOf(const ScenarioRef& scenario, const std::optional<ServingStudy>& serving) {
    if (scenario.task.empty()) return Pass{};
    if (scenario.task != toText(TaskKind::ServingRun)) return parseTask(scenario.task);
    if (!serving) {
        return fail("project.reference", "a scenario asks for the project's serving run, and the project has none",
                    "a section `serving:`", "add one, or take the scenario's `task` away");
    }
    return ServingRun{std::make_shared<const ServingStudy>(*serving)};
}

Expected<LoadedStudy> studyOfProject(const Project& project) {
    LoadedStudy loaded;
    loaded.study.name = project.name;
    loaded.timelines = true;
    std::map<std::string, HardwarePtr, std::less<>> designs;
    for (const Hardware& hardware : project.hardware) {
        designs.emplace(hardware.name, std::make_shared<const Hardware>(hardware));
    }
    std::map<std::string, WorkloadPtr, std::less<>> models;
    for (const ScenarioRef& scenario : project.scenarios) {
        const auto design = designs.find(scenario.hardware);
        const auto recipe = std::find_if(project.workloads.begin(), project.workloads.end(),
                                         [&](const ProjectWorkload& each) { return each.name == scenario.workload; });
        if (design == designs.end() || recipe == project.workloads.end()) {
            return fail("project.reference",
                        fmt::format("the scenario `{}` on `{}` names what is not in the project", scenario.workload,
                                    scenario.hardware),
                        "a workload and a design of the project");
        }
        WorkloadPtr& model = models[scenario.workload];
        if (!model) {
            auto made = loadWorkload(recipe->recipe);
            if (!made) {
                Diagnostic error = made.error();
                if (error.place.path.empty()) error.place.path = fmt::format("workloads: {}", recipe->name);
                return tl::unexpected(error);
            }
            auto named = std::make_shared<Workload>(**made);
            named->name = recipe->name;
            model = std::move(named);
        }
        Scenario asked{design->second, model, scenario.plan, Pass{}, scenario.software};
        auto task = taskOf(scenario, project.serving);
        if (!task) return tl::unexpected(std::move(task.error()));
        asked.task = std::move(*task);
        loaded.study.scenarios.push_back(std::move(asked));
    }
    if (loaded.study.scenarios.empty()) {
        return fail("project.empty", "the project has no scenario", "`scenarios: [{hardware: …, workload: …}]`",
                    "name one of its designs and one of its workloads");
    }
    for (const std::string& method : project.methods) {
        if (methodChoice(method, builtinMethods())) loaded.study.methods.push_back(method);
    }
    if (project.methods.empty()) {
        for (const Method& method : builtinMethods())
            if (standsAmongAll(method.card)) loaded.study.methods.emplace_back(method.card.id);
    }
    return loaded;
}

}  // namespace orrery
