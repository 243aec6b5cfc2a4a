#include "hardware/files/hardware_yaml.h"
#include "store/project/project.h"
#include "store/project/recipe_yaml.h"
#include "store/project/search_yaml.h"
#include "store/project/serving_file.h"
#include "store/project/serving_yaml.h"
#include "store/project/what_if_yaml.h"
#include "store/project/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace orrery {

namespace {

// A block as one item of a list: its first line after `- `, the others below it.
std::string listItem(const std::string& block) {
    std::string text = store::indented(block, 4);
    const auto first = text.find_first_not_of(' ');
    if (first != std::string::npos && first >= 2) text[first - 2] = '-';
    return text;
}

}  // namespace

std::string writeProject(const Project& project) {
    std::string out = fmt::format("orrery: project/{}\n", projectVersion);
    if (!project.name.empty()) out += fmt::format("name: {}\n", yamlScalar(project.name));
    if (!project.description.empty()) out += fmt::format("description: {}\n", yamlScalar(project.description));
    if (!project.hardware.empty()) out += "hardware:\n";
    for (const Hardware& hardware : project.hardware) out += listItem(writeHardware(hardware));
    if (!project.workloads.empty()) out += "workloads:\n";
    for (const ProjectWorkload& workload : project.workloads) {
        std::string block;
        if (workload.name != workload.recipe.source) block += fmt::format("name: {}\n", yamlScalar(workload.name));
        block += fmt::format("source: {}\n", yamlScalar(workload.recipe.source));
        block += store::writeOptions(workload.recipe.options, 0);
        block += store::writeWhatIfs(workload.recipe.whatIfs);
        out += listItem(block + store::writeUnknown(workload.unknown, 0));
    }
    if (!project.scenarios.empty()) out += "scenarios:\n";
    for (const ScenarioRef& scenario : project.scenarios) {
        std::string block =
            fmt::format("hardware: {}\nworkload: {}\n", yamlScalar(scenario.hardware), yamlScalar(scenario.workload));
        if (scenario.plan != Plan{}) block += fmt::format("plan: {}\n", yamlScalar(toText(scenario.plan)));
        if (!scenario.software.empty()) block += fmt::format("software: {}\n", yamlScalar(toText(scenario.software)));
        if (!scenario.task.empty()) block += fmt::format("task: {}\n", yamlScalar(scenario.task));
        out += listItem(block + store::writeUnknown(scenario.unknown, 0));
    }
    if (project.prices.size() == 1 && project.prices.begin()->first.empty()) {
        out += fmt::format("device_hour: {}\n", project.prices.begin()->second);
    } else if (!project.prices.empty()) {
        out += "device_hour:\n";
        for (const auto& [kind, dollars] : project.prices)
            out += fmt::format("  {}: {}\n", kind.empty() ? "other" : yamlScalar(kind), dollars);
    }
    if (!project.methods.empty()) {
        out += "methods:\n";
        for (const std::string& method : project.methods) out += fmt::format("  - {}\n", yamlScalar(method));
    }
    if (project.serving) {
        const std::string section = store::writeServingSection(*project.serving);
        out += section.empty() ? "serving: {}\n" : "serving:\n" + store::indented(section, 2);
    }
    if (project.search) out += "search:\n" + store::indented(store::writeSearchSettings(*project.search), 2);
    return out + store::writeUnknown(project.unknown, 0);
}

bool isFileSource(std::string_view source) {
    if (source.find('/') != std::string_view::npos) return true;
    constexpr std::array<std::string_view, 4> extensions{".onnx", ".json", ".yaml", ".yml"};
    return std::any_of(extensions.begin(), extensions.end(),
                       [&](auto extension) { return source.ends_with(extension); });
}

Project withSourcesRelativeTo(Project project, const std::string& folder) {
    namespace fs = std::filesystem;
    for (ProjectWorkload& workload : project.workloads) {
        const fs::path source(workload.recipe.source);
        if (!isFileSource(workload.recipe.source) || !source.is_absolute()) continue;
        const fs::path relative = source.lexically_normal().lexically_relative(fs::path(folder).lexically_normal());
        const auto climbs = std::count(relative.begin(), relative.end(), fs::path(".."));
        if (relative.empty() || climbs > 2) continue;
        // `./` keeps a file called like a built-in model a file.
        const std::string text = relative.generic_string();
        workload.recipe.source = isFileSource(text) ? text : "./" + text;
    }
    if (project.serving) project.serving = withPathsRelativeTo(std::move(*project.serving), folder);
    return project;
}

Project withSourcesResolved(Project project, const std::string& folder) {
    namespace fs = std::filesystem;
    for (ProjectWorkload& workload : project.workloads) {
        const fs::path source(workload.recipe.source);
        if (!isFileSource(workload.recipe.source) || source.is_absolute()) continue;
        workload.recipe.source = (fs::path(folder) / source).lexically_normal().string();
    }
    if (project.serving) project.serving = withPathsResolved(std::move(*project.serving), folder);
    return project;
}

Expected<void> saveProjectFile(const std::string& path, const Project& project) {
    std::error_code ignored;
    const auto folder = std::filesystem::absolute(path, ignored).parent_path();
    return saveFileAtomically(path, writeProject(withSourcesRelativeTo(project, folder.string())));
}

}  // namespace orrery
