#include "hardware/files/hardware_yaml.h"
#include "store/project/project.h"
#include "store/project/recipe_yaml.h"
#include "store/project/search_file.h"
#include "store/project/search_yaml.h"
#include "store/project/serving_file.h"
#include "store/project/what_if_yaml.h"

#include <filesystem>

namespace orrery {

namespace {

std::string workloadBlock(const WorkloadRecipe& recipe) {
    std::error_code ignored;
    std::string source = recipe.source;
    if (isFileSource(source)) source = std::filesystem::absolute(source, ignored).string();
    const WorkloadInfo* info = builtinWorkload(recipe.source);
    return "workload:\n" +
           store::indented("source: " + yamlScalar(source) + "\n" +
                               store::writeOptions(recipe.options, 0, info ? info->usual : WorkloadOptions{}) +
                               store::writeWhatIfs(recipe.whatIfs),
                           2);
}

}  // namespace

std::vector<SearchPart> writeSearch(const std::string& name, const Scenario& base, const SearchSettings& settings) {
    std::vector<SearchPart> parts{{"search.yaml", {}}, {"design.yaml", writeHardware(*base.hardware)}};
    std::string text = "orrery: search/1\nname: " + yamlScalar(name) +
                       "\nhardware: {file: ./design.yaml, name: " + yamlScalar(base.hardware->name) + "}\n" +
                       workloadBlock(base.workload->recipe);
    if (base.plan.split() || !base.plan.placement.empty()) text += "plan: " + yamlScalar(toText(base.plan)) + "\n";
    if (!base.software.empty()) text += "software: " + yamlScalar(toText(base.software)) + "\n";
    if (const auto* run = std::get_if<ServingRun>(&base.task); run && run->study) {
        parts.push_back({"serving.yaml", writeServing(*run->study)});
        text += "task: ./serving.yaml\n";
    } else if (kindOf(base.task) != TaskKind::Pass) {
        text += "task: " + yamlScalar(toText(base.task)) + "\n";
    }
    parts.front().text = text + store::writeSearchSettings(settings);
    return parts;
}

}  // namespace orrery
