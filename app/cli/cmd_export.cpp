#include "app/cli/answers.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/nearest.h"
#include "base/text/words.h"
#include "store/export/exports.h"
#include "store/runs/run_store.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>

namespace orrery::cli {

namespace {

const std::vector<std::string> formats{"csv", "json", "html", "operators", "trace"};

int list(RunStore& store) {
    const auto runs = store.runs();
    if (!runs) return failed(runs.error());
    Table table({"run", "started", "state", "results", "failures", "name"}, {true, false, false, true, true, false});
    for (const StoredRun& run : *runs) {
        table.add({fmt::format("{}", run.id), run.started, run.finished ? "finished" : "interrupted",
                   fmt::format("{}", run.results), fmt::format("{}", run.failures), run.name});
    }
    return print(table.text()) ? Answered : Unanswered;
}

Expected<std::int64_t> whichRun(const Arguments& arguments, RunStore& store) {
    if (const auto text = arguments.value("run")) {
        if (const auto id = wholeIn(*text)) return *id;
        return fail("usage.run", fmt::format("`--run {}` is not a run's number", *text), "a whole number");
    }
    const auto runs = store.runs();
    if (!runs) return tl::unexpected(runs.error());
    if (runs->empty()) return fail("store.run", "the database has no run", "at least one run");
    return runs->back().id;
}

std::string perResult(const Study& study, const std::vector<StudyResult>& results, bool trace) {
    std::string out;
    for (const StudyResult& result : results) {
        if (!result.estimate) continue;
        const Scenario& scenario = study.scenarios[result.scenario];
        if (trace && result.estimate->timeline.spans.empty()) continue;
        return trace ? chromeTrace(scenario, *result.estimate) : operatorsCsv(scenario, *result.estimate);
    }
    return out;
}

int toStandardOutput(const std::string& format, const RestoredRun& run) {
    if (format == "csv") return print(comparisonCsv(run.study, run.results)) ? Answered : Unanswered;
    if (format == "json") return print(runJson(run.study, run.results)) ? Answered : Unanswered;
    if (format == "html") return print(reportHtml(run.study, run.results)) ? Answered : Unanswered;
    const std::string text = perResult(run.study, run.results, format == "trace");
    if (!text.empty()) return print(text) ? Answered : Unanswered;
    return failed(fail("export.nothing", fmt::format("the run keeps nothing to export as {}", format), "",
                       format == "trace" ? "run the study again with --timelines" : "")
                      .value());
}

int runExport(const Arguments& arguments, Watch&) {
    const std::string file = arguments.positionals().front();
    const auto format = arguments.value("format");
    if (format && std::find(formats.begin(), formats.end(), *format) == formats.end()) {
        return failed(fail("usage.format", fmt::format("`{}` is not a format", *format),
                           fmt::format("one of {}", fmt::join(formats, ", ")), didYouMean(*format, formats))
                          .value());
    }
    const auto out = arguments.value("out");
    if (!format && !out && !arguments.has("list")) {
        return failed(fail("usage.missing", "`export` needs `--list`, `--format` or `--out`", "",
                           "see `orrery-cli export --help`")
                          .value());
    }
    std::error_code code;
    if (!std::filesystem::exists(file, code)) {
        return failed(fail("file.system", "there is no such file", "a run database that `orrery-cli study` made",
                           "look for runs.sqlite in the folder that was given to --out", {file})
                          .value());
    }
    auto store = RunStore::open(file);
    if (!store) return failed(store.error());
    if (arguments.has("list")) return list(**store);
    const auto id = whichRun(arguments, **store);
    if (!id) return failed(id.error());
    auto restored = restoreRun(**store, *id);
    if (!restored) return failed(restored.error());
    if (auto only = arguments.value("method")) {
        if (const auto choice = methodChoice(*only, builtinMethods())) only = toText(*choice);
        std::erase_if(restored->results, [&](const StudyResult& each) { return each.method != *only; });
        if (restored->results.empty()) {
            return failed(fail("method.unknown", fmt::format("the run has no result of `{}`", *only),
                               fmt::format("one of {}", fmt::join(restored->study.methods, ", ")),
                               didYouMean(*only, restored->study.methods))
                              .value());
        }
    }
    if (format) return toStandardOutput(*format, *restored);
    if (!makeFolder(*out)) return Unanswered;
    return writeReportFolder(*out, restored->study, restored->results, std::numeric_limits<std::size_t>::max())
               ? Answered
               : Unanswered;
}

}  // namespace

const Command exportCommand{
    .name = "export",
    .positional = "DATABASE",
    .positionalRequired = true,
    .summary = "write a stored run again, as CSV, JSON, HTML or a Chrome trace",
    .details =
        "With --format one export goes to standard output; operators and trace are those of the first answer, so "
        "choose it with --method. With --out all of them go to a folder.",
    .options = {{"list", "", "which runs are stored"},
                {"run", "N", "which run; without it the last one"},
                {"method", "ID", "only the answers of this method"},
                {"format", "FORMAT", "csv, json, html, operators or trace, to standard output"},
                {"out", "DIR", "every export, as files"}},
    .examples = {{"orrery-cli export results/runs.sqlite --list", "a table of the runs"},
                 {"orrery-cli export results/runs.sqlite --run 2 --format csv > run2.csv", "one run as a table"},
                 {"orrery-cli export results/runs.sqlite --out again", "the whole report folder of the last run"}},
    .run = runExport,
};

}  // namespace orrery::cli
