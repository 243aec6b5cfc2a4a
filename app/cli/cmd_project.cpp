#include "app/cli/output.h"
#include "app/cli/question.h"
#include "store/project.h"

#include <fmt/format.h>

namespace orrery::cli {

namespace {

int run(const Arguments& arguments, Watch&) {
    const std::string file = arguments.positionals().front();
    const auto loaded = readProjectFile(file);
    if (!loaded) return failed(loaded.error());
    report(loaded->warnings);
    const Project& project = loaded->project;
    if (arguments.has("upgrade")) {
        const auto saved = saveProjectFile(file, project);
        if (!saved) return failed(saved.error());
    }
    std::string out = fmt::format("{}\n\n", project.name.empty() ? file : project.name);
    Table table({"part", "name", "from"});
    for (const Hardware& hardware : project.hardware) table.add({"hardware", hardware.name, hardware.description});
    for (const ProjectWorkload& workload : project.workloads) {
        table.add({"workload", workload.name, workload.recipe.source});
    }
    for (const ScenarioRef& scenario : project.scenarios) {
        table.add({"scenario", scenario.workload + " on " + scenario.hardware});
    }
    for (const std::string& method : project.methods) table.add({"method", method});
    return print(out + table.text()) ? Answered : Unanswered;
}

}  // namespace

const Command projectCommand{
    .name = "project",
    .positional = "FILE",
    .positionalRequired = true,
    .summary = "check a project file and list what is in it",
    .details = "",
    .options = {{"upgrade", "", "save it in the newest format, with what migrations changed"}},
    .examples = {{"orrery-cli project first.orrery", "is the file sound, and what does it hold?"},
                 {"orrery-cli project old.orrery --upgrade", "bring a file of an older Orrery up to date"}},
    .run = run,
};

}  // namespace orrery::cli
