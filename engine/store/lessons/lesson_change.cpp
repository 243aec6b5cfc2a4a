#include "base/text/words.h"
#include "hardware/component.h"
#include "methods/method.h"
#include "store/lessons/lesson.h"
#include "study/serving/sweep.h"
#include "workload/option_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

Expected<Project> withNamed(Project project, bool hardware, std::string_view name) {
    const bool there =
        hardware
            ? std::ranges::any_of(project.hardware, [&](const Hardware& each) { return each.name == name; })
            : std::ranges::any_of(project.workloads, [&](const ProjectWorkload& each) { return each.name == name; });
    if (!there) {
        return fail("lesson.name", fmt::format("the project has no {} `{}`", hardware ? "design" : "workload", name),
                    "a name of the lesson's project");
    }
    (hardware ? project.scenarios.front().hardware : project.scenarios.front().workload) = name;
    return project;
}

}  // namespace

Expected<Project> doChange(Project project, std::string_view key, std::string_view value) {
    constexpr std::string_view serving = "serving.";
    if (project.scenarios.empty())
        return fail("lesson.scenario", "the project asks nothing", "a scenario of a design and a workload");
    ScenarioRef& scenario = project.scenarios.front();
    if (key == "plan") {
        auto plan = parsePlan(value);
        if (!plan) return Unexpected(plan.error());
        scenario.plan = std::move(*plan);
        return project;
    }
    if (key == "task") {
        if (auto task = parseTask(value); !task) return Unexpected(task.error());
        scenario.task = value;
        return project;
    }
    if (key == "methods") {
        project.methods.clear();
        for (const std::string& text : splitMethods(value)) {
            auto choice = methodChoice(text, builtinMethods());
            if (!choice) return Unexpected(choice.error());
            project.methods.push_back(toText(*choice));
        }
        return project;
    }
    if (key == "hardware" || key == "workload") return withNamed(std::move(project), key == "hardware", value);
    if (key.starts_with(serving)) {
        if (!project.serving) return fail("lesson.serving", "the project asks nothing about serving", "`serving:`");
        if (auto done = setSweepValue(*project.serving, key.substr(serving.size()), value); !done)
            return Unexpected(done.error());
        return project;
    }
    if (std::ranges::find(workloadOptionKeys(), key) != workloadOptionKeys().end()) {
        const auto at = std::ranges::find(project.workloads, scenario.workload, &ProjectWorkload::name);
        if (at == project.workloads.end()) return fail("lesson.name", "the scenario names no workload", "its name");
        auto options = withOption(at->recipe.options, key, value);
        if (!options) return Unexpected(options.error());
        at->recipe.options = std::move(*options);
        return project;
    }
    const auto at = std::ranges::find(project.hardware, scenario.hardware, &Hardware::name);
    if (at == project.hardware.end()) return fail("lesson.name", "the scenario names no design", "its name");
    auto design = withAttribute(std::move(*at), key, value);
    if (!design) return Unexpected(design.error());
    *at = std::move(*design);
    return project;
}

}  // namespace orrery
