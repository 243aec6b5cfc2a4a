#include "app/cli/answers.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "store/project/study_file.h"
#include "store/runs/run_store.h"
#include "store/runs/study_keys.h"

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
    const bool timelines = loaded->timelines || arguments.has("timelines");
    const std::vector<std::string> keys = pairKeys(study, timelines);
    ContinuedRun run;
    if (arguments.has("resume")) {
        auto continued = (*store)->continueRun(study, keys);
        if (!continued) return failed(continued.error());
        run = std::move(*continued);
    } else {
        const auto begun = (*store)->beginRun(study, keys);
        if (!begun) return failed(begun.error());
        run.id = *begun;
    }

    const auto executor = makeDefaultExecutor();
    std::optional<Diagnostic> broken;
    std::stop_source stop;
    const std::stop_callback interrupted(watch.token(), [&] { stop.request_stop(); });
    StudyOptions options;
    options.executor = executor.get();
    options.stop = stop.get_token();
    options.progress = &watch.progress();
    options.wantTimeline = timelines;
    options.known = run.known;
    options.onResult = [&](const StudyResult& result) {
        if (broken || (result.failure && result.failure->code == "study.cancelled")) return;
        if (auto kept = (*store)->add(run.id, study, result); !kept) {
            broken = kept.error();
            stop.request_stop();
        }
    };
    watch.begin(study.name);
    const auto results = runStudy(study, options);
    watch.end();
    if (!broken && !watch.interrupted()) {
        if (auto finished = (*store)->finishRun(run.id); !finished) broken = finished.error();
    }
    reportFailures(results, false);
    bool written = print(answersText(study, results));
    written = writeReportFolder(out, study, results) && written;
    if (broken) return failed(*broken);
    if (watch.interrupted()) {
        return failed(fail("study.interrupted", "interrupted; every finished result is kept", "",
                           fmt::format("the same command with `--resume` goes on; `orrery-cli export {}/runs.sqlite "
                                       "--list` shows it as run {}",
                                       out, run.id))
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
        "interrupted or killed: with --resume the same command answers what is missing. DIR also gets report.html, "
        "estimates.csv and run.json, and the operators of the "
        "first eight scenarios.",
    .options = {{"out", "DIR", "where runs.sqlite and the exports go"},
                {"resume", "",
                 "go on with the newest run of the same questions; answers that stand there are not asked again"},
                {"timelines", "", "keep the timelines as well, and write traces"}},
    .required = {"out"},
    .examples = {{"orrery-cli study sweep.yaml --out results", "run it, or add a run to the database that is there"},
                 {"orrery-cli study sweep.yaml --out results --resume", "go on after an interrupt, or with more of it"},
                 {"orrery-cli export results/runs.sqlite --list", "which runs are stored?"}},
    .run = runStudy,
};

}  // namespace orrery::cli
