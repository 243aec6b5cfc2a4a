#include "app/cli/answers.h"
#include "app/cli/interrupt.h"
#include "app/cli/judging_cli.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "app/cli/ranks_cli.h"
#include "base/hash.h"
#include "store/project/study_file.h"
#include "store/runs/result_codec.h"
#include "store/runs/run_store.h"
#include "store/runs/study_keys.h"

#include <fmt/format.h>

#include <optional>

namespace orrery::cli {

namespace {

std::string questionOf(const std::vector<std::string>& keys) {
    Hash hash;
    for (const std::string& key : keys) hash.add(key);
    return "study " + hash.hex();
}

// Another rank than 0 answers pairs until all is done.
int help(Ranks& ranks, const Study& study, StudyOptions options, const std::string& question, std::stop_source stop) {
    const ResultCodec codec = resultCodec(study);
    const auto executor = makeDefaultExecutor(ranks.threadsHere());
    options.executor = executor.get();
    const auto served =
        ranks.serve({question, ranks.threadsHere(), pairAnswers(study, options, codec)}, std::move(stop));
    return served ? Answered : Unanswered;
}

int studyOn(Ranks* ranks, const Arguments& arguments, Watch& watch) {
    auto loaded = readStudyFile(arguments.positionals().front());
    if (isHelper(ranks) && !loaded) {
        ranks->refuse(loaded.error());
        return Unanswered;
    }
    if (!loaded) return failed(loaded.error());
    const Study& study = loaded->study;
    StudyOptions options;
    options.wantTimeline = loaded->timelines || arguments.has("timelines");
    const std::vector<std::string> keys = pairKeys(study, options.wantTimeline);
    std::stop_source stop;
    const std::stop_callback interrupted(watch.token(), [&] { stop.request_stop(); });
    options.stop = stop.get_token();
    if (isHelper(ranks)) {
        watch.begin(study.name);
        return help(*ranks, study, options, questionOf(keys), stop);
    }
    report(loaded->warnings);
    const std::string out = *arguments.value("out");
    if (!makeFolder(out)) return Unanswered;
    auto store = RunStore::open(out + "/runs.sqlite");
    if (!store) return failed(store.error());
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

    const auto executor = makeDefaultExecutor(ranks ? ranks->threadsHere() : 0);
    std::optional<Diagnostic> broken;
    options.executor = executor.get();
    options.progress = &watch.progress();
    options.known = run.known;
    options.onResults = [&](std::span<const StudyResult> results) {
        const bool cancelled = results.front().failure && results.front().failure->code == "study.cancelled";
        if (broken || cancelled) return;
        if (auto kept = (*store)->add(run.id, study, results); !kept) {
            broken = kept.error();
            stop.request_stop();
        }
    };
    const ResultCodec codec = resultCodec(study);
    if (ranks) {
        ranks->begin({questionOf(keys), ranks->threadsHere(), pairAnswers(study, options, codec)});
        answerOn(*ranks, options, codec);
    }
    watch.begin(study.name);
    const auto results = orrery::runStudy(study, options);
    watch.end();
    if (ranks) {
        ranks->finish();
        reportRanks(*ranks, arguments.has("ranks"));
    }
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

int runStudy(const Arguments& arguments, Watch& watch) {
    if (const auto asked = judgingArgument(arguments.positionals())) return writeJudged(*asked, arguments, watch);
    auto ranks = joinedRanks();
    if (!ranks) return isHelper(nullptr) ? Unanswered : failed(ranks.error());
    const int code = studyOn(ranks->get(), arguments, watch);
    return *ranks ? (*ranks)->ended(code) : code;
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
        "first eight scenarios. A file that the page Evidence saved (`orrery: judging/1`), or a benchmark, leaves "
        "every "
        "figure and table of the page instead: report.html, the plane, matrix and errors as SVG at the widths of a "
        "page "
        "and of a column (as PDF too, where the studio is installed beside), figures as CSV and LaTeX, the rows, the "
        "papers as BibTeX.",
    .options = {{"out", "DIR", "where runs.sqlite and the exports go"},
                {"resume", "",
                 "go on with the newest run of the same questions; answers that stand there are not asked again"},
                {"ranks", "", "on several ranks: what an answer and a batch took, on standard error"},
                {"timelines", "", "keep the timelines as well, and write traces"}},
    .required = {"out"},
    .examples = {{"orrery-cli study sweep.yaml --out results", "run it, or add a run to the database that is there"},
                 {"orrery-cli study sweep.yaml --out results --resume", "go on after an interrupt, or with more of it"},
                 {"orrery-cli export results/runs.sqlite --list", "which runs are stored?"},
                 {"orrery-cli study judging.yaml --out page", "every figure and table of a page of methods"}},
    .run = runStudy,
    .shared = true,
};

}  // namespace orrery::cli
