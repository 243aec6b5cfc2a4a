#include "app/cli/answers.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "store/project/project.h"
#include "store/project/study_file.h"

#include <fmt/format.h>

#include <filesystem>

namespace orrery::cli {

namespace {

std::string partsText(const std::string& file, const Project& project) {
    std::string out = fmt::format("{}\n\n", project.name.empty() ? file : project.name);
    Table table({"part", "name", "from"});
    for (const Hardware& hardware : project.hardware) table.add({"hardware", hardware.name, hardware.description});
    for (const ProjectWorkload& workload : project.workloads) {
        table.add({"workload", workload.name, workload.recipe.source});
    }
    for (const ScenarioRef& scenario : project.scenarios) {
        std::string asked = scenario.task.empty() ? scenario.workload : scenario.task + " of " + scenario.workload;
        if (scenario.plan.split()) asked += ", " + toText(scenario.plan);
        table.add({"scenario", asked + " on " + scenario.hardware});
    }
    for (const std::string& method : project.methods) table.add({"method", method});
    return out + table.text();
}

/// Models that the project names and that are not there.
Diagnostics missingModels(const std::string& file, const Project& project) {
    Diagnostics missing;
    for (const ProjectWorkload& workload : project.workloads) {
        const std::string& source = workload.recipe.source;
        std::error_code error;
        if (!isFileSource(source) || std::filesystem::exists(source, error)) continue;
        missing.push_back(warning("project.no-model",
                                  fmt::format("there is no file “{}”, of which workload “{}” is made", source,
                                              workload.name),
                                  "put it there, or name another by `source`"));
        missing.back().place.file = file;
    }
    return missing;
}

int answer(const Project& project, const std::string& out, Watch& watch) {
    const auto loaded = studyOfProject(project);
    if (!loaded) return failed(loaded.error());
    if (!makeFolder(out)) return Unanswered;
    const auto executor = makeDefaultExecutor();
    StudyOptions options;
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    watch.begin(loaded->study.name);
    const auto results = runStudy(loaded->study, options);
    watch.end();
    // Of several tasks some are not for every method.
    reportFailures(results, !project.methods.empty() && project.scenarios.size() == 1);
    const bool written = print(answersText(loaded->study, results)) && writeReportFolder(out, loaded->study, results);
    return written && anyAnswer(results) && !watch.interrupted() ? Answered : Unanswered;
}

int runProject(const Arguments& arguments, Watch& watch) {
    const std::string file = arguments.positionals().front();
    const auto loaded = readProjectFile(file);
    if (!loaded) return failed(loaded.error());
    report(loaded->warnings);
    if (arguments.has("upgrade")) {
        const auto saved = saveProjectFile(file, loaded->project);
        if (!saved) return failed(saved.error());
    }
    if (const auto out = arguments.value("out")) return answer(loaded->project, *out, watch);
    report(missingModels(file, loaded->project));
    return print(partsText(file, loaded->project)) ? Answered : Unanswered;
}

}  // namespace

const Command projectCommand{
    .name = "project",
    .positional = "FILE",
    .positionalRequired = true,
    .summary = "check a project file and list what is in it, or answer its scenarios",
    .details = "",
    .options = {{"out", "DIR", "answer all scenarios of the project and leave the files of a report"},
                {"upgrade", "", "save it in the newest format, with what migrations changed"}},
    .examples = {{"orrery-cli project first.orrery", "is the file sound, and what does it hold?"},
                 {"orrery-cli project first.orrery --out report", "the answers to all its scenarios, to read or print"},
                 {"orrery-cli project old.orrery --upgrade", "bring a file of an older Orrery up to date"}},
    .run = runProject,
};

}  // namespace orrery::cli
