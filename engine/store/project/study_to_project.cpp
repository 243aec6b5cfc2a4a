#include "store/project/study_to_project.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace orrery {

namespace {

/// `name`, or `name 2`, `name 3`, … whichever is free; taken then.
std::string freeName(std::set<std::string>& taken, const std::string& name) {
    std::string free = name;
    for (int number = 2; !taken.insert(free).second; ++number) free = fmt::format("{} {}", name, number);
    return free;
}

}  // namespace

Expected<Project> projectOfStudy(const Study& study) {
    if (study.scenarios.size() > mostShownScenarios) {
        return fail("study.too-large", fmt::format("the study has {} scenarios", study.scenarios.size()),
                    fmt::format("at most {} to be shown as a project", mostShownScenarios),
                    "`orrery-cli study FILE` answers all of them");
    }
    Project project;
    project.name = study.name;
    project.methods = study.methods;
    std::set<std::string> designs, models;
    std::map<const Hardware*, std::string> designNames;
    std::map<const Workload*, std::string> modelNames;
    for (const Scenario& scenario : study.scenarios) {
        std::string& design = designNames[scenario.hardware.get()];
        if (design.empty()) {
            design = freeName(designs, scenario.hardware->name);
            project.hardware.push_back(*scenario.hardware);
            project.hardware.back().name = design;
        }
        std::string& model = modelNames[scenario.workload.get()];
        if (model.empty()) {
            model = freeName(models, scenario.workload->name);
            project.workloads.push_back({model, scenario.workload->recipe, {}});
        }
        ScenarioRef ref{design, model, {}, scenario.plan, {}, scenario.software};
        if (const auto* serving = std::get_if<ServingRun>(&scenario.task)) {
            if (project.serving && !(*project.serving == *serving->study)) {
                return fail("study.two-servings", "the study asks for several serving runs", "one",
                            "`orrery-cli study FILE` answers all of them");
            }
            project.serving = *serving->study;
            ref.task = toText(TaskKind::ServingRun);
        } else if (!std::holds_alternative<Pass>(scenario.task)) {
            ref.task = toText(scenario.task);
        }
        project.scenarios.push_back(std::move(ref));
    }
    return project;
}

}  // namespace orrery
