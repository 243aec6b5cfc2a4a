#include "app/cli/judging_cli.h"

#include "app/cli/answers.h"
#include "app/cli/evaluation_question.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/child_program.h"
#include "base/text/nearest.h"
#include "base/text/read_file.h"
#include "base/text/yaml_node.h"
#include "base/unit.h"
#include "store/judging/judging_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

namespace orrery::cli {

namespace {

/// Of the folder in which this program stands; empty where there is none of the name.
std::string besideThisProgram(const std::string& name) {
    std::error_code none;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
    return none ? std::string() : findProgram((self.parent_path() / name).string());
}

std::string percent(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace

std::optional<JudgingArgument> judgingArgument(const std::vector<std::string>& files) {
    if (files.size() != 1 || !(files.front().ends_with(".yaml") || files.front().ends_with(".yml"))) return {};
    const auto text = readFile(files.front(), {.most = yamlLargestFile});
    if (!text) return {};
    const std::string kind = judgingKind(*text);
    if (kind.empty()) return {};
    return JudgingArgument{files.front(), kind};
}

Expected<Benchmark> readSuite(const JudgingArgument& asked, const std::vector<std::string>& only) {
    if (asked.kind != "benchmark") {
        auto read = readJudgingFile(asked.file);
        if (!read) return tl::unexpected(std::move(read.error()));
        Benchmark suite;
        suite.name = read->name;
        suite.parts.push_back(std::move(*read));
        return suite;
    }
    auto suite = readBenchmarkFile(asked.file);
    if (!suite || only.empty()) return suite;
    std::vector<std::string> ids;
    for (const JudgingQuestion& part : suite->parts) ids.push_back(part.id);
    for (const std::string& each : only) {
        if (std::find(ids.begin(), ids.end(), each) == ids.end())
            return fail("usage.part", fmt::format("the suite has no part '{}'", each), quotedList(ids, "or"),
                        didYouMean(each, ids), Place{asked.file, 0, 0, {}});
    }
    std::erase_if(suite->parts, [&](const JudgingQuestion& part) {
        return std::find(only.begin(), only.end(), part.id) == only.end();
    });
    return suite;
}

Expected<BenchmarkRun> runJudging(const JudgingArgument& asked, const std::vector<std::string>& results, Watch& watch,
                                  const std::vector<std::string>& only) {
    auto read = readSuite(asked, only);
    if (!read) return tl::unexpected(std::move(read.error()));
    Benchmark suite = std::move(*read);
    BenchmarkRun run{suite.name, suite.meaning, suite.hash, {}, 0};
    const auto executor = makeDefaultExecutor();
    FactFinder facts;
    const auto begun = std::chrono::steady_clock::now();
    Diagnostics told;
    std::size_t elsewhere = 0;
    for (JudgingQuestion& part : suite.parts) {
        part.results.insert(part.results.end(), results.begin(), results.end());
        JudgeOptions options;
        options.executor = executor.get();
        options.stop = watch.token();
        options.progress = &watch.progress();
        options.facts = &facts;
        watch.begin(part.name);
        auto judged = judge(part, options);
        // A file of results need not speak of every part.
        if (!judged && judged.error().code == "results.no-rows" && !results.empty() && suite.parts.size() > 1) {
            ++elsewhere;
            part.results.resize(part.results.size() - results.size());
            judged = judge(part, options);
        }
        watch.end();
        if (!judged) return tl::unexpected(std::move(judged.error()));
        for (const Diagnostic& each : judged->warnings) {
            // Of a suite, other rows are those of its other parts.
            if (each.code == "results.other-rows" && suite.parts.size() > 1) continue;
            const bool known = std::any_of(told.begin(), told.end(),
                                           [&](const Diagnostic& one) { return one.message == each.message; });
            if (!known) told.push_back(each);
        }
        run.parts.push_back(std::move(*judged));
    }
    report(told);
    if (elsewhere == suite.parts.size()) {
        return fail("results.no-rows", "no line of the results is about a row of this suite", "rows of its parts",
                    "`--questions FILE` writes them");
    }
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return run;
}

std::string judgedText(const Judged& judged) {
    const JudgingQuestion& question = judged.question;
    Table table({"method", "methodology", "rows", "MAPE", "90 % of it", "median", "p90", "bias", "in 90 %",
                 "per answer", "difficulty", "samples", "a fit", "repro."},
                {false, false, true, true, true, true, true, true, true, true, false, true, true, true});
    const auto add = [&](const JudgedEntry& entry) {
        const EvaluationFigures& figures = entry.figures();
        const ErrorSummary& e = figures.errors;
        const EvaluatedRows& rows = entry.evaluation->rows;
        const bool states = !std::equal(rows.low.begin(), rows.low.end(), rows.high.begin(), rows.high.end());
        table.add({entry.asked + (entry.importedFrom.empty() ? "" : " (imported)") + (entry.compared ? "" : " *") +
                       (entry.fittedRows > 0 ? " †" : ""),
                   std::string(toText(entry.card->methodology)), count(static_cast<double>(e.rows)), percent(e.mape),
                   entry.compared && entry.common.mapeHigh > 0
                       ? fmt::format("{} … {}", percent(entry.common.mapeLow), percent(entry.common.mapeHigh))
                       : "–",
                   percent(e.medianError), percent(e.p90Error), percent(e.bias),
                   states ? fmt::format("{:.0f} %", 100 * figures.coverage90) : "–",
                   figures.secondsPerAnswer > 0 ? format(Seconds(figures.secondsPerAnswer), 2) : "–",
                   entry.facts.difficulty,
                   entry.facts.samples ? count(static_cast<double>(*entry.facts.samples)) : "not known",
                   !entry.facts.fitting || entry.facts.samples == 0 ? "–" : format(*entry.facts.fitting, 2),
                   fmt::format("{}/10", entry.facts.points())});
    };
    for (const std::size_t i : judged.ranking) add(judged.entries[i]);
    bool apart = false, fitted = false;
    std::string silent;
    for (const JudgedEntry& entry : judged.entries) {
        fitted = fitted || (entry.evaluation && entry.fittedRows > 0);
        if (!entry.evaluation) {
            silent += (silent.empty() ? "" : ", ") + entry.asked;
        } else if (!entry.compared && entry.own.errors.rows > 0) {
            apart = true;
            add(entry);
        }
    }
    std::string text = fmt::format("{}\n", question.name);
    if (!question.meaning.empty()) text += question.meaning + "\n";
    text +=
        fmt::format("{} of {} rows are priced by every compared method; rows {}, results {}{}\n\n{}",
                    count(static_cast<double>(judged.common.size())), count(static_cast<double>(judged.rows.size())),
                    judged.hash, resultsHash(judged), judged.asSaved ? ", as the file was saved" : "", table.text());
    if (apart)
        text += "* prices less than half of what the widest does, or was taken out: its own rows, not comparable\n";
    if (fitted) text += "† was fitted to some of these rows\n";
    if (!judged.differing.empty()) {
        std::string aspects;
        for (const Aspect aspect : judged.differing)
            aspects += (aspects.empty() ? "" : ", ") + std::string(toText(aspect));
        text += fmt::format("assumptions that differ: {}\n", aspects);
    }
    if (judged.groups > 1) {
        text += "grouped by equal assumptions about the rows:\n";
        for (std::size_t group = 0; group < judged.groups; ++group) {
            std::string methods, terms;
            for (const std::size_t i : judged.ranking) {
                const JudgedEntry& entry = judged.entries[i];
                if (entry.common.group != group) continue;
                methods += (methods.empty() ? "" : ", ") + entry.asked;
                terms = fmt::format("clock: {}; stack: {}",
                                    entry.assumptions[static_cast<std::size_t>(Aspect::Clock)].value,
                                    entry.assumptions[static_cast<std::size_t>(Aspect::Stack)].value);
            }
            text += fmt::format("  {}: {} ({})\n", groupLetter(group), methods, terms);
        }
    }
    if (!onSameRows(judged)) text += "no front of cost and error: every method stands on its own rows\n";
    for (const auto& front : answerFronts(judged)) {
        std::string methods;
        for (const std::size_t i : front) methods += (methods.empty() ? "" : ", ") + judged.entries[i].asked;
        if (front.size() > 1)
            text += fmt::format(
                "front of cost and error{}: {}\n",
                judged.groups > 1 ? " of " + groupLetter(judged.entries[front.front()].common.group) : std::string(),
                methods);
    }
    if (!silent.empty()) text += fmt::format("answer none: {}\n", silent);
    return text;
}

std::string benchmarkText(const BenchmarkRun& run) {
    std::string text;
    for (const Judged& part : run.parts) text += judgedText(part) + "\n";
    if (run.parts.size() < 2) return text;
    std::vector<std::string> heads{"method"};
    std::vector<bool> right{false};
    std::vector<std::string> methods;
    for (const Judged& part : run.parts) {
        heads.push_back(part.question.id);
        right.push_back(true);
        for (const JudgedEntry& entry : part.entries) {
            const bool known = std::find(methods.begin(), methods.end(), entry.asked) != methods.end();
            if (entry.evaluation && !known) methods.push_back(entry.asked);
        }
    }
    Table table(heads, right);
    for (const std::string& method : methods) {
        std::vector<std::string> cells{method};
        for (const Judged& part : run.parts) {
            const auto entry = std::find_if(part.entries.begin(), part.entries.end(),
                                            [&](const JudgedEntry& each) { return each.asked == method; });
            if (entry == part.entries.end() || !entry->evaluation || entry->own.errors.rows == 0) {
                cells.emplace_back("–");
                continue;
            }
            cells.push_back(fmt::format("{}{}{}", percent(entry->figures().errors.mape), entry->compared ? "" : "*",
                                        entry->fittedRows > 0 ? "†" : ""));
        }
        table.add(std::move(cells));
    }
    return text + "Mean error by part\n\n" + table.text() +
           "* of its own rows: it prices less than half of what the widest does; † was fitted to some of them\n";
}

/// Which rows there are, and nobody is asked about them.
int writeQuestions(const JudgingArgument& asked, const std::vector<std::string>& only, const std::string& file) {
    const auto suite = readSuite(asked, only);
    if (!suite) return failed(suite.error());
    std::vector<Judged> parts;
    for (const JudgingQuestion& part : suite->parts) {
        auto rows = judgingRows(part, nullptr);
        if (!rows) return failed(rows.error());
        parts.push_back(std::move(*rows));
    }
    return writeTo(file, questionsCsv(parts)) ? Answered : Unanswered;
}

int answerJudging(const JudgingArgument& asked, const Arguments& arguments, Watch& watch) {
    const auto only = arguments.values("part");
    const auto alone = [&](const char* option) { return !arguments.has(option); };
    constexpr std::array asking{"results", "rows", "table", "json", "matrix"};
    if (const auto file = arguments.value("questions"); file && std::all_of(asking.begin(), asking.end(), alone))
        return writeQuestions(asked, only, *file);
    const auto run = runJudging(asked, arguments.values("results"), watch, only);
    if (!run) return failed(run.error());
    bool written = true;
    const bool one = asked.kind == "judging";
    if (const auto file = arguments.value("rows")) written = writeTo(*file, judgedRowsCsv(run->parts)) && written;
    if (const auto file = arguments.value("questions")) written = writeTo(*file, questionsCsv(run->parts)) && written;
    if (const auto file = arguments.value("table")) {
        std::string text;
        for (const Judged& part : run->parts) text += file->ends_with(".csv") ? judgedCsv(part) : judgedTex(part);
        written = writeTo(*file, text) && written;
    }
    const bool timings = !arguments.has("no-timings");
    std::string text = benchmarkText(*run);
    if (one && arguments.has("matrix"))
        text += matrixText(run->parts.front().matrix, run->parts.front().matrixEntries());
    if (arguments.has("json")) text = one ? judgedJson(run->parts.front(), timings) : benchmarkJson(*run, timings);
    written = print(text) && written;
    return written ? Answered : Unanswered;
}

int writeJudged(const JudgingArgument& asked, const Arguments& arguments, Watch& watch) {
    const auto run = runJudging(asked, {}, watch, {});
    if (!run) return failed(run.error());
    const std::string out = *arguments.value("out");
    if (!makeFolder(out)) return Unanswered;
    bool written = true;
    const auto files = judgingFiles(*run);
    for (const NamedFile& file : files) written = writeTo(out + "/" + file.name, file.content) && written;
    written = print(benchmarkText(*run)) && written;
    const std::string studio = besideThisProgram("orrery");
    if (studio.empty()) {
        report(warning("study.no-studio", "the figures are not written as PDF: the studio is not installed here",
                       "`orrery --paper DIR` makes them of the folder"));
    } else if (written) {
        const std::string said = out + "/paper.log";
        const auto ended =
            runProgram({{studio, "-platform", "offscreen", "--paper", out}, ".", said, said, 120}, watch.token());
        if (ended && ended->exit == 0) {
            std::error_code ignored;
            std::filesystem::remove(said, ignored);
        } else {
            report(warning("study.no-pdf", "the studio did not write the figures as PDF", "see " + said));
        }
    }
    return written ? Answered : Unanswered;
}

}  // namespace orrery::cli
