#include "app/cli/answers.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "store/runs/run_store.h"
#include "store/project/study_file.h"

#include <fmt/format.h>

#include <optional>

namespace orrery::cli {

namespace {

int runStudy(const Arguments& arguments, Watch& watch) {
    auto loaded = readStudyFile(arguments.positionals().front());
    if (!loaded) return failed(loaded.error());
    report(loaded->warnings);
    const Study& study = loaded->study;
    const std::string out = *arguments.value("out");
    if (!makeFolder(out)) return Unanswered;
    auto store = RunStore::open(out + "/runs.sqlite");
    if (!store) return failed(store.error());
    const auto id = (*store)->beginRun(study);
    if (!id) return failed(id.error());

    const auto executor = makeDefaultExecutor();
    std::optional<Diagnostic> broken;
    std::stop_source stop;
    const std::stop_callback interrupted(watch.token(), [&] { stop.request_stop(); });
    StudyOptions options;
    options.executor = executor.get();
    options.stop = stop.get_token();
    options.progress = &watch.progress();
    options.wantTimeline = loaded->timelines || arguments.has("timelines");
    options.onResult = [&](const StudyResult& result) {
        if (broken || (result.failure && result.failure->code == "study.cancelled")) return;
        if (auto kept = (*store)->add(*id, study, result); !kept) {
            broken = kept.error();
            stop.request_stop();
        }
    };
    watch.begin(study.name);
    const auto results = runStudy(study, options);
    watch.end();
    if (!broken && !watch.interrupted()) {
        if (auto finished = (*store)->finishRun(*id); !finished) broken = finished.error();
    }
    reportFailures(results, false);
    bool written = print(answersText(study, results));
    written = writeReportFolder(out, study, results) && written;
    if (broken) return failed(*broken);
    if (watch.interrupted()) {
        return failed(fail("study.interrupted", "interrupted; every finished result is kept", "",
                           fmt::format("`orrery-cli export {}/runs.sqlite --list` shows it as run {}", out, *id))
                          .value());
    }
    return written && anyAnswer(results) ? Answered : Unanswered;
}

}  // namespace

const Command studyCommand{
    .name = "study",
    .positional = "FILE",
    .positionalRequired = true,
    .summary = "run many scenarios × many methods from a study file",
    .details =
        "Each result is stored in DIR/runs.sqlite the moment it is finished, so nothing is lost if the program is "
        "interrupted or killed. DIR also gets report.html, estimates.csv and run.json, and the operators of the "
        "first eight scenarios.",
    .options = {{"out", "DIR", "where runs.sqlite and the exports go"},
                {"timelines", "", "keep the timelines as well, and write traces"}},
    .required = {"out"},
    .examples = {{"orrery-cli study sweep.yaml --out results", "run it, or add a run to the database that is there"},
                 {"orrery-cli export results/runs.sqlite --list", "which runs are stored?"}},
    .run = runStudy,
};

}  // namespace orrery::cli
